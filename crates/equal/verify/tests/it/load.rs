//! A verdict is a function of the pair and the options: the load of the machine and the pairs before have no part in it.
//!
//! `LOAD_ROUNDS` makes it a hunt.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sqlgauge_prove::{Solver, SolverLimits, locate};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{Verifier, VerifyOptions};

const DDL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b INT, s TEXT, d DATE);
    CREATE TABLE u (id TEXT PRIMARY KEY, t_id INT REFERENCES t(id), x REAL);";

const PAIRS: [(&str, &str); 10] = [
    ("SELECT id FROM t WHERE a * b = 12 AND a > b", "SELECT id FROM t WHERE b * a = 12 AND NOT a <= b"),
    ("SELECT SUM(a * b) FROM t", "SELECT SUM(b * a) + 0 FROM t"),
    (
        "SELECT s FROM t GROUP BY s HAVING COUNT(*) > 1 AND MAX(a) > 2",
        "SELECT DISTINCT s FROM t WHERE 1 < (SELECT COUNT(*) FROM t AS o WHERE o.s IS t.s) AND \
         (SELECT MAX(o.a) FROM t AS o WHERE o.s IS t.s) > 2",
    ),
    ("SELECT id FROM t WHERE strftime('%m', d) = '13'", "SELECT id FROM t WHERE 0"),
    ("SELECT AVG(x) FROM u", "SELECT SUM(x) / COUNT(x) FROM u"),
    (
        "SELECT t.id FROM t JOIN u ON u.t_id = t.id WHERE x > (SELECT AVG(x) FROM u)",
        "SELECT t.id FROM t, u WHERE u.t_id = t.id AND x * (SELECT COUNT(x) FROM u) > (SELECT SUM(x) FROM u)",
    ),
    (
        "SELECT id FROM t WHERE a / b = 2 AND b > 0",
        "SELECT id FROM t WHERE a >= 2 * b AND a < 3 * b AND b > 0",
    ),
    ("SELECT id FROM t ORDER BY a LIMIT 2", "SELECT id FROM t ORDER BY a, b LIMIT 2"),
    ("SELECT id FROM t WHERE s LIKE 'a%' AND s LIKE '%z'", "SELECT id FROM t WHERE s LIKE 'a%z'"),
    ("SELECT a FROM t WHERE a > 3 OR b > 3", "SELECT a FROM t WHERE MAX(a, b) > 3"),
];

/// Few, so that some pairs run out of them.
const STEPS: [u64; 3] = [3_000, 60_000, 400_000];

fn solver() -> Option<Solver> {
    let named = std::env::var_os("SQLGAUGE_SOLVER").map(PathBuf::from);
    let program = locate(named.as_deref(), std::env::var_os("PATH").as_deref()).ok()?;
    Some(Solver::new(program, SolverLimits::default()))
}

/// The verdicts of all pairs, which are taken from that one on, each with as many steps.
fn verdicts(from: usize, steps: u64, solver: &mut Solver) -> Vec<String> {
    let options = VerifyOptions { solver_steps: steps, ..VerifyOptions::default() };
    let verifier = Verifier::new(Schema::from_ddl(DDL).unwrap(), options).unwrap();
    let mut all = vec![String::new(); PAIRS.len()];
    for at in (0..PAIRS.len()).map(|at| (at + from) % PAIRS.len()) {
        let (left, right) = PAIRS[at];
        let json = verifier.verify(left, right, Some(solver)).unwrap().to_json();
        all[at] = serde_json::to_string(&json).unwrap();
    }
    all
}

#[test]
fn neither_threads_nor_load_nor_other_pairs_change_a_verdict() {
    let Some(mut alone) = solver() else { return };
    let rounds = std::env::var("LOAD_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let busy = AtomicBool::new(true);
    let expected = STEPS.map(|steps| verdicts(0, steps, &mut alone));
    assert!(expected.iter().flatten().any(|verdict| verdict.contains("\"steps\"")), "{expected:?}");
    // A proof for fewer rows than were asked for says so.
    assert!(expected.iter().flatten().any(|verdict| verdict.contains("\"wanted_bound\":3")), "{expected:?}");
    assert!(expected[2].iter().any(|verdict| verdict.contains("equivalent_up_to")), "{expected:?}");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let threads: Vec<_> = (0..8)
            .map(|from| {
                let expected = &expected;
                scope.spawn(move || {
                    let mut solver = solver().unwrap();
                    for round in 0..rounds {
                        let at = (from + round) % STEPS.len();
                        assert_eq!(verdicts(from, STEPS[at], &mut solver), expected[at]);
                    }
                })
            })
            .collect();
        let outcomes: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        busy.store(false, Ordering::Relaxed);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
}
