//! One system's predictions are nothing to another's scores: the log is a function of the inputs alone.

use crate::common::{Benchmark, sqlgauge, stderr};

/// Large values, and then much work inside a few instructions of SQLite's: what cannot be stopped within a process.
/// Each of the twenty-six patterns is about a second of comparing, so that no machine is done before the time is up.
fn attack() -> String {
    let patterns: Vec<String> = ('b'..='z')
        .chain(['!'])
        .map(|last| format!("(printf('%.8000000c', 'a') LIKE '%' || printf('%.200c', 'a') || '{last}')"))
        .collect();
    format!(
        "SELECT length(a), length(b), json_array_length(j) FROM (SELECT zeroblob(14000000) AS a, zeroblob(14000000) \
         AS b, json_array(printf('%.7000000c', 'x')) AS j, {} AS c) WHERE c IS NOT NULL",
        patterns.join(" + ")
    )
}

/// Works in SQLite's compiler, which cannot be stopped either.
fn compiler_attack() -> String {
    format!("{}SELECT 1 AS a{}", "SELECT a+a AS a FROM (".repeat(25), ")".repeat(25))
}

/// Needs most of the heap of one query.
fn victim(n: usize) -> String {
    format!(
        "SELECT count(*) + {n} FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30000) \
         SELECT DISTINCT printf('%0800d', x) FROM n)"
    )
}

struct Runs(Benchmark);

impl Runs {
    /// The log of a run of those systems on so many threads.
    fn log(&self, systems: &[&str], jobs: &str) -> Vec<String> {
        let text = |name: &str| self.0.path(name).display().to_string();
        let out = text(&format!("run-{}-{jobs}", systems.concat()));
        let (gold, db) = (text("gold.sql"), text("database"));
        let mut arguments =
            vec!["score", "--quiet", "--timeout", "2", "--max-heap", "50000000", "--jobs", jobs];
        arguments.extend(["--metrics", "ex,ex-bird", "--gold", &gold, "--db", &db, "--out", &out]);
        let predictions: Vec<String> =
            systems.iter().map(|system| format!("{system}={}", text(&format!("{system}.sql")))).collect();
        arguments.extend(predictions.iter().flat_map(|prediction| ["--pred", prediction]));
        let output = sqlgauge(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let log = std::fs::read_to_string(format!("{out}/items.jsonl")).unwrap();
        log.lines().map(str::to_owned).collect()
    }
}

fn of(system: &str, log: &[String]) -> Vec<String> {
    let start = format!(r#"{{"system":"{system}","#);
    log.iter().filter(|line| line.starts_with(&start)).cloned().collect()
}

#[test]
fn the_lines_of_a_victim_are_the_same_with_and_without_attackers_on_any_number_of_threads() {
    let golds: Vec<String> = (0..4).map(victim).collect();
    let golds: Vec<&str> = golds.iter().map(String::as_str).collect();
    let runs = Runs(Benchmark::new(&golds, &[]));
    let write = |system: &str, texts: &[String]| {
        std::fs::write(runs.0.path(&format!("{system}.sql")), texts.join("\n") + "\n").unwrap();
    };
    // Other texts than the golds', so that they are run.
    write("victim", &(0..4).map(|n| victim(n) + " WHERE 1").collect::<Vec<_>>());
    write("attacker", &[attack(), compiler_attack(), attack(), "SELECT 1".to_owned()]);
    let alone = runs.log(&["victim"], "1");
    assert_eq!(alone.iter().filter(|line| line.contains(r#""ex@1":1.0"#)).count(), 4, "{alone:#?}");
    let one = runs.log(&["attacker", "victim"], "1");
    let two = runs.log(&["attacker", "victim"], "2");
    assert_eq!(of("victim", &one), alone);
    assert_eq!(one, two);
    let statuses: Vec<bool> = of("attacker", &one)
        .iter()
        .zip(["timeout", "too_large", "timeout", "ok"])
        .map(|(line, status)| line.contains(&format!(r#""status":"{status}""#)))
        .collect();
    assert_eq!(statuses, [true; 4], "{:#?}", of("attacker", &one));
}
