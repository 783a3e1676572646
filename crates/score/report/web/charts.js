/* Intervals and bars: simple shapes, placed by percent. */

const percent = (value) => `${Math.max(0, Math.min(100, value * 100))}%`;

/* A round scale around some values. */
function scale(values, floor, ceiling) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  if (known.length === 0) return { low: 0, high: 1, ticks: [0, 1] };
  let low = Math.min(...known); let high = Math.max(...known);
  const pad = Math.max((high - low) * 0.06, 1e-3);
  low = Math.max(floor, low - pad); high = Math.min(ceiling, high + pad);
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-6; k += 1) ticks.push(k * step);
  return { low, high, ticks };
}
const place = (s, value) => (value - s.low) / (s.high - s.low || 1);

function metricScale(m, scores) {
  return scale(scores.flatMap((score) => [score[0], score[1], score[2]]), 0, ownUnit(m) ? Infinity : 1);
}

/* The numbers of a scale, the last of them with its unit. */
function axis(m, s, unitText) {
  const text = (tick) => (ownUnit(m) ? fixed(tick, 2) : String(Math.round(tick * 1000) / 10).replace('-', '−'));
  return h('div', { class: 'axis', 'aria-hidden': 'true' },
    s.ticks.map((tick) => h('span', { css: { left: percent(place(s, tick)) } }, text(tick), tick === s.ticks.at(-1) && h('i', {}, unitText))));
}

function intervalPlot(s, score, full) {
  const [mean, low, high] = score;
  return h('div', { class: 'plot', 'aria-hidden': 'true' },
    s.ticks.map((tick) => h('i', { class: 'grid', css: { left: percent(place(s, tick)) } })),
    low !== null && h('i', { class: 'whisker', css: { left: percent(place(s, low)), width: percent(place(s, high) - place(s, low)) } }),
    mean !== null && h('i', { class: `dot${full ? ' full' : ''}`, css: { left: percent(place(s, mean)) } }));
}

function bar(score, top) {
  const [mean, low, high] = score;
  return h('div', { class: 'bar', 'aria-hidden': 'true' },
    mean !== null && h('i', { class: 'fill', css: { width: percent(mean / top) } }),
    low !== null && h('i', { class: 'range', css: { left: percent(low / top), width: percent(Math.min(1, high / top) - low / top) } }));
}

/* A difference with its interval around a line at zero. */
function differencePlot(s, c, strong) {
  return h('div', { class: 'plot', 'aria-hidden': 'true' },
    s.ticks.map((tick) => h('i', { class: Math.abs(tick) < 1e-9 ? 'grid zero' : 'grid', css: { left: percent(place(s, tick)) } })),
    h('i', { class: 'whisker', css: { left: percent(place(s, c.low)), width: percent(place(s, c.high) - place(s, c.low)) } }),
    h('i', { class: `dot${strong ? ' full' : ''}`, css: { left: percent(place(s, c.difference)) } }));
}
