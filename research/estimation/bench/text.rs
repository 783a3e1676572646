//! Results as Markdown.

use std::fmt::Write as _;

use sqlgauge_base::markdown_text;

use super::run::Results;
use super::summary::{SummaryLine, by_method, by_system};

/// The tables: by transfer and method, by system, and what could not be run. All figures are percentage points.
pub fn markdown(results: &Results, title: &str) -> String {
    let mut text = format!("# {title}\n");
    let lines = by_method(&results.rows);
    let cells = by_system(&results.rows);
    for transfer in transfers(&lines) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n## {}\n", markdown_text(transfer));
        text.push_str("| method | n | MAE [95 %] | bias | coverage of the interval | half-width | Pearson r | seconds |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        for line in lines.iter().filter(|line| line.transfer == transfer) {
            text.push_str(&row(line));
        }
        text.push_str(&table_of_cells(&cells, transfer));
    }
    if lines.iter().any(|line| line.between_seeds.is_some()) {
        text.push_str("\nAfter ± is the standard deviation between seeds; n counts every seed.\n");
    }
    let _ = writeln!(text, "\nSignals that all methods of a trial share: {:.2} s.", results.shared_seconds);
    if !results.skipped.is_empty() {
        text.push_str("\n## Not run\n\n| method | times | reason |\n|---|---|---|\n");
        for skipped in &results.skipped {
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                markdown_text(&skipped.method),
                skipped.count,
                markdown_text(&skipped.reason)
            );
        }
    }
    text
}

fn transfers(lines: &[SummaryLine]) -> Vec<&str> {
    let mut names: Vec<&str> = lines.iter().map(|line| line.transfer.as_str()).collect();
    names.dedup();
    names
}

fn row(line: &SummaryLine) -> String {
    let interval = line.mae_interval.map(|[low, high]| format!(" [{:.1}, {:.1}]", 100.0 * low, 100.0 * high));
    let seeds = line.between_seeds.map(|deviation| format!(" ± {:.1}", 100.0 * deviation));
    format!(
        "| {} | {} | {:.1}{}{} | {:+.1} | {:.0} % | {:.1} | {} | {:.2} |\n",
        markdown_text(&line.method),
        line.count,
        100.0 * line.mae,
        seeds.unwrap_or_default(),
        interval.unwrap_or_default(),
        100.0 * line.bias,
        100.0 * line.coverage,
        100.0 * line.half_width,
        line.pearson.map_or_else(|| "–".to_owned(), |r| format!("{r:.2}")),
        line.seconds,
    )
}

/// Methods × systems.
fn table_of_cells(cells: &[SummaryLine], transfer: &str) -> String {
    let of_transfer: Vec<&SummaryLine> = cells.iter().filter(|cell| cell.transfer == transfer).collect();
    let mut systems: Vec<&str> = of_transfer.iter().filter_map(|cell| cell.system.as_deref()).collect();
    systems.sort_unstable();
    systems.dedup();
    let mut methods: Vec<&str> = of_transfer.iter().map(|cell| cell.method.as_str()).collect();
    methods.dedup();
    let heads: Vec<String> = systems.iter().map(|system| markdown_text(system)).collect();
    let mut text = format!("\n| MAE | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(systems.len()));
    for method in methods {
        let value = |system: &&str| {
            let cell = of_transfer
                .iter()
                .find(|cell| cell.method == method && cell.system.as_deref() == Some(system));
            cell.map_or_else(|| "–".to_owned(), |cell| format!("{:.1}", 100.0 * cell.mae))
        };
        let _ = writeln!(
            text,
            "| {} | {} |",
            markdown_text(method),
            systems.iter().map(value).collect::<Vec<_>>().join(" | ")
        );
    }
    text
}
