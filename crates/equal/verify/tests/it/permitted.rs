//! Ties under a LIMIT: queries that permit the same results are equivalent.

use sqlgauge_prove::{Solver, SolverLimits};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{Verdict, Verifier, VerifyOptions};

#[test]
fn equal_rows_with_equal_keys_permit_the_same_results() {
    let ddl =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); CREATE TABLE u (t_id INT REFERENCES t(id), b INT)";
    let verifier = Verifier::new(Schema::from_ddl(ddl).unwrap(), VerifyOptions::default()).unwrap();
    let left = "SELECT t.a FROM t JOIN u ON u.t_id = t.id ORDER BY u.b DESC LIMIT 1";
    let verdict = |right: &str| verifier.verify(left, right, None).unwrap().verdict;
    assert!(matches!(
        verdict("SELECT t.a FROM u JOIN t ON u.t_id = t.id ORDER BY u.b DESC LIMIT 1"),
        Verdict::Equivalent(_)
    ));
    for right in [
        "SELECT t.a FROM u JOIN t ON u.t_id = t.id ORDER BY u.b LIMIT 1",
        "SELECT t.a FROM u JOIN t ON u.t_id = t.id ORDER BY t.a DESC LIMIT 1",
        "SELECT t.a FROM u JOIN t ON u.t_id = t.id ORDER BY u.b DESC LIMIT 2",
    ] {
        assert!(matches!(verdict(right), Verdict::Different(_)), "{right}");
    }
}

const GAMES: &str = "CREATE TABLE game (id INTEGER PRIMARY KEY, name TEXT, score INT NOT NULL, team INT)";

fn verdict(options: VerifyOptions, left: &str, right: &str, solver: Option<&mut Solver>) -> Verdict {
    let verifier = Verifier::new(Schema::from_ddl(GAMES).unwrap(), options).unwrap();
    verifier.verify(left, right, solver).unwrap().verdict
}

/// The prediction leaves a choice that the gold does not.
#[test]
fn a_prediction_that_permits_more_is_different() {
    for (gold, prediction) in [
        (
            "SELECT name FROM game ORDER BY score DESC, id LIMIT 1",
            "SELECT name FROM game ORDER BY score DESC LIMIT 1",
        ),
        ("SELECT team, max(name) FROM game GROUP BY team", "SELECT team, name FROM game GROUP BY team"),
    ] {
        let Verdict::Different(counterexample) = verdict(VerifyOptions::default(), gold, prediction, None)
        else {
            panic!("{gold} | {prediction}")
        };
        assert_eq!(counterexample.refutation.kind().name(), "permits-more", "{gold} | {prediction}");
        let first = VerifyOptions { counts_choices: false, ..VerifyOptions::default() };
        assert!(
            matches!(verdict(first, gold, prediction, None), Verdict::Unknown(_)),
            "{gold} | {prediction}"
        );
    }
}

/// Both return the same rows. A prediction that sorts only in part, or not at all, leaves the order to SQLite; one that sorts the
/// wrong way does not.
#[test]
fn an_order_that_a_prediction_leaves_open_is_a_choice() {
    let gold = "SELECT name FROM game ORDER BY score DESC, id DESC";
    for (prediction, kind) in [
        ("SELECT name FROM game ORDER BY score DESC", "permits-more"),
        ("SELECT name FROM game", "permits-more"),
        ("SELECT name FROM game ORDER BY score, id", "permits-none"),
    ] {
        let Verdict::Different(counterexample) = verdict(VerifyOptions::default(), gold, prediction, None)
        else {
            panic!("{prediction}")
        };
        assert_eq!(counterexample.refutation.kind().name(), kind, "{prediction}");
    }
}

/// The gold leaves a choice; the prediction makes it. Needs a solver.
#[test]
fn a_prediction_that_permits_less_is_right_up_to_a_bound() {
    let Some(program) = std::env::var_os("SQLGAUGE_SOLVER") else {
        eprintln!("skipped: SQLGAUGE_SOLVER names no solver");
        return;
    };
    let mut solver = Solver::new(program, SolverLimits::default());
    let gold = "SELECT name FROM game ORDER BY score DESC LIMIT 1";
    let mut verdict = |prediction| verdict(VerifyOptions::default(), gold, prediction, Some(&mut solver));
    let less = verdict("SELECT name FROM game ORDER BY score DESC, id LIMIT 1");
    assert!(matches!(&less, Verdict::EquivalentUpTo(proof) if proof.permits_less()), "{less:?}");
    for wrong in [
        "SELECT name FROM game ORDER BY score, id LIMIT 1",
        "SELECT name FROM game ORDER BY score DESC, id LIMIT 2",
        "SELECT name FROM game ORDER BY id LIMIT 1",
    ] {
        assert!(matches!(verdict(wrong), Verdict::Different(_)), "{wrong}");
    }
}
