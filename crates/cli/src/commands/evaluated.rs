//! `sqlgauge estimate --evaluator`.

use std::path::Path;

use anyhow::Result;
use sqlgauge_core::{Context, EvaluateJob};

use crate::Verdict;
use crate::output::{print, print_json};

/// Estimates by the evaluator in a folder, and prints the estimate.
pub(crate) fn run(folder: &Path, embeddings: &Path, level: f64, json: bool) -> Result<Verdict> {
    let estimate = EvaluateJob { level, ..EvaluateJob::new(folder, embeddings) }.run(&Context::default())?;
    if json {
        print_json(&estimate)?;
        return Ok(Verdict::Done);
    }
    let mut text = format!(
        "{}: accuracy {:.3}, {:.0} % interval [{:.3}, {:.3}], method {}{}\n",
        estimate.system,
        estimate.accuracy,
        100.0 * estimate.interval.level,
        estimate.interval.low,
        estimate.interval.high,
        estimate.method,
        if estimate.outside { " (outside)" } else { "" },
    );
    let because = estimate.outside_because.iter();
    because.chain(&estimate.notes).for_each(|note| text.extend(["  ", note.as_str(), "\n"]));
    print(&text)?;
    Ok(Verdict::Done)
}
