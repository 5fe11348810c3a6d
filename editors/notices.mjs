// The notices of everything that a package contains: the crates in the program, and the npm packages in an extension.
// node editors/notices.mjs [FILE]: writes them to FILE, or to standard output. Needs the crates, as `cargo fetch` gets them.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const LICENSE = /^(licen[cs]e|copying|notice|copyright|unlicense)/i;

/** The crates that are linked into the program on this platform. */
export function crates() {
  const host = /host: (.*)/.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))[1];
  const { packages, resolve: graph } = JSON.parse(
    execFileSync('cargo', ['metadata', '--format-version', '1', '--locked', '--filter-platform', host], { cwd: repository, maxBuffer: 1 << 28 }),
  );
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const found = new Set();
  const open = [packages.find(({ name }) => name === 'speclens').id];
  while (open.length > 0) {
    const id = open.pop();
    if (found.has(id)) continue;
    found.add(id);
    const linked = nodes.get(id).deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null));
    open.push(...linked.map(({ pkg }) => pkg));
  }
  const foreign = packages.filter(({ id, source }) => found.has(id) && source);
  return foreign.map(({ name, version, license, license_file, authors, repository: home, manifest_path }) => {
    const directory = dirname(manifest_path);
    const named = license_file ? [resolve(directory, license_file)] : [];
    return { name, version, license: license ?? 'see its text', authors, home, files: [...new Set([...named, ...licenseFiles(directory)])] };
  });
}

/** The npm packages that the extension bundles, after `npm ci` there. */
export function npmPackages(extension) {
  const { buildSync } = createRequire(join(extension, 'package.json'))('esbuild');
  const options = { entryPoints: ['src/extension.ts'], bundle: true, platform: 'node', external: ['vscode'], write: false, metafile: true };
  const { metafile } = buildSync({ ...options, absWorkingDir: extension });
  const inputs = Object.keys(metafile.inputs).map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(inputs.filter(Boolean))].map((path) => {
    const directory = join(extension, path);
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return { name, version, license: license ?? 'see its text', authors: [], home: null, files: licenseFiles(directory) };
  });
}

function licenseFiles(directory) {
  const files = readdirSync(directory).filter((name) => LICENSE.test(name)).map((name) => join(directory, name));
  return files.filter((path) => statSync(path).isFile()).sort();
}

/** The notices as a text: equal license texts appear once, with the packages that they belong to. */
export function notices(packages) {
  const texts = new Map();
  for (const one of packages) {
    const files = one.files.map((path) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim());
    const own = [`${one.authors.length > 0 ? `Copyright: ${one.authors.join(', ')}` : `Copyright: the authors of ${one.name}`}\nLicense: ${one.license} (the package contains no text of its license)`];
    for (const text of files.length > 0 ? files : own) texts.set(text, [...(texts.get(text) ?? []), one]);
  }
  const list = packages.map(({ name, version, license, home }) => `${name} ${version}: ${license}${home ? `, ${home}` : ''}`).sort();
  const parts = [...texts].map(([text, users]) => `${'='.repeat(80)}\n${users.map(({ name, version }) => `${name} ${version}`).join(', ')}\n\n${text}\n`);
  return `This package contains the following works of others.\n\n${list.join('\n')}\n\n${parts.join('\n')}`;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const text = notices([...crates(), ...npmPackages(join(repository, 'editors/vscode'))]);
  const [file] = process.argv.slice(2);
  if (file) writeFileSync(file, text);
  else process.stdout.write(text);
}
