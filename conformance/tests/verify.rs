//! VeriEQL's pairs from the literature, of which it published a verdict each: what it calls different is told apart by a
//! database, and what it calls equivalent is not, but for published verdicts that are wrong.

use std::collections::BTreeMap;

use sqlgauge_compare::Semantics;
use sqlgauge_conformance::{data, read};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{Options, Refused, Verdict, Verifier};

/// Published as different, and equivalent: `COUNT(x) > 1` is `COUNT(x) >= 2`; where a natural join has made two columns
/// equal, `>=` holds as `=` does.
const NOT_DIFFERENT: [&str; 2] = ["cex-benchmarks-40", "mutation-test-60"];

/// Published as equivalent up to a bound, and told apart: by a text in a column that is declared INT, which SQLite allows.
const NOT_EQUIVALENT: [&str; 1] = ["mutation-test-56"];

/// Not SQLite's SQL: predicates without a definition (`B1(X)`), set operations as operands in parentheses.
const NOT_SQLITE: [&str; 5] = [
    "inequal_queries-344Q1-10",
    "inequal_queries-issue29-14",
    "sqlrewrites-commutativeSelect-22",
    "sqlrewrites-productDistributesOverUnion-30",
    "sqlrewrites-projectionDistributesOverUnion-32",
];

#[test]
fn published_verdicts_of_the_literature_hold_but_for_those_that_are_wrong() {
    let Some(root) = data() else { return };
    let options = Options { semantics: Semantics::Bag, ..Options::default() };
    let (mut expected, mut found) = (BTreeMap::new(), BTreeMap::new());
    for line in read(&root.join("verieql/literature.jsonl")).lines() {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap().to_owned();
        let id = text("id");
        let verifier = Verifier::new(Schema::from_ddl(&text("ddl")).unwrap(), options).unwrap();
        let verdict = match verifier.verify(&text("left"), &text("right"), None) {
            Ok(report) if matches!(report.verdict, Verdict::Different(_)) => "different",
            // Without a solver there may be no proof, but there must be no counterexample.
            Ok(_) => "not different",
            Err(Refused { .. }) => "refused",
        };
        let is_published_different = pair["published"]["verdict"] == "different";
        let is_different = (is_published_different && !NOT_DIFFERENT.contains(&id.as_str()))
            || NOT_EQUIVALENT.contains(&id.as_str());
        let published = if is_different { "different" } else { "not different" };
        expected.insert(id.clone(), if NOT_SQLITE.contains(&id.as_str()) { "refused" } else { published });
        found.insert(id, verdict);
    }
    assert_eq!(found.len(), 32);
    assert_eq!(found, expected);
}
