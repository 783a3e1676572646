//! How long comparisons take: `cargo bench -p sqlgauge-etm -- DATA`, where DATA holds Spider's `dev_gold.sql`,
//! databases and predictions. One thread; each pair alone, resolution included; the best of five rounds.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let root = PathBuf::from(folder.unwrap_or_else(|| "../../../../shared/data".to_owned())).join("spider");
    if !root.join("dev_gold.sql").is_file() {
        println!("skipped: no data at {}", root.display());
        return;
    }
    let engine = SqliteEngine::new(Limits::default());
    let golds = read(&root.join("dev_gold.sql"));
    println!("| system | profile | pairs | all, s | median, us | p99, us | slowest, us |");
    println!("|---|---|---|---|---|---|---|");
    let mut databases: HashMap<String, Arc<Database>> = HashMap::new();
    for system in ["etm_DAIL", "etm_C3", "etm_RESDSQL", "etm_codeS"] {
        let predictions = read(&root.join(format!("predictions/dev/{system}.sql")));
        let mut pairs = Vec::new();
        for (gold, prediction) in golds.lines().zip(predictions.lines()) {
            let Some((gold, db)) = gold.split_once('\t') else { continue };
            let database = databases.entry(db.to_owned()).or_insert_with(|| {
                let path = root.join("database").join(db).join(format!("{db}.sqlite"));
                engine.open(&path).unwrap_or_else(|error| panic!("{error}"))
            });
            pairs.push((
                Arc::clone(database),
                gold.to_owned(),
                prediction.split('\t').next().unwrap_or_default().to_owned(),
            ));
        }
        for profile in Profile::ALL {
            let best =
                (0..5).map(|_| round(&pairs, profile)).min_by_key(|times| times.iter().sum::<Duration>());
            table_row(system, profile, best.unwrap_or_default());
        }
    }
}

fn round(pairs: &[(Arc<Database>, String, String)], profile: Profile) -> Vec<Duration> {
    let time = |(database, gold, prediction): &(Arc<Database>, String, String)| {
        let start = Instant::now();
        std::hint::black_box(Matcher::new(database.schema(), profile).is_equal(gold, prediction));
        start.elapsed()
    };
    pairs.iter().map(time).collect()
}

fn table_row(system: &str, profile: Profile, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        let place = ((times.len().saturating_sub(1)) as f64 * share) as usize;
        times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let all: Duration = times.iter().sum();
    let (median, p99, slowest) = (at(0.5), at(0.99), at(1.0));
    println!(
        "| {system} | {profile} | {} | {:.3} | {median:.0} | {p99:.0} | {slowest:.0} |",
        times.len(),
        all.as_secs_f64(),
    );
}
