// speclens in a real VS Code: what a person does (few, through the page), and what the extension answers to VS Code's
// interface (many, in the extension host: host/index.cjs). node --test tests/editors/vscode/vscode.test.mjs

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { get, program, repository, workspace } from '../support.mjs';

const extension = join(repository, 'editors/vscode');
let vscode;

before(async () => {
  get('node', 'vscode');
  // The package that people install, around the build under test: so every test below also shows that it installs and that
  // the program in it starts.
  execFileSync('npm', ['run', '--silent', 'package'], { cwd: extension, stdio: 'pipe', env: { ...process.env, SPECLENS_BIN: program() } });
  const { startVsCode } = await import('./harness.mjs'); // needs what get() brought
  vscode = await startVsCode(join(extension, 'speclens-linux-x64.vsix'));
});
after(() => vscode?.stop());

test('a person writes, runs and repairs a suite', async (t) => {
  await vscode.inWindow(t.name, workspace(), {}, async (window) => {
    const { page } = window;
    await window.openFile('kindlm.yaml');
    await window.squiggle();
    await window.problem('notContain', 'unknown key');

    // A new claim, its key completed.
    await window.cursorAfter('contains: [hello]');
    await page.keyboard.press('Enter');
    await page.keyboard.type('max');
    await window.accept('maxLength');
    await page.keyboard.type('20');
    await window.save(/contains: \[hello\]\n        maxLength: 20\n/);

    await window.clickLens('name: greets', '▶ Run');
    await window.lens('name: greets', '✓ passed');

    await window.clickLens('name: finds the order', '▶ Run');
    await window.lens('name: finds the order', '✗ 1 claim failed');
    await window.problem('54321', '12345', 'speclens run');
    if (process.env.SPECLENS_UPDATE_SCREENSHOT) await window.picture(join(extension, 'screenshot.png'));

    // The claim is corrected, nothing runs again, and it is green.
    await window.retype('54321', '12345');
    await window.lens('name: finds the order', '✓ passed');
    await window.noProblem('speclens run');

    await window.cursorAfter('notContain');
    await window.quickFix('notContains');
    await page.waitForSelector('.monaco-editor .squiggly-error', { state: 'detached' });
    await window.save(/notContains: \[sorry\]/);
  });
});

test('nothing runs in an untrusted workspace until the person trusts it', async (t) => {
  const settings = { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never' };
  await vscode.inWindow(t.name, workspace(), settings, async (window) => {
    await window.openFile('kindlm.yaml');
    await window.problem('notContain', 'unknown key'); // it checks all the same
    await window.clickLens('name: greets', '▶ Run');
    await window.notification('Trust and run');
    await window.command('Notifications: Hide Notifications');

    await window.page.click('.statusbar-item:has-text("Restricted Mode") a');
    await window.page.click('.workspace-trust-editor .monaco-button:has-text("Trust")');
    await window.page.waitForSelector('.workspace-trust-editor :text("You trust this folder")');
    await window.page.click('.monaco-modal-editor-block [aria-label^="Close"]');
    await window.page.waitForSelector('.workspace-trust-editor', { state: 'detached' });
    await window.clickLens('name: greets', '▶ Run');
    await window.lens('name: greets', '✓ passed');
  });
});

test('inside the extension host', async (t) => {
  const { lines, code } = await vscode.inExtensionHost(t.name, workspace(), {}, extension, join(import.meta.dirname, 'host'));
  // One line per test: `ok NAME`, or `not ok NAME: REASON`.
  const results = lines.map((line) => /^(ok|not ok) (.*)$/s.exec(line)).filter(Boolean);
  for (const [, verdict, text] of results) await t.test(text.split('\n')[0], () => assert.equal(verdict, 'ok', text));
  assert.ok(results.length > 0 && code === 0, lines.join('\n'));
});
