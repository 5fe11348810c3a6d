// A new suite: the server knows the formats and writes the files, the user chooses.

import * as vscode from 'vscode';

interface Format {
  format: string;
  title: string;
  docs: string;
}

/** Writes a starter suite into a folder of the workspace, and opens it. `folder`: the one that was clicked, if any. */
export async function newSuite(folder?: vscode.Uri): Promise<void> {
  const { formats } = ((await vscode.commands.executeCommand('speclens.newSuite')) ?? {}) as { formats?: Format[] };
  if (!formats) return; // the server has said why
  const items = formats.map(({ format, title, docs }) => ({ label: title, detail: docs.replaceAll('`', ''), format }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'What do you want to test?', matchOnDetail: true });
  if (!chosen) return;
  const directory = folder ?? (await chooseFolder());
  if (!directory) return;
  const answer = (await vscode.commands.executeCommand('speclens.newSuite', { format: chosen.format, directory: directory.toString() })) as { files?: string[] } | undefined;
  const [suite] = answer?.files ?? [];
  if (suite) await vscode.window.showTextDocument(vscode.Uri.parse(suite));
}

async function chooseFolder(): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [only] = folders;
  if (only && folders.length === 1) return only.uri;
  if (folders.length > 1) return (await vscode.window.showWorkspaceFolderPick({ placeHolder: 'Where?' }))?.uri;
  const [opened] = (await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false, openLabel: 'Write Suite Here' })) ?? [];
  return opened;
}
