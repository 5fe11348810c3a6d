import * as vscode from 'vscode';

/** Files that are specs by their names. The one list of them in this extension. */
const patterns = [
  '**/kindlm.yaml',
  '**/kindlm.yml',
  '**/cli-bench.yaml',
  '**/cli-bench.yml',
  '**/clawspec.yaml',
  '**/clawspec.yml',
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

/** Whether the workspace has a spec, so that its tests are listed before one is opened. */
export async function workspaceHasSpec(): Promise<boolean> {
  return (await vscode.workspace.findFiles(`{${patterns.join(',')}}`, undefined, 1)).length > 0;
}

export function isSpec(document: vscode.TextDocument): boolean {
  return vscode.languages.match(named, document) > 0 || holdsSpec(document);
}

/** The formats of tests. */
export type Format = 'kindlm' | 'cli-bench' | 'clawspec';

/** The formats of the kinds of files that contain tests. */
const declaredFormats: Record<string, Format> = {
  kindlm: 'kindlm',
  'cli-bench': 'cli-bench',
  'cli-bench-tasks': 'cli-bench',
  'clawspec-scenarios': 'clawspec',
  'clawspec-handoff': 'clawspec',
  'clawspec-pipeline': 'clawspec',
};

/** The format of the tests that a document contains, or that files contain which it names; none for other specs. */
export function testsIn(document: vscode.TextDocument): Format | undefined {
  if (!isText(document)) return undefined;
  const text = head(document);
  const declared = /^# ?speclens: dialect=(\S+)/m.exec(text)?.[1];
  if (declared) return declaredFormats[declared];
  const [, named] = /\/(kindlm|cli-bench)\.ya?ml$/.exec(document.uri.path) ?? [];
  return (named as Format | undefined) ?? formatOf(text);
}

/** Beginnings of specs under other names: enough to start the server, which then decides. */
function holdsSpec(document: vscode.TextDocument): boolean {
  if (!isText(document)) return false;
  const text = head(document);
  return formatOf(text) !== undefined || /^# ?speclens: dialect=/m.test(text);
}

/** Suites of KindLM, suites and task files of cli-bench, contracts of ClawSpec. */
function formatOf(text: string): Format | undefined {
  if (/^kindlm:[ \t]*\S/m.test(text)) return 'kindlm';
  if (/^cli:[ \t]*\S/m.test(text) && /^tasks:/m.test(text)) return 'cli-bench';
  if (/^-[ \t]/m.test(text) && /^[ -]+intent:/m.test(text) && /^[ -]+assert:/m.test(text)) return 'cli-bench';
  if (/^target:/m.test(text) && /^scenarios:/m.test(text)) return 'clawspec';
  if (/^(handoff|pipeline):/m.test(text) && /^version:/m.test(text)) return 'clawspec';
  return undefined;
}

function isText(document: vscode.TextDocument): boolean {
  return ['file', 'untitled'].includes(document.uri.scheme) && document.languageId === 'yaml';
}

function head(document: vscode.TextDocument): string {
  return document.getText(new vscode.Range(0, 0, 200, 0));
}
