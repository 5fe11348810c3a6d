import * as vscode from 'vscode';

/** The files that the server reads. The one list of them in this extension. */
const patterns = ['**/kindlm.yaml', '**/kindlm.yml', '**/speclens.yaml'];

/**
 * The language id stays `yaml`, so that other YAML extensions go on colouring and indenting these files; only the
 * names decide what speclens looks at.
 */
export const selector = patterns.map((pattern) => ({ scheme: 'file', language: 'yaml', pattern }));

export function isSpec(document: vscode.TextDocument): boolean {
  return vscode.languages.match(selector, document) > 0;
}
