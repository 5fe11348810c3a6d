// The server writes the reference as one Markdown file. Its pages are shown rendered, and cannot be edited.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { isReference } from './paths';

const scheme = 'speclens-reference';
const address = /file:\/\/[^\s)]*\/reference-[^\s)/]*\.md#[^\s)]+/g;

/** The command that opens the page at an address of the reference; undefined for any other address. */
export function asCommand(text: string): vscode.Uri | undefined {
  if (text.match(address)?.[0] !== text || !isFile(vscode.Uri.parse(text))) return undefined;
  return vscode.Uri.parse(`command:speclens.openReference?${encodeURIComponent(JSON.stringify([text]))}`);
}

function isFile(uri: vscode.Uri): boolean {
  return uri.scheme === 'file' && !uri.authority && isReference(uri.fsPath, { home: homedir(), state: process.env.XDG_STATE_HOME });
}

/** A hover whose links to the reference are commands. */
export function linkCommands(hover: vscode.Hover | null | undefined): vscode.Hover | null | undefined {
  for (const part of hover?.contents ?? []) {
    if (part instanceof vscode.MarkdownString) part.value = part.value.replaceAll(address, (link) => asCommand(link)?.toString() ?? link);
  }
  return hover;
}

/** Shows one page, and serves its text to the preview. */
export class Reference implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  /** `link` is the address of a heading (`#unused`) or of a line (`#L12`) in the reference. */
  async open(link: string): Promise<void> {
    const file = vscode.Uri.parse(String(link));
    // Markdown from elsewhere may call this command as well.
    if (!isFile(file)) return;
    const text = await readFile(file.with({ fragment: '' }).fsPath, 'utf8');
    const title = (page(text, file.fragment).split('\n')[0] ?? '').replaceAll(/[#`/]/g, '').trim();
    // The title becomes the tab's.
    const uri = vscode.Uri.from({ scheme, path: `/${title}.md`, query: file.toString() });
    await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const file = vscode.Uri.parse(uri.query);
    if (!isFile(file)) return '';
    return page(await readFile(file.with({ fragment: '' }).fsPath, 'utf8'), file.fragment);
  }

  dispose(): void {
    this.registration.dispose();
  }
}

/** The part of the text under the heading that a fragment names, or that its line is below. */
function page(text: string, fragment: string): string {
  const lines = text.split('\n');
  let fenced = false;
  const levels = lines.map((line) => {
    if (line.startsWith('```')) fenced = !fenced;
    return fenced ? 0 : (/^#+(?= )/.exec(line)?.[0].length ?? 0);
  });
  const wanted = /^L(\d+)$/.exec(fragment)?.[1];
  const headings = levels.flatMap((level, at) => (level > 0 ? [{ at, level, title: (lines[at] ?? '').replace(/^#+ /, '') }] : []));
  const above = headings.filter(({ at, title }) => (wanted ? at < Number(wanted) : title === fragment));
  const start = wanted ? above.at(-1) : above[0];
  if (!start) return text;
  const end = headings.find(({ at, level }) => at > start.at && level <= start.level);
  return lines.slice(start.at, end?.at).join('\n');
}
