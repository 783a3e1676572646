//! What `sqlgauge fit` does.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use sqlgauge_encode::EmbeddingFile;
use sqlgauge_fusion::{
    AdaptOptions, Card, CorpusOptions, Evaluator, FOLDER_FILES, ReptileOptions, Stage, find, fit_files,
};

use super::Fit;
use crate::Verdict;
use crate::output::{print, print_json, say};
use sqlgauge::keep_inputs;

impl Fit {
    pub(super) fn learn(self) -> Result<Verdict> {
        let inner = AdaptOptions { steps: self.steps, seed: self.seed, ..AdaptOptions::default() };
        let options = CorpusOptions {
            sets: self.sets,
            smallest: self.smallest_set,
            largest: self.set_size,
            slices: self.slices,
            regressor: find(&self.regressor)?,
            reptile: ReptileOptions { inner, ..ReptileOptions::default() },
            seed: self.seed,
        };
        let inputs = || {
            let corpora = self.corpora.iter().map(|path| ("--corpus", path.as_path()));
            corpora.chain([("--source", self.source.as_path())])
        };
        FOLDER_FILES.iter().try_for_each(|name| keep_inputs("--out", &self.out.join(name), inputs()))?;
        let source = EmbeddingFile::open(&self.source)?;
        let corpora =
            self.corpora.iter().map(|path| Ok(EmbeddingFile::open(path)?)).collect::<Result<Vec<_>>>()?;
        let told = Told::new(self.quiet);
        let evaluator = fit_files(&source, &corpora, &options, &|stage| told.tell(stage))?;
        finish(&evaluator, &self.out, self.json)
    }
}

/// Saves an evaluator and prints what it says of itself.
pub fn finish(evaluator: &Evaluator, out: &Path, json: bool) -> Result<Verdict> {
    evaluator.save(out)?;
    let card = evaluator.card();
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

/// Tells on standard error how far it is: at most every ten seconds, or twice a second on a terminal.
pub struct Told {
    quiet: bool,
    last: Cell<Option<Instant>>,
}

impl Told {
    pub fn new(quiet: bool) -> Self {
        Self { quiet, last: Cell::new(None) }
    }

    pub fn tell(&self, stage: Stage) {
        if self.quiet {
            return;
        }
        match stage {
            Stage::Fitting => say("fitting"),
            Stage::Sets(done, all) => {
                let every = if std::io::stderr().is_terminal() { 500 } else { 10_000 };
                if self.last.get().is_none_or(|last| last.elapsed() >= Duration::from_millis(every)) {
                    self.last.set(Some(Instant::now()));
                    say(&format!("{done} of {all} sample sets"));
                }
            }
        }
    }
}
