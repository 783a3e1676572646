//! `sqlgauge estimate --evaluator`.

use anyhow::Result;
use sqlgauge_estimate::Estimate;

use crate::Verdict;
use crate::output::{print, print_json};

/// Prints the estimate of an evaluator.
pub(super) fn show(estimate: &Estimate, json: bool) -> Result<Verdict> {
    if json {
        print_json(estimate)?;
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
