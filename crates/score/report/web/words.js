/* Numbers and names in words. */

const NONE = '–';
const LEVELS = ['easy', 'medium', 'hard', 'extra', 'simple', 'moderate', 'challenging'];
const rankOf = (level) => (LEVELS.indexOf(level) < 0 ? LEVELS.length : LEVELS.indexOf(level));
const words = (status) => (status || 'not in the run').replaceAll('_', ' ');
const bare = (id) => id.replace(/@\d+$/, '');
const count = (n) => n.toLocaleString('en-US');
const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more || `${one}s`}`;
/* Texts in the order of numbers in them: 2 before 10. */
const byText = (a, b) => a.localeCompare(b, 'en', { numeric: true });
