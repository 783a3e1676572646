//! `junit`: one test suite per system, one test case per item, so that a CI server shows a run.
//!
//! Whether an item passes is decided by one metric, [`Report::deciding_metric`], which stands in the suite's
//! properties. An item to which the metric does not apply is skipped. Gates form a suite of their own.

use std::fmt::Write as _;
use std::io::Write;

use sqlgauge_run::SystemSummary;

use super::Format;
use crate::report::GateOutcome;
use crate::{ItemView, Nature, Report, ReportError, number};

/// The XML that CI servers read as `JUnit` results.
pub struct Junit;

impl Format for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn extension(&self) -> &'static str {
        "xml"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut suites: Vec<Suite> = report.summary.systems.iter().map(|s| system_suite(report, s)).collect();
        if !report.gates.is_empty() {
            suites.push(gate_suite(report));
        }
        let total = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
        out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        writeln!(
            out,
            "<testsuites name=\"sqlgauge\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
            total(|s| s.tests),
            total(|s| s.failures),
            total(|s| s.skipped)
        )?;
        for suite in &suites {
            suite.write(out)?;
        }
        out.write_all(b"</testsuites>\n")?;
        Ok(())
    }
}

#[derive(Default)]
struct Suite {
    name: String,
    tests: usize,
    failures: usize,
    skipped: usize,
    properties: String,
    cases: String,
}

/// What became of a test case.
enum Verdict {
    Passed,
    Skipped(String),
    Failed { kind: String, message: String, body: String },
}

impl Suite {
    fn case(&mut self, class: &str, name: &str, verdict: &Verdict) {
        self.tests += 1;
        let outcome = match verdict {
            Verdict::Passed => "/>\n".to_owned(),
            Verdict::Skipped(why) => {
                self.skipped += 1;
                format!("><skipped message=\"{}\"/></testcase>\n", escape(why))
            }
            Verdict::Failed { kind, message, body } => {
                self.failures += 1;
                let (kind, message, body) = (escape(kind), escape(message), escape(body));
                format!("><failure type=\"{kind}\" message=\"{message}\">{body}</failure></testcase>\n")
            }
        };
        let (class, name) = (escape(class), escape(name));
        let _infallible = write!(self.cases, "    <testcase classname=\"{class}\" name=\"{name}\"{outcome}");
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
            escape(&self.name),
            self.tests,
            self.failures,
            self.skipped
        )?;
        writeln!(out, "{}{}  </testsuite>", self.properties, self.cases)?;
        Ok(())
    }
}

fn system_suite(report: &Report, system: &SystemSummary) -> Suite {
    let mut suite = Suite { name: system.system.clone(), ..Suite::default() };
    suite.properties = properties(report, system);
    let metric = report.deciding_metric();
    for view in report.items_of(&system.system) {
        let class = format!("{}.{}", system.system, view.item.db_id);
        let name = match view.question() {
            Some(question) => format!("{}: {question}", view.item.id),
            None => view.item.id.clone(),
        };
        suite.case(&class, &name, &verdict(view, metric));
    }
    suite
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
    text.push_str("    </properties>\n");
    text
}

fn verdict(view: ItemView<'_>, metric: Option<&str>) -> Verdict {
    let Some(metric) = metric else {
        return Verdict::Skipped("the run has no metric that says right or wrong".to_owned());
    };
    let Some(score) = view.score(metric) else {
        let why = view.reason(metric).unwrap_or_else(|| format!("{metric} does not apply"));
        return Verdict::Skipped(why);
    };
    if score >= 1.0 {
        return Verdict::Passed;
    }
    let kind = if view.item.status == "ok" { metric } else { &view.item.status };
    let reason = view.reason(metric).unwrap_or_else(|| format!("{metric} is {}", number::item(Some(score))));
    Verdict::Failed { kind: kind.to_owned(), message: reason, body: queries(view) }
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

fn gate_suite(report: &Report) -> Suite {
    let mut suite = Suite { name: "gates".to_owned(), ..Suite::default() };
    for outcome in report.gate_outcomes() {
        let name = format!("{} at least {}", outcome.gate.metric, outcome.gate.minimum);
        let verdict = if outcome.passed { Verdict::Passed } else { gate_failure(&outcome) };
        suite.case(&format!("gates.{}", outcome.system), &name, &verdict);
    }
    suite
}

fn gate_failure(outcome: &GateOutcome) -> Verdict {
    let (metric, minimum) = (&outcome.gate.metric, outcome.gate.minimum);
    let message = match outcome.mean {
        Some(mean) => format!("{metric} of {} is {mean:.4}, wanted at least {minimum}", outcome.system),
        None => format!("{metric} applies to no item of {}, wanted at least {minimum}", outcome.system),
    };
    Verdict::Failed { kind: "gate".to_owned(), message, body: String::new() }
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
            c => escaped.push(crate::style::visible(c)),
        }
    }
    escaped
}
