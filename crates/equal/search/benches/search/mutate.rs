//! Single mutations of real golds, and whether the search tells each from its gold.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::Random;
use sqlgauge_search::SearchOptions;
use sqlgauge_search::mutation::Mutations;
use sqlgauge_sql::{PrintDialect, print, resolve};

use super::Settings;
use super::data::{Case, spider_golds};
use super::measure::{PairOutcome, Searches, judge, options, summary};

/// How much longer the search is that judges what the measured one left.
const LONGER: usize = 50;

/// Draws mutants, searches them and prints the summary.
pub(crate) fn run(folder: &Path, settings: &Settings) {
    let golds = spider_golds(folder);
    let mut random = Random::new([settings.seed, 0x6d75_7461]);
    if let Some(path) = &settings.out {
        write(path, &golds, settings.count, &mut random);
        return;
    }
    let (mut searches, mut longer) = (Searches::default(), Searches::default());
    let mut outcomes = Vec::new();
    let (mut missed, mut left) = (Vec::new(), Vec::new());
    while outcomes.len() < settings.count {
        let Some((gold, _)) = random.pick(&golds) else { break };
        let Some(case) = mutant(gold, &mut random) else { continue };
        let one = judge(&case, searches.of(&case, options(settings)));
        match &one {
            PairOutcome::Inapplicable(_) => continue,
            PairOutcome::Undecided(reason, _) => {
                let options = SearchOptions { databases: settings.databases * LONGER, ..options(settings) };
                let options = SearchOptions { seed: settings.seed + 1, ..options };
                let is_missed = matches!(judge(&case, longer.of(&case, options)), PairOutcome::Different(_));
                let list = if is_missed { &mut missed } else { &mut left };
                list.push((case, *reason));
            }
            PairOutcome::Proved | PairOutcome::Different(_) => {}
        }
        outcomes.push(one);
    }
    for (title, list) in [("missed", &missed), ("left", &left)] {
        for (case, reason) in list.iter().take(settings.show) {
            println!("\n-- {title}: {} ({reason})\n{}\n{}", case.id, case.gold, case.prediction);
        }
    }
    println!("{} mutants", outcomes.len());
    summary(&outcomes);
    println!("  missed, but found by a search {LONGER} times as long: {}", missed.len());
    println!("  left by that too: {}", left.len());
}

/// Writes mutants as pairs for `sqlgauge verify --pairs`, each over the database of its gold.
fn write(path: &Path, golds: &[(Case, PathBuf)], count: usize, random: &mut Random) {
    let mut lines = String::new();
    for id in 0..count {
        let Some((case, database)) = std::iter::from_fn(|| {
            let (gold, database) = random.pick(golds)?;
            Some(mutant(gold, random).map(|case| (case, database)))
        })
        .find_map(|drawn| drawn) else {
            break;
        };
        let pair = serde_json::json!({
            "id": id, "origin": case.id, "db": database, "left": case.gold, "right": case.prediction,
        });
        let _ = writeln!(lines, "{pair}");
    }
    match std::fs::write(path, lines) {
        Ok(()) => println!("{} has the mutants", path.display()),
        Err(error) => println!("{} cannot be written: {error}", path.display()),
    }
}

/// The gold with one place changed.
fn mutant(gold: &Case, random: &mut Random) -> Option<Case> {
    let query = resolve(&gold.gold, &gold.schema).ok()?;
    let mutations = Mutations::new(&query, &gold.schema);
    let mutated = mutations.get(random.below(mutations.count()))?;
    let prediction = print(&mutated, &gold.schema, PrintDialect::Sqlite).ok()?;
    Some(Case { id: gold.id.clone(), schema: Arc::clone(&gold.schema), gold: gold.gold.clone(), prediction })
}
