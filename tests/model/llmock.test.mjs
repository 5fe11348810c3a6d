// Prompt tests against LLMock, a server that speaks the HTTP of the providers, breaks down on request, and judges its clients.
// Needs the development build (or `SPECLENS_BIN`) and the package of tests/traces/get; without it the tests are skipped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { folder, program } from '../editors/support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cache = process.env.SPECLENS_TRACES_CACHE ?? join(here, '../../target/traces-cache');
const llmock = join(cache, 'llmock/bin/llmock');
const skip = existsSync(llmock) ? false : 'LLMock is not installed: tests/run traces';
const options = { skip, timeout: 120_000 };

// The paths at which LLMock speaks each protocol. KindLM adds the version for anthropic and cohere.
const PROVIDERS = { openai: '/v1', anthropic: '/anthropic', gemini: '/gemini/v1beta', mistral: '/mistral/v1', cohere: '/cohere' };

let server, address;
before(async () => {
  if (skip) return;
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  await once(free, 'close');
  server = spawn(llmock, ['serve', '--port', String(port), '--log-level', 'warning'], { stdio: ['ignore', 'inherit', 'inherit'] });
  address = `http://127.0.0.1:${port}`;
  for (;;) {
    const response = await fetch(`${address}/health`).catch(() => undefined);
    if (response?.ok) break;
    assert.equal(server.exitCode, null, 'LLMock ended');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
after(() => server?.kill());

async function post(path, body = {}) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${address}/_llmock/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(response.ok, await response.text());
}

/** Runs a suite with these tests, once per provider. */
async function run(tests) {
  const directory = folder('llmock');
  const of = (line) => Object.entries(PROVIDERS).map(([name, path]) => line(name, path)).join('\n');
  writeFileSync(
    join(directory, 'kindlm.yaml'),
    `kindlm: 1
project: p
suite: { name: s }
providers:
${of((name, path) => `  ${name}: { apiKeyEnv: LLMOCK_KEY, baseUrl: '${address}${path}' }`)}
models:
${of((name) => `  - { id: ${name}, provider: ${name}, model: model-of-${name} }`)}
prompts:
  ask: { system: Be brief., user: Where is order 12345? }
defaults: { concurrency: 4 }
tests:
${tests}`,
  );
  const child = spawn(program(), ['run', '--report', 'json', '--set', 'report.evidence=true'], {
    cwd: directory,
    env: { ...process.env, LLMOCK_KEY: 'any' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  const runs = JSON.parse(output).suites[0].cases.flatMap((found) => found.runs);
  return { code, runs, output };
}

async function verdict() {
  return fetch(`${address}/_llmock/verdict?format=text`).then((response) => response.text());
}

const TOOL = `  - name: looks-up
    prompt: ask
    tools:
      - name: lookup_order
        description: Returns the state of an order.
        parameters: { type: object, properties: { order_id: { type: string } }, required: [order_id] }
        defaultResponse: { status: late }
    expect:
      toolCalls: [{ tool: lookup_order }]
      output: { maxLength: 10000 }
`;

test('each provider calls a simulated tool, gets its result and answers', options, async () => {
  await post('reset');
  const { code, runs, output } = await run(TOOL);
  assert.equal(code, 0, output);
  assert.deepEqual(runs.map((found) => found.subject.name).sort(), Object.keys(PROVIDERS).sort());
  for (const found of runs) {
    assert.equal(found.status, 'pass', output);
    assert.equal(found.evidence.turns.length, 2, output);
    assert.ok(found.evidence.usage.input_tokens > 0 && found.evidence.usage.output_tokens > 0, output);
  }
  assert.doesNotMatch(await verdict(), /FAIL/);
});

test('a provider that asks to wait gets its time', options, async () => {
  await post('reset');
  await post('scenario', { behaviors: [{ type: 'fail', status: 429, retry_after: 1, times: 3 }, { type: 'fail', status: 503, times: 2 }] });
  const { code, output } = await run(TOOL);
  assert.equal(code, 0, output);
  assert.doesNotMatch(await verdict(), /FAIL/);
});

test('a provider that refuses is not asked again, and nothing is judged', options, async () => {
  await post('reset');
  await post('scenario', { behaviors: [{ type: 'fail', status: 401, times: null }] });
  const { code, runs, output } = await run(TOOL);
  assert.equal(code, 3, output);
  assert.ok(runs.every((found) => found.error.kind === 'key' && found.verdicts.length === 0), output);
  assert.doesNotMatch(await verdict(), /FAIL/);
});

test('broken calls of tools reach the test as they are', options, async () => {
  await post('reset');
  await post('scenario', { behaviors: [{ type: 'tool_fault', kind: 'malformed_arguments', times: null }] });
  const { runs, output } = await run(TOOL);
  const broken = runs.find((found) => found.subject.name === 'openai');
  assert.ok('_raw' in broken.evidence.turns[0].tool_calls[0].arguments, output);
});
