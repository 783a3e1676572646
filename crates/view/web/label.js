/* Labels on the page of an item: right, wrong, not sure. Where a server shows the run. */
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
    element('span', { class: problem ? 'error' : 'soft', role: 'status' }, state), element('span', { class: 'soft' }, `${Object.keys(given).length} of ${shown.system}`));
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
});
addEventListener('hashchange', () => { if (!location.hash.startsWith('#/item/')) shown = null; });
document.addEventListener('keydown', (event) => {
  if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
  const verdict = VERDICTS.find(([, , letter]) => letter === event.key);
  if (verdict) label(verdict[0]);
});
})();
