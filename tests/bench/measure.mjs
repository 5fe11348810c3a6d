// What all measurements share: directories, clocks, and a server with an open document.
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

/** A directory that holds a suite, for as long as the work on it takes. */
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

export function initialize(client, directory) {
  const folder = { uri: `file://${directory}`, name: 'bench' };
  return client.request('initialize', {
    processId: null,
    rootUri: folder.uri,
    workspaceFolders: [folder],
    capabilities: { workspace: { configuration: true } },
    initializationOptions: { trusted: true },
  });
}

/** A server that has a document open and has said what is wrong with it. */
export async function opened(binary, directory, path, text) {
  const client = server(binary, directory);
  await initialize(client, directory);
  client.notify('initialized', {});
  const uri = `file://${join(directory, path)}`;
  const told = client.published((params) => params.uri === uri);
  client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
  await told;
  return { client, uri };
}
