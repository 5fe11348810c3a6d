// speclens in a real VS Code: user actions (few, through the page), and the extension's answers to VS Code's
// interface (many, in the extension host: host/index.cjs). node --test tests/editors/vscode/vscode.test.mjs

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { folder, get, ollama, program, repository, RUNS, workspace } from '../support.mjs';
import { IS_FLOOR, PART } from './version.mjs';

const extension = join(repository, 'editors/vscode');
let vscode, until;

// The oldest VS Code runs what a newcomer does, and every answer of the extension.
const newest = { skip: IS_FLOOR && 'in the newest VS Code' };

before(async () => {
  get('node', PART);
  // The package that users install, with the build under test: so every test below also shows that it installs and that
  // its program starts.
  execFileSync('npm', ['run', '--silent', 'package'], { cwd: extension, stdio: 'pipe', env: { ...process.env, SPECLENS_BIN: program() } });
  const harness = await import('./harness.mjs'); // needs what get() brought
  until = harness.until;
  vscode = await harness.startVsCode(join(extension, 'speclens-linux-x64.vsix'));
});
after(() => vscode?.stop());

test('a person writes, runs and repairs a suite', async (t) => {
  await vscode.inWindow(t.name, workspace(), {}, async (window) => {
    const { page } = window;
    await window.openFile('kindlm.yaml');
    await window.squiggle();
    await window.problem('notContain', 'unknown key');

    // A new claim, with its key completed.
    await window.cursorAfter('contains: [hello]');
    await page.keyboard.press('Enter');
    await page.keyboard.type('max');
    await window.accept('maxLength');
    await page.keyboard.type('20');
    await window.save(/contains: \[hello\]\n        maxLength: 20\n/);

    await window.clickLens('name: greets', '▶ Run');
    await window.lens('name: greets', '✓ passed');

    await window.clickLens('name: finds the order', '▶ Run');
    await window.lens('name: finds the order', '✗ 1 assertion failed');
    await window.problem('54321', '12345', 'speclens run');
    await window.shows('54321', '✗ got 12345');
    if (process.env.SPECLENS_UPDATE_SCREENSHOT) await window.picture(join(extension, 'screenshot.png'));

    // The claim is corrected, nothing runs again, and the result is green.
    await window.retype('54321', '12345');
    await window.lens('name: finds the order', '✓ passed');
    await window.noProblem('speclens run');
    await window.shows('contains: [delivered]', '✓');

    await window.cursorAfter('notContain');
    await window.quickFix('notContains');
    await page.waitForSelector('.monaco-editor .squiggly-error', { state: 'detached' });
    await window.save(/notContains: \[sorry\]/);
  });
});

test('a person runs a task of an agent, corrects its assertion, and tries another model', newest, async (t) => {
  const path = workspace();
  const runs = () => readFileSync(join(path, RUNS), 'utf8');
  await vscode.inWindow(t.name, join(path, 'greeter'), {}, async (window) => {
    const { page } = window;
    await window.openFile('cli-bench.yaml');
    await page.waitForSelector('.editor-actions [aria-label*="Run File"]');
    await window.lens('id: wave', 'Run with…', 'a');

    // The lens in the task file, which the suite names.
    await window.openFile('tasks/greet.yaml');
    await page.waitForSelector('.editor-actions [aria-label*="Run File"]');
    await window.clickLens('id: greet', '▶ Run');
    await window.lens('id: greet', '✗ 1 assertion failed');
    const row = await window.problem('hello world', 'speclens run');
    assert.match(await row.textContent(), /Ln 5, Col/);

    await window.retype('hello moon', 'hello world');
    await window.lens('id: greet', '✓ passed');
    await window.noProblem('speclens run');
    assert.equal(runs(), 'run\n', 'it was judged, and did not run');
    await window.save(/hello world/);

    await window.clickLens('id: greet', '✓ passed');
    await page.waitForSelector('.tab:has-text("greet (transcript).md")');
    await page.waitForSelector('.monaco-editor[data-uri^="speclens-transcript"] .view-line:has-text("I greet.")');

    await window.clickLens('id: greet', 'Dry run');
    await page.waitForSelector('.tab:has-text("greet (dry run).md")');
    await page.waitForSelector('.monaco-editor[data-uri^="speclens-transcript"] .view-line:has-text("Nothing was run.")');

    await window.clickLens('id: greet', 'Run with…');
    await window.pick('Which model should run the task?', 'scripted/silent');
    await window.lens('id: greet', '✗ 0/1 silent');
    await window.lens('id: greet', '✓ 1/1 polite');
    assert.equal(runs(), 'run\n', 'the other model acted');
  });
});

test('a person runs a scenario at a scripted gateway, reads a failure, and opens the line of the artifact', newest, async (t) => {
  const path = join(workspace(), 'clawspec');
  await vscode.inWindow(t.name, path, {}, async (window) => {
    const { page } = window;
    await window.openPath('skills/newsletter/tests/scenarios.yaml');
    await page.waitForSelector('.editor-actions [aria-label*="Run File"]');
    await window.clickLens('name: newsletter-drafts', 'Preconditions');
    await page.waitForSelector('.tab:has-text("newsletter-drafts (preconditions).md")');
    await page.waitForSelector('.monaco-editor[data-uri^="speclens-transcript"] .view-line:has-text("A run would start now")');
    assert.ok(!existsSync(join(path, 'memory/drafts')), 'nothing was triggered');

    await window.clickLens('name: newsletter-drafts', '▶ Run');
    await window.lens('name: newsletter-drafts', '✓ passed');
    await window.clickLens('name: newsletter-drafts', '✓ passed');
    await page.waitForSelector('.tab:has-text("newsletter-drafts (transcript).md")');

    await window.lens('name: newsletter-drafts', 'Evaluate without a run', 'a');
    await window.retype('guaranteed', 'Spring');
    const row = await window.problem('Spring', 'speclens run');
    assert.match(await row.textContent(), /Ln 38, Col/);
    await window.cursorAfter('name: newsletter-drafts');
    await window.command('speclens: Dry Run of Test at Cursor');
    await page.waitForSelector('.tab:has-text("newsletter-drafts (dry run).md")');
    await window.openPath('skills/newsletter/tests/scenarios.yaml');
    await window.related(row, 'the word `');
    await page.waitForSelector('.tab.active:has-text("-newsletter.md")');
    await page.waitForSelector('.statusbar-item:has-text("Ln 3, Col 7 (6 selected)")');
  });
});

test('a person edits the criterion of a judge, and has the judge asked again', newest, async (t) => {
  const answer = JSON.stringify({ score: 0.7, reasoning: 'it says hello' });
  const judge = await ollama(answer, answer, answer);
  t.after(judge.stop);
  const path = workspace();
  const suite = `kindlm: 1\nproject: p\nsuite: {name: s}\nproviders: {ollama: {baseUrl: "${judge.address}"}}\nmodels: [{id: m, provider: ollama, model: judge}]
tests:\n  - name: greets\n    command: echo run >> runs.txt; echo hello\n    expect:\n      judge:\n        - criteria: is polite\n          minScore: 0.5\n`;
  writeFileSync(join(path, 'kindlm.yaml'), suite);
  await vscode.inWindow(t.name, path, {}, async (window) => {
    await window.openFile('kindlm.yaml');
    await window.clickLens('name: greets', '▶ Run');
    await window.lens('name: greets', '✓ passed');
    await window.retype('is polite', 'is short');
    await window.clickLens('name: greets', 'Ask judge');
    await window.lens('name: greets', '✓ passed');
    await window.save(/is short/);
    await window.retype('is short', 'is kind');
    await window.lens('name: greets', 'Ask judge', 'a');
    await window.command('speclens: Ask Judge About Test at Cursor');
    await window.lens('name: greets', '✓ passed');
    assert.deepEqual(judge.questions.map((question) => /is (polite|short|kind)/.exec(question)[1]), ['polite', 'short', 'kind']);
    assert.equal(readFileSync(join(path, RUNS), 'utf8'), 'run\n', 'the command ran once');
  });
});

test('the view of tests shows the workspace, runs it, and follows the editor', async (t) => {
  const path = workspace();
  await vscode.inWindow(t.name, path, {}, async (window) => {
    const { page } = window;
    // Without a spec that is open.
    await window.openTests();
    for (const format of ['KindLM', 'cli-bench', 'ClawSpec']) await window.testRow(format);
    await window.openTestRow('KindLM');
    await window.openTestRow('kindlm.yaml');
    await window.testRow('greets');
    await window.testRow('finds the order');

    // A test that is run from the view shows its result in the lens as well.
    await window.runTestRow('greets');
    await window.testRow(/greets\s*✓ passed/, 'passed');
    // The terminal of the run has what happened.
    await window.command('Test: Show Output');
    await page.waitForSelector('.xterm-rows:has-text("exit code: 0")');
    await window.openPath('kindlm.yaml');
    await window.lens('name: greets', '✓ passed');

    // One that is run from its lens shows it in the view, with the values that differ.
    await window.clickLens('name: finds the order', '▶ Run');
    await window.lens('name: finds the order', '✗ 1 assertion failed');
    await window.testRow(/finds the order\s*✗ 1 assertion failed/, 'failed');
    await window.retype('54321', '12345');
    await window.testRow('finds the order', 'passed');
    await page.waitForSelector('.monaco-editor [class*="testing-passed"]');
  });
});

test('a person accepts what a run found, and has assertions written from it', async (t) => {
  const path = workspace();
  const suite = join(path, 'kindlm.yaml');
  writeFileSync(suite, readFileSync(suite, 'utf8').replace('notContain:', 'notContains:'));
  await vscode.inWindow(t.name, path, {}, async (window) => {
    await window.openFile('kindlm.yaml');
    await window.clickLens('name: finds the order', '▶ Run');
    await window.lens('name: finds the order', '✗ 1 assertion failed');
    await window.cursorAfter('order_id: "543');
    await window.quickFix('Accept what the run found: `"12345"`');
    await window.page.waitForSelector('.monaco-editor .view-line:has-text(\'"12345"\')');
    await window.save(/order_id: "12345"\n/);
    await window.lens('name: finds the order', '✓ passed');

    // Some faults of the run would still go unnoticed.
    await window.lens('name: finds the order', /audit: \d+ of \d+ faults noticed/);
    await window.cursorAfter('name: finds the o');
    await window.quickFix('Write assertions for `finds the order`');
    await window.page.waitForSelector('.monaco-editor .view-line:has-text("trajectory:")');
    await window.save(/finds the order\n(.*\n)*      trajectory:/);
    await window.lens('name: finds the order', '✓ passed');
  });
});

test('a newcomer writes a suite from nothing and runs it', async (t) => {
  const path = folder('newcomer');
  await vscode.inWindow(t.name, path, {}, async (window) => {
    const { page } = window;
    // The four steps of the walkthrough are there.
    await window.command('Welcome: Open Walkthrough...');
    await page.keyboard.type('Test your agent');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Test your agent with speclens' }).first().click();
    for (const step of ['Write a suite', 'Let mistakes show themselves', 'Run a test', 'Edit assertions']) {
      await page.locator('.gettingStartedContainer .step-title', { hasText: step }).first().waitFor();
    }
    await page.locator('.gettingStartedContainer .monaco-button', { hasText: 'New Suite' }).first().click();
    await window.pick('What do you want to test?', 'KindLM');
    await page.waitForSelector('.tab.active:has-text("kindlm.yaml")');
    await window.clickLens('# A suite of agent tests', '▶ Run file');
    await window.lens('# A suite of agent tests', /^\d+ passed$/);
    // Another one is not written over it.
    await window.command('speclens: New Suite…');
    await window.pick('What do you want to test?', 'KindLM');
    await window.notification('`kindlm.yaml` already exists, so nothing was written');
  });
});

test('a person checks the workspace and fixes all of it', newest, async (t) => {
  const path = folder('check');
  const suite = 'kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: echo a\n    expect: {output: {contains: [a]}}\n';
  const wrong = { one: suite.replace('command', 'comand'), two: suite.replace('contains', 'containz') };
  for (const [name, text] of Object.entries(wrong)) {
    mkdirSync(join(path, name));
    writeFileSync(join(path, name, 'kindlm.yaml'), text);
  }
  await vscode.inWindow(t.name, path, {}, async (window) => {
    const { page } = window;
    await window.command('speclens: Check Workspace');
    // Nothing is open, and both files are in the list of problems.
    for (const name of ['comand', 'containz']) await page.waitForSelector(`.markers-panel .monaco-list-row:has-text("${name}")`);
    const told = await window.notification('2 errors in 2 files; 2 can be fixed safely');
    await (await told.waitForSelector('.monaco-button:has-text("Fix all")')).click();
    await window.notification('fixed 2 files');
    await window.command('File: Save All Files');
    await until('the files', () => Object.keys(wrong).every((name) => readFileSync(join(path, name, 'kindlm.yaml'), 'utf8') === suite));
    await page.waitForSelector('.markers-panel:has-text("No problems have been detected")');
  });
});

test('a click on Run says why a test is not run', newest, async (t) => {
  const path = workspace();
  const suite = `kindlm: 1\nproject: p\nsuite: {name: s}\nproviders: {openai: {apiKeyEnv: KEY}}\nmodels: [{id: m, provider: openai, model: gpt}]
tests:\n  - name: off\n    skip: true\n    command: echo hi\n    expect: {output: {contains: [hi]}}\n`;
  writeFileSync(join(path, 'kindlm.yaml'), suite);
  await vscode.inWindow(t.name, path, {}, async (window) => {
    await window.openFile('kindlm.yaml');
    await window.clickLens('name: off', '○ skipped');
    await window.notification('speclens: `off` is skipped; remove `skip: true` to run it');
    // At the dash, too.
    await window.command('Notifications: Hide Notifications');
    await window.cursorAfter('skip: true');
    await window.command('Go to Line/Column...');
    await window.page.keyboard.type('7:1');
    await window.page.keyboard.press('Enter');
    await window.page.waitForSelector('.statusbar-item:has-text("Ln 7, Col 1")');
    await window.command('speclens: Show Transcript of Test at Cursor');
    await window.page.waitForSelector('.tab:has-text("off (transcript)")');
  });
});

test('nothing runs in an untrusted workspace, trusted elsewhere or not, until the person trusts it in VS Code', newest, async (t) => {
  const settings = { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never' };
  const path = workspace();
  mkdirSync(join(vscode.data, 'state/speclens'), { recursive: true });
  writeFileSync(join(vscode.data, 'state/speclens/trusted-folders'), `${realpathSync(path)}\n`);
  await vscode.inWindow(t.name, path, settings, async (window) => {
    await window.openFile('kindlm.yaml');
    await window.problem('notContain', 'unknown key'); // it checks all the same
    await window.clickLens('name: greets', '▶ Run');
    await window.dialog('speclens runs tests only in a trusted workspace', 'Manage Workspace Trust');

    await window.page.click('.workspace-trust-editor .monaco-button:has-text("Trust")');
    await window.page.waitForSelector('.workspace-trust-editor :text("You trust this folder")');
    await window.page.click('.monaco-modal-editor-block [aria-label^="Close"]');
    await window.page.waitForSelector('.workspace-trust-editor', { state: 'detached' });
    assert.ok(!existsSync(join(path, '.speclens')), 'nothing ran before');
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
