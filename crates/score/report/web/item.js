/* One system's answer to one question, and why it scored as it did. */

const MAX_ROWS = 50;
let asWritten = false;
let goldShown = 0;

async function itemPage([systemName, id], main, isCurrent) {
  await needExamples();
  const s = systemAt.get(systemName); const e = byId.get(id);
  if (s === undefined || e === undefined) {
    replace(main, h('h1', {}, 'No such item'), h('p', { class: 'empty' }, `This run has no item “${id ?? ''}” of a system “${systemName ?? ''}”. `, h('a', { href: '#/items' }, 'All items'), '.'));
    return;
  }
  await needColumns([...SYSTEMS.keys()]);
  await needItems([...SYSTEMS.keys()].map((k) => [k, e]));
  if (!isCurrent()) return;
  const x = EXAMPLES[e];
  goldShown = goldTaken(s, e);
  const queries = h('div', {});
  const draw = () => replace(queries, queryPair(s, e, draw));
  draw();
  replace(main,
    crumbs(s, e),
    verdictLine(s, e),
    h('h1', { class: 'question' }, x.q ?? `Item ${x.id}`),
    x.e && h('p', { class: 'evidence' }, h('b', {}, 'Evidence  '), x.e),
    h('ul', { class: 'chips', 'aria-label': 'Labels' },
      [['database', x.db], ['hardness', x.h], ['difficulty', x.d], ['turn', turnText(x.t)], ['status', words(statusAt(s, e))]].filter(([, value]) => value)
        .map(([key, value]) => h('li', {}, `${key} `, h('b', {}, value))),
      (x.f || []).map((feature) => h('li', {}, feature))),
    whySection(s, e),
    h('section', { 'aria-label': 'Queries' }, queries),
    earlierSection(s, e),
    verdictSection(s, e),
    resultPair(s, e),
    scoresSection(s, e),
    othersSection(s, e));
  // For what a server adds to the page.
  document.dispatchEvent(new CustomEvent('sqlgauge-item', { detail: { system: systemName, id, sql: predictionAt(s, e) ?? '' } }));
}

/* Which accepted gold gave the score that decides. */
const goldTaken = (s, e) => extraAt(s, e).m?.[deciding]?.gold ?? 0;

const turnText = (turn) => (turn && typeof turn === 'object' ? `${turn.interaction}.${turn.turn}` : turn ?? '');

function neighbours(s, e) {
  const n = EXAMPLES.length;
  const own = s * n + e;
  let list = lastList;
  if (!list || !list.includes(own)) list = EXAMPLES.map((_, k) => s * n + k).filter((at) => CELLS[s].s[at % n] >= 0);
  const at = list.indexOf(own);
  const href = (k) => (list[k] === undefined ? null : itemHref(Math.floor(list[k] / n), list[k] % n));
  return { at, of: list.length, previous: href(at - 1), next: href(at + 1) };
}

function crumbs(s, e) {
  const { at, of, previous, next } = neighbours(s, e);
  const step = (href, text, label) => h('button', { type: 'button', disabled: !href, 'aria-label': label, onclick: () => { location.hash = href; } }, text);
  const systems = SYSTEMS.length > 1
    ? select('', SYSTEMS.map((x) => [x.name, x.name]), SYSTEMS[s].name, (name) => { location.hash = itemHref(systemAt.get(name), e); }, 'inline')
    : h('span', {}, SYSTEMS[s].name);
  systems.querySelector?.('select')?.setAttribute('aria-label', 'System');
  return h('div', { class: 'crumbs' }, h('a', { href: '#/items' }, 'Items'), h('span', { class: 'soft' }, '/'), systems, h('span', { class: 'soft' }, `/  ${EXAMPLES[e].id}`), h('span', { class: 'grow' }),
    h('span', { class: 'steps' }, h('span', { class: 'soft' }, `${count(at + 1)} of ${count(of)}`), step(previous, '← Previous', 'Previous item'), step(next, 'Next →', 'Next item')));
}

function queryPair(s, e, redraw) {
  const golds = EXAMPLES[e].g || [];
  const gold = golds[goldShown] ?? '';
  const prediction = predictionAt(s, e);
  const left = solidTokens(gold); const right = solidTokens(prediction ?? '');
  if (prediction !== null && gold !== '') markDifferences(left, right);
  const same = prediction !== null && gold !== '' && ![...left, ...right].some((token) => token.marked);
  const block = (text, solid, label) => (asWritten ? rawBlock(text, label) : sqlBlock(solid, label));
  const cut = prediction === null && statusAt(s, e) !== 'missing';
  const { e: error, g: goldError } = extraAt(s, e);
  return [
    h('div', { class: 'head' }, h('h2', {}, 'Queries'), h('span', { class: 'soft' }, same ? 'the same but for case and spacing' : ''), h('span', { class: 'grow' }),
      golds.length > 1 && segments('Accepted gold', golds.map((_, at) => [at, `Gold ${at + 1}`]), goldShown, (at) => { goldShown = at; redraw(); }),
      segments('Layout', [[false, 'By clause'], [true, 'As written']], asWritten, (value) => { asWritten = value; redraw(); })),
    h('div', { class: 'pair' },
      h('div', { class: 'side gold' }, h('h3', {}, 'Gold'), golds.length ? block(gold, left, 'Gold query') : h('p', { class: 'empty' }, 'The run has no text of the gold query.'),
        goldError && h('p', { class: 'error' }, goldError)),
      h('div', { class: 'side prediction' }, h('h3', {}, SYSTEMS[s].name),
        prediction === null ? h('p', { class: 'empty' }, cut ? 'The text did not come with the report; it is in items.jsonl.' : 'The system gave no prediction.') : block(prediction, right, 'Predicted query'),
        error && h('p', { class: 'error' }, error))),
    !same && prediction !== null && gold !== '' && h('p', { class: 'note' }, 'Marked: where the texts differ. Different texts can be equivalent queries.'),
  ];
}

/* Rows as text, to see which of them the other result lacks (as a bag). */
function unmatched(rows, others) {
  const left = new Map();
  for (const row of others) { const key = JSON.stringify(row); left.set(key, (left.get(key) || 0) + 1); }
  return rows.map((row) => {
    const key = JSON.stringify(row); const n = left.get(key) || 0;
    if (n > 0) left.set(key, n - 1);
    return n === 0;
  });
}

function resultTable(result, other) {
  if (!result) return h('p', { class: 'empty' }, 'No result: the text does not run as it is, or was stopped at its limit.');
  const complete = other && !result.least && !other.least && result.rows.length >= result.total && other.rows.length >= other.total;
  const odd = complete ? unmatched(result.rows, other.rows) : [];
  const numeric = result.columns.map((_, k) => result.rows.every((row) => row[k] === null || typeof row[k] === 'number'));
  const cell = (value, k) => h('td', { class: [value === null ? 'null' : '', numeric[k] ? 'num' : ''].join(' ') }, value === null ? 'NULL' : value === '' ? "''" : typeof value === 'object' ? JSON.stringify(value) : value);
  const rows = result.rows.slice(0, MAX_ROWS);
  return [
    rows.length === 0 && result.columns.length === 0 ? h('p', { class: 'empty' }, 'No rows.') : scroller(h('table', { class: 'result' },
      h('thead', {}, h('tr', {}, result.columns.map((name, k) => h('th', { scope: 'col', class: numeric[k] ? 'num' : null }, name)))),
      h('tbody', {}, rows.map((row, at) => h('tr', { class: odd[at] ? 'odd' : null }, row.map(cell)))))),
    h('p', { class: 'note' }, result.least && 'at least ', result.total === 0 ? 'no rows' : many(result.total, 'row'), result.total > rows.length && `, the first ${count(rows.length)} shown`, odd.some(Boolean) && '; marked rows are not in the other result'),
  ];
}

function resultPair(s, e) {
  const gold = goldResultAt(s, e); const prediction = extraAt(s, e).r;
  const failed = statusAt(s, e) !== 'ok';
  if (!prediction && !(gold && failed)) return null;
  return h('section', { 'aria-label': 'Results' }, h('div', { class: 'head' }, h('h2', {}, 'Results')),
    h('div', { class: 'pair' },
      h('div', { class: 'side gold' }, h('h3', {}, 'Gold'), resultTable(gold, prediction)),
      h('div', { class: 'side prediction' }, h('h3', {}, SYSTEMS[s].name), resultTable(prediction, gold))));
}

/* What the metrics come to: "Wrong by verify@3, right by 4 other metrics". */
function verdictLine(s, e) {
  const judging = METRICS.map((_, m) => m).filter((m) => isBinary(m) && (scoreAt(s, m, e) ?? null) !== null);
  if (!judging.length) return h('p', { class: 'verdict' }, `Not scored: ${words(statusAt(s, e))}`);
  const [wrong, right] = [false, true].map((isRight) => judging.filter((m) => (scoreAt(s, m, e) >= 1) === isRight));
  const by = (metrics) => (metrics.length > 2 ? many(metrics.length, 'metric') : metrics.map((m) => METRICS[m].id).join(' and '));
  const parts = [wrong.length && `wrong by ${by(wrong)}`, right.length && `right by ${by(right)}`].filter(Boolean).join(', ');
  return h('p', { class: `verdict ${wrong.length ? 'wrong' : 'right'}` }, capital(parts));
}

/* A sentence whose parts in backticks are SQL. */
const prose = (sentence) => sentence.split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));

/* What makes the answer wrong, in one sentence, or why that is not known. */
function whySection(s, e) {
  const { sentence, missing, about } = extraAt(s, e).w ?? {};
  const why = sentence ?? (missing ? `Not known: ${missing}.` : about && `No single reason found: ${about}.`);
  return why ? h('section', { 'aria-label': 'Why' }, h('div', { class: 'head' }, h('h2', {}, 'Why')), h('p', {}, prose(why))) : null;
}

/* The queries of a transcript before the prediction, and what became of each. */
function earlierSection(s, e) {
  const earlier = extraAt(s, e).o?.earlier_queries;
  if (!earlier) return null;
  const before = earlier.omitted ?? 0;
  const outcome = ({ status, right }) => (right ? 'right' : right === false && status === 'ok' ? 'wrong' : words(status));
  return h('section', { 'aria-label': 'Earlier queries' }, h('div', { class: 'head' }, h('h2', {}, 'Earlier queries')),
    scroller(h('table', { class: 'why' },
      h('thead', {}, h('tr', {}, h('th', { class: 'num', scope: 'col' }, 'Query'), h('th', { scope: 'col' }, 'Outcome'), h('th', { scope: 'col', css: { width: '70%' } }, 'SQL'))),
      h('tbody', {}, earlier.last.map((query, at) => h('tr', {}, h('td', { class: 'num' }, before + at + 1), h('td', {}, outcome(query)), h('td', { class: 'mono' }, query.sql)))))));
}

/* The database that tells the prediction from the gold, and what both return on it. */
function verdictSection(s, e) {
  const verdict = extraAt(s, e).o?.verdict;
  const whole = (result) => result && { ...result, total: result.rows.length };
  if (!verdict?.witness) return null;
  // Runs of an earlier version have the script alone.
  const tables = verdict.tables?.map((table) => h('figure', { class: 'side' },
    h('h3', {}, `Table ${table.name}`),
    table.rows.length ? resultTable(whole(table)) : h('p', { class: 'empty' }, 'No rows.')));
  const gold = whole(verdict.left_result); const prediction = whole(verdict.right_result);
  return h('section', { 'aria-label': 'Counterexample' }, h('div', { class: 'head' }, h('h2', {}, 'Counterexample')),
    h('p', {}, verdict.difference, '. ', prose(verdict.explanation ?? '')),
    resemblance(verdict),
    tables ? h('div', { class: 'tables' }, tables) : h('pre', { class: 'mono' }, verdict.witness),
    h('div', { class: 'pair' },
      h('div', { class: 'side gold' }, h('h3', {}, 'Gold on it'), resultTable(gold, prediction)),
      h('div', { class: 'side prediction' }, h('h3', {}, `${SYSTEMS[s].name} on it`), resultTable(prediction, gold))),
    tables && h('details', {}, h('summary', {}, 'As SQL'), h('pre', { class: 'mono' }, verdict.witness)));
}

/* Whether the benchmark's database shows a difference too, and what the counterexample keeps of what the rows there keep. */
function resemblance({ differs_on_database: differs, realistic, kept, not_kept }) {
  const onDatabase = differs === undefined ? '' : `On the given database ${differs ? 'the results differ too' : 'both return the same'}. `;
  if (realistic === undefined) return onDatabase && h('p', {}, onDatabase);
  const said = realistic ? 'Like the given rows' : 'Unlike the given rows';
  const all = (realistic ? kept : not_kept) ?? [];
  return h('p', {}, onDatabase, all.length ? `${said}: ${all.join('; ')}.` : `${said}.`);
}

function pairsList(object) {
  const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
  return h('dl', { class: 'kv' }, Object.entries(object).map(([key, value]) => [h('dt', {}, words(key)), h('dd', { class: typeof value === 'object' ? 'mono' : null }, text(value))]));
}

function scoresSection(s, e) {
  const extra = extraAt(s, e);
  const row = (metric, m) => {
    const said = extra.m?.[m];
    const rest = said && typeof said === 'object' ? Object.fromEntries(Object.entries(said).filter(([key]) => key !== 'reason')) : {};
    const value = scoreAt(s, m, e);
    return h('tr', {}, h('th', { scope: 'row', 'data-tip': metric.about || null }, metric.id), h('td', { class: 'num' }, !ownUnit(m) && (value === 0 || value === 1) ? [scoreMark(m, value), '  '] : null, showItem(value)),
      h('td', {}, reason(s, m, e), Object.keys(rest).length > 0 && h('details', {}, h('summary', {}, 'Details'), pairsList(rest))));
  };
  return h('section', { 'aria-label': 'Scores' }, h('div', { class: 'head' }, h('h2', {}, 'Scores and reasons')),
    scroller(h('table', { class: 'why' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Metric'), h('th', { class: 'num', scope: 'col' }, 'Score'), h('th', { scope: 'col', css: { width: '70%' } }, 'Why'))),
      h('tbody', {}, METRICS.map(row)))),
    extra.o && h('details', { css: { 'margin-top': '14px' } }, h('summary', {}, 'More about this item'), pairsList(extra.o)));
}

function othersSection(s, e) {
  if (SYSTEMS.length < 2) return null;
  const m = deciding;
  const [right, asked] = solved(m)[e];
  const row = (k) => h('tr', { class: k === s ? 'here' : null },
    h('th', { class: 'name pin', scope: 'row' }, h('a', { href: itemHref(k, e), 'aria-current': k === s ? 'true' : null }, SYSTEMS[k].name)),
    METRICS.map((_, at) => h('td', { class: 'm' }, scoreMark(at, scoreAt(k, at, e)))),
    h('td', { class: 'pred' }, statusAt(k, e) === 'ok' ? null : h('span', { class: 'fail' }, `${words(statusAt(k, e))}  `), (predictionAt(k, e) ?? '').slice(0, 600)));
  return h('section', { 'aria-label': 'All systems on this question' },
    h('div', { class: 'head' }, h('h2', {}, 'All systems on this question'), h('span', { class: 'soft' }, asked ? `${right} of ${asked} right by ${METRICS[m].id}` : '')),
    scroller(h('table', { class: 'items others' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'System'), METRICS.map((metric) => h('th', { class: 'up', scope: 'col' }, h('button', { type: 'button', tabindex: '-1' }, bare(metric.id)))), h('th', { scope: 'col' }, 'Prediction'))),
      h('tbody', {}, ranking(m).filter((k) => CELLS[k].s[e] >= 0).map(row)))));
}
