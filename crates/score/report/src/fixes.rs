//! Why answers are wrong: per system the causes that cost most.

use sqlgauge_base::printable;
use sqlgauge_causes::find;
use sqlgauge_run::{ANSWERED, FAILED, Fix, Fixes, MISSING, REWRITTEN, SystemSummary, UNCLEAR};

use crate::Report;
use crate::system_table::SystemTable;

/// Causes of a system that the table shows; `summary.json` has all.
const SHOWN: usize = 6;

/// The table; nothing for a run whose items do not say why answers are wrong.
pub(crate) fn table(report: &Report) -> Option<SystemTable> {
    let lists = report.summary.systems.iter().filter_map(|system| Some((system, system.fixes.as_ref()?)));
    let metric = lists.clone().next().map(|(_, fixes)| fixes.metric.clone())?;
    let rows: Vec<(String, Vec<String>)> = lists.flat_map(|(system, fixes)| rows(system, fixes)).collect();
    let note = format!(
        "by {metric}; each answer counts once. \"points\": what the score would gain. \"only cause\": nothing else differs."
    );
    let header = ["system", "cause", "points", "items", "only cause"].map(str::to_owned).into();
    Some(SystemTable { title: "Why answers are wrong", note, header, rows, bars: None })
}

fn rows(system: &SystemSummary, fixes: &Fixes) -> Vec<(String, Vec<String>)> {
    let row = |fix: &Fix| {
        let cells = vec![
            printable(title(&fix.cause)),
            format!("{:.1}", fix.points),
            fix.items.to_string(),
            fix.alone.to_string(),
        ];
        (system.system.clone(), cells)
    };
    fixes.causes.iter().take(SHOWN).map(row).collect()
}

/// A cause for a reader; the id of one that this version does not know.
pub fn title(id: &str) -> &str {
    match id {
        REWRITTEN => "changed by the official script",
        UNCLEAR => "several differences",
        FAILED => "the query does not run",
        ANSWERED => "the question has no answer, and one was given",
        MISSING => "no answer",
        _ => find(id).map_or(id, |cause| cause.title),
    }
}
