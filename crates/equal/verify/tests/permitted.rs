//! Ties under a LIMIT: queries that permit the same results are equivalent.

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
