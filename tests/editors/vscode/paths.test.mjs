// The paths that the extension starts and opens, without VS Code. node --test tests/editors/vscode/paths.test.mjs

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const extension = new URL('../../../editors/vscode/', import.meta.url);
// With the extension's own compiler (`npm ci` there): Node 20 does not read TypeScript.
const { transformSync } = createRequire(new URL('package.json', extension))('esbuild');
const { code } = transformSync(readFileSync(new URL('src/paths.ts', extension), 'utf8'), { loader: 'ts', format: 'esm' });
const { isReference, programOf } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

test('program is an absolute path or a name, never a file of the opened folder', () => {
  assert.deepEqual(programOf('/opt/speclens', '/home/me'), { path: '/opt/speclens' });
  assert.deepEqual(programOf('~/bin/speclens', '/home/me'), { path: '/home/me/bin/speclens' });
  assert.deepEqual(programOf('speclens', '/home/me'), { name: 'speclens' });
  for (const relative of ['./speclens', 'bin/speclens', '../speclens', 'bin\\speclens', '..', '~me/speclens']) {
    assert.throws(() => programOf(relative, '/home/me'), /relative path/, relative);
  }
});

test('only the reference of the server is opened', () => {
  const home = '/home/me';
  const own = '/home/me/.local/state/speclens/reference-0.1.0.md';
  assert.ok(isReference(own, { home, state: undefined }));
  assert.ok(isReference(own, { home, state: 'relative' }));
  assert.ok(isReference('/state/speclens/reference-0.1.0.md', { home, state: '/state' }));
  for (const other of [
    '/home/me/.local/state/speclens/../speclens/reference-0.1.0.md',
    '/home/me/.local/state/speclens/x/reference-0.1.0.md',
    '/home/me/.local/state/speclens/trusted-folders',
    '/home/me/repo/.local/state/speclens/reference-0.1.0.md',
    '/home/me/repo/reference-0.1.0.md',
    '/etc/passwd',
  ]) {
    assert.ok(!isReference(other, { home, state: undefined }), other);
  }
  assert.ok(!isReference(own, { home, state: '/state' }));
});
