// speclens for VS Code: starts the server, gives its commands a place in the palette, shows transcripts.
// It never parses a spec: tests, problems and results come from the server.

import * as vscode from 'vscode';
import { isSpec, testsIn, workspaceHasSpec } from './files';
import { newSuite } from './newSuite';
import { Reference } from './reference';
import { Server } from './server';
import { Transcripts } from './transcript';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('speclens', { log: true });
  const transcripts = new Transcripts();
  const reference = new Reference();
  const running = (server = new Server(context, log, transcripts));

  // The ids in lenses and code actions (`speclens.run`, `speclens.showTranscript`, ...) belong to the server: the
  // language client registers them. These are their counterparts for the palette, which has no arguments to give.
  const commands: Record<string, () => unknown> = {
    'speclens.newSuiteFrom': async () => {
      await running.start();
      await newSuite();
    },
    'speclens.checkAllFiles': async () => {
      await running.start();
      await ask('speclens.checkWorkspace');
      await vscode.commands.executeCommand('workbench.actions.view.problems');
    },
    'speclens.restartServer': () => running.restart(),
    'speclens.showLog': () => log.show(),
    'speclens.runActiveFile': () => onSpec((document) => ask('speclens.runFile', { uri: document.uri.toString() })),
    'speclens.runTestAtCursor': () => onTest((test) => ask('speclens.run', test)),
    'speclens.runTestAtCursorWith': () => onTest((test) => ask('speclens.runWith', test)),
    'speclens.askJudgeAtCursor': () => onTest((test) => ask('speclens.ask', test)),
    'speclens.dryRunAtCursor': () => onTest((test) => ask('speclens.dryRun', test)),
    'speclens.preconditionsAtCursor': () => onTest((test) => ask('speclens.preconditions', test)),
    'speclens.judgeAtCursor': () => onTest((test) => ask('speclens.judge', test)),
    'speclens.showTranscriptAtCursor': () => onTest((test) => ask('speclens.showTranscript', test)),
    'speclens.cancelRuns': () => ask('speclens.cancel'),
  };
  // Used by links.
  context.subscriptions.push(vscode.commands.registerCommand('speclens.openReference', (link: string) => reference.open(link)));

  context.subscriptions.push(
    log,
    transcripts,
    reference,
    running,
    ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run)),
    // Other YAML files do not start the server.
    vscode.workspace.onDidOpenTextDocument((document) => isSpec(document) && running.start()),
    vscode.window.onDidChangeActiveTextEditor(offerCommands),
    vscode.workspace.onDidGrantWorkspaceTrust(() => running.trust()),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('speclens.server.path') && specIsOpen() && running.restart()),
  );
  offerCommands(vscode.window.activeTextEditor);
  if (specIsOpen()) void running.start();
  else void workspaceHasSpec().then((has) => (has ? running.start() : undefined));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function specIsOpen(): boolean {
  return vscode.workspace.textDocuments.some(isSpec);
}

/** Calls a command of the server, which exists only while the server runs. */
async function ask(command: string, ...arguments_: unknown[]): Promise<void> {
  if ((await vscode.commands.getCommands(true)).includes(command)) {
    await vscode.commands.executeCommand(command, ...arguments_);
    return;
  }
  const choice = await vscode.window.showErrorMessage('speclens: the server is not running', 'Restart Server', 'Show Log');
  if (choice === 'Restart Server') await vscode.commands.executeCommand('speclens.restartServer');
  if (choice === 'Show Log') await vscode.commands.executeCommand('speclens.showLog');
}

/** The palette and the editor's title bar show commands about tests only where such tests are. */
function offerCommands(editor: vscode.TextEditor | undefined): void {
  if (editor && isSpec(editor.document)) server?.showStatusFor(editor.document);
  void vscode.commands.executeCommand('setContext', 'speclens.tests', editor && testsIn(editor.document));
}

async function onSpec(act: (document: vscode.TextDocument, selection: vscode.Selection) => unknown): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !isSpec(editor.document)) {
    await vscode.window.showInformationMessage('speclens: open a spec first');
    return;
  }
  await act(editor.document, editor.selection);
}

/** Calls `act` with the arguments of the server's own *run* action at the cursor: the server knows which test that is. */
async function onTest(act: (test: unknown) => unknown): Promise<void> {
  await onSpec(async (document, selection) => {
    const actions = await vscode.commands.executeCommand<(vscode.CodeAction | vscode.Command)[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      selection,
      'source.speclens.run',
    );
    const run = actions
      .map((action) => (typeof action.command === 'string' ? (action as vscode.Command) : action.command))
      .find((command) => command?.command === 'speclens.run');
    if (!run) {
      await vscode.window.showInformationMessage('speclens: no test at the cursor');
      return;
    }
    await act(run.arguments?.[0]);
  });
}
