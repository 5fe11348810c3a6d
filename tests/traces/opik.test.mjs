// Opik's own SDK writes traces to a stub of its API, and its own command exports them to files: both are judged.
// Needs the development build (or `SPECLENS_BIN`) and the SDK of tests/traces/get; without it the tests are skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { find, folder, program, repository } from '../editors/support.mjs';
import { opik } from './opik.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sdk = join(resolve(repository, process.env.SPECLENS_TRACES_CACHE ?? 'target/traces-cache'), 'opik');
const skip = existsSync(join(sdk, '.stamp')) ? false : "Opik's SDK is not installed: tests/traces/get";
const options = { skip, timeout: 120_000 };

const SCENARIOS = `version: "1.0"
target: { type: agent, path: agents/main, trigger: main }
scenarios:
  - name: looks-up-the-order
    tags: [negative]
    when: { invoke: "where is order 42?" }
    then:
      - { type: llm_call_count, min: 2, max: 2 }
      - { type: tool_sequence, expected: [lookup_order] }
      - { type: tool_not_invoked, tool: delete_order }
      - { type: model_used, expected: gpt-4o }
      - { type: delegation_path, expected: [writer] }
      - { type: trace_token_budget, max_input_tokens: 270, max_output_tokens: 50 }
      - { type: per_span_budget, max_tokens: 180 }
      - { type: trace_cost, max_usd: 0.75 }
      - { type: trace_duration, max_ms: 60000 }
      - { type: no_span_errors }
`;

const SOUL = ['Who I Am', 'Core Principles', 'Boundaries', 'Communication Style', 'Security Rules', 'Memory']
  .map((heading) => `# ${heading}\n\n- I never share <user_data>secrets</user_data>.\n`)
  .join('\n');

let api;
before(async () => {
  api = await opik();
});
beforeEach(() => [api.traces, api.spans].forEach((entries) => entries.clear()));
after(() => api.stop());

const SCENARIOS_AT = 'agents/main/tests/scenarios.yaml';

/** A workspace whose agent is started by a program in place of `openclaw`, and a function that runs programs there. */
function workspace(agent, scenarios = SCENARIOS) {
  const root = folder('opik');
  const write = (path, text, mode) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  write('clawspec.yaml', 'observability: { backend: opik, trace_poll_delay_ms: 100, opik: { project_name: demo, workspace: team } }\n');
  write('agents/main/SOUL.md', SOUL);
  write(SCENARIOS_AT, scenarios);
  const started = [join(sdk, 'bin/python'), join(here, 'agent_opik.py'), ...agent].map((word) => `'${word}'`).join(' ');
  write('bin/openclaw', `#!/bin/sh\ncase $1 in\nagents) echo '[]' ;;\n*) exec ${started} ;;\nesac\n`, 0o755);
  const env = {
    ...process.env,
    PATH: join(root, 'bin') + delimiter + process.env.PATH,
    NO_COLOR: '1',
    // The SDK sends nothing to the network, and finds no settings of the user.
    HOME: root,
    OPIK_URL_OVERRIDE: api.address,
    OPIK_API_KEY: 'key-of-opik-4711',
    OPIK_WORKSPACE: 'team',
    OPIK_SENTRY_ENABLE: 'false',
    OPIK_ANALYTICS_ENABLE: 'false',
  };
  const run = async (file, ...args) => {
    const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (part) => (output += part));
    child.stderr.on('data', (part) => (errors += part));
    const [code] = await once(child, 'close');
    return { code, output, errors, all: `${errors}\n${output}` };
  };
  return { root, run };
}

const verdicts = (output) => JSON.parse(output).suites[0].cases[0].runs[0].verdicts.map((verdict) => `${verdict.type} ${verdict.outcome}`);
const types = [...SCENARIOS.matchAll(/type: (\w+_\w+)/g)].map((found) => found[1]);

for (const style of ['objects', 'decorators']) {
  test(`an agent that is traced with ${style} of the SDK is judged through the API`, options, async () => {
    const { run } = workspace([style, 'run-0000-0000-4242']);
    const { code, output, all } = await run(program(), 'run', SCENARIOS_AT, '--report', 'json');
    assert.deepEqual(verdicts(output), types.map((type) => `${type} pass`), all);
    assert.equal(code, 0, all);
    assert.ok(!all.includes('key-of-opik-4711'));
  });
}

test('an error, and tokens and costs just above their limits, fail the scenario', options, async () => {
  const limits = [['270', '269'], ['180', '179'], ['0.75', '0.74']];
  const scenarios = limits.reduce((text, [held, missed]) => text.replace(held, missed), SCENARIOS);
  const { run } = workspace(['objects', 'run-0000-0000-4343', 'failing'], scenarios);
  const { code, output, all } = await run(program(), 'run', SCENARIOS_AT, '--report', 'json');
  const failing = ['trace_token_budget', 'per_span_budget', 'trace_cost', 'no_span_errors'];
  assert.deepEqual(verdicts(output), types.map((type) => `${type} ${failing.includes(type) ? 'fail' : 'pass'}`), all);
  assert.match(output, /no order 42/);
  assert.equal(code, 1, all);
});

test('a file of `opik export` is judged', options, async () => {
  const { root, run } = workspace(['objects', 'run-0000-0000-4444']);
  const written = await run(join(root, 'bin/openclaw'), 'agent');
  assert.equal(written.code, 0, written.all);
  const exported = await run(join(sdk, 'bin/opik'), 'export', 'team', 'demo', 'traces', '--path', 'exported');
  assert.equal(exported.code, 0, exported.all);
  const [file] = find(join(root, 'exported'), /trace_.*\.json$/);
  const { code, all } = await run(program(), 'trace', SCENARIOS_AT, '--from', file);
  assert.match(all, /1 passed/);
  assert.equal(code, 0, all);
});
