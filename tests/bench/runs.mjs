// The cost of runs beyond their commands: time and memory. Each function writes a suite in a new directory, and returns a
// row of figures.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { join } from 'node:path';
import { among, now, opened, quantile } from './measure.mjs';

const KINDLM = 'kindlm: 1\nproject: bench\nsuite: {name: bench}\n';

/** Runs the program, and returns its duration and its peak memory in megabytes. */
function follow(binary, args, directory, environment = {}) {
  return new Promise((done, failed) => {
    const before = now();
    const child = spawn(binary, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } });
    let peak = 0;
    let complaint = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (complaint = (complaint + data).slice(-2000)));
    const look = setInterval(() => {
      try {
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024);
      } catch {
        // It is about to end.
      }
    }, 10);
    child.on('exit', (status) => {
      clearInterval(look);
      if (status === 0) done({ took: now() - before, peak });
      else failed(new Error(`speclens ${args.join(' ')} ended with ${status}: ${complaint}`));
    });
  });
}

/** This many tests `true` at concurrency 4, recorded, compared with the shell's own way to run commands. */
export function commands(binary, count) {
  let text = `${KINDLM}defaults: {concurrency: 4}\ntests:\n`;
  for (let i = 0; i < count; i++) text += `  - {name: t${i}, command: "true", expect: {output: {maxLength: 10}}}\n`;
  return among({ 'kindlm.yaml': text }, (directory) => {
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
  });
}

/** This many tests that print 30 MB each, four at once. */
export function outputs(binary, count) {
  let text = `${KINDLM}tests:\n`;
  for (let i = 0; i < count; i++) {
    // All of one text, which is stored once: recordings of different ones would fill a disk.
    text += `  - {name: t${i}, command: "yes 'a line of an output that is long' | head -c 31457280", expect: {output: {contains: [a line of]}}}\n`;
  }
  return among({ 'kindlm.yaml': text }, async (directory) => {
    const { took, peak } = await follow(binary, ['run', '--jobs', '4'], directory);
    return { tests: count, 'MB each': 30, 'seconds': (took / 1000).toFixed(1), 'MB at most': peak.toFixed(0) };
  });
}

/** This many recordings of 4 KB, judged again. */
export function recordings(binary, count) {
  let text = `${KINDLM}tests:\n`;
  for (let i = 0; i < count; i++) text += `  - {name: t${i}, command: "printf '%04096d' ${i}", expect: {output: {contains: ["${i}"]}}}\n`;
  return among({ 'kindlm.yaml': text }, async (directory) => {
    await follow(binary, ['run', '--jobs', '4'], directory);
    const times = [];
    let peak = 0;
    for (let i = 0; i < 7; i++) {
      const judged = await follow(binary, ['run', '--recorded'], directory);
      times.push(judged.took);
      peak = Math.max(peak, judged.peak);
    }
    return { recordings: count, 'judged again min / p50 (ms)': `${Math.min(...times).toFixed(0)} / ${quantile(times, 0.5).toFixed(0)}`, 'MB at most': peak.toFixed(0) };
  });
}

/** A model on this machine: it runs a command in each turn but the last. */
function provider(turns, command) {
  const server = createServer((asked, answer) => {
    const parts = [];
    asked.on('data', (part) => parts.push(part));
    asked.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(parts));
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const call = { id: `call-${turn}`, type: 'function', function: { name: 'run_command', arguments: JSON.stringify({ command }) } };
      const is_last = turn + 1 >= turns;
      const message = is_last ? { role: 'assistant', content: 'It is done.' } : { role: 'assistant', content: null, tool_calls: [call] };
      const body = JSON.stringify({
        id: '1', object: 'chat.completion', created: 1, model: 'one',
        choices: [{ index: 0, message, finish_reason: is_last ? 'stop' : 'tool_calls' }],
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      });
      answer.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      answer.end(body);
    });
  });
  return new Promise((started) => server.listen(0, '127.0.0.1', () => started(server)));
}

/** The files of a suite with this many tasks for this provider. */
function tasks(server, count, turns) {
  let text = `cli: sh\nproviders: [local/one]\ntasks:\n`;
  for (let i = 0; i < count; i++) text += `  - {id: t${i}, intent: Do it ${i} times., max_turns: ${turns}, assert: [{exit_code: 0}]}\n`;
  return { 'cli-bench.yaml': text, 'speclens.yaml': `providers: {local: {base_url: 'http://127.0.0.1:${server.address().port}/v1'}}\n` };
}

/** One minimal exchange with the provider. */
function exchange(server, agent, body) {
  return new Promise((done, failed) => {
    const asked = request({ port: server.address().port, host: '127.0.0.1', method: 'POST', agent, headers: { 'content-length': Buffer.byteLength(body) } }, (answer) => {
      answer.on('data', () => {});
      answer.on('end', done);
    });
    asked.on('error', failed);
    asked.end(body);
  });
}

/** The cost of a model's turn beyond its HTTP exchange and its command: the difference between a task of many turns and one
 * of two, for each turn. */
export async function turns(binary, count) {
  const times = [];
  for (const turns of [2, count]) {
    const server = await provider(turns, 'true');
    const found = [];
    for (let i = 0; i < 7; i++) {
      found.push(await among(tasks(server, 1, turns), async (directory) => (await follow(binary, ['run'], directory)).took));
    }
    times.push(Math.min(...found));
    server.close();
  }
  const server = await provider(count, 'true');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const messages = [{ role: 'system', content: 'x'.repeat(500) }, { role: 'user', content: 'Do it.' }];
  const bare = [];
  for (let i = 0; i < 7; i++) {
    const before = now();
    for (let turn = 0; turn < count; turn++) {
      const said = Array.from({ length: turn }, () => ({ role: 'assistant', content: 'x'.repeat(100) }));
      await exchange(server, agent, JSON.stringify({ messages: [...messages, ...said] }));
    }
    bare.push((now() - before) / count);
  }
  agent.destroy();
  server.close();
  const commands = [];
  for (let i = 0; i < 50; i++) {
    const before = now();
    spawnSync('sh', ['-c', 'true']);
    commands.push(now() - before);
  }
  const turn = (times[1] - times[0]) / (count - 2);
  const [exchanged, command] = [Math.min(...bare), Math.min(...commands)];
  return { turns: count, 'turn (ms)': turn.toFixed(2), 'exchange (ms)': exchanged.toFixed(2), 'sh -c true (ms)': command.toFixed(2), 'rest (ms)': (turn - exchanged - command).toFixed(2) };
}

/** This many prompt tests, 16 at once, compared with the bare exchanges by a plain client; then ten recorded attempts of each,
 * judged again. */
export async function prompts(binary, count) {
  const server = await provider(1, '');
  const { port } = server.address();
  const suite = (repeat) => {
    let text = `${KINDLM}providers: {openai: {apiKeyEnv: BENCH_KEY, baseUrl: 'http://127.0.0.1:${port}/v1'}}\nmodels: [{id: m, provider: openai, model: one}]\n`;
    text += `prompts: {ask: {user: 'Question {{n}}'}}\ndefaults: {concurrency: 16, repeat: ${repeat}}\ntests:\n`;
    for (let i = 0; i < count; i++) text += `  - {name: t${i}, prompt: ask, vars: {n: "${i}"}, expect: {output: {contains: [done]}}}\n`;
    return text;
  };
  const environment = { BENCH_KEY: 'any' };
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const [ours, bare] = [[], []];
  let peak = 0;
  for (let i = 0; i < 5; i++) {
    let before = now();
    await Promise.all(Array.from({ length: count }, (_, n) => exchange(server, agent, JSON.stringify({ messages: [{ role: 'user', content: `Question ${n}` }] }))));
    bare.push(now() - before);
    const run = await among({ 'kindlm.yaml': suite(1) }, (directory) => follow(binary, ['run'], directory, environment));
    ours.push(run.took);
    peak = Math.max(peak, run.peak);
  }
  const again = await among({ 'kindlm.yaml': suite(10) }, async (directory) => {
    await follow(binary, ['run'], directory, environment);
    return follow(binary, ['run', '--recorded'], directory, environment);
  });
  agent.destroy();
  server.close();
  return {
    prompts: count, 'run min (ms)': Math.min(...ours).toFixed(0), 'bare exchanges min (ms)': Math.min(...bare).toFixed(0), 'MB at most': peak.toFixed(0),
    'ten attempts each judged again (ms)': again.took.toFixed(0), 'MB at most then': again.peak.toFixed(0),
  };
}

/** This many tasks, 16 at once, with a megabyte of transcript each. */
export async function transcripts(binary, count) {
  const server = await provider(11, "yes 'a line of a transcript that is long' | head -c 104857");
  const row = await among(tasks(server, count, 11), async (directory) => {
    const { took, peak } = await follow(binary, ['run', '--jobs', '16'], directory);
    return { tasks: count, 'MB each': 1, seconds: (took / 1000).toFixed(1), 'MB at most': peak.toFixed(0) };
  });
  server.close();
  return row;
}

/** The time from *Run* in the editor to the first command, with this many tests in the file. */
export function lens(binary, count) {
  let text = `${KINDLM}tests:\n`;
  for (let i = 0; i < count; i++) text += `  - {name: t${i}, command: "date +%s%N >> began", expect: {output: {maxLength: 10}}}\n`;
  return among({ 'kindlm.yaml': text }, async (directory) => {
    const { client, uri } = await opened(binary, directory, 'kindlm.yaml', text);
    const times = [];
    for (let i = 0; i < 20; i++) {
      // One run at a time: its result is reported at its end.
      const over = client.wait(({ method }) => method === 'window/showMessage');
      const before = performance.timeOrigin + now();
      await client.request('workspace/executeCommand', { command: 'speclens.run', arguments: [{ uri, test: `t${Math.floor(count / 2)}` }] });
      await over;
      const began = readFileSync(join(directory, 'began'), 'utf8').trim().split('\n');
      times.push(Number(BigInt(began[i]) / 1000n) / 1000 - before);
    }
    client.end();
    return { tests: count, 'Run to first command min / p50 (ms)': `${Math.min(...times).toFixed(1)} / ${quantile(times, 0.5).toFixed(1)}` };
  });
}
