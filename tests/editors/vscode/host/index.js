// Runs inside VS Code's extension host and tests the extension's API for VS Code. Prints `ok NAME` or `not ok NAME: REASON` for each test.

const assert = require('node:assert/strict');
const vscode = require('vscode');

const { commands, languages, window, workspace } = vscode;
const DEADLINE = 20_000;

/** Waits until `ask` returns something; every wait of these tests is for an event with a deadline. */
async function until(what, ask) {
  const end = Date.now() + DEADLINE;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`never seen: ${what}`);
    await new Promise((next) => setTimeout(next, 20));
  }
}

let spec; // the open document of kindlm.yaml
let original;

const from = (source) => languages.getDiagnostics(spec.uri).filter((problem) => problem.source === source);
/** The problems of the text, without notes on differences to the other program. */
const problems = () => from('speclens').filter((problem) => problem.severity === vscode.DiagnosticSeverity.Error);
const runProblems = () => from('speclens run');
const lenses = async () => (await commands.executeCommand('vscode.executeCodeLensProvider', spec.uri, 100)) ?? [];
const lineOf = (text) => spec.positionAt(spec.getText().indexOf(text)).line;
const inGreets = (problem) => problem.range.start.line < lineOf('name: finds the order');
const run = (test) => commands.executeCommand('speclens.run', { uri: spec.uri.toString(), test });

/** The titles of the lenses above the line that contains `text`. */
async function titles(text) {
  const line = lineOf(text);
  return (await lenses()).filter((lens) => lens.range.start.line === line).map((lens) => lens.command.title);
}
const state = (test, words) => until(`“${words}” above ${test}`, async () => (await titles(`name: ${test}`)).some((title) => title.includes(words)));

async function replace(old, fresh) {
  const start = spec.getText().indexOf(old);
  assert.ok(start >= 0, `${old} is in the text`);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(spec.uri, new vscode.Range(spec.positionAt(start), spec.positionAt(start + old.length)), fresh);
  await workspace.applyEdit(edit);
}

/** Opens another file of the workspace and changes one place in it; returns the resulting problems. */
async function damageFile(path, old, fresh, severity = vscode.DiagnosticSeverity.Error) {
  const document = await workspace.openTextDocument(sibling(path));
  await window.showTextDocument(document, vscode.ViewColumn.One);
  const errors = () => languages.getDiagnostics(document.uri).filter((it) => it.source === 'speclens' && it.severity === severity);
  const start = document.getText().indexOf(old);
  assert.ok(start >= 0, `${old} is in ${path}`);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(start + old.length)), fresh);
  await workspace.applyEdit(edit);
  const [problem] = await until('the problem', () => errors().length && errors());
  assert.equal(errors().length, 1, JSON.stringify(errors()));
  return { document, problem, errors };
}

/** Checks that the one problem is at its place, and that its quick fix restores the old text. */
async function isFixed({ document, problem, errors }, marked, old) {
  assert.equal(document.getText(problem.range), marked);
  const actions = await commands.executeCommand('vscode.executeCodeActionProvider', document.uri, problem.range, 'quickfix');
  const fix = actions.find((action) => action.isPreferred && action.edit);
  assert.ok(fix, JSON.stringify(actions));
  await workspace.applyEdit(fix.edit);
  await until('no problem', () => errors().length === 0);
  assert.ok(document.getText().includes(old));
}

async function labelsAt(document, position) {
  const list = await commands.executeCommand('vscode.executeCompletionItemProvider', document.uri, position);
  return list.items.map((item) => item.label.label ?? item.label);
}

const configure = (key, value) => workspace.getConfiguration('speclens').update(key, value, vscode.ConfigurationTarget.Global);
const sibling = (name) => vscode.Uri.joinPath(spec.uri, '..', name);

const tests = {
  async 'a misspelled key is a problem on that key'() {
    const [problem] = await until('the problem', () => problems().length && problems());
    assert.equal(spec.getText(problem.range), 'notContain');
    assert.equal(problem.severity, vscode.DiagnosticSeverity.Error);
    assert.match(problem.message, /notContains/);
    assert.equal(problems().length, 1, 'and it is there once');
  },

  async 'the problem has a quick fix'() {
    const [problem] = problems();
    // VS Code drops every answer while an extension that it starts registers actions: the request is repeated then.
    const fix = await until('the fix', async () => {
      const actions = await commands.executeCommand('vscode.executeCodeActionProvider', spec.uri, problem.range, 'quickfix');
      return actions.find((action) => /notContains/.test(action.title));
    });
    assert.ok(fix.edit, JSON.stringify(fix));
    await workspace.applyEdit(fix.edit);
    await until('no problem', () => problems().length === 0);
  },

  async 'keys are completed'() {
    const at = new vscode.Position(lineOf('contains: [hello]'), 8);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(spec.uri, new vscode.Position(at.line, 0), '        m\n');
    await workspace.applyEdit(edit);
    const list = await commands.executeCommand('vscode.executeCompletionItemProvider', spec.uri, at.translate(0, 1));
    const labels = list.items.map((item) => item.label.label ?? item.label);
    assert.ok(labels.includes('maxLength'), labels.join());
  },

  async 'hover explains a key'() {
    const hovers = await commands.executeCommand('vscode.executeHoverProvider', spec.uri, new vscode.Position(lineOf('contains: [hello]'), 10));
    assert.ok(hovers.some((hover) => hover.contents.some((part) => part.value.length > 20)), 'some words about `contains`');
  },

  async 'the outline names the tests'() {
    const symbols = await commands.executeCommand('vscode.executeDocumentSymbolProvider', spec.uri);
    const names = (list) => list.flatMap((symbol) => [symbol.name, ...names(symbol.children ?? [])]);
    for (const name of ['greets', 'finds the order', 'never apologises']) assert.ok(names(symbols).includes(name), names(symbols).join());
  },

  async 'lenses are above the file and each test'() {
    assert.deepEqual((await titles('kindlm: 1')).slice(0, 1), ['▶ Run file']);
    for (const name of ['greets', 'finds the order']) {
      assert.deepEqual((await titles(`name: ${name}`)).slice(0, 1), ['▶ Run']);
    }
    // The lens of a test that cannot run shows the reason.
    assert.deepEqual(await titles('name: never apologises'), ['! has errors']);
  },

  async 'a failing claim is a problem on the claim, and correcting it is enough'() {
    await run('finds the order');
    const [failure] = await until('the failure', () => runProblems().length && runProblems());
    assert.match(spec.getText(failure.range), /54321|order_id/);
    assert.match(failure.message, /54321/);
    assert.match(failure.message, /12345/);
    await state('finds the order', '✗ 1 assertion');
    await replace('54321', '12345');
    await until('no failure', () => runProblems().length === 0);
    await state('finds the order', '✓ passed');
  },

  async 'editing the command, or the script that it names, makes the result stale'() {
    await run('finds the order');
    await state('finds the order', '✗ 1 assertion');
    const script = sibling('agent.sh');
    const text = await workspace.fs.readFile(script);
    await workspace.fs.writeFile(script, Buffer.concat([text, Buffer.from('echo bye\n')]));
    await state('finds the order', '⚠ stale');
    await until('no failure: what came from another script says nothing about this one', () => runProblems().length === 0);
    await workspace.fs.writeFile(script, text);
    await state('finds the order', '✗ 1 assertion');
    await replace('sh agent.sh', 'sh ./agent.sh');
    await state('finds the order', '⚠ stale');
  },

  async 'the palette runs the file'() {
    await replace('notContain:', 'notContains:');
    await commands.executeCommand('speclens.runActiveFile');
    await state('greets', '✓ passed');
    await state('never apologises', '✓ passed');
    await state('finds the order', '✗ 1 assertion');
  },

  async 'the palette runs the test at the cursor and shows its transcript'() {
    const at = new vscode.Position(lineOf('order_id'), 6);
    window.activeTextEditor.selection = new vscode.Selection(at, at);
    await commands.executeCommand('speclens.runTestAtCursor');
    await state('finds the order', '✗ 1 assertion');
    await commands.executeCommand('speclens.showTranscriptAtCursor');
    const transcript = await until('the transcript', () => workspace.textDocuments.find((document) => document.uri.scheme === 'speclens-transcript'));
    assert.match(transcript.getText(), /status: delivered/);
    await window.showTextDocument(spec, vscode.ViewColumn.One);
  },

  async 'a run can be cancelled from the palette'() {
    await replace('echo hello', 'sleep 600');
    await run('greets');
    await state('greets', '… running');
    await commands.executeCommand('speclens.cancelRuns');
    await until('the end of the run', async () => !(await titles('name: greets')).some((title) => title.includes('running')));
    assert.deepEqual(runProblems().filter(inGreets), []);
  },

  async 'a run with an error is a problem at the command'() {
    await replace('echo hello', 'echo hello; sleep 600');
    await replace('tests:', 'defaults:\n  timeoutMs: 1000\ntests:');
    await run('greets');
    const problem = await until('the problem', () => runProblems().find(inGreets));
    assert.match(spec.getText(problem.range), /sleep 600/);
    assert.match(problem.message, /did not end within/);
    await state('greets', '! error');
  },

  async 'settings change how failures are shown'() {
    await run('finds the order');
    await until('the failure', () => runProblems()[0]?.severity === vscode.DiagnosticSeverity.Error);
    await configure('run.severity', 'warning');
    await until('a warning', () => runProblems()[0]?.severity === vscode.DiagnosticSeverity.Warning);
    await configure('run.severity', 'off');
    await until('nothing', () => runProblems().length === 0);
    await state('finds the order', '✗ 1 assertion');
    await configure('run.severity', undefined);
    await until('the error again', () => runProblems()[0]?.severity === vscode.DiagnosticSeverity.Error);
  },

  async 'a setting switches the lenses off'() {
    await configure('codeLens.enable', false);
    await until('no lens', async () => (await lenses()).length === 0);
    await configure('codeLens.enable', undefined);
    await until('lenses', async () => (await lenses()).length > 0);
  },

  async 'restarting the server brings everything back'() {
    await commands.executeCommand('speclens.restartServer');
    const [problem] = await until('the problem', () => problems().length && problems());
    assert.equal(spec.getText(problem.range), 'notContain');
    await until('lenses', async () => (await lenses()).length > 0);
  },

  async 'a wrong path stops the server, a right one starts it'() {
    await configure('server.path', '/nowhere/speclens');
    await until('no problem', () => problems().length === 0);
    await until('no command of the server', async () => !(await commands.getCommands(true)).includes('speclens.run'));
    await configure('server.path', undefined);
    await until('the problem', () => problems().length === 1);
  },

  async 'a program that is not speclens is not started'() {
    await configure('server.path', '/bin/echo');
    await until('no command of the server', async () => !(await commands.getCommands(true)).includes('speclens.run'));
    await configure('server.path', undefined);
    await until('the problem', () => problems().length === 1);
  },

  async 'a task file of cli-bench: a misspelled assertion is a problem with a fix, assertions are completed'() {
    const damaged = await damageFile('cli-bench/tasks/basics.yaml', 'output_contains: "Usage"', 'output_contain: "Usage"');
    const labels = await labelsAt(damaged.document, damaged.problem.range.end);
    for (const label of ['output_contains', 'output_equals']) assert.ok(labels.includes(label), labels.join());
    await isFixed(damaged, 'output_contain', 'output_contains: "Usage"');
  },

  async 'a chosen key opens the list of its values'() {
    const document = await workspace.openTextDocument(sibling('cli-bench/tasks/basics.yaml'));
    const editor = await window.showTextDocument(document, vscode.ViewColumn.One);
    const before = document.getText();
    const edit = new vscode.WorkspaceEdit();
    edit.delete(document.uri, document.lineAt(4).range); // the first `difficulty: easy`
    await workspace.applyEdit(edit);
    editor.selection = new vscode.Selection(4, 0, 4, 0);
    await commands.executeCommand('type', { text: '  diff' });
    await commands.executeCommand('editor.action.triggerSuggest');
    // Accepts the first item of the list, once there is a list.
    const taken = (what, pattern) =>
      until(what, async () => {
        if (pattern.test(document.lineAt(4).text)) return true;
        await commands.executeCommand('acceptSelectedSuggestion');
        return pattern.test(document.lineAt(4).text);
      });
    await taken('the key', /^  difficulty: /);
    await taken('a value', /^  difficulty: \w+$/);
    assert.equal(document.getText().split('\n').length, before.split('\n').length);
    await commands.executeCommand('workbench.action.files.revert');
  },

  async 'a suite of cli-bench: the tasks that it names are a step away'() {
    const main = await workspace.openTextDocument(sibling('cli-bench/cli-bench.yaml'));
    const at = main.positionAt(main.getText().indexOf('tasks/basics.yaml') + 2);
    const links = await commands.executeCommand('vscode.executeLinkProvider', main.uri, 100);
    const link = links.find((link) => link.range.contains(at));
    assert.ok(link?.target?.path.endsWith('/cli-bench/tasks/basics.yaml'), JSON.stringify(links));
  },

  async 'a scripted model: a misspelled key is a problem with a fix, keys are completed'() {
    const damaged = await damageFile('greeter/polite.script.yaml', '- run: echo I wave', '- runn: echo I wave');
    await isFixed(damaged, 'runn', '- run: echo I wave');
    const at = damaged.document.positionAt(damaged.document.getText().indexOf('    - say: Done.'));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(damaged.document.uri, at, '      e\n');
    await workspace.applyEdit(edit);
    const labels = await labelsAt(damaged.document, at.translate(0, 7));
    assert.ok(labels.includes('expect'), labels.join());
  },

  async 'a contract of ClawSpec: a misspelled type is a problem with a fix, types are completed, placeholders explained'() {
    const path = 'clawspec/skills/newsletter/tests/scenarios.yaml';
    const damaged = await damageFile(path, 'type: file_absent', 'type: file_absnt');
    const labels = await labelsAt(damaged.document, damaged.problem.range.end);
    for (const label of ['file_absent', 'llm_judge']) assert.ok(labels.includes(label), labels.join());
    await isFixed(damaged, 'file_absnt', 'type: file_absent');
    const { document } = damaged;
    const at = document.positionAt(document.getText().indexOf('drafts/{{today}}') + 11);
    const hovers = await commands.executeCommand('vscode.executeHoverProvider', document.uri, at);
    const today = /\d{4}-\d{2}-\d{2}/;
    assert.ok(hovers.some((hover) => hover.contents.some((part) => today.test(part.value))), JSON.stringify(hovers));
  },

  async 'a transcript that is open follows the claims'() {
    await run('finds the order');
    await state('finds the order', '✗ 1 assertion');
    await commands.executeCommand('speclens.showTranscript', { uri: spec.uri.toString(), test: 'finds the order' });
    const shown = await until('the transcript', () => workspace.textDocuments.find(({ uri }) => uri.scheme === 'speclens-transcript' && uri.path.includes('finds the order')));
    await until('a failing claim', () => shown.getText().includes('✗'));
    await replace('54321', '12345');
    await until('no failing claim', () => !shown.getText().includes('✗'));
    assert.ok(shown.getText().includes('✓'), shown.getText());
  },

  async 'the code of a problem leads to its page, rendered'() {
    const [problem] = await until('the problem', () => problems().length && problems());
    const { target } = problem.code;
    assert.equal(target.scheme, 'command', String(target));
    const [link] = JSON.parse(target.query);
    await commands.executeCommand(target.path, link);
    const tabs = () => window.tabGroups.all.flatMap((group) => group.tabs);
    const preview = await until('the preview', () => tabs().find((tab) => tab.input instanceof vscode.TabInputWebview && /unknown-key/.test(tab.label)));
    const page = await until('the page', () => workspace.textDocuments.find(({ uri }) => uri.scheme === 'speclens-reference'));
    assert.match(page.getText(), /^### unknown-key\n/);
    assert.ok(!page.getText().includes('### missing-field'), page.getText());
    await window.tabGroups.close(preview);
  },

  async 'the reference of a hover is a command, too'() {
    const hovers = await commands.executeCommand('vscode.executeHoverProvider', spec.uri, new vscode.Position(lineOf('contains: [hello]'), 10));
    const text = hovers.flatMap((hover) => hover.contents.map((part) => part.value)).join('\n');
    assert.match(text, /\[Reference\]\(command:speclens\.openReference\?/);
    const link = decodeURIComponent(/openReference\?([^)]+)\)/.exec(text)[1]);
    await commands.executeCommand('speclens.openReference', ...JSON.parse(link));
    const pages = () => workspace.textDocuments.filter(({ uri }) => uri.scheme === 'speclens-reference');
    await until('the page', () => pages().some((page) => /contains/.test(page.getText()) && page.getText().length < 10_000));
  },

  async 'the palette runs the task at the cursor of a task file'() {
    const tasks = await workspace.openTextDocument(sibling('greeter/tasks/greet.yaml'));
    const editor = await window.showTextDocument(tasks, vscode.ViewColumn.One);
    editor.selection = new vscode.Selection(2, 0, 2, 0);
    const here = async (title) => (await commands.executeCommand('vscode.executeCodeLensProvider', tasks.uri, 100)).some((lens) => lens.command.title.includes(title));
    await until('the lenses', () => here('Run with…'));
    await commands.executeCommand('speclens.runTestAtCursor');
    await until('the model', () => here('✗ 1 assertion failed'));
  },

  async 'a command is offered in the files of the formats that have it only'() {
    const { menus } = vscode.extensions.getExtension('speclens.speclens').packageJSON.contributes;
    assert.deepEqual(menus['editor/title/run'].map(({ when }) => when), ['speclens.tests']);
    const formats = ['kindlm', 'cli-bench', 'clawspec'];
    const offered = (format) => menus.commandPalette.filter(({ when }) => when.split(' || ').some((part) => part === 'speclens.tests' || part === `speclens.tests == '${format}'`));
    const special = formats.map((format) => offered(format).map(({ command }) => command.replace('speclens.', '')).filter((command) => !/^(runTestAtCursor|runActiveFile|showTranscriptAtCursor)$/.test(command)));
    assert.deepEqual(special, [
      ['askJudgeAtCursor'],
      ['runTestAtCursorWith', 'dryRunAtCursor'],
      ['askJudgeAtCursor', 'dryRunAtCursor', 'preconditionsAtCursor', 'judgeAtCursor'],
    ]);
  },

  async 'a problem is ignored in settings that come into being, and is gone before they are saved'() {
    const hint = () => from('speclens').filter((problem) => problem.code.value === 'no-claims');
    await replace("expect:\n      output:\n        contains: [hello]", 'expect: {}');
    const [problem] = await until('the warning', () => hint().length && hint());
    const actions = await commands.executeCommand('vscode.executeCodeActionProvider', spec.uri, problem.range, 'quickfix');
    const titles = ['here', 'in this file', 'in this workspace'].map((where) => `Ignore \`no-claims\` ${where}`);
    assert.deepEqual(actions.map((action) => action.title).filter((title) => title.startsWith('Ignore')), titles);
    await workspace.applyEdit(actions.find((action) => action.title === titles[2]).edit);
    await until('no warning', () => hint().length === 0);
    const settings = workspace.textDocuments.find(({ uri }) => uri.path.endsWith('/speclens.yaml'));
    assert.equal(settings.getText(), 'severity:\n  no-claims: off\n');
    await settings.save();
    await workspace.fs.delete(settings.uri);
  },

  async 'other YAML files are left alone'() {
    await workspace.fs.writeFile(sibling('deployment.yaml'), Buffer.from('kind: Deployment\ntests:\n  - name: greets\n    notContain: x\n'));
    const other = await workspace.openTextDocument(sibling('deployment.yaml'));
    assert.equal(other.languageId, 'yaml');
    // The responses for this document and then for the spec: problems of the first would be here by now.
    assert.deepEqual(await commands.executeCommand('vscode.executeCodeLensProvider', other.uri, 100), []);
    await replace('kindlm: 1', 'kindlm: 2');
    await until('a problem of the spec', () => problems().length === 2);
    assert.deepEqual(languages.getDiagnostics(other.uri), []);
  },
};

exports.run = async () => {
  const [file] = await workspace.findFiles('kindlm.yaml');
  spec = await workspace.openTextDocument(file);
  original = spec.getText();
  let failed = 0;
  for (const [name, check] of Object.entries(tests)) {
    try {
      if (spec.getText() !== original) await replace(spec.getText(), original);
      await window.showTextDocument(spec, vscode.ViewColumn.One);
      await check();
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`not ok ${name}: ${error.stack}\n${JSON.stringify(languages.getDiagnostics(spec.uri).map((it) => `${it.source}: ${it.message}`))}`);
    }
  }
  if (failed) throw new Error(`${failed} failed`);
};
