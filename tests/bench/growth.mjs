// The cost of requests in files of different lengths: processor time of the server, because elapsed time depends on other users
// of the machine.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Open, among, behind, initialize, now, quantile, server } from './measure.mjs';
import { withMistakes } from './suites.mjs';

/** Clients with different capabilities. */
const LAZY = { textDocument: { codeAction: { dataSupport: true, resolveSupport: { properties: ['edit'] } } } };
const PULLING = { textDocument: { diagnostic: { dynamicRegistration: false } } };

const AUTOMATIC = 2;

/** One column for each number of tests, and one for the ratio of the longest file to the shortest. */
export async function grown(kind, sizes, binary, rounds) {
  const columns = [];
  for (const size of sizes) columns.push(await measure(kind, size, binary, rounds));
  const rows = {};
  for (const name of Object.keys(columns[0])) {
    const figures = columns.map((column) => column[name]);
    rows[name] = Object.fromEntries(sizes.map((size, at) => [size, figures[at].toFixed(2)]));
    rows[name].growth = (figures.at(-1) / figures[0]).toFixed(1);
  }
  return { [kind]: {}, ...rows };
}

/** Waits until the server does nothing. */
async function quiet(client) {
  for (let before = -1; client.cpu() - before > 1; ) {
    before = client.cpu();
    await delay(200);
  }
}

async function measure(kind, tests, binary, rounds) {
  const suite = withMistakes(kind, tests);
  const { text } = suite;
  return among({ ...suite.files, [suite.path]: text }, async (directory) => {
    const row = { MB: Buffer.byteLength(text) / 1024 / 1024 };
    const uri = `file://${join(directory, suite.path)}`;
    const begin = async (abilities) => {
      const client = server(binary, directory);
      await initialize(client, directory, abilities);
      client.notify('initialized', {});
      const open = new Open(client, uri, text);
      const took = await open.open();
      await open.ask('textDocument/codeLens', {}, 1);
      return { client, open, took };
    };
    const word = behind(text, suite.word);
    const mistake = behind(text.slice(text.indexOf(suite.word)), suite.mistake);
    const at = { line: word.line + mistake.line, character: mistake.character - 2 };
    const around = (method, params) => [`textDocument/${method}`, params];
    const actions = (position, triggerKind) =>
      around('codeAction', { range: { start: position, end: position }, context: { diagnostics: [], ...(triggerKind && { triggerKind }) } });
    const screen = { range: { start: { line: word.line, character: 0 }, end: { line: word.line + 60, character: 0 } } };

    const { client, open, took } = await begin(LAZY);
    row['open, by the clock'] = took;
    const rate = async (name, client, work, count = rounds) => {
      const before = client.cpu();
      await work(count);
      row[name] = (client.cpu() - before) / count;
    };
    const ask = (name, [method, params], count) => rate(name, client, (count) => open.ask(method, params, count), count);
    // After its diagnostics, a long document is read once more as a whole.
    await quiet(client);
    [row['first key, by the clock']] = await open.type(word, 'x', 2);
    await quiet(client);
    await rate('key', client, (count) => open.type(word, 'x', count));
    await rate('key, then actions', client, async (count) => {
      for (let i = 0; i < count; i++) {
        await open.type(word, 'x', 2);
        await open.ask(...actions(word, AUTOMATIC), 1);
      }
    });
    await ask('actions at a move', actions(word, AUTOMATIC));
    await ask('actions at a mistake, a move', actions(at, AUTOMATIC));
    await ask('actions at a mistake, asked for', actions(at));
    await ask('completion', around('completion', { position: behind(text, suite.key) }));
    await ask('hover', around('hover', { position: { ...word, character: word.character - 1 } }));
    await ask('tokens in view', around('semanticTokens/range', screen));
    await ask('hints in view', around('inlayHint', screen));
    const used = behind(text, suite.used);
    await ask('highlight', around('documentHighlight', { position: used }));
    await ask('definition', around('definition', { position: used }));
    await ask('references', around('references', { position: used, context: { includeDeclaration: true } }));
    await ask('selection', around('selectionRange', { positions: [used] }));
    // An editor asks for these after each edit, so that no answer is the one before.
    const askAfterKey = async (name, method) => {
      let spent = 0;
      const count = 10;
      // The first answer computes data that later ones reuse.
      const cold = client.cpu();
      await open.ask(...around(method, {}), 1);
      row[`${name}, first`] = client.cpu() - cold;
      for (let i = 0; i < count; i++) {
        await open.type(word, 'x', 1);
        const before = client.cpu();
        await open.ask(...around(method, {}), 1);
        spent += client.cpu() - before;
        await open.edit({ start: word, end: { ...word, character: word.character + 1 } }, '');
      }
      row[name] = spent / count;
    };
    await askAfterKey('tokens of all', 'semanticTokens/full');
    await askAfterKey('links', 'documentLink');
    await askAfterKey('lenses', 'codeLens');
    await askAfterKey('outline', 'documentSymbol');
    await askAfterKey('folding', 'foldingRange');
    row['MB after all'] = client.memory();
    const closed = open.published(undefined);
    client.notify('textDocument/didClose', { textDocument: { uri } });
    await closed;
    row['MB after closing'] = client.memory();
    client.end();

    const eager = await begin({});
    const before = eager.client.cpu();
    const asked = await eager.open.ask(...actions(at), 10);
    row['actions without resolving'] = (eager.client.cpu() - before) / asked.length;
    eager.client.end();

    const pulling = server(binary, directory);
    await initialize(pulling, directory, PULLING);
    pulling.notify('initialized', {});
    const pulled = new Open(pulling, uri, text);
    pulling.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: ++pulled.version, text } });
    await pulled.ask('textDocument/diagnostic', {}, 2);
    const times = [];
    await rate('key, then diagnostics pulled', pulling, async (count) => {
      for (let i = 0; i < count; i++) {
        const after = { ...word, character: word.character + 1 };
        const began = now();
        const published = pulled.published(pulled.version + 1);
        pulled.send({ start: word, end: i % 2 ? after : word }, i % 2 ? '' : 'x');
        await pulled.ask('textDocument/diagnostic', {}, 1);
        times.push(now() - began);
        await published;
      }
    });
    row['the same, by the clock'] = quantile(times, 0.5);
    pulling.end();
    return row;
  });
}
