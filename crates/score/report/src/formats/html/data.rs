//! The data of the page, made small: texts are pooled, scores are columns.
//!
//! Items are read once, and only what the page carries is kept, as it will be written and each text once: memory
//! grows with the page and not with the run. Texts beyond the page's limit go into files next
//! to it ([`super::beside`]). Field names are short because they repeat; `web/data.js` is their only reader.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufWriter, Write};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use sqlgauge_metrics::MetricKind;
use sqlgauge_run::{Comparison, Entry, Prepared, RawItem, ScoreSummary, SystemSummary};

use super::columns::{Cells, Columns, position, scores_of, short};
use super::said::{self, Example};
use crate::system_table::{SystemTable, tables_of_page};
use crate::{Nature, Report, ReportError, clusters, fixes};

/// Bytes of texts (questions, queries, reasons, results; each distinct one once) that a page carries; a browser
/// still opens it at once. Scores and statuses are always complete.
const MAX_TEXT_BYTES: usize = 48 << 20;

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
    /// Which part of the benchmark was scored, where it was not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    preface: Option<String>,
    /// Words with their meanings.
    words: &'static [(&'static str, &'static str)],
    warnings: Vec<String>,
    /// The questions that intervals are about.
    about: String,
    /// What a reader may want to know of the items, in words.
    notes: Vec<String>,
    tables: Vec<SystemTable>,
}

/// The files beside the page.
#[derive(Serialize)]
pub(super) struct InPieces {
    pub(super) folder: String,
    /// Examples per piece.
    pub(super) size: usize,
}

#[derive(Serialize)]
struct Run<'a> {
    tool: &'a str,
    engine: &'a str,
    command: &'a [String],
    options: &'a BTreeMap<String, Value>,
    inputs: &'a [sqlgauge_run::InputRecord],
    examples: usize,
}

#[derive(Serialize)]
struct Metric<'a> {
    id: &'a str,
    kind: &'static str,
    lower: bool,
    about: &'static str,
    /// The test of its comparisons, in words.
    test: Option<String>,
}

/// Mean, low, high, count, and the plain interval where there is another.
type Scored = (Option<f64>, Option<f64>, Option<f64>, usize, Option<[f64; 2]>);

#[derive(Serialize)]
struct System<'a> {
    name: &'a str,
    counts: sqlgauge_run::Counts,
    statuses: &'a BTreeMap<String, usize>,
    /// By metric, in the page's order.
    scores: Vec<Scored>,
    /// Dimension to group to scores by metric.
    by: BTreeMap<&'a str, BTreeMap<&'a str, Vec<Scored>>>,
    /// Why its answers are wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<PageFixes<'a>>,
}

/// The causes of a system's wrong answers by one metric.
#[derive(Serialize)]
struct PageFixes<'a> {
    metric: &'a str,
    /// Id, title, points, items; what costs most comes first.
    causes: Vec<(&'a str, &'a str, f64, usize)>,
    without: usize,
}

impl<'a> PageFixes<'a> {
    fn of(fixes: &'a sqlgauge_run::Fixes) -> Self {
        let cause = |fix: &'a sqlgauge_run::Fix| {
            (fix.cause.as_str(), fixes::title(&fix.cause), short(fix.points), fix.items)
        };
        Self {
            metric: &fixes.metric,
            causes: fixes.causes.iter().map(cause).collect(),
            without: fixes.without,
        }
    }
}

/// Metric, first, second (positions), count, difference, low, high, p, only first, only second, and the plain interval and p where
/// there are others.
type Compared = (usize, usize, usize, usize, f64, f64, f64, f64, usize, usize, Option<[f64; 3]>);

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
        let mut collector = Collector::new(report);
        let metrics = collector.columns.metrics.clone();
        report
            .items
            .for_each_raw(|item| WrittenItem::of(item, &metrics, report), |entry| collector.take(entry))?;
        Ok(collector.finish())
    }

    /// Everything in the page, `None` if it has no room for all texts.
    pub(super) fn if_it_fits(report: &Report) -> Result<Option<Self>, ReportError> {
        let mut collector = Collector::new(report);
        let metrics = collector.columns.metrics.clone();
        let walked = report.items.for_each_raw(
            |item| WrittenItem::of(item, &metrics, report),
            |entry| {
                collector.take(entry)?;
                if collector.is_over() { Err(Stop::Full) } else { Ok(()) }
            },
        );
        match walked {
            Ok(()) => Ok(Some(collector.finish())),
            Err(Stop::Full) => Ok(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// A page whose items are in files beside it.
    pub(super) fn beside(statuses: Vec<String>, pieces: InPieces) -> Self {
        let pool = Pool::default();
        Self { statuses, examples: Vec::new(), cells: Vec::new(), pool, pieces: Some(pieces) }
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
    let page = page(report, content)?;
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
    rest: Vec<u8>,
}

impl<'a> Escaping<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, rest: Vec::new() }
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
        let mut joined = std::mem::take(&mut self.rest);
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
        self.rest = all[whole..].to_vec();
        self.put(&all[..whole])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.put(&rest)?;
        self.out.flush()
    }
}

fn page(report: &Report, content: Content) -> Result<Page<'_>, ReportError> {
    let metrics: Vec<&str> = report.summary.metrics.iter().map(String::as_str).collect();
    let Content { statuses, examples, cells, pool, pieces } = content;
    Ok(Page {
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
        metrics: metrics.iter().map(|id| metric(id, &report.summary.comparisons)).collect(),
        gates: gates(report),
        statuses,
        examples,
        cells,
        pool: pool.values,
        omitted: pool.omitted,
        pieces,
        preface: crate::part::preface(&report.manifest),
        words: &crate::document::terms::TERMS,
        warnings: crate::warnings(&report.summary),
        about: clusters::about(&report.summary),
        notes: crate::notes(&report.summary),
        tables: tables_of_page(report)?,
    })
}

fn metric<'a>(id: &'a str, comparisons: &[Comparison]) -> Metric<'a> {
    let Nature { kind, lower_is_better: lower, about } = Nature::of(id);
    let kind = match kind {
        MetricKind::Binary => "binary",
        MetricKind::Fraction => "fraction",
        MetricKind::Unbounded => "own",
    };
    let test = comparisons.iter().find(|comparison| comparison.metric == id).map(Comparison::test);
    Metric { id, kind, lower, about, test }
}

fn gates(report: &Report) -> Vec<Value> {
    let outcome = |o: crate::GateOutcome| {
        let (is, wanted) = o.gate.written(o.mean.unwrap_or_default());
        json!({
            "system": o.system,
            "metric": o.gate.metric,
            "wanted": wanted,
            "is": o.mean.map(|_| report.interval_of(&o.system, &o.gate.metric, &is)),
            "n": report.count_of(&o.system, &o.gate.metric),
            "passed": o.passed,
        })
    };
    report.gate_outcomes().into_iter().map(outcome).collect()
}

fn scored(score: Option<&ScoreSummary>) -> Scored {
    let Some(score) = score else { return (None, None, None, 0, None) };
    let plain = score.plain.map(|ends| ends.map(short));
    (score.mean.map(short), score.low.map(short), score.high.map(short), score.count, plain)
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
        fixes: system.fixes.as_ref().map(PageFixes::of),
    }
}

fn compared(report: &Report, c: &Comparison) -> Option<Compared> {
    let position = |name: &str| report.summary.systems.iter().position(|s| s.system == name);
    let metric = report.summary.metrics.iter().position(|m| *m == c.metric)?;
    let (first, second) = (position(&c.first)?, position(&c.second)?);
    let (difference, low, high) = (short(c.difference), short(c.low), short(c.high));
    let plain = c.plain.map(|plain| [short(plain.low), short(plain.high), plain.p_value]);
    let (only_first, only_second) = c.in_favour();
    Some((metric, first, second, c.count, difference, low, high, c.p_value, only_first, only_second, plain))
}

/// What the page carries of the items, while they pass by.
struct Collector<'a> {
    columns: Columns<'a>,
    rows: Vec<Row>,
    pool: Pool,
    /// Bytes of the examples.
    bytes: usize,
}

/// What an item says, as it will be written.
struct WrittenItem {
    status: String,
    scores: Vec<Option<f64>>,
    prediction: Option<Box<RawValue>>,
    details: Option<Box<RawValue>>,
    row: Row,
}

/// An example as an item has it.
struct Row {
    index: usize,
    /// The number of details of that item.
    details: usize,
    example: Box<RawValue>,
}

impl WrittenItem {
    fn of(item: &RawItem<'_>, metrics: &[&str], report: &Report) -> Result<Self, serde_json::Error> {
        let example = to_raw_value(&Example::of(item).with_result(item))?;
        Ok(Self {
            status: item.status.as_ref().to_owned(),
            scores: scores_of(item, metrics),
            prediction: said::prediction(item).map(ToOwned::to_owned),
            details: said::extra(item, metrics, report.reason(item))?,
            row: Row { index: item.index, details: item.details.entries().count(), example },
        })
    }
}

impl<'a> Collector<'a> {
    fn new(report: &'a Report) -> Self {
        Self { columns: Columns::new(report), rows: Vec::new(), pool: Pool::default(), bytes: 0 }
    }

    fn take(
        &mut self,
        entry: Entry<'_, Prepared<Result<WrittenItem, serde_json::Error>>>,
    ) -> Result<(), ReportError> {
        match entry {
            Entry::New(Prepared { system, id, content }) => self.add(&system, &id, content?),
            Entry::Same { system, like, id } => {
                self.columns.repeat(system, like, id);
            }
        }
        Ok(())
    }

    /// Whether the texts are more than a page should carry.
    fn is_over(&self) -> bool {
        self.pool.omitted > 0 || self.bytes + self.pool.bytes > MAX_TEXT_BYTES
    }

    fn add(&mut self, system: &str, id: &str, item: WrittenItem) {
        let Some(system) = self.columns.system(system) else { return };
        let row = self.row(id, item.row);
        let cells = self.columns.put(system, row, &item.status, item.scores.into_iter());
        cells.p[row] = item.prediction.map_or(-1, |text| self.pool.put(text));
        cells.x[row] = item.details.map_or(-1, |details| self.pool.put(details));
    }

    fn row(&mut self, id: &str, row: Row) -> usize {
        let place = self.columns.row(id);
        // A system that failed may carry fewer details than another on the same example.
        if let Some(place) = place.filter(|place| row.details <= self.rows[*place].details) {
            return place;
        }
        self.bytes += row.example.get().len();
        if let Some(place) = place {
            self.rows[place] = row;
            return place;
        }
        self.rows.push(row);
        self.columns.new_row(id)
    }

    /// Everything in the page's order: examples as in the gold file, the status `ok` before the others.
    fn finish(self) -> Content {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].index);
        let (statuses, mut cells) = self.columns.finish();
        cells.iter_mut().for_each(|cells| cells.arrange(&order));
        let mut examples: Vec<Option<Box<RawValue>>> =
            self.rows.into_iter().map(|row| Some(row.example)).collect();
        let examples = order.iter().filter_map(|row| examples[*row].take()).collect();
        Content { statuses, examples, cells, pool: self.pool, pieces: None }
    }
}

/// Distinct values as they will be written, each once: systems often agree to the letter. A value is known by two
/// hashes with keys of this process.
#[derive(Default)]
struct Pool {
    values: Vec<Box<RawValue>>,
    keys: [RandomState; 2],
    places: HashMap<[u64; 2], i32>,
    bytes: usize,
    omitted: usize,
}

impl Pool {
    /// The position of that value, -1 if the page is full.
    fn put(&mut self, value: Box<RawValue>) -> i32 {
        let text = value.get();
        let hash = self.keys.each_ref().map(|key| key.hash_one(text));
        if let Some(&at) = self.places.get(&hash) {
            return at;
        }
        if self.bytes + text.len() > MAX_TEXT_BYTES {
            self.omitted += 1;
            return -1;
        }
        let at = position(self.values.len());
        self.bytes += text.len();
        self.values.push(value);
        self.places.insert(hash, at);
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
