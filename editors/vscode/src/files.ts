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
  '**/*.gateway.yaml',
];

/**
 * The documents that are sent to the server: all YAML documents, since task files and contracts may have any name. The server
 * recognizes specs by their content and by the suites that name them, and ignores the others. The language id stays `yaml`, so
 * other YAML extensions keep coloring and indenting these files.
 */
export const selector = ['file', 'untitled'].map((scheme) => ({ scheme, language: 'yaml' }));

/** Names of specs: the status of the server is shown for them. */
export const named = patterns.map((pattern) => ({ scheme: 'file', language: 'yaml', pattern }));

export function isSpec(document: vscode.TextDocument): boolean {
  return vscode.languages.match(named, document) > 0 || holdsSpec(document);
}

/** Whether a document contains tests that can be run, or names files that do: those of KindLM and of cli-bench. */
export function isRunnable(document: vscode.TextDocument): boolean {
  if (!isText(document)) return false;
  return /\/(kindlm|cli-bench)\.ya?ml$/.test(document.uri.path) || beginsLikeTests(head(document));
}

/** Beginnings of specs under other names: enough to start the server, which then decides. */
function holdsSpec(document: vscode.TextDocument): boolean {
  if (!isText(document)) return false;
  const text = head(document);
  return (
    beginsLikeTests(text) ||
    /^# ?speclens: dialect=/m.test(text) ||
    (/^target:/m.test(text) && /^scenarios:/m.test(text)) ||
    (/^(handoff|pipeline):/m.test(text) && /^version:/m.test(text))
  );
}

/** Suites of KindLM, suites of cli-bench, task files. */
function beginsLikeTests(text: string): boolean {
  return (
    /^kindlm:[ \t]*\S/m.test(text) ||
    (/^cli:[ \t]*\S/m.test(text) && /^tasks:/m.test(text)) ||
    (/^-[ \t]/m.test(text) && /^[ -]+intent:/m.test(text) && /^[ -]+assert:/m.test(text))
  );
}

function isText(document: vscode.TextDocument): boolean {
  return ['file', 'untitled'].includes(document.uri.scheme) && document.languageId === 'yaml';
}

function head(document: vscode.TextDocument): string {
  return document.getText(new vscode.Range(0, 0, 200, 0));
}
