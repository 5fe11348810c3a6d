// The contents of each package: functions from the parts (version, program, texts) to bytes.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { epoch, sorted, tarball, zip } from './archives.mjs';
import { executable, platform, run } from './program.mjs';

const DESCRIPTION = 'Language server, test runner and command line for agent test specs in YAML.';
const LICENSE = 'MIT OR Apache-2.0';
export const NOTICES = 'THIRD-PARTY-NOTICES.txt';
const here = dirname(fileURLToPath(import.meta.url));
const own = (path) => readFileSync(join(here, path));
const json = (value) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

/** The completions and manual pages, where systems look for them below `share` or `usr/share`. */
function shared({ completions, manual }) {
  return [
    ...manual.map(({ name, data }) => ({ path: `man/man1/${name}`, data })),
    { path: 'bash-completion/completions/speclens', data: completions.bash },
    { path: 'zsh/vendor-completions/_speclens', data: completions.zsh },
    { path: 'fish/vendor_completions.d/speclens.fish', data: completions.fish },
  ];
}

function below(folder, entries) {
  return entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));
}

const program = (parts) => ({ path: executable, data: parts.program, mode: 0o755 });

/** An archive to unpack anywhere: a zip file for Windows. */
export function archive(parts) {
  const folder = `speclens-${parts.version}-${platform}`;
  const entries = below(folder, [...below('bin', [program(parts)]), ...below('share', shared(parts)), ...parts.licenses, parts.changelog]);
  if (process.platform === 'win32') return { name: `${folder}.zip`, data: zip(entries, parts.level) };
  return { name: `${folder}.tar.gz`, data: tarball(entries, parts.level) };
}

/** The npm package with the program of this platform. */
export function npmProgram(parts) {
  const manifest = {
    name: `@speclens/${platform}`,
    version: parts.version,
    description: `The program of the package speclens for ${platform}.`,
    license: LICENSE,
    os: [process.platform],
    cpu: [process.arch],
    ...(process.platform === 'linux' ? { libc: ['glibc'] } : {}),
  };
  const entries = [...below('bin', [program(parts)]), ...parts.licenses, { path: 'package.json', data: json(manifest) }, { path: 'README.md', data: own('README.md') }];
  return { name: `speclens-${platform}-${parts.version}.tgz`, data: tarball(below('package', entries), parts.level) };
}

/** The npm package that starts the program of the platform that it is installed on. */
export function npmWrapper(parts) {
  const platforms = Object.fromEntries(parts.npmPlatforms.toSorted().map((name) => [`@speclens/${name}`, parts.version]));
  const manifest = {
    name: 'speclens',
    version: parts.version,
    description: DESCRIPTION,
    license: LICENSE,
    bin: { speclens: 'speclens.cjs' },
    engines: { node: '>=18' },
    optionalDependencies: platforms,
  };
  const entries = [
    ...parts.licenses.filter(({ path }) => path !== NOTICES), // it contains no works of others
    { path: 'package.json', data: json(manifest) },
    { path: 'README.md', data: own('README.md') },
    { path: 'speclens.cjs', data: own('npm/speclens.cjs'), mode: 0o755 },
  ];
  return { name: `speclens-${parts.version}.tgz`, data: tarball(below('package', entries), parts.level) };
}

/** The Python package: the program is a script of it. */
export function wheel(parts) {
  const tag = `py3-none-${wheelPlatform(parts)}`;
  const stem = `speclens-${parts.version}`;
  const info = `${stem}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.4',
    'Name: speclens',
    `Version: ${parts.version}`,
    `Summary: ${DESCRIPTION}`,
    `License-Expression: ${LICENSE}`,
    ...parts.licenses.map(({ path }) => `License-File: ${path}`),
    'Requires-Python: >=3.8',
    'Description-Content-Type: text/markdown',
    '',
    own('README.md').toString(),
  ];
  const entries = [
    ...below(`${stem}.data/scripts`, [program(parts)]),
    ...below(`${info}/licenses`, parts.licenses),
    { path: `${info}/METADATA`, data: Buffer.from(metadata.join('\n')) },
    { path: `${info}/WHEEL`, data: Buffer.from(`Wheel-Version: 1.0\nGenerator: speclens\nRoot-Is-Purelib: false\nTag: ${tag}\n`) },
  ];
  const hash = (data) => createHash('sha256').update(data).digest('base64url');
  const record = sorted(entries).map(({ path, data }) => `${path},sha256=${hash(data)},${data.length}\n`);
  entries.push({ path: `${info}/RECORD`, data: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) });
  return { name: `${stem}-${tag}.whl`, data: zip(entries, parts.level) };
}

function wheelPlatform({ needs }) {
  if (process.platform === 'win32') return 'win_amd64';
  if (process.platform === 'darwin') return process.arch === 'arm64' ? 'macosx_11_0_arm64' : 'macosx_10_12_x86_64';
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  // Old versions of pip know the tag of glibc 2.17 by its first name only.
  return needs.glibc === '2.17' ? `manylinux2014_${machine}` : `manylinux_${needs.glibc.replace('.', '_')}_${machine}`;
}

/** The Debian package. */
export function debian(parts) {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const zipped = (data) => gzipSync(data, { level: 9 });
  const files = [
    ...below('usr/bin', [program(parts)]),
    ...below('usr/share', shared({ ...parts, manual: parts.manual.map(({ name, data }) => ({ name: `${name}.gz`, data: zipped(data) })) })),
    ...below('usr/share/doc/speclens', [
      { path: 'changelog.gz', data: zipped(debianChangelog(parts)) },
      { path: 'copyright', data: debianCopyright(parts) },
      { path: `${NOTICES}.gz`, data: zipped(parts.licenses.find(({ path }) => path === NOTICES).data) },
    ]),
  ];
  const control = [
    'Package: speclens',
    `Version: ${parts.version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${Math.ceil(files.reduce((sum, { data }) => sum + data.length, 0) / 1024)}`,
    `Depends: ${debianDependencies(parts.needs)}`,
    'Section: devel',
    'Priority: optional',
    'Description: language server and test runner for agent test specs',
    ' Checks and runs the YAML test specs of LLM agents (KindLM, cli-bench,',
    ' ClawSpec), in the terminal and, as a language server, in editors.',
    '',
  ];
  const sums = sorted(files).map(({ path, data }) => `${createHash('md5').update(data).digest('hex')}  ${path}\n`);
  files.push({ path: 'DEBIAN/control', data: Buffer.from(control.join('\n')) }, { path: 'DEBIAN/md5sums', data: Buffer.from(sums.join('')) });
  const root = mkdtempSync(join(tmpdir(), 'speclens-deb-'));
  const umask = process.umask(0o022); // for the directories of the package
  try {
    for (const { path, data, mode = 0o644 } of sorted(files)) {
      mkdirSync(join(root, 'tree', dirname(path)), { recursive: true });
      writeFileSync(join(root, 'tree', path), data, { mode });
      utimesSync(join(root, 'tree', path), epoch(), epoch());
    }
    // dpkg-deb takes the time of directories from SOURCE_DATE_EPOCH, because they are newer.
    const compression = parts.level < 9 ? ['-Zgzip', `-z${parts.level}`] : ['-Zxz', '-z9'];
    const env = { ...process.env, SOURCE_DATE_EPOCH: `${epoch()}` };
    run('dpkg-deb', ['--root-owner-group', ...compression, '--build', join(root, 'tree'), join(root, 'deb')], { env });
    return { name: `speclens_${parts.version}_${architecture}.deb`, data: readFileSync(join(root, 'deb')) };
  } finally {
    process.umask(umask);
    rmSync(root, { recursive: true, force: true });
  }
}

const MAINTAINER = 'speclens contributors <speclens@users.noreply.github.com>';
const DEBIAN_PACKAGES = { 'libgcc_s.so.1': 'libgcc-s1' };

function debianDependencies({ glibc, libraries }) {
  const others = libraries.filter((name) => !/^(ld-linux|lib(c|m|dl|rt|pthread|util)\.so)/.test(name));
  const packages = others.map((name) => {
    if (!DEBIAN_PACKAGES[name]) throw new Error(`the program needs ${name}, whose Debian package is unknown`);
    return DEBIAN_PACKAGES[name];
  });
  return [`libc6 (>= ${glibc})`, ...packages].join(', ');
}

function debianChangelog({ version }) {
  const day = new Date(epoch() * 1000).toUTCString().replace('GMT', '+0000');
  return Buffer.from(`speclens (${version}) unstable; urgency=medium\n\n  * Release ${version}.\n\n -- ${MAINTAINER}  ${day}\n`);
}

function debianCopyright({ licenses }) {
  const mit = licenses.find(({ path }) => path === 'LICENSE-MIT').data.toString().trim();
  return Buffer.from(`speclens is licensed under the MIT license or the Apache License, Version 2.0, at your option.

${mit}

On Debian systems, the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0.

The program contains works of others. Their licenses and notices are in
/usr/share/doc/speclens/THIRD-PARTY-NOTICES.txt.gz.
`);
}
