// The page of `run --report html`, of `diff --format html` and of `view` in Chromium: it loads nothing, works without scripts,
// has no barrier that axe-core finds, and opens with many attempts.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { folder, get, program, repository } from './support.mjs';

get('node');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SCHEMES = ['light', 'dark'];
const WIDTHS = [400, 1600];

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
});
after(() => browser?.close());

function speclens(directory, ...options) {
  const done = spawnSync(program(), options, { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.ok([0, 1, 3].includes(done.status), done.stderr);
  return done.stdout;
}

/** A copy of the examples, and of specs that fail. */
function examples() {
  const directory = folder('page');
  for (const path of ['schema/examples', 'tests/specs/failing']) {
    const isOurs = (file) => !['.speclens', 'memory', 'reports'].includes(basename(file));
    cpSync(join(repository, path), join(directory, basename(path)), { recursive: true, filter: isOurs });
  }
  return directory;
}

/** A suite that two scripted models attempt. */
function models(tasks, repeat) {
  const directory = folder('page');
  const task = (number) => `  - {id: task-${number}, intent: Print a number, max_turns: 6, assert: [{output_contains: '${number % 3 ? 12 : 13}'}]}\n`;
  const list = Array.from({ length: tasks }, (_, number) => task(number)).join('');
  writeFileSync(join(directory, 'cli-bench.yaml'), `cli: sh\nproviders: [scripted/a, scripted/b]\nrepeat: ${repeat}\ntasks:\n${list}`);
  const script = (number) =>
    `default: [{say: I look first., run: seq 1 2000}, {run: 'seq 1 100 > n; cat n'}, {run: echo ${number}}, {say: Done.}]\nusage: {input_tokens: 100, output_tokens: 10, cost_usd: 0.002}\n`;
  writeFileSync(join(directory, 'a.script.yaml'), script(12));
  writeFileSync(join(directory, 'b.script.yaml'), script(13));
  return directory;
}

/** Writes the page of a run, and returns its file. */
function report(directory, ...options) {
  const file = join(directory, 'report.html');
  speclens(directory, 'run', '--report', `html=${file}`, ...options);
  return file;
}

/** Opens a page, and returns it with the errors and requests that it has caused. */
async function open(file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  const seen = { errors: [], requests: [] };
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('request', (request) => seen.requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return { page, seen };
}

/** Opens every part, and checks the page with axe-core. */
async function hasNoBarrier(file) {
  for (const colorScheme of SCHEMES) {
    for (const width of WIDTHS) {
      const { page, seen } = await open(file, { colorScheme, viewport: { width, height: 1000 }, bypassCSP: true });
      const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      assert.equal(await isWide(), false, `closed, ${width} pixels`);
      await page.evaluate(() => document.querySelectorAll('details').forEach((part) => (part.open = true)));
      assert.equal(await isWide(), false, `open, ${width} pixels`);
      // Text that is not drawn has no contrast to check.
      await page.addStyleTag({ content: '* { content-visibility: visible !important }' });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join('\n  ')}`);
      assert.deepEqual(found, [], `${colorScheme}, ${width} pixels`);
      assert.deepEqual([seen.errors, seen.requests.length], [[], 1]);
      await page.close();
    }
  }
}

describe('the page of a run', () => {
  let file;
  before(() => {
    file = report(examples());
  });

  test('has no barrier, whatever the width and the colors', () => hasNoBarrier(file));

  test('loads nothing, and has no script', async () => {
    const { page, seen } = await open(file);
    assert.deepEqual(seen, { errors: [], requests: [pathToFileURL(file).href] });
    assert.equal(await page.locator('script, img, link, iframe, [style], [onclick]').count(), 0);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.suite')).borderRadius), '10px', 'the policy permits the style');
    await page.close();
  });

  test('filters and follows links without scripts', async () => {
    const { page } = await open(file, { javaScriptEnabled: false });
    const passed = page.locator('.test.is-pass').first();
    assert.equal(await passed.isVisible(), true);
    await page.getByLabel('passed').first().uncheck();
    assert.equal(await passed.isVisible(), false);
    assert.equal(await page.locator('.test.is-fail').first().isVisible(), true);
    await page.getByLabel('passed').first().check();
    const cell = page.locator('td.is-pass a').first();
    const attempt = page.locator(await cell.getAttribute('href'));
    assert.equal(await attempt.isVisible(), false);
    await cell.click();
    assert.equal(await attempt.isVisible(), true, 'a link opens the attempt');
    await page.close();
  });

  test('works with the keyboard', async () => {
    const { page } = await open(file);
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the results');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'results');
    const summary = page.locator('.test.is-pass > summary').first();
    await summary.focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.test.is-pass').first().getAttribute('open'), '');
    await page.close();
  });

  test('shows verdicts at the lines of the spec', async () => {
    const { page } = await open(file);
    const line = page.locator('.test', { has: page.getByRole('heading', { name: 'looks-up-the-right-order' }) }).locator('li[value="15"]');
    assert.match(await line.textContent(), /order_id: "12345"[^]*failed[^]*Tool "lookup_order" args match[^]*expected[^]*12345[^]*actual[^]*1234/);
    await page.close();
  });

  test('prints the parts of tests', async () => {
    const { page } = await open(file);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('.filter').isVisible(), false);
    assert.ok((await page.pdf({ format: 'A4' })).length > 10_000);
    await page.close();
  });
});

test('hostile output is text', async () => {
  const directory = folder('page');
  const hostile = `</pre></details><script>document.title = "taken"</script><img src=x onerror="document.title = 'taken'">" onfocus="x" autofocus '><style>*{display:none}</style>\u202e\u001b[31mred`;
  writeFileSync(join(directory, 'hostile.txt'), hostile);
  const name = JSON.stringify(hostile.replaceAll(/[\u202e\u001b]/g, ''));
  writeFileSync(join(directory, 'kindlm.yaml'), `kindlm: 1\nproject: p\nsuite: {name: ${name}}\ntests:\n  - name: ${name}\n    command: cat hostile.txt\n    expect: {output: {contains: [${name}, '</li><script>']}}\n`);
  const { page, seen } = await open(report(directory));
  assert.match(await page.title(), /^failed: <\/pre>/);
  assert.equal(await page.locator('script, img, [onerror], [onfocus], [autofocus]').count(), 0);
  assert.equal(await page.locator('style').count(), 1);
  assert.deepEqual([seen.errors, seen.requests.length], [[], 1]);
  const text = await page.evaluate(() => document.documentElement.textContent);
  assert.ok(text.includes('<script>document.title') && !/[\u202e\u001b]/.test(text));
  await page.close();
});

test('two models side by side have no barrier', async () => {
  const directory = models(4, 2);
  report(directory);
  const file = join(directory, 'diff.html');
  writeFileSync(file, speclens(directory, 'diff', '--model', 'scripted/a', '--model', 'scripted/b', '--format', 'html'));
  await hasNoBarrier(file);
  const { page } = await open(file);
  const row = page.getByRole('row', { name: /output contains "12"/ }).first();
  assert.match(await row.innerText(), /2 of 2\s+0 of 2\s+≠ differs/);
  await page.close();
});

describe('speclens view', () => {
  let directory, view, address;
  before(async () => {
    directory = folder('view');
    writeFileSync(join(directory, 'kindlm.yaml'), spec('sorry'));
    speclens(directory, 'run');
    view = spawn(program(), ['view'], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
    address = String((await once(view.stdout, 'data'))[0]).trim();
  });
  after(() => view?.kill());

  const spec = (expected) => `kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: greets\n    command: echo hello\n    expect: {output: {contains: [${expected}]}}\n`;
  const status = (url, options) => new Promise((done, failed) => request(url, options, (answer) => done(answer.resume().statusCode)).on('error', failed).end());

  test('answers only its own address and host', async () => {
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    const { origin, port } = new URL(address);
    assert.equal(await status(address), 200);
    for (const url of [origin, `${origin}/00000000000000000000000000000000/`, `${address}x`, `${address}../`]) assert.equal(await status(url), 404, url);
    for (const host of ['example.com', `example.com:${port}`, '127.0.0.1']) assert.equal(await status(address, { headers: { host } }), 404, host);
    assert.equal(await status(address, { method: 'POST' }), 404);
  });

  test('an edited assertion is judged again in the page', async () => {
    const page = await browser.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(address);
    const part = page.locator('.test');
    await part.and(page.locator('.is-fail')).waitFor();
    writeFileSync(join(directory, 'kindlm.yaml'), spec('hello'));
    await part.and(page.locator('.is-pass')).waitFor();
    assert.equal(await part.getAttribute('open'), '', 'what was open stays open');
    writeFileSync(join(directory, 'kindlm.yaml'), spec('hello').replace('echo hello', 'echo hello there'));
    await part.and(page.locator('.is-unknown')).waitFor();
    speclens(directory, 'run');
    await part.and(page.locator('.is-pass')).waitFor();
    assert.deepEqual(errors, []);
    await page.evaluate(axe);
    assert.deepEqual((await page.evaluate(() => axe.run())).violations, []);
    view.stdin.end();
    await page.getByText('speclens view has ended').waitFor();
    assert.equal(view.exitCode, 0);
    await page.close();
  });
});

test('a thousand attempts take little more than ten times as long as a hundred', async (t) => {
  const opened = async (file) => {
    const times = [];
    for (let round = 0; round < 5; round += 1) {
      const { page } = await open(file);
      times.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))));
      await page.close();
    }
    return times.sort((a, b) => a - b)[2];
  };
  const [few, many] = [report(models(5, 10)), report(models(50, 10))];
  const [quick, slow] = [await opened(few), await opened(many)];
  t.diagnostic(`100 attempts: ${statSync(few).size} bytes, ${Math.round(quick)} ms; 1,000 attempts: ${statSync(many).size} bytes, ${Math.round(slow)} ms`);
  assert.ok(statSync(many).size < 12e6);
  assert.ok(slow < 12 * quick, `${slow} ms, ${quick} ms`);
});
