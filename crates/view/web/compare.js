
/* Two systems of any runs: by how much they differ, where, why, and on which items. */

const SIDES = ['first', 'second', 'neither'];
const LISTED = 100;

/* What is compared until somebody chooses: the latest run with the one before it on the same golds, of one system if both have it. */
function latestPair(runs) {
  for (const group of byGold(runs.filter((run) => !run.problem))) {
    const [last, ...others] = [...group].sort(later).flatMap((run) => run.systems.map((system) => [run.id, system.name]));
    const before = others.find(([, name]) => name === last[1]) ?? others[0];
    if (before) return { a: before[0], first: before[1], b: last[0], second: last[1] };
  }
  return null;
}

async function comparePage({ params }, isCurrent) {
  const chosen = Object.fromEntries(['a', 'first', 'b', 'second', 'metric'].map((key) => [key, params.get(key)]).filter(([, value]) => value));
  const runs = await readRuns();
  const of = chosen.a ? chosen : latestPair(runs);
  if (!of) {
    if (isCurrent()) replace(main, h('h1', {}, 'Compare'), h('p', { class: 'empty' }, 'A comparison needs two systems that answered the same questions; no run has them yet.'));
    return;
  }
  const said = await ask('/api/compare', of);
  if (!isCurrent()) return;
  /* What the benchmark calls difficult, or else Spider's hardness, as a run's own page has it. */
  said.level = said.items.some((item) => item.difficulty) ? 'difficulty' : 'hardness';
  const name = (id) => runs.find((run) => run.id === id)?.name ?? id;
  const shown = said.comparisons.find((one) => one.metric === said.metric);
  const row = (one) => h('tr', { class: one.metric === said.metric ? 'here' : null },
    h('th', { scope: 'row' }, h('a', { href: address('compare', { ...of, metric: one.metric }) }, one.metric)),
    h('td', { class: 'num' }, percent(one.first_mean)), h('td', { class: 'num' }, percent(one.second_mean)), h('td', { class: 'num' }, count(one.count)),
    h('td', { class: 'num' }, points(one.difference)), h('td', { class: 'num', 'data-tip': plainDifference(one) }, `${points(one.low)} to ${points(one.high)}`),
    h('td', { class: 'num' }, pValue(one.p_value)), h('td', { class: 'num' }, count(one.only_first)), h('td', { class: 'num' }, count(one.only_second)));
  const { level } = said;
  const state = { side: '', [level]: '', db: '', cause: '', ...Object.fromEntries(params) };
  const list = h('div', {});
  const update = (change) => { Object.assign(state, change); keep('compare', { ...of, side: state.side, db: state.db, [level]: state[level], cause: state.cause }); draw(); };
  const draw = () => replace(list, parted(said, of, state, update));
  replace(main,
    h('h1', {}, `${of.first} against ${of.second}`),
    h('p', { class: 'lead' }, `${of.first} of `, h('a', { href: runHref(of.a) }, name(of.a)), `, ${of.second} of `, h('a', { href: runHref(of.b) }, name(of.b)),
      shown ? `: by ${shown.metric} ${percent(shown.first_mean)} and ${percent(shown.second_mean)} over the ${many(shown.count, 'item')} that both have.` : '.'),
    said.notes.map((note) => h('p', { class: 'note' }, `${capital(note)}.`)),
    h('section', {}, scroller(h('table', {}, h('thead', {}, h('tr', {}, ['Metric', of.first, of.second, 'Items', 'Difference', '95 % interval', 'p', 'Only first', 'Only second'].map((text, at) => h('th', { scope: 'col', class: at ? 'num' : '' }, text)))),
      h('tbody', {}, said.comparisons.map(row)))),
      h('p', { class: 'note' }, said.about && `Intervals and p are${said.about}; point at an interval for what they are if questions were independent. `, said.tests && `p by ${said.tests}.`)),
    partingMap(said.items.filter((item) => item.side !== 'neither').map((item) => ({ row: item.db, column: item[level] ?? NONE, side: SIDES.indexOf(item.side) })), [of.first, of.second],
      (db, column) => address('compare', { ...of, db, [level]: column === NONE ? '' : column })),
    h('section', { 'aria-label': 'Items that differ' }, list));
  draw();
}

const plainDifference = (one) => {
  const words = ({ low, high, p_value: p }) => `${points(low)} to ${points(high)}, ${showP(p)}`;
  const plain = one.plain && words(one.plain);
  return plain && plain !== words(one) ? `If questions were independent:\n${plain}` : null;
};

/* The items on which not both are right, by filters, grouped by what makes the answer wrong. */
function parted(said, of, state, update) {
  const texts = { first: `only ${of.first} is right`, second: `only ${of.second} is right`, neither: 'neither is right' };
  const tally = (items, key) => [...items.reduce((all, item) => all.set(item[key], (all.get(item[key]) ?? 0) + 1), new Map())].sort((a, b) => b[1] - a[1]);
  const wanted = (item, but) => ['side', 'db', said.level, 'cause'].every((key) => key === but || !state[key] || item[key] === state[key]);
  const filter = (label, key, text) => select(label, [['', 'any'], ...tally(said.items.filter((item) => item[key] && wanted(item, key)), key).map(([value, n]) => [value, `${text?.(value) ?? value} (${count(n)})`])], state[key], (value) => update({ [key]: value }));
  const items = said.items.filter((item) => wanted(item));
  const rows = items.map((item) => ({ id: item.id, better: item.side, db_id: item.db, [said.level]: item[said.level], cause: item.cause, question: item.question }));
  return [
    h('div', { class: 'head' }, h('h2', {}, 'Items that differ'), h('span', { class: 'soft', role: 'status' }, `${many(items.length, 'item')}; both are right on ${count(said.both)}`), rows.length > 0 && exportButtons('compared', Object.keys(rows[0]), async function* all() { yield [rows, 1]; })),
    h('form', { class: 'filters', onsubmit: (event) => event.preventDefault() }, filter('Who is right', 'side', (side) => texts[side]), filter('Cause', 'cause'), filter('Database', 'db'), filter(capital(said.level), said.level)),
    items.length === 0 && h('p', { class: 'empty' }, 'No item matches.'),
    tally(items, 'cause').map(([cause, n]) => h('details', { class: 'cause', open: n === items.length || n <= 5 },
      h('summary', {}, h('b', {}, cause), ` ${many(n, 'item')}`),
      items.filter((item) => item.cause === cause).slice(0, LISTED).map((item) => comparedItem(item, of, texts)),
      n > LISTED && h('p', { class: 'note' }, `The first ${count(LISTED)} of ${count(n)}; the others are in the file of this list, or behind a narrower filter.`))),
  ];
}

function comparedItem(item, of, texts) {
  const body = h('div', {});
  const open = async (event) => {
    if (!event.target.open || body.hasChildNodes()) return;
    const said = await ask('/api/pair', { ...of, id: item.id }).catch((error) => error);
    replace(body, said instanceof Error ? h('p', { class: 'error' }, said.message) : bothQueries(said, of, item));
  };
  return h('details', { class: 'compared', ontoggle: open },
    h('summary', {}, item.question ?? item.id, h('span', { class: 'sub' }, [item.id, item.db, item.difficulty ?? item.hardness, texts[item.side]].filter(Boolean).join(' · '))), body);
}

function bothQueries(said, of, item) {
  const left = solidTokens(said.first.prediction ?? ''); const right = solidTokens(said.second.prediction ?? '');
  markDifferences(left, right);
  const side = (className, run, system, tokens, own) => h('div', { class: `side ${className}` },
    h('h3', {}, h('a', { href: itemHref(run, system, item.id) }, system)),
    own.prediction === null ? h('p', { class: 'empty' }, 'The system gave no prediction.') : sqlBlock(tokens, `Query of ${system}`),
    own.error && h('p', { class: 'error' }, own.error), own.why && h('p', {}, own.why));
  return [
    said.golds.map((gold) => h('div', { class: 'side' }, h('h3', {}, 'Gold'), sqlBlock(solidTokens(gold), 'Gold query'))),
    h('div', { class: 'pair' }, side('gold', of.a, of.first, left, said.first), side('prediction', of.b, of.second, right, said.second)),
    h('p', { class: 'note' }, 'Marked: what the other system’s query does not have.'),
  ];
}
