//! `sqlgauge estimate --evaluator`.

use std::path::Path;

use anyhow::Result;

use crate::Verdict;

/// Estimates the accuracy on a target from its embeddings, and prints it.
#[cfg(feature = "evaluator")]
pub fn estimate(folder: &Path, target: &Path, level: f64, json: bool) -> Result<Verdict> {
    use sqlgauge_encode::EmbeddingFile;
    use sqlgauge_estimate::{Estimate, Interval, Overlap};
    use sqlgauge_fusion::{Evaluator, TargetEstimate, evaluate_target};
    use sqlgauge_shift::Descriptors;

    let evaluator = Evaluator::load(folder)?;
    let target_file = EmbeddingFile::open(target)?;
    let TargetEstimate { estimate: found, descriptors } = evaluate_target(&evaluator, &target_file, level)?;
    let names = Descriptors::names().iter().map(|name| (*name).to_owned());
    let outside_because = if found.outside {
        vec![format!("beyond what was learned from in {}", found.outside_in.join(", "))]
    } else {
        Vec::new()
    };
    let estimate = Estimate {
        system: target.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        accuracy: found.accuracy,
        interval: Interval { level: found.level, low: found.low, high: found.high },
        outside: found.outside,
        outside_because,
        overlap: Overlap::default(),
        method: evaluator.card().method.clone(),
        signals: Vec::new(),
        descriptors: names.zip(descriptors.to_row()).collect(),
        by_database: Vec::new(),
        by_kind: Vec::new(),
        notes: evaluator.card().notes.clone(),
        items: Vec::new(),
    };
    if json {
        crate::output::print_json(&estimate)?;
    } else {
        let mut text = format!(
            "{}: accuracy {:.3}, {:.0} % interval [{:.3}, {:.3}], method {}{}\n",
            estimate.system,
            estimate.accuracy,
            100.0 * level,
            found.low,
            found.high,
            estimate.method,
            if found.outside { " (outside)" } else { "" },
        );
        let because = estimate.outside_because.iter();
        because.chain(&estimate.notes).for_each(|note| text.extend(["  ", note.as_str(), "\n"]));
        crate::output::print(&text)?;
    }
    Ok(Verdict::Done)
}

/// This build has no evaluator.
#[cfg(not(feature = "evaluator"))]
pub fn estimate(_: &Path, _: &Path, _: f64, _: bool) -> Result<Verdict> {
    Err(sqlgauge_base::NotBuiltIn { what: "--evaluator", feature: "evaluator" }.into())
}
