import * as vscode from 'vscode';

/** Files that are specs by their names. The one list of them in this extension. */
const patterns = [
  '**/kindlm.yaml',
  '**/kindlm.yml',
  '**/cli-bench.yaml',
  '**/cli-bench.yml',
  '**/clawspec.yaml',
  '**/tests/scenarios.yaml',
  '**/tests/pipeline.yaml',
  '**/tests/pipelines/*.yaml',
  '**/tests/pipelines/*.yml',
  '**/tests/handoffs/*.yaml',
  '**/tests/handoffs/*.yml',
  '**/tests/baselines.yaml',
  '**/coverage-ledger.yaml',
  '**/speclens.yaml',
  '**/*.script.yaml',
];

/**
 * What the server is told about: every YAML document, since task files and contracts may have any name. The server knows
 * by the content, and by the suites that name a file, which are specs, and says nothing about the others. The language
 * id stays `yaml`, so that other YAML extensions go on colouring and indenting these files.
 */
export const selector = ['file', 'untitled'].map((scheme) => ({ scheme, language: 'yaml' }));

/** What is a spec by its name: there the state of the server is shown. */
export const named = patterns.map((pattern) => ({ scheme: 'file', language: 'yaml', pattern }));

export function isSpec(document: vscode.TextDocument): boolean {
  return vscode.languages.match(named, document) > 0 || (document.languageId === 'yaml' && holdsSpec(document));
}

/** Whether tests of a document can be run: so far those of KindLM. */
export function isRunnable(document: vscode.TextDocument): boolean {
  if (!['file', 'untitled'].includes(document.uri.scheme) || document.languageId !== 'yaml') return false;
  return /\/kindlm\.ya?ml$/.test(document.uri.path) || /^kindlm:[ \t]*\S/m.test(document.getText(new vscode.Range(0, 0, 200, 0)));
}

/** What begins like a spec under another name: enough to start the server, which then decides. */
function holdsSpec(document: vscode.TextDocument): boolean {
  if (!['file', 'untitled'].includes(document.uri.scheme)) return false;
  const head = document.getText(new vscode.Range(0, 0, 200, 0));
  const has = (pattern: RegExp) => pattern.test(head);
  return (
    has(/^# ?speclens: dialect=/m) ||
    has(/^kindlm:[ \t]*\S/m) ||
    (has(/^cli:[ \t]*\S/m) && has(/^tasks:/m)) ||
    (has(/^-[ \t]/m) && has(/^[ -]+intent:/m) && has(/^[ -]+assert:/m)) ||
    (has(/^target:/m) && has(/^scenarios:/m)) ||
    (has(/^(handoff|pipeline):/m) && has(/^version:/m))
  );
}
