// speclens in a real Helix, on a terminal, with the settings of editors/helix.md. node --test tests/editors/helix/helix.test.mjs

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { before, test } from 'node:test';
import { cache, folder, get, program, RUNS, workspace } from '../support.mjs';
import { processes, recipe, Terminal } from '../terminal.mjs';

const root = join(cache, 'helix');
const helix = join(root, 'usr/lib/hx/hx');

before(() => get('helix'));

/** Helix in a new workspace and home directory, with a file open. */
class Helix extends Terminal {
  constructor(file) {
    const home = folder('home');
    const bin = folder('bin'); // PATH as after an installation
    symlinkSync(program(), join(bin, 'speclens'));
    mkdirSync(join(home, 'config/helix'), { recursive: true });
    writeFileSync(join(home, 'config/helix/languages.toml'), recipe('editors/helix.md', 'toml'));
    const path = workspace();
    const env = {
      HELIX_RUNTIME: join(root, 'usr/lib/hx/runtime'),
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_STATE_HOME: join(home, 'state'),
      PATH: [bin, process.env.PATH].join(delimiter),
    };
    super([helix, file], { cwd: path, env });
    Object.assign(this, { path, file });
  }

  read(file = this.file) {
    return readFileSync(join(this.path, file), 'utf8');
  }

  /** Enters a command. */
  async enter(command) {
    this.keys(':');
    this.type(command);
    await this.see(`:${command}`);
    this.keys('Enter');
    await this.lose(`:${command}`);
  }

  /** Leaves a mode or a window. The next key must come later, or Helix would read both as one with Alt. */
  async escape() {
    this.keys('Escape');
    await this.see(/^ NOR /m);
    await this.until('the end of the window', () => !this.chosen());
  }

  /** Selects the first `text` of the file. */
  async select(text) {
    this.keys('g', 'g', '/');
    this.type(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.keys('Enter');
    await this.until(`the cursor on ${text}`, () => this.line().includes(text));
  }

  /** Puts the cursor on the last character of the first `text` of the file. */
  async cursorOn(text) {
    await this.select(text);
    this.keys(';');
  }

  /** Replaces the first `old` of the file by typing. */
  async retype(old, fresh) {
    await this.select(old);
    this.keys('c');
    this.type(fresh);
    await this.escape();
  }

  /** The line of the cursor, which the status line names. */
  line() {
    const screen = this.screen();
    const [, number] = /^ [A-Z]{3} .* (\d+):\d+ *$/m.exec(screen) ?? [];
    return new RegExp(`^.. *${number}  ?(.*)$`, 'm').exec(screen)?.[1] ?? '';
  }

  /** The row that an open list has in reverse. */
  chosen() {
    return /\x1b\[(?:0;)?7m(?:\x1b\[[\d;]*m)* ([^\x1b]{3,}?) *\x1b/.exec(this.screen(true))?.[1];
  }

  /** Chooses a row of an open list. */
  async choose(title) {
    await this.see(title);
    const first = await this.until('a list', () => this.chosen());
    for (let row = first; !row.startsWith(title); ) {
      this.keys('Down');
      row = await this.until('another row', () => (this.chosen() === row ? undefined : this.chosen()));
      if (row === first) throw new Error(`no ${title} in the list`);
    }
    this.keys('Enter');
    await this.until('the end of the list', () => !this.chosen()?.startsWith(title));
  }

  /** Applies a code action at the cursor, as soon as it is offered. */
  async act(title) {
    await this.until(title, async () => {
      this.keys('Space', 'a');
      await this.until('a list', () => this.chosen());
      if (this.screen().includes(title)) return true;
      await this.escape();
    });
    await this.choose(title);
  }

  async save(pattern) {
    await this.enter('write');
    await this.until(`${this.file} with ${pattern}`, () => pattern.test(this.read()));
  }

  /** Quits, and shows that the server has ended as well. */
  async quit() {
    assert.ok(processes(this.home).length >= 2, 'the editor and the server');
    this.keys(':');
    this.type('quit!');
    this.keys('Enter');
    await this.ended();
  }
}

test('Helix, the version under test', (t) => t.diagnostic(execFileSync(helix, ['--version'], { encoding: 'utf8' }).trim()));

test('a person writes, runs and repairs a suite in Helix', async (t) => {
  const window = new Helix('kindlm.yaml');
  await window.during(t.name, async () => {
    await window.see(/notContain: \[sorry\]  unknown key `notContain`/);
    await window.enter('set lsp.display-inlay-hints true');

    // The fix of the misspelled key.
    await window.cursorOn('notContain');
    await window.act('rename it to `notContains`');
    await window.see('notContains: [sorry]');
    await window.lose('unknown key');

    // A key, completed while typing.
    await window.cursorOn('contains: [hello]');
    window.keys('o');
    window.type('max');
    await window.see(/maxLength +field/);
    window.keys('Tab');
    await window.see(/ 12          maxLength:$/m);
    window.keys('Enter');
    window.type('20');
    await window.see(/maxLength: 20/);
    await window.escape();
    await window.save(/contains: \[hello\]\n        maxLength: 20\n/);
    window.keys('Space', 'k');
    await window.see('Maximum length of the text in UTF-16 code units.');
    await window.escape();

    // The first run asks for trust; the failure is on the line of its assertion, and so is the result of an edit.
    await window.cursorOn('finds the order');
    await window.act('Run `finds the order`');
    await window.choose('Trust and run');
    await window.see('speclens: `finds the order` failed');
    await window.see(/order_id: "54321".* Expected args \{"order_id":"54321"\}, got \{"order_id":"12345"\}/);
    await window.retype('54321', '64321');
    await window.see(/order_id: "64321".* Expected args \{"order_id":"64321"\}, got/, /order_id: "64321" ✗ got 12345/);

    // The value of the run, accepted at the next problem.
    await window.cursorOn('finds the order');
    window.keys(']', 'd');
    await window.until('the cursor on the problem', () => window.line().includes('order_id'));
    await window.act('Accept what the run found: `"12345"`');
    await window.see('order_id: "12345"');
    await window.lose('Expected args');
    window.keys('g', 'h');
    await window.see('order_id: "12345" ✓', 'contains: [delivered] ✓');

    // Assertions from the run.
    await window.cursorOn('finds the order');
    await window.act('Write assertions for `finds the order`');
    await window.see('trajectory:');
    await window.save(/order_id: "12345"\n      trajectory:\n/);

    // The rest of the file runs without another question.
    await window.act('Run file');
    await window.see('speclens: 3 of 3 passed');
    await window.quit();
  });
});

test('a person edits and runs a task of an agent in Helix', async (t) => {
  const window = new Helix('greeter/cli-bench.yaml');
  await window.during(t.name, async () => {
    // The script of a model is a definition.
    await window.see('no assertion checks whether the command succeeded');
    await window.cursorOn('polite');
    window.keys('g', 'd');
    await window.see(/greeter\/polite\.script\.yaml/, 'say: I greet.');

    // An assertion type, completed in the task file.
    await window.enter('open greeter/tasks/greet.yaml');
    window.file = 'greeter/tasks/greet.yaml';
    await window.see('output_contains: hello moon');
    await window.cursorOn('output_contains');
    window.keys('o');
    window.type('- output_c');
    await window.see(/output_contains: .* snippet$/m);
    window.keys('Tab');
    await window.see(/ 6      - output_contains:/);
    window.keys('Enter');
    window.type('hello');
    await window.escape();
    await window.save(/- output_contains: hello moon\n    - output_contains: hello\n/);

    await window.cursorOn('id: greet');
    await window.act('Run `greet`');
    await window.choose('Trust and run');
    await window.see(/output_contains: hello moon .*hello moon/);
    await window.retype('hello moon', 'hello world');
    await window.save(/hello world/);
    await window.lose(/hello world  /);
    assert.equal(window.read(RUNS), 'run\n', 'the edit was judged, and nothing ran');

    // The server ends with an editor that is killed, too.
    window.kill();
    await window.ended();
  });
});
