// Shared code of all measurements: directories, clocks, and a server with an open document.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from './client.mjs';

export const now = () => performance.now();

const sorted = (times) => [...times].sort((a, b) => a - b);
export const quantile = (times, share) => sorted(times)[Math.min(times.length - 1, Math.floor(times.length * share))];

function write(directory, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

/** A directory with a suite, for the duration of the work on it. */
export async function among(files, work) {
  const directory = mkdtempSync(join(tmpdir(), 'speclens-bench-'));
  try {
    write(directory, files);
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export const server = (binary, directory) =>
  new Client([binary, 'lsp'], { cwd: directory, env: { ...process.env, XDG_STATE_HOME: directory } });

/** `abilities`: additional capabilities of the client. */
export function initialize(client, directory, abilities = {}) {
  const folder = { uri: `file://${directory}`, name: 'bench' };
  return client.request('initialize', {
    processId: null,
    rootUri: folder.uri,
    workspaceFolders: [folder],
    capabilities: { ...abilities, workspace: { configuration: true } },
    initializationOptions: { trusted: true },
  });
}

/** A server that has opened a document and published its diagnostics. */
export async function opened(binary, directory, path, text) {
  const client = server(binary, directory);
  await initialize(client, directory);
  client.notify('initialized', {});
  const uri = `file://${join(directory, path)}`;
  const published = client.published((params) => params.uri === uri);
  client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
  await published;
  return { client, uri };
}

/** The position behind the first occurrence of some words. */
export function behind(text, words) {
  const at = text.indexOf(words);
  if (at < 0) throw new Error(`not in the suite: ${words}`);
  const before = text.slice(0, at + words.length);
  return { line: before.split('\n').length - 1, character: before.length - before.lastIndexOf('\n') - 1 };
}

/** A document in a server: edits wait for the published diagnostics. */
export class Open {
  /** `tells`: whether an answer is about this version; without it any answer is. */
  constructor(client, uri, text, versioned = true) {
    Object.assign(this, { client, uri, text, versioned, version: 0 });
  }
  published(version) {
    return this.client.published((params) => params.uri === this.uri && (!this.versioned || params.version === version));
  }
  async open() {
    const answer = this.published(++this.version);
    const before = now();
    this.client.notify('textDocument/didOpen', { textDocument: { uri: this.uri, languageId: 'yaml', version: this.version, text: this.text } });
    return (await answer).arrived - before;
  }
  send(range, text) {
    this.client.notify('textDocument/didChange', {
      textDocument: { uri: this.uri, version: ++this.version },
      contentChanges: [{ range, text }],
    });
  }
  async edit(range, text) {
    const answer = this.published(this.version + 1);
    const before = now();
    this.send(range, text);
    return (await answer).arrived - before;
  }
  /** Types a letter at a place and removes it again, this many times. */
  async type(at, letter, count) {
    const after = { ...at, character: at.character + 1 };
    const times = [];
    for (let i = 0; i < count; i++) {
      times.push(i % 2 ? await this.edit({ start: at, end: after }, '') : await this.edit({ start: at, end: at }, letter));
    }
    return times;
  }
  /** Removes the letter before a place and types it again, this many times. */
  async retype(at, letter, count) {
    const before = { ...at, character: at.character - 1 };
    const times = [];
    for (let i = 0; i < count; i++) {
      times.push(i % 2 ? await this.edit({ start: before, end: before }, letter) : await this.edit({ start: before, end: at }, ''));
    }
    return times;
  }
  async ask(method, params, count) {
    const times = [];
    for (let i = 0; i < count; i++) {
      const before = now();
      const answer = await this.client.request(method, { textDocument: { uri: this.uri }, ...params });
      times.push(answer.arrived - before);
    }
    return times;
  }
}
