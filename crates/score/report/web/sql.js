/* SQL for the eye: tokens, layout by clause, token-level differences. The same rules as the terminal's. */

const KEYWORDS = new Set(('ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CROSS CURRENT DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FILTER '
  + 'FOLLOWING FROM FULL GLOB GROUP HAVING IN INNER INTERSECT IS ISNULL JOIN LEFT LIKE LIMIT NATURAL NOT NOTNULL NULL NULLS OFFSET ON OR '
  + 'ORDER OUTER OVER PARTITION PRECEDING RANGE RECURSIVE REGEXP RIGHT ROW ROWS SELECT THEN UNBOUNDED UNION USING VALUES WHEN WHERE WINDOW WITH').split(' '));
const TOKEN = /(\s+)|(--[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$))|(\d[\p{L}\p{N}.]*)|([\p{L}\p{N}_$@#]+)|(->>|<=|>=|<>|!=|==|\|\||<<|>>|->|[^])/gu;
const KINDS = ['space', 'com', 'str', 'quoted', 'nu', 'word', 'symbol'];
const CLAUSES = new Set(['FROM', 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'UNION', 'INTERSECT', 'EXCEPT', 'WINDOW']);
const JOINS = new Set(['JOIN', 'LEFT', 'RIGHT', 'FULL', 'INNER', 'CROSS', 'NATURAL']);
const MAX_CELLS = 4e6;
const MAX_SHOWN = 20000;

function tokens(sql) {
  const found = [];
  for (const match of sql.matchAll(TOKEN)) {
    const at = match.slice(1).findIndex((group) => group !== undefined);
    const upper = KINDS[at] === 'word' ? match[0].toUpperCase() : '';
    const keyword = KEYWORDS.has(upper) ? upper : '';
    found.push({ kind: keyword ? 'kw' : KINDS[at], text: match[0], keyword, space: false });
  }
  return found;
}

/* Tokens that count, each knowing whether a space stood before it. */
function solidTokens(sql) {
  const solid = [];
  let space = false;
  for (const token of tokens(sql)) {
    if (token.kind === 'space') { space = true; continue; }
    token.space = space;
    token.key = token.kind === 'kw' || token.kind === 'word' ? token.text.toLowerCase() : ({ '==': '=', '!=': '<>' })[token.text] || token.text;
    space = false;
    solid.push(token);
  }
  return solid;
}

const isName = (token) => token !== undefined && (token.kind === 'word' || token.kind === 'quoted');

/* What is compared: an alias counts as its table, and the table before a column not at all where the query reads one only. */
function resolveAliases(side) {
  const tables = new Set(); const aliases = new Map(); const places = new Map();
  side.forEach((token, at) => {
    if (!isName(token) || !['FROM', 'JOIN'].includes(side[at - 1]?.keyword)) return;
    const table = token.key;
    tables.add(table);
    const aliasAt = at + 1 + (side[at + 1]?.keyword === 'AS' ? 1 : 0);
    if (!isName(side[aliasAt])) return;
    const alias = side[aliasAt].key;
    aliases.set(alias, !aliases.has(alias) || aliases.get(alias) === table ? table : null);
    places.set(alias, [...(places.get(alias) || []), ...(aliasAt === at + 1 ? [aliasAt] : [at + 1, aliasAt])]);
  });
  for (const [alias, declared] of places) if (aliases.get(alias)) for (const at of declared) side[at].marked = false;
  side.forEach((token, at) => {
    if (!isName(token) || side[at + 1]?.text !== '.' || at + 2 >= side.length) return;
    const table = aliases.get(token.key);
    if (tables.size === 1 && (table || tables.has(token.key))) { token.marked = false; side[at + 1].marked = false; } else if (table) token.key = table;
  });
}

/* Sets `marked` on the tokens that the other query does not have. */
function markDifferences(left, right) {
  // A final semicolon ends the query and is no part of it.
  for (const side of [left, right]) { side.forEach((token, at) => { token.marked = !(at === side.length - 1 && token.text === ';'); }); resolveAliases(side); }
  [left, right] = [left, right].map((side) => side.filter((token) => token.marked));
  const keep = (a, b) => { a.marked = false; b.marked = false; };
  let from = 0;
  while (from < left.length && from < right.length && left[from].key === right[from].key) { keep(left[from], right[from]); from += 1; }
  let l = left.length; let r = right.length;
  while (l > from && r > from && left[l - 1].key === right[r - 1].key) { l -= 1; r -= 1; keep(left[l], right[r]); }
  const n = l - from; const k = r - from; const width = k + 1;
  if (n === 0 || k === 0 || (n + 1) * width > MAX_CELLS) return;
  const table = new Uint32Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = k - 1; j >= 0; j -= 1) {
      table[i * width + j] = left[from + i].key === right[from + j].key
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < n && j < k;) {
    if (left[from + i].key === right[from + j].key) { keep(left[from + i], right[from + j]); i += 1; j += 1; }
    else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
    else j += 1;
  }
}

function layout(solid) {
  const lines = [];
  let line = { indent: 0, tokens: [] };
  const open = [];
  let between = false;
  const turn = (extra) => {
    if (line.tokens.length) lines.push(line);
    line = { indent: open.filter(Boolean).length + extra, tokens: [] };
  };
  solid.forEach((token, at) => {
    const before = solid[at - 1]?.keyword; const after = solid[at + 1]?.keyword; const word = token.keyword;
    const inQuery = open.length ? open[open.length - 1] : true;
    if (token.text === ')') {
      if (open.pop()) turn(0);
    } else if (inQuery) {
      const selectOfSet = word === 'SELECT' && ['UNION', 'INTERSECT', 'EXCEPT', 'ALL'].includes(before);
      const join = JOINS.has(word) && !JOINS.has(before) && before !== 'OUTER';
      const condition = word === 'OR' || (word === 'AND' && !between);
      if (CLAUSES.has(word) || selectOfSet || join || condition) turn(join || condition ? 1 : 0);
    }
    if (word === 'BETWEEN') between = true; else if (word === 'AND') between = false;
    line.tokens.push([token, token.space && line.tokens.length > 0 && token.text !== ',' && token.text !== ';']);
    if (token.text === '(') {
      const subquery = ['SELECT', 'WITH', 'VALUES'].includes(after);
      open.push(subquery);
      if (subquery) turn(0);
    } else if (token.kind === 'com' && token.text.startsWith('--')) turn(0);
  });
  turn(0);
  return lines;
}

function colour(token) {
  return ['kw', 'str', 'nu', 'com'].includes(token.kind) ? h('span', { class: token.kind }, token.text) : token.text;
}

/* Neighbours that are both marked share one mark, with the space between them. */
function paint(pairs) {
  const nodes = [];
  let mark = null;
  for (const [token, space] of pairs) {
    if (token.marked) {
      if (mark) append(mark, [space ? ' ' : '', colour(token)]);
      else { if (space) nodes.push(' '); mark = h('mark', {}, colour(token)); nodes.push(mark); }
    } else {
      mark = null;
      nodes.push(space ? ' ' : '', colour(token));
    }
  }
  return nodes;
}

function sqlBlock(solid, label) {
  const lines = layout(solid.slice(0, MAX_SHOWN)).map((line) => h('span', { class: 'ln', css: { '--d': line.indent } }, paint(line.tokens)));
  const cut = solid.length > MAX_SHOWN ? h('span', { class: 'ln soft' }, `… ${count(solid.length - MAX_SHOWN)} more tokens`) : null;
  return h('pre', { class: 'sql', role: 'group', 'aria-label': label, tabindex: '0' }, h('code', { css: { 'font-size': 'inherit' } }, lines, cut));
}

/* The text exactly as it was given. */
function rawBlock(text, label) {
  return h('pre', { class: 'sql', role: 'group', 'aria-label': label, tabindex: '0' }, text);
}
