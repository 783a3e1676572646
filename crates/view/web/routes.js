
/* Addresses, theme, keyboard. */

const PAGES = [['', 'Runs', runsPage], ['compare', 'Compare', comparePage], ['labels', 'Labels', labelsPage], ['audits', 'Audits', auditsPage], ['estimates', 'Estimates', estimatesPage]];
const SHOWN = STORED ? PAGES.filter(([path]) => ['', 'estimates'].includes(path)) : PAGES;
let routing = 0;

function show(error) { replace(main, h('h1', {}, 'This did not work'), h('p', { class: 'error' }, error.message)); }

async function route() {
  tip.hidden = true;
  routing += 1;
  pageKeys = {};
  const own = routing;
  const isCurrent = () => own === routing;
  const { parts, params } = parseHash();
  const path = parts[0] ?? '';
  const page = SHOWN.find(([name]) => name === path)?.[2];
  replace(document.getElementById('nav'), SHOWN.map(([name, text]) => h('a', { href: address(name), 'aria-current': name === path ? 'page' : null }, text)));
  if (page) await page({ parts, params }, isCurrent).catch((error) => { if (isCurrent()) show(error); });
  else replace(main, h('h1', {}, 'No such page'), h('p', { class: 'empty' }, h('a', { href: '#/' }, 'All runs'), '.'));
  if (isCurrent()) document.title = `${(main.querySelector('h1')?.textContent ?? '').slice(0, 80)} · sqlgauge`;
}

placesOf = () => [
  ...SHOWN.map(([path, text]) => [text, 'page', address(path)]),
  ...RUNS.filter((run) => !run.problem).flatMap((run) => [[run.name, 'run', runHref(run.id)], ...run.systems.map((system) => [`${system.name} in ${run.name}`, 'system', runHref(run.id, `#/items?system=${encodeURIComponent(system.name)}`)])]),
];

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
  if (event.key === '/') { event.preventDefault(); document.getElementById('search')?.focus(); } else if (event.key === 't') nextTheme(); else pageKeys[event.key]?.();
});
document.getElementById('theme').setAttribute('title', 'Theme (t)');
replace(document.getElementById('foot'), STORED ? 'Read from run folders when this site was written; the pages ask the network for nothing.' : 'Read from the run folders on this machine; the pages ask nobody else.');
addEventListener('hashchange', route);
if (!STORED) watchRuns();
if (RUNS.length === 0) readRuns().catch(() => []);
route();
})();
