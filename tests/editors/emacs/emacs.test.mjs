// speclens in a real Emacs, on a terminal, with the settings of editors/emacs.md. node --test tests/editors/emacs/emacs.test.mjs

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { cache, find, folder, get, program, RUNS, workspace } from '../support.mjs';
import { processes, recipe, Terminal } from '../terminal.mjs';

const root = join(cache, 'emacs');
const emacs = join(root, 'usr/bin/emacs-nox');
let dump; // its state after loading its own Lisp
let environment; // where it finds the rest

before(() => {
  get('emacs');
  [dump] = find(join(root, 'usr/libexec/emacs'), /\.pdmp$/);
  const [, version] = /emacs\/([\d.]+)\//.exec(dump);
  environment = {
    EMACSLOADPATH: join(root, 'usr/share/emacs', version, 'lisp'),
    EMACSDATA: join(root, 'usr/share/emacs', version, 'etc'),
    EMACSPATH: dirname(dump),
  };
});

/** Emacs with the package yaml-mode or without it, in a new workspace and home directory, with a file open. */
class Emacs extends Terminal {
  constructor(file, { yamlMode = true } = {}) {
    const home = folder('home');
    const bin = folder('bin'); // PATH as after an installation
    symlinkSync(program(), join(bin, 'speclens'));
    mkdirSync(join(home, '.emacs.d'));
    const [autoloads] = find(join(root, 'usr/share/emacs/site-lisp'), /\/yaml-mode-autoloads\.el$/);
    // What an installed package adds. The unpacked Emacs has no compiler of its own.
    const early = ['(setq native-comp-jit-compilation nil)', ...(yamlMode ? [`(load "${autoloads}" nil t)`] : [])];
    writeFileSync(join(home, '.emacs.d/early-init.el'), early.join('\n'));
    writeFileSync(join(home, '.emacs.d/init.el'), recipe('editors/emacs.md', 'elisp'));
    const path = workspace();
    const env = { ...environment, HOME: home, XDG_STATE_HOME: join(home, 'state'), PATH: [bin, process.env.PATH].join(delimiter) };
    super([emacs, `--dump-file=${dump}`, file], { cwd: path, env });
    Object.assign(this, { path, file });
  }

  read(file = this.file) {
    return readFileSync(join(this.path, file), 'utf8');
  }

  /** Enters a command. */
  async command(name) {
    this.keys('M-x');
    await this.see(/^M-x $|^M-x$/m);
    this.type(name);
    this.keys('Enter');
  }

  /** Puts the cursor behind the first `text` of the file. */
  async cursorAfter(text) {
    this.keys('M-<', 'C-s');
    this.type(text);
    this.keys('Enter', 'C-b', 'C-f'); // Emacs tells about a place after a movement, which a search is not.
    await this.until(`the cursor on ${text}`, () => this.cursorLine().includes(text));
  }

  /** Replaces the first `old` of the file by typing. */
  async retype(old, fresh) {
    await this.cursorAfter(old);
    this.keys(...[...old].map(() => 'BSpace'));
    this.type(fresh);
    await this.see(fresh);
  }

  /** Applies a code action at the cursor, as soon as it is offered. */
  async act(title) {
    await this.until(title, async () => {
      await this.command('eglot-code-actions');
      await this.see('Pick an action');
      this.type(title);
      this.keys('Enter');
      const isOffered = await this.until('an end of the question', () => {
        const screen = this.screen();
        return screen.includes('[No match]') ? 'no' : !screen.includes('Pick an action') && 'yes';
      });
      if (isOffered === 'yes') return true;
      this.keys('C-g');
      await this.lose('Pick an action');
    });
  }

  async save(pattern) {
    this.keys('C-x', 'C-s');
    await this.until(`${this.file} with ${pattern}`, () => pattern.test(this.read()));
  }

  /** Quits, and shows that the server has ended as well. */
  async quit() {
    assert.ok(processes(this.home).length >= 2, 'the editor and the server');
    this.keys('C-x', 'C-c');
    await this.ended();
  }
}

test('Emacs, the version under test', (t) => t.diagnostic(execFileSync(emacs, ['--version'], { encoding: 'utf8', env: environment }).split('\n')[0]));

test('a person writes, runs and repairs a suite in Emacs', async (t) => {
  const window = new Emacs('kindlm.yaml');
  await window.during(t.name, async () => {
    await window.see('Connected! Server `speclens\'', /^!! +notContain: \[sorry\]/m);

    // The fix of the misspelled key.
    await window.cursorAfter('notCont');
    await window.see('unknown key `notContain`');
    await window.act('rename it to `notContains`');
    await window.see(/^ +notContains: \[sorry\]/m);

    // A key, completed.
    await window.cursorAfter('contains: [hello]');
    window.keys('Enter');
    window.type('max');
    await window.see(/^!* +max$/m);
    window.keys('C-M-i');
    await window.see('maxLength:');
    window.type('20');
    await window.save(/contains: \[hello\]\n        maxLength: 20\n/);
    await window.lose(/^!! +maxLength/m);
    window.keys('C-h', '.');
    await window.see('Maximum length of the text in UTF-16 code units.');
    window.keys('C-x', '1');

    // The first run asks for trust; the failure is on the line of its assertion, and so is the result of an edit.
    await window.cursorAfter('finds the order');
    await window.act('Run `finds the order`');
    await window.see('Choose an option: Trust and run');
    assert.doesNotMatch(window.screen(), /Nothing was run/, 'the question comes alone');
    window.keys('Enter');
    await window.see('speclens: `finds the order` failed', /^!! +order_id: "54321"/m);
    await window.retype('54321', '64321');
    await window.see('order_id: "64321" ✗ got 12345');
    await window.cursorAfter('"643');
    await window.see('Expected args {"order_id":"64321"}, got {"order_id":"12345"}');

    // The value of the run, accepted at the next problem.
    await window.cursorAfter('finds the order');
    await window.command('flymake-goto-next-error');
    await window.until('the cursor on the problem', () => window.cursorLine().includes('order_id'));
    await window.act('Accept what the run found: `"12345"`');
    await window.see('order_id: "12345" ✓');
    await window.lose(/^!! +order_id/m);

    // Assertions from the run.
    await window.cursorAfter('finds the order');
    await window.act('Write assertions for `finds the order` from its recorded run');
    await window.see('trajectory:');
    await window.save(/order_id: "12345"\n      trajectory:\n/);

    // The rest of the file runs without another question. Emacs asks for hints from the line of an edit on.
    await window.act('Run file');
    await window.see('speclens: 3 of 3 passed');
    await window.retype('[hello]', '[hell]');
    await window.see('contains: [hell] ✓', 'notContains: [sorry] ✓');
    await window.save(/\[hell\]/);
    await window.quit();
  });
});

test('a person edits and runs a task of an agent in Emacs', async (t) => {
  const window = new Emacs('greeter/cli-bench.yaml');
  await window.during(t.name, async () => {
    await window.see(/^! +assert:/m);

    // An assertion type, completed.
    await window.cursorAfter('echo .*wave"');
    window.keys('Enter', 'BSpace'); // yaml-mode indents deeper
    window.type('- output_c');
    window.keys('C-M-i');
    await window.see('- output_contains:');
    window.type('the moon');
    await window.save(/- ran: "echo \.\*wave"\n      - output_contains: "?the moon"?\n/);

    await window.cursorAfter('id: wave');
    await window.act('Run `wave`');
    await window.see('Choose an option: Trust and run');
    window.keys('Enter');
    await window.see('speclens: `wave` failed', /^!! +- output_contains:/m);
    await window.retype('the moon', 'I wave');
    await window.lose(/^!! /m);
    await window.save(/I wave/);
    assert.equal(window.read(RUNS), 'run\n', 'the edit was judged, and nothing ran');

    // The script of a model is a definition.
    await window.cursorAfter('scripted/pol');
    window.keys('M-.');
    await window.see('polite.script.yaml', 'say: I greet.');
    await window.quit();
  });
});

test('Emacs without a YAML mode has one that fits', async (t) => {
  const window = new Emacs('kindlm.yaml', { yamlMode: false });
  await window.during(t.name, async () => {
    await window.see(/^!! +notContain: \[sorry\]/m);
    await window.lose('Warning');
    await window.cursorAfter('contains: [hello]');
    window.keys('Enter');
    window.type('maxLength: 20');
    await window.save(/contains: \[hello\]\n        maxLength: 20\n/);
    await window.quit();
  });
});
