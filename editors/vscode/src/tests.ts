// The tests of the workspace in VS Code's own view of tests, and in the gutter. The server says which tests there are, and what is
// known of them: the same as lenses and problems show.

import * as vscode from 'vscode';

type State = 'notRun' | 'running' | 'passed' | 'failed' | 'error' | 'unknown' | 'skipped' | 'blocked';

interface Message {
  message: string;
  range: Range;
  expected?: string | null;
  actual?: string | null;
}

interface Attempt {
  label: string;
  state: State;
  durationMs: number | null;
  messages: Message[];
}

interface Result extends Omit<Attempt, 'label'> {
  tags: string[];
  isCommand: boolean;
  title: string;
  attempts: Attempt[];
}

export interface TestFile {
  uri: string;
  format: string;
  models: string[];
  tests: { name: string; range: Range; result?: Result }[];
  runs: { run: number; tests: string[] }[];
}

interface Range {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** Asks the server for tests. */
export interface Link {
  tests(uri?: string): Promise<TestFile[]>;
}

/** A run that is shown: of the server, or of results that are known without one. */
interface Shown {
  run: vscode.TestRun;
  items: Map<string, vscode.TestItem>;
  ended: () => void;
}

/** Maximum number of files of one request that run at the same time. Each file runs several of its tests at once. */
const MAX_FILES = 2;

const formats: Record<string, string> = { kindlm: 'KindLM', 'cli-bench': 'cli-bench', clawspec: 'ClawSpec' };

/** Time without changes after which the tests of a file are asked for again. */
const REST_MS = 100;

export class Tests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('speclens', 'speclens');
  private readonly profiles = new Map<string, vscode.TestRunProfile>();
  /** The known tests of files, by URI. */
  private readonly files = new Map<string, TestFile>();
  /** The files that are asked for, and whether they have to be again. */
  private readonly asking = new Map<string, boolean>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** What is shown of each test already: its state and its messages. */
  private readonly told = new Map<string, string>();
  private readonly runs = new Map<number, Shown>();
  /** The output of runs that are not shown yet. */
  private readonly early = new Map<number, string>();
  /** Requests for runs whose numbers are not known yet. */
  private starting = Promise.resolve();

  constructor(private readonly link: Link) {
    const { Run } = vscode.TestRunProfileKind;
    const run = (request: vscode.TestRunRequest, token: vscode.CancellationToken) => (request.continuous ? this.follow(request, token) : this.start(request, 'speclens.run', token));
    this.controller.createRunProfile('Run', Run, run, true, undefined, true);
    this.controller.createRunProfile('Ask judges', Run, (request, token) => this.start(request, 'speclens.ask', token));
    this.controller.createRunProfile('Show recorded results', Run, (request) => this.show(request));
    this.controller.refreshHandler = () => this.discover();
    // A closed file has results as well: they are known once it is open.
    this.controller.resolveHandler = async (item) => {
      const uri = item && this.fileOf(item);
      if (uri) await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    };
  }

  /** The server says that the tests of a file have changed, or those of the workspace. */
  changed(uri?: string): void {
    const key = uri ?? '';
    clearTimeout(this.timers.get(key));
    this.timers.set(key, setTimeout(() => void (uri ? this.ask(uri) : this.discover()).catch(() => undefined), REST_MS));
  }

  /** The server tells what happens in a run. */
  output(number: number, text: string): void {
    const shown = this.runs.get(number);
    if (shown) print(shown.run, text);
    else this.early.set(number, (this.early.get(number) ?? '') + text);
  }

  /** The server has ended: nothing runs any more. */
  ended(): void {
    for (const { run, ended } of this.runs.values()) {
      run.end();
      ended();
    }
    this.runs.clear();
    this.early.clear();
  }

  private async discover(): Promise<void> {
    const files = await this.link.tests();
    const known = new Set(files.map(({ uri }) => uri));
    for (const uri of this.files.keys()) if (!known.has(uri)) this.forget(uri);
    for (const file of files) {
      const before = this.files.get(file.uri);
      // What is known of an open document is newer.
      if (before?.tests.some(({ result }) => result) && isOpen(file.uri)) continue;
      this.list(file);
    }
    for (const { uri } of files) if (isOpen(uri)) this.changed(uri);
  }

  private async ask(uri: string): Promise<void> {
    if (this.asking.has(uri)) return void this.asking.set(uri, true);
    do {
      this.asking.set(uri, false);
      try {
        // The number of a run that this view starts is known before the answer that it changes.
        const { starting } = this;
        await starting;
        const files = await this.link.tests(uri);
        if (this.starting === starting) for (const file of files) this.apply(file);
        else this.asking.set(uri, true);
      } catch {
        this.asking.delete(uri);
        return;
      }
    } while (this.asking.get(uri));
    this.asking.delete(uri);
  }

  /** Shows the tests of a file, and what is known of them. */
  private apply(file: TestFile): void {
    const items = this.list(file);
    this.offer(file.models);
    for (const { run, tests } of file.runs) {
      if (this.runs.has(run)) continue;
      const own = tests.flatMap((name) => items.get(name) ?? []);
      if (own.length) this.follows(run, this.controller.createTestRun(elsewhere(own), undefined, false), own);
    }
    const active = new Map(file.runs.map(({ run, tests }) => [run, new Set(tests)]));
    for (const [number, shown] of this.runs) {
      for (const { name, result } of file.tests) {
        const item = shown.items.get(idOf(file.uri, name));
        if (!item || !result) continue;
        if (result.state === 'running') shown.run.started(item);
        else if (!active.get(number)?.has(name)) {
          this.tell(shown.run, item, result);
          shown.items.delete(item.id);
        }
      }
      const isOfFile = [...shown.items.values()].some((item) => this.fileOf(item) === file.uri);
      if (shown.items.size === 0 || (isOfFile && !active.has(number))) {
        this.runs.delete(number);
        shown.run.end();
        shown.ended();
      }
    }
    // Results that no run of this window led to: recordings, and those that an edit changed.
    const others = file.tests.filter(({ name, result }) => {
      const isNew = result && isSettled(result.state) && this.told.get(idOf(file.uri, name)) !== toldOf(result);
      return isNew && ![...this.runs.values()].some(({ items }) => items.has(idOf(file.uri, name)));
    });
    this.report(others.flatMap(({ name, result }) => (result ? [[items.get(name), result] as const] : [])));
  }

  private report(results: (readonly [vscode.TestItem | undefined, Result])[]): void {
    const known = results.flatMap(([item, result]) => (item ? [[item, result] as const] : []));
    if (known.length === 0) return;
    const run = this.controller.createTestRun(elsewhere(known.map(([item]) => item)), 'recorded', false);
    for (const [item, result] of known) {
      this.tell(run, item, result);
      print(run, [`${item.label}: ${result.title}`, ...result.messages.map(({ message }) => message), ''].join('\n'), item);
    }
    run.end();
  }

  private tell(run: vscode.TestRun, item: vscode.TestItem, result: Result): void {
    this.told.set(item.id, toldOf(result));
    settle(run, item, result);
    const attempts = [...item.children].map(([, child]) => child);
    result.attempts.forEach((attempt, index) => attempts[index] && settle(run, attempts[index], attempt));
  }

  /** Shows the tests of a file as items, and returns them by name. */
  private list(file: TestFile): Map<string, vscode.TestItem> {
    this.files.set(file.uri, file);
    const items = new Map<string, vscode.TestItem>();
    if (file.tests.length === 0) {
      this.forget(file.uri);
      return items;
    }
    const parent = this.itemOf(file);
    for (const { name, range, result } of file.tests) {
      const id = idOf(file.uri, name);
      const item = parent.children.get(id) ?? this.controller.createTestItem(id, name, parent.uri);
      item.range = rangeOf(range);
      if (result) {
        item.tags = result.tags.map((tag) => new vscode.TestTag(tag));
        const error = result.state === 'blocked' ? result.title.replace(/^! /, '') : undefined;
        Object.assign(item, { error, description: isSettled(result.state) ? result.title : undefined });
        const attempts = result.attempts.map(({ label }, index) => {
          const attempt = item.children.get(`${id}\n${index}`) ?? this.controller.createTestItem(`${id}\n${index}`, label, parent.uri);
          attempt.label = label;
          attempt.range = item.range;
          return attempt;
        });
        item.children.replace(attempts);
      }
      items.set(name, item);
    }
    parent.children.replace([...items.values()]);
    return items;
  }

  /** The item of a file, below that of its format. */
  private itemOf({ uri, format }: TestFile): vscode.TestItem {
    const top = this.controller.items.get(format) ?? this.controller.createTestItem(format, formats[format] ?? format);
    this.controller.items.add(top);
    const parsed = vscode.Uri.parse(uri);
    const item = top.children.get(uri) ?? this.controller.createTestItem(uri, vscode.workspace.asRelativePath(parsed), parsed);
    item.canResolveChildren = true;
    top.children.add(item);
    return item;
  }

  private forget(uri: string): void {
    this.files.delete(uri);
    for (const [format, top] of this.controller.items) {
      top.children.delete(uri);
      if (top.children.size === 0) this.controller.items.delete(format);
    }
  }

  /** Offers one more way to run for each model. */
  private offer(models: string[]): void {
    if (models.length < 2) return;
    for (const model of models) {
      if (this.profiles.has(model)) continue;
      const run = (request: vscode.TestRunRequest, token: vscode.CancellationToken) => this.start(request, 'speclens.run', token, { models: [model] });
      this.profiles.set(model, this.controller.createRunProfile(`Run with ${model}`, vscode.TestRunProfileKind.Run, run));
    }
  }

  /** Starts one run per file of the chosen tests, one after another. Without a choice: all. */
  private async start(request: vscode.TestRunRequest, command: string, token: vscode.CancellationToken, more: object = {}): Promise<void> {
    const waiting = [...(await this.chosen(request))];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !token.isCancellationRequested; next = waiting.shift()) {
        const [uri, items] = next;
        await this.startFile(request, uri, items, command, token, more);
      }
    };
    await Promise.all(Array.from({ length: MAX_FILES }, work));
  }

  private async startFile(request: vscode.TestRunRequest, uri: string, items: vscode.TestItem[], command: string, token: vscode.CancellationToken, more: object): Promise<void> {
    const run = this.controller.createTestRun(request);
    for (const item of items) run.enqueued(item);
    const names = items.map(({ id }) => nameOf(id));
    const started = (async () => {
      // The server runs the present text of a file, so it has to be open.
      await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
      const answer = (await vscode.commands.executeCommand(command, { uri, tests: names, ...more })) as { run?: number | null } | undefined;
      return typeof answer?.run === 'number' ? answer.run : undefined;
    })().catch(() => undefined);
    this.starting = Promise.all([this.starting, started]).then(() => undefined);
    const number = await started;
    // The server has said why nothing runs.
    if (number === undefined) return run.end();
    const ended = new Promise<void>((resolve) => this.follows(number, run, items, resolve));
    token.onCancellationRequested(() => void vscode.commands.executeCommand('speclens.cancel', { run: number }));
    run.token.onCancellationRequested(() => void vscode.commands.executeCommand('speclens.cancel', { run: number }));
    this.changed(uri);
    await ended;
  }

  private follows(number: number, run: vscode.TestRun, items: vscode.TestItem[], ended: () => void = () => undefined): void {
    this.runs.set(number, { run, items: new Map(items.map((item) => [item.id, item])), ended });
    print(run, this.early.get(number) ?? '');
    this.early.delete(number);
  }

  /** Shows what is known of the chosen tests, without a run. */
  private async show(request: vscode.TestRunRequest): Promise<void> {
    const chosen = await this.chosen(request);
    const results = [...chosen].flatMap(([uri, items]) =>
      items.flatMap((item) => {
        const result = this.files.get(uri)?.tests.find(({ name }) => name === nameOf(item.id))?.result;
        return result && isSettled(result.state) ? [[item, result] as const] : [];
      }),
    );
    this.report(results);
  }

  /** Runs tests that cost nothing again each time their file is saved. */
  private follow(request: vscode.TestRunRequest, token: vscode.CancellationToken): void {
    const saved = vscode.workspace.onDidSaveTextDocument(async ({ uri }) => {
      const own = (await this.chosen(request)).get(uri.toString()) ?? [];
      const free = own.filter((item) => this.files.get(uri.toString())?.tests.some(({ name, result }) => name === nameOf(item.id) && result?.isCommand));
      if (free.length) await this.startFile(request, uri.toString(), free, 'speclens.run', token, {});
    });
    token.onCancellationRequested(() => saved.dispose());
  }

  /** The chosen tests by file. Those that cannot run, or that the author skips, are left out. */
  private async chosen({ include, exclude }: vscode.TestRunRequest): Promise<Map<string, vscode.TestItem[]>> {
    const chosen = new Map<string, vscode.TestItem[]>();
    const isExcluded = (item: vscode.TestItem): boolean => (exclude?.some(({ id }) => id === item.id) ?? false) || (item.parent !== undefined && isExcluded(item.parent));
    const add = (item: vscode.TestItem): void => {
      const uri = this.fileOf(item);
      const test = uri && this.files.get(uri)?.tests.find(({ name }) => idOf(uri, name) === item.id);
      if (!uri || !test) {
        // A chosen attempt means its test.
        if (uri && item.parent && item.id.startsWith(`${item.parent.id}\n`) && item.id !== uri) return add(item.parent);
        for (const [, child] of item.children) add(child);
        return;
      }
      if (isExcluded(item) || ['skipped', 'blocked'].includes(test.result?.state ?? '')) return;
      const items = chosen.get(uri) ?? [];
      if (!items.includes(item)) chosen.set(uri, [...items, item]);
    };
    if (include) include.forEach(add);
    else for (const [, item] of this.controller.items) add(item);
    return chosen;
  }

  /** The URI of the file of an item; undefined for a format. */
  private fileOf(item: vscode.TestItem): string | undefined {
    return item.uri?.toString();
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.ended();
    this.controller.dispose();
  }
}

/**
 * The request of results that nobody asked for in the view of tests. Older versions of VS Code open a window at the failures of
 * all but continuous runs, and that window takes the keys of a person who types.
 */
function elsewhere(items: vscode.TestItem[]): vscode.TestRunRequest {
  return new vscode.TestRunRequest(items, undefined, undefined, true);
}

function settle(run: vscode.TestRun, item: vscode.TestItem, { state, durationMs, messages }: Omit<Attempt, 'label'>): void {
  const duration = durationMs ?? undefined;
  const shown = messages.map((message) => messageOf(message, item));
  if (state === 'passed') run.passed(item, duration);
  else if (state === 'failed') run.failed(item, shown, duration);
  else if (state === 'error') run.errored(item, shown, duration);
  else if (isSettled(state)) run.skipped(item);
}

/** Writes lines to the terminal of a run. */
function print(run: vscode.TestRun, text: string, item?: vscode.TestItem): void {
  run.appendOutput(text.replaceAll(/\r?\n/g, '\r\n'), undefined, item);
}

function messageOf({ message, range, expected, actual }: Message, item: vscode.TestItem): vscode.TestMessage {
  const shown = typeof expected === 'string' && typeof actual === 'string' ? vscode.TestMessage.diff(message, expected, actual) : new vscode.TestMessage(message);
  // A message with a location is also drawn behind the line, over the hint with the result.
  if (item.uri && !hintsShowResults()) shown.location = new vscode.Location(item.uri, rangeOf(range));
  return shown;
}

function hintsShowResults(): boolean {
  const settings = vscode.workspace.getConfiguration('speclens.inlayHints');
  return settings.get('enable', true) && settings.get<string>('verdicts', 'all') !== 'off';
}

function isSettled(state: State): boolean {
  return state === 'passed' || state === 'failed' || state === 'error' || state === 'unknown';
}

function toldOf({ state, messages }: Result): string {
  return JSON.stringify([state, messages.map(({ message }) => message)]);
}

function isOpen(uri: string): boolean {
  return vscode.workspace.textDocuments.some((document) => document.uri.toString() === vscode.Uri.parse(uri).toString());
}

function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function idOf(uri: string, name: string): string {
  return `${uri}\n${name}`;
}

function nameOf(id: string): string {
  return id.slice(id.indexOf('\n') + 1);
}
