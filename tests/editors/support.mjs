// Shared code of the editor tests: paths, fresh workspaces, artifacts of failed tests.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const repository = resolve(here, '../..');
export const cache = resolve(repository, process.env.SPECLENS_CACHE ?? 'target/editors-cache');

/** The speclens program under test: `SPECLENS_BIN`, or else the development build. */
export function program() {
  const path = resolve(repository, process.env.SPECLENS_BIN ?? join(process.env.CARGO_TARGET_DIR ?? 'target', 'debug/speclens'));
  if (!existsSync(path)) throw new Error(`${path} does not exist: cargo build -p speclens`);
  return path;
}

/** Makes sure that an editor is in the cache (which takes milliseconds if it is). */
export function get(...parts) {
  execFileSync(join(here, 'get'), parts, { stdio: ['ignore', 'inherit', 'inherit'] });
}

const temporary = mkdtempSync(join(tmpdir(), 'speclens-editors-'));
// A server that has just been ended may still write there.
process.on('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 10 }));

/** A new empty folder, removed when the tests end. */
export function folder(name) {
  return mkdtempSync(join(temporary, `${name}-`));
}

/** A copy of tests/specs/editors to edit and to run in, with examples of the other formats beside it. */
export function workspace() {
  const path = join(folder('workspace'), 'refund-desk'); // a name for the title bar
  // Results of earlier runs of the examples are not copied.
  const isLeft = (file) => ['.speclens', 'memory', 'reports'].includes(basename(file));
  const copy = (from, to) => cpSync(join(repository, from), to, { recursive: true, filter: (file) => !isLeft(file) });
  copy('tests/specs/editors', path);
  copy('schema/examples-editing/cli-bench', join(path, 'cli-bench'));
  copy('schema/examples/clawspec', join(path, 'clawspec'));
  // An agent works in a separate directory, so the file that counts its runs needs an absolute path.
  const suite = join(path, 'greeter/cli-bench.yaml');
  writeFileSync(suite, readFileSync(suite, 'utf8').replace('/dev/null', join(path, RUNS)));
  return path;
}

/** The file of a workspace that has a line for each run of the greeter's polite model. */
export const RUNS = 'runs.txt';

/** A model server on this machine that answers with these texts, one per question, in Ollama's protocol. */
export async function ollama(...texts) {
  const questions = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const content = texts[questions.push(body) - 1];
    response.writeHead(content === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done: true, prompt_eval_count: 70, eval_count: 9 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${server.address().port}`, questions, stop };
}

/** Folder of the screenshots and logs of a failed test. */
export function remains(test) {
  const path = join(repository, 'target/editor-tests', test.replaceAll(/\W+/g, '-'));
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

/** All files below `path` whose path matches. */
export function find(path, pattern) {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true }).map((name) => join(path, name)).filter((file) => pattern.test(file));
}
