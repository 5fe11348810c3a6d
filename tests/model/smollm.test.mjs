// A task of cli-bench, worked on by a real language model: it is small and on this machine, so neither key nor network is needed.
// Needs the development build (or `SPECLENS_BIN`) and the model of tests/model/get; without the model the tests are skipped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { folder, program } from '../editors/support.mjs';
import { cache, load, serve } from './server.mjs';

const skip = existsSync(join(cache, '.stamp')) ? false : 'the model is not installed: tests/run model';
const options = { skip, timeout: 180_000 };

// Whichever the model chooses, the greeting is printed.
const COMMANDS = ['echo hello world', 'printf "hello world\\n"'];

const SUITE = `cli: echo
providers: [local/smollm2]
repeat: 1
tasks:
  - id: greet
    intent: Print the words hello world
    max_turns: 3
    assert:
      - exit_code: 0
      - output_equals: hello world
      - run_count: { pattern: hello, min: 1, max: 1 }
`;

let model;
before(async () => {
  if (!skip) model = await load();
});
after(() => model?.close());

/** A suite beside settings that lead to the model, and a program that runs it. */
function place(address) {
  const directory = folder('smollm');
  writeFileSync(join(directory, 'cli-bench.yaml'), SUITE);
  writeFileSync(join(directory, 'speclens.yaml'), `providers: { local: { base_url: '${address}' } }\nprices: { local/smollm2: { input: 1, output: 2 } }\n`);
  const start = (...args) => {
    const child = spawn(program(), ['run', ...args], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (part) => (output += part));
    child.stderr.on('data', (part) => (errors += part));
    const ended = once(child, 'close').then(([code]) => ({ code, output, errors }));
    return { child, ended };
  };
  return start;
}

test('a model works on a task, and its tokens and costs are counted', options, async () => {
  const server = await serve(model, COMMANDS);
  try {
    const start = place(server.address);
    const { code, output, errors } = await start('--report', 'json', '--set', 'report.evidence=true').ended;
    assert.equal(code, 0, `${errors}\n${output}`);
    const [run] = JSON.parse(output).suites[0].cases[0].runs;
    assert.equal(run.status, 'pass');
    const [chosen, closing] = server.kept;
    assert.equal(server.kept.length, 2, 'a turn that runs a command, and one that ends the task');
    assert.equal(run.evidence.commands.length, 1);
    const result = closing.asked.messages.find((message) => message.role === 'tool');
    assert.match(result.content, /hello world/, 'the model sees what its command printed');
    const sum = (name) => chosen.usage[name] + closing.usage[name];
    const { input_tokens: input, output_tokens: out, cost_usd: cost } = run.evidence.usage;
    assert.deepEqual([input, out], [sum('prompt_tokens'), sum('completion_tokens')]);
    assert.ok(input > 100 && out > 2, output);
    assert.ok(Math.abs(cost - (input + 2 * out) / 1e6) < 1e-12, output);
    // The recording is judged again without the model.
    const replayed = await start('--recorded').ended;
    assert.equal(replayed.code, 0, replayed.output);
    assert.equal(server.kept.length, 2);
  } finally {
    await server.stop();
  }
});

test('a prompt test asks the model, and counts what it says', options, async () => {
  const server = await serve(model, COMMANDS);
  try {
    const directory = folder('smollm-prompt');
    writeFileSync(
      join(directory, 'kindlm.yaml'),
      `kindlm: 1
project: p
suite: { name: s }
providers:
  openai: { apiKeyEnv: SMOLLM_KEY, baseUrl: '${server.address}' }
models: [{ id: small, provider: openai, model: smollm2, params: { temperature: 0, maxTokens: 12 } }]
prompts:
  greet: { system: You are friendly., user: 'Say hello to {{who}}.' }
tests:
  - { name: greets, prompt: greet, vars: { who: Ada }, expect: { output: { maxLength: 200 }, latency: { maxMs: 120000 } } }
`,
    );
    const child = spawn(program(), ['run', '--report', 'json', '--set', 'report.evidence=true'], {
      cwd: directory,
      env: { ...process.env, SMOLLM_KEY: 'unused' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (part) => (output += part));
    const [code] = await once(child, 'close');
    assert.equal(code, 0, output);
    const [run] = JSON.parse(output).suites[0].cases[0].runs;
    assert.equal(run.evidence.turns.length, 1);
    assert.equal(run.evidence.output_text, server.kept[0].text);
    assert.equal(run.evidence.usage.output_tokens, server.kept[0].usage.completion_tokens);
    assert.deepEqual(
      server.kept[0].asked.messages.map((message) => message.role),
      ['system', 'user'],
    );
  } finally {
    await server.stop();
  }
});

test('an interrupted run ends at once and hangs up on the model', options, async () => {
  const server = await serve(model, COMMANDS);
  try {
    const { child, ended } = place(server.address)();
    // It has begun to speak.
    await server.until((kept) => kept[0]?.text);
    const interrupted = performance.now();
    child.kill('SIGINT');
    const { code, output, errors } = await ended;
    const took = performance.now() - interrupted;
    assert.equal(code, 130, `${errors}\n${output}`);
    assert.ok(took < 5_000, `${took} ms`);
    await server.until((kept) => kept[0].left);
    assert.equal(server.kept.length, 1);
    assert.equal(server.kept[0].usage, undefined, 'the model was stopped in the middle of its answer');
  } finally {
    await server.stop();
  }
});

test('the server of these tests streams what the model says as it says it', options, async () => {
  const server = await serve(model, COMMANDS);
  try {
    const body = { model: 'smollm2', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'Say hello.' }] };
    const response = await fetch(`${server.address}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    const frames = (await response.text()).split('\n\n').filter(Boolean).map((line) => line.slice('data: '.length));
    assert.equal(frames.pop(), '[DONE]');
    const chunks = frames.map((frame) => JSON.parse(frame));
    const said = chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta.content ?? '');
    assert.ok(said.filter(Boolean).length > 1, 'in pieces');
    assert.equal(said.join(''), server.kept[0].text);
    assert.deepEqual(chunks.at(-1).usage, server.kept[0].usage);
  } finally {
    await server.stop();
  }
});
