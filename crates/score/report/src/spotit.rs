//! EX and EX-SpotIt: how many answers that are right on the benchmark's own database no other database refutes.
//!
//! # Contract
//! For each metric of a run that verifies, if the run has the execution metric with the same equality of results: `ex@1` for
//! `verify@3`, `ex-bird@1` for `verify-set@3`. That metric is EX. EX-SpotIt is the share of the same items that are right by EX
//! and have no counterexample. Intervals are those of scores, 95 %; a rank is one more than the number of better systems.
//! The column for any values also counts counterexamples with values that their columns do not declare.
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026, the table of EX-Test and
//! EX-SpotIt.

use std::cmp::Ordering;

use sqlgauge_base::{stats, verb_for};
use sqlgauge_metrics::{MetricKind, execution_metric, is_verify};
use sqlgauge_run::{ClusterPlace, ClusterPlaces, Clustered, RunError, ScoreSummary, gold_key, score_of};
use sqlgauge_verify::{SOLVER_REMEDY, VerdictRecord};

use crate::system_table::{Bars, SystemTable};
use crate::{ItemView, Nature, Report, ReportError, number, words};

const LEVEL: f64 = 0.95;
/// What a bar of EX is stacked of.
const PARTS: [&str; 3] =
    ["right by EX-SpotIt", "lost on a realistic database", "lost on a database unlike the given one"];

/// One system's row.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    system: String,
    ex: ScoreSummary,
    ex_rank: usize,
    spotit: ScoreSummary,
    spotit_rank: usize,
    /// EX-SpotIt where columns may hold any values.
    any_values: ScoreSummary,
    items: usize,
    right: usize,
    /// Answers that are right by EX and were refuted.
    refuted: usize,
    /// Of these, those refuted by a database that keeps what the rows of the benchmark's keep.
    realistic: usize,
    /// Answers that are right by EX and undecided by `verify`.
    unknown: usize,
}

/// The metrics of the run that are EX, each with the one that verifies what it compares.
fn pairs(report: &Report) -> impl Iterator<Item = (&'static str, &String)> {
    let metrics = &report.summary.metrics;
    metrics.iter().filter(|metric| is_verify(metric)).filter_map(|verify| {
        let ex = execution_metric(report.manifest.semantics_of(verify)?)?;
        metrics.iter().any(|metric| metric == ex).then_some((ex, verify))
    })
}

/// The rows of a table in the order of the run, and what they leave out.
fn rows(report: &Report, ex: &str, verify: &str) -> Result<(Vec<Row>, Beyond), ReportError> {
    let metrics = &report.summary.metrics;
    let systems = &report.summary.systems;
    let mut counts = vec![Count::default(); systems.len()];
    let mut places = ClusterPlaces::default();
    report.items.for_each(|item| {
        let at = systems.iter().position(|system| system.system == item.system);
        if let Some(count) = at.and_then(|at| counts.get_mut(at)) {
            let verdict = item.details.verdict_by(verify, metrics);
            let place = places.place(&item.db_id, gold_key(&item.db_id, item.details.golds()));
            count.add(ItemView::new(item), place, ex, (verify, verdict));
        }
        Ok::<(), RunError>(())
    })?;
    let better = |of: fn(&Count) -> usize, count: &Count| {
        // The shares have different denominators only where a gold fails for one system alone.
        1 + counts.iter().filter(|other| of(other) * count.items > of(count) * other.items).count()
    };
    let row = |(system, count): (&sqlgauge_run::SystemSummary, &Count)| Row {
        system: system.system.clone(),
        ex: count.share(0),
        ex_rank: better(|count| count.right, count),
        spotit: count.share(1),
        spotit_rank: better(|count| count.unrefuted, count),
        any_values: count.share(2),
        items: count.items,
        right: count.right,
        refuted: count.right - count.unrefuted,
        realistic: count.realistic,
        unknown: count.unknown,
    };
    let sum = |of: fn(&Count) -> usize| counts.iter().map(of).sum();
    let beyond = Beyond { ties: sum(|count| count.beyond.ties), unknown: sum(|count| count.beyond.unknown) };
    Ok((systems.iter().zip(&counts).map(row).collect(), beyond))
}

/// A table for each metric that is EX with one that verifies.
pub(crate) fn tables(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
    let table = |(ex, verify): (&'static str, &String)| {
        let (rows, beyond) = rows(report, ex, verify)?;
        let (ex_of, spotit_of) = (format!("EX ({ex})"), "EX-SpotIt".to_owned());
        // One system has no rank, and one question gives none.
        let is_ranked = rows.len() > 1 && rows.iter().any(|row| row.items > 1);
        let header =
            ["system", &ex_of, "rank", &spotit_of, "rank", "any values", "refuted", "realistic", "unknown"];
        let header = header.into_iter().filter(|name| is_ranked || *name != "rank");
        Ok(SystemTable {
            title: "EX and EX-SpotIt",
            note: note(report, [ex, verify], &beyond),
            header: header.map(str::to_owned).collect(),
            rows: rows.iter().map(|row| (row.system.clone(), row.cells(ex, is_ranked))).collect(),
            bars: Some(Bars { parts: PARTS.into(), counts: rows.iter().map(Row::parts).collect() }),
        })
    };
    pairs(report).map(table).collect()
}

/// What the table says under its title.
fn note(report: &Report, [ex, verify]: [&str; 2], beyond: &Beyond) -> String {
    let has_solver = report.manifest.options.get("verify_solver").and_then(serde_json::Value::as_bool);
    let unproved = if has_solver == Some(false) {
        format!(" There was no solver, so nothing was proved within bounds: {SOLVER_REMEDY}.")
    } else {
        String::new()
    };
    let note = format!(
        "EX-SpotIt: right by {ex}, and {verify} has no counterexample. Any values: EX-SpotIt if counterexamples may also hold values \
         that the columns' types do not allow. Refuted: right by {ex}, with a counterexample; realistic: with one like the given rows. Unknown: \
         neither refuted nor proved.{}{unproved}",
        beyond.sentence()
    );
    // A note ends without a full stop.
    note.trim_end_matches('.').to_owned()
}

impl Row {
    /// How many answers each of [`PARTS`] has, and of how many.
    fn parts(&self) -> (Vec<usize>, usize) {
        (vec![self.right - self.refuted, self.realistic, self.refuted - self.realistic], self.items)
    }

    /// The cells after the name. A rank that moved shows how far.
    fn cells(&self, ex: &str, is_ranked: bool) -> Vec<String> {
        let interval = |score| Some(number::interval(score, Nature::of(ex)));
        let rank = |rank: usize| match rank.cmp(&self.ex_rank) {
            Ordering::Less => format!("{rank} ▲{}", self.ex_rank - rank),
            Ordering::Equal => rank.to_string(),
            Ordering::Greater => format!("{rank} ▼{}", rank - self.ex_rank),
        };
        let cells = [
            interval(&self.ex),
            is_ranked.then(|| rank(self.ex_rank)),
            interval(&self.spotit),
            is_ranked.then(|| rank(self.spotit_rank)),
            interval(&self.any_values),
        ];
        let counts = [self.refuted, self.realistic, self.unknown].map(|count| Some(count.to_string()));
        cells.into_iter().chain(counts).flatten().collect()
    }
}

#[derive(Debug, Clone, Default)]
struct Count {
    items: usize,
    right: usize,
    unrefuted: usize,
    /// Where each item stands, and whether it is right by EX, by EX-SpotIt, by EX-SpotIt with any values.
    answers: Vec<(ClusterPlace, [bool; 3])>,
    realistic: usize,
    unknown: usize,
    beyond: Beyond,
}

/// Answers that are wrong by EX and that `verify` does not refute: why the mean of `verify` can exceed EX-SpotIt.
#[derive(Debug, Clone, Default)]
struct Beyond {
    ties: usize,
    unknown: usize,
}

impl Beyond {
    fn sentence(&self) -> String {
        if self.ties + self.unknown == 0 {
            return String::new();
        }
        let sentence = |count: usize, why: &str| {
            let counts = verb_for(&count, ["counts", "count"]);
            (count > 0).then(|| {
                format!(
                    " {} wrong by EX, {why}, {counts} as right for verify alone.",
                    words::many(count, "answer")
                )
            })
        };
        let why = [
            sentence(self.ties, "but among the results that the gold permits"),
            sentence(self.unknown, "but undecided by verify"),
        ];
        why.into_iter().flatten().collect()
    }
}

impl Count {
    fn add(
        &mut self,
        item: ItemView<'_>,
        place: ClusterPlace,
        ex: &str,
        (verify, verdict): (&str, Option<&VerdictRecord>),
    ) {
        let Some(score) = item.score(ex) else { return };
        self.items += 1;
        if score < 1.0 {
            self.answers.push((place, [false; 3]));
            if item.score(verify) == Some(1.0) {
                let is_tie = verdict.is_some_and(|record| record.tie);
                *(if is_tie { &mut self.beyond.ties } else { &mut self.beyond.unknown }) += 1;
            }
            return;
        }
        self.right += 1;
        let is_refuted = item.score(verify) == Some(0.0);
        self.unrefuted += usize::from(!is_refuted);
        let is_undeclared = verdict.is_some_and(|record| record.undeclared.is_some());
        self.answers.push((place, [true, !is_refuted, !is_refuted && !is_undeclared]));
        self.realistic +=
            usize::from(is_refuted && verdict.is_some_and(|record| record.realistic == Some(true)));
        let is_unknown = verdict.is_none_or(|record| record.verdict == "unknown");
        self.unknown += usize::from(is_unknown && item.score(verify) != Some(0.0));
    }

    /// The share of answers that are right in the sense of that place.
    fn share(&self, sense: usize) -> ScoreSummary {
        let answers = self.answers.iter().map(|(place, senses)| (*place, f64::from(u8::from(senses[sense]))));
        let values: Vec<f64> = answers.clone().map(|(_, value)| value).collect();
        let right = self.answers.iter().filter(|(_, senses)| senses[sense]).count();
        let plain = (!values.is_empty()).then(|| stats::wilson(right as u64, values.len() as u64, LEVEL));
        score_of(MetricKind::Binary, &values, plain, Clustered::of(answers), LEVEL)
    }
}
