//! Learning, in builds with the evaluator.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use sqlgauge_core::{Context, FitJob};
use sqlgauge_fusion::Card;

use super::Fit;
use crate::Verdict;
use crate::output::{print, print_json};
use crate::progress::Progress;

impl Fit {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = FitJob {
            sets: self.sets,
            smallest_set: self.smallest_set,
            largest_set: self.set_size,
            slices: self.slices,
            descriptors: self.descriptors,
            regressor: self.regressor,
            steps: self.steps,
            seed: self.seed,
            ..FitJob::new(self.source, self.corpora, self.out.clone())
        };
        let progress = Progress::new(self.quiet);
        let card = job.run(&Context::default().watched_by(&progress));
        progress.finish();
        show(&card?, &self.out, self.json)
    }
}

/// Prints the card of an evaluator in that folder.
pub(crate) fn show(card: &Card, out: &Path, json: bool) -> Result<Verdict> {
    if json {
        print_json(card)?;
    } else {
        print(&described(card, out))?;
    }
    Ok(Verdict::Done)
}

fn described(card: &Card, out: &Path) -> String {
    let Card { method, regressor, calibration, .. } = card;
    let points = |share: f64| format!("{:.1} points", 100.0 * share);
    let [low, mean, high] = card.accuracy.map(|accuracy| format!("{:.1} %", 100.0 * accuracy));
    let mut text = format!(
        "{method} ({regressor}) on {} sample sets, accuracy {low} to {high}, mean {mean}\n",
        card.sets
    );
    let lines = [
        format!(
            "validation: error {}, that of always saying the mean {}",
            points(card.validation_mae),
            points(card.validation_mae_of_mean)
        ),
        format!(
            "held out: error {} on {} sets of {} {}, {:.0} % of them outside of training",
            points(calibration.mae),
            calibration.sets,
            calibration.groups,
            if calibration.groups == 1 { "group" } else { "groups" },
            100.0 * calibration.outside
        ),
    ];
    for line in lines.iter().chain(&card.notes) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "\nEvaluator: {}", out.display());
    text
}
