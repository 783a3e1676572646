
/* Labels of all people, and where two of them differ. */

async function labelsPage({ parts }, isCurrent) {
  if (parts[1]) { await planPage(parts[1], isCurrent); return; }
  const { systems: all, problems } = STORED ? { systems: [], problems: [] } : await ask('/api/labelled');
  const { plans } = STORED ? { plans: [] } : await readRecords();
  if (!isCurrent()) return;
  const said = { right: 'right', wrong: 'wrong', unsure: 'not sure' };
  const kappa = ({ kappa: value, interval }) => (value === null ? NONE : `${value.toFixed(2)} [${interval.map((end) => end.toFixed(2)).join(', ')}]`);
  const person = (of) => (own) => h('tr', {}, h('th', { scope: 'row', class: 'name' }, own.by || 'without a name'), h('td', {}, h('a', { href: runHref(of.run, `#/items?system=${encodeURIComponent(of.system)}`) }, of.system)), h('td', {}, of.name),
    h('td', { class: 'num' }, count(own.right)), h('td', { class: 'num' }, count(own.wrong)), h('td', { class: 'num' }, count(own.unsure)), h('td', { class: 'num' }, count(own.earlier)));
  const pair = (of) => (own) => h('details', { class: 'cause', open: own.differ.length <= 20 },
    h('summary', {}, h('b', {}, `${own.first || 'without a name'} and ${own.second || 'without a name'}`), ` on ${of.system} of ${of.name}: they agree on ${count(own.agree)} of ${many(own.both, 'item')}; kappa ${kappa(own)}`),
    own.differ.length === 0 ? h('p', { class: 'empty' }, 'They differ on none.') : scroller(h('table', {}, columns(['Item'], [own.first], [own.second]),
      h('tbody', {}, own.differ.map(([id, a, b]) => h('tr', {}, h('th', { scope: 'row' }, h('a', { href: itemHref(of.run, of.system, id) }, id)), h('td', {}, said[a]), h('td', {}, said[b])))))));
  const pairs = all.flatMap((of) => of.pairs.map(pair(of)));
  replace(main,
    h('h1', {}, 'Labels'),
    planRows(plans),
    problems.map((problem) => h('p', { class: 'error' }, problem)),
    all.length === 0 ? problems.length === 0 && h('p', { class: 'empty' }, STORED ? 'Labels are given to a server; this site has none.' : 'Nobody has given a label yet: open an item of a run and press y, n or u. sqlgauge label plan says which to label.')
      : scroller(h('table', {}, columns(['Person'], ['System'], ['Run'], ['Right', 'num'], ['Wrong', 'num'], ['Not sure', 'num'], ['Of earlier answers', 'num']), h('tbody', {}, all.flatMap((of) => of.people.map(person(of)))))),
    all.some((of) => of.people.some((own) => own.earlier > 0)) && h('p', { class: 'note' }, 'A label of an earlier answer does not count: the run has another answer now. Open the item to label it again.'),
    pairs.length > 0 && h('section', { 'aria-label': 'Where two people differ' }, h('div', { class: 'head' }, h('h2', {}, 'Where two people differ')), pairs,
      h('p', { class: 'note' }, 'Cohen’s kappa with its 95 % interval, over the items of which both are sure: 0 is what chance gives, 1 is agreement on all.')));
}
