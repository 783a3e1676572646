//! Measures the search for counterexamples on real golds and predictions, and on mutations of real golds.
//!
//! ```text
//! cargo bench -p sqlgauge-verify --bench search -- pairs [--only NAME] [--systems A,B] [--all | --right | --wrong]
//! cargo bench -p sqlgauge-verify --bench search -- mutants [--count N]
//! cargo bench -p sqlgauge-verify --bench search -- slices [--systems A,B]
//!     [--databases N] [--seed N] [--every N] [--show N] [--out FILE]
//! ```
//! `pairs` searches every pair of a data set (`bird`, `spider`, `superhero`) that the sound rules of tree matching do not prove
//! equal; `--right` and `--wrong` keep those that execution calls so. `mutants` changes one place of a gold at a time: what
//! neither the rules prove equal nor the search tells apart is put to a search that is fifty times as long. With `--out` the
//! mutants are only written, as pairs for `sqlgauge verify --pairs`; `research/verify/judge_mutants.py` judges the run.
//! `slices` cuts
//! counterexamples out of the real superhero database for the predictions that execution calls wrong there.
//! `--every` takes each n-th pair, `--show` prints that many of those that are left, and `--out` writes one JSON line for
//! each pair, with the witness as a script, for `research/verify/replay_witnesses.py`.
//!
//! The data folder is `SQLGAUGE_DATA`, else `../shared/data` beside the workspace.

mod data;
mod measure;
mod mutate;
mod slices;

use std::path::{Path, PathBuf};

use sqlgauge_search::SearchOptions;

use self::data::PredictionFilter;

/// What the command line asks for.
struct Settings {
    databases: usize,
    seed: u64,
    every: usize,
    show: usize,
    count: usize,
    out: Option<PathBuf>,
    only: Option<String>,
    systems: Option<String>,
    predictions: PredictionFilter,
}

fn settings(args: &[String]) -> Settings {
    let text = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let number =
        |name: &str, default: usize| text(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let has = |name: &str| args.iter().any(|arg| arg == name);
    Settings {
        databases: number("--databases", SearchOptions::default().databases),
        seed: number("--seed", 0) as u64,
        every: number("--every", 1).max(1),
        show: number("--show", 0),
        count: number("--count", 500),
        out: text("--out").map(PathBuf::from),
        only: text("--only"),
        systems: text("--systems"),
        predictions: if has("--right") {
            PredictionFilter::Right
        } else if has("--wrong") {
            PredictionFilter::Wrong
        } else {
            PredictionFilter::All
        },
    }
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let folder = std::env::var_os("SQLGAUGE_DATA").map_or(folder, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: the data folder {} is missing", folder.display());
        return;
    }
    let args: Vec<String> = std::env::args().collect();
    let settings = settings(&args);
    if args.iter().any(|arg| arg == "mutants") {
        mutate::run(&folder, &settings);
        return;
    }
    if args.iter().any(|arg| arg == "slices") {
        slices::run(&folder, settings);
        return;
    }
    for (name, cases) in data::sets(&folder, &settings) {
        measure::run(&name, &cases, &settings);
    }
}
