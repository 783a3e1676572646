/* Ctrl-K: any place by some letters of its name. A page says which places there are: as [text, kind, address]. */

const MOST_PLACES = 12;
let placesOf = () => [];

/* Whether the letters stand in the text in that order; the better the earlier and the closer they stand. */
function closeness(text, wanted) {
  const whole = text.indexOf(wanted);
  if (whole >= 0) return whole / 1000;
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    gaps += at < 0 ? 0 : next - at - 1;
    at = next;
  }
  return 1 + gaps;
}

function placesLike(query) {
  const wanted = query.toLowerCase().replace(/\s+/g, '');
  const all = placesOf(query).map((place) => [closeness(`${place[0]} ${place[1]}`.toLowerCase().replace(/\s+/g, ''), wanted), place]);
  return all.filter(([how]) => how !== null).sort((a, b) => a[0] - b[0]).slice(0, MOST_PLACES).map(([, place]) => place);
}

function openPalette() {
  if (document.querySelector('dialog.palette')) return;
  const list = h('ul', { id: 'places', role: 'listbox', 'aria-label': 'Places' });
  const input = h('input', { type: 'search', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'places', 'aria-autocomplete': 'list', 'aria-label': 'Go to', placeholder: 'Go to …', autocomplete: 'off', spellcheck: 'false' });
  const box = h('dialog', { class: 'palette', 'aria-label': 'Go to' }, input, list);
  let found = [];
  let at = 0;
  const go = () => { const place = found[at]; box.close(); if (place) location.href = place[2]; };
  const draw = () => {
    replace(list, found.map(([text, kind], place) => h('li', { id: `place-${place}`, role: 'option', 'aria-selected': String(place === at), onclick: () => { at = place; go(); } },
      h('span', {}, text), h('span', { class: 'soft' }, kind))));
    input.setAttribute('aria-activedescendant', found.length ? `place-${at}` : '');
    if (found.length === 0) replace(list, h('li', { class: 'soft', role: 'option', 'aria-selected': 'false', 'aria-disabled': 'true' }, 'Nothing has these letters.'));
  };
  const look = () => { found = placesLike(input.value); at = 0; draw(); };
  input.addEventListener('input', look);
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) { event.preventDefault(); at = (at + step + found.length) % found.length; draw(); }
    if (event.key === 'Enter') { event.preventDefault(); go(); }
  });
  box.addEventListener('click', (event) => { if (event.target === box) box.close(); });
  box.addEventListener('close', () => box.remove());
  document.body.append(box);
  look();
  box.showModal();
}

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') { event.preventDefault(); openPalette(); }
});
