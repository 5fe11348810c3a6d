// How fast the language server and the runner are: drives the release binary over its pipes.
//
//   cargo build --release && node tests/bench.mjs [--binary PATH] [--sizes 50,500,5000,50000]
//
// Prints one row per size, times in milliseconds. Machines differ and are shared: compare rows of one run, and the
// ratio of the runner to `xargs`, rather than single figures.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    binary: { type: 'string', default: 'target/release/speclens' },
    sizes: { type: 'string', default: '50,500,5000,50000' },
    rounds: { type: 'string', default: '100' },
    run: { type: 'string', default: '1000' },
  },
});
const binary = resolve(values.binary);

/** A suite of so many tests, about 200 bytes each: every third uses an anchor, some have block scalars. */
function suite(tests) {
  let text = 'kindlm: 1\nproject: bench\nsuite:\n  name: bench\ntests:\n';
  for (let i = 0; i < tests; i++) {
    if (i % 3 === 0) {
      text += `  - name: test ${i}\n    command: printf 'order %s delivered' '{{order}}'\n    vars:\n      order: "A-${i}"\n    expect: &claims${i}\n      output:\n        contains: [order, "A-${i}"]\n        maxLength: 200\n`;
    } else if (i % 3 === 1) {
      text += `  - name: test ${i}\n    command: |\n      printf 'line one'\n      printf 'line two'\n    expect:\n      toolCalls:\n        - tool: lookup\n          argsMatch: {order_id: "${i}"}\n      latency: {maxMs: 60000}\n`;
    } else {
      text += `  - name: test ${i}\n    command: sh agent.sh --order ${i}   # a comment\n    tags: [smoke, nightly]\n    expect: *claims${i - 2}\n`;
    }
  }
  return text;
}

class Client {
  constructor(directory) {
    this.process = spawn(binary, ['lsp'], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, XDG_STATE_HOME: directory } });
    this.buffer = Buffer.alloc(0);
    this.waiting = [];
    this.id = 0;
    this.process.stdout.on('data', (data) => this.read(data));
  }
  read(data) {
    this.buffer = this.buffer.length ? Buffer.concat([this.buffer, data]) : data;
    for (;;) {
      const header = this.buffer.indexOf('\r\n\r\n');
      if (header < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.buffer.subarray(0, header))[1]);
      if (this.buffer.length < header + 4 + length) return;
      const message = JSON.parse(this.buffer.subarray(header + 4, header + 4 + length));
      this.buffer = this.buffer.subarray(header + 4 + length);
      const found = this.waiting.findIndex(({ fits }) => fits(message));
      if (found >= 0) this.waiting.splice(found, 1)[0].done(message);
    }
  }
  send(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  wait(fits) {
    return new Promise((done) => this.waiting.push({ fits, done }));
  }
  request(method, params) {
    const id = ++this.id;
    const answer = this.wait((message) => message.id === id && !message.method);
    this.send({ id, method, params });
    return answer;
  }
  notify(method, params) {
    this.send({ method, params });
  }
  published(version) {
    return this.wait((message) => message.method === 'textDocument/publishDiagnostics' && message.params.version === version);
  }
  memory() {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
  }
}

const now = () => performance.now();
const sorted = (times) => [...times].sort((a, b) => a - b);
const quantile = (times, share) => sorted(times)[Math.min(times.length - 1, Math.floor(times.length * share))];
const p50p95 = (times) => `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.95).toFixed(2)}`;
const lineOf = (text, offset) => text.slice(0, offset).split('\n').length - 1;

async function measure(tests) {
  const directory = mkdtempSync(join(tmpdir(), 'speclens-bench-'));
  const row = { tests };
  try {
    const starts = [];
    for (let i = 0; i < 10; i++) {
      const before = now();
      const client = new Client(directory);
      await client.request('initialize', { processId: null, rootUri: null, capabilities: {} });
      starts.push(now() - before);
      client.process.kill();
    }
    row['start p50 / p95'] = p50p95(starts);

    const text = suite(tests);
    row.MB = (Buffer.byteLength(text) / 1024 / 1024).toFixed(2);
    const path = join(directory, 'kindlm.yaml');
    writeFileSync(path, text);
    const uri = `file://${path}`;
    const client = new Client(directory);
    await client.request('initialize', { processId: null, rootUri: null, capabilities: {}, initializationOptions: { trusted: true } });
    client.notify('initialized', {});
    let version = 1;
    let opened = now();
    let published = client.published(version);
    client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
    await published;
    row.open = (now() - opened).toFixed(0);
    // What follows on opening (lowering, recordings) is over when the server answers again and publishes again.
    await client.request('textDocument/codeLens', { textDocument: { uri } });

    const middle = Math.floor(tests / 2 / 3) * 3;
    const place = (needle) => {
      const offset = text.indexOf(needle);
      const line = lineOf(text, offset);
      return { line, character: offset - text.lastIndexOf('\n', offset - 1) - 1 + needle.length };
    };
    const keystrokes = async (at, keys) => {
      const times = [];
      for (let i = 0; i < Number(values.rounds); i++) {
        const key = keys[i % keys.length];
        const range = key === '' ? { start: at, end: { ...at, character: at.character + 1 } } : { start: at, end: at };
        const answer = client.published(++version);
        const before = now();
        client.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ range, text: key }] });
        await answer;
        times.push(now() - before);
      }
      return times;
    };
    const command = place(`  - name: test ${middle}`);
    row['key p50 / p95'] = p50p95(await keystrokes(command, ['x', '']));
    // A key without its colon: the test is damaged until the colon comes back.
    const broken = place(`  - name: test ${middle}`).line + 1;
    const half = [];
    for (let i = 0; i < Number(values.rounds); i++) {
      const at = { line: broken, character: 11 };
      const insert = i % 2 === 1;
      const answer = client.published(++version);
      const before = now();
      client.notify('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ range: { start: at, end: insert ? at : { ...at, character: 12 } }, text: insert ? ':' : '' }],
      });
      await answer;
      half.push(now() - before);
    }
    row['half-typed p50 / p95'] = p50p95(half);
    // Inside the claims that another test uses through an alias.
    const anchored = place(`"A-${middle}"]`);
    row['anchor p50 / p95'] = p50p95(await keystrokes({ ...anchored, character: anchored.character - 2 }, ['y', '']));

    const burst = client.published(version + 200);
    for (let i = 0; i < 200; i++) {
      client.notify('textDocument/didChange', {
        textDocument: { uri, version: ++version },
        contentChanges: [{ range: i % 2 ? { start: command, end: { ...command, character: command.character + 1 } } : { start: command, end: command }, text: i % 2 ? '' : 'z' }],
      });
    }
    const last = now();
    await burst;
    row['burst of 200'] = (now() - last).toFixed(1);

    const requests = async (method, params) => {
      const times = [];
      for (let i = 0; i < Number(values.rounds); i++) {
        const before = now();
        const answer = await client.request(method, { textDocument: { uri }, ...params });
        if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
        times.push(now() - before);
      }
      return times;
    };
    row['completion p50 / p95'] = p50p95(await requests('textDocument/completion', { position: { line: broken, character: 4 } }));
    row['hover p50 / p95'] = p50p95(await requests('textDocument/hover', { position: { line: broken, character: 6 } }));
    row['highlight p95'] = quantile(await requests('textDocument/documentHighlight', { position: place(`{{order`) }), 0.95).toFixed(2);
    row['outline p95'] = quantile(await requests('textDocument/documentSymbol', {}), 0.95).toFixed(2);
    row['folding p95'] = quantile(await requests('textDocument/foldingRange', {}), 0.95).toFixed(2);
    const screen = { range: { start: { line: broken, character: 0 }, end: { line: broken + 60, character: 0 } } };
    row['tokens of a screen p95'] = quantile(await requests('textDocument/semanticTokens/range', screen), 0.95).toFixed(2);
    row['hints of a screen p95'] = quantile(await requests('textDocument/inlayHint', screen), 0.95).toFixed(2);
    row['MB resident'] = client.memory().toFixed(0);
    client.process.kill();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return row;
}

/** So many tests `true` at concurrency 4, recorded, against the shell's own way to run commands. */
function measureRuns(count) {
  const directory = mkdtempSync(join(tmpdir(), 'speclens-bench-run-'));
  try {
    let text = 'kindlm: 1\nproject: bench\nsuite: {name: bench}\ndefaults: {concurrency: 4}\ntests:\n';
    for (let i = 0; i < count; i++) text += `  - {name: t${i}, command: "true", expect: {output: {maxLength: 10}}}\n`;
    writeFileSync(join(directory, 'kindlm.yaml'), text);
    const lines = 'x\n'.repeat(count);
    const ours = [], theirs = [];
    for (let i = 0; i < 7; i++) {
      let before = now();
      spawnSync('xargs', ['-P4', '-n1', 'sh', '-c', 'true'], { input: lines });
      theirs.push(now() - before);
      before = now();
      const done = spawnSync(binary, ['run', 'kindlm.yaml', '--report', 'json'], { cwd: directory, maxBuffer: 1 << 30 });
      if (done.status !== 0) throw new Error(`speclens run ended with ${done.status}: ${done.stderr}`);
      ours.push(now() - before);
    }
    const ratios = ours.map((time, i) => time / theirs[i]);
    return { tests: count, 'speclens run p50': quantile(ours, 0.5).toFixed(0), 'xargs p50': quantile(theirs, 0.5).toFixed(0), 'ratio p50': quantile(ratios, 0.5).toFixed(2), 'ratio min': Math.min(...ratios).toFixed(2) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const rows = [];
for (const size of values.sizes.split(',').filter(Boolean)) rows.push(await measure(Number(size)));
if (rows.length) console.table(rows);
if (Number(values.run)) console.table([measureRuns(Number(values.run))]);
