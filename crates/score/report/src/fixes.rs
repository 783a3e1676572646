//! Why answers are wrong: per system the causes that cost most.

use sqlgauge_base::{counted, printable};
use sqlgauge_causes::find;
use sqlgauge_run::{ANSWERED, FAILED, Fix, Fixes, MISSING, REWRITTEN, SEVERAL, SystemSummary, TIED, UNCLEAR};

use crate::Report;
use crate::system_table::SystemTable;
use crate::words::NONE;

/// Causes of a system that the table shows; `summary.json` has all.
const SHOWN: usize = 6;

/// The table; nothing for a run whose items do not say why answers are wrong.
pub(crate) fn table(report: &Report) -> Option<SystemTable> {
    let lists = report.summary.systems.iter().filter_map(|system| Some((system, system.fixes.as_ref()?)));
    let metric = lists.clone().next().map(|(_, fixes)| fixes.metric.clone())?;
    let rows: Vec<(String, Vec<String>)> = lists.flat_map(|(system, fixes)| rows(system, fixes)).collect();
    let note = format!(
        "by {metric}; each wrong answer counts once, under its first cause. Points: percent of all answers. Only cause: answers with \
         nothing else wrong; {NONE}: not known"
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
            alone(fix),
        ];
        (system.system.clone(), cells)
    };
    let mut rows: Vec<_> = fixes.causes.iter().take(SHOWN).map(row).collect();
    let rest = fixes.causes.get(SHOWN..).unwrap_or_default();
    if !rest.is_empty() {
        let (points, items) =
            rest.iter().fold((0.0, 0), |(points, items), fix| (points + fix.points, items + fix.items));
        let cells = vec![
            counted(rest.len(), "more cause"),
            format!("{points:.1}"),
            items.to_string(),
            NONE.to_owned(),
        ];
        rows.push((system.system.clone(), cells));
    }
    rows
}

/// How many answers have no other cause; not known of a query that does not run, or without a single reason.
fn alone(fix: &Fix) -> String {
    if [FAILED, SEVERAL, UNCLEAR].contains(&fix.cause.as_str()) {
        NONE.to_owned()
    } else {
        fix.alone.to_string()
    }
}

/// A cause for a reader; the id of one that this version does not know.
pub fn title(id: &str) -> &str {
    match id {
        REWRITTEN => "changed by the official script",
        TIED => "a tie at LIMIT, decided by chance",
        UNCLEAR => "no single reason found",
        FAILED => "the query does not run",
        SEVERAL => "several statements in one answer",
        ANSWERED => "the question has no answer, and one was given",
        MISSING => "no answer",
        _ => find(id).map_or(id, |cause| cause.title),
    }
}
