//! Walks over the items of a log: order, repetition, damage.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::{examples, manifest, system};
use serde_json::json;
use sqlgauge_run::{
    Entry, Item, Judgement, Plan, RunDirectory, RunError, RunFiles, Schedule, Scorer, Start, Summary,
    SummaryBuilder, Task, execute,
};

/// Right or wrong, with labels that the summary breaks down by.
struct Judge;

impl Scorer for Judge {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        let right = task.prediction == Some(task.example.golds[0].as_str());
        let level = ["easy", "hard"][task.example.index % 2];
        Ok(Judgement {
            status: if task.prediction.is_some() { "ok" } else { "missing" }.into(),
            metrics: [("same@1".to_owned(), Some(f64::from(u8::from(right))))].into(),
            details: serde_json::from_value(json!({"hardness": level, "prediction": task.prediction}))
                .unwrap(),
        })
    }
}

/// Four systems of which two say the same throughout and all agree now and then.
fn run(folder: &Path) {
    let examples = examples(30);
    let systems = ["a", "naïve \"x\"", "c", "d"].iter().zip([100, 8, 100, 20]);
    let systems: Vec<_> = systems.map(|(name, modulus)| system(name, &examples, modulus)).collect();
    let plan = Plan::new(&examples, &systems).unwrap();
    let directory = RunDirectory::create(folder, &manifest(&systems, 30), Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    execute(&directory, &plan, &Judge, &Schedule::new(&cancel), &()).unwrap();
}

fn lines(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("items.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write(folder: &Path, lines: &[String]) {
    std::fs::write(folder.join("items.jsonl"), lines.concat()).unwrap();
}

/// What serde makes of the lines, one by one.
fn decoded(folder: &Path) -> Vec<Item> {
    lines(folder).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summary_of_each(folder: &Path) -> Summary {
    let mut builder = SummaryBuilder::new(&RunFiles::open(folder).unwrap().manifest);
    decoded(folder).iter().for_each(|item| builder.add(item));
    builder.finish()
}

#[test]
fn a_walk_meets_every_item_once_in_order() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    let expected = decoded(folder.path());
    let items = RunFiles::open(folder.path()).unwrap().items;
    assert_eq!(items.to_vec().unwrap(), expected);
    let (mut new, mut met) = (0, Vec::new());
    items
        .for_each_entry(|entry| {
            match entry {
                Entry::New(item) => {
                    new += 1;
                    met.push((item.system.clone(), item.id.clone()));
                }
                Entry::Same { system, like, id } => {
                    let of = |name: &str| expected.iter().find(|i| i.system == name && i.id == id).unwrap();
                    assert_eq!(Item { system: system.to_owned(), ..of(like).clone() }, *of(system));
                    met.push((system.to_owned(), id.to_owned()));
                }
            }
            Ok::<(), RunError>(())
        })
        .unwrap();
    assert_eq!(met, expected.iter().map(|i| (i.system.clone(), i.id.clone())).collect::<Vec<_>>());
    assert!(new <= 120, "{new}");
}

/// Lines that repeat others are met as repetitions once they are further apart than a batch.
#[test]
fn a_summary_of_repetitions_is_that_of_the_items() {
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(3000);
    let systems: Vec<_> =
        [("a", 7), ("b", 5000), ("c", 7), ("d", 5000)].map(|(n, m)| system(n, &examples, m)).into();
    let plan = Plan::new(&examples, &systems).unwrap();
    let directory = RunDirectory::create(folder.path(), &manifest(&systems, 3000), Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    execute(&directory, &plan, &Judge, &Schedule::new(&cancel), &()).unwrap();
    let mut repeated = 0;
    let count = |entry: Entry<'_>| {
        repeated += usize::from(matches!(entry, Entry::Same { .. }));
        Ok::<(), RunError>(())
    };
    directory.items().for_each_entry(count).unwrap();
    assert!(repeated > 6000, "{repeated}");
    let summary = SummaryBuilder::of(directory.manifest(), &directory.items()).unwrap();
    assert_eq!(summary, summary_of_each(folder.path()));
    assert!(summary.systems[0].breakdown["hardness"]["easy"]["same@1"].count > 1000);
}

#[test]
fn a_damaged_log_gives_each_item_once() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    std::fs::remove_file(folder.path().join("items.index")).unwrap();
    let (expected, whole) = (decoded(folder.path()), lines(folder.path()));
    let with_feed = |line: &String| format!("{line}\n");
    let mut damaged: Vec<String> = whole.iter().map(with_feed).collect();
    damaged.insert(50, damaged[40].clone());
    damaged.push(damaged[3].clone());
    damaged.push(damaged[70][..20].to_owned());
    write(folder.path(), &damaged);
    let files = RunFiles::open(folder.path()).unwrap();
    assert_eq!(files.items.to_vec().unwrap(), expected);
    let summary = SummaryBuilder::of(&files.manifest, &files.items).unwrap();
    assert_eq!(summary.systems.iter().map(|s| s.statuses.values().sum::<usize>()).sum::<usize>(), 120);
    let item = files.items.find("naïve \"x\"", "q14").unwrap().unwrap();
    assert_eq!(item, expected[32]);
    assert_eq!(files.items.find("a", "q1").unwrap(), None);

    damaged[10] = "not an item\n".to_owned();
    write(folder.path(), &damaged);
    let error = files.items.to_vec().unwrap_err();
    assert!(matches!(error, RunError::CorruptLine { line: 11, .. }), "{error}");
}

/// An item is found by the index, and without one; an index that does not belong to the log leads nowhere.
#[test]
fn every_item_is_found_whatever_the_index_says() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    let expected = decoded(folder.path());
    let index = folder.path().join("items.index");
    let whole = std::fs::read(&index).unwrap();
    let mut shifted = whole.clone();
    // Where the lines end, by the only block: they lead elsewhere.
    let records = 24 + 8 * 30 + 32;
    shifted[records..records + 16 * expected.len()].rotate_left(48);
    let of_another = [&whole[..8], &[1; 8], &whole[16..]].concat();
    for content in [Some(whole.clone()), Some(shifted), Some(of_another), Some(whole[..50].to_vec()), None] {
        match content {
            Some(bytes) => std::fs::write(&index, bytes).unwrap(),
            None => std::fs::remove_file(&index).unwrap(),
        }
        let files = RunFiles::open(folder.path()).unwrap();
        for item in &expected {
            assert_eq!(files.items.find(&item.system, &item.id).unwrap().as_ref(), Some(item));
        }
        assert_eq!(files.items.find("a", "no such id").unwrap(), None);
        assert_eq!(files.items.find("no such system", "q0").unwrap(), None);
    }
}
