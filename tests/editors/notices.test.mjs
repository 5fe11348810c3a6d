// The notices in a package. node --test tests/editors/notices.test.mjs

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crates, notices, npmPackages } from '../../editors/notices.mjs';

test('every crate in the program is named with its license and a text', () => {
  const found = crates();
  assert.ok(found.length > 200, `${found.length} crates`);
  const text = notices(found);
  for (const { name, version } of found) {
    assert.match(text, new RegExp(`^${name} ${version.replaceAll('+', '\\+')}: .*\\S`, 'm'));
    assert.ok(text.split(`${name} ${version}`).length > 2, `${name} has no text`);
  }
});

test('every npm package in the extension has a text', () => {
  const found = npmPackages(fileURLToPath(new URL('../../editors/vscode/', import.meta.url)));
  assert.ok(found.some(({ name }) => name === 'vscode-languageclient'));
  for (const { name, files } of found) assert.ok(files.length > 0, name);
});

test('no crate has a license that the program could not meet by a notice', () => {
  for (const { name, license } of crates()) {
    const choices = license.split(/ OR |\//).map((choice) => choice.trim());
    assert.ok(choices.some((choice) => !/GPL|AGPL|SSPL|BUSL/.test(choice)), `${name}: ${license}`);
  }
});

test('equal texts appear once, and a package without a text is named with its license', () => {
  const one = { name: 'a', version: '1.0.0', license: 'MIT', authors: ['Someone'], home: null, files: [] };
  const text = notices([one, { ...one, name: 'b' }]);
  assert.equal(text.split('Copyright: Someone').length, 2);
  assert.match(text, /a 1\.0\.0, b 1\.0\.0\n\nCopyright: Someone\nLicense: MIT/);
});
