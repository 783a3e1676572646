
/* A plan of labels: its next question, without whose answer is whose, and the verdict on it. */

function planRows(plans) {
  return plans.length > 0 && h('section', { 'aria-label': 'Plans' }, h('div', { class: 'head' }, h('h2', {}, 'Plans')),
    scroller(h('table', {}, columns(['Plan'], ['Written (UTC)']), h('tbody', {}, plans.map((own) => h('tr', {}, h('th', { scope: 'row', class: 'path' }, h('a', { href: address(`labels/${own.id}`) }, planName(own))), h('td', { class: 'soft' }, when(own.changed))))))));
}

/* Its folder, as seen from the one that is looked at. */
const planName = ({ name }) => name.replace(/[\\/]?plan\.json$/, '') || 'Plan';

async function planPage(id, isCurrent) {
  let before = null;
  const judge = async (question, verdict) => {
    await tell('/api/judge', { plan: id, id: question.id, verdict: [verdict].flat() });
    before = question;
    await draw();
  };
  const draw = async (again) => {
    const plan = await ask('/api/plan', { id });
    if (!isCurrent()) return;
    const question = again ?? plan.question;
    const back = before && before !== question && h('button', { type: 'button', onclick: () => draw(before) }, `Back to ${before.id}`);
    replace(main, h('h1', {}, planName(plan)), h('p', { class: 'lead' }, plan.sentence), plan.notes.map((note) => h('p', { class: 'note' }, note)), numbers(plan),
      question && questionBox(question, judge, back), !question && back && h('p', {}, back));
  };
  await draw();
}

function numbers({ standings }) {
  const { quantities } = standings;
  return scroller(h('table', {}, columns(['Number'], ['Estimate', 'num'], ['Interval', 'num'], ['Sure']), h('tbody', {}, quantities.map((of) => h('tr', {}, h('th', { scope: 'row', class: 'name' }, of.name), h('td', { class: 'num' }, percent(of.estimate)),
    h('td', { class: 'num' }, of.low === null ? NONE : `${percent(of.low)} to ${percent(of.high)}`), h('td', {}, of.enough ? 'yes' : 'not yet'))))));
}

/* Rows as they are, or the first of them. */
const resultTable = (rows) => [h('p', { class: 'soft' }, rows.total > rows.rows.length ? `${many(rows.total, 'row')}, the first ${rows.rows.length}` : many(rows.total, 'row')),
  rows.columns.length > 0 && scroller(h('table', { class: 'result' }, columns(...rows.columns.map((text) => [text])), h('tbody', {}, rows.rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, cell)))))))];

function questionBox(question, judge, back) {
  /* An order that says nothing of the systems. */
  const isTurned = [...question.id].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 2 === 1;
  const order = question.results.map((_, at) => at);
  if (isTurned) order.reverse();
  const problem = h('span', { class: 'error', role: 'status' });
  const give = (verdict) => () => judge(question, verdict).catch((error) => replace(problem, error.message));
  const names = (places) => places.map((at) => question.results[at].systems[0]);
  const choices = verdicts(question, order, give, names);
  pageKeys = Object.fromEntries(choices.map(([key, , act]) => [key, act]));
  const witness = question.witness;
  return h('article', { class: 'finding' },
    h('h2', {}, question.question ?? 'The file has no text of this question', h('span', { class: 'soft' }, ` ${question.id} · ${question.db_id}`)),
    question.evidence && h('p', { class: 'note' }, question.evidence),
    h('p', {}, { 1: 'Does this result answer the question?', 2: 'Which of these two results answers the question?' }[order.length] ?? 'Which of these results answer the question?'),
    h('div', { class: 'side' }, order.map((place, at) => h('section', { 'aria-label': `Result ${at + 1}` }, order.length > 1 && h('h3', {}, `Result ${at + 1}`), question.results[place].rows && resultTable(question.results[place].rows), sqlBlock(solidTokens(question.results[place].sql), `Query ${at + 1}`)))),
    witness && h('section', {}, h('h3', {}, 'Both return the same rows here. On this small database they differ:'), witness.tables.map(([name, rows]) => [h('p', { class: 'name' }, name), resultTable(rows)]),
      h('div', { class: 'side' }, order.map((place, at) => h('div', {}, h('p', { class: 'name' }, `Result ${at + 1}`), resultTable(witness.results[place]))))),
    h('div', { class: 'labelling', role: 'group', 'aria-label': 'Your verdict' }, choices.map(([key, text, act, choice]) => choice ?? h('button', { type: 'button', title: key, onclick: act }, `${text} (${key})`)), back, problem));
}

/* Key, text and act of each verdict; of more than two results each is ticked, and then all are given. */
function verdicts(question, order, give, names) {
  const unsure = ['u', 'Not sure', give('unsure')];
  if (order.length === 1) return [['y', 'Right', give('right')], ['n', 'Wrong', give('wrong')], unsure];
  if (order.length === 2) return [['1', 'Only 1', give(names([order[0]]))], ['2', 'Only 2', give(names([order[1]]))], ['b', 'Both', give('right')], ['n', 'Neither', give('wrong')], unsure];
  const ticked = order.map((_, at) => h('input', { type: 'checkbox', 'aria-label': `Result ${at + 1} is right` }));
  const all = () => { const right = order.filter((_, at) => ticked[at].checked); give(right.length ? names(right) : 'wrong')(); };
  return [...ticked.map((box, at) => [String(at + 1), '', () => box.click(), h('label', {}, box, ` ${at + 1}`)]), ['s', 'These are right', all], unsure];
}
