
/* What other commands left: findings of audits, and estimates over time. */

async function auditsPage({ parts, params }, isCurrent) {
  if (parts[1]) { await auditPage(parts[1], params, isCurrent); return; }
  const { audits, unread } = await readRecords();
  if (!isCurrent()) return;
  replace(main, h('h1', {}, 'Audits'), unreadNote(unread), audits.length === 0
    ? h('p', { class: 'empty' }, 'There is no audit below these folders. Write one with ', h('code', {}, 'sqlgauge audit … --output-format jsonl --out audit.jsonl'), '.')
    : scroller(h('table', {}, columns(['File'], ['Last written (UTC)']), h('tbody', {}, audits.map((own) => h('tr', {}, h('th', { scope: 'row', class: 'path' }, h('a', { href: address(`audits/${own.id}`) }, own.name)), h('td', { class: 'soft' }, when(own.changed))))))));
}

/* One that cannot be drawn says so and hides no other. */
function attempt(name, draw) {
  try { return draw(); } catch (error) { return h('p', { class: 'error' }, `${name} cannot be shown: ${error.message}. Write its file again with the command that made it.`); }
}

const unreadNote = (unread) => unread > 0 && h('p', { class: 'note' }, `${many(unread, '.jsonl file')} below these folders ${unread === 1 ? 'is' : 'are'} still to be looked into; reload the page to go on.`);

async function auditPage(id, params, isCurrent) {
  const audit = await ask('/api/audit', { id });
  if (!isCurrent()) return;
  const state = { rule: '', decision: 'open', ...Object.fromEntries(params) };
  const findingsOf = (item) => (Array.isArray(item.findings) ? item.findings : []).filter((finding) => typeof finding?.rule === 'string');
  const keyOf = (...parts) => JSON.stringify(parts);
  const golds = new Set(audit.items.map((item) => keyOf(item.id, item.shown)));
  const counts = (own) => golds.has(keyOf(own.id, own.shown));
  const decided = new Map(audit.decisions.filter(counts).map((own) => [keyOf(own.id, own.rule, own.shown), own]));
  const earlier = new Map(audit.decisions.filter((own) => !counts(own)).map((own) => [keyOf(own.id, own.rule), own]));
  const findings = audit.items.flatMap((item) => findingsOf(item).map((finding) => ({ item, finding, key: keyOf(item.id, finding.rule, item.shown), earlier: keyOf(item.id, finding.rule) })));
  const list = h('div', {});
  const rules = [...new Set(findings.map(({ finding }) => finding.rule))].sort();
  const update = (change) => { Object.assign(state, change); keep(`audits/${id}`, { rule: state.rule, decision: state.decision === 'open' ? '' : state.decision }); draw(); };
  const decide = async (own, decision, reason) => {
    await tell('/api/decide', { audit: id, id: own.item.id, rule: own.finding.rule, decision, reason, shown: own.item.shown });
    earlier.delete(own.earlier);
    if (decision) decided.set(own.key, { decision, reason }); else decided.delete(own.key);
    draw();
  };
  const draw = () => {
    const of = (own) => decided.get(own.key)?.decision ?? 'open';
    const wanted = findings.filter((own) => (!state.rule || own.finding.rule === state.rule) && (state.decision === 'any' || of(own) === state.decision));
    const rows = wanted.map((own) => ({ id: own.item.id, db_id: own.item.db_id, rule: own.finding.rule, standing: own.finding.standing, why: own.finding.why, decision: of(own), reason: decided.get(own.key)?.reason ?? '', sql: own.item.sql }));
    replace(list, h('p', { class: 'facts listed' }, h('span', { role: 'status' }, `${many(wanted.length, 'finding')} of ${count(findings.length)}, ${count(decided.size)} decided`), rows.length > 0 && exportButtons('findings', Object.keys(rows[0]), async function* all() { yield [rows, 1]; })),
      wanted.length === 0 && h('p', { class: 'empty' }, 'No finding is left here.'), wanted.slice(0, 200).map((own) => attempt(`${own.finding.rule} on ${own.item.id}`, () => findingBox(own, decided.get(own.key), earlier.get(own.earlier), decide))),
      wanted.length > 200 && h('p', { class: 'note' }, `The first 200 of ${count(wanted.length)}; choose a rule to see others.`));
  };
  replace(main, h('h1', {}, audit.name), h('p', { class: 'facts' }, `${many(audit.golds, 'gold')}. Rejected findings stand in ${audit.allowed}, for sqlgauge audit --allow.`),
    h('form', { class: 'filters', onsubmit: (event) => event.preventDefault() },
      select('Rule', [['', 'all rules'], ...rules.map((rule) => [rule, `${rule} (${count(findings.filter(({ finding }) => finding.rule === rule).length)})`])], state.rule, (rule) => update({ rule })),
      select('Decision', [['open', 'open'], ['accepted', 'accepted'], ['rejected', 'rejected'], ['any', 'any']], state.decision, (decision) => update({ decision }))), list);
  draw();
}

function findingBox(own, known, earlier, decide) {
  const { item, finding } = own;
  const problem = h('span', { class: 'error', role: 'status' });
  const reason = h('input', { type: 'search', value: known?.reason ?? '', placeholder: 'why it is no defect', 'aria-label': 'Reason', autocomplete: 'off' });
  const button = (text, decision) => h('button', { type: 'button', 'aria-pressed': String(known?.decision === decision), onclick: () => decide(own, known?.decision === decision ? null : decision, reason.value).catch((error) => replace(problem, error.message)) }, text);
  return h('article', { class: 'finding' },
    h('h3', {}, finding.rule, h('span', { class: 'soft' }, ` ${finding.standing} · ${item.id} · ${item.db_id}`)),
    item.question && h('p', {}, item.question), h('p', {}, finding.why), sqlBlock(solidTokens(item.sql), 'Gold query'),
    earlier && h('p', { class: 'note' }, `You ${earlier.decision} this for an earlier gold${earlier.reason ? ` (${earlier.reason})` : ''}; that does not count for this one.`),
    finding.evidence && [h('p', { class: 'soft' }, finding.evidence.title), scroller(h('table', { class: 'result' }, columns(...finding.evidence.columns.map((text) => [text])), h('tbody', {}, finding.evidence.rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, cell)))))))],
    finding.rewrite && [h('p', { class: 'soft' }, `Proposal${finding.rewrite.verdict ? ` (${finding.rewrite.verdict})` : ''}`), sqlBlock(solidTokens(finding.rewrite.sql), 'Proposal')],
    h('div', { class: 'labelling', role: 'group', 'aria-label': 'Your decision' }, button('Accept', 'accepted'), reason, button('Reject', 'rejected'), problem));
}

async function estimatesPage(_, isCurrent) {
  const { estimates, unread } = await readRecords();
  if (!isCurrent()) return;
  replace(main, h('h1', {}, 'Estimates'), unreadNote(unread), estimates.length === 0
    ? h('p', { class: 'empty' }, 'There is no estimate below these folders. Write one with ', h('code', {}, 'sqlgauge estimate … --out DIR'), ', or watch batches with ', h('code', {}, 'sqlgauge monitor --log FILE'), '.')
    : estimates.map((own) => attempt(own.name, () => estimateSection(own))));
}

function estimateSection(own) {
  const questions = (one) => (one.by_database ?? []).reduce((sum, part) => sum + part.count, 0);
  const row = (one) => h('tr', {}, h('th', { scope: 'row', class: 'name' }, one.system), h('td', { class: 'num' }, `${percent(one.interval.low)} to ${percent(one.interval.high)}`), h('td', { class: 'num' }, percent(one.accuracy)), h('td', { class: 'num' }, questions(one) ? count(questions(one)) : NONE),
    h('td', { class: 'num' }, percent(one.signals.find((signal) => signal.name === 'accuracy')?.known)), h('td', {}, one.method), h('td', {}, one.outside ? 'outside' : 'inside'));
  const signals = (one) => one.signals.length > 0 && h('details', {}, h('summary', {}, `What moves the estimate of ${one.system}`), (one.outside_because ?? []).map((text) => h('p', {}, text)),
    scroller(h('table', {}, columns(['Signal'], ['Labelled', 'num'], ['Target', 'num'], ['Points', 'num']), h('tbody', {}, one.signals.map((signal) => h('tr', {}, h('th', { scope: 'row' }, signal.name), ['known', 'target'].map((key) => h('td', { class: 'num' }, signal[key]?.toFixed(3) ?? NONE)), h('td', { class: 'num' }, points(signal.effect))))))));
  return h('section', {}, h('div', { class: 'head' }, h('h2', {}, own.name), h('span', { class: 'soft' }, when(own.changed)), own.report && h('a', { href: STORED ? `estimate/${own.id}.html` : `/estimate/${own.id}` }, 'Whole report')),
    own.problem && h('p', { class: 'error' }, own.problem), (own.drift ?? []).map(driftChart),
    own.estimates?.length > 0 && scroller(h('table', {}, columns(['System'], ['Interval', 'num'], ['Estimate', 'num'], ['Questions', 'num'], ['On labelled answers', 'num'], ['Method'], ['Target']), h('tbody', {}, own.estimates.map(row)))),
    (own.estimates ?? []).map(signals));
}

/* Estimates one after the other with their intervals; those with an alarm are marked. */
function driftChart(series) {
  const { points } = series;
  if (points.length === 0) return null;
  const alarms = new Map(series.alarms.map((alarm) => [alarm.label, alarm]));
  const [low, high] = [Math.min(...points.map((p) => p.low)), Math.max(...points.map((p) => p.high))];
  const x = (at) => 60 + at * 550 / Math.max(1, points.length - 1);
  const y = (share) => 112 - (share - low) / (high - low || 1) * 92;
  const chart = svg('svg', { class: 'trend', viewBox: '0 0 640 140', role: 'img', 'aria-label': `${series.system}: ${points.map((p) => `${p.label} ${percent(p.accuracy)}`).join(', ')}` });
  chart.append(svg('text', { x: 0, y: y(high) + 4 }, percent(high)), svg('text', { x: 0, y: y(low) + 4 }, percent(low)), svg('path', { d: points.map((p, at) => `${at ? 'L' : 'M'}${x(at)} ${y(p.accuracy)}`).join('') }));
  points.forEach((p, at) => chart.append(svg('line', { class: 'range', x1: x(at), x2: x(at), y1: y(p.low), y2: y(p.high) }), svg('circle', { class: alarms.has(p.label) ? 'alarm' : '', cx: x(at), cy: y(p.accuracy), r: alarms.has(p.label) ? 5 : 3 })));
  chart.append(svg('text', { x: 60, y: 134 }, points[0].label), svg('text', { x: 610, y: 134, 'text-anchor': 'end' }, points.at(-1).label));
  return h('div', {}, h('h3', { class: 'over' }, `${series.system}, estimate after estimate`), chart,
    series.alarms.map((alarm) => h('p', { class: alarm.gravity === 'alarm' ? 'error' : 'note' }, `${alarm.label}: ${alarm.message}`)));
}
