/* What a server adds to the page of an item: labels (right, wrong, not sure), and the answers of other runs. */
(() => {
'use strict';

const run = document.querySelector('meta[name="sqlgauge-run"]')?.content;
if (!run) return;
const VERDICTS = [['right', 'Right', 'y'], ['wrong', 'Wrong', 'n'], ['unsure', 'Not sure', 'u']];
/* A sentence that is shown once the page is loaded again. */
const LATER = 'sqlgauge-label';
let shown = null;
let given = {};
let unread = null;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value); else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function draw(problem = unread) {
  document.getElementById('labelling')?.remove();
  if (!shown) return;
  const own = given[shown.id];
  const verdict = own?.current ? own.verdict : null;
  const buttons = VERDICTS.map(([key, text, letter]) => element('button', { type: 'button', 'aria-pressed': String(verdict === key), onclick: () => label(key) }, text, ' ', element('kbd', {}, letter)));
  const earlier = own && !own.current && `Your label “${VERDICTS.find(([key]) => key === own.verdict)[1]}” is of an earlier answer and does not count. Is this one right?`;
  const state = problem || earlier || (verdict ? 'Kept. The same key takes it back.' : 'Is this answer right?');
  const current = Object.values(given).filter((one) => one.current).length;
  const box = element('div', { id: 'labelling', class: 'labelling', role: 'group', 'aria-label': 'Your label' }, element('b', {}, 'Your label'), ...buttons,
    element('span', { class: problem ? 'error' : 'soft', role: 'status' }, state), element('span', { class: 'soft' }, `Your labels of ${shown.system}: ${current}`));
  document.querySelector('#main section')?.before(box);
}

const problemOf = async (answer) => (await answer.json().catch(() => ({}))).problem ?? 'The label was not kept.';

async function read() {
  const answer = await fetch(`/api/labels?${new URLSearchParams({ run, system: shown.system })}`);
  given = answer.ok ? await answer.json() : {};
  unread = answer.ok ? null : await problemOf(answer);
}

const sha256 = async (text) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function label(key) {
  const own = shown;
  const known = given[own.id];
  const verdict = known?.current && known.verdict === key ? null : key;
  const answer = await fetch('/api/label', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ run, system: own.system, id: own.id, verdict, shown: await sha256(own.sql) }) });
  if (answer.status === 409) {
    sessionStorage.setItem(LATER, 'The answer had changed since the page was loaded. Your label was not kept: this is the new answer.');
    location.reload();
    return;
  }
  if (!answer.ok) { const problem = await problemOf(answer); if (shown === own) draw(problem); return; }
  if (shown?.system !== own.system) return;
  if (verdict) given[own.id] = { verdict, current: true }; else delete given[own.id];
  unread = null;
  draw();
}

document.addEventListener('sqlgauge-item', async (event) => {
  const isOther = shown?.system !== event.detail.system;
  shown = event.detail;
  if (isOther) await read();
  const later = sessionStorage.getItem(LATER);
  sessionStorage.removeItem(LATER);
  draw(later ?? unread);
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
    return element('tr', row.run === run ? { class: 'here' } : {}, element('th', { scope: 'row', class: 'name' }, link), cell('td', new Date(row.now ?? row.changed * 1000).toISOString().replace('T', ' ').slice(0, 16), { class: 'soft' }),
      cell('td', row.status.replaceAll('_', ' ')), ...metrics.map((metric) => cell('td', score(row.metrics[metric]), { class: 'num' })), cell('td', isChanged ? 'another query' : ''), cell('td', (row.prediction ?? '').slice(0, 300), { class: 'pred' }));
  };
  const titles = ['Run', 'Run at (UTC)', 'Status', ...metrics, 'Against the run before', 'Prediction'];
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
