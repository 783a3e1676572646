/* Addresses, theme, keyboard. */

const PAGES = [['#/', 'Overview'], ['#/items', 'Items'], ['#/compare', 'Compare'], ['#/run', 'Run']];
const main = document.getElementById('main');
let shownPath = null;
let routing = 0;

function parseHash() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  return { parts: path.split('/').filter(Boolean).map(decode), params: new URLSearchParams(search || '') };
}

function navigate(path, values, keep) {
  const place = scrollY;
  history.replaceState(null, '', `${path}${query(values)}`);
  route();
  if (keep) scrollTo(0, place);
}

function runPage(_, target) {
  const { run } = DATA;
  const says = (v) => v !== null && value(v) !== '';
  const value = (v) => {
    if (Array.isArray(v)) return v.map(value).join(', ');
    if (v === null || typeof v !== 'object') return String(v);
    return Object.entries(v).filter(([, part]) => says(part)).map(([key, part]) => `${key.replaceAll('_', ' ')}: ${value(part)}`).join('; ');
  };
  const options = Object.entries(run.options).filter(([, v]) => says(v));
  const row = (input) => h('tr', {}, h('td', { class: 'path' }, input.role), h('td', { class: 'mono path' }, input.path), h('td', { class: 'mono', css: { 'white-space': 'nowrap' } }, input.sha256));
  replace(target,
    h('h1', {}, 'How it was run'),
    h('p', { class: 'lead' }, `sqlgauge ${run.tool} with ${run.engine}, on ${many(run.examples, 'question')}.`),
    run.command.length > 0 && h('section', { 'aria-label': 'Command' }, h('div', { class: 'head' }, h('h2', {}, 'Command')), rawBlock(run.command.join(' '), 'Command line')),
    h('section', { 'aria-label': 'Options' }, h('div', { class: 'head' }, h('h2', {}, 'Options that change results')),
      options.length ? h('dl', { class: 'kv' }, options.map(([key, v]) => [h('dt', {}, key.replaceAll('_', ' ')), h('dd', { class: 'mono' }, value(v))])) : h('p', { class: 'empty' }, 'None were given.')),
    h('section', { 'aria-label': 'Inputs' }, h('div', { class: 'head' }, h('h2', {}, 'Inputs'), h('span', { class: 'soft' }, many(run.inputs.length, 'file'))),
      run.inputs.length ? scroller(h('table', {}, h('thead', {}, h('tr', {}, ['Read as', 'Path', 'SHA-256'].map((t) => h('th', { scope: 'col' }, t)))), h('tbody', {}, run.inputs.map(row)))) : h('p', { class: 'empty' }, 'The run names no inputs.')),
    h('section', { 'aria-label': 'Keys' }, h('div', { class: 'head' }, h('h2', {}, 'Keys')), h('p', {}, h('kbd', {}, '/'), ' search  ', h('kbd', {}, 'j'), ' next item  ', h('kbd', {}, 'k'), ' previous item  ', h('kbd', {}, 't'), ' theme  ', h('kbd', {}, 'Ctrl K'), ' go to')));
}

/* Where there are more runs than this one. */
const HOME = document.querySelector('meta[name="sqlgauge-home"]')?.content ?? null;

function route() {
  tip.hidden = true;
  const { parts, params } = parseHash();
  const page = parts[0] ?? '';
  const current = { '': '#/', items: '#/items', item: '#/items', compare: '#/compare', run: '#/run' }[page];
  replace(document.getElementById('nav'), HOME && h('a', { href: HOME }, 'All runs'), PAGES.filter(([href]) => href !== '#/compare' || SYSTEMS.length > 1)
    .map(([href, text]) => h('a', { href, 'aria-current': href === current ? 'page' : null }, text)));
  routing += 1;
  const own = routing;
  const isCurrent = () => own === routing;
  const showPage = { '': overview, items: itemsPage, item: itemPage, compare: comparePage, run: runPage }[page];
  const settle = () => {
    if (!isCurrent()) return;
    const title = main.querySelector('h1')?.textContent ?? '';
    document.title = `${title.slice(0, 80)} · sqlgauge`;
    if (shownPath !== null && shownPath !== parts.join('/')) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
    shownPath = parts.join('/');
  };
  if (!showPage) replace(main, h('h1', {}, 'No such page'), h('p', { class: 'empty' }, h('a', { href: '#/' }, 'Back to the overview'), '.'));
  const shown = showPage?.(page === 'item' ? parts.slice(1) : params, main, isCurrent);
  if (!(shown instanceof Promise)) { settle(); return; }
  // A page of a small run is there by the next tick; one of a large run waits for its files.
  const waiting = setTimeout(() => { if (isCurrent()) replace(main, h('p', { class: 'facts', role: 'status' }, 'Loading the items …')); }, 200);
  shown.catch((error) => { if (isCurrent()) replace(main, h('h1', {}, 'The items are not there'), h('p', { class: 'error' }, error.message)); })
    .finally(() => { clearTimeout(waiting); settle(); });
}

/* Places for Ctrl-K. An item goes by its id or a piece of its question, once letters are there. */
placesOf = (typed) => [
  ...(HOME ? [['All runs', 'page', HOME]] : []), ...PAGES.filter(([href]) => href !== '#/compare' || SYSTEMS.length > 1).map(([href, text]) => [text, 'page', href]),
  ...SYSTEMS.map((system) => [system.name, 'system', `#/items${query({ system: system.name })}`]),
  ...METRICS.map((metric) => [metric.id, 'ranking', `#/${query({ metric: metric.id })}`]),
  ...groupsOf('db_id').map((db) => [db, 'database', `#/items${query({ db })}`]),
  ...itemPlaces(typed.trim().toLowerCase()),
];
function itemPlaces(typed) {
  const found = [];
  const s = ranking(deciding).find((k) => CELLS[k]);
  if (typed === '' || s === undefined) return found;
  for (const [e, x] of EXAMPLES.entries()) {
    if (found.length >= MOST_PLACES) break;
    if (CELLS[s].s[e] >= 0 && (x.id.toLowerCase().includes(typed) || x.q?.toLowerCase().includes(typed))) found.push([`${x.id}  ${(x.q ?? '').slice(0, 80)}`, 'item', itemHref(s, e)]);
  }
  return found;
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
  if (event.key === '/') {
    event.preventDefault();
    if (!document.getElementById('search')) { location.hash = '#/items'; route(); }
    // The page is there by the next tick.
    setTimeout(() => document.getElementById('search')?.focus(), 0);
  } else if (event.key === 't') nextTheme();
  else if (['j', 'k'].includes(event.key) && parseHash().parts[0] === 'item') {
    const [, name, id] = parseHash().parts;
    const s = systemAt.get(name); const e = byId.get(id);
    if (s === undefined || e === undefined) return;
    const { previous, next } = neighbours(s, e);
    const href = event.key === 'j' ? next : previous;
    if (href) location.hash = href;
  }
});

replace(document.getElementById('foot'), `sqlgauge ${DATA.run.tool} · ${DATA.run.engine} · ${PIECES ? `the items are in the folder ${PIECES.folder} beside this file, which asks` : 'this file holds the whole report and asks'} the network for nothing`);
addEventListener('hashchange', route);
route();
})();
