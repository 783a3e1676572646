//! What is known and what is asked for in each trial.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sqlgauge_base::Random;
use sqlgauge_estimate::{EstimateError, binary_metric};
use sqlgauge_run::StoredRun;

/// A dataset with labelled answers of several systems.
#[derive(Debug, Clone)]
pub struct BenchRun {
    /// Name of the dataset in tables.
    pub name: String,
    /// Folder of the run.
    pub path: PathBuf,
    /// The run.
    pub stored: StoredRun,
    /// The metric that is meant by accuracy.
    pub metric: String,
}

impl BenchRun {
    /// The run in a folder, named after it.
    ///
    /// # Errors
    /// When there is no run, or it has no metric of 0 and 1.
    pub fn read(path: PathBuf, metric: Option<&str>) -> Result<Self, EstimateError> {
        let stored = StoredRun::read(&path)?;
        let metric = binary_metric(&path, &stored, metric)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path, stored, metric })
    }

    /// Names of the systems, ascending.
    pub fn systems(&self) -> BTreeSet<String> {
        self.stored.items.iter().map(|item| item.system.clone()).collect()
    }

    /// Names of the databases, ascending.
    pub fn databases(&self) -> BTreeSet<String> {
        self.stored.items.iter().map(|item| item.db_id.clone()).collect()
    }
}

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Known is one run, the target another: Table III.
    LeaveDatasetOut,
    /// Known is all but one system's answers to one run: that system has no label there, others have.
    LeaveModelOut,
    /// Known are some databases of a run, the target is the others; several random splits.
    LeaveDatabasesOut {
        /// Databases that are known.
        databases: usize,
        /// Splits.
        splits: usize,
    },
    /// One system alone: known are its answers to most databases of a run, the target is a group of the others: those on which
    /// the other systems do worst, those on which they do best, and any. Two databases to half of them; each system gets splits of its own.
    LeaveGroupsOut {
        /// Splits for each system.
        splits: usize,
    },
}

/// Which databases a group is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseGroup {
    /// On which the other systems do worst.
    Hard,
    /// On which they do best.
    Easy,
    /// Any.
    Random,
}

impl DatabaseGroup {
    /// All of them, in the order in which splits take turns.
    pub const ALL: [Self; 3] = [Self::Hard, Self::Easy, Self::Random];

    /// Its name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Easy => "easy",
            Self::Random => "random",
        }
    }
}

/// How much chance there is in which databases are the hardest, as accuracy: groups of one size would be the same ones each time.
const SHAKEN: f64 = 0.15;

/// Whether other systems' unlabelled answers to the target are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerAvailability {
    /// Only the target system's own.
    None,
    /// Those of all systems of the run.
    All,
}

/// A part of a run: the answers of some systems to questions about some databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Place of the run.
    pub run: usize,
    /// Its systems.
    pub systems: BTreeSet<String>,
    /// Its databases.
    pub databases: BTreeSet<String>,
}

/// What is known and what is asked for at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What the table calls it.
    pub transfer: String,
    /// Number of the random split.
    pub split: usize,
    /// Labelled answers.
    pub sources: Vec<Selection>,
    /// Answers without labels.
    pub target: Selection,
    /// Systems of the target whose accuracy is asked for.
    pub systems: Vec<String>,
}

/// The trials of a protocol. `wanted` names the systems that are asked about (all that the protocol allows, if it is
/// empty); the others are known, or answer beside them.
pub fn trials(
    runs: &[BenchRun],
    protocol: Protocol,
    peers: PeerAvailability,
    wanted: &BTreeSet<String>,
    seed: u64,
) -> Vec<Trial> {
    let is_wanted = |system: &String| wanted.is_empty() || wanted.contains(system);
    let mut trials = Vec::new();
    match protocol {
        Protocol::LeaveDatasetOut => {
            for (from, to) in pairs(runs.len()) {
                let in_both: Vec<String> = runs[from]
                    .systems()
                    .intersection(&runs[to].systems())
                    .filter(|s| is_wanted(s))
                    .cloned()
                    .collect();
                let transfer = format!("{} → {}", runs[from].name, runs[to].name);
                let trial = Trial {
                    transfer,
                    split: 0,
                    sources: vec![whole(runs, from)],
                    target: whole(runs, to),
                    systems: in_both,
                };
                trials.extend(with_peers(trial, peers));
            }
        }
        Protocol::LeaveModelOut => {
            for to in 0..runs.len() {
                for system in runs[to].systems().into_iter().filter(is_wanted) {
                    let mut sources: Vec<Selection> = (0..runs.len()).map(|run| whole(runs, run)).collect();
                    sources[to].systems.remove(&system);
                    let only = BTreeSet::from([system.clone()]);
                    let target = Selection { systems: only, ..whole(runs, to) };
                    let transfer = format!("unseen system on {}", runs[to].name);
                    trials.push(Trial { transfer, split: 0, sources, target, systems: vec![system] });
                }
            }
        }
        Protocol::LeaveGroupsOut { splits } => {
            for run in 0..runs.len() {
                let accuracies = Accuracies::of(&runs[run]);
                for (place, system) in runs[run].systems().into_iter().filter(is_wanted).enumerate() {
                    for split in 0..splits {
                        let random = &mut Random::new([seed, place as u64, split as u64]);
                        trials.extend(group_of(runs, run, &accuracies, (&system, split), random));
                    }
                }
            }
        }
        Protocol::LeaveDatabasesOut { databases, splits } => {
            for run in 0..runs.len() {
                for split in 0..splits {
                    trials.extend(split_of(runs, run, databases, split, seed).into_iter().flat_map(
                        |mut trial| {
                            trial.systems.retain(is_wanted);
                            with_peers(trial, peers)
                        },
                    ));
                }
            }
        }
    }
    trials.retain(|trial| !trial.systems.is_empty());
    trials
}

fn split_of(runs: &[BenchRun], run: usize, count: usize, split: usize, seed: u64) -> Option<Trial> {
    let mut databases: Vec<String> = runs[run].databases().into_iter().collect();
    if count == 0 || databases.len() <= count {
        return None;
    }
    Random::new([seed, split as u64]).shuffle(&mut databases);
    let rest = databases.split_off(count);
    Some(Trial {
        transfer: format!("{} of {} databases of {}", count, count + rest.len(), runs[run].name),
        split,
        sources: vec![Selection { databases: databases.into_iter().collect(), ..whole(runs, run) }],
        target: Selection { databases: rest.into_iter().collect(), ..whole(runs, run) },
        systems: runs[run].systems().into_iter().collect(),
    })
}

/// Right answers, and all, by database and system.
struct Accuracies(BTreeMap<(String, String), (f64, f64)>);

impl Accuracies {
    fn of(run: &BenchRun) -> Self {
        let mut counts: BTreeMap<(String, String), (f64, f64)> = BTreeMap::new();
        for item in &run.stored.items {
            if let Some(score) = item.metrics.get(&run.metric).copied().flatten() {
                let entry = counts.entry((item.db_id.clone(), item.system.clone())).or_default();
                *entry = (entry.0 + score, entry.1 + 1.0);
            }
        }
        Self(counts)
    }

    /// What the other systems reach on a database.
    fn of_others(&self, database: &str, system: &str) -> f64 {
        let scores = self.0.iter().filter(|((db, other), _)| db == database && other != system);
        let (right, all) = scores.fold((0.0, 0.0), |sum, (_, of)| (sum.0 + of.0, sum.1 + of.1));
        right / f64::max(all, 1.0)
    }
}

/// A system's answers, of which those about a group of databases are the target.
fn group_of(
    runs: &[BenchRun],
    run: usize,
    accuracies: &Accuracies,
    (system, split): (&str, usize),
    random: &mut Random,
) -> Option<Trial> {
    let mut databases: Vec<String> = runs[run].databases().into_iter().collect();
    let most = databases.len() / 2;
    if most < 2 {
        return None;
    }
    let group = DatabaseGroup::ALL[split % DatabaseGroup::ALL.len()];
    random.shuffle(&mut databases);
    let mut shaken =
        |database: &String| accuracies.of_others(database, system) + SHAKEN * (random.unit() - 0.5);
    match group {
        DatabaseGroup::Random => {}
        DatabaseGroup::Hard => by_key(&mut databases, &mut shaken),
        DatabaseGroup::Easy => by_key(&mut databases, &mut |database| -shaken(database)),
    }
    let rest = databases.split_off(2 + random.below(most - 1));
    let only = BTreeSet::from([system.to_owned()]);
    let of = |databases: Vec<String>| Selection {
        systems: only.clone(),
        databases: databases.into_iter().collect(),
        run,
    };
    Some(Trial {
        transfer: format!("{} databases of {}", group.as_str(), runs[run].name),
        split,
        sources: vec![of(rest)],
        target: of(databases),
        systems: vec![system.to_owned()],
    })
}

/// Sorts by a number that is asked for once.
fn by_key(all: &mut [String], key: &mut dyn FnMut(&String) -> f64) {
    let mut keyed: Vec<(f64, String)> = all.iter().map(|one| (key(one), one.clone())).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (place, (_, one)) in all.iter_mut().zip(keyed) {
        *place = one;
    }
}

fn whole(runs: &[BenchRun], run: usize) -> Selection {
    Selection { run, systems: runs[run].systems(), databases: runs[run].databases() }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |from| (0..count).map(move |to| (from, to))).filter(|(from, to)| from != to)
}

/// One trial for all systems, or one for each that sees nobody else's answers.
fn with_peers(trial: Trial, peers: PeerAvailability) -> Vec<Trial> {
    match peers {
        PeerAvailability::All => vec![trial],
        PeerAvailability::None => trial
            .systems
            .iter()
            .map(|system| Trial {
                target: Selection { systems: BTreeSet::from([system.clone()]), ..trial.target.clone() },
                systems: vec![system.clone()],
                ..trial.clone()
            })
            .collect(),
    }
}
