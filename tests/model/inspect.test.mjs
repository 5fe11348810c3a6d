// `speclens import` reads a log that Inspect wrote: an evaluation with a scripted model, without a network.
// Needs the development build (or `SPECLENS_BIN`) and the package of tests/traces/get; without it the tests are skipped.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { folder, program } from '../editors/support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cache = process.env.SPECLENS_TRACES_CACHE ?? join(here, '../../target/traces-cache');
const python = join(cache, 'inspect/bin/python');
const skip = existsSync(python) ? false : 'Inspect is not installed: tests/run traces';
const options = { skip, timeout: 120_000 };

const run = (command, cwd, ...words) => {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  return { status, text: stdout + stderr };
};

/** Returns a folder with a log, and the name of the log. */
function logged(form) {
  const directory = folder('inspect');
  const written = run(python, directory, join(here, 'inspect_log.py'), '.', form);
  assert.equal(written.status, 0, written.text);
  return [directory, readdirSync(directory).find((name) => name.endsWith(`.${form}`))];
}

test('samples of a log become attempts of a test that passes', options, () => {
  const [directory, log] = logged('json');
  const imported = run(program(), directory, 'import', log, '--output', 'kindlm.yaml');
  assert.equal(imported.status, 0, imported.text);
  assert.match(imported.text, /: 2 conversations \(Inspect log\)/);
  const suite = readFileSync(join(directory, 'kindlm.yaml'), 'utf8');
  for (const part of ['name: order-12', 'system: Be brief.', 'repeat: 2', '- tool: look_up', 'args: { order: 12 }', '- Order 12 has shipped.']) {
    assert.ok(suite.includes(part), `${part}: ${suite}`);
  }
  for (const words of [['check', '--deny', 'warnings'], ['run', '--recorded', '--strict'], ['audit']]) {
    const done = run(program(), directory, ...words);
    assert.equal(done.status, 0, done.text);
  }
});

test('times of a log order the steps of a ClawSpec scenario', options, () => {
  const [directory, log] = logged('json');
  const contract = 'skills/orders/tests/scenarios.yaml';
  const imported = run(program(), directory, 'import', log, '--format', 'clawspec', '--output', contract);
  assert.equal(imported.status, 0, imported.text);
  assert.match(readFileSync(join(directory, contract), 'utf8'), /type: tool_sequence/);
});

test('an archive is refused with the command that converts it', options, () => {
  const [directory, log] = logged('eval');
  const refused = run(program(), directory, 'import', log);
  assert.equal(refused.status, 2, refused.text);
  const [, words] = refused.text.match(/`inspect (log convert .* --to json --output-dir) DIR`/) ?? assert.fail(refused.text);
  const converted = run(join(dirname(python), 'inspect'), directory, ...words.split(' '), 'converted');
  assert.equal(converted.status, 0, converted.text);
  const imported = run(program(), directory, 'import', join('converted', log.replace(/eval$/, 'json')));
  assert.equal(imported.status, 0, imported.text);
});
