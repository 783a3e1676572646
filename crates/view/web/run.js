/* What a server adds to the page of an item: labels (right, wrong, not sure), and the answers of other runs. */
(() => {
'use strict';

const run = document.querySelector('meta[name="sqlgauge-run"]')?.content;
if (!run) return;
const VERDICTS = [['right', 'Right', 'y'], ['wrong', 'Wrong', 'n'], ['unsure', 'Not sure', 'u']];
let shown = null;
let given = {};

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value); else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function draw(problem) {
  document.getElementById('labelling')?.remove();
  if (!shown) return;
  const verdict = given[shown.id];
  const buttons = VERDICTS.map(([key, text, letter]) => element('button', { type: 'button', 'aria-pressed': String(verdict === key), onclick: () => label(key) }, text, ' ', element('kbd', {}, letter)));
  const state = problem ?? (verdict ? 'Kept. The same key takes it back.' : 'Is this answer right?');
  const box = element('div', { id: 'labelling', class: 'labelling', role: 'group', 'aria-label': 'Your label' }, element('b', {}, 'Your label'), ...buttons,
    element('span', { class: problem ? 'error' : 'soft', role: 'status' }, state), element('span', { class: 'soft' }, `Your labels of ${shown.system}: ${Object.keys(given).length}`));
  document.querySelector('#main section')?.before(box);
}

async function read() {
  const answer = await fetch(`/api/labels?${new URLSearchParams({ run, system: shown.system })}`);
  given = answer.ok ? await answer.json() : {};
}

async function label(key) {
  const verdict = given[shown.id] === key ? null : key;
  const answer = await fetch('/api/label', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ run, system: shown.system, id: shown.id, verdict }) });
  if (!answer.ok) { draw((await answer.json().catch(() => ({}))).problem ?? 'The label was not kept.'); return; }
  if (verdict) given[shown.id] = verdict; else delete given[shown.id];
  draw();
}

document.addEventListener('sqlgauge-item', async (event) => {
  const isOther = shown?.system !== event.detail.system;
  shown = event.detail;
  if (isOther) await read();
  draw();
  const mine = shown;
  const rows = await fetch(`/api/history?${new URLSearchParams({ run, system: shown.system, id: shown.id })}`).then((answer) => (answer.ok ? answer.json() : [])).catch(() => []);
  if (shown === mine) drawHistory(rows);
});

/* The answers of the system to this item in the runs on the same golds, the latest first. */
function drawHistory(rows) {
  document.getElementById('history')?.remove();
  if (rows.length < 2) return;
  const metrics = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))];
  const cell = (tag, text, attributes = {}) => element(tag, attributes, text);
  const score = (value) => (value === null || value === undefined ? '–' : String(Math.round(value * 1000) / 1000));
  const line = (row, at) => {
    const link = element('a', { href: `/run/${row.run}/#/item/${encodeURIComponent(shown.system)}/${encodeURIComponent(shown.id)}` }, row.name);
    const isChanged = rows[at + 1] && rows[at + 1].text !== row.text;
    return element('tr', row.run === run ? { class: 'here' } : {}, element('th', { scope: 'row', class: 'name' }, link), cell('td', new Date(row.changed * 1000).toISOString().replace('T', ' ').slice(0, 16), { class: 'soft' }),
      cell('td', row.status.replaceAll('_', ' ')), ...metrics.map((metric) => cell('td', score(row.metrics[metric]), { class: 'num' })), cell('td', isChanged ? 'another query' : ''), cell('td', (row.prediction ?? '').slice(0, 300), { class: 'pred' }));
  };
  const titles = ['Run', 'Last written (UTC)', 'Status', ...metrics, 'Against the run before', 'Prediction'];
  const table = element('table', { class: 'items others' }, element('thead', {}, element('tr', {}, ...titles.map((text) => cell('th', text, { scope: 'col' })))), element('tbody', {}, ...rows.map(line)));
  const box = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'This item in other runs' }, table);
  document.getElementById('main').append(element('section', { id: 'history', 'aria-label': 'History' }, element('div', { class: 'head' }, element('h2', {}, 'This item run after run')), box));
}
addEventListener('hashchange', () => { if (!location.hash.startsWith('#/item/')) shown = null; });
document.addEventListener('keydown', (event) => {
  if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
  const verdict = VERDICTS.find(([, , letter]) => letter === event.key);
  if (verdict) label(verdict[0]);
});
})();
