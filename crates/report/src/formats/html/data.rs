//! The data of the page, made small: texts are pooled, scores are columns.
//!
//! The items pass by once: what a page carries of them is kept as it will be written, each text once, so that
//! memory follows the page and not the run. Where the texts are more than a page should carry, they go into
//! [`Pieces`] as they pass by. Field names are short because they repeat; `web/data.js` is their only reader.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufWriter, Write};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sqlgauge_metrics::MetricKind;
use sqlgauge_run::{Comparison, Entry, Item, ScoreSummary, SystemSummary};

use super::pieces::{Pieces, Quoted};
use crate::{ItemView, Nature, Report, ReportError};

/// Bytes of texts (questions, queries, reasons, results; each distinct one once) that a page carries; a browser
/// still opens it at once. Scores and statuses are always complete.
const MAX_TEXT_BYTES: usize = 48 << 20;
/// Rows of a result that a page carries per query.
const MAX_RESULT_ROWS: usize = 50;

#[derive(Serialize)]
struct Page<'a> {
    run: Run<'a>,
    metrics: Vec<Metric<'a>>,
    deciding: Option<&'a str>,
    statuses: Vec<String>,
    systems: Vec<System<'a>>,
    comparisons: Vec<Compared>,
    examples: Vec<Box<RawValue>>,
    cells: Vec<Cells>,
    pool: Vec<Box<RawValue>>,
    gates: Vec<Value>,
    omitted: usize,
    /// Where examples, cells and texts are, if they are not in the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<InPieces>,
    warnings: Vec<String>,
    /// What a reader may want to know of the items, in words.
    notes: Vec<String>,
}

/// The files beside the page.
#[derive(Serialize)]
struct InPieces {
    folder: String,
    /// Examples per piece.
    size: usize,
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
pub(super) struct Cells {
    /// Status.
    s: Vec<i32>,
    /// Scores: metric, then example.
    m: Vec<Vec<Score>>,
    /// Prediction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    p: Vec<i32>,
    /// Details: reasons by metric, error, result, other keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    x: Vec<i32>,
}

/// A score; not a number where there is none, which is written as null.
#[derive(Clone, Copy)]
struct Score(f64);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.is_finite().then_some(self.0).serialize(serializer)
    }
}

/// What the page carries of the items of a report.
pub(super) struct Content {
    statuses: Vec<String>,
    examples: Vec<Box<RawValue>>,
    cells: Vec<Cells>,
    pool: Pool,
    pieces: Option<InPieces>,
}

impl Content {
    /// Everything in the page; texts that it has no room for are left out and counted.
    pub(super) fn in_page(report: &Report) -> Result<Self, ReportError> {
        let mut collector = Collector::new(report, Texts::Pool(Pool::default()));
        let metrics = collector.metrics.clone();
        report.items.for_each_prepared(
            |item| Said::in_pool(item, &metrics),
            |entry, said| collector.take(entry, said),
        )?;
        Ok(collector.finish())
    }

    /// Everything in the page, `None` if it has no room for all texts.
    pub(super) fn if_it_fits(report: &Report) -> Result<Option<Self>, ReportError> {
        let mut collector = Collector::new(report, Texts::Pool(Pool::default()));
        let metrics = collector.metrics.clone();
        let walked = report.items.for_each_prepared(
            |item| Said::in_pool(item, &metrics),
            |entry, said| {
                collector.take(entry, said)?;
                if collector.is_over() { Err(Stop::Full) } else { Ok(()) }
            },
        );
        match walked {
            Ok(()) => Ok(Some(collector.finish())),
            Err(Stop::Full) => Ok(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// What the page must know at once; the rest goes into pieces.
    pub(super) fn in_pieces(report: &Report, pieces: Pieces) -> Result<Self, ReportError> {
        let mut collector = Collector::new(report, Texts::Pieces(pieces));
        let metrics = collector.metrics.clone();
        report.items.for_each_prepared(
            |item| Said::in_pieces(item, &metrics),
            |entry, said| collector.take(entry, said),
        )?;
        collector.finish_pieces()
    }

    /// Whether there are files beside the page.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.pieces.is_some()
    }
}

/// Why a walk over the items ended early.
enum Stop {
    Full,
    Failed(ReportError),
}

impl<E: Into<ReportError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Writes the page's data as JSON that is safe inside a `<script>` element.
pub(super) fn write(report: &Report, content: Content, out: &mut dyn Write) -> Result<(), ReportError> {
    let page = page(report, content);
    let mut safe = BufWriter::with_capacity(1 << 16, Escaping::new(out));
    serde_json::to_writer(&mut safe, &page)?;
    safe.flush()?;
    Ok(())
}

/// Escapes what could end a script element or, in old readers, a line of script. In JSON these characters
/// stand only inside strings, where an escape means the same.
struct Escaping<'a> {
    out: &'a mut dyn Write,
    /// The beginning of a separator whose end comes with the next write.
    held: Vec<u8>,
}

impl<'a> Escaping<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, held: Vec::new() }
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
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
        self.out.write_all(&bytes[from..])
    }
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut joined = std::mem::take(&mut self.held);
        let all = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            joined.as_slice()
        };
        let whole = match all {
            [.., 0xe2] => all.len() - 1,
            [.., 0xe2, 0x80] => all.len() - 2,
            _ => all.len(),
        };
        self.held = all[whole..].to_vec();
        self.put(&all[..whole])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.put(&held)?;
        self.out.flush()
    }
}

fn page(report: &Report, content: Content) -> Page<'_> {
    let metrics: Vec<&str> = report.summary.metrics.iter().map(String::as_str).collect();
    let Content { statuses, examples, cells, pool, pieces } = content;
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
        pieces,
        warnings: crate::warnings(&report.summary),
        notes: crate::notes(&report.summary),
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
    let outcome = |o: crate::GateOutcome| {
        let (is, wanted) = o.gate.written(o.mean.unwrap_or_default());
        json!({
            "system": o.system,
            "metric": o.gate.metric,
            "wanted": wanted,
            "is": o.mean.map(|_| is),
            "n": report.count_of(&o.system, &o.gate.metric),
            "passed": o.passed,
        })
    };
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

/// The example without its texts, and its texts alone.
fn example_in_two(view: ItemView<'_>) -> Result<(Box<RawValue>, Box<RawValue>), ReportError> {
    let whole = example(view);
    let texts = json!({"q": whole.q, "e": whole.e, "g": whole.g});
    let labels = Example { q: None, e: None, g: Vec::new(), r: None, ..whole };
    Ok((serde_json::value::to_raw_value(&labels)?, serde_json::value::to_raw_value(&texts)?))
}

fn result(result: crate::ResultView<'_>) -> Value {
    let rows: Vec<&Value> = result.rows.iter().take(MAX_RESULT_ROWS).collect();
    let mut page = json!({"columns": result.columns, "rows": rows, "total": result.total_rows});
    if result.is_beginning {
        page["least"] = true.into();
    }
    page
}

/// What the page carries of the items, while they pass by.
struct Collector<'a> {
    metrics: Vec<&'a str>,
    system_of_name: HashMap<&'a str, usize>,
    statuses: Vec<String>,
    row_of_id: HashMap<String, usize>,
    rows: Vec<Row>,
    /// By system, in the order in which the examples were met.
    cells: Vec<Cells>,
    texts: Texts,
    /// Bytes of the examples.
    bytes: usize,
}

/// What a system said of an example, as it will be written.
enum Said {
    /// Prediction and details, each for itself.
    InPool(Option<Box<RawValue>>, Option<Box<RawValue>>),
    /// Both in one.
    InPieces(Quoted),
}

impl Said {
    fn in_pool(item: &Item, metrics: &[&str]) -> Result<Self, serde_json::Error> {
        let view = ItemView::new(item);
        let prediction = view.prediction().map(|text| serde_json::value::to_raw_value(&text)).transpose()?;
        let details = extra(view, metrics).as_ref().map(serde_json::value::to_raw_value).transpose()?;
        Ok(Self::InPool(prediction, details))
    }

    fn in_pieces(item: &Item, metrics: &[&str]) -> Result<Self, serde_json::Error> {
        let view = ItemView::new(item);
        let mut details = extra(view, metrics);
        // An example is not in the pieces of a system: what is said of the gold here stands with the item.
        if let Some(rows) = view.gold_result() {
            details.get_or_insert_default().insert("G".to_owned(), result(rows));
        }
        Ok(Self::InPieces(Quoted::of(&(view.prediction(), details))?))
    }
}

/// Where the texts of the items go.
enum Texts {
    Pool(Pool),
    Pieces(Pieces),
}

/// An example while the items pass by.
struct Row {
    index: usize,
    /// The number of details of the item that it was made from.
    details: usize,
    example: Box<RawValue>,
    /// Its texts, where they are not in the example.
    texts: Option<Box<RawValue>>,
}

impl<'a> Collector<'a> {
    fn new(report: &'a Report, texts: Texts) -> Self {
        let metrics: Vec<&str> = report.summary.metrics.iter().map(String::as_str).collect();
        let systems = &report.summary.systems;
        let empty =
            || Cells { s: Vec::new(), m: vec![Vec::new(); metrics.len()], p: Vec::new(), x: Vec::new() };
        Self {
            system_of_name: systems.iter().map(|s| s.system.as_str()).zip(0..).collect(),
            statuses: Vec::new(),
            row_of_id: HashMap::new(),
            rows: Vec::new(),
            cells: systems.iter().map(|_| empty()).collect(),
            texts,
            metrics,
            bytes: 0,
        }
    }

    fn take(
        &mut self,
        entry: Entry<'_>,
        said: Option<Result<Said, serde_json::Error>>,
    ) -> Result<(), ReportError> {
        match (entry, said) {
            (Entry::New(item), Some(said)) => self.add(item, said?),
            (Entry::New(_), None) => Ok(()),
            (Entry::Same { system, like, id }, _) => self.repeat(system, like, id),
        }
    }

    /// Whether the texts are more than a page should carry.
    fn is_over(&self) -> bool {
        match &self.texts {
            Texts::Pool(pool) => pool.omitted > 0 || self.bytes + pool.bytes > MAX_TEXT_BYTES,
            Texts::Pieces(_) => false,
        }
    }

    fn add(&mut self, item: &Item, said: Said) -> Result<(), ReportError> {
        let Some(&system) = self.system_of_name.get(item.system.as_str()) else { return Ok(()) };
        let row = self.row(item)?;
        let view = ItemView::new(item);
        let status = self.statuses.iter().position(|status| *status == item.status).unwrap_or_else(|| {
            self.statuses.push(item.status.clone());
            self.statuses.len() - 1
        });
        let cells = &mut self.cells[system];
        cells.reach(row);
        cells.s[row] = position(status);
        for (scores, metric) in cells.m.iter_mut().zip(&self.metrics) {
            scores[row] = Score(view.score(metric).map_or(f64::NAN, short));
        }
        match (&mut self.texts, said) {
            (Texts::Pool(pool), Said::InPool(prediction, details)) => {
                cells.p[row] = prediction.map_or(-1, |text| pool.put(text));
                cells.x[row] = details.map_or(-1, |details| pool.put(details));
                Ok(())
            }
            (Texts::Pieces(pieces), Said::InPieces(said)) => pieces.put(system, row, said),
            // Nobody prepares for the one what goes into the other.
            _ => Ok(()),
        }
    }

    /// A system that said what another said has the other's cells.
    fn repeat(&mut self, system: &str, like: &str, id: &str) -> Result<(), ReportError> {
        let places = (self.system_of_name.get(system), self.system_of_name.get(like), self.row_of_id.get(id));
        let (Some(&system), Some(&like), Some(&row)) = places else { return Ok(()) };
        let other = &self.cells[like];
        let (status, prediction, details) = (other.s[row], other.p[row], other.x[row]);
        let scores: Vec<Score> = other.m.iter().map(|scores| scores[row]).collect();
        let cells = &mut self.cells[system];
        cells.reach(row);
        (cells.s[row], cells.p[row], cells.x[row]) = (status, prediction, details);
        for (column, score) in cells.m.iter_mut().zip(scores) {
            column[row] = score;
        }
        match &mut self.texts {
            Texts::Pool(_) => Ok(()),
            Texts::Pieces(pieces) => pieces.put(system, row, Quoted::of(&like)?),
        }
    }

    fn row(&mut self, item: &Item) -> Result<usize, ReportError> {
        let known = self.row_of_id.get(&item.id).copied();
        // A system that failed may carry fewer details than another on the same example.
        if let Some(row) = known.filter(|row| item.details.len() <= self.rows[*row].details) {
            return Ok(row);
        }
        let view = ItemView::new(item);
        let (example, texts) = match &self.texts {
            Texts::Pool(_) => (serde_json::value::to_raw_value(&example(view))?, None),
            Texts::Pieces(_) => {
                let (labels, texts) = example_in_two(view)?;
                (labels, Some(texts))
            }
        };
        self.bytes += example.get().len();
        let row = Row { index: item.index, details: item.details.len(), example, texts };
        if let Some(known) = known {
            self.rows[known] = row;
            return Ok(known);
        }
        self.rows.push(row);
        self.row_of_id.insert(item.id.clone(), self.rows.len() - 1);
        Ok(self.rows.len() - 1)
    }

    /// Everything in the page's order: examples as in the gold file, the status `ok` before the others.
    fn finish(mut self) -> Content {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].index);
        let statuses = self.settle_statuses();
        self.cells.iter_mut().for_each(|cells| cells.arrange(&order));
        let mut examples: Vec<Option<Box<RawValue>>> =
            self.rows.into_iter().map(|row| Some(row.example)).collect();
        let examples = order.iter().filter_map(|row| examples[*row].take()).collect();
        let pool = match self.texts {
            Texts::Pool(pool) => pool,
            Texts::Pieces(_) => Pool::default(),
        };
        Content { statuses, examples, cells: self.cells, pool, pieces: None }
    }

    /// Writes the last pieces; the page itself keeps the statuses. Examples stand in the order in which they were
    /// met, which is the gold file's.
    fn finish_pieces(mut self) -> Result<Content, ReportError> {
        let statuses = self.settle_statuses();
        let pool = Pool::default();
        let Texts::Pieces(pieces) = self.texts else {
            return Ok(Content { statuses, examples: Vec::new(), cells: Vec::new(), pool, pieces: None });
        };
        let (labels, texts): (Vec<_>, Vec<_>) =
            self.rows.into_iter().map(|row| (row.example, row.texts)).unzip();
        for cells in &mut self.cells {
            // The texts of a cell are found by its place.
            (cells.p, cells.x) = (Vec::new(), Vec::new());
        }
        let (folder, size) = pieces.finish(&labels, &texts, &self.cells)?;
        let pieces = Some(InPieces { folder, size });
        Ok(Content { statuses, examples: Vec::new(), cells: Vec::new(), pool, pieces })
    }

    /// The statuses in the page's order; the cells point to them afterwards.
    fn settle_statuses(&mut self) -> Vec<String> {
        let mut statuses = self.statuses.clone();
        statuses.sort_unstable_by_key(|name| (name != "ok", name.clone()));
        let place: Vec<i32> = self
            .statuses
            .iter()
            .map(|status| statuses.iter().position(|other| other == status).map_or(-1, position))
            .collect();
        for cells in &mut self.cells {
            cells.reach(self.rows.len().saturating_sub(1));
            for status in &mut cells.s {
                *status = usize::try_from(*status).ok().and_then(|at| place.get(at)).copied().unwrap_or(-1);
            }
        }
        statuses
    }
}

impl Cells {
    /// Makes room for that row; what lies between has nothing in it.
    fn reach(&mut self, row: usize) {
        if self.s.len() <= row {
            for places in [&mut self.s, &mut self.p, &mut self.x] {
                places.resize(row + 1, -1);
            }
            self.m.iter_mut().for_each(|scores| scores.resize(row + 1, Score(f64::NAN)));
        }
    }

    fn arrange(&mut self, order: &[usize]) {
        for places in [&mut self.s, &mut self.p, &mut self.x] {
            *places = order.iter().map(|row| places[*row]).collect();
        }
        for scores in &mut self.m {
            *scores = order.iter().map(|row| scores[*row]).collect();
        }
    }
}

fn extra(view: ItemView<'_>, metrics: &[&str]) -> Option<Map<String, Value>> {
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
    (!map.is_empty()).then_some(map)
}

fn position(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(-1)
}

/// Distinct values as they will be written, each once: systems often agree to the letter. A value is known by two
/// hashes with keys of this process.
#[derive(Default)]
struct Pool {
    values: Vec<Box<RawValue>>,
    keys: [RandomState; 2],
    known: HashMap<[u64; 2], i32>,
    bytes: usize,
    omitted: usize,
}

impl Pool {
    /// The position of that value, -1 if the page is full.
    fn put(&mut self, value: Box<RawValue>) -> i32 {
        let text = value.get();
        let hash = self.keys.each_ref().map(|key| key.hash_one(text));
        if let Some(&at) = self.known.get(&hash) {
            return at;
        }
        if self.bytes + text.len() > MAX_TEXT_BYTES {
            self.omitted += 1;
            return -1;
        }
        let at = position(self.values.len());
        self.bytes += text.len();
        self.values.push(value);
        self.known.insert(hash, at);
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
        serde_json::to_writer(&mut Escaping::new(&mut bytes), hostile).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains('<') && !text.contains('\u{2028}') && !text.contains('\u{2029}'), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn a_character_that_two_writes_share_is_escaped_all_the_same() {
        let hostile = "a\u{2028}\u{2029}\u{2030}\u{e9}<".repeat(5);
        for piece in 1..9 {
            let mut bytes = Vec::new();
            let mut out = BufWriter::with_capacity(piece, Escaping::new(&mut bytes));
            hostile.as_bytes().chunks(piece).for_each(|chunk| out.write_all(chunk).unwrap());
            out.flush().unwrap();
            drop(out);
            let escaped = String::from_utf8(bytes).unwrap();
            assert_eq!(escaped, "a\\u2028\\u2029\u{2030}\u{e9}\\u003c".repeat(5), "pieces of {piece}");
        }
    }
}
