// The last run of a test, and the dry run of a test, as read-only documents beside the spec.

import * as vscode from 'vscode';

const scheme = 'speclens-transcript';

/** The server commands that return pages, with the names of the pages. */
const pages = { 'speclens.showTranscript': 'transcript', 'speclens.dryRun': 'dry run', 'speclens.preconditions': 'preconditions' } as const;
export type Page = keyof typeof pages;

/** Pages that are fixed at the time of the request: another request would observe the present again. */
const momentary: ReadonlySet<Page> = new Set<Page>(['speclens.preconditions']);

export function isPage(command: string): command is Page {
  return command in pages;
}

/** Asks the server for a page about a test. */
type Ask = (page: Page, test: { uri: string; test: string }) => Promise<unknown>;

export class Transcripts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  /** The page and the test of each document. */
  private readonly shown = new Map<string, { page: Page; uri: string; test: string }>();
  /** Number of refreshes of each document. */
  private readonly asked = new Map<string, number>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event; // VS Code looks for it when the provider is registered, which is next
  private readonly subscriptions: vscode.Disposable[] = [
    this.changed,
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
  ];

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** Shows the answer to a command. */
  async show(page: Page, arguments_: unknown[], answer: unknown, ask: Ask): Promise<void> {
    const { uri: spec, test } = (arguments_[0] ?? {}) as { uri?: string; test?: string };
    const { text, language } = (answer ?? {}) as { text?: string; language?: string };
    if (typeof text !== 'string') return; // the server has said why
    // The test's name becomes the tab's; the query distinguishes tests of the same name in two specs.
    const name = (test ?? pages[page]).replaceAll(/[\\/]/g, ' ');
    // The file extension decides the language.
    const ending = language === 'markdown' ? '.md' : '';
    const uri = vscode.Uri.from({ scheme, path: `/${name} (${pages[page]})${ending}`, query: spec ?? '' });
    this.set(uri, text);
    const document = await vscode.workspace.openTextDocument(uri);
    const follows = spec !== undefined && test !== undefined && !momentary.has(page);
    if (follows) this.shown.set(uri.toString(), { page, uri: spec, test });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
    // A change during the request did not find a document to refresh.
    if (follows) await this.refresh(spec, ask);
  }

  /** The results of a spec have changed: its open pages are requested again. */
  async refresh(spec: string, ask: Ask): Promise<void> {
    // Not when VS Code reports that a document closes: it also reports that when an open one gets another language.
    const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => uri.toString()));
    for (const [document, { page, ...test }] of [...this.shown]) {
      if (!open.has(document)) {
        this.shown.delete(document);
        this.texts.delete(document);
        this.asked.delete(document);
        continue;
      }
      if (test.uri !== spec) continue;
      const number = (this.asked.get(document) ?? 0) + 1;
      this.asked.set(document, number);
      const { text } = ((await ask(page, test)) ?? {}) as { text?: string };
      // Answers may overtake each other: the one to the last request counts.
      if (typeof text === 'string' && this.asked.get(document) === number) this.set(vscode.Uri.parse(document), text);
    }
  }

  private set(uri: vscode.Uri, text: string): void {
    if (this.texts.get(uri.toString()) === text) return;
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}
