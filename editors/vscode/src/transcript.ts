// What the last run of a test did, as a read-only document beside the spec.

import * as vscode from 'vscode';

const scheme = 'speclens-transcript';

export class Transcripts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[] = [
    this.changed,
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
  ];
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** Shows the answer to `speclens.showTranscript`. */
  async show(arguments_: unknown[], answer: unknown): Promise<void> {
    const { uri: spec, test } = (arguments_[0] ?? {}) as { uri?: string; test?: string };
    const { text } = (answer ?? {}) as { text?: string };
    if (typeof text !== 'string') return; // the server has said why
    // The test's name becomes the tab's; the query keeps tests of the same name in two specs apart.
    const name = (test ?? 'transcript').replaceAll(/[\\/]/g, ' ');
    const uri = vscode.Uri.from({ scheme, path: `/${name} (transcript)`, query: spec ?? '' });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}
