// Every package, installed and started as on a machine that has nothing else. node --test tests/editors/packages.test.mjs
//
// The packages contain the development build, stripped and compressed little: no release build is needed.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { NOTICES, debian } from '../../editors/packages/contents.mjs';
import { packages } from '../../editors/packages/build.mjs';
import { cargo, refuseNewer } from '../../editors/packages/program.mjs';
import { find, folder, program, repository } from './support.mjs';

const out = join(folder('packages'), 'out');
const stripped = join(folder('program'), 'speclens');
const { version } = cargo();
const VERSION = `speclens ${version}\n`;
/** Where a system's own programs are; nothing of this checkout and no other speclens. */
const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(delimiter);
const has = (name) => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH } }).status === 0;

function run(name, args, { env, ...options } = {}) {
  return execFileSync(name, args, { cwd: folder('cwd'), encoding: 'utf8', maxBuffer: 1 << 28, env: { PATH, HOME: folder('home'), LANG: 'C.UTF-8', npm_config_update_notifier: 'false', ...env }, ...options });
}

/** The path of the only package whose name matches. */
function built(pattern) {
  const found = readdirSync(out).filter((name) => pattern.test(name));
  assert.equal(found.length, 1, `${pattern}: ${found}`);
  return join(out, found[0]);
}

/** Compares the files below `root` with what a package may contain; `[manual]` is any number of manual pages. */
function contains(files, expected) {
  const isPage = (file) => /(^|\/)man1\/speclens(-[a-z]+)*\.1(\.gz)?$/.test(file);
  assert.deepEqual(files.filter((file) => !isPage(file)).sort(), expected.toSorted());
  return files.filter(isPage).length;
}

function filesBelow(root) {
  return find(root, /./).filter((file) => statSync(file).isFile()).map((file) => file.slice(root.length + 1));
}

const listed = (archive) => run('python3', ['-c', 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print("\\n".join(z.namelist()))', archive]).trim().split('\n');

before(() => {
  execFileSync('strip', ['-o', stripped, program()]);
  const build = join(repository, 'editors/packages/build.mjs');
  execFileSync(process.execPath, [build, '--fast', '--program', stripped, '--out', out], { stdio: ['ignore', 'ignore', 'inherit'] });
});

test('the checksums are those of all packages', () => {
  assert.equal(readFileSync(join(out, 'SHA256SUMS'), 'utf8').split('\n').length, 7);
  assert.equal(run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out }), '');
});

test('the archive contains the program, completions, manual pages, licenses and notices', () => {
  const root = folder('archive');
  run('tar', ['xzf', built(/^speclens-.*-linux-x64\.tar\.gz$/)], { cwd: root });
  const top = `speclens-${version}-linux-x64`;
  const pages = contains(filesBelow(root), [
    `${top}/CHANGELOG.md`,
    `${top}/LICENSE-APACHE`,
    `${top}/LICENSE-MIT`,
    `${top}/${NOTICES}`,
    `${top}/bin/speclens`,
    `${top}/share/bash-completion/completions/speclens`,
    `${top}/share/fish/vendor_completions.d/speclens.fish`,
    `${top}/share/zsh/vendor-completions/_speclens`,
  ]);
  assert.ok(pages > 10, `${pages} manual pages`);
  assert.equal(run(join(root, top, 'bin/speclens'), ['--version']), VERSION);
  assert.match(readFileSync(join(root, top, NOTICES), 'utf8'), /^serde /m);
});

test('npx starts the program of the npm packages, and passes on its input and its exit status', () => {
  const prefix = folder('npm');
  const tarballs = [built(/^speclens-linux-x64-.*\.tgz$/), built(/^speclens-\d.*\.tgz$/)];
  // Offline: installing downloads nothing.
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: prefix, stdio: 'pipe' });
  const modules = join(prefix, 'node_modules');
  contains(filesBelow(join(modules, 'speclens')), ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'package.json', 'speclens.cjs']);
  contains(filesBelow(join(modules, '@speclens/linux-x64')), ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', NOTICES, 'bin/speclens', 'package.json']);
  assert.equal(run('npx', ['--offline', 'speclens', '--version'], { cwd: prefix }), VERSION);
  const start = join(modules, '.bin/speclens');
  assert.equal(spawnSync(start, ['explain', 'no-such-name'], { env: { PATH } }).status, 2);
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'shutdown' });
  const answer = run(start, ['lsp'], { input: `Content-Length: ${message.length}\r\n\r\n${message}`, stdio: 'pipe' });
  assert.match(answer, /"id":1/);
  for (const name of ['speclens', '@speclens/linux-x64']) {
    assert.equal(JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).scripts, undefined);
  }
});

test('the npm package says what is missing if there is no program for the platform', () => {
  const prefix = folder('npm-alone');
  run('npm', ['install', '--offline', '--omit=optional', '--no-audit', '--no-fund', built(/^speclens-\d.*\.tgz$/)], { cwd: prefix, stdio: 'pipe' });
  const { status, stderr } = spawnSync(join(prefix, 'node_modules/.bin/speclens'), ['--version'], { env: { PATH }, encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(stderr, /@speclens\/linux-x64 is not installed/);
});

test('pip installs and removes the wheel, whose record is right', () => {
  const wheel = built(/\.whl$/);
  const info = `speclens-${version}.dist-info`;
  contains(listed(wheel), [
    `speclens-${version}.data/scripts/speclens`,
    ...['METADATA', 'RECORD', 'WHEEL', 'licenses/LICENSE-APACHE', 'licenses/LICENSE-MIT', `licenses/${NOTICES}`].map((file) => `${info}/${file}`),
  ]);
  const environment = folder('venv');
  const python = (...args) => run('python3', ['-m', ...args], { env: { PATH: process.env.PATH } });
  python('venv', '--without-pip', environment); // the machine's pip can do it, and starts sooner
  const pip = (...args) => python('pip', '--disable-pip-version-check', '--python', environment, ...args);
  pip('install', '--quiet', '--no-index', wheel);
  assert.equal(run(join(environment, 'bin/speclens'), ['--version']), VERSION);
  assert.match(pip('show', '--files', 'speclens'), new RegExp(`Version: ${version}[^]*bin/speclens`));
  const site = find(environment, /dist-info$/).find((path) => path.endsWith(info));
  const record = run('python3', ['-c', 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())', wheel, `${info}/RECORD`]);
  for (const [, path, hash, size] of record.matchAll(/^([^,]+),sha256=([^,]+),(\d+)$/gm)) {
    const data = readFileSync(path.includes('.data/scripts/') ? join(environment, 'bin/speclens') : join(dirname(site), path));
    assert.equal(createHash('sha256').update(data).digest('base64url'), hash, path);
    assert.equal(data.length, Number(size), path);
  }
  pip('uninstall', '--quiet', '--yes', 'speclens');
  assert.deepEqual(filesBelow(environment).filter((file) => file.includes('speclens')), []);
});

test('the Debian package has a program, manual pages and completions', async (context) => {
  const root = folder('debian');
  const deb = built(/\.deb$/);
  if (process.getuid() === 0) {
    for (const path of ['info', 'updates']) mkdirSync(join(root, 'var/lib/dpkg', path), { recursive: true });
    writeFileSync(join(root, 'var/lib/dpkg/status'), '');
    run('dpkg', ['--root', root, '--log=/dev/null', '--force-depends', '--install', deb], { stdio: 'pipe' });
    assert.match(run('dpkg', ['--root', root, '--status', 'speclens']), /^Status: install ok installed$/m);
  } else {
    run('dpkg-deb', ['--extract', deb, root]);
  }
  contains(filesBelow(join(root, 'usr')), [
    'bin/speclens',
    'share/bash-completion/completions/speclens',
    `share/doc/speclens/${NOTICES}.gz`,
    'share/doc/speclens/changelog.gz',
    'share/doc/speclens/copyright',
    'share/fish/vendor_completions.d/speclens.fish',
    'share/zsh/vendor-completions/_speclens',
  ]);
  const share = join(root, 'usr/share');
  const env = { PATH: `${join(root, 'usr/bin')}:${PATH}` };
  assert.equal(run('speclens', ['--version'], { env }), VERSION);
  assert.match(run('dpkg-deb', ['--field', deb, 'Depends']), /^libc6 \(>= 2\.\d+\)/);

  await context.test('manual pages are rendered', () => {
    const page = join(share, 'man/man1/speclens-check.1.gz');
    const source = run('gzip', ['-dc', page]);
    const shown = has('man') ? run('man', ['-l', page], { stdio: 'pipe' }) : has('groff') ? run('groff', ['-man', '-Tutf8'], { input: source, stdio: 'pipe' }) : source;
    for (const part of ['NAME', 'SYNOPSIS', 'OPTIONS', 'Report problems']) assert.ok(shown.includes(part), part);
  });

  await context.test('bash completes subcommands and options', () => {
    const script = join(share, 'bash-completion/completions/speclens');
    const complete = (...words) => run('bash', ['--norc', '-c', `source "$0"
      complete -p speclens >/dev/null || exit 1
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _speclens speclens "\${@: -1}" "\${@: -2:1}"
      printf '%s\\n' "\${COMPREPLY[@]}"`, script, 'speclens', ...words], { env }).trim().split('\n');
    assert.deepEqual(complete('ch'), ['check']);
    assert.deepEqual(complete('run', '--shar'), ['--shard']);
    assert.deepEqual(complete('check', '--format', 'sar'), ['sarif']);
  });

  await context.test('zsh finds the completions', { skip: !has('zsh') }, () => {
    const script = 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -u -D; print -r -- $_comps[speclens]; autoload +X -Uz _speclens';
    assert.equal(run('zsh', ['-f', '-c', script, 'zsh', join(share, 'zsh/vendor-completions')], { env }).trim(), '_speclens');
  });

  await context.test('fish completes subcommands', { skip: !has('fish') }, () => {
    const found = run('fish', ['-c', 'complete -C "speclens ch"'], { env: { ...env, XDG_DATA_DIRS: share } });
    assert.match(found, /^check\tReport problems/m);
  });

  await context.test('lintian reports no errors', { skip: !has('lintian') }, () => {
    const { status, stdout } = spawnSync('lintian', ['--allow-root', '--fail-on', 'error', deb], { encoding: 'utf8', env: { PATH } });
    assert.equal(status, 0, stdout);
  });
});

test('the extension contains the program', () => {
  const vsix = built(/\.vsix$/);
  contains(listed(vsix), [
    '[Content_Types].xml',
    'extension.vsixmanifest',
    ...['LICENSE.txt', NOTICES, 'bin/speclens', 'changelog.md', 'dist/extension.js', 'icon.png', 'package.json', 'readme.md'].map((file) => `extension/${file}`),
    ...['edit', 'new', 'run', 'type'].map((step) => `extension/walkthrough/${step}.md`),
  ]);
  const root = folder('vsix');
  run('python3', ['-m', 'zipfile', '-e', vsix, root]);
  assert.deepEqual(readFileSync(join(root, 'extension/bin/speclens')), readFileSync(stripped));
});

test('equal contents make equal packages, whatever their order and the time', (context) => {
  const file = (path) => ({ path, data: Buffer.from(`${path}\n`) });
  const parts = {
    version: '1.2.3',
    program: Buffer.from('#!/bin/sh\n'),
    needs: { glibc: '2.17', libraries: ['libc.so.6'] },
    completions: { bash: Buffer.from('b'), zsh: Buffer.from('z'), fish: Buffer.from('f') },
    manual: ['speclens.1', 'speclens-run.1'].map((name) => ({ name, data: Buffer.from(name) })),
    licenses: [file('LICENSE-MIT'), file('LICENSE-APACHE'), file(NOTICES)],
    changelog: file('CHANGELOG.md'),
    level: 9,
    npmPlatforms: ['linux-x64', 'darwin-arm64'],
  };
  const epoch = process.env.SOURCE_DATE_EPOCH;
  context.after(() => (epoch === undefined ? delete process.env.SOURCE_DATE_EPOCH : (process.env.SOURCE_DATE_EPOCH = epoch)));
  process.env.SOURCE_DATE_EPOCH = '1700000000';
  const once = packages(parts);
  const umask = process.umask(0o077);
  context.after(() => process.umask(umask));
  const reversed = { ...parts, manual: parts.manual.toReversed(), npmPlatforms: parts.npmPlatforms.toReversed() };
  assert.deepEqual(packages(reversed), once);
  assert.ok(once.some(({ name }) => name === 'speclens-1.2.3-py3-none-manylinux2014_x86_64.whl'));
  process.env.SOURCE_DATE_EPOCH = '1800000000';
  assert.notDeepEqual(packages(parts), once);
});

test('symbols of a newer glibc are named, and an unknown library is refused', () => {
  assert.throws(() => refuseNewer(stripped, '2.5'), /needs a newer glibc than 2\.5: .*\w+ \(2\.\d+\)/);
  refuseNewer(stripped, '2.99');
  const licenses = ['LICENSE-MIT', NOTICES].map((path) => ({ path, data: Buffer.alloc(0) }));
  const parts = { version: '1.0.0', program: Buffer.alloc(0), manual: [], completions: {}, licenses, level: 1, needs: { glibc: '2.17', libraries: ['libssl.so.3'] } };
  assert.throws(() => debian({ ...parts, completions: { bash: Buffer.alloc(0), zsh: Buffer.alloc(0), fish: Buffer.alloc(0) } }), /libssl\.so\.3/);
});
