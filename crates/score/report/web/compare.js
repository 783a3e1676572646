/* Two systems, item by item: which questions only one of them gets right. */

const PER_LIST = 60;

async function comparePage(params, main, isCurrent) {
  if (SYSTEMS.length < 2) {
    replace(main, h('h1', {}, 'Compare'), h('p', { class: 'empty' }, 'A comparison needs two systems; this run has one.'));
    return;
  }
  const m = metricAt.get(params.get('metric')) ?? deciding;
  const order = ranking(m);
  const a = systemAt.get(params.get('a')) ?? order[0];
  let b = systemAt.get(params.get('b')) ?? order[1];
  if (b === a) b = order.find((s) => s !== a);
  const go = (change) => navigate('#/compare', { a: SYSTEMS[a].name, b: SYSTEMS[b].name, metric: METRICS[m].id, ...change }, true);
  const names = SYSTEMS.map((s) => [s.name, s.name]);
  await needColumns([a, b]);
  const split = contest(m, a, b);
  await needItems([...split.a.slice(0, PER_LIST).map((e) => [b, e]), ...split.b.slice(0, PER_LIST).map((e) => [a, e])]);
  if (!isCurrent()) return;
  replace(main,
    h('h1', {}, `${SYSTEMS[a].name} against ${SYSTEMS[b].name}`),
    h('p', { class: 'lead' }, verdict(m, a, b, split)),
    h('div', { class: 'versus' },
      select('First system', names, SYSTEMS[a].name, (name) => go(name === SYSTEMS[b].name ? { a: name, b: SYSTEMS[a].name } : { a: name })),
      h('button', { type: 'button', 'aria-label': 'Swap the systems', onclick: () => go({ a: SYSTEMS[b].name, b: SYSTEMS[a].name }) }, '⇄'),
      select('Second system', names, SYSTEMS[b].name, (name) => go(name === SYSTEMS[a].name ? { b: name, a: SYSTEMS[b].name } : { b: name })),
      METRICS.length > 1 && select('Metric', metricOptions(), METRICS[m].id, (value) => go({ metric: value }))),
    fourWays(m, a, b, split),
    tugs(m, a, b, split, params, go),
    partingMap([...split.a.map((e) => parted(e, 0)), ...split.b.map((e) => parted(e, 1))], [SYSTEMS[a].name, SYSTEMS[b].name],
      (db, level) => `#/items${query({ db, [EXAMPLES.some((x) => x.d) ? 'difficulty' : 'hardness']: level, outcome: 'split', metric: METRICS[m].id })}`),
    h('section', { 'aria-label': 'Items that differ' }, h('div', { class: 'lists' },
      oneSide(m, a, b, split.a), oneSide(m, b, a, split.b))));
}

const parted = (e, side) => ({ row: EXAMPLES[e].db, column: EXAMPLES[e].d ?? EXAMPLES[e].h ?? NONE, side });

/* Items that both were scored on, by who did better. */
function contest(m, a, b) {
  const split = { a: [], b: [], both: 0, neither: 0, sumA: 0, sumB: 0 };
  for (const e of EXAMPLES.keys()) {
    const x = scoreAt(a, m, e); const y = scoreAt(b, m, e);
    if (x === null || y === null) continue;
    split.sumA += x; split.sumB += y;
    if (Math.abs(x - y) <= 1e-9) { if (isBinary(m) && x < 1) split.neither += 1; else split.both += 1; }
    else if (better(m, x - y)) split.a.push(e);
    else split.b.push(e);
  }
  return split;
}

function verdict(m, a, b, split) {
  const c = comparison(m, a, b);
  const mean = (s) => `${showScore(m, SYSTEMS[s].scores[m][0])}${unit(m)} (n = ${count(SYSTEMS[s].scores[m][3])})`;
  const start = [h('strong', {}, SYSTEMS[a].name), ` ${mean(a)}, `, h('strong', {}, SYSTEMS[b].name), ` ${mean(b)} by `, h('code', {}, METRICS[m].id), '. '];
  const chance = (p) => `${p < 0.05 ? 'significant' : 'not significant'} (${showP(p)}`;
  if (!c) {
    const total = split.a.length + split.b.length + split.both + split.neither;
    if (!isBinary(m) || total === 0) return start;
    const difference = (split.a.length - split.b.length) / total;
    return [...start, `The difference is ${showDifference(m, difference)} points, ${chance(mcnemar(split.a.length, split.b.length))}, exact McNemar test, as if questions were independent).`, subset(m, a, b, split)];
  }
  return [...start, `The difference is ${showDifference(m, c.difference)}${ownUnit(m) ? '' : ' points'} (95 % interval ${showDifference(m, c.low)} to ${showDifference(m, c.high)}${DATA.about}), `,
    `${chance(c.p)} by ${METRICS[m].test}`, c.pairs > 1 ? `; ${showP(c.holm)} when corrected for all ${count(c.pairs)} comparisons).` : ').', showPlain(m, c) && ` ${showPlain(m, c).replace('i', 'I')}.`, subset(m, a, b, split)];
}

/* Says so where the difference is over other items than the means. */
function subset(m, a, b, split) {
  const n = split.a.length + split.b.length + split.both + split.neither;
  if (n === 0 || sameItems(m, a, b, n)) return '';
  return ` It is over the ${many(n, 'item')} that both were scored on; there the means are ${showScore(m, split.sumA / n)}${unit(m)} and ${showScore(m, split.sumB / n)}${unit(m)}.`;
}

function sideWords(m) {
  if (isBinary(m)) return (name) => `only ${name} is right`;
  return (name) => `${name} is ${lowerIsBetter(m) ? 'lower' : 'higher'}`;
}

function fourWays(m, a, b, split) {
  const say = sideWords(m);
  const parts = [['both', split.both, isBinary(m) ? 'both right' : 'equal'], ['a', split.a.length, say(SYSTEMS[a].name)], ['b', split.b.length, say(SYSTEMS[b].name)]];
  if (isBinary(m)) parts.push(['neither', split.neither, 'neither right']);
  const total = parts.reduce((sum, part) => sum + part[1], 0);
  if (total === 0) return h('p', { class: 'empty' }, 'No item was scored for both.');
  const swatch = { both: 'sw-both', neither: 'sw-neither', a: 'sw-b2', b: 'sw-w2' };
  const shown = parts.filter((part) => part[1] > 0);
  return [
    h('div', { class: 'four', role: 'img', 'aria-label': parts.map(([, n, text]) => `${text}: ${n}`).join(', ') },
      shown.map(([key, n, text]) => h('div', { class: key, css: { flex: `${n} 0 0` }, 'data-tip': `${text}\n${count(n)} of ${count(total)} (${(n / total * 100).toFixed(1)} %)` }, n / total > 0.035 ? h('span', {}, count(n)) : ''))),
    h('ul', { class: 'legend' }, parts.map(([key, n, text]) => h('li', {}, h('span', { class: `swatch ${swatch[key]}` }), `${text}: `, h('b', {}, count(n))))),
  ];
}

function tugs(m, a, b, split, params, go) {
  const differing = [...split.a, ...split.b];
  const known = ([, , read]) => differing.filter((e) => read(EXAMPLES[e])?.length > 0).length;
  const fields = [['difficulty', 'Difficulty', (x) => x.d], ['hardness', 'Hardness', (x) => x.h], ['feature', 'SQL feature', (x) => x.f], ['db', 'Database', (x) => x.db]]
    .filter((field) => known(field) > 0);
  if (fields.length === 0) return null;
  const field = fields.find(([name]) => name === params.get('by')) ?? widest(fields, known);
  const [key, title, read] = field;
  const tally = new Map();
  const add = (e, side) => { for (const group of [read(EXAMPLES[e]) ?? []].flat()) { const own = tally.get(group) || { a: 0, b: 0 }; own[side] += 1; tally.set(group, own); } };
  split.a.forEach((e) => add(e, 'a')); split.b.forEach((e) => add(e, 'b'));
  const rows = [...tally].sort((x, y) => rankOf(x[0]) - rankOf(y[0]) || y[1].a + y[1].b - x[1].a - x[1].b);
  const top = Math.max(...rows.flatMap(([, n]) => [n.a, n.b]));
  // A number stands beside its bar.
  const width = (n) => `calc((100% - 2.5rem) * ${(n / top).toFixed(4)})`;
  return h('section', { 'aria-label': 'Differences by group' },
    h('div', { class: 'head' }, h('h2', {}, 'Where they differ'), h('span', { class: 'grow' }), fields.length > 1 && segments('Group by', fields.map(([k, text]) => [k, text]), key, (value) => go({ by: value }))),
    h('div', { class: 'tug' },
      h('span', {}), h('div', { class: 'soft sides' }, h('span', {}, `← ${SYSTEMS[b].name}`), h('span', {}, `${SYSTEMS[a].name} →`)), h('span', { class: 'num soft' }, 'net'),
      rows.map(([group, n]) => [
        h('span', { css: { 'overflow-wrap': 'anywhere' } }, group),
        h('div', { class: 'track', role: 'img', 'aria-label': `${SYSTEMS[b].name} ${n.b}, ${SYSTEMS[a].name} ${n.a}` },
          h('div', { class: 'l' }, h('span', {}, n.b), h('i', { css: { width: width(n.b) } })),
          h('div', { class: 'r', css: { display: 'flex' } }, h('i', { css: { width: width(n.a) } }), h('span', {}, n.a))),
        h('span', { class: 'num' }, n.a === n.b ? '0' : (n.a > n.b ? '+' : '−') + Math.abs(n.a - n.b))])),
    known(field) < differing.length && h('p', { class: 'note' }, `${title}: known for ${count(known(field))} of the ${many(differing.length, 'item')} that differ.`));
}

function oneSide(m, winner, loser, items) {
  const say = sideWords(m)(SYSTEMS[winner].name);
  const row = (e) => {
    const x = EXAMPLES[e];
    return h('li', {}, h('span', { class: 'soft' }, x.id),
      h('div', {}, h('a', { href: itemHref(loser, e) }, x.q ?? x.g?.[0] ?? `item ${x.id}`),
        h('span', { class: 'sub' }, [x.db, x.d ?? x.h].filter(Boolean).join(' · '),
          isBinary(m) ? '' : ` · ${showItem(scoreAt(winner, m, e))} against ${showItem(scoreAt(loser, m, e))}`),
        h('span', { class: 'sub' }, statusAt(loser, e) === 'ok' ? reason(loser, m, e) : words(statusAt(loser, e)))));
  };
  const list = h('ol', {});
  const more = h('p', { class: 'note' });
  let shown = 0;
  const grow = async () => {
    await needItems(items.slice(shown, shown + PER_LIST).map((e) => [loser, e]));
    append(list, items.slice(shown, shown + PER_LIST).map(row));
    shown = Math.min(items.length, shown + PER_LIST);
    replace(more, shown < items.length && h('button', { type: 'button', onclick: grow }, `Show more (${count(items.length - shown)})`));
  };
  grow();
  return h('div', {}, h('div', { class: 'head' }, h('h2', {}, capital(say)), h('span', { class: 'soft' }, count(items.length))),
    items.length ? list : h('p', { class: 'empty' }, 'None.'), more);
}
