// Choice of the model for a test: the server knows the models, the user chooses.

import * as vscode from 'vscode';

interface Choice {
  title: string;
  models: string[];
}

/** Offers the choices in the answer to `speclens.runWith`, and runs the test with the chosen model. */
export async function runWith(test: object, answer: unknown): Promise<void> {
  const { choices } = (answer ?? {}) as { choices?: Choice[] };
  if (!choices) return; // the server has said why
  const items = choices.map(({ title, models }) => ({ label: title, models }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'Which model should run the task?' });
  if (!chosen) return;
  const command = 'test' in test ? 'speclens.run' : 'speclens.runFile';
  await vscode.commands.executeCommand(command, { ...test, models: chosen.models });
}
