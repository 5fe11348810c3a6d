// npm run package: builds speclens-PLATFORM.vsix with the speclens program inside.
// SPECLENS_BIN names a program to bundle; without it one is built here.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crates, notices, npmPackages } from '../notices.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, '../..');
const target = `${process.platform}-${process.arch}`; // the same words as vsce's
const exe = process.platform === 'win32' ? 'speclens.exe' : 'speclens';

function run(program, args, cwd = here) {
  const shell = program === 'npm' && process.platform === 'win32'; // where npm is a script
  execFileSync(program, args, { cwd, shell, stdio: ['ignore', 'inherit', 'inherit'] });
}

function build() {
  run('cargo', ['build', '--profile', 'dist', '--locked', '--package', 'speclens'], repository);
  // The folder may be configured (CARGO_TARGET_DIR among others): ask.
  const metadata = execFileSync('cargo', ['metadata', '--no-deps', '--format-version', '1'], { cwd: repository, maxBuffer: 1 << 26 });
  return join(JSON.parse(metadata).target_directory, 'dist', exe);
}

const program = process.env.SPECLENS_BIN ? resolve(process.env.SPECLENS_BIN) : build();
rmSync(join(here, 'bin'), { recursive: true, force: true }); // a running old one cannot be overwritten, but unlinked
mkdirSync(join(here, 'bin'));
copyFileSync(program, join(here, 'bin', exe));
chmodSync(join(here, 'bin', exe), 0o755);

// A package needs a license and a changelog; the repository keeps them in one place.
const licenses = ['LICENSE-MIT', 'LICENSE-APACHE'].map((file) => readFileSync(join(repository, file), 'utf8'));
writeFileSync(join(here, 'LICENSE.txt'), `speclens is licensed under either of the two licenses below, at your option.\n\n${licenses.join(`\n${'-'.repeat(80)}\n\n`)}`);
copyFileSync(join(repository, 'CHANGELOG.md'), join(here, 'CHANGELOG.md'));
writeFileSync(join(here, 'THIRD-PARTY-NOTICES.txt'), notices([...crates(), ...npmPackages(here)]));

run('npm', ['run', '--silent', 'check']);
run('npm', ['run', '--silent', 'build']);
run(process.execPath, [join(here, 'node_modules/@vscode/vsce/vsce'), 'package', '--no-dependencies', '--allow-missing-repository', '--target', target, '--out', `speclens-${target}.vsix`]);
