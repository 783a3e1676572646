
/* All runs */

const picked = new Set();

function scoreCell(system, metric, best) {
  const score = system.scores[metric];
  if (!score || score[0] === null) return h('td', { class: 'num soft' }, '–');
  const interval = score[1] === null ? '' : `95 % interval ${percent(score[1])} to ${percent(score[2])}\n`;
  return h('td', { class: `num ${best ? 'best' : ''}`, 'data-tip': `${metric}\n${interval}n = ${count(score[3])}`, tabindex: '0' },
    percent(score[0]), score[1] === null ? null : h('span', { class: 'sub soft' }, `${percent(score[1])}–${percent(score[2])}`));
}

function progress(run) {
  if (run.total === undefined || run.done >= run.total) return null;
  const share = run.total ? run.done / run.total : 0;
  return h('div', { class: 'soft' }, h('span', { class: 'bar' }, h('i', { css: { width: `${share * 100}%` } })), `${count(run.done)} of ${count(run.total)}`);
}

function runRows(run, metrics, state) {
  if (run.problem) return [h('tr', {}, h('td', {}), h('td', { class: 'path' }, run.name, h('p', { class: 'error' }, run.problem)), h('td', { colspan: metrics.length + 2 }))];
  const systems = run.systems.filter((system) => !state.q || `${run.name} ${system.name} ${run.golds.map((gold) => gold[0]).join(' ')}`.toLowerCase().includes(state.q.toLowerCase()));
  return systems.map((system, at) => {
    const key = `${run.id} ${system.name}`;
    const box = STORED ? null : h('input', { type: 'checkbox', checked: picked.has(key), 'aria-label': `Compare ${system.name} of ${run.name}`,
      onchange: (event) => { if (event.target.checked) picked.add(key); else picked.delete(key); drawRuns(); } });
    return h('tr', {},
      h('td', { class: 'pick' }, box),
      h('td', { class: 'path' }, at === 0 && [h('a', { href: runHref(run.id) }, run.name), progress(run)]),
      h('td', { class: 'path' }, h('a', { href: runHref(run.id, `#/items?system=${encodeURIComponent(system.name)}`) }, system.name)),
      metrics.map((metric) => scoreCell(system, metric, isBest(run, metric, system))),
      h('td', { class: 'soft sec' }, at === 0 ? when(began(run)) : ''));
  });
}

function isBest(run, metric, system) {
  const means = run.systems.map((one) => one.scores[metric]?.[0]).filter((mean) => mean !== null && mean !== undefined);
  return means.length > 1 && system.scores[metric]?.[0] === Math.max(...means);
}

/* Runs on the same golds, by their hash, and on the same part of them; each group has its list and its trend. */
function byGold(runs) {
  const groups = new Map();
  for (const run of runs) {
    const key = run.problem ? 'problem' : JSON.stringify([run.questions, run.part, run.golds.map((gold) => gold[1])]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(run);
  }
  const isProblem = (group) => (group[0].problem ? 1 : 0);
  return [...groups.values()].sort((a, b) => isProblem(a) - isProblem(b) || Math.max(...b.map(began)) - Math.max(...a.map(began)));
}

const svg = (tag, attributes, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

/* When a run ran, as it recorded it: a folder that was copied or touched keeps its place. Of one time, the last written is the later. */
const began = (run) => (run.now ? Date.parse(run.now) / 1000 : run.changed);
const later = (a, b) => began(b) - began(a) || b.changed - a.changed;

/* The first metric over time with its intervals, for a system that more than two finished runs have. The axis says where it begins. */
function trend(group, metric) {
  const names = [...new Set(group.flatMap((run) => (run.systems ?? []).map((system) => system.name)))];
  const isOneTime = new Set(group.map(began)).size === 1;
  const series = (name) => group.map((run) => ({ run: run.name, time: isOneTime ? run.changed : began(run), score: run.systems?.find((one) => one.name === name)?.scores[metric] }))
    .filter(({ score }) => score && score[0] !== null && score[0] <= 1).sort((a, b) => a.time - b.time);
  const longest = names.map((name) => [name, series(name)]).sort((a, b) => b[1].length - a[1].length)[0];
  if (!longest || longest[1].length < 3) return null;
  const [name, points] = longest;
  const ends = points.flatMap(({ score }) => [score[1] ?? score[0], score[2] ?? score[0]]);
  const [low, high] = [Math.floor(Math.min(...ends) * 10) / 10, Math.ceil(Math.max(...ends) * 10) / 10];
  const [first, last] = [points[0].time, points.at(-1).time];
  const x = (point, at) => 56 + 554 * (last > first ? (point.time - first) / (last - first) : at / (points.length - 1));
  const y = (share) => 150 - 136 * (share - low) / (high - low || 1);
  const step = high - low > 0.5 ? 0.2 : 0.1;
  const chart = svg('svg', { class: 'trend', viewBox: '0 0 640 176', role: 'img', 'aria-label': `${metric} of ${name}: ${points.map(({ score }) => `${percent(score[0])} (${percent(score[1])} to ${percent(score[2])})`).join(', ')}` });
  for (let tick = low; tick < high + 0.001; tick += step) chart.append(svg('line', { x1: 50, y1: y(tick), x2: 616, y2: y(tick) }), svg('text', { x: 42, y: y(tick) + 4, 'text-anchor': 'end' }, `${Math.round(tick * 100)}`));
  points.forEach((point, at) => {
    const { score } = point;
    if (score[1] !== null) chart.append(svg('line', { class: 'range', x1: x(point, at), x2: x(point, at), y1: y(score[1]), y2: y(score[2]) }));
  });
  chart.append(svg('path', { d: points.map((point, at) => `${at ? 'L' : 'M'}${x(point, at)} ${y(point.score[0])}`).join('') }));
  points.forEach((point, at) => {
    const dot = svg('circle', { cx: x(point, at), cy: y(point.score[0]), r: 3.5 });
    dot.append(svg('title', {}, `${point.run}, ${when(point.time)}: ${percent(point.score[0])} (${percent(point.score[1])} to ${percent(point.score[2])})`));
    chart.append(dot);
  });
  chart.append(svg('text', { x: 50, y: 170 }, when(first)), svg('text', { x: 616, y: 170, 'text-anchor': 'end' }, when(last)));
  return h('div', {}, h('h3', { class: 'over' }, `${bare(metric)} of ${name} over time, percent with 95\u00a0% intervals`), chart);
}

const runsState = () => { const { params } = parseHash(); return { q: params.get('q') ?? '', sort: params.get('sort') ?? 'newest' }; };

/* What a file of the list has of each system of each run. */
function exportedRuns() {
  const metrics = [...new Set(RUNS.flatMap((run) => run.metrics ?? []))];
  const rows = RUNS.filter((run) => !run.problem).flatMap((run) => run.systems.map((system) => ({
    run: run.name, system: system.name, run_at: when(began(run)), questions: run.questions, golds: run.golds.map((gold) => gold[1]).join(' '),
    ...Object.fromEntries(metrics.flatMap((metric) => ['', '_low', '_high', '_n'].map((end, at) => [`${metric}${end}`, system.scores[metric]?.[at] ?? null]))) })));
  return { keys: Object.keys(rows[0] ?? {}), rows };
}

function drawRuns() {
  const state = runsState();
  const list = document.getElementById('list');
  if (!list) return;
  const order = state.sort === 'name' ? (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) : (a, b) => later(a, b) || a.name.localeCompare(b.name);
  const compare = document.getElementById('compare');
  const pair = [...picked].map((key) => [key.slice(0, 12), key.slice(13)]);
  if (compare) {
    compare.disabled = pair.length !== 2;
    compare.textContent = pair.length === 2 ? `Compare ${pair[0][1]} with ${pair[1][1]}` : 'Compare two';
    compare.onclick = () => { location.href = address('compare', { a: pair[0][0], first: pair[0][1], b: pair[1][0], second: pair[1][1] }); };
  }
  replace(list, byGold(RUNS).map((group) => {
    const metrics = [...new Set(group.flatMap((run) => run.metrics ?? []))].slice(0, 8);
    const rows = group.sort(order).flatMap((run) => runRows(run, metrics, state));
    if (rows.length === 0) return null;
    const gold = group[0].golds?.[0];
    return h('section', {},
      h('div', { class: 'head' }, h('h2', {}, group[0].problem ? 'Not readable' : gold ? gold[0].split('/').slice(-2).join('/') : 'Without golds'),
        group[0].questions !== undefined && h('span', { class: 'soft' }, group[0].part ?? many(group[0].questions, 'question')), gold && h('span', { class: 'soft', 'data-tip': `SHA-256 of the golds\n${gold[1]}`, tabindex: '0' }, `golds ${gold[1].slice(0, 8)}`), h('span', { class: 'soft' }, many(group.length, 'run'))),
      scroller(h('table', { class: 'runs' }, h('thead', {}, h('tr', {}, head(''), head('Run'), head('System'), metrics.map((metric) => head(bare(metric), 'num')), head('Run at (UTC)', 'sec'))), h('tbody', {}, rows))),
      metrics.length > 0 && trend(group, metrics[0]));
  }));
  if (!list.hasChildNodes()) replace(list, h('p', { class: 'empty' }, RUNS.length ? 'No run matches.' : 'There is no run below these folders yet; the page looks again by itself.'));
}

async function runsPage(_, isCurrent) {
  const state = runsState();
  const update = (change) => { Object.assign(state, change); keep('', { q: state.q, sort: state.sort === 'newest' ? '' : state.sort }); drawRuns(); };
  await readRuns();
  if (!isCurrent()) return;
  const { keys, rows } = exportedRuns();
  replace(main,
    h('h1', {}, 'Runs'),
    h('form', { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
      h('label', { class: 'field wide' }, 'Search ', h('input', { type: 'search', id: 'search', value: state.q, placeholder: 'folder, system, golds', autocomplete: 'off', spellcheck: 'false', oninput: (event) => update({ q: event.target.value }) })),
      select('Order', [['newest', 'newest first'], ['name', 'by name']], state.sort, (value) => update({ sort: value })),
      !STORED && h('button', { type: 'button', id: 'compare', disabled: true }, 'Compare')),
    rows.length > 0 && h('p', { class: 'facts listed' }, exportButtons('runs', keys, async function* all() { yield [exportedRuns().rows, 1]; })),
    h('div', { id: 'list' }));
  drawRuns();
}

/* A server says when runs have changed; nothing is drawn anew, and no place in a table is lost, while nothing does. */
function watchRuns() {
  new EventSource('/api/events').addEventListener('runs', async () => {
    const known = JSON.stringify(RUNS);
    const found = await readRuns().catch(() => RUNS);
    if (JSON.stringify(found) !== known) drawRuns();
  });
}
