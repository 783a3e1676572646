//! Who may write a run directory, and what it is a run of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{examples, manifest, system};
use sqlgauge_run::{
    InputRecord, Manifest, RUN_FILES, RunDirectory, RunError, RunFiles, Start, StoredRun, read_manifest,
};

fn sample() -> Manifest {
    let examples = examples(3);
    let mut manifest = manifest(&[system("a", &examples, 2)], 3);
    let input =
        |role: &str, digest: &str| InputRecord { role: role.into(), path: "x".into(), sha256: digest.into() };
    manifest.inputs = vec![input("gold", "00"), input("tables", "11")];
    manifest.options = BTreeMap::from([("timeout_ms".to_owned(), 30_000.into())]);
    manifest
}

fn create(path: &Path, manifest: &Manifest) -> Result<RunDirectory, RunError> {
    RunDirectory::create(path, manifest, Start::Continue)
}

#[test]
fn a_run_is_the_same_by_content_not_by_path_or_command_line() {
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path(), &sample()).unwrap());
    let mut again = sample();
    again.command = vec!["score".into(), "--jobs".into(), "8".into()];
    again.inputs[0].path = "/elsewhere".into();
    let directory = create(folder.path(), &again).unwrap();
    assert_eq!(directory.manifest(), &sample());
}

type Change = fn(&mut Manifest);

#[test]
fn another_run_is_refused_and_every_difference_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path(), &sample()).unwrap());
    let changes: [(Change, &str); 8] = [
        (|m| m.metrics.push("ex@1".into()), "metrics was same@1 and is now same@1,ex@1"),
        (|m| m.systems = vec!["b".into()], "systems was a and is now b"),
        (|m| m.engine = "new".into(), "engine was none and is now new"),
        (|m| m.inputs[0].sha256 = "22".into(), "input gold (x) has changed"),
        (
            |m| m.inputs[1].role = "database:d".into(),
            "input database:d (x) is new; input tables is no longer given",
        ),
        (|m| m.examples = 4, "number of examples was 3 and is now 4"),
        (
            |m| m.options.extend([("timeout_ms".to_owned(), 5.into())]),
            "option timeout_ms was 30000 and is now 5",
        ),
        (|m| m.options.clear(), "option timeout_ms was 30000 and is now not set"),
    ];
    for (change, expected) in changes {
        let mut other = sample();
        change(&mut other);
        let error = create(folder.path(), &other).unwrap_err().to_string();
        assert!(
            error.contains(expected) && error.contains("--out") && error.contains("--restart"),
            "{error}"
        );
    }
}

#[test]
fn a_restart_discards_the_items_and_the_summary_of_the_other_run() {
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path(), &sample()).unwrap());
    for name in ["items.jsonl", "summary.json", "report.html", "notes.txt"] {
        fs::write(folder.path().join(name), "old").unwrap();
    }
    let mut other = sample();
    other.examples = 9;
    let directory = RunDirectory::create(folder.path(), &other, Start::Restart).unwrap();
    assert_eq!(directory.manifest().examples, 9);
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["notes.txt", "run.json", "run.lock"]);
    assert!(StoredRun::read(folder.path()).unwrap().items.is_empty());
}

#[test]
fn a_folder_of_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "x").unwrap();
    for start in [Start::Continue, Start::Restart] {
        let error = RunDirectory::create(folder.path(), &sample(), start).unwrap_err();
        assert!(matches!(&error, RunError::Occupied { file, .. } if file == "thesis.tex"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(StoredRun::read(folder.path()), Err(RunError::NoRun { .. })));
}

#[test]
fn what_a_kill_before_run_json_leaves_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.lock"), "").unwrap();
    fs::write(folder.path().join("run.json.1-0.sqlgauge-partial"), "{\"tool").unwrap();
    create(folder.path(), &sample()).unwrap();
}

#[test]
fn a_path_that_cannot_be_a_folder_fails_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(create(&file, &sample()), Err(RunError::NotAFolder { .. })));
    assert!(matches!(create(&file.join("a/b"), &sample()), Err(RunError::Unwritable { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn two_processes_cannot_write_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let first = create(folder.path(), &sample()).unwrap();
    assert!(matches!(create(folder.path(), &sample()), Err(RunError::Locked { .. })));
    StoredRun::read(folder.path()).unwrap();
    drop(first);
    create(folder.path(), &sample()).unwrap();
}

#[test]
fn a_damaged_manifest_is_named_and_a_restart_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.json"), "{").unwrap();
    let error = create(folder.path(), &sample()).unwrap_err().to_string();
    assert!(error.contains("run.json is not readable") && error.contains("--restart"), "{error}");
    RunDirectory::create(folder.path(), &sample(), Start::Restart).unwrap();
}

/// Who comes too late must leave the folder alone that both were about to make.
#[test]
fn of_those_that_begin_one_run_at_once_exactly_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..60 {
        let path = folder.path().join(format!("made{round}/run"));
        let barrier = std::sync::Barrier::new(8);
        let begin = || {
            barrier.wait();
            create(&path, &sample())
        };
        // The one that has it keeps it until all have tried.
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused =
            |result: &Result<RunDirectory, RunError>| matches!(result, Err(RunError::Locked { .. }));
        assert_eq!(results.iter().filter(|result| refused(result)).count(), 7, "round {round}: {results:?}");
        assert!(results.iter().any(Result::is_ok));
    }
}

/// A file of a run directory that is a link is neither read nor written through, whichever it is and wherever it leads.
#[cfg(unix)]
#[test]
fn a_link_in_a_run_directory_is_refused() {
    for (name, target) in RUN_FILES
        .into_iter()
        .chain(["report-items"])
        .flat_map(|name| ["secret", "nowhere"].map(|target| (name, target)))
    {
        let folder = tempfile::tempdir().unwrap();
        let (run, secret) = (folder.path().join("run"), folder.path().join("secret"));
        drop(create(&run, &sample()).unwrap());
        fs::write(&secret, "{}").unwrap();
        let _ = fs::remove_file(run.join(name));
        std::os::unix::fs::symlink(folder.path().join(target), run.join(name)).unwrap();
        let refused = [
            create(&run, &sample()).err(),
            RunDirectory::create(&run, &sample(), Start::Restart).err(),
            StoredRun::read(&run).err(),
            RunFiles::open(&run).err(),
            read_manifest(&run).err(),
        ];
        for error in refused {
            let text = error.unwrap().to_string();
            assert!(text.contains(name) && text.contains("it is a link"), "{name}, {target}: {text}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "{}", "{name}");
        assert!(!folder.path().join("nowhere").exists(), "{name}");
    }
}

/// The sources of this crate open a file of a run by the functions alone that refuse a link.
#[test]
fn files_of_a_run_are_opened_in_one_way() {
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
        let path = entry.unwrap().path();
        // The digests are of inputs, which may lie anywhere.
        if path.ends_with("digest.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for other in
            ["OpenOptions", "File::open(", "regular::open(", "regular::read(", "fs::read(", "fs::write("]
        {
            assert!(!text.contains(other), "{}: {other}", path.display());
        }
    }
}
