// Measures the speed of the language server, `check` and the runner: drives the program over its pipes.
//
//   cargo build --profile dist && node tests/bench.mjs [--binary PATH] [--dialect kindlm|cli-bench|clawspec|all] [--mb 1,10]
//   node tests/bench.mjs --cpu                            processor time of the server per request instead of the time until
//                                                          the answer: the better measure where others use the machine
//   node tests/bench.mjs --mb '' --units 50,5000,50000     processor time per request in files of so many tests, each tenth with
//                                                          a mistake, and how much more the longest file costs than the first
//   node tests/bench.mjs --mb '' --check 1000             `speclens check` on a tree of so many suites of all dialects
//   node tests/bench.mjs --mb '' --run 1000               so many tests `true`, against xargs
//   node tests/bench.mjs --mb '' --runs outputs,turns     other figures of runs: `outputs` of 30 MB, `recordings` that are
//                                                          judged again, `turns` of a model on this machine, `prompts`, `transcripts`
//                                                          of 1 MB, `lens` from *Run* to the first command; `all` of them
//   node tests/bench/recordings.mjs PROGRAM [BYTES]        hints and completion with 100 recordings of so many bytes
//   node tests/bench.mjs --mb '' --against 500,5000       yaml-language-server with the same schema, on files of so many
//                                                          tests (after `npm --prefix tests/editors ci`)
//
// Prints one row per kind of file and size, times in milliseconds. Machines differ and are shared: compare rows of one
// run, and ratios, rather than single figures.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from './bench/client.mjs';
import { grown } from './bench/growth.mjs';
import { Open, among, behind, initialize, now, quantile, server } from './bench/measure.mjs';
import * as runs from './bench/runs.mjs';
import { KINDS, ofSize } from './bench/suites.mjs';

const { values } = parseArgs({
  options: {
    binary: { type: 'string', default: 'target/dist/speclens' },
    dialect: { type: 'string', default: 'all' },
    mb: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '100' },
    cpu: { type: 'boolean', default: false },
    units: { type: 'string', default: '' },
    check: { type: 'string', default: '0' },
    run: { type: 'string', default: '0' },
    runs: { type: 'string', default: '' },
    against: { type: 'string', default: '' },
    module: { type: 'string', default: 'tests/editors/node_modules/yaml-language-server/bin/yaml-language-server' },
  },
});
const binary = resolve(values.binary);
const rounds = Number(values.rounds);
const kinds = Object.keys(KINDS).filter((kind) => values.dialect === 'all' || kind === values.dialect || kind.startsWith(`${values.dialect}-`));
const numbers = (list) => list.split(',').filter(Boolean).map(Number);

const p50p95 = (times) => `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.95).toFixed(2)}`;
const p95 = (times) => quantile(times, 0.95).toFixed(2);

const speclens = (directory) => server(binary, directory);

async function measure(kind, megabytes) {
  const suite = ofSize(kind, megabytes * 1024 * 1024);
  const { text } = suite;
  return among({ ...suite.files, [suite.path]: text }, async (directory) => {
    const row = { kind, tests: suite.tests, MB: (Buffer.byteLength(text) / 1024 / 1024).toFixed(2) };
    const starts = [];
    for (let i = 0; i < 10; i++) {
      const before = now();
      const client = speclens(directory);
      starts.push((await initialize(client, directory)).arrived - before);
      client.end();
    }
    row['start p50 / p95'] = p50p95(starts);

    const uri = `file://${join(directory, suite.path)}`;
    const opens = [];
    for (let i = 0; i < 5; i++) {
      const client = speclens(directory);
      await initialize(client, directory);
      client.notify('initialized', {});
      opens.push(await new Open(client, uri, text).open());
      client.end();
    }
    row['open min / p50'] = `${Math.min(...opens).toFixed(0)} / ${quantile(opens, 0.5).toFixed(0)}`;

    const client = speclens(directory);
    await initialize(client, directory);
    client.notify('initialized', {});
    const open = new Open(client, uri, text);
    await open.open();
    // Work after opening (lowering, recordings) is done when the server answers again.
    await open.ask('textDocument/codeLens', {}, 1);
    row['MB after open'] = client.memory().toFixed(0);

    /** A row of the table: the durations of some requests, or their processor time. */
    const rate = async (name, work, show = p50p95) => {
      const before = client.cpu();
      const times = await work();
      row[name] = values.cpu ? ((client.cpu() - before) / times.length).toFixed(2) : show(times);
    };
    await rate('key p50 / p95', () => open.type(behind(text, suite.word), 'x', rounds));
    await rate('half-typed', () => open.retype(behind(text, suite.colon), ':', rounds));
    await rate('anchor', () => open.type(behind(text, suite.anchored), 'y', rounds));

    const at = behind(text, suite.word);
    const after = { ...at, character: at.character + 1 };
    const burst = open.published(open.version + 200);
    for (let i = 0; i < 200; i++) open.send({ start: at, end: i % 2 ? after : at }, i % 2 ? '' : 'z');
    const last = now();
    row.burst = ((await burst).arrived - last).toFixed(1);

    const key = behind(text, suite.key);
    const ask = (name, method, params, show) => rate(name, () => open.ask(`textDocument/${method}`, params, rounds), show);
    await ask('completion of keys', 'completion', { position: key });
    await ask('of values', 'completion', { position: behind(text, suite.value) });
    await ask('hover', 'hover', { position: { ...key, character: key.character + 1 } });
    await ask('highlight p95', 'documentHighlight', { position: behind(text, suite.used) }, p95);
    await ask('outline p95', 'documentSymbol', {}, p95);
    await ask('folding p95', 'foldingRange', {}, p95);
    const screen = { range: { start: { line: key.line, character: 0 }, end: { line: key.line + 60, character: 0 } } };
    await ask('tokens p95', 'semanticTokens/range', screen, p95);
    await ask('hints p95', 'inlayHint', screen, p95);
    await ask('lenses p95', 'codeLens', {}, p95);
    row['MB at the end'] = client.memory().toFixed(0);
    client.end();
    return row;
  });
}

/** `speclens check` on this many suites of all dialects, each with a dozen tests; every tenth has a problem. */
async function measureCheck(count) {
  const files = { 'clawspec.yaml': 'report_dir: reports\n' };
  let bytes = 0;
  for (let i = 0; i < count; i++) {
    const kind = ['kindlm', 'clawspec', 'cli-bench', 'cli-bench-tasks'][i % 4];
    const suite = KINDS[kind](12);
    const text = i % 10 ? suite.text : suite.text.replace(suite.colon, suite.colon.replace(/(\w):$/, '$1x:'));
    bytes += Buffer.byteLength(text);
    if (kind === 'clawspec') {
      files[`skills/s${i}/tests/scenarios.yaml`] = text.replaceAll('skills/newsletter', `skills/s${i}`);
      files[`skills/s${i}/SKILL.md`] = suite.files['skills/newsletter/SKILL.md'];
    } else {
      for (const [path, other] of Object.entries(suite.files)) files[`suites/s${i}/${path}`] = other;
      files[`suites/s${i}/${suite.path}`] = text;
    }
  }
  return among(files, (directory) => {
    const times = [];
    let peak = 0;
    let problems = 0;
    for (let i = 0; i < 5; i++) {
      const before = now();
      const done = spawnSync(binary, ['check', '--format', 'json'], { cwd: directory, maxBuffer: 1 << 30, encoding: 'utf8' });
      times.push(now() - before);
      if (done.status !== 2) throw new Error(`speclens check ended with ${done.status}: ${done.stderr}`);
      problems = JSON.parse(done.stdout).suites.reduce((sum, suite) => sum + suite.problems.length, 0);
    }
    if (existsSync('/usr/bin/time')) {
      const timed = spawnSync('/usr/bin/time', ['-f', '%M', binary, 'check'], { cwd: directory, maxBuffer: 1 << 30, encoding: 'utf8' });
      peak = Number(timed.stderr.trim().split('\n').at(-1)) / 1024;
    }
    return {
      suites: count,
      MB: (bytes / 1024 / 1024).toFixed(1),
      problems,
      'check min / p50': `${Math.min(...times).toFixed(0)} / ${quantile(times, 0.5).toFixed(0)}`,
      'MB at most': peak ? peak.toFixed(0) : '(needs /usr/bin/time)',
    };
  });
}

/** Both servers with the same file and the same schema, in turn. */
async function measureAgainst(kind, tests) {
  const suite = KINDS[kind](tests);
  const { text } = suite;
  return among({ ...suite.files, [suite.path]: text }, async (directory) => {
    const schema = resolve('schema/json', `${kind === 'clawspec' ? 'clawspec-scenarios' : kind}.schema.json`);
    const settings = {
      yaml: { schemas: { [`file://${schema}`]: `/${suite.path}` }, schemaStore: { enable: false }, validate: true, completion: true, hover: true, maxItemsComputed: 5000 },
    };
    const servers = {
      speclens: () => speclens(directory),
      'yaml-language-server': () => new Client([process.execPath, resolve(values.module), '--stdio'], { cwd: directory }, settings),
    };
    const uri = `file://${join(directory, suite.path)}`;
    const row = { kind, tests, MB: (Buffer.byteLength(text) / 1024 / 1024).toFixed(2) };
    const found = {};
    for (const [name, start] of Object.entries(servers)) {
      const ours = name === 'speclens';
      const client = start();
      await initialize(client, directory);
      client.notify('initialized', {});
      if (!ours) client.notify('workspace/didChangeConfiguration', { settings });
      // The other server reads its settings and the schema meanwhile.
      if (!ours) await new Open(client, `file://${join(directory, 'small.yaml')}`, 'a: 1\n', false).open();
      const open = new Open(client, uri, text, ours);
      const opened = await open.open();
      const count = ours ? 100 : 6;
      const keys = await open.retype(behind(text, suite.colon), ':', count);
      const completions = await open.ask('textDocument/completion', { position: behind(text, suite.key) }, count);
      found[name] = { open: opened, key: quantile(keys, 0.5), completion: quantile(completions, 0.5), memory: client.memory() };
      client.end();
    }
    const { speclens: our, 'yaml-language-server': their } = found;
    for (const what of ['open', 'key', 'completion', 'memory']) {
      row[`${what}: ours, theirs`] = `${our[what].toFixed(1)}, ${their[what].toFixed(1)} (1:${(their[what] / our[what]).toFixed(0)})`;
    }
    return row;
  });
}

async function table(rows) {
  const done = [];
  for (const row of rows) done.push(await row());
  if (done.length) console.table(Object.fromEntries(done.map((row, at) => [at, row])));
}

// One column per row of figures: there are too many of them for the width of a terminal.
const figures = [];
for (const size of numbers(values.mb)) for (const kind of kinds) figures.push(await measure(kind, size));
if (figures.length) {
  const columns = Object.keys(figures[0]);
  console.table(Object.fromEntries(columns.map((column) => [column, Object.fromEntries(figures.map((row, at) => [at, row[column]]))])));
}
if (values.units) {
  for (const kind of kinds) console.table(await grown(kind, numbers(values.units), binary, rounds));
}
await table(numbers(values.against).flatMap((tests) => kinds.map((kind) => () => measureAgainst(kind, tests))));
if (Number(values.check)) await table([() => measureCheck(Number(values.check))]);
if (Number(values.run)) await table([() => runs.commands(binary, Number(values.run))]);
const FIGURES = { outputs: 200, recordings: 10_000, turns: 20, prompts: 1_000, transcripts: 200, lens: 1_000 };
const wanted = values.runs === 'all' ? Object.keys(FIGURES) : values.runs.split(',').filter(Boolean);
for (const name of wanted) await table([() => runs[name](binary, FIGURES[name])]);
