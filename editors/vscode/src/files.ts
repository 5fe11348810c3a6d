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
 * What the server is told about: every YAML document, since task files and contracts may have any name. The server knows
 * by the content, and by the suites that name a file, which are specs, and says nothing about the others. The language
 * id stays `yaml`, so that other YAML extensions go on colouring and indenting these files.
 */
export const selector = ['file', 'untitled'].map((scheme) => ({ scheme, language: 'yaml' }));

/** What is a spec by its name: there the state of the server is shown. */
export const named = patterns.map((pattern) => ({ scheme: 'file', language: 'yaml', pattern }));

export function isSpec(document: vscode.TextDocument): boolean {
  return vscode.languages.match(named, document) > 0 || holdsSpec(document);
}

/** Whether a document holds tests that can be run, or names files that do: those of KindLM and of cli-bench. */
export function isRunnable(document: vscode.TextDocument): boolean {
  if (!isText(document)) return false;
  return /\/(kindlm|cli-bench)\.ya?ml$/.test(document.uri.path) || beginsLikeTests(head(document));
}

/** What begins like a spec under another name: enough to start the server, which then decides. */
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
