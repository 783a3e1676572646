/* Large runs: the items are in files beside the page. A page that was opened from disk may not request a file, but it may load a script, and each file is one. A server sends JSON instead. */

const MOST_PIECES = Math.max(100, 2 * SYSTEMS.length);
const arrived = new Map();
const requested = new Map();
const itemPieces = new Map();
/* A server gives items one by one. */
const SERVED = document.querySelector('meta[name="sqlgauge-run"]') !== null;
const MOST_ALONE = 200;
const MOST_TOGETHER = 40;
const MOST_KEPT = 2000;
const aloneItems = new Map();

window.sqlgaugePiece = (name, text) => { arrived.set(name, text); };

const placeOf = (name) => (name.startsWith('alone/') ? name : `${encodeURIComponent(PIECES.folder)}/${name}`);

function loadScript(name) {
  const script = h('script', { src: `${placeOf(name)}.js` });
  return new Promise((resolve, reject) => {
    const end = () => {
      script.remove();
      const text = arrived.get(name);
      arrived.delete(name);
      if (text === undefined) reject(new Error(`The file ${PIECES.folder}/${name}.js could not be loaded. It belongs beside this page: keep the folder ${PIECES.folder} with it, or write the report again.`));
      else resolve(JSON.parse(text));
    };
    script.addEventListener('load', end);
    script.addEventListener('error', end);
    document.head.append(script);
  });
}

const requestPiece = (name) => (SERVED ? window.sqlgaugeRequest(`${placeOf(name)}.json`) : loadScript(name));

/* A piece, loaded once; one that failed is tried again. */
function loadPiece(name) {
  if (!requested.has(name)) requested.set(name, requestPiece(name).catch((error) => { requested.delete(name); throw error; }));
  return requested.get(name);
}

const pieceOf = (e) => Math.floor(e / PIECES.size);
const shownRows = (found) => (Array.isArray(found?.rows) && Array.isArray(found.columns)
  ? { columns: found.columns, rows: found.rows.slice(0, 50), total: found.total_rows ?? found.rows.length, ...(found.beginning && { least: true }) }
  : undefined);

/* An item from its details in the log: prediction and what a page that has everything says of it, see data.js. A number names the system that said the same. */
function cellOf(details) {
  if (details === null || typeof details === 'number') return details;
  const { prediction, metrics, error, gold_error: goldError, gold_result: gold, prediction_result: result, why, ...other } = details;
  const said = Object.fromEntries([...METRICS.entries()].map(([at, { id }]) => [at, metrics?.[id]]).filter(([, own]) => own !== undefined));
  const parts = { m: said, e: error, g: goldError, r: shownRows(result), w: why, o: other, G: shownRows(gold) };
  const isEmpty = (part) => part === undefined || (typeof part === 'object' && Object.keys(part).length === 0);
  return [prediction ?? null, Object.fromEntries(Object.entries(parts).filter(([, part]) => !isEmpty(part)))];
}

const ownCell = (s, e) => itemPieces.get(`${s}-${pieceOf(e)}`)?.[e % PIECES.size] ?? null;
/* Prediction and details of an item that is there; a number names the system that said the same. */
function pieceCell(s, e) {
  const alone = aloneItems.get(`${s}-${e}`);
  if (alone) return alone;
  const own = ownCell(s, e);
  return typeof own === 'number' ? ownCell(own, e) : own;
}

async function needExamples() {
  if (!PIECES || EXAMPLES.length > 0) return;
  const labels = await loadPiece('examples');
  if (EXAMPLES.length > 0) return;
  for (const example of labels) {
    byId.set(example.id, EXAMPLES.length);
    EXAMPLES.push(example);
  }
  requested.delete('examples');
}

const takeTexts = (e, own) => Object.assign(EXAMPLES[e], { q: own.q ?? undefined, e: own.e ?? undefined, g: own.g, texts: true });

async function needTextsOf(piece) {
  const first = piece * PIECES.size;
  if (EXAMPLES.slice(first, first + PIECES.size).every((example) => example.texts)) return;
  const texts = await loadPiece(`examples-${piece}`);
  texts.forEach((own, at) => takeTexts(first + at, own));
  requested.delete(`examples-${piece}`);
}

async function needItemsOf(s, piece) {
  const key = `${s}-${piece}`;
  if (itemPieces.has(key)) return;
  const cells = await loadPiece(`items-${key}`);
  requested.delete(`items-${key}`);
  itemPieces.set(key, cells.map(cellOf));
}

/* Labels of all questions, and statuses and scores of those systems. */
async function needColumns(list) {
  if (!PIECES) return;
  await needExamples();
  await Promise.all(list.filter((s) => !CELLS[s]).map(async (s) => {
    const cells = await loadPiece(`columns-${s}`);
    CELLS[s] = cells;
    requested.delete(`columns-${s}`);
  }));
}

/* Some items without the rest of their pieces, from a server. The log may have grown under the page: what is not the item that was meant is left to its piece. */
async function needAlone(items) {
  if (aloneItems.size > MOST_KEPT) aloneItems.clear();
  const missing = items.filter(([s, e]) => !pieceCell(s, e) || !EXAMPLES[e].texts);
  const parts = [];
  for (let from = 0; from < missing.length; from += MOST_TOGETHER) parts.push(missing.slice(from, from + MOST_TOGETHER));
  await Promise.all(parts.map(async (part) => {
    const name = `alone/${part.map((item) => item.join('-')).join('.')}`;
    const found = await loadPiece(name).catch(() => []);
    requested.delete(name);
    found.forEach((item, at) => {
      const [s, e] = part[at];
      if (item?.system !== SYSTEMS[s].name || item.id !== EXAMPLES[e].id) return;
      aloneItems.set(`${s}-${e}`, cellOf(item.details));
      takeTexts(e, item.texts);
    });
  }));
  return items.filter(([s, e]) => !pieceCell(s, e) || !EXAMPLES[e].texts);
}

/* Everything about those items, as [system, example]. */
async function needItems(items) {
  if (!PIECES) return;
  await needColumns([...new Set(items.map(([s]) => s))]);
  let there = items.filter(([s, e]) => CELLS[s].s[e] >= 0);
  if (SERVED && there.length <= MOST_ALONE) {
    there = await needAlone(there);
    if (there.length === 0) return;
  }
  const load = async (list) => {
    const keys = new Set(list.map(([s, e]) => `${s}-${pieceOf(e)}`));
    for (const key of itemPieces.keys()) {
      if (itemPieces.size + keys.size <= MOST_PIECES) break;
      if (!keys.has(key)) itemPieces.delete(key);
    }
    await Promise.all([...keys].map((key) => needItemsOf(...key.split('-').map(Number))));
  };
  await Promise.all([...new Set(items.map(([, e]) => pieceOf(e)))].map(needTextsOf));
  await load(there);
  const alike = there.map(([s, e]) => [ownCell(s, e), e]).filter(([s]) => typeof s === 'number');
  if (alike.length > 0) await load([...there, ...alike]);
}

/* The items among those whose texts have every term. Goes through the files one after the other; `say` hears how far it is and answers whether to go on. */
async function searchPieces(query, list, say) {
  const terms = termsOf(query);
  const n = EXAMPLES.length;
  const byPiece = new Map();
  for (const at of list) {
    const piece = pieceOf(at % n);
    if (!byPiece.has(piece)) byPiece.set(piece, []);
    byPiece.get(piece).push(at);
  }
  const found = [];
  let done = 0;
  for (const [piece, own] of byPiece) {
    if (!say(done, byPiece.size, found.length)) return null;
    await needTextsOf(piece);
    const missing = new Map();
    const pending = [];
    for (const at of own) {
      const e = at % n;
      if (!missing.has(e)) { const text = exampleText(EXAMPLES[e]); missing.set(e, terms.filter((term) => !text.includes(term))); }
      if (missing.get(e).length === 0) found.push(at);
      else pending.push(at);
    }
    if (pending.length > 0) {
      await needItems(pending.map((at) => [Math.floor(at / n), at % n]));
      for (const at of pending) {
        const text = JSON.stringify(pieceCell(Math.floor(at / n), at % n) ?? '').toLowerCase();
        if (missing.get(at % n).every((term) => text.includes(JSON.stringify(term).slice(1, -1)))) found.push(at);
      }
    }
    done += 1;
  }
  return found;
}
