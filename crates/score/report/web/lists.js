/* Lists as files, and two systems' differences as a map. */

function saveAs(name, type, parts) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = h('a', { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/* As the CSV report has it: a text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvCell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
const csvLine = (values) => `${values.map(csvCell).join(',')}\r\n`;

/* Rows as CSV or as JSON lines. `rows` gives objects that all have the same keys. */
const SHAPES = {
  csv: { type: 'text/csv', head: (keys) => csvLine(keys), line: (row) => csvLine(Object.values(row)) },
  jsonl: { type: 'application/jsonl', head: () => '', line: (row) => `${JSON.stringify(row)}\n` },
};

/* Buttons that write what `rows` gives, piece by piece, into a file of that name. */
function exportButtons(name, keys, rows) {
  const said = h('span', { class: 'soft', role: 'status' });
  const write = (shape) => async (event) => {
    const button = event.target;
    button.disabled = true;
    const parts = [SHAPES[shape].head(keys)];
    try {
      for await (const [piece, share] of rows()) {
        parts.push(piece.map(SHAPES[shape].line).join(''));
        replace(said, share < 1 && `${Math.floor(share * 100)} %`);
      }
      saveAs(`${name}.${shape}`, SHAPES[shape].type, parts);
      replace(said);
    } catch (error) {
      replace(said, error.message);
    }
    button.disabled = false;
  };
  return h('span', { class: 'export' }, said, ['csv', 'jsonl'].map((shape) => h('button', { type: 'button', class: 'quiet', 'aria-label': `This list as ${shape.toUpperCase()}`, onclick: write(shape) }, shape.toUpperCase())));
}

/* Where two systems part: per row and column how many items only the first gets right, less those that only the second does. */
function partingMap(items, names, hrefOf) {
  const rows = [...new Set(items.map((item) => item.row))].sort(byText);
  const columns = [...new Set(items.map((item) => item.column))].sort((a, b) => rankOf(a) - rankOf(b) || byText(a, b));
  if (rows.length < 2 || columns.length < 2) return null;
  const tally = new Map();
  for (const { row, column, side } of items) {
    const key = JSON.stringify([row, column]);
    const own = tally.get(key) ?? [0, 0];
    own[side] += 1;
    tally.set(key, own);
  }
  const top = Math.max(...[...tally.values()].map(([a, b]) => Math.abs(a - b)), 1);
  const cell = (row, column) => {
    const own = tally.get(JSON.stringify([row, column]));
    if (!own) return h('td', { class: 'soft' }, '·');
    const net = own[0] - own[1];
    const text = `${row}, ${column}\nonly ${names[0]}: ${count(own[0])}\nonly ${names[1]}: ${count(own[1])}`;
    const shade = net === 0 ? 'n' : `${net > 0 ? 'b' : 'w'}${Math.abs(net) * 2 > top ? 2 : 1}`;
    const shown = net === 0 ? '0' : `${net > 0 ? '+' : '−'}${count(Math.abs(net))}`;
    const href = hrefOf?.(row, column);
    return h('td', {}, href
      ? h('a', { class: shade, href, 'data-tip': text, 'aria-label': `${shown}: ${text}` }, shown)
      : h('span', { class: shade, tabindex: '0', 'data-tip': text }, shown));
  };
  return h('section', { 'aria-label': 'Databases and difficulty' },
    h('div', { class: 'head' }, h('h2', {}, 'By database and difficulty'), h('span', { class: 'soft' }, `items that only ${names[0]} gets right, less those that only ${names[1]} does`)),
    scroller(h('table', { class: 'matrix parting' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'pin' }, 'Database'), columns.map((column) => h('th', { scope: 'col' }, column)))),
      h('tbody', {}, rows.map((row) => h('tr', {}, h('th', { scope: 'row', class: 'pin' }, row), columns.map((column) => cell(row, column))))))));
}
