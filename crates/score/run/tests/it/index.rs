//! The index of a log: what is trusted of it when the run goes on and when a summary is made.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::{examples, manifest, system};
use sqlgauge_dataset::{Example, PredictionSet};
use sqlgauge_run::{
    Item, Judgement, Plan, RunDirectory, RunError, RunFiles, Schedule, Scorer, Start, Summary,
    SummaryBuilder, Task, execute,
};

const EXAMPLES: usize = 1200;

/// Compares texts and says much about it, so that the log has several blocks.
#[derive(Default)]
struct Wordy(AtomicUsize);

impl Scorer for Wordy {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let right = task.prediction == Some(task.example.golds[0].as_str());
        let score = if task.example.index % 50 == 7 { f64::NAN } else { f64::from(u8::from(right)) };
        let hardness = ["easy", "hard"][task.example.index % 2];
        let details = serde_json::json!({
            "question": format!("{:?} {}", task.example.question, "word ".repeat(60)),
            "hardness": hardness,
            "features": [format!("f{}", task.example.index % 9)],
        });
        Ok(Judgement {
            status: if task.prediction.is_some() { "ok" } else { "missing" }.into(),
            metrics: BTreeMap::from([("same@1".to_owned(), Some(score))]),
            details: serde_json::from_value(details.clone()).unwrap(),
        })
    }
}

fn systems(examples: &[Example]) -> Vec<PredictionSet> {
    [("a", 7), ("b", 20), ("c", 7), ("d", 5000)].map(|(name, modulus)| system(name, examples, modulus)).into()
}

/// Runs what is missing; returns the items that were there and the pieces of work that were scored.
fn run(folder: &Path, stop_at: usize) -> (usize, usize) {
    let examples = examples(EXAMPLES);
    let systems = systems(&examples);
    let plan = Plan::new(&examples, &systems).unwrap();
    let directory = RunDirectory::create(folder, &manifest(&systems, EXAMPLES), Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    let schedule = Schedule { jobs: 2, window: 64, cancel: &cancel };
    let scorer = Wordy::default();
    let done = execute(&directory, &plan, &scorer, &schedule, &StopAt(stop_at, &cancel)).unwrap();
    let summary = SummaryBuilder::of(directory.manifest(), &directory.items()).unwrap();
    assert!(stop_at < usize::MAX || summary == *UNBROKEN);
    (done.resumed, scorer.0.into_inner())
}

/// The summary of the whole run, from its items.
static UNBROKEN: LazyLock<Summary> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(EXAMPLES);
    let systems = systems(&examples);
    let plan = Plan::new(&examples, &systems).unwrap();
    let directory =
        RunDirectory::create(folder.path(), &manifest(&systems, EXAMPLES), Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    execute(&directory, &plan, &Wordy::default(), &Schedule::new(&cancel), &()).unwrap();
    summary_of_each(folder.path())
});

struct StopAt<'a>(usize, &'a AtomicBool);

impl sqlgauge_run::Observer for StopAt<'_> {
    fn advanced(&self, done: usize) {
        self.1.fetch_or(done >= self.0, Ordering::Relaxed);
    }
}

fn summary_of_each(folder: &Path) -> Summary {
    let mut builder = SummaryBuilder::new(&RunFiles::open(folder).unwrap().manifest);
    let log = std::fs::read_to_string(folder.join("items.jsonl")).unwrap();
    log.lines().map(|line| serde_json::from_str::<Item>(line).unwrap()).for_each(|item| builder.add(&item));
    builder.finish()
}

/// Log and index.
fn files(folder: &Path) -> [Vec<u8>; 2] {
    ["items.jsonl", "items.index"].map(|name| std::fs::read(folder.join(name)).unwrap())
}

fn write(folder: &Path, [log, index]: [&[u8]; 2]) {
    std::fs::write(folder.join("items.jsonl"), log).unwrap();
    std::fs::write(folder.join("items.index"), index).unwrap();
}

/// Where the blocks begin, and where the last one ends.
fn blocks(index: &[u8]) -> Vec<usize> {
    let number =
        |at: usize| usize::try_from(u64::from_le_bytes(index[at..at + 8].try_into().unwrap())).unwrap();
    let mut ends = vec![24 + 8 * EXAMPLES];
    while let Some(&at) = ends.last().filter(|at| **at < index.len()) {
        ends.push(at + 32 + 16 * number(at + 16) + number(at + 24));
    }
    ends
}

#[test]
fn a_run_that_goes_on_has_the_index_of_an_unbroken_one() {
    let folder = tempfile::tempdir().unwrap();
    let unbroken = folder.path().join("unbroken");
    assert_eq!(run(&unbroken, usize::MAX).0, 0);
    let expected = files(&unbroken);
    assert!(blocks(&expected[1]).len() > 3, "the log has too few blocks to say anything");
    let broken = folder.path().join("broken");
    for stop_at in [1, 900, 2000, 2001, 4500, usize::MAX] {
        run(&broken, stop_at);
        let [log, index] = files(&broken);
        assert!(expected[0].starts_with(&log));
        assert!(index.len() >= blocks(&expected[1])[0]);
    }
    assert!(files(&broken) == expected);
}

#[test]
fn a_log_that_was_cut_is_completed_and_only_what_is_gone_is_scored() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), usize::MAX);
    let expected = files(folder.path());
    let ends: Vec<usize> =
        expected[0].iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    for count in [ends.len() - 1, ends.len() - 40, 3000, 1, 0] {
        let cut = count.checked_sub(1).map_or(0, |last| ends[last]);
        for torn in [0, 5] {
            write(folder.path(), [&expected[0][..cut + torn], &expected[1]]);
            let (resumed, scored) = run(folder.path(), usize::MAX);
            assert_eq!(resumed, count);
            assert!(scored <= ends.len() - count, "{scored} scored, {count} kept");
            assert!(files(folder.path()) == expected, "{count} lines and {torn} bytes kept");
        }
    }
}

#[test]
fn an_index_that_is_torn_damaged_or_of_another_run_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), usize::MAX);
    let [log, index] = files(folder.path());
    let blocks = blocks(&index);
    let flipped = |at: usize| {
        let mut index = index.clone();
        index[at] ^= 1;
        index
    };
    let mut indexes =
        vec![Vec::new(), b"sqgindx1".to_vec(), index[..blocks[0]].to_vec(), [&index, &b"more"[..]].concat()];
    // Torn at the borders of blocks and between; damaged in the header and everywhere in a block.
    indexes.extend(
        blocks
            .windows(2)
            .flat_map(|pair| [pair[0] + 3, pair[0] + 40, pair[1] - 1])
            .map(|at| index[..at].to_vec()),
    );
    indexes.extend([0, 9, 17, 30].map(flipped));
    let last = blocks[blocks.len() - 2];
    indexes
        .extend([last, last + 9, last + 17, last + 25, last + 33, last + 41, index.len() - 9].map(flipped));
    // Absurd counts.
    indexes.push([&index[..16], &[0xff; 8], &index[24..]].concat());
    indexes.push([&index[..last + 16], &[0xff; 16], &index[last + 32..]].concat());
    for (case, of_case) in indexes.iter().enumerate() {
        write(folder.path(), [&log, of_case]);
        let opened = RunFiles::open(folder.path()).unwrap();
        let summary = SummaryBuilder::of(&opened.manifest, &opened.items).unwrap();
        assert!(summary == *UNBROKEN, "case {case}");
        assert_eq!(run(folder.path(), usize::MAX), (4 * EXAMPLES, 0), "case {case}");
        assert!(files(folder.path()) == [log.clone(), index.clone()], "case {case}");
    }
}

/// A byte of the log that differs, at any place, is seen: what the index says of those lines is not taken.
#[test]
fn an_index_is_not_taken_for_that_of_a_log_of_equal_length() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), usize::MAX);
    let [log, index] = files(folder.path());
    let text = String::from_utf8(log.clone()).unwrap();
    let (from, to) = (r#""same@1":1.0"#, r#""same@1":0.0"#);
    let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
    for at in [places[0], places[places.len() / 2], places[places.len() - 1]] {
        let edited = format!("{}{to}{}", &text[..at], &text[at + to.len()..]);
        write(folder.path(), [edited.as_bytes(), &index]);
        let opened = RunFiles::open(folder.path()).unwrap();
        assert_eq!(opened.items.fingerprint(), None);
        let summary = SummaryBuilder::of(&opened.manifest, &opened.items).unwrap();
        assert_eq!(summary, summary_of_each(folder.path()));
        assert_eq!(run(folder.path(), 0), (4 * EXAMPLES, 0));
        assert!(files(folder.path())[0] == edited.as_bytes());
        assert!(RunFiles::open(folder.path()).unwrap().items.fingerprint().is_some());
    }
}

/// Logs of other metrics or systems can be alike only by damage; their index is of another run all the same.
#[test]
fn an_index_of_a_run_of_other_systems_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), usize::MAX);
    let opened = RunFiles::open(folder.path()).unwrap();
    assert!(opened.items.fingerprint().is_some());
    let mut other = opened.manifest.clone();
    other.systems.swap(0, 1);
    std::fs::write(folder.path().join("run.json"), serde_json::to_vec(&other).unwrap()).unwrap();
    let opened = RunFiles::open(folder.path()).unwrap();
    assert_eq!(opened.items.fingerprint(), None);
    assert_eq!(SummaryBuilder::of(&other, &opened.items).unwrap(), summary_of_each_in_order(&opened));
}

fn summary_of_each_in_order(run: &RunFiles) -> Summary {
    let mut builder = SummaryBuilder::new(&run.manifest);
    run.items.to_vec().unwrap().iter().for_each(|item| builder.add(item));
    builder.finish()
}
