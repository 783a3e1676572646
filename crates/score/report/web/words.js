/* Numbers and names in words. */

const NONE = '–';
const LEVELS = ['easy', 'medium', 'hard', 'extra', 'simple', 'moderate', 'challenging'];
const rankOf = (level) => (LEVELS.indexOf(level) < 0 ? LEVELS.length : LEVELS.indexOf(level));
const words = (status) => (status || 'not in the run').replaceAll('_', ' ');
const bare = (id) => id.replace(/@\d+$/, '');
const count = (n) => n.toLocaleString('en-US');
const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more || `${one}s`}`;
/* A number as the tables in a terminal round it: a half that is exact goes to the even digit. */
const fixed = (x, digits) => {
  const exact = Math.abs(x).toFixed(digits + 50);
  const cut = exact.length - 50;
  const isEven = Number(exact[cut - 1]) % 2 === 0;
  return isEven && /^50*$/.test(exact.slice(cut)) ? (x < 0 ? '-' : '') + exact.slice(0, cut) : x.toFixed(digits);
};
/* The text with its first letter as a sentence has it. The id of a metric stays as it is. */
const capital = (text) => (text.split(' ')[0].includes('@') ? text : text[0].toUpperCase() + text.slice(1));
/* Texts in the order of numbers in them: 2 before 10. */
const byText = (a, b) => a.localeCompare(b, 'en', { numeric: true });
