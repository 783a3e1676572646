//! Killed at any moment, the same command finishes the run: no item is lost, none is done twice.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Benchmark, items, next_state, sqlgauge};

const ITEMS: usize = 400;

/// Queries that take about a millisecond each, so that there is time to kill the process.
fn benchmark() -> Benchmark {
    let query = |n: usize| {
        format!(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT sum(x) FROM c",
            4000 + n
        )
    };
    let golds: Vec<String> = (0..ITEMS).map(query).collect();
    let predictions: Vec<String> = (0..ITEMS).map(|n| query(n + usize::from(n % 3 == 0))).collect();
    let texts = |list: &[String]| list.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    let (golds, predictions) = (texts(&golds), texts(&predictions));
    Benchmark::new(&golds.lines().collect::<Vec<_>>(), &predictions.lines().collect::<Vec<_>>())
}

#[test]
fn a_run_that_is_killed_twenty_times_ends_like_one_that_is_not() {
    let benchmark = benchmark();
    let unbroken = {
        let mut arguments = benchmark.score();
        let out = arguments.iter().position(|argument| argument == "--out").unwrap();
        arguments[out + 1] = benchmark.path("unbroken").display().to_string();
        arguments
    };
    assert!(sqlgauge(&unbroken).status.success());
    let wanted = std::fs::read(benchmark.path("unbroken/items.jsonl")).unwrap();
    assert_eq!(items(&benchmark.path("unbroken")).len(), ITEMS);

    let mut state: u64 = 20_261_120;
    let mut kills = 0;
    let mut killed_at_work = 0;
    while kills < 20 {
        state = next_state(state);
        let mut child = Command::new(env!("CARGO_BIN_EXE_sqlgauge"))
            .args(benchmark.score())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis((state >> 33) % 120));
        child.kill().unwrap();
        killed_at_work += usize::from(!child.wait().unwrap().success());
        kills += 1;
    }
    assert!(killed_at_work > 0, "no kill hit a run at work");
    let last = sqlgauge(&benchmark.score());
    assert!(last.status.success(), "{}", crate::common::stderr(&last));
    assert_eq!(std::fs::read(benchmark.path("run/items.jsonl")).unwrap(), wanted);
    let summary = |run: &str| std::fs::read(benchmark.path(run).join("summary.json")).unwrap();
    assert_eq!(summary("run"), summary("unbroken"));
}

#[test]
fn a_resumed_run_says_what_is_left_and_a_quiet_one_says_nothing() {
    let golds: Vec<String> = (0..6).map(|n| format!("SELECT {n}")).collect();
    let golds: Vec<&str> = golds.iter().map(String::as_str).collect();
    let benchmark = Benchmark::new(&golds, &golds);
    // `score` of the test benchmark is quiet.
    let mut loud = benchmark.score();
    loud.retain(|argument| argument != "--quiet");
    let first = sqlgauge(&benchmark.score());
    assert!(first.status.success());
    assert_eq!((first.stdout.as_slice(), first.stderr.as_slice()), (&b""[..], &b""[..]));

    let again = sqlgauge(&loud);
    assert!(
        crate::common::stderr(&again).contains("all 6 items were done before"),
        "{}",
        crate::common::stderr(&again)
    );
    assert!(!crate::common::stderr(&again).contains("are done now"));

    let log = benchmark.path("run/items.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    let first = |lines: usize| whole.split_inclusive('\n').take(lines).collect::<String>();
    for (lines, wanted) in
        [(2, "2 of 6 items were done before; 4 are done now"), (5, "the last one is done now")]
    {
        std::fs::write(&log, first(lines)).unwrap();
        let output = sqlgauge(&loud);
        assert!(crate::common::stderr(&output).contains(wanted), "{}", crate::common::stderr(&output));
    }
    // A torn line is mended, which is no error either.
    std::fs::write(&log, format!("{}{{\"system\"", first(3))).unwrap();
    let output = sqlgauge(&benchmark.score());
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), whole);
}
