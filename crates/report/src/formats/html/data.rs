//! The data of the page, made small: texts are pooled, scores are columns.
//!
//! Field names are short because they repeat; `web/data.js` is their only reader.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlgauge_metrics::MetricKind;
use sqlgauge_run::{Comparison, Item, ScoreSummary, SystemSummary};

use crate::{ItemView, Nature, Report, ReportError};

/// Bytes of pooled texts (queries, reasons, results) that a page carries; a browser still opens it at once.
/// Scores and statuses are always complete.
const MAX_TEXT_BYTES: usize = 48 << 20;
/// Rows of a result that a page carries per query.
const MAX_RESULT_ROWS: usize = 50;

#[derive(Serialize)]
struct Page<'a> {
    run: Run<'a>,
    metrics: Vec<Metric<'a>>,
    deciding: Option<&'a str>,
    statuses: Vec<&'a str>,
    systems: Vec<System<'a>>,
    comparisons: Vec<Compared>,
    examples: Vec<Example<'a>>,
    cells: Vec<Cells>,
    pool: Vec<Value>,
    gates: Vec<Value>,
    omitted: usize,
}

#[derive(Serialize)]
struct Run<'a> {
    tool: &'a str,
    engine: &'a str,
    command: &'a [String],
    options: &'a BTreeMap<String, Value>,
    inputs: &'a [sqlgauge_run::Input],
    examples: usize,
}

#[derive(Serialize)]
struct Metric<'a> {
    id: &'a str,
    kind: &'static str,
    lower: bool,
    about: &'static str,
}

/// Mean, low, high, count.
type Scored = (Option<f64>, Option<f64>, Option<f64>, usize);

#[derive(Serialize)]
struct System<'a> {
    name: &'a str,
    counts: sqlgauge_run::Counts,
    statuses: &'a BTreeMap<String, usize>,
    /// By metric, in the page's order.
    scores: Vec<Scored>,
    /// Dimension to group to scores by metric.
    by: BTreeMap<&'a str, BTreeMap<&'a str, Vec<Scored>>>,
}

/// Metric, first, second (positions), count, difference, low, high, p, only first, only second.
type Compared = (usize, usize, usize, usize, f64, f64, f64, f64, usize, usize);

/// What does not depend on the system.
#[derive(Serialize)]
struct Example<'a> {
    id: &'a str,
    i: usize,
    db: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    h: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    f: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    g: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<Value>,
}

/// One system's column: for every example the position of its status, its scores, and the positions of its
/// texts in the pool; -1 where there is none.
#[derive(Serialize)]
struct Cells {
    /// Status.
    s: Vec<i32>,
    /// Scores: metric, then example.
    m: Vec<Vec<Option<f64>>>,
    /// Prediction.
    p: Vec<i32>,
    /// Details: reasons by metric, error, result, other keys.
    x: Vec<i32>,
}

/// Writes the page's data as JSON that is safe inside a `<script>` element.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
    let page = page(report);
    let mut safe = Escaping { out };
    serde_json::to_writer(&mut safe, &page)?;
    Ok(())
}

/// Escapes what could end a script element or, in old readers, a line of script. In JSON these characters
/// stand only inside strings, where an escape means the same. `serde_json` hands over a string in whole
/// pieces between its own escapes, so that no character is split between two writes.
struct Escaping<'a> {
    out: &'a mut dyn Write,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut from = 0;
        for at in 0..bytes.len() {
            let (escape, length): (&[u8], usize) = match &bytes[at..] {
                [b'<', ..] => (b"\\u003c", 1),
                [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
                [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
                _ => continue,
            };
            self.out.write_all(&bytes[from..at])?;
            self.out.write_all(escape)?;
            from = at + length;
        }
        self.out.write_all(&bytes[from..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn page(report: &Report) -> Page<'_> {
    let metrics: Vec<&str> = report.summary.metrics.iter().map(String::as_str).collect();
    let (examples, positions) = examples(&report.items);
    let statuses = statuses(&report.items);
    let mut pool = Pool::default();
    let cells = cells(report, &metrics, &positions, &statuses, &mut pool);
    Page {
        run: Run {
            tool: &report.manifest.tool_version,
            engine: &report.manifest.engine,
            command: &report.manifest.command,
            options: &report.manifest.options,
            inputs: &report.manifest.inputs,
            examples: report.manifest.examples,
        },
        deciding: report.deciding_metric(),
        systems: report.summary.systems.iter().map(|s| system(s, &metrics)).collect(),
        comparisons: report.summary.comparisons.iter().filter_map(|c| compared(report, c)).collect(),
        metrics: metrics.iter().map(|id| metric(id)).collect(),
        gates: gates(report),
        statuses,
        examples,
        cells,
        pool: pool.values,
        omitted: pool.omitted,
    }
}

fn metric(id: &str) -> Metric<'_> {
    let Nature { kind, lower_is_better: lower, about } = Nature::of(id);
    let kind = match kind {
        MetricKind::Binary => "binary",
        MetricKind::Fraction => "fraction",
        MetricKind::Cost => "own",
    };
    Metric { id, kind, lower, about }
}

fn gates(report: &Report) -> Vec<Value> {
    let outcome = |o: crate::GateOutcome| json!({"system": o.system, "metric": o.gate.metric, "minimum": o.gate.minimum, "mean": o.mean, "passed": o.passed});
    report.gate_outcomes().into_iter().map(outcome).collect()
}

fn scored(score: Option<&ScoreSummary>) -> Scored {
    let Some(score) = score else { return (None, None, None, 0) };
    (score.mean.map(short), score.low.map(short), score.high.map(short), score.count)
}

/// Six digits are more than a screen shows.
fn short(value: f64) -> f64 {
    if value.abs() < 1e9 { (value * 1e6).round() / 1e6 } else { value }
}

fn system<'a>(system: &'a SystemSummary, metrics: &[&str]) -> System<'a> {
    let all = |scores: &BTreeMap<String, ScoreSummary>| -> Vec<Scored> {
        metrics.iter().map(|metric| scored(scores.get(*metric))).collect()
    };
    let by = system.breakdown.iter().map(|(dimension, groups)| {
        (dimension.as_str(), groups.iter().map(|(group, scores)| (group.as_str(), all(scores))).collect())
    });
    System {
        name: &system.system,
        counts: system.counts,
        statuses: &system.statuses,
        scores: all(&system.scores),
        by: by.collect(),
    }
}

fn compared(report: &Report, c: &Comparison) -> Option<Compared> {
    let position = |name: &str| report.summary.systems.iter().position(|s| s.system == name);
    let metric = report.summary.metrics.iter().position(|m| *m == c.metric)?;
    let (first, second) = (position(&c.first)?, position(&c.second)?);
    let (difference, low, high) = (short(c.difference), short(c.low), short(c.high));
    Some((metric, first, second, c.count, difference, low, high, c.p_value, c.only_first, c.only_second))
}

/// The distinct examples in the order of the gold file, and the position of each by its id.
fn examples(items: &[Item]) -> (Vec<Example<'_>>, HashMap<&str, usize>) {
    let mut first: HashMap<&str, ItemView<'_>> = HashMap::new();
    for item in items {
        let view = first.entry(&item.id).or_insert_with(|| ItemView::new(item));
        // A system that failed may carry fewer details than another on the same example.
        if item.details.len() > view.item.details.len() {
            *view = ItemView::new(item);
        }
    }
    let mut views: Vec<_> = first.into_values().collect();
    views.sort_by_key(|view| (view.item.index, view.item.id.as_str()));
    let positions = views.iter().enumerate().map(|(at, view)| (view.item.id.as_str(), at)).collect();
    (views.into_iter().map(example).collect(), positions)
}

fn example(view: ItemView<'_>) -> Example<'_> {
    Example {
        id: &view.item.id,
        i: view.item.index,
        db: &view.item.db_id,
        h: view.hardness(),
        d: view.difficulty(),
        f: view.features(),
        t: view.item.details.get("turn").filter(|turn| !turn.is_null()),
        q: view.question(),
        e: view.evidence(),
        g: view.golds(),
        r: view.gold_result().map(result),
    }
}

fn result(result: crate::ResultView<'_>) -> Value {
    let rows: Vec<&Value> = result.rows.iter().take(MAX_RESULT_ROWS).collect();
    json!({"columns": result.columns, "rows": rows, "total": result.total_rows})
}

fn statuses(items: &[Item]) -> Vec<&str> {
    let mut names: Vec<&str> = items.iter().map(|item| item.status.as_str()).collect();
    names.sort_unstable_by_key(|name| (*name != "ok", *name));
    names.dedup();
    names
}

fn cells(
    report: &Report,
    metrics: &[&str],
    positions: &HashMap<&str, usize>,
    statuses: &[&str],
    pool: &mut Pool,
) -> Vec<Cells> {
    let count = positions.len();
    let empty = || Cells {
        s: vec![-1; count],
        m: vec![vec![None; count]; metrics.len()],
        p: vec![-1; count],
        x: vec![-1; count],
    };
    let mut columns: Vec<Cells> = report.summary.systems.iter().map(|_| empty()).collect();
    let names: HashMap<&str, usize> =
        report.summary.systems.iter().enumerate().map(|(at, s)| (s.system.as_str(), at)).collect();
    for item in &report.items {
        let (Some(&column), Some(&at)) = (names.get(item.system.as_str()), positions.get(item.id.as_str()))
        else {
            continue;
        };
        let column = &mut columns[column];
        let view = ItemView::new(item);
        column.s[at] = statuses.iter().position(|s| *s == item.status).map_or(-1, position);
        for (scores, metric) in column.m.iter_mut().zip(metrics) {
            scores[at] = view.score(metric).map(short);
        }
        column.p[at] = view.prediction().map_or(-1, |text| pool.put(Value::from(text)));
        column.x[at] = extra(view, metrics).map_or(-1, |value| pool.put(value));
    }
    columns
}

fn extra(view: ItemView<'_>, metrics: &[&str]) -> Option<Value> {
    let mut map = Map::new();
    let said: Map<String, Value> = metrics
        .iter()
        .enumerate()
        .filter_map(|(at, metric)| Some((at.to_string(), view.metric_detail(metric)?.clone())))
        .collect();
    let other = view.other_details();
    let parts = [
        ("m", (!said.is_empty()).then(|| Value::Object(said))),
        ("e", view.error().map(Value::from)),
        ("g", view.gold_error().map(Value::from)),
        ("r", view.prediction_result().map(result)),
        ("o", (!other.is_empty()).then(|| Value::Object(other))),
    ];
    map.extend(parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    (!map.is_empty()).then_some(Value::Object(map))
}

fn position(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(-1)
}

/// Distinct values, each once: systems often agree to the letter.
#[derive(Default)]
struct Pool {
    values: Vec<Value>,
    known: HashMap<String, i32>,
    bytes: usize,
    omitted: usize,
}

impl Pool {
    /// The position of that value, -1 if the page is full.
    fn put(&mut self, value: Value) -> i32 {
        let text = value.to_string();
        if let Some(&at) = self.known.get(&text) {
            return at;
        }
        if self.bytes + text.len() > MAX_TEXT_BYTES {
            self.omitted += 1;
            return -1;
        }
        let at = position(self.values.len());
        self.bytes += text.len();
        self.values.push(value);
        self.known.insert(text, at);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_the_script_element() {
        let mut bytes = Vec::new();
        let hostile = "</script><!-- \u{2028}\u{2029} é <script>";
        serde_json::to_writer(&mut Escaping { out: &mut bytes }, hostile).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains('<') && !text.contains('\u{2028}') && !text.contains('\u{2029}'), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
