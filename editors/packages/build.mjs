#!/usr/bin/env node
// Builds everything that users install, for this machine's platform, into target/packages: an archive, a VS Code extension,
// packages for npm, Python and Debian, and their checksums. Needs Rust, Node, and on Linux Python, binutils and dpkg-deb.
//
//   editors/packages/build.mjs                  builds the program, on Linux with Zig, so that it runs with glibc 2.17
//     --native                                  builds the program with the system's linker
//     --program FILE                            takes an existing program
//     --out FOLDER                              instead of target/packages, which is emptied first
//     --npm-platforms linux-x64,darwin-arm64    names the platforms that the npm package has programs for
//     --fast                                    compresses less

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crates, notices } from '../notices.mjs';
import { NOTICES, archive, debian, npmProgram, npmWrapper, wheel } from './contents.mjs';
import { build, cargo, needs, platform, repository, run } from './program.mjs';

/** What the packages are made of. `options`: `{ level, npmPlatforms }`. */
export function collect(program, options) {
  const text = (path) => ({ path, data: readFileSync(join(repository, path)) });
  const completions = ['bash', 'zsh', 'fish'].map((shell) => [shell, Buffer.from(run(program, ['completions', shell]))]);
  return {
    version: cargo().version,
    program: readFileSync(program),
    needs: process.platform === 'linux' ? needs(program) : null,
    completions: Object.fromEntries(completions),
    manual: manual(),
    licenses: [text('LICENSE-MIT'), text('LICENSE-APACHE'), { path: NOTICES, data: Buffer.from(notices(crates())) }],
    changelog: text('CHANGELOG.md'),
    ...options,
  };
}

function manual() {
  const folder = mkdtempSync(join(tmpdir(), 'speclens-man-'));
  try {
    run('cargo', ['run', '--quiet', '--locked', '--package', 'speclens', '--example', 'manpages', '--', folder]);
    return readdirSync(folder).sort().map((name) => ({ name, data: readFileSync(join(folder, name)) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packages that are written here, as `{ name, data }`. */
export function packages(parts) {
  const all = [archive(parts), npmProgram(parts), npmWrapper(parts), wheel(parts)];
  return process.platform === 'linux' ? [...all, debian(parts)] : all;
}

/** The extension with the program in it. Returns its path. */
function extension(program) {
  const folder = join(repository, 'editors/vscode');
  const npm = (args, env) => run('npm', args, { cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  if (!existsSync(join(folder, 'node_modules'))) npm(['ci', '--silent', '--ignore-scripts']);
  npm(['run', '--silent', 'package'], { SPECLENS_BIN: program });
  return join(folder, `speclens-${platform}.vsix`);
}

function main() {
  const string = { type: 'string' }, boolean = { type: 'boolean', default: false };
  const { values } = parseArgs({ options: { native: boolean, program: string, out: string, 'npm-platforms': string, fast: boolean } });
  process.env.SOURCE_DATE_EPOCH ??= run('git', ['log', '-1', '--format=%ct']).trim();
  const out = resolve(values.out ?? join(repository, 'target/packages'));
  const program = resolve(values.program ?? build(values.native));
  const parts = collect(program, { level: values.fast ? 1 : 9, npmPlatforms: values['npm-platforms']?.split(',') ?? [platform] });
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const { name, data } of packages(parts)) writeFileSync(join(out, name), data);
  const vsix = extension(program);
  copyFileSync(vsix, join(out, `speclens-${platform}.vsix`));
  rmSync(vsix);
  const sums = readdirSync(out).sort().map((name) => {
    const data = readFileSync(join(out, name));
    console.log(`${(data.length / 1e6).toFixed(2).padStart(8)} MB  ${name}`);
    return `${createHash('sha256').update(data).digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) main();
