// Scenarios against a real OpenClaw gateway: its webhook, its command line, its log, and its settings.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';

import { folder, get, program } from '../editors/support.mjs';
import { TOKEN, gateway, installation, logged, model } from './openclaw.mjs';

const SKILL = `---
name: reporter
description: Use when a report is wanted.
permissions: { filesystem: write, network: none }
version: "1.0.0"
---
Write the report.
`;

const SCENARIOS = `version: "1.0"
target: { type: skill, path: skills/reporter, trigger: /reporter }
defaults: { timeout: 300 }
scenarios:
  - name: writes-a-report
    tags: [smoke]
    given:
      - { type: gateway_healthy, endpoint: "HEALTH" }
      - { type: file_absent, path: out/first.md }
    when: { invoke: "please write:out/first.md" }
    then:
      - { type: artifact_exists, path: out/first.md, updated_after: "{{run_started_at}}" }
      - { type: artifact_contains, path: out/first.md, sections: [Result] }
      - { type: tool_was_called, tool: write }
      - { type: tool_not_called, tool: exec }
      - { type: tool_not_permitted, allowed_tools: [write] }
  - name: writes-nothing
    tags: [negative]
    when: { invoke: "please write:out/second.md" }
    then:
      - { type: tool_not_called, tool: write }
`;

const AGENT = `version: "1.0"
target: { type: agent, path: agents/main, trigger: main }
defaults: { timeout: 300 }
scenarios:
  - name: works-on-its-own
    tags: [negative]
    when: { invoke: "please write:out/third.md" }
    then:
      - { type: artifact_exists, path: out/third.md }
      - { type: tool_was_called, tool: write }
      - { type: tool_not_called, tool: exec }
`;

const DELEGATING = `version: "1.0"
target: { type: skill, path: skills/lead, trigger: /lead }
defaults: { timeout: 300 }
scenarios:
  - name: delegates
    tags: [negative]
    when: { invoke: "please spawn:helper:out/child.md" }
    then:
      - { type: delegation_occurred, to_agent: helper }
      - { type: tool_was_called, tool: sessions_spawn }
      - { type: artifact_contains, path: out/child.md, sections: [Result] }
      - { type: tool_not_called, tool: write }
      - { type: tool_not_called, tool: exec }
`;

const SOUL = ['Who I Am', 'Core Principles', 'Boundaries', 'Communication Style', 'Security Rules', 'Memory']
  .map((heading) => `# ${heading}\n\n- I never share <user_data>secrets</user_data>.\n`)
  .join('\n');

let root, setup, models, speclens;

/** What the agent that another one started waits for before it works. */
let beforeChild = async () => {};

before(async () => {
  get('openclaw');
  root = folder('workspace');
  models = await model(() => beforeChild());
  setup = await installation(root, models.address);
  const write = (path, text) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const address = `http://127.0.0.1:${setup.port}`;
  write('clawspec.yaml', `gateway_base_url: ${address}\ngateway_webhook_endpoint: /webhook/mcp-skill-invoke\ngateway_log_pattern: ${setup.log}\n`);
  write('skills/reporter/SKILL.md', SKILL);
  write('skills/reporter/tests/scenarios.yaml', SCENARIOS.replace('HEALTH', `${address}/health`));
  write('skills/lead/SKILL.md', SKILL.replace('reporter', 'lead'));
  write('skills/lead/tests/scenarios.yaml', DELEGATING);
  write('agents/main/SOUL.md', SOUL);
  write('agents/main/tests/scenarios.yaml', AGENT);
});

after(() => models?.stop());

async function run(...args) {
  const environment = { ...process.env, CLAWSPEC_GATEWAY_AUTH_TOKEN: TOKEN, PATH: setup.bin + delimiter + process.env.PATH };
  speclens = spawn(program(), ['run', '--report', 'json', ...args], { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  speclens.stdout.on('data', (part) => (output += part));
  speclens.stderr.on('data', (part) => (errors += part));
  const [code] = await once(speclens, 'close');
  assert.ok(output.startsWith('{'), `${errors}\n${output}`);
  return { code, report: JSON.parse(output), output };
}

const cases = (report) => report.suites.flatMap((suite) => suite.cases);
const statuses = (it) => it.runs.flatMap((attempt) => attempt.verdicts.map((verdict) => `${verdict.type} ${verdict.outcome}`));

test('a skill is started by the webhook, and judged by its artifact and by the log', async () => {
  const running = await gateway(setup);
  try {
    const { code, report, output } = await run('skills/reporter/tests/scenarios.yaml');
    const [written, negative] = cases(report);
    assert.deepEqual(
      statuses(written),
      ['gateway_healthy', 'file_absent', 'artifact_exists', 'artifact_contains', 'tool_was_called', 'tool_not_called', 'tool_not_permitted'].map((kind) => `${kind} pass`),
      output,
    );
    assert.equal(written.runs[0].stopped, 'log');
    assert.deepEqual(statuses(negative), ['tool_not_called fail'], output);
    assert.equal(code, 1);
    assert.ok(!output.includes(TOKEN));
  } finally {
    await running.stop();
  }
});

test('an agent is started by the command line', async () => {
  const { code, report, output } = await run('agents/main/tests/scenarios.yaml');
  const [only] = cases(report);
  assert.deepEqual(statuses(only), ['artifact_exists pass', 'tool_was_called pass', 'tool_not_called pass'], output);
  assert.equal(code, 0);
});

test('a skill, an agent, and an agent that starts another one are judged in one run beside the gateway', async () => {
  rmSync(join(root, 'out'), { recursive: true, force: true });
  const running = await gateway(setup);
  let wasRunning;
  beforeChild = async () => {
    const hasEnded = (line) => line.includes(':delegates:') && line.includes('"status":"ok"');
    while (!logged(setup).some(hasEnded)) await new Promise((resume) => setTimeout(resume, 100));
    wasRunning = speclens.exitCode === null;
  };
  try {
    const { code, report, output } = await run('--test', 'writes-a-report', '--test', 'works-on-its-own', '--test', 'delegates');
    const found = Object.fromEntries(cases(report).map((it) => [it.name, it]));
    assert.deepEqual([found['writes-a-report'].status, found['works-on-its-own'].status], ['pass', 'pass'], output);
    assert.deepEqual(
      statuses(found.delegates),
      ['delegation_occurred pass', 'tool_was_called pass', 'artifact_contains pass', 'tool_not_called fail', 'tool_not_called pass'],
      output,
    );
    assert.ok(wasRunning, 'the run is not over before the agent that was started has worked');
    assert.equal(code, 1);
    assert.ok(!output.includes(TOKEN));
  } finally {
    await running.stop();
  }
});

test('nothing that an agent may still do passes at the deadline', async () => {
  rmSync(join(root, 'out'), { recursive: true, force: true });
  const running = await gateway(setup);
  beforeChild = () => once(speclens, 'close');
  try {
    const { code, report, output } = await run('skills/lead/tests/scenarios.yaml', '--timeout', '25');
    const outcomes = statuses(cases(report)[0]);
    assert.deepEqual(outcomes.slice(2), ['artifact_contains fail', 'tool_not_called unknown', 'tool_not_called unknown'], output);
    assert.equal(code, 1);
  } finally {
    await running.stop();
  }
});

test('the settings of a new workspace for the exporter are valid, and keep the plugins of the gateway', async () => {
  const started = folder('started');
  execFileSync(program(), ['init', 'clawspec'], { cwd: started, stdio: 'pipe' });
  const { home, bin } = await installation(started, models.address);
  const openclaw = (...args) => execFileSync(join(bin, 'openclaw'), ['config', ...args], { cwd: started, encoding: 'utf8', stdio: 'pipe' });
  openclaw('patch', '--file', 'openclaw-otel.json');
  const found = JSON.parse(openclaw('validate', '--json'));
  assert.equal(found.valid, true);
  // The exporter is a separate package, which is not installed here.
  assert.deepEqual(found.warnings.map((warning) => warning.path), ['plugins.entries.diagnostics-otel']);
  const { plugins, diagnostics, hooks } = JSON.parse(readFileSync(join(home, '.openclaw/openclaw.json'), 'utf8'));
  assert.equal(plugins.allow, undefined, 'a list of allowed plugins turns off all others');
  assert.equal(diagnostics.otel.captureContent, true);
  assert.equal(hooks.path, '/webhook');
});
