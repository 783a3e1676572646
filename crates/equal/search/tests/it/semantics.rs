//! What of a result counts decides whether a pair is refuted.

use sqlgauge_engine::compare::Semantics;
use sqlgauge_search::{Contract, Search, SearchOptions};
use sqlgauge_sql::schema::Schema;

/// For each pair the contracts under which a database tells the two apart.
#[test]
fn a_pair_is_refuted_under_the_contracts_that_count_the_difference() {
    let schema = Schema::from_ddl("CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL)").unwrap();
    for (left, right, refuted) in [
        ("SELECT a FROM t", "SELECT DISTINCT a FROM t", "ex bag list"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t", "ex list"),
        ("SELECT a FROM t", "SELECT a FROM t ORDER BY a", "list"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC", "ex list"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a, b", ""),
        ("SELECT a FROM t", "SELECT b FROM t", "ex set bag list"),
        // Which row stays is free, and all rows are of one kind.
        ("SELECT 1 FROM t LIMIT 2", "SELECT 1 FROM t LIMIT 1", "ex bag list"),
        // Some choice of rows is common to both.
        ("SELECT a FROM t LIMIT 1", "SELECT a FROM t ORDER BY b LIMIT 1", ""),
    ] {
        for semantics in Semantics::ALL {
            let contract = Contract { semantics, ..Contract::default() };
            let search =
                Search::new(schema.clone(), SearchOptions { contract, ..SearchOptions::default() }).unwrap();
            let is_expected = refuted.split(' ').any(|name| name == semantics.name());
            let is_refuted = search.refute(left, right).is_refuted();
            assert_eq!(is_refuted, is_expected, "{semantics}: {left} | {right}");
        }
    }
}
