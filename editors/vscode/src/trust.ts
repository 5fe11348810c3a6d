// Tests run only in a workspace that VS Code trusts. There is no other list of trusted folders here.

import * as vscode from 'vscode';

const MANAGE = 'Manage Workspace Trust';

/** Reports that nothing was run, and leads to VS Code's own question. Modal: after a click on *Run*, an answer is expected. */
export async function requestTrust(): Promise<void> {
  const detail = 'A run executes the commands of the suite on your machine. Trust the workspace, then run the test again.';
  const choice = await vscode.window.showWarningMessage('speclens runs tests only in a trusted workspace. Nothing was run.', { modal: true, detail }, MANAGE);
  if (choice === MANAGE) await vscode.commands.executeCommand('workbench.trust.manage');
}
