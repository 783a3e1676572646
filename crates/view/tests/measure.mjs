// How long the items, a filter and an item of a large run take in Chromium: `node measure.mjs MODULES CHROMIUM ADDRESS-OF-A-RUN`.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, executablePath, run] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(modules), 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 900 } })).newPage();
page.on('pageerror', (error) => console.log('error of the page', error.message));

let begin = Date.now();
await page.goto(`${run}#/items`);
await page.waitForSelector('table.items');
console.log('items', Date.now() - begin, 'ms');
// From the choice to the new table, laid out, in the page's own time.
const filters = await page.evaluate(async () => {
  const found = [];
  for (const [label, value] of [['Outcome', 'wrong'], ['Outcome', 'right'], ['Outcome', 'split'], ['Outcome', 'none'], ['Outcome', '']]) {
    const list = [...document.querySelectorAll('label.field')].find((own) => own.textContent.startsWith(label)).querySelector('select');
    const body = document.querySelector('.filters').nextElementSibling;
    const drawn = new Promise((done) => { new MutationObserver((_, own) => { if (body.querySelector('table.items, .empty')) { own.disconnect(); done(); } }).observe(body, { childList: true }); });
    const start = performance.now();
    list.value = value;
    list.dispatchEvent(new Event('change'));
    await drawn;
    found.push([`${label} ${value || 'any'}`, document.body.offsetHeight > 0 && Math.round(performance.now() - start), document.querySelector('.listed > [role=status]').textContent]);
  }
  return found;
});
for (const [filter, ms, items] of filters) console.log(filter, ms, 'ms', items);
begin = Date.now();
await page.click('table.items a');
await page.waitForSelector('h1.question');
console.log('item', Date.now() - begin, 'ms');
await browser.close();
