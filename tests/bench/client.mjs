// A client of a language server, over its pipes.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

export class Client {
  /** `settings`: the server's configuration. */
  constructor(command, options, settings = {}) {
    const [program, ...parts] = command;
    this.process = spawn(program, parts, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
    this.settings = settings;
    this.chunks = [];
    this.held = 0;
    this.wanted = 0;
    this.waiting = [];
    this.id = 0;
    this.process.stdout.on('data', (data) => this.read(data));
  }
  read(data) {
    this.chunks.push(data);
    this.held += data.length;
    if (this.held < this.wanted) return;
    let buffer = Buffer.concat(this.chunks);
    for (;;) {
      const header = buffer.indexOf('\r\n\r\n');
      if (header < 0) break;
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, header))[1]);
      this.wanted = header + 4 + length;
      if (buffer.length < this.wanted) break;
      const arrived = performance.now();
      const message = JSON.parse(buffer.subarray(header + 4, this.wanted));
      buffer = buffer.subarray(this.wanted);
      this.wanted = 0;
      this.take(message, arrived);
    }
    this.chunks = buffer.length ? [buffer] : [];
    this.held = buffer.length;
  }
  take(message, arrived) {
    if (message.method && message.id !== undefined) {
      const result = message.method === 'workspace/configuration' ? message.params.items.map(({ section }) => this.settings[section] ?? null) : null;
      this.send({ id: message.id, result });
      return;
    }
    const found = this.waiting.findIndex(({ fits }) => fits(message));
    if (found >= 0) this.waiting.splice(found, 1)[0].done({ ...message, arrived });
  }
  send(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  /** The next matching message, with the time at which its last byte came. */
  wait(fits) {
    return new Promise((done) => this.waiting.push({ fits, done }));
  }
  async request(method, params) {
    const id = ++this.id;
    const answer = this.wait((message) => message.id === id && !message.method);
    this.send({ id, method, params });
    const done = await answer;
    if (done.error) throw new Error(`${method}: ${done.error.message}`);
    return done;
  }
  notify(method, params) {
    this.send({ method, params });
  }
  published(fits) {
    return this.wait((message) => message.method === 'textDocument/publishDiagnostics' && fits(message.params));
  }
  /** Megabytes that are resident now, or at most so far. */
  memory(what = 'VmRSS') {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)[1]) / 1024;
  }
  /** Milliseconds of processor time so far, of all threads. */
  cpu() {
    const tasks = `/proc/${this.process.pid}/task`;
    const nanoseconds = readdirSync(tasks).map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]));
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  }
  end() {
    this.process.kill('SIGKILL');
  }
}
