/* The data of the run and everything that is asked of it. */

const DATA = JSON.parse(document.getElementById('data').textContent);
const { systems: SYSTEMS, metrics: METRICS, examples: EXAMPLES, statuses: STATUSES, cells: CELLS, pool: POOL } = DATA;
const DIMENSIONS = [['difficulty', 'Difficulty'], ['hardness', 'Hardness'], ['feature', 'SQL feature'], ['db_id', 'Database'], ['turn', 'Turn'], ['interaction', 'Interaction']];

/* The files that hold the items, where they are not in the page; see pieces.js. */
const PIECES = DATA.pieces ?? null;

const byId = new Map(EXAMPLES.map((example, at) => [example.id, at]));
const systemAt = new Map(SYSTEMS.map((system, at) => [system.name, at]));
const metricAt = new Map(METRICS.map((metric, at) => [metric.id, at]));
const deciding = Math.max(0, metricAt.get(DATA.deciding) ?? 0);

const ownUnit = (m) => METRICS[m].kind === 'own';
const lowerIsBetter = (m) => METRICS[m].lower;
const isBinary = (m) => METRICS[m].kind === 'binary';
const scoreAt = (s, m, e) => CELLS[s].m[m][e];
const statusAt = (s, e) => (CELLS[s].s[e] < 0 ? null : STATUSES[CELLS[s].s[e]]);
const predictionAt = (s, e) => (PIECES ? pieceCell(s, e)?.[0] ?? null : CELLS[s].p[e] < 0 ? null : POOL[CELLS[s].p[e]]);
const extraAt = (s, e) => (PIECES ? pieceCell(s, e)?.[1] ?? {} : CELLS[s].x[e] < 0 ? {} : POOL[CELLS[s].x[e]]);
const goldResultAt = (s, e) => (PIECES ? extraAt(s, e).G : EXAMPLES[e].r);

/* The cause that a wrong answer counts under in the list of its system, as the summary counts; null where it has none. */
function causeAt(s, e) {
  const m = metricAt.get(SYSTEMS[s].fixes?.metric);
  if (m === undefined || !(scoreAt(s, m, e) < 1) || scoreAt(s, m, e) === null) return null;
  const status = statusAt(s, e);
  if (status === 'missing') return 'missing';
  if (status === 'unanswerable') return 'answered-unanswerable';
  const { e: error, w: why } = extraAt(s, e);
  if (error) return status === 'multiple_statements' ? 'several-statements' : 'does-not-run';
  if (!why || why.missing) return null;
  return why.sentence ? why.causes?.[0] ?? null : 'unclear';
}

function showScore(m, value, digits = 1) {
  if (value === null || value === undefined) return NONE;
  if (ownUnit(m)) return value >= 1000 ? count(Math.round(value)) : value.toFixed(2);
  return fixed(value * 100, digits);
}
const unit = (m) => (ownUnit(m) ? '' : ' %');
function showItem(value) {
  if (value === null || value === undefined) return NONE;
  return String(Math.round(value * 1000) / 1000);
}
const showDifference = (m, value) => (ownUnit(m) ? signed(value, 2) : signed(value * 100, 1));
/* The interval if every question stood for itself, where it is a different one. */
const plainTip = (m, score) => {
  const plain = score[4] && showInterval(m, [null, ...score[4]]);
  return plain && plain !== showInterval(m, score) ? `If questions were independent:\n${plain}` : null;
};
const showInterval = (m, score) => (score[1] === null ? '' : `${showScore(m, score[1])} to ${showScore(m, score[2])}`);

/* Why a metric gave its score, as far as anyone said. */
function reason(s, m, e) {
  const said = extraAt(s, e).m?.[m];
  if (typeof said === 'string') return said;
  if (said && typeof said.reason === 'string') return said.reason;
  const status = statusAt(s, e);
  if (status === 'missing') return 'The system gave no prediction.';
  // A metric may run what does not run as it is written.
  if (scoreAt(s, m, e) > 0) return '';
  if (status === 'gold_failed' && scoreAt(s, m, e) === null) return 'The gold query itself does not run: the benchmark’s failure, not the system’s.';
  if (status === 'timeout' && scoreAt(s, m, e) === 0) return 'The prediction was stopped at its time limit.';
  if (status && status !== 'ok' && scoreAt(s, m, e) === 0) return `The prediction does not run (${words(status)}).`;
  return '';
}

/* Systems by a metric, best first; those that it does not apply to come last. */
function ranking(m) {
  const sign = lowerIsBetter(m) ? 1 : -1;
  const mean = (s) => SYSTEMS[s].scores[m][0];
  return SYSTEMS.map((_, s) => s).sort((a, b) => (mean(a) === null) - (mean(b) === null) || sign * (mean(a) - mean(b)) || a - b);
}

/* Paired comparisons, with Holm's correction over all pairs of a metric. */
const comparisons = new Map();
for (const m of METRICS.keys()) {
  const own = DATA.comparisons.filter((c) => c[0] === m).sort((a, b) => a[7] - b[7]);
  let least = 0;
  own.forEach((c, rank) => {
    least = Math.max(least, Math.min(1, c[7] * (own.length - rank)));
    const [, a, b, n, difference, low, high, p, onlyA, onlyB, plain] = c;
    comparisons.set(`${m} ${a} ${b}`, { n, difference, low, high, p, holm: least, onlyA, onlyB, plain, pairs: own.length });
    comparisons.set(`${m} ${b} ${a}`, { n, difference: -difference, low: -high, high: -low, p, holm: least, onlyA: onlyB, onlyB: onlyA, plain: plain && [-plain[1], -plain[0], plain[2]], pairs: own.length });
  });
}
/* Whether a paired comparison is over the same items as both means. */
const sameItems = (m, a, b, n) => SYSTEMS[a].scores[m][3] === n && SYSTEMS[b].scores[m][3] === n;
/* What a comparison says if every question stood for itself, where that is different. */
const showPlain = (m, c) => {
  const words = (low, high, p) => `${showDifference(m, low)} to ${showDifference(m, high)}, ${showP(p)}`;
  const plain = c.plain && words(...c.plain);
  return plain && plain !== words(c.low, c.high, c.p) ? `if questions were independent: ${plain}` : '';
};
const comparison = (m, a, b) => comparisons.get(`${m} ${a} ${b}`);

/* The exact two-sided McNemar test, for a pair that the summary leaves out because the run has many systems. */
function mcnemar(onlyA, onlyB) {
  const n = onlyA + onlyB;
  let term = -n * Math.LN2; // logarithm of the probability of 0 of n
  let sum = 0;
  for (let k = 0; k <= Math.min(onlyA, onlyB); k += 1) {
    sum += Math.exp(term);
    term += Math.log((n - k) / (k + 1));
  }
  return Math.min(1, 2 * sum);
}
const better = (m, difference) => (lowerIsBetter(m) ? difference < 0 : difference > 0);

/* Whether an item is right by a metric: null where the metric does not apply or cannot say. */
function isRight(m, value) {
  if (value === null || value === undefined || ownUnit(m)) return null;
  return value >= 1;
}

function groupsOf(dimension) {
  const names = new Set();
  for (const system of SYSTEMS) for (const name of Object.keys(system.by[dimension] || {})) names.add(name);
  return [...names].sort((a, b) => rankOf(a) - rankOf(b) || byText(a, b));
}
function dimensions() {
  const known = DIMENSIONS.filter(([key]) => groupsOf(key).length > 0);
  const all = new Set(SYSTEMS.flatMap((system) => Object.keys(system.by)));
  const other = [...all].filter((key) => !DIMENSIONS.some(([name]) => name === key) && groupsOf(key).length > 0);
  return [...known, ...other.map((key) => [key, key])];
}

/* The first of some groupings that holds nearly as many items as any: a few items without a label change nothing. */
function widest(groupings, sizeOf) {
  const most = Math.max(...groupings.map(sizeOf));
  return groupings.find((grouping) => 10 * sizeOf(grouping) >= 9 * most);
}

/* Share of systems that are right on each example, by metric. */
const solvedCache = new Map();
function solved(m) {
  if (!solvedCache.has(m)) {
    solvedCache.set(m, EXAMPLES.map((_, e) => {
      let right = 0; let asked = 0;
      for (const s of SYSTEMS.keys()) {
        const verdict = isRight(m, scoreAt(s, m, e));
        if (verdict !== null) { asked += 1; right += verdict ? 1 : 0; }
      }
      return [right, asked];
    }));
  }
  return solvedCache.get(m);
}

/* Text search: each term is looked up once per distinct text. */
const lower = { examples: null, pool: null };
const termsOf = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);
const exampleText = (x) => [x.id, x.db, x.q, x.e, ...(x.g || [])].join('\n').toLowerCase();
function matcher(query) {
  const terms = termsOf(query);
  if (terms.length === 0) return () => true;
  lower.examples ||= EXAMPLES.map(exampleText);
  lower.pool ||= POOL.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase());
  const hits = terms.map((term) => ({ examples: lower.examples.map((t) => t.includes(term)), pool: lower.pool.map((t) => t.includes(term)) }));
  return (s, e) => hits.every((hit) => hit.examples[e] || hit.pool[CELLS[s].p[e]] || hit.pool[CELLS[s].x[e]]);
}

/* Addresses. */
const query = (values) => {
  const kept = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return kept.length ? `?${new URLSearchParams(kept)}` : '';
};
const itemHref = (s, e) => `#/item/${encodeURIComponent(SYSTEMS[s].name)}/${encodeURIComponent(EXAMPLES[e].id)}`;
const compareHref = (a, b, m) => `#/compare${query({ a: SYSTEMS[a].name, b: SYSTEMS[b].name, metric: METRICS[m].id })}`;
const metricOptions = () => METRICS.map((metric) => [metric.id, metric.id]);
