//! `junit`: one test suite per system, so that a CI server shows a run.
//!
//! The test cases are the gates: 20 wrong answers of 100 are not 20 failed tests. The outcomes of the items are
//! in the properties of each suite. With [`Junit::items`] each item is a test case too. Whether it passes is decided by one
//! metric, [`Report::deciding_metric`], which stands in the properties; an item to which the metric does not apply is skipped. The
//! gates are then a suite of their own.

use std::fmt::Write as _;
use std::io::Write;

use sqlgauge_run::{Counts, SystemSummary};

use super::ReportFormat;
use crate::overview::answered;
use crate::report::GateOutcome;
use crate::{ItemView, Nature, Report, ReportError, number};

/// The XML that CI servers read as `JUnit` results.
#[derive(Debug, Clone, Copy, Default)]
pub struct Junit {
    /// Whether each item is a test case.
    pub items: bool,
}

impl ReportFormat for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn extension(&self) -> &'static str {
        "xml"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        if !self.items {
            return gates_alone(report, out);
        }
        let tallies = tallies(report)?;
        let gates = (!report.gates.is_empty()).then(|| gate_cases(report, report.gate_outcomes().iter()));
        begin_suites(
            tallies.iter().map(|(_, tally)| tally).chain(gates.iter().map(|(tally, _)| tally)),
            out,
        )?;
        suites(report, &tallies, out)?;
        if let Some((tally, cases)) = &gates {
            tally.begin("gates", out)?;
            writeln!(out, "{cases}  </testsuite>")?;
        }
        out.write_all(b"</testsuites>\n")?;
        Ok(())
    }
}

/// A suite for each system, with its gates.
fn gates_alone(report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
    let outcomes = report.gate_outcomes();
    let suites = report.summary.systems.iter().map(|system| {
        let of_system = outcomes.iter().filter(|outcome| outcome.system == system.system);
        (system, gate_cases(report, of_system))
    });
    let suites: Vec<(&SystemSummary, (SuiteTally, String))> = suites.collect();
    begin_suites(suites.iter().map(|(_, (tally, _))| tally), out)?;
    for (system, (tally, cases)) in &suites {
        tally.begin(&system.system, out)?;
        writeln!(out, "{}{cases}  </testsuite>", properties(report, system))?;
    }
    Ok(out.write_all(b"</testsuites>\n")?)
}

/// The beginning of the file: the numbers of all suites.
///
/// # Errors
/// When the output does not take the bytes.
pub fn begin_suites<'a>(
    all: impl Iterator<Item = &'a SuiteTally> + Clone,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    writeln!(
        out,
        "<testsuites name=\"sqlgauge\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
        all.clone().map(|t| t.tests).sum::<usize>(),
        all.clone().map(|t| t.failures).sum::<usize>(),
        all.map(|t| t.skipped).sum::<usize>()
    )?;
    Ok(())
}

/// The numbers that stand before the cases of a suite.
#[derive(Default, Clone)]
pub struct SuiteTally {
    tests: usize,
    failures: usize,
    skipped: usize,
}

/// What became of a test case.
pub enum CaseOutcome {
    Passed,
    Skipped(String),
    Failed {
        /// The type of the failure.
        kind: String,
        /// One line.
        message: String,
        /// The rest.
        body: String,
    },
}

impl SuiteTally {
    /// Counts a case.
    pub fn count(&mut self, verdict: &CaseOutcome) {
        self.tests += 1;
        self.failures += usize::from(matches!(verdict, CaseOutcome::Failed { .. }));
        self.skipped += usize::from(matches!(verdict, CaseOutcome::Skipped(_)));
    }

    /// Writes the opening tag of a suite.
    ///
    /// # Errors
    /// When the output does not take the bytes.
    pub fn begin(&self, name: &str, out: &mut dyn Write) -> Result<(), ReportError> {
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
            escape(name),
            self.tests,
            self.failures,
            self.skipped
        )?;
        Ok(())
    }
}

/// A test case as XML.
pub fn case(class: &str, name: &str, verdict: &CaseOutcome) -> String {
    let outcome = match verdict {
        CaseOutcome::Passed => "/>\n".to_owned(),
        CaseOutcome::Skipped(why) => format!("><skipped message=\"{}\"/></testcase>\n", escape(why)),
        CaseOutcome::Failed { kind, message, body } => {
            let (kind, message, body) = (escape(kind), escape(message), escape(body));
            format!("><failure type=\"{kind}\" message=\"{message}\">{body}</failure></testcase>\n")
        }
    };
    let (class, name) = (escape(class), escape(name));
    format!("    <testcase classname=\"{class}\" name=\"{name}\"{outcome}")
}

/// The numbers of every system, in the summary's order, which is that of the items.
fn tallies(report: &Report) -> Result<Vec<(&SystemSummary, SuiteTally)>, ReportError> {
    let metric = report.deciding_metric();
    let mut tallies: Vec<(&SystemSummary, SuiteTally)> =
        report.summary.systems.iter().map(|system| (system, SuiteTally::default())).collect();
    report.items.for_each(|item| {
        if let Some((_, tally)) = tallies.iter_mut().find(|(system, _)| system.system == item.system) {
            tally.count(&verdict(ItemView::new(item), metric));
        }
        Ok::<(), ReportError>(())
    })?;
    Ok(tallies)
}

/// Writes the suites one after another while the items pass by.
fn suites(
    report: &Report,
    tallies: &[(&SystemSummary, SuiteTally)],
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let metric = report.deciding_metric();
    let begin = |at: usize, out: &mut dyn Write| -> Result<(), ReportError> {
        let (system, tally) = &tallies[at];
        tally.begin(&system.system, out)?;
        Ok(out.write_all(properties(report, system).as_bytes())?)
    };
    let mut open = 0;
    if !tallies.is_empty() {
        begin(0, out)?;
    }
    report.items.for_each(|item| {
        let Some(at) = tallies.iter().position(|(system, _)| system.system == item.system) else {
            return Ok(());
        };
        while open < at {
            open += 1;
            writeln!(out, "  </testsuite>")?;
            begin(open, out)?;
        }
        let view = ItemView::new(item);
        let class = format!("{}.{}", item.system, item.db_id);
        let name = match view.question() {
            Some(question) => format!("{}: {question}", item.id),
            None => item.id.clone(),
        };
        Ok::<(), ReportError>(out.write_all(case(&class, &name, &verdict(view, metric)).as_bytes())?)
    })?;
    for at in open..tallies.len() {
        writeln!(out, "  </testsuite>")?;
        if at + 1 < tallies.len() {
            begin(at + 1, out)?;
        }
    }
    Ok(())
}

fn properties(report: &Report, system: &SystemSummary) -> String {
    let mut text = String::from("    <properties>\n");
    let mut put = |name: &str, value: &str| {
        let _infallible =
            writeln!(text, "      <property name=\"{}\" value=\"{}\"/>", escape(name), escape(value));
    };
    put("sqlgauge.version", &report.manifest.tool_version);
    put("sqlgauge.engine", &report.manifest.engine);
    if let Some(metric) = report.deciding_metric() {
        put("sqlgauge.deciding_metric", metric);
    }
    for metric in &report.summary.metrics {
        if let Some(score) = system.scores.get(metric) {
            put(metric, &number::interval(score, Nature::of(metric)));
        }
    }
    let Counts { requested, missing, gold_failed, .. } = system.counts;
    let answered = answered(system);
    put(
        "items",
        &format!("{requested} questions, {answered} answered, {missing} missing, {gold_failed} gold failed"),
    );
    text.push_str("    </properties>\n");
    text
}

fn verdict(view: ItemView<'_>, metric: Option<&str>) -> CaseOutcome {
    let Some(metric) = metric else {
        return CaseOutcome::Skipped("the run has no metric that says right or wrong".to_owned());
    };
    let Some(score) = view.score(metric) else {
        let why = view.reason(metric).unwrap_or_else(|| format!("{metric} does not apply"));
        return CaseOutcome::Skipped(why);
    };
    if score >= 1.0 {
        return CaseOutcome::Passed;
    }
    let kind = if view.item.status == "ok" { metric } else { &view.item.status };
    let reason = view.reason(metric).unwrap_or_else(|| format!("{metric} is {}", number::item(Some(score))));
    CaseOutcome::Failed { kind: kind.to_owned(), message: reason, body: queries(view) }
}

fn queries(view: ItemView<'_>) -> String {
    let mut text = String::new();
    for gold in view.golds() {
        let _infallible = writeln!(text, "gold:       {gold}");
    }
    if let Some(prediction) = view.prediction() {
        let _infallible = writeln!(text, "prediction: {prediction}");
    }
    text
}

fn gate_cases<'a>(report: &Report, outcomes: impl Iterator<Item = &'a GateOutcome>) -> (SuiteTally, String) {
    let (mut tally, mut cases) = (SuiteTally::default(), String::new());
    for outcome in outcomes {
        let (_, wanted) = outcome.gate.written(0.0);
        let name = format!("{} at least {wanted}", outcome.gate.metric);
        let n = report.count_of(&outcome.system, &outcome.gate.metric);
        let verdict = if outcome.passed { CaseOutcome::Passed } else { gate_failure(outcome, n) };
        tally.count(&verdict);
        cases.push_str(&case(&format!("gates.{}", outcome.system), &name, &verdict));
    }
    (tally, cases)
}

fn gate_failure(outcome: &GateOutcome, n: usize) -> CaseOutcome {
    let (metric, system) = (&outcome.gate.metric, &outcome.system);
    let (is, wanted) = outcome.gate.written(outcome.mean.unwrap_or_default());
    let message = match outcome.mean {
        Some(_) => format!("{metric} of {system} is {is} (n={n}), wanted at least {wanted}"),
        None => format!("{metric} applies to no item of {system}, wanted at least {wanted}"),
    };
    CaseOutcome::Failed { kind: "gate".to_owned(), message, body: String::new() }
}

/// XML escaping for attributes and text. XML 1.0 has no way to write most control characters: each becomes
/// its visible picture.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' | '\r' | '\t' => {
                let _infallible = write!(escaped, "&#{};", u32::from(c));
            }
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(sqlgauge_base::visible(c)),
        }
    }
    escaped
}
