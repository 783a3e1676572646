//! The sentence on what intervals are about, and the table of plain intervals. Every page takes both from here.

use std::collections::BTreeSet;

use sqlgauge_base::counted;
use sqlgauge_run::{ClusterBy, Clusters, Comparison, ScoreSummary, Summary};

use crate::document::{Cell, Extent, Section, Table};
use crate::{Nature, Report, number};

/// How the plain interval is called.
pub const PLAIN: &str = "if questions were independent";

/// The questions that the intervals of a summary are about, after the words "95 % intervals"; empty where it names no clusters.
pub fn about(summary: &Summary) -> String {
    let scores = || summary.systems.iter().flat_map(|system| system.scores.values());
    match scores().find_map(|score| score.clusters) {
        None => String::new(),
        Some(Clusters { by: ClusterBy::Database, count }) => {
            format!(" for new databases like these {count}")
        }
        Some(Clusters { by: ClusterBy::Gold, .. }) => {
            let databases = summary.systems.iter().filter_map(|system| system.breakdown.get("db_id"));
            let databases: BTreeSet<&String> = databases.flat_map(|groups| groups.keys()).collect();
            let these = if databases.len() == 1 {
                "this database".to_owned()
            } else {
                format!("these {}", counted(databases.len(), "database"))
            };
            format!(" for new questions on {these}")
        }
    }
}

/// What a test says whose p-value is below 0.05 only if questions were independent.
pub fn only_plain(comparison: &Comparison) -> Option<String> {
    let plain = comparison.plain.filter(|plain| plain.p_value < 0.05 && comparison.p_value >= 0.05)?;
    let what = match comparison.clusters?.by {
        ClusterBy::Database => "databases",
        ClusterBy::Gold => "questions",
    };
    Some(format!(
        "{}: {} {PLAIN}; the difference is larger than chance explains on these {what}, but not shown for new ones",
        comparison.metric,
        number::p_in_words(plain.p_value)
    ))
}

/// Both intervals of every score.
pub(crate) fn section(report: &Report) -> Section {
    let row = |system: &str, metric: &str, score: &ScoreSummary| {
        let [low, high] = score.plain?;
        let plain = ScoreSummary { low: Some(low), high: Some(high), ..*score };
        let write = |score: &ScoreSummary| Cell::new(number::interval(score, Nature::of(metric)));
        let clusters = score.clusters?;
        let by = match clusters.by {
            ClusterBy::Database => "database",
            ClusterBy::Gold => "gold",
        };
        let clusters = Cell::new(counted(clusters.count, by));
        Some(vec![system.into(), metric.into(), write(score), clusters, write(&plain)])
    };
    let of_system = |system: &sqlgauge_run::SystemSummary| -> Vec<Vec<Cell>> {
        let metrics = report.summary.metrics.iter();
        metrics.filter_map(|metric| row(&system.system, metric, system.scores.get(metric)?)).collect()
    };
    let rows = report.summary.systems.iter().flat_map(of_system);
    let table = Table::of(["system", "metric", "by clusters", "clusters", PLAIN], rows);
    let note = "questions on one database, or with one gold, are right or wrong together";
    Section::new("Intervals", note, table).folded().terminal(Extent::Nothing)
}
