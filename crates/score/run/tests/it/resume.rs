//! The log of a run is the same, byte for byte, however the run came to its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{examples, manifest, system};
use sqlgauge_dataset::{Example, PredictionSet};
use sqlgauge_run::{
    Completion, Details, Item, Judgement, Observer, Plan, Repair, RunDirectory, RunError, Schedule, Scorer,
    Start, StoredRun, Task, execute,
};

fn benchmark() -> (Vec<Example>, Vec<PredictionSet>) {
    let examples = examples(40);
    let systems = vec![
        system("always", &examples, 100),
        system("half", &examples, 20),
        system("naïve \"x\"", &examples, 8),
    ];
    (examples, systems)
}

#[derive(Default)]
struct Events(Mutex<Vec<Repair>>);

impl Observer for Events {
    fn repaired(&self, repair: &Repair) {
        self.0.lock().unwrap().push(repair.clone());
    }
}

/// Compares texts, takes a time that depends on the task, counts its calls, and panics where told to.
#[derive(Default)]
struct SlowScorer {
    calls: AtomicUsize,
    microseconds: u64,
    panics_on: Option<&'static str>,
}

impl Scorer for SlowScorer {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let scatter = (task.example.index as u64 * 2_654_435_761) % 7;
        std::thread::sleep(Duration::from_micros(self.microseconds * scatter));
        assert!(self.panics_on != Some(task.example.id.as_str()), "cannot score {}", task.example.id);
        let right = task.prediction == Some(task.example.golds[0].as_str());
        let status = if task.prediction.is_some() { "ok" } else { "missing" };
        Ok(Judgement {
            status: status.into(),
            metrics: BTreeMap::from([("same@1".to_owned(), Some(f64::from(u8::from(right))))]),
            details: Details { question: task.example.question.clone(), ..Details::default() },
        })
    }
}

struct Once {
    jobs: usize,
    window: usize,
    microseconds: u64,
}

impl Once {
    fn run(&self, folder: &Path, scorer: &SlowScorer) -> Result<(Completion, Vec<Repair>), RunError> {
        let (examples, systems) = benchmark();
        let plan = Plan::new(&examples, &systems)?;
        let directory = RunDirectory::create(folder, &manifest(&systems, 40), Start::Continue)?;
        let (cancel, events) = (AtomicBool::new(false), Events::default());
        let schedule = Schedule { jobs: self.jobs, window: self.window, cancel: &cancel };
        let completion = execute(&directory, &plan, scorer, &schedule, &events)?;
        Ok((completion, events.0.into_inner().unwrap()))
    }
}

const QUICK: Once = Once { jobs: 2, window: 16, microseconds: 0 };

fn unbroken(folder: &Path) -> Vec<u8> {
    QUICK.run(folder, &SlowScorer::default()).unwrap();
    log(folder)
}

fn log(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("items.jsonl")).unwrap()
}

#[test]
fn the_log_does_not_depend_on_jobs_or_window() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(&folder.path().join("expected"));
    for (jobs, window) in [(1, 1), (1, 1024), (2, 1), (2, 3), (3, 8), (8, 1024), (0, 16)] {
        let path = folder.path().join(format!("{jobs}-{window}"));
        let once = Once { jobs, window, microseconds: 100 };
        once.run(&path, &SlowScorer { microseconds: once.microseconds, ..SlowScorer::default() }).unwrap();
        assert!(log(&path) == expected, "jobs {jobs}, window {window}");
    }
}

#[test]
fn every_line_is_the_item_that_serde_writes() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = unbroken(folder.path());
    for line in std::str::from_utf8(&bytes).unwrap().lines() {
        let item: Item = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&item).unwrap(), line);
    }
    let run = StoredRun::read(folder.path()).unwrap();
    assert!(run.is_complete());
    let order: Vec<_> = run.items.iter().map(|i| (i.system.as_str(), i.index)).collect();
    assert_eq!((order[0], order[41], order[119]), (("always", 0), ("half", 1), ("naïve \"x\"", 39)));
}

#[test]
fn equal_answers_of_several_systems_are_scored_once() {
    let folder = tempfile::tempdir().unwrap();
    let scorer = SlowScorer::default();
    let (completion, _) = QUICK.run(folder.path(), &scorer).unwrap();
    let (examples, systems) = benchmark();
    let mut distinct: Vec<_> = systems
        .iter()
        .flat_map(|s| s.predictions.iter().zip(&examples).map(|(p, e)| (e.index, p.as_ref().map(|p| &p.sql))))
        .collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!((scorer.calls.into_inner(), completion.distinct), (distinct.len(), distinct.len()));
    assert!(distinct.len() < completion.total);
}

#[test]
fn a_log_cut_at_any_byte_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(folder.path());
    let lines: Vec<usize> =
        expected.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    let last_lines = lines[lines.len() - 4]..=expected.len();
    let elsewhere = [0, 1, lines[0] - 1, lines[0], lines[39] + 5, lines[60]];
    for cut in elsewhere.into_iter().chain(last_lines) {
        std::fs::write(folder.path().join("items.jsonl"), &expected[..cut]).unwrap();
        let scorer = SlowScorer::default();
        let (completion, repairs) = QUICK.run(folder.path(), &scorer).unwrap();
        assert!(log(folder.path()) == expected, "cut at {cut}");
        let whole = lines.iter().filter(|end| **end <= cut).count();
        let torn = cut - lines[..whole].last().unwrap_or(&0);
        let event = Repair::TornLine { line: whole + 1, bytes: torn as u64 };
        assert_eq!(repairs, if torn > 0 { vec![event] } else { vec![] }, "cut at {cut}");
        assert_eq!((completion.resumed, completion.done), (whole, 120), "cut at {cut}");
        assert!(scorer.calls.into_inner() <= 120 - whole, "a finished item was scored again after cut {cut}");
    }
}

#[test]
fn repeated_and_misplaced_lines_are_mended_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(folder.path());
    let lines: Vec<&str> = std::str::from_utf8(&expected).unwrap().split_inclusive('\n').collect();
    let duplicate =
        |line: usize, id: &str| Repair::Duplicate { line, system: "always".into(), id: id.into() };
    let early = |line: usize, id: &str| Repair::OutOfOrder { line, system: "always".into(), id: id.into() };
    for (written, repairs, resumed) in [
        (vec![0, 1, 1, 2], vec![duplicate(3, "q7")], 3),
        (vec![0, 0, 1, 0, 2], vec![duplicate(2, "q0"), duplicate(4, "q0")], 3),
        (vec![0, 2, 1], vec![early(2, "q14")], 2),
        (vec![3], vec![early(1, "q21")], 0),
    ] {
        let text: String = written.iter().map(|i| lines[*i]).collect();
        std::fs::write(folder.path().join("items.jsonl"), text).unwrap();
        let (completion, notes) = QUICK.run(folder.path(), &SlowScorer::default()).unwrap();
        assert_eq!((notes, completion.resumed), (repairs, resumed), "{written:?}");
        assert!(log(folder.path()) == expected, "{written:?}");
    }
}

#[test]
fn foreign_and_corrupt_lines_stop_the_run_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let expected = String::from_utf8(unbroken(folder.path())).unwrap();
    for (text, message) in [
        (expected.replacen("always", "never", 1), "line 1 is foreign to this run (system never, id q0"),
        (expected.replacen("\"q7\"", "\"q8\"", 1), "line 2 is foreign to this run (system always, id q8"),
        (
            expected.replacen("same@1", "same@2", 1),
            "line 1 is foreign to this run (system always, id q0: it has other",
        ),
        (expected.replacen("{\"system\"", "\0\0", 1), "line 1 is not an item"),
        (format!("\n{expected}"), "line 1 is not an item"),
    ] {
        std::fs::write(folder.path().join("items.jsonl"), &text).unwrap();
        let error = QUICK.run(folder.path(), &SlowScorer::default()).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("--restart"), "{error}");
        assert!(log(folder.path()) == text.as_bytes());
    }
}

struct CancelAt<'a>(usize, &'a AtomicBool);

impl Observer for CancelAt<'_> {
    fn advanced(&self, done: usize) {
        if done >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_cancelled_run_ends_cleanly_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(&folder.path().join("expected"));
    let (examples, systems) = benchmark();
    let plan = Plan::new(&examples, &systems).unwrap();
    let path = folder.path().join("run");
    let directory = RunDirectory::create(&path, &manifest(&systems, 40), Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    let schedule = Schedule { jobs: 2, window: 4, cancel: &cancel };
    let scorer = SlowScorer { microseconds: 100, ..SlowScorer::default() };
    let first = execute(&directory, &plan, &scorer, &schedule, &CancelAt(10, &cancel)).unwrap();
    assert!(!first.is_complete() && first.done >= 10, "{first:?}");
    assert!(log(&path).ends_with(b"\n") && expected.starts_with(&log(&path)));
    assert!(!StoredRun::read(&path).unwrap().is_complete());
    cancel.store(false, Ordering::Relaxed);
    let second = execute(&directory, &plan, &scorer, &schedule, &()).unwrap();
    assert_eq!((second.resumed, second.done), (first.done, 120));
    assert!(log(&path) == expected);
}

#[test]
fn a_run_goes_on_without_the_answers_of_finished_systems() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(&folder.path().join("expected"));
    let (examples, systems) = benchmark();
    let manifest = manifest(&systems, 40);
    let (path, cancel) = (folder.path().join("run"), AtomicBool::new(false));
    let schedule = Schedule { jobs: 1, window: 1, cancel: &cancel };
    let scorer = SlowScorer { microseconds: 100, ..SlowScorer::default() };
    {
        let directory = RunDirectory::create(&path, &manifest, Start::Continue).unwrap();
        assert_eq!(directory.finished(&examples).unwrap(), 0);
        let plan = Plan::new(&examples, &systems).unwrap();
        execute(&directory, &plan, &scorer, &schedule, &CancelAt(85, &cancel)).unwrap();
    }
    cancel.store(false, Ordering::Relaxed);
    let directory = RunDirectory::create(&path, &manifest, Start::Continue).unwrap();
    let finished = directory.finished(&examples).unwrap();
    assert!((85..120).contains(&finished), "{finished}");
    let names = &manifest.systems;
    assert!(Plan::continued(&examples, names, &systems[..1]).is_err(), "they are not the last");
    let plan = Plan::continued(&examples, names, &systems[finished / 40..]).unwrap();
    let completion = execute(&directory, &plan, &scorer, &schedule, &()).unwrap();
    assert_eq!((completion.resumed, completion.done), (finished, 120));
    assert!(log(&path) == expected);

    // A log that lacks items of a system that is said to be finished is not gone on with.
    drop(directory);
    std::fs::write(path.join("items.jsonl"), &expected[..expected.len() / 4]).unwrap();
    let directory = RunDirectory::create(&path, &manifest, Start::Continue).unwrap();
    let plan = Plan::continued(&examples, names, &systems[2..]).unwrap();
    let error = execute(&directory, &plan, &scorer, &schedule, &()).unwrap_err();
    assert!(matches!(error, RunError::BadPlan(_)), "{error}");
}

#[test]
fn a_panic_is_an_item_that_blames_no_system() {
    let folder = tempfile::tempdir().unwrap();
    let scorer = SlowScorer { panics_on: Some("q21"), ..SlowScorer::default() };
    let (completion, _) = QUICK.run(folder.path(), &scorer).unwrap();
    assert!(completion.is_complete());
    let run = StoredRun::read(folder.path()).unwrap();
    let failed: Vec<&Item> = run.items.iter().filter(|i| i.status == "internal_error").collect();
    assert_eq!(failed.len(), 3);
    assert_eq!(failed[0].metrics["same@1"], None);
    assert_eq!(failed[0].details.error.as_deref(), Some("cannot score q21"));
}

/// Not a test of its own: the process that the next test kills.
#[test]
fn child() {
    // Only `a_process_killed_at_any_moment_loses_nothing` names a folder.
    let Ok(folder) = std::env::var("SQLGAUGE_TEST_RUN") else { return };
    let once = Once { jobs: 2, window: 4, microseconds: 300 };
    once.run(Path::new(&folder), &SlowScorer { microseconds: once.microseconds, ..SlowScorer::default() })
        .unwrap();
}

#[test]
fn a_process_killed_at_any_moment_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let expected = unbroken(&folder.path().join("expected"));
    let path = folder.path().join("run");
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "resume::child"])
            .env("SQLGAUGE_TEST_RUN", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut before = Vec::new();
    for kill in 0..20 {
        let mut process = start();
        std::thread::sleep(Duration::from_micros(1500 + 911 * kill));
        process.kill().unwrap();
        process.wait().unwrap();
        let after = std::fs::read(path.join("items.jsonl")).unwrap_or_default();
        let whole = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        assert!(after.starts_with(&before[..whole]), "kill {kill} lost an item");
        assert!(expected.starts_with(&after), "kill {kill} left something else");
        before = after;
    }
    assert!(start().wait().unwrap().success());
    assert!(log(&path) == expected);
}
