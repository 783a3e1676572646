//! A solver that hangs, dies, floods or talks nonsense costs one question, never the run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sqlgauge_prove::process::{Solver, SolverAnswer, SolverFailure, SolverLimits};

/// A program that stands in for a solver.
fn stub(name: &str, script: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sqlgauge-solver-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn limits() -> SolverLimits {
    SolverLimits { time: Duration::from_millis(1500), memory_mib: 100 }
}

/// Answers every question of this crate with `unsat`.
const POLITE: &str = r#"while read -r line; do
  case "$line" in
    "(check-sat)") echo unsat ;;
    "(echo "*) echo "$line" | sed 's/(echo "\(.*\)")/\1/' ;;
  esac
done"#;

#[test]
fn each_way_to_fail_has_its_reason_and_ends_in_time() {
    for (name, script, expected) in [
        ("hangs", "sleep 60", SolverFailure::Timeout),
        ("dies", "exit 3", SolverFailure::Died),
        ("garbage", &POLITE.replace("echo unsat", "echo 'what?'"), SolverFailure::Died),
        ("floods", "yes 'a line that is not an answer'", SolverFailure::Died),
        ("memory", "echo '(error \"out of memory\")'; exit 1", SolverFailure::Memory),
        ("unknown", &POLITE.replace("echo unsat", "echo unknown"), SolverFailure::Incomplete),
    ] {
        let mut solver = Solver::new(stub(name, script), limits());
        let begun = Instant::now();
        // Larger than a pipe: a solver that never reads must not hold the writer.
        let large = if name == "hangs" { "; a comment\n".repeat(100_000) } else { String::new() };
        let answer = solver.check(&large, &[], Duration::from_secs(9));
        assert_eq!(answer, Err(expected), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{name} took {:?}", begun.elapsed());
    }
}

#[test]
fn a_solver_that_died_is_started_again_for_the_next_question() {
    let path = stub("once", "");
    let counter = path.with_extension("count");
    let script = format!("if [ ! -e {0} ]; then touch {0}; exit 1; fi\n{POLITE}", counter.display());
    let mut solver = Solver::new(stub("once", &script), limits());
    let time = Duration::from_secs(9);
    assert_eq!(solver.check("", &[], time), Err(SolverFailure::Died));
    for _ in 0..3 {
        assert_eq!(solver.check("", &[], time), Ok(SolverAnswer::Unsatisfiable));
    }
    assert_eq!(solver.started(), 2);
}

#[test]
fn a_solver_that_is_not_there_is_missing_and_not_an_error_of_the_run() {
    let mut solver = Solver::new("/no/such/solver", limits());
    assert_eq!(solver.check("", &[], Duration::from_secs(1)), Err(SolverFailure::Missing));
}

/// As a script around `z3` does: the program that answers is a child of the one that was started.
#[test]
fn what_a_solver_started_ends_with_it() {
    for (name, script, expected) in [
        ("forks-and-hangs", "sleep 600 & echo $! > \"$0.pid\"; wait".to_owned(), Err(SolverFailure::Timeout)),
        (
            "forks-and-answers",
            format!("sleep 600 & echo $! > \"$0.pid\"\n{POLITE}"),
            Ok(SolverAnswer::Unsatisfiable),
        ),
        (
            "forks-and-dies",
            "sleep 600 & echo $! > \"$0.pid\"; exit 1".to_owned(),
            Err(SolverFailure::Timeout),
        ),
    ] {
        let path = stub(name, &script);
        let mut solver = Solver::new(&path, limits());
        assert_eq!(solver.check("", &[], Duration::from_secs(1)), expected, "{name}");
        drop(solver);
        let descendant = fs::read_to_string(path.with_extension("pid")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while lives(descendant.trim()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!lives(descendant.trim()), "{name} left {descendant}");
    }
}

/// Whether a process is there and has not ended.
fn lives(process: &str) -> bool {
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}
