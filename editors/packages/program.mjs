// Obtains the program of the packages, and reads what it needs from the system.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const platform = `${process.platform}-${process.arch}`; // as in the names of the packages of VS Code
export const executable = process.platform === 'win32' ? 'speclens.exe' : 'speclens';

/** The glibc of the oldest systems that the Linux packages support, and of `manylinux2014`. */
const OLDEST_GLIBC = '2.17';
const ZIG = ['cargo-zigbuild==0.24.1', 'ziglang==0.17.1'];

export function run(program, args, options = {}) {
  return execFileSync(program, args, { cwd: repository, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'], ...options });
}

/** The version of the program, and the folder that Cargo builds in. */
export function cargo() {
  const { packages, target_directory: target } = JSON.parse(run('cargo', ['metadata', '--no-deps', '--format-version', '1']));
  return { version: packages.find(({ name }) => name === 'speclens').version, target };
}

/** Builds the program. `native`: with this machine's linker, so it needs a glibc as new as this machine's. */
export function build(native) {
  const options = ['--profile', 'dist', '--locked', '--package', 'speclens', '--bin', 'speclens'];
  const show = { stdio: ['ignore', 'inherit', 'inherit'] };
  if (native || process.platform !== 'linux') {
    run('cargo', ['build', ...options], show);
    return join(cargo().target, 'dist', executable);
  }
  const tools = join(repository, 'target/zig');
  if (!existsSync(join(tools, 'bin/cargo-zigbuild'))) {
    run('python3', ['-m', 'venv', tools], show);
    run(join(tools, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...ZIG], show);
  }
  const target = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  const env = { ...process.env, PATH: `${join(tools, 'bin')}:${process.env.PATH}` };
  run('cargo', ['zigbuild', ...options, '--target', `${target}.${OLDEST_GLIBC}`], { ...show, env });
  const program = join(cargo().target, target, 'dist', executable);
  refuseNewer(program, OLDEST_GLIBC);
  return program;
}

/** Fails if a Linux program needs a newer glibc, and names what it takes from there. */
export function refuseNewer(program, oldest) {
  const names = symbols(program).filter(({ glibc }) => newer(glibc, oldest)).map(({ name, glibc }) => `${name} (${glibc})`);
  if (names.length > 0) throw new Error(`the program needs a newer glibc than ${oldest}: ${names.join(', ')}`);
}

/** What a Linux program needs: the least version of glibc, and the libraries. */
export function needs(program) {
  const glibc = symbols(program).map((symbol) => symbol.glibc).reduce((a, b) => (newer(b, a) ? b : a), OLDEST_GLIBC);
  const libraries = [...run('readelf', ['-d', program]).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map((match) => match[1]);
  return { glibc, libraries };
}

/** The versioned symbols that the program takes from glibc. */
function symbols(program) {
  const found = run('objdump', ['-T', program]).matchAll(/\(?GLIBC_([\d.]+)\)?\s+(\S+)$/gm);
  return [...found].map(([, glibc, name]) => ({ name, glibc }));
}

function newer(a, b) {
  return a.localeCompare(b, 'en', { numeric: true }) > 0;
}
