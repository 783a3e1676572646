//! `latex`: the scores as a table for a paper, with the footnote that makes them reproducible (`docs/how-to/cite.md`).
//!
//! Every text from outside is escaped. The table needs the package `booktabs`.

use std::fmt::Write as _;
use std::io::Write;

use sqlgauge_base::visible;
use sqlgauge_run::{ScoreSummary, SystemSummary};

use super::ReportFormat;
use crate::{Nature, Report, ReportError, clusters, number, overview, warnings};

/// The leaderboard with a footnote.
pub struct Latex;

/// Hexadecimal digits of a hash at its start and its end.
const DIGITS: usize = 4;

impl ReportFormat for Latex {
    fn name(&self) -> &'static str {
        "latex"
    }

    fn extension(&self) -> &'static str {
        "tex"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        Ok(out.write_all(table(report).as_bytes())?)
    }
}

fn table(report: &Report) -> String {
    let metrics = &report.summary.metrics;
    let heads = metrics.iter().map(|metric| format!(" & \\texttt{{{}}}", escape(metric)));
    let rows = report.summary.systems.iter().map(|system| row(report, system));
    let mut text = String::from("% Needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n");
    let _infallible = write!(
        text,
        "  \\caption{{{caption}}}\n  \\label{{tab:scores}}\n  \\begin{{tabular}}{{l{columns}}}\n    \\toprule\n    System{heads} \\\\\n    \\midrule\n{rows}    \\bottomrule\n  \
         \\end{{tabular}}\n\n  \\smallskip\n  {{\\footnotesize {footnote}}}\n\\end{{table}}\n",
        caption = caption(report),
        columns = "r".repeat(metrics.len()),
        heads = heads.collect::<String>(),
        rows = rows.collect::<String>(),
        footnote = footnote(report).join(" "),
    );
    text
}

fn row(report: &Report, system: &SystemSummary) -> String {
    let n = common_count(report);
    let cell = |metric: &String| match system.scores.get(metric) {
        Some(score) => score_cell(score, metric, n.is_none(), overview::is_best(report, score, metric)),
        None => "--".to_owned(),
    };
    let cells = report.summary.metrics.iter().map(|metric| format!(" & {}", cell(metric)));
    format!("    {}{} \\\\\n", escape(&system.system), cells.collect::<String>())
}

fn score_cell(score: &ScoreSummary, metric: &str, counts: bool, is_best: bool) -> String {
    let nature = Nature::of(metric);
    let write = |value| escape(&number::score(value, nature)).replace('–', "--").replace('−', "$-$");
    let mean = write(score.mean);
    let mean = if is_best { format!("\\textbf{{{mean}}}") } else { mean };
    let range = score.low.zip(score.high);
    let range = range.map(|(low, high)| format!(" [{}, {}]", write(Some(low)), write(Some(high))));
    let n = if counts { format!(" $n$={}", score.count) } else { String::new() };
    match range.unwrap_or_default() + &n {
        small if small.is_empty() => mean,
        small => format!("{mean} {{\\scriptsize{small}}}"),
    }
}

/// The number of items of every score, if it is one number.
fn common_count(report: &Report) -> Option<usize> {
    let mut counts = report.summary.systems.iter().flat_map(|system| system.scores.values()).map(|s| s.count);
    let first = counts.next()?;
    counts.all(|count| count == first).then_some(first)
}

/// What the numbers are, of which questions.
fn caption(report: &Report) -> String {
    let own_unit = report.summary.metrics.iter().filter(|metric| Nature::of(metric).has_own_unit());
    let own_unit: Vec<String> = own_unit.map(|metric| format!("\\texttt{{{}}}", escape(metric))).collect();
    let but = if own_unit.is_empty() { String::new() } else { format!(" but {}", own_unit.join(", ")) };
    let n = common_count(report).map_or_else(String::new, |n| format!(" ($n$ = {n})"));
    let preface = crate::part::preface(&report.manifest);
    let preface = preface.map_or_else(String::new, |text| format!(" {}", escape(&text)));
    format!("Percent{but} with 95\\,\\% intervals{}{n}.{preface}", clusters::about(&report.summary))
}

/// What somebody else needs to get the same numbers, and what a reader must know of them.
fn footnote(report: &Report) -> Vec<String> {
    let manifest = &report.manifest;
    let mut parts: Vec<String> =
        warnings(&report.summary).iter().map(|text| format!("Warning: {}.", escape(text))).collect();
    if report.summary.systems.len() > 1 {
        parts.push("Bold: the best of a column, not tested.".to_owned());
    }
    let about = report.summary.metrics.iter().map(|id| (id, Nature::of(id).about));
    let about = about.filter(|(_, about)| !about.is_empty());
    parts.extend(about.map(|(id, about)| format!("\\texttt{{{}}}: {}", escape(id), escape(about))));
    parts.push(format!("sqlgauge {}, {}.", escape(&manifest.tool_version), escape(&manifest.engine)));
    let golds = manifest.inputs.iter().filter(|input| input.role == "gold");
    parts.extend(golds.map(|gold| format!("Gold SHA-256 \\texttt{{{}}}.", short_hash(&gold.sha256))));
    parts
}

fn short_hash(hash: &str) -> String {
    let (start, end) = (hash.get(..DIGITS), hash.len().checked_sub(DIGITS).and_then(|at| hash.get(at..)));
    match start.zip(end) {
        Some((start, end)) => format!("{}\\dots {}", escape(start), escape(end)),
        None => escape(hash),
    }
}

/// The text so that LaTeX prints it and obeys nothing in it.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().map(visible) {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_obeyed() {
        assert_eq!(
            escape(r"gpt_4 & 50% {x} \input{/etc} ~^ #1 $"),
            r"gpt\_4 \& 50\% \{x\} \textbackslash{}input\{/etc\} \textasciitilde{}\textasciicircum{} \#1 \$"
        );
        let signs = ['\\', '{', '}', '$', '&', '#', '^', '_', '~', '%', '\n'];
        let escaped: String = signs.iter().map(|sign| escape(&sign.to_string())).collect();
        let words = ["\\textbackslash{}", "\\textasciitilde{}", "\\textasciicircum{}"];
        let rest = words.iter().fold(escaped, |text, word| text.replacen(word, "", 1));
        assert_eq!(rest, r"\{\}\$\&\#\_\% ");
    }

    #[test]
    fn a_hash_that_is_none_stays_whole() {
        assert_eq!(short_hash(&"0123456789abcdef".repeat(4)), "0123\\dots cdef");
        assert_eq!(short_hash("abc"), "abc");
    }
}
