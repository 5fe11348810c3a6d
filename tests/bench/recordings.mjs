// How long an editor waits for the results at the ends of lines, and for completion of seen values, with many large recordings:
// node tests/bench/recordings.mjs PROGRAM [BYTES]. Each of 100 attempts records an output of BYTES bytes (default: 1,000,000).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from './client.mjs';

const [program, bytes = 1_000_000] = process.argv.slice(2);
const ATTEMPTS = 100;
const KEYS = 40;
const last = Math.max(40, Math.round(bytes / 7)); // the numbers that `seq` writes, most of them with six digits

/** A suite whose attempts are divided among `tests`, each with `lines` texts to find. */
function suite(tests, lines) {
  const head = 'kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n';
  const texts = Array.from({ length: lines }, (_, at) => `          - "${last - at}"\n`).join('');
  const test = (number) => `  - name: test number ${number}\n    command: seq 1 ${last}; echo done ${number}\n    repeat: ${ATTEMPTS / tests}
    expect:\n      output:\n        contains:\n${texts}          - done ${number}\n        notContains: [sorry]\n`;
  return head + Array.from({ length: tests }, (_, number) => test(number)).join('');
}

function quantiles(times) {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share) => `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1)} ms`;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}`;
}

async function timed(act) {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

for (const [tests, lines] of [[25, 6], [100, 28]]) {
  const directory = mkdtempSync(join(tmpdir(), 'speclens-recordings-'));
  const environment = { ...process.env, HOME: directory, XDG_STATE_HOME: directory };
  const text = suite(tests, lines);
  writeFileSync(join(directory, 'kindlm.yaml'), text);
  writeFileSync(join(directory, 'speclens.yaml'), 'recordings: {max_mib: 1000}\n');
  execFileSync(program, ['run'], { cwd: directory, stdio: 'pipe', env: environment });
  const recordings = readdirSync(join(directory, '.speclens/recordings')).filter((file) => file.endsWith('.json')).length;

  const client = new Client([program, 'lsp'], { cwd: directory, env: environment });
  const textDocument = { inlayHint: {}, completion: { completionItem: { snippetSupport: true } }, publishDiagnostics: {}, codeLens: {} };
  await client.request('initialize', { processId: null, rootUri: `file://${directory}`, capabilities: { textDocument }, initializationOptions: { trusted: true } });
  client.send({ method: 'initialized', params: {} });
  const uri = `file://${join(directory, 'kindlm.yaml')}`;
  client.send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
  const range = { start: { line: 0, character: 0 }, end: { line: 60, character: 0 } };
  const hints = () => client.request('textDocument/inlayHint', { textDocument: { uri }, range });
  const first = await timed(hints);

  // A digit is typed behind a number that is found, and removed again.
  const line = text.split('\n').findIndex((row) => row.includes(`"${last - 1}"`));
  const end = { line, character: text.split('\n')[line].lastIndexOf('"') };
  const changes = [{ range: { start: end, end }, text: '7' }, { range: { start: end, end: { line, character: end.character + 1 } }, text: '' }];
  const keys = [];
  for (let key = 0; key < KEYS; key++) {
    const params = { textDocument: { uri, version: key + 2 }, contentChanges: [changes[key % 2]] };
    keys.push(await timed(() => (client.send({ method: 'textDocument/didChange', params }), hints())));
  }
  const completions = [];
  for (let key = 0; key < KEYS; key++) completions.push(await timed(() => client.request('textDocument/completion', { textDocument: { uri }, position: end })));

  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.process.pid}/status`, 'utf8'))?.[1] / 1024;
  console.log(`${tests} tests in ${text.length} bytes, ${recordings} recordings of ${bytes} bytes`);
  console.log(`  first hints ${first.toFixed(0)} ms; key to hint ${quantiles(keys)}; completion ${quantiles(completions)}; ${memory.toFixed(0)} MiB`);
  client.process.kill();
  rmSync(directory, { recursive: true, force: true });
}
