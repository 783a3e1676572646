//! What the answers that are transcripts did before their final queries.

use sqlgauge_metrics::is_execution_accuracy;
use sqlgauge_run::EarlierCounts;

use crate::Report;
use crate::system_table::SystemTable;

/// The table; nothing for a run without transcripts of several queries.
pub(crate) fn table(report: &Report) -> Option<SystemTable> {
    let systems = &report.summary.systems;
    let counts = systems.iter().filter_map(|system| Some((system.system.clone(), system.transcripts?)));
    let rows: Vec<(String, Vec<String>)> = counts.map(|(name, counts)| (name, cells(counts))).collect();
    if rows.is_empty() {
        return None;
    }
    let metric = report.summary.metrics.iter().find(|metric| is_execution_accuracy(metric));
    let wrong = metric
        .map(|metric| format!("; right before: answers wrong by {metric} that had a right query before"));
    let note = format!(
        "answers of more than one query; failed: earlier queries; repaired: those whose answer's final query runs{}",
        wrong.unwrap_or_default()
    );
    let header = ["system", "answers", "queries per answer", "failed", "repaired", "right before"];
    Some(SystemTable {
        title: "Transcripts",
        note,
        header: header.map(str::to_owned).into(),
        rows,
        bars: None,
    })
}

fn cells(counts: EarlierCounts) -> Vec<String> {
    let EarlierCounts { answers, queries, failed, repaired, right_before } = counts;
    let per_answer = format!("{:.1}", queries as f64 / answers as f64);
    vec![answers.to_string(), per_answer, failed.to_string(), repaired.to_string(), right_before.to_string()]
}
