//! VeriEQL's pairs, from the literature and from Calcite, of which it published a verdict each: what it calls different is told
//! apart by a database, and what it calls equivalent is not, but for published verdicts that are wrong.

use std::collections::BTreeMap;

use sqlgauge_conformance::{data, read};
use sqlgauge_engine::compare::Semantics;
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{ColumnValues, RefusedText, Verdict, Verifier, VerifyOptions};

/// Published as different, and equivalent: `COUNT(x) > 1` is `COUNT(x) >= 2`; where a natural join has made two columns
/// equal, `>=` holds as `=` does.
const NOT_DIFFERENT: [&str; 2] = ["cex-benchmarks-40", "mutation-test-60"];

/// Published as equivalent up to a bound, and told apart with any values alone: by a text in a column that is declared INT.
const NOT_EQUIVALENT: [&str; 1] = ["mutation-test-56"];

/// Not SQL with a meaning that the text alone shows: predicates without a definition (`B1(X)`), set operations of tables.
const NOT_SQLITE: [&str; 4] = [
    "inequal_queries-344Q1-10",
    "sqlrewrites-commutativeSelect-22",
    "sqlrewrites-productDistributesOverUnion-30",
    "sqlrewrites-projectionDistributesOverUnion-32",
];

/// The numbers of Calcite's pairs that are published as equivalent, and told apart: columns in another order, `AVG` and `SUM` cut
/// to integers, a `CAST … AS DATE` that is a number in SQLite.
const CALCITE_NOT_EQUIVALENT: [u32; 3] = [69, 219, 393];

/// Those that are told apart with any values alone, which are not of their column's type.
const CALCITE_UNDECLARED: [u32; 9] = [9, 101, 211, 233, 237, 265, 281, 289, 315];

/// Those that VeriEQL does not support, and that are told apart.
const CALCITE_DIFFERENT: [u32; 11] = [23, 81, 91, 121, 127, 185, 255, 257, 353, 355, 365];

/// Those that SQLite has no words for: LATERAL, `* = x`, an empty SELECT, INTERSECT ALL, `STDDEV_POP`, `ANY_VALUE`, `SINGLE_VALUE`,
/// COUNT of several columns.
const CALCITE_NOT_SQLITE: [u32; 17] =
    [25, 55, 97, 161, 173, 179, 189, 195, 205, 245, 261, 277, 323, 351, 361, 385, 389];

/// A pair with what was published of it, and whether a search tells it apart: `different`, `not different`, `refused`.
struct Searched {
    id: String,
    published: String,
    outcome: &'static str,
}

/// The pairs of a file, searched without a solver; `None` without the data.
fn searched(file: &str, values: ColumnValues) -> Option<Vec<Searched>> {
    let options = VerifyOptions { semantics: Semantics::Bag, values, ..VerifyOptions::default() };
    let text = read(&data()?.join("verieql").join(file));
    let search = |line: &str| {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap().to_owned();
        let verifier = Verifier::new(Schema::from_ddl(&text("ddl")).unwrap(), options).unwrap();
        let outcome = match verifier.verify(&text("left"), &text("right"), None) {
            Ok(report) if matches!(report.verdict, Verdict::Different(_)) => "different",
            // Without a solver there may be no proof, but there must be no counterexample.
            Ok(_) => "not different",
            Err(RefusedText { .. }) => "refused",
        };
        Searched {
            id: text("id"),
            published: pair["published"]["verdict"].as_str().unwrap().to_owned(),
            outcome,
        }
    };
    Some(text.lines().map(search).collect())
}

#[test]
#[ignore = "long: cargo xtask long"]
fn published_verdicts_of_the_literature_hold_but_for_those_that_are_wrong() {
    literature(ColumnValues::Declared);
    literature(ColumnValues::Any);
}

/// What a search says of every pair of a file is what is to be expected.
fn assert_searched(
    file: &str,
    values: ColumnValues,
    pairs: usize,
    expected: impl Fn(&Searched) -> &'static str,
) {
    let Some(all) = searched(file, values) else { return };
    let wanted: BTreeMap<_, _> = all.iter().map(|pair| (pair.id.clone(), expected(pair))).collect();
    let outcomes: BTreeMap<_, _> = all.into_iter().map(|pair| (pair.id, pair.outcome)).collect();
    assert_eq!(outcomes.len(), pairs);
    assert_eq!(outcomes, wanted);
}

fn literature(values: ColumnValues) {
    assert_searched("literature.jsonl", values, 32, |pair| {
        let id = pair.id.as_str();
        let is_undeclared = values == ColumnValues::Any && NOT_EQUIVALENT.contains(&id);
        let is_different = (pair.published == "different" && !NOT_DIFFERENT.contains(&id)) || is_undeclared;
        match is_different {
            _ if NOT_SQLITE.contains(&id) => "refused",
            true => "different",
            false => "not different",
        }
    });
}

/// At most a tenth of the pairs is refused, once they are spelled in words that SQLite has.
#[test]
#[ignore = "long: cargo xtask long"]
fn published_verdicts_on_calcite_hold_but_for_those_that_are_wrong() {
    calcite(ColumnValues::Declared);
    calcite(ColumnValues::Any);
}

fn calcite(values: ColumnValues) {
    assert_searched("calcite.jsonl", values, 199, |pair| {
        let number = pair.id.rsplit('-').next().and_then(|number| number.parse::<u32>().ok()).unwrap();
        let is_undeclared = values == ColumnValues::Any && CALCITE_UNDECLARED.contains(&number);
        let is_different = match pair.published.as_str() {
            "different" => true,
            "equivalent_to_bound" => CALCITE_NOT_EQUIVALENT.contains(&number) || is_undeclared,
            _ => CALCITE_DIFFERENT.contains(&number) || is_undeclared,
        };
        match is_different {
            _ if CALCITE_NOT_SQLITE.contains(&number) => "refused",
            true => "different",
            false => "not different",
        }
    });
    assert!(CALCITE_NOT_SQLITE.len() * 10 <= 199);
}
