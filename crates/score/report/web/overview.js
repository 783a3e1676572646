/* The first page: who leads, by how much, where, and what the numbers are means of. */

const SHOWN_SYSTEMS = 10;
const MAX_PANELS = 6;
const SHOWN_CAUSES = 8;
/* Of what is right, of what is lost for good, and of what is lost by unlikely rows. */
const PART_COLOURS = [0, 1, 4];

function overview(params, main) {
  const m = metricAt.get(params.get('metric')) ?? deciding;
  if (SYSTEMS.length === 0 || METRICS.length === 0) {
    replace(main, h('h1', {}, 'Evaluation report'), h('p', { class: 'empty' }, 'The run has no scored system yet.'));
    return;
  }
  const order = ranking(m);
  unexplained = DATA.words;
  const go = (value) => navigate('#/', { ...Object.fromEntries(params), metric: value });
  replace(main,
    h('h1', {}, 'Evaluation report'),
    h('p', { class: 'facts' }, facts()),
    h('p', { class: 'lead' }, DATA.preface && `${DATA.preface} `, lead(m, order)),
    (DATA.warnings || []).map((text) => h('p', { class: 'warning', role: 'note' }, h('b', {}, 'Warning  '), text)),
    gatesSection(),
    leaderboard(m, order, go),
    causesSection(order),
    systemTables(order),
    pairwise(m, order),
    breakdown(m, order, params),
    outcomes(order));
}

function facts() {
  const databases = PIECES ? groupsOf('db_id').length : new Set(EXAMPLES.map((example) => example.db)).size;
  return [many(SYSTEMS.length, 'system'), many(DATA.run.examples, 'question'), many(databases, 'database'), many(METRICS.length, 'metric')].join('  ·  ');
}

function lead(m, order) {
  const [first, second] = order;
  const score = SYSTEMS[first].scores[m];
  if (score[0] === null) return `${METRICS[m].id} applies to no item of this run.`;
  if (DATA.run.inputs.some((input) => input.role === 'pairs')) return `${count(Math.round(score[0] * score[3]))} of ${many(score[3], 'pair')} ${score[3] === 1 ? 'is' : 'are'} not refuted; the table of verdicts says how many are proved equal.`;
  const shown = (s) => `${showScore(m, s[0])}${unit(m)}`;
  const range = ` (${score[1] === null ? '' : `95 % interval ${showInterval(m, score)}${DATA.about}, `}n = ${count(score[3])})`;
  if (SYSTEMS.length === 1) return [h('strong', {}, SYSTEMS[first].name), ` reaches ${shown(score)} on `, h('code', {}, METRICS[m].id), `${range}.`];
  const start = [h('strong', {}, SYSTEMS[first].name), ` has the ${lowerIsBetter(m) ? 'lowest' : 'highest'} `, h('code', {}, METRICS[m].id), `: ${shown(score)}${range}.`];
  const pair = second === undefined ? null : comparison(m, first, second);
  if (!pair) return start;
  const tied = order.slice(1).filter((s) => { const c = comparison(m, first, s); return c && c.holm >= 0.05; });
  const next = [' The next is ', h('strong', {}, SYSTEMS[second].name), ` with ${shown(SYSTEMS[second].scores[m])} (n = ${count(SYSTEMS[second].scores[m][3])}); the gap of ${showDifference(m, Math.abs(pair.difference)).replace('+', '')}${ownUnit(m) ? '' : ' points'}${sameItems(m, first, second, pair.n) ? '' : ` on the ${count(pair.n)} questions in common`} is `];
  const corrected = `${showP(pair.holm)}${pair.pairs > 1 ? `, corrected for ${count(pair.pairs)} pairs` : ''}`;
  const verdict = `${pair.holm < 0.05 ? '' : 'not '}significant (${corrected}).`;
  const rest = tied.length > 1 ? ` In all, ${count(tied.length)} systems are not significantly worse than the leader.` : '';
  return [...start, ...next, verdict, rest];
}

function gatesSection() {
  if (DATA.gates.length === 0) return null;
  const row = (gate) => h('tr', {},
      h('td', { class: gate.passed ? 'pass' : 'fail' }, gate.passed ? '✓ passed' : '✗ failed'),
      h('td', { class: 'name' }, gate.system),
      h('td', {}, `${gate.metric} ≥ ${gate.wanted}`),
      h('td', { class: 'num' }, gate.is ?? NONE, h('span', { class: 'sub n' }, `n ${count(gate.n)}`)));
  return h('section', { 'aria-label': 'Gates' }, h('div', { class: 'head' }, h('h2', {}, 'Gates')),
    scroller(h('table', {},
      h('thead', {}, h('tr', {}, ['Result', 'System', 'Wanted'].map((t) => h('th', { scope: 'col' }, t)), h('th', { class: 'num', scope: 'col' }, 'Is'))),
      h('tbody', {}, DATA.gates.map(row)))));
}

/* Pairs that somebody put together are not a sample: their shares have no interval. */
const hasIntervals = SYSTEMS.some((system) => system.scores.some((score) => score[1] !== null));

/* A mean, its interval, and the number of items that it is the mean of. */
function meanWithRange(m, score) {
  return [showScore(m, score[0]),
    score[1] !== null && h('span', { class: 'sub' }, `${showScore(m, score[1])}–${showScore(m, score[2])}`),
    h('span', { class: 'sub n' }, `n ${count(score[3])}`)];
}

function leaderboard(m, order, go) {
  const s = metricScale(m, SYSTEMS.map((system) => system.scores[m]));
  const others = [...METRICS.keys()].filter((k) => k !== m);
  const tied = (system) => system === order[0] || (comparison(m, order[0], system)?.holm ?? 0) >= 0.05;
  /* Of few items a mean may be high by luck: the best is one of those with nearly the most items. */
  const best = METRICS.map((_, k) => {
    const most = Math.max(...SYSTEMS.map((system) => system.scores[k][3]));
    const leader = ranking(k).find((system) => 10 * SYSTEMS[system].scores[k][3] >= 9 * most);
    return SYSTEMS[leader].scores[k][0];
  });
  const otherCell = (system, k) => {
    const score = SYSTEMS[system].scores[k];
    const top = SYSTEMS.length > 1 && score[0] !== null && score[0] === best[k];
    return h('td', { class: `num${top ? ' best' : ''}`, 'data-tip': plainTip(k, score) }, meanWithRange(k, score));
  };
  const row = (system, rank) => {
    const score = SYSTEMS[system].scores[m];
    return h('tr', {},
      h('td', { class: 'num soft' }, rank + 1),
      h('th', { class: 'name pin', scope: 'row' }, h('a', { href: `#/items${query({ system: SYSTEMS[system].name })}` }, SYSTEMS[system].name)),
      h('td', { class: `num${SYSTEMS.length > 1 && score[0] === best[m] ? ' best' : ''}`, 'data-tip': plainTip(m, score) }, meanWithRange(m, score)),
      hasIntervals && h('td', { class: 'plotcell' }, intervalPlot(s, score, tied(system))),
      others.map((k) => otherCell(system, k)));
  };
  const sortable = (k, active) => h('th', { class: 'num', scope: 'col', 'aria-sort': active ? (lowerIsBetter(k) ? 'ascending' : 'descending') : null, 'data-tip': METRICS[k].about || null },
    h('button', { type: 'button', onclick: () => go(METRICS[k].id) }, METRICS[k].id));
  return h('section', { 'aria-label': 'Leaderboard' },
    h('div', { class: 'head' }, h('h2', {}, 'Leaderboard'), h('span', { class: 'grow' }),
      METRICS.length > 1 && select('Ranked by', metricOptions(), METRICS[m].id, go, 'inline')),
    scroller(h('table', {},
      h('thead', {}, h('tr', {}, h('th', { class: 'num', scope: 'col' }, h('span', { class: 'sr' }, 'Rank')), h('th', { class: 'pin', scope: 'col' }, 'System'),
        sortable(m, true), hasIntervals && h('th', { class: 'plotcell', scope: 'col' }, h('span', { class: 'sr' }, 'Interval'), axis(m, s, unit(m))),
        others.map((k) => sortable(k, false)))),
      h('tbody', {}, order.map(row)))),
    h('p', { class: 'note' }, 'Percent', ratiosNote(), explained(`${hasIntervals ? `; below it the 95 % interval${DATA.about}` : ''}; n: questions.`), SYSTEMS.length > 1 && ' Bold: the best of a column.',
      DATA.about && h('span', { class: 'pointer' }, ' Point at a score for its interval if questions were independent.'),
      SYSTEMS.length > 1 && DATA.comparisons.length > 0 && h('span', { class: 'plotkey' }, ' ', h('span', { class: 'key full' }), 'the leader, or not significantly worse (corrected p ≥ 0.05)  ', h('span', { class: 'key' }), 'worse.')));
}

/* Why answers are wrong: one bar per system, stacked by cause, as long as the points that the system loses. */
function causesSection(order) {
  const own = order.filter((s) => SYSTEMS[s].fixes);
  if (own.length === 0) return null;
  const { metric } = SYSTEMS[own[0]].fixes;
  const points = new Map();
  for (const s of own) for (const [id, title, lost] of SYSTEMS[s].fixes.causes) points.set(id, [title, (points.get(id)?.[1] ?? 0) + lost]);
  const named = [...points].sort((a, b) => b[1][1] - a[1][1]).slice(0, SHOWN_CAUSES).map(([id]) => id);
  const colour = (id) => (named.includes(id) ? named.indexOf(id) : SHOWN_CAUSES);
  const lost = (s) => SYSTEMS[s].fixes.causes.reduce((sum, [, , part]) => sum + part, 0);
  const most = Math.max(...own.map(lost), 1e-9);
  const segment = (s) => ([id, title, part, items]) => h(PIECES ? 'span' : 'a', {
    href: PIECES ? null : `#/items${query({ system: SYSTEMS[s].name, cause: id })}`, class: `cause c${colour(id)}`, css: { width: percent(part / most) },
    'data-tip': `${title}\n${fixed(part, 1)} points, ${many(items, 'answer')}`, 'aria-label': `${title}: ${fixed(part, 1)} points, ${many(items, 'answer')}` });
  const ranked = (s) => [...SYSTEMS[s].fixes.causes].sort((a, b) => colour(a[0]) - colour(b[0]));
  const row = (s) => [h('dt', { title: SYSTEMS[s].name }, SYSTEMS[s].name), h('dd', { class: 'stack' }, ranked(s).map(segment(s))), h('dd', { class: 'num' }, `${fixed(lost(s), 1)} points`)];
  const without = own.reduce((sum, s) => sum + SYSTEMS[s].fixes.without, 0);
  return h('section', { 'aria-label': 'Why answers are wrong' },
    h('div', { class: 'head' }, h('h2', {}, 'Why answers are wrong'), h('span', { class: 'soft' }, `points: percent of all answers, by ${metric}`)),
    h('dl', { class: 'bars causes' }, own.map(row)),
    h('ul', { class: 'legend' }, named.map((id, at) => h('li', {}, h('span', { class: `swatch cause c${at}` }), points.get(id)[0])),
      points.size > named.length && h('li', {}, h('span', { class: `swatch cause c${SHOWN_CAUSES}` }), `${many(points.size - named.length, 'other cause')}`)),
    h('p', { class: 'note' }, 'Each wrong answer counts once, under its first cause. ', PIECES ? '' : 'Choose a piece of a bar to see its answers. ', without > 0 && `Not known for ${many(without, 'answer')}.`));
}

/* A bar per system, as long as 100 %, stacked of parts of its answers. */
function partBars({ parts, counts }, rows, order) {
  const segment = (part, value, all) => value > 0 && h('span', { class: `cause c${PART_COLOURS[part]}`, css: { width: percent(value / all) },
    'data-tip': `${parts[part]}\n${many(value, 'answer')} of ${count(all)}`, 'aria-label': `${parts[part]}: ${many(value, 'answer')} of ${count(all)}` });
  const share = (value, all) => fixed(100 * value / all, 1);
  const row = ([[name], [values, all]]) => all > 0 && [h('dt', { title: name }, name),
    h('dd', { class: 'stack' }, values.map((value, part) => segment(part, value, all))), h('dd', { class: 'num' }, `${share(values[0], all)} of ${share(values.reduce((sum, value) => sum + value, 0), all)} %`)];
  const pairs = rows.map((cells, at) => [cells, counts[at]]);
  return [h('dl', { class: 'bars causes' }, order.flatMap((s) => pairs.filter(([[name]]) => name === SYSTEMS[s].name).map(row))),
    h('ul', { class: 'legend' }, parts.map((text, part) => h('li', {}, h('span', { class: `swatch cause c${PART_COLOURS[part]}` }), text)))];
}

/* What the run says of each system besides its scores: cells are texts, those of numbers stand right. */
function systemTables(order) {
  return DATA.tables.map(({ title, note, header, rows, bars }) => {
    const cell = (text) => h('td', { class: /^[\d–]/.test(text) ? 'num' : null }, text);
    const row = ([name, cells]) => h('tr', {}, h('th', { class: 'name pin', scope: 'row' }, h('a', { href: `#/items${query({ system: name })}` }, name)), cells.map(cell));
    const [first, ...others] = header.map((text) => capital(text));
    const isNumber = (at) => rows.every(([, cells]) => /^[\d–]/.test(cells[at]));
    return h('section', { 'aria-label': title }, h('div', { class: 'head' }, h('h2', {}, title)),
      bars && partBars(bars, rows, order),
      scroller(h('table', {},
        h('thead', {}, h('tr', {}, h('th', { class: 'pin', scope: 'col' }, first), others.map((text, at) => h('th', { class: isNumber(at) ? 'num' : null, scope: 'col' }, text)))),
        h('tbody', {}, order.flatMap((s) => rows.filter(([name]) => name === SYSTEMS[s].name).map(row))))),
      h('p', { class: 'note' }, explained(`${capital(note)}.`)));
  });
}

/* Which metrics are no percentages, and which way they are better. */
function ratiosNote() {
  const own = [...METRICS.keys()].filter(ownUnit);
  if (own.length === 0) return null;
  return ` (${own.map((k) => `${bare(METRICS[k].id)}: ratio to gold, ${lowerIsBetter(k) ? 'less' : 'more'} is better`).join('; ')})`;
}

/* Every pair as a matrix where the summary has every pair, else the distance of each system from the leader. */
function pairwise(m, order) {
  if (SYSTEMS.length < 2 || DATA.comparisons.length === 0) return null;
  const known = order.filter((s) => SYSTEMS[s].scores[m][0] !== null);
  if (known.length < 2) return null;
  const complete = known.every((a, at) => known.slice(at + 1).every((b) => comparison(m, a, b)));
  return complete ? matrix(m, known) : distances(m, known);
}

function matrix(m, order) {
  const { pairs } = comparison(m, order[0], order[1]);
  const cell = (a, b) => {
    if (a === b) return h('td', { class: 'self' }, '·');
    const c = comparison(m, a, b);
    const level = c.holm < 0.05 ? 2 : c.p < 0.05 ? 1 : 0;
    const className = level ? (better(m, c.difference) ? 'b' : 'w') + level : '';
    const text = `${SYSTEMS[a].name} − ${SYSTEMS[b].name}\n${showDifference(m, c.difference)} [${showDifference(m, c.low)}, ${showDifference(m, c.high)}]\n`
      + `${showP(c.p)}, corrected ${showP(c.holm)}\n${showPlain(m, c) && `${showPlain(m, c)}\n`}${count(c.n)} questions in common`;
    return h('td', {}, h('a', { href: compareHref(a, b, m), class: className, 'data-tip': text, 'aria-label': text }, showDifference(m, c.difference)));
  };
  const swatch = (name) => h('span', { class: `swatch sw-${name}` });
  return h('section', { 'aria-label': 'Pairwise differences' },
    h('div', { class: 'head' }, h('h2', {}, 'Is the gap real?'), h('span', { class: 'soft' }, `row minus column, ${METRICS[m].id}${ownUnit(m) ? '' : ', in points'}`)),
    scroller(h('table', { class: 'matrix' },
      h('thead', {}, h('tr', {}, h('th', {}, h('span', { class: 'sr' }, 'System')), order.map((s, rank) => h('th', { scope: 'col', 'data-tip': SYSTEMS[s].name, 'aria-label': SYSTEMS[s].name }, rank + 1)))),
      h('tbody', {}, order.map((a, rank) => h('tr', {}, h('th', { scope: 'row', title: SYSTEMS[a].name }, h('span', { class: 'soft' }, `${rank + 1}  `), SYSTEMS[a].name), order.map((b) => cell(a, b))))))),
    h('ul', { class: 'legend' },
      h('li', {}, swatch('b2'), swatch('w2'), `better or worse, p < 0.05${pairs > 1 ? ` after Holm’s correction for ${count(pairs)} pairs` : ''}`),
      pairs > 1 && h('li', {}, swatch('b1'), swatch('w1'), 'p < 0.05 before the correction only'),
      h('li', {}, swatch('n'), 'no significant difference')),
    h('p', { class: 'note' }, 'Choose a cell to see the items behind it.'));
}

function distances(m, order) {
  const [leader, ...rest] = order;
  const rows = rest.map((s) => [s, comparison(m, s, leader)]).filter(([, c]) => c);
  if (rows.length === 0) return null;
  const s = scale([0, ...rows.flatMap(([, c]) => [c.low, c.high])], -Infinity, Infinity);
  const row = ([system, c]) => h('tr', {},
    h('th', { class: 'name pin', scope: 'row' }, h('a', { href: compareHref(leader, system, m) }, SYSTEMS[system].name)),
    h('td', { class: 'num', 'data-tip': showPlain(m, c) || null }, showDifference(m, c.difference), h('span', { class: 'sub' }, `${showDifference(m, c.low)} to ${showDifference(m, c.high)}`), h('span', { class: 'sub n' }, `n ${count(c.n)}`)),
    h('td', { class: 'plotcell' }, differencePlot(s, c, c.holm >= 0.05)),
    h('td', { class: 'num' }, pValue(c.p)), h('td', { class: `num${c.holm < 0.05 ? '' : ' soft'}` }, pValue(c.holm)),
    h('td', { class: 'num' }, count(c.onlyB)), h('td', { class: 'num' }, count(c.onlyA)));
  return h('section', { 'aria-label': 'Differences from the leader' },
    h('div', { class: 'head' }, h('h2', {}, 'Is the gap real?'), h('span', { class: 'soft' }, `system minus ${SYSTEMS[leader].name}, ${METRICS[m].id}${ownUnit(m) ? '' : ', in points'}`)),
    scroller(h('table', {},
      h('thead', {}, h('tr', {}, h('th', { class: 'pin', scope: 'col' }, 'System'), h('th', { class: 'num', scope: 'col' }, 'Difference'), h('th', { class: 'plotcell', scope: 'col' }, h('span', { class: 'sr' }, 'Interval'), axis(m, s, '')),
        ['p', 'p, corrected', isBinary(m) ? 'Only leader right' : 'Leader better', isBinary(m) ? 'Only this right' : 'This better'].map((t) => h('th', { class: 'num', scope: 'col' }, t)))),
      h('tbody', {}, rows.map(row)))),
    h('p', { class: 'note' }, `Both systems on the same n questions, 95 % intervals${DATA.about}; p by ${METRICS[m].test}, corrected by Holm’s method for ${many(rows.length, 'comparison')}. `, h('span', { class: 'key full' }), 'not significantly worse than the leader (corrected p ≥ 0.05). For other pairs see ', h('a', { href: '#/compare' }, 'Compare'), '.'));
}

function breakdown(m, order, params) {
  /* A single database is the whole. */
  const available = dimensions().filter(([key]) => key !== 'db_id' || groupsOf(key).length > 1);
  if (available.length === 0) return null;
  const all = params.get('all') === '1';
  const shown = all ? order : order.slice(0, SHOWN_SYSTEMS);
  const dimension = available.some(([key]) => key === params.get('by')) ? params.get('by')
    : widest(available, ([key]) => shown.reduce((sum, s) => sum + held(m, s, key), 0))[0];
  const groups = groupsOf(dimension);
  const set = (change) => navigate('#/', { ...Object.fromEntries(params), ...change }, true);
  const score = (s, group) => SYSTEMS[s].by[dimension]?.[group]?.[m] ?? [null, null, null, 0];
  const top = ownUnit(m) ? Math.max(...shown.flatMap((s) => groups.map((group) => score(s, group)[2] ?? score(s, group)[0] ?? 0)), 1e-9) : 1;
  const filter = { hardness: 'hardness', difficulty: 'difficulty', db_id: 'db', feature: 'feature' }[dimension];
  const link = (group) => (filter ? h('a', { href: `#/items${query({ [filter]: group, metric: METRICS[m].id })}` }, group) : group);
  const items = (group) => Math.max(...shown.map((s) => score(s, group)[3]));
  const panel = (group) => h('div', { class: 'panel' },
    h('h3', {}, link(group), h('span', { class: 'soft' }, many(items(group), 'question'))),
    h('dl', { class: 'bars' }, shown.map((s) => [
      h('dt', { title: SYSTEMS[s].name }, SYSTEMS[s].name), h('dd', {}, bar(score(s, group), top)), h('dd', { class: 'num' }, showScore(m, score(s, group)[0]), h('span', { class: 'soft' }, ` (${count(score(s, group)[3])})`))])));
  const cell = (s, group) => {
    const own = score(s, group);
    return h('td', { 'data-tip': own[1] === null ? null : `${SYSTEMS[s].name}, ${group}\n${showScore(m, own[0])}${unit(m)} (${showInterval(m, own)})\n${many(own[3], 'answer')}` },
      showScore(m, own[0]), h('span', { class: 'soft' }, ` (${count(own[3])})`), own[0] !== null && h('i', { class: 'fill', 'aria-hidden': 'true', css: { width: `calc(${Math.min(1, own[0] / top).toFixed(4)} * var(--heat))` } }));
  };
  const table = () => scroller(h('table', { class: 'heat' },
    h('thead', {}, h('tr', {}, h('th', { class: 'pin', scope: 'col' }, available.find(([key]) => key === dimension)[1]), shown.map((s) => h('th', { class: 'num', scope: 'col' }, SYSTEMS[s].name)))),
    h('tbody', {}, groups.map((group) => h('tr', {}, h('th', { class: 'pin', scope: 'row' }, link(group)), shown.map((s) => cell(s, group)))))));
  return h('section', { 'aria-label': 'Breakdown' },
    h('div', { class: 'head' }, h('h2', {}, 'Scores by group'), h('span', { class: 'soft' }, `${METRICS[m].id}${ownUnit(m) ? '' : ', in %'}`), h('span', { class: 'grow' }),
      segments('Breakdown by', available, dimension, (key) => set({ by: key }))),
    groups.length <= MAX_PANELS ? h('div', { class: 'panels' }, groups.map(panel)) : table(),
    order.length > SHOWN_SYSTEMS && h('p', { class: 'note' }, all ? `All ${order.length} systems. ` : `The first ${SHOWN_SYSTEMS} of ${order.length} systems. `,
      h('button', { type: 'button', onclick: () => set({ all: all ? '' : '1' }) }, all ? `Show the first ${SHOWN_SYSTEMS}` : 'Show all')),
    coverage(m, shown, dimension),
    h('p', { class: 'note' }, 'In brackets: number of answers. ', dimension === 'feature' ? 'A question counts under every feature that its gold query uses. ' : '', hasIntervals && (groups.length <= MAX_PANELS ? 'Lines: 95 % intervals.' : 'The interval of a number shows when you point at it.')));
}

/* How many answers of a system the groups hold. A question has several features: at least as many as the largest holds. */
function held(m, s, dimension) {
  const counts = Object.values(SYSTEMS[s].by[dimension] ?? {}).map((scores) => scores[m]?.[3] ?? 0);
  return dimension === 'feature' ? Math.max(0, ...counts) : Math.min(SYSTEMS[s].scores[m][3], counts.reduce((sum, n) => sum + n, 0));
}

/* Says so where the groups hold only a part of the items behind the scores. */
function coverage(m, shown, dimension) {
  const word = { hardness: 'hardness', difficulty: 'difficulty', turn: 'turn', db_id: 'database' }[dimension];
  if (!word) return null;
  const parts = shown.map((s) => [held(m, s, dimension), SYSTEMS[s].scores[m][3]]);
  const texts = [...new Set(parts.filter(([covered, whole]) => covered < whole).map(([covered, whole]) => `${count(covered)} of ${count(whole)}`))];
  return texts.length > 0 && h('p', { class: 'note' }, `The ${word} is known for ${texts.join(', ')} answers.`);
}

function outcomes(order) {
  const names = [...new Set(SYSTEMS.flatMap((system) => Object.keys(system.statuses)))];
  const total = (name) => SYSTEMS.reduce((sum, system) => sum + (system.statuses[name] || 0), 0);
  names.sort((a, b) => (b === 'ok') - (a === 'ok') || total(b) - total(a));
  const number = (value) => h('td', { class: `num${value ? '' : ' soft'}` }, count(value));
  const row = (s) => {
    const { name, counts, statuses } = SYSTEMS[s];
    const cell = (status) => h('td', { class: `num${statuses[status] ? '' : ' soft'}` }, statuses[status]
      ? h('a', { href: `#/items${query({ system: name, status })}` }, count(statuses[status])) : '0');
    return h('tr', {}, h('th', { class: 'name pin', scope: 'row' }, name), number(counts.requested), number(counts.requested - counts.missing), number(counts.missing), number(counts.gold_failed), names.map(cell));
  };
  return h('section', { 'aria-label': 'Outcomes' },
    h('div', { class: 'head' }, h('h2', {}, 'Outcome of the predictions')),
    scroller(h('table', {},
      h('thead', {}, h('tr', {}, h('th', { class: 'pin', scope: 'col' }, 'System'), ['Questions', 'Answered', 'Missing', 'Gold failed', ...names.map(words)].map((t) => h('th', { class: 'num', scope: 'col' }, t)))),
      h('tbody', {}, order.map(row)))),
    h('p', { class: 'note' }, explained('A missing prediction scores 0 and is counted. Where the gold query itself fails, the benchmark is at fault and execution metrics leave the item out.'), (DATA.notes || []).map((note) => ` ${capital(note)}.`)));
}
