(() => {
'use strict';

/* Elements are built from text nodes and attributes only: no text of the data is ever read as HTML. */

const SVG_FREE_PROPERTIES = new Set(['value', 'selected', 'disabled', 'checked', 'hidden', 'open']);

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'css') for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (SVG_FREE_PROPERTIES.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

function select(label, options, value, change, className) {
  const list = h('select', { onchange: (event) => change(event.target.value) },
    options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
  return h('label', { class: `field ${className || ''}` }, label, list);
}

function segments(label, options, value, change) {
  return h('div', { class: 'segments', role: 'group', 'aria-label': label },
    options.map(([key, text]) => h('button', { type: 'button', 'aria-pressed': String(key === value), onclick: () => change(key) }, text)));
}

/* What may be wider than the page: it scrolls, keeps the pinned column in sight, and says how much is to the right. */
function scroller(content) {
  const box = h('div', { class: 'scroll' }, content);
  const onward = h('button', { type: 'button', onclick: () => box.scrollBy({ left: box.clientWidth * 0.6, behavior: 'smooth' }) });
  const more = h('div', { class: 'more', hidden: true }, onward);
  const frame = h('div', { class: 'scroller' }, more, box);
  const look = () => {
    const edge = box.getBoundingClientRect().right;
    const hidden = [...box.querySelectorAll('thead tr:last-child > *')].filter((cell) => cell.getBoundingClientRect().right > edge + 4).length;
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    frame.classList.toggle('right', rest > 4);
    frame.classList.toggle('left', box.scrollLeft > 4);
    more.hidden = box.scrollWidth - box.clientWidth <= 4;
    // The keyboard scrolls what has the focus.
    if (more.hidden) box.removeAttribute('tabindex'); else box.setAttribute('tabindex', '0');
    onward.disabled = rest <= 4;
    onward.textContent = rest <= 4 ? 'all columns seen' : `${hidden === 1 ? '1 more column' : hidden > 1 ? `${hidden} more columns` : 'more to the right'} →`;
  };
  box.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(look).observe(box);
  return frame;
}

/* One tooltip for the page, for the pointer and for the keyboard. */
const tip = document.getElementById('tip');
function showTip(target) {
  const text = target.getAttribute('data-tip');
  if (!text) return;
  tip.textContent = text;
  tip.hidden = false;
  const box = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
  const above = box.top - own.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 60 ? above : box.bottom + 8}px`;
}
for (const [enter, leave] of [['pointerover', 'pointerout'], ['focusin', 'focusout']]) {
  document.addEventListener(enter, (event) => { const t = event.target.closest?.('[data-tip]'); if (t) showTip(t); });
  document.addEventListener(leave, () => { tip.hidden = true; });
}

/* Light or dark, as the screen is or as the reader says. */
const THEMES = ['auto', 'light', 'dark'];
const themeButton = document.getElementById('theme');
const darkScreen = matchMedia('(prefers-color-scheme: dark)');
let theme = 'auto';
try { theme = THEMES.includes(localStorage.getItem('sqlgauge-theme')) ? localStorage.getItem('sqlgauge-theme') : 'auto'; } catch { /* a file may have no storage */ }
function applyTheme() {
  const dark = theme === 'dark' || (theme === 'auto' && darkScreen.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  themeButton.textContent = { auto: '◐ Auto', light: '○ Light', dark: '● Dark' }[theme];
  themeButton.setAttribute('aria-label', `Theme: ${theme}`);
}
function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  try { localStorage.setItem('sqlgauge-theme', theme); } catch { /* a file may have no storage */ }
  applyTheme();
}
themeButton.addEventListener('click', nextTheme);
darkScreen.addEventListener('change', applyTheme);
applyTheme();
