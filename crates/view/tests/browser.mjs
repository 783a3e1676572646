// Clicks through the dashboard in Chromium: `node browser.mjs` with what browser.rs names in BROWSER_TEST (JSON).
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const given = JSON.parse(process.env.BROWSER_TEST);
const require = createRequire(join(given.modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath: given.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'] });
mkdirSync(given.shots, { recursive: true });

// A text that became markup or script shows here, as does an error of a page.
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, bypassCSP: options.axe ?? false, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('dialog', (dialog) => { errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('console', (message) => { if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) errors.push(message.text()); });
  return { page, close: async () => { assert.deepEqual(errors, []); await context.close(); } };
}

async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`);
}

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return readFileSync(await download.path(), 'utf8');
}

const { site, good, hostileRun } = given;
const rows = (page) => page.locator('table.items tbody tr').count();
const choose = (page, label, value) => page.locator('label.field', { hasText: label }).first().locator('select').selectOption(value);

// What a site of files and a server share.
async function clickThrough(home) {
  const { page, close } = await open();
  await page.goto(home);
  await page.waitForSelector('table.runs');
  const all = await page.locator('table.runs tbody tr').count();
  await page.fill('#search', given.search ?? 'good');
  await page.waitForFunction((n) => document.querySelectorAll('table.runs tbody tr').length < n, all);
  const kept = await page.locator('table.runs tbody tr').count();
  await page.reload();
  await page.waitForSelector('table.runs');
  assert.equal(await page.locator('table.runs tbody tr').count(), kept, 'an address keeps the search');
  assert.match(await saved(page, '[aria-label="This list as CSV"]'), /^run,system,/);

  await page.click('table.runs a');
  await page.waitForSelector('h1');
  const run = page.url();
  await page.click('nav a:text("Items")');
  await page.waitForSelector('table.items');
  const before = await page.locator('.listed > [role=status]').textContent();
  await choose(page, 'Outcome', 'wrong');
  await page.waitForFunction((text) => document.querySelector('.listed > [role=status]')?.textContent !== text, before);
  const wrong = await rows(page);
  const lines = (await saved(page, '[aria-label="This list as JSONL"]')).trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.length >= wrong && lines.every((line) => 'prediction' in line && 'question' in line));
  await page.reload();
  await page.waitForSelector('table.items');
  assert.equal(await rows(page), wrong, 'an address keeps the filter');

  await page.click('table.items a');
  await page.waitForSelector('h1.question');
  const item = page.url();
  await page.keyboard.press('j');
  await page.waitForFunction((url) => location.href !== url, item);
  await page.goBack();
  await page.waitForFunction((url) => location.href === url, item);
  await page.goto(`${run.split('#')[0]}#/compare`);
  await page.waitForSelector('.four, .empty');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('all runs');
  await page.keyboard.press('Enter');
  await page.waitForSelector('table.runs');
  await close();
}

// Every page in three widths and both schemes.
async function lookAtAll(name, addresses) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [420, 1400, 2560]) {
      const { page, close } = await open({ axe: true, colorScheme, viewport: { width, height: 900 } });
      for (const [title, address] of addresses) {
        await page.goto(address);
        await page.waitForSelector('h1');
        await page.waitForTimeout(250);
        await page.screenshot({ path: join(given.shots, `${name}-${title}-${width}-${colorScheme}.png`) });
        assert.deepEqual(await serious(page), [], `${name} ${title} ${width} ${colorScheme}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 1, `${name} ${title} at ${width} is ${over} pixels too wide`);
      }
      await close();
    }
  }
}

// Every item of the run whose texts are hostile, one after the other: none may do anything.
async function hostile(address) {
  const { page, close } = await open();
  await page.goto(`${address}#/items`);
  await page.waitForSelector('table.items a');
  await page.click('table.items a');
  for (let at = 1; at <= given.hostile; at += 1) {
    await page.waitForFunction((n) => document.querySelector('.crumbs')?.textContent.includes(`${n} of `), at);
    assert.equal(await page.evaluate(() => document.querySelectorAll('main script, main iframe, main img, main object, main embed').length + Number(window.hit ?? 0)), 0, `hostile text ${at}`);
    await page.keyboard.press('j');
  }
  await close();
}

// One estimate of another form is listed with its reason; the page of a hostile one is written anew, and its texts are texts.
async function estimates(list, first = list) {
  const { page, close } = await open();
  await page.goto(first);
  await page.goto(list);
  await page.waitForSelector('svg.trend');
  assert.ok(await page.evaluate(() => {
    const chart = document.querySelector('svg.trend');
    const table = chart.closest('section').querySelector('table');
    return !table || Boolean(chart.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING);
  }), 'the chart stands above its tables');
  const sections = await page.locator('#main section').count();
  assert.equal(sections, 3, 'every estimate is there');
  const errors = await page.locator('#main .error').allTextContents();
  assert.equal(errors.length, 2, errors.join());
  assert.ok(errors.every((text) => /json.*, line \d/.test(text)), errors.join());
  await page.click('a:text("Whole report")');
  await page.waitForSelector('.gauge');
  assert.equal(await page.locator('script, iframe, img, object, embed, #taken-over').count(), 0);
  assert.equal(await page.evaluate(() => Number(window.hit ?? 0)), 0);
  assert.ok(await page.locator('details.entry').count() > 0);
  await page.screenshot({ path: join(given.shots, `estimate-${new URL(list).protocol.replace(':', '')}.png`) });
  await close();
}

async function serverOnly({ address }) {
  const base = new URL(address).origin;
  const { page, close } = await open();
  await page.goto(address);
  await page.waitForSelector('table.runs');
  await page.locator('input[type=checkbox]').nth(0).check();
  await page.locator('input[type=checkbox]').nth(1).check();
  await page.click('#compare');
  await page.waitForSelector('details.cause, .empty');
  assert.match(await page.locator('form.filters').textContent(), /Difficulty/);
  const details = page.locator('details.compared summary').first();
  if (await details.count()) {
    const group = page.locator('details.cause').first();
    if (!(await group.evaluate((own) => own.open))) await group.locator('summary').first().click();
    await details.click();
    await page.waitForSelector('.compared pre.sql');
  }
  await page.goBack();
  await page.waitForSelector('table.runs');

  await page.goto(`${base}/run/${good}/#/item/careful/bike-01`);
  await page.waitForSelector('#labelling');
  const pressed = () => page.locator('#labelling [aria-pressed=true]').count();
  await page.keyboard.press('y');
  await page.waitForSelector('#labelling [aria-pressed=true]');
  await page.reload();
  await page.waitForSelector('#labelling [aria-pressed=true]');
  await page.waitForSelector('#history', { timeout: 5000 });
  await page.goto(`${base}/#/labels`);
  await page.waitForSelector('table');
  await page.goto(`${base}/run/${good}/#/item/careful/bike-01`);
  await page.waitForSelector('#labelling [aria-pressed=true]');
  await page.keyboard.press('y');
  await page.waitForFunction(() => !document.querySelector('#labelling [aria-pressed=true]'));
  assert.equal(await pressed(), 0, 'the same key takes a label back');

  await plannedLabels(page, base);
  await earlierAnswers(page, base);

  await page.goto(`${base}/#/audits`);
  await page.click('td a, th a');
  await page.waitForSelector('.finding');
  const open1 = await page.locator('.finding').count();
  assert.equal(await page.locator('#main p.error', { hasText: 'odd on damaged cannot be shown' }).count(), 1, 'a bad finding hides no other');
  await page.locator('.finding button:text("Reject")').first().click();
  await page.waitForSelector('.finding .error:not(:empty)');
  await page.locator('.finding input').first().fill('either is right');
  await page.locator('.finding button:text("Reject")').first().click();
  await page.waitForFunction((n) => document.querySelectorAll('.finding').length < n, open1);

  // browser.rs writes the missing lines of this run when it hears this.
  await page.goto(`${base}/`);
  await page.waitForSelector('.bar');
  console.log('live');
  await page.waitForFunction(() => !document.querySelector('.bar'), undefined, { timeout: 20_000 });
  await close();
}

// A plan of labels: keys give verdicts, and the last one can be given again.
async function plannedLabels(page, base) {
  const title = () => page.locator('article.finding h2').textContent();
  await page.goto(`${base}/#/labels`);
  await page.click('section[aria-label="Plans"] a');
  await page.waitForSelector('article.finding table.result');
  assert.doesNotMatch(await page.locator('article.finding').textContent(), /careful|baseline/, 'whose answer it is stays hidden');
  const first = await title();
  await page.screenshot({ path: join(given.shots, 'plan.png'), fullPage: true });
  await page.keyboard.press('1');
  await page.waitForFunction((before) => document.querySelector('article.finding h2').textContent !== before, first);
  await page.click('button:text("Back to")');
  await page.waitForFunction((before) => document.querySelector('article.finding h2').textContent === before, first);
  await page.click('button:text("Neither")');
  await page.waitForFunction((before) => document.querySelector('article.finding h2').textContent !== before, first);
  assert.match(await page.locator('p.lead').textContent(), /after 1 label/);
}

// A label of an answer that is scored anew, and a file of labels that cannot be read.
async function earlierAnswers(page, base) {
  const { id, log } = given.again;
  const state = (text) => page.waitForFunction((part) => document.querySelector('#labelling [role=status]')?.textContent.includes(part), text);
  const shot = (name) => page.screenshot({ path: join(given.shots, `labels-${name}.png`) });
  const answer = (sql) => writeFileSync(log, readFileSync(log, 'utf8').split('\n').map((line) => {
    const item = line ? JSON.parse(line) : null;
    return item?.system === 'careful' && item.id === 'bike-01' ? JSON.stringify({ ...item, details: { ...item.details, prediction: sql } }) : line;
  }).join('\n'));
  await page.goto(`${base}/run/${id}/#/item/careful/bike-01`);
  await state('Is this answer right?');
  await page.keyboard.press('y');
  await state('Kept.');
  answer('SELECT 42');
  await page.reload();
  await state('is of an earlier answer');
  await page.waitForFunction(() => document.querySelector('#labelling').textContent.includes('Your labels of careful: 0'));
  assert.equal(await page.locator('#labelling [aria-pressed=true]').count(), 0);
  await shot('earlier');
  answer('SELECT 4242');
  await page.keyboard.press('y');
  await state('had changed');
  assert.match(await page.locator('#main').textContent(), /4242/, 'the page shows the new answer');
  await shot('changed');
  await page.keyboard.press('y');
  await state('Kept.');
  appendFileSync(join(given.labels, id, 'careful.jsonl'), 'not a label\n');
  await page.keyboard.press('n');
  await state('careful.jsonl, line 2');
  await page.reload();
  await state('careful.jsonl, line 2');
  await shot('unreadable');
  await page.goto(`${base}/#/labels`);
  await page.waitForSelector('#main .error');
  await shot('page');
}

function serveFiles(folder) {
  const types = { '.html': 'text/html', '.js': 'text/javascript' };
  const server = createServer((request, answer) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)).replace(/^(\.\.[/\\])+/, '');
    try {
      const bytes = readFileSync(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      answer.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/html' }).end(bytes);
    } catch { answer.writeHead(404).end(); }
  });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server)); });
}

const runPages = (run) => [['run', run], ['items', `${run}#/items`], ['item', `${run}#/item/careful/bike-01`], ['versus', `${run}#/compare`], ['how', `${run}#/run`]];
const file = (path) => pathToFileURL(join(site, path)).href;
try {
  await clickThrough(file('index.html'));
  const files = await serveFiles(site);
  const static_ = `http://127.0.0.1:${files.address().port}`;
  await clickThrough(`${static_}/index.html`);
  if (hostileRun) await estimates(`${file('index.html')}#/estimates`);
  if (hostileRun) await hostile(file(`run/${hostileRun}/index.html`));
  await lookAtAll('site', [['runs', file('index.html')], ['estimates', `${file('index.html')}#/estimates`], ...runPages(file(`run/${good}/index.html`))]);
  files.close();
  if (given.server) {
    const base = new URL(given.server.address).origin;
    await lookAtAll('server', [['runs', given.server.address], ...['labels', 'audits', 'estimates'].map((name) => [name, `${base}/#/${name}`]),
      ['compare', `${base}/#/compare?${new URLSearchParams({ a: good, first: 'careful', b: good, second: 'baseline' })}`], ...runPages(`${base}/run/${good}/`)]);
    await serverOnly(given.server);
    await estimates(`${base}/#/estimates`, given.server.address);
  }
  console.log('passed');
} finally {
  await browser.close();
}
