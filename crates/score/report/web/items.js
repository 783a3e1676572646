/* Every system's answer to every question: filter, sort, search. A page at a time, so that a hundred systems stay quick. */

const PER_PAGE = 50;
let lastList = null;

async function itemsPage(params, main, isCurrent) {
  await needColumns([...SYSTEMS.keys()]);
  if (!isCurrent()) return;
  const state = { system: '', metric: METRICS[deciding]?.id ?? '', outcome: '', db: '', hardness: '', difficulty: '', feature: '', status: '', cause: '', q: '', sort: '', dir: '', page: '1', ...Object.fromEntries(params) };
  if (!metricAt.has(state.metric)) state.metric = METRICS[deciding]?.id ?? '';
  const values = (key) => [...new Set(EXAMPLES.flatMap((example) => example[key] ?? []))].sort((a, b) => (LEVELS.indexOf(a) - LEVELS.indexOf(b)) || a.localeCompare(b));
  const options = (any, list, text) => [['', any], ...list.map((value) => [value, text ? text(value) : value])];
  const body = h('div', {});
  const update = (change) => {
    Object.assign(state, { page: '1' }, change);
    const kept = { ...state, metric: state.metric === METRICS[deciding].id ? '' : state.metric, page: state.page === '1' ? '' : state.page };
    history.replaceState(null, '', `#/items${query(kept)}`);
    draw();
  };
  let drawing = 0;
  const draw = async () => {
    drawing += 1;
    const own = drawing;
    const isWanted = () => own === drawing && isCurrent();
    const say = (text) => { if (isWanted()) replace(body, h('p', { class: 'facts', role: 'status' }, text)); return isWanted(); };
    const table = await itemsTable(state, update, say).catch((error) => [h('p', { class: 'error' }, error.message)]);
    if (isWanted() && table) replace(body, table);
  };
  const filter = (label, key, list) => (list.length > 1 ? select(label, list, state[key], (value) => update({ [key]: value })) : null);
  const some = (label, key, field) => { const list = values(field); return list.length ? filter(label, key, options('any', list)) : null; };
  let waiting = 0;
  const search = h('input', { type: 'search', id: 'search', value: state.q, placeholder: 'question, SQL, reason, id', autocomplete: 'off', spellcheck: 'false',
    oninput: (event) => { clearTimeout(waiting); waiting = setTimeout(() => update({ q: event.target.value }), 150); } });
  replace(main,
    h('h1', {}, 'Items'),
    h('form', { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
      h('label', { class: 'field wide' }, 'Search ', search),
      SYSTEMS.length > 1 && filter('System', 'system', options('all systems', SYSTEMS.map((s) => s.name))),
      METRICS.length > 1 && select('Metric', metricOptions(), state.metric, (value) => update({ metric: value })),
      filter('Outcome', 'outcome', [['', 'any'], ['right', 'right'], ['wrong', 'not right'], ['na', 'does not apply'], ['none', 'no system is right'], ['one', 'one system is right'], ['split', 'systems disagree']]),
      some('Hardness', 'hardness', 'h'), some('Difficulty', 'difficulty', 'd'), some('SQL feature', 'feature', 'f'), some('Database', 'db', 'db'),
      filter('Status', 'status', options('any', STATUSES, words)),
      // The causes of items in files beside the page are not known before the files are loaded.
      PIECES ? null : filter('Cause', 'cause', causeOptions())),
    body);
  await draw();
}

/* Every cause of the run with its title. */
function causeOptions() {
  const titles = new Map(SYSTEMS.flatMap((system) => (system.fixes?.causes ?? []).map(([id, title]) => [id, title])));
  return titles.size ? [['', 'any'], ...[...titles].sort((a, b) => byText(a[1], b[1]))] : [];
}

/* Pairs (system, example) as one number each: system × examples + example. */
function filtered(state, m) {
  const hit = PIECES ? () => true : matcher(state.q);
  const only = state.system === '' ? [...SYSTEMS.keys()] : [systemAt.get(state.system)].filter((s) => s !== undefined);
  const shares = ['none', 'one', 'split'].includes(state.outcome) ? solved(m) : null;
  const wanted = (e) => {
    const x = EXAMPLES[e];
    if (state.db && x.db !== state.db) return false;
    if (state.hardness && x.h !== state.hardness) return false;
    if (state.difficulty && x.d !== state.difficulty) return false;
    if (state.feature && !(x.f || []).includes(state.feature)) return false;
    if (!shares) return true;
    const [right, asked] = shares[e];
    if (state.outcome === 'none') return asked > 0 && right === 0;
    if (state.outcome === 'one') return right === 1 && asked > 1;
    return right > 0 && right < asked;
  };
  const status = state.status === '' ? null : STATUSES.indexOf(state.status);
  const list = [];
  // By question, then by system: the order of a list that is not sorted otherwise.
  for (const e of EXAMPLES.keys()) {
    if (!wanted(e)) continue;
    for (const s of only) {
      const own = CELLS[s].s[e];
      if (own < 0 || (status !== null && own !== status)) continue;
      if (['right', 'wrong', 'na'].includes(state.outcome)) {
        const verdict = isRight(m, scoreAt(s, m, e));
        if ((state.outcome === 'right') !== (verdict === true) || (state.outcome === 'wrong') !== (verdict === false)) continue;
      }
      if (state.cause && !PIECES && causeAt(s, e) !== state.cause) continue;
      if (!hit(s, e)) continue;
      list.push(s * EXAMPLES.length + e);
    }
  }
  return list;
}

function sorted(list, state, m) {
  const n = EXAMPLES.length;
  if (state.sort === '' || (state.sort === 'id' && state.dir !== 'down')) return list;
  const key = {
    id: (s, e) => e,
    system: (s) => SYSTEMS[s].name,
    db: (s, e) => EXAMPLES[e].db,
    hardness: (s, e) => rankOf(EXAMPLES[e].d ?? EXAMPLES[e].h),
    status: (s, e) => CELLS[s].s[e],
    solved: (s, e) => { const [right, asked] = solved(m)[e]; return asked ? right / asked : -1; },
  }[state.sort] ?? (metricAt.has(state.sort) ? (s, e) => scoreAt(s, metricAt.get(state.sort), e) ?? -1 : (s, e) => e);
  const keys = list.map((at) => key(Math.floor(at / n), at % n));
  const sign = state.dir === 'down' ? -1 : 1;
  // The sort is stable: items with one key stay by question and system.
  const order = list.map((_, at) => at).sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : 0));
  return order.map((at) => list[at]);
}

function scoreMark(m, value) {
  if (value === null || value === undefined) return h('span', { class: 'soft', 'aria-label': 'does not apply' }, NONE);
  if (ownUnit(m)) return value.toFixed(2);
  if (value >= 1) return h('span', { class: 'pass', 'aria-label': 'right' }, '✓');
  if (value <= 0) return h('span', { class: 'fail', 'aria-label': 'wrong' }, '✗');
  return value.toFixed(2);
}

/* What a file of the list has of each item. */
const exportKeys = () => ['system', 'id', 'db_id', 'hardness', 'difficulty', 'features', 'status', ...METRICS.map((metric) => metric.id), 'question', 'gold', 'prediction'];
function exportedItem(at) {
  const s = Math.floor(at / EXAMPLES.length); const e = at % EXAMPLES.length; const x = EXAMPLES[e];
  return { system: SYSTEMS[s].name, id: x.id, db_id: x.db, hardness: x.h ?? null, difficulty: x.d ?? null, features: x.f ?? [], status: statusAt(s, e),
    ...Object.fromEntries(METRICS.map((metric, m) => [metric.id, scoreAt(s, m, e)])), question: x.q ?? null, gold: x.g?.[0] ?? null, prediction: predictionAt(s, e) };
}
async function* exported(list) {
  const step = PIECES ? PIECES.size : list.length;
  for (let from = 0; from < list.length; from += step) {
    const part = list.slice(from, from + step);
    await needItems(part.map((at) => [Math.floor(at / EXAMPLES.length), at % EXAMPLES.length]));
    yield [part.map(exportedItem), (from + part.length) / list.length];
  }
}

async function itemsTable(state, update, say) {
  const m = metricAt.get(state.metric) ?? 0;
  let found = filtered(state, m);
  if (PIECES && termsOf(state.q).length > 0) {
    found = await searchPieces(state.q, found, (done, of, hits) => say(`Searching the files of the report: ${count(done)} of ${count(of)}, ${many(hits, 'answer')} so far.`));
    if (found === null) return null;
  }
  const list = sorted(found, state, m);
  lastList = list;
  const pages = Math.max(1, Math.ceil(list.length / PER_PAGE));
  const page = Math.min(pages, Math.max(1, Number(state.page) || 1));
  const from = (page - 1) * PER_PAGE;
  const visible = list.slice(from, from + PER_PAGE);
  await needItems(visible.map((at) => [Math.floor(at / EXAMPLES.length), at % EXAMPLES.length]));
  const several = SYSTEMS.length > 1;
  const header = (key, text, className) => h('th', { scope: 'col', class: className, 'aria-sort': state.sort === key ? (state.dir === 'down' ? 'descending' : 'ascending') : null },
    h('button', { type: 'button', onclick: () => update({ sort: key, dir: state.sort === key && state.dir !== 'down' ? 'down' : '' }) }, text));
  const labelled = EXAMPLES.some((x) => x.h || x.d);
  const row = (at) => {
    const s = Math.floor(at / EXAMPLES.length); const e = at % EXAMPLES.length;
    const x = EXAMPLES[e]; const prediction = predictionAt(s, e); const status = statusAt(s, e);
    const [right, asked] = solved(m)[e];
    return h('tr', { class: 'link' },
      h('td', { class: 'soft' }, x.id),
      h('td', { class: 'q' }, h('a', { href: itemHref(s, e) }, several && h('span', { class: 'sub narrow' }, [SYSTEMS[s].name, x.d ?? x.h].filter(Boolean).join(' · ')), h('span', { class: 'words' }, x.q ?? x.g?.[0] ?? `item ${x.id}`),
        h('span', { class: 'pred' }, prediction === null ? '(no prediction)' : prediction.slice(0, 300) || '(empty)'))),
      several && h('td', { class: 'sec name' }, SYSTEMS[s].name),
      h('td', { class: 'sec name' }, x.db),
      labelled && h('td', { class: 'sec tag' }, x.d ?? x.h ?? NONE),
      h('td', { class: `sec tag ${status === 'ok' ? 'soft' : 'fail'}` }, words(status)),
      METRICS.map((_, k) => h('td', { class: `m${k === m ? ' sorted' : ''}` }, scoreMark(k, scoreAt(s, k, e)))),
      several && h('td', { class: 'num soft sec' }, asked ? `${right}/${asked}` : NONE));
  };
  const summary = list.length === 0 ? 'No answer matches.' : `${many(list.length, 'answer')}${list.length > PER_PAGE ? `, ${count(from + 1)}–${count(from + visible.length)} shown` : ''}`;
  const turn = (to, text, label) => h('button', { type: 'button', disabled: to < 1 || to > pages || to === page, 'aria-label': label, onclick: () => { update({ page: String(to) }); scrollTo(0, 0); } }, text);
  return [
    h('p', { class: 'facts listed' }, h('span', { role: 'status' }, summary), list.length > 0 && exportButtons('items', exportKeys(), () => exported(list)),
      DATA.omitted > 0 && ` The texts of ${many(DATA.omitted, 'entry', 'entries')} did not fit into this file; all scores are here, the texts are in items.jsonl.`),
    list.length === 0
      ? h('p', { class: 'empty' }, 'Nothing matches these filters. ', h('a', { href: '#/items' }, 'Clear them'), '.')
      : scroller(h('table', { class: 'items' },
        h('thead', {}, h('tr', {}, header('id', '#'), h('th', { scope: 'col' }, 'Question and prediction'), several && header('system', 'System', 'sec'), header('db', 'Database', 'sec'),
          labelled && header('hardness', EXAMPLES.some((x) => x.d) ? 'Difficulty' : 'Hardness', 'sec'), header('status', 'Status', 'sec'),
          METRICS.map((metric) => header(metric.id, bare(metric.id), 'up')), several && header('solved', ['Systems right', h('br'), `by ${bare(METRICS[m].id)}`], 'num sec'))),
        h('tbody', {}, visible.map(row)))),
    pages > 1 && h('div', { class: 'pager' }, turn(1, '«', 'First page'), turn(page - 1, 'Previous'), h('span', { class: 'soft' }, `page ${count(page)} of ${count(pages)}`), turn(page + 1, 'Next'), turn(pages, '»', 'Last page')),
  ];
}
