// A stub of Opik's REST API for its SDK and its readers: traces and spans in memory.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const FIELDS = {
  tags: (entry) => entry.tags ?? [],
  metadata: (entry, key) => entry.metadata?.[key],
  thread_id: (entry) => entry.thread_id,
  input: (entry) => JSON.stringify(entry.input ?? ''),
  start_time: (entry) => Date.parse(entry.start_time),
};

/** Whether a trace matches a filter. Opik has more fields and operators: those that are not used here are an error. */
function fits(entry, { field, operator, key, value }) {
  const found = FIELDS[field](entry, key);
  switch (operator) {
    case '=': return found === value;
    case 'contains': return found.includes(value);
    case '>=': return found >= Date.parse(value);
    case '<=': return found <= Date.parse(value);
    default: throw new Error(`no operator ${operator}`);
  }
}

/** Fields that Opik adds. */
function completed(entry) {
  const duration = entry.end_time && (Date.parse(entry.end_time) - Date.parse(entry.start_time));
  return { ...entry, duration };
}

/** Starts the stub. `asked` are the requests so far, each as method and path. */
export async function opik() {
  const traces = new Map();
  const spans = new Map();
  const asked = [];

  // The SDK sends the beginning and the end of an entry side by side: the end may arrive first, and an update has no time.
  function put(entries, entry) {
    const known = entries.get(entry.id) ?? {};
    const isOlder = entry.last_updated_at < (known.last_updated_at ?? '');
    entries.set(entry.id, isOlder ? { ...entry, ...known } : { ...known, ...entry });
  }
  const youngestFirst = (entries) => [...entries.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).map(completed);

  function search(entries, { filters, trace_id: trace, limit, last_retrieved_id: last }) {
    const found = youngestFirst(entries).filter((entry) => {
      return (!trace || entry.trace_id === trace) && (filters ?? []).every((filter) => fits(entry, filter)) && (!last || entry.id < last);
    });
    return found.slice(0, limit).map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }

  function page(entries, query) {
    const [number, size] = ['page', 'size'].map((name) => Number(query.get(name)));
    const all = youngestFirst(entries);
    const content = all.slice((number - 1) * size, number * size);
    return JSON.stringify({ page: number, size: content.length, total: all.length, content });
  }

  function answer(method, path, query, body) {
    const [kind, rest] = path.replace(/^\/api\/v1\/private\//, '').split('/');
    const entries = { traces, spans }[kind];
    const name = query.get('project_name') ?? 'demo';
    if (kind === 'projects') return JSON.stringify({ page: 1, size: 1, total: 1, content: [{ id: 'project-1', name }], id: 'project-1', name });
    if (!entries) return '{}';
    if (method === 'POST' && rest === 'search') return search(entries, body);
    if (method === 'POST' && rest === 'batch') return void body[kind].forEach((entry) => put(entries, entry));
    if (method === 'POST') return void put(entries, body);
    if (method === 'PATCH') return void put(entries, { ...body, id: rest });
    if (rest) return JSON.stringify(completed(entries.get(rest)));
    return page(entries, query);
  }

  async function handle(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const sent = Buffer.concat(parts);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString();
    const { pathname, searchParams } = new URL(request.url, 'http://stub');
    asked.push(`${request.method} ${pathname}`);
    const found = answer(request.method, pathname, searchParams, text ? JSON.parse(text) : {});
    response.writeHead(found === undefined ? 204 : 200, { 'content-type': 'application/json' });
    response.end(found);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${server.address().port}/api/`, traces, spans, asked, stop };
}
