/* Numbers and names in words. */

const NONE = '–';
const LEVELS = ['easy', 'medium', 'hard', 'extra', 'simple', 'moderate', 'challenging'];
const rankOf = (level) => (LEVELS.indexOf(level) < 0 ? LEVELS.length : LEVELS.indexOf(level));
const words = (status) => (status === 'ok' ? 'runs' : status || 'not in the run').replaceAll('_', ' ');
const bare = (id) => id.replace(/@\d+$/, '');
const count = (n) => n.toLocaleString('en-US');
const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more || `${one}s`}`;
/* A number as the tables in a terminal round it: a half that is exact goes to the even digit. */
const fixed = (x, digits) => {
  const exact = Math.abs(x).toFixed(digits + 50);
  const cut = exact.length - 50;
  const isEven = Number(exact[cut - 1]) % 2 === 0;
  return (x < 0 ? '−' : '') + (isEven && /^50*$/.test(exact.slice(cut)) ? exact.slice(0, cut) : Math.abs(x).toFixed(digits));
};
/* A difference with its sign; nothing has none. */
const signed = (x, digits) => {
  const text = fixed(Math.abs(x), digits);
  return Number(text) === 0 ? text : (x < 0 ? '−' : '+') + text;
};
/* A p-value in a column: four decimals where three would round it up to the bar of 0.05. */
function pValue(p) {
  if (p < 0.001) return '< 0.001';
  if (p >= 0.0495 && p < 0.05) return p < 0.04995 ? p.toFixed(4) : '< 0.05';
  return p.toFixed(3);
}
/* The same in a sentence. */
const showP = (p) => (pValue(p)[0] === '<' ? `p ${pValue(p)}` : `p = ${pValue(p)}`);
/* The text with its first letter as a sentence has it. The id of a metric stays as it is. */
const capital = (text) => (text.split(' ')[0].includes('@') ? text : text[0].toUpperCase() + text.slice(1));
/* Words with their meanings that the page has not used yet. */
let unexplained = [];
/* A text in which the first use of each of them shows its meaning. */
function explained(text) {
  const places = unexplained.map((word) => [text.search(new RegExp(`(?<![\\w-])${word[0]}s?(?![\\w@-])`)), word]).filter(([at]) => at >= 0);
  if (places.length === 0) return text;
  const [at, word] = places.sort((a, b) => a[0] - b[0])[0];
  unexplained = unexplained.filter((other) => other !== word);
  const to = at + word[0].length;
  return [text.slice(0, at), h('abbr', { class: 'word', tabindex: '0', 'data-tip': `${word[0]}: ${word[1]}` }, text.slice(at, to)), explained(text.slice(to))];
}
/* Texts in the order of numbers in them: 2 before 10. */
const byText = (a, b) => a.localeCompare(b, 'en', { numeric: true });
