
/* The pages that are not a run's: what they ask for, and where they stand. Every address stands behind the hash, so that it is the same on a server and from disk. */

const main = document.getElementById('main');
/* What a page that was opened from disk has in it; a server is asked. */
const STORED = JSON.parse(document.getElementById('data').textContent);
const HOME = STORED ? 'index.html' : '/';
const runHref = (id, rest) => (STORED ? `run/${id}/index.html${rest ?? ''}` : `/run/${id}/${rest ?? ''}`);
const itemHref = (id, system, item) => runHref(id, `#/item/${encodeURIComponent(system)}/${encodeURIComponent(item)}`);
const percent = (x) => (x === null || x === undefined ? NONE : x > 1 ? fixed(x, 2) : fixed(x * 100, 1));
/* A difference of shares in points. */
const points = (share) => (share === null || share === undefined ? NONE : signed(share * 100, 1));
const when = (seconds) => new Date(seconds * 1000).toISOString().replace('T', ' ').slice(0, 16);

async function ask(path, values) {
  const answer = await fetch(values ? `${path}?${new URLSearchParams(values)}` : path);
  const text = await answer.text();
  let said;
  try { said = JSON.parse(text); } catch { throw new Error(text); }
  if (!answer.ok) throw new Error(said.problem ?? text);
  return said;
}

async function tell(path, body) {
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).problem ?? 'This was not kept.');
}

/* What keys do on this page. */
let pageKeys = {};

/* The list of runs, and of audits and estimates. */
let RUNS = [];
const readRuns = async () => { RUNS = STORED ? STORED.runs : await ask('/api/runs'); return RUNS; };
const readRecords = async () => (STORED ? STORED.records : ask('/api/records'));

function parseHash() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  return { parts: path.split('/').filter(Boolean).map(decode), params: new URLSearchParams(search || '') };
}
const address = (path, values = {}) => {
  const kept = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return `#/${path}${kept.length ? `?${new URLSearchParams(kept)}` : ''}`;
};
/* Keeps what a page shows in its address, without a step for the back button. */
const keep = (path, values) => history.replaceState(null, '', address(path, values));
const head = (text, className) => h('th', { scope: 'col', class: className }, text);
const columns = (...texts) => h('thead', {}, h('tr', {}, texts.map(([text, className]) => head(text, className))));
