//! `esm-fair@1`: exact set match over the resolved query.
//!
//! # Contract
//! The comparison of `esm@1`, component by component, on queries that SQLite's own grammar reads and whose names
//! are resolved, so that no valid query is wrong because the official parser of 2018 cannot read it. 1 if these
//! agree, else 0:
//! - the result columns and the WHERE conditions, as bags; literal values and DISTINCT do not count;
//! - which of AND and OR join the WHERE conditions, parentheses apart;
//! - GROUP BY (names of columns), and with it HAVING; ORDER BY with its last direction, and whether there is a LIMIT;
//! - the operands of UNION, INTERSECT and EXCEPT, compared by the same rules;
//! - the keywords (`where`, `group`, `having`, `order`, `asc`, `desc`, `limit`, `or`, `not`, `in`, `like`, set operators);
//! - the tables of the FROM clause as a bag; join conditions and kinds of joins do not count.
//!
//! Columns that foreign keys link count as one column. A right-hand side that is no subquery does not count.
//!
//! Where it goes beyond the official metric: any expression may stand where the official parser knows only
//! columns (it is compared as a whole, its literal values apart), `5 < x` is `x > 5`, a CTE is the subquery that
//! it names, a column of a subquery is what the subquery computes, and nested queries are compared by the same
//! rules as outer ones (order of conditions, foreign keys), where the official script compares them rigidly.
//!
//! A gold that does not resolve makes the score null; a prediction that does not resolve scores 0. Where the analysis of
//! a query takes more steps than it may (`too_complex`), the score is null.
//!
//! Source: T. Yu et al., "Spider", 2018, section 5.1 (exact matching); `evaluation.py` of the test-suite
//! repository.

pub(crate) mod linked;
mod parts;
mod render;

use serde_json::Value;
use sqlgauge_base::budget;

use self::parts::Parts;
use self::render::Numbers;
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;

/// Exact set match over the resolved query.
pub(crate) struct EsmFair;

impl Metric for EsmFair {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "esm-fair@1",
            "Exact set match over the resolved query: every valid query can be read.",
            MetricKind::Binary,
            Reads::NoRows,
        )
        .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let target = pair.target();
        let schema = target.database.schema();
        let gold = match pair.gold_query() {
            Ok(gold) => gold,
            Err(error) => {
                return Score::inapplicable(format!("the gold does not resolve: {error}"))
                    .with("gold_failed", "unresolved");
            }
        };
        let prediction = match pair.prediction_query() {
            Ok(prediction) => prediction,
            Err(error) => return Score::unresolved_prediction(error),
        };
        let linked = target.linked_columns();
        let bytes = pair.gold().len().max(pair.prediction().len());
        let differing = budget::analyse(bytes, || {
            let numbers = Numbers::default();
            let parts = |query| Parts::of(query, schema, linked, &numbers);
            parts(gold).differences(&parts(prediction))
        });
        let differing = match differing {
            Ok(differing) => differing,
            Err(too_complex) => return Score::too_complex(too_complex),
        };
        let score = Score::binary(differing.is_empty());
        if differing.is_empty() {
            return score;
        }
        let reason = format!("these parts differ: {}", differing.join(", "));
        score.because(reason).with("differing", differing.into_iter().map(Value::from).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    use super::linked::LinkedColumns;
    use super::*;

    fn schema() -> Schema {
        Schema::from_ddl(
            "CREATE TABLE singer (id INT PRIMARY KEY, name TEXT, age INT, country TEXT);
             CREATE TABLE concert (id INT PRIMARY KEY, singer_id INT REFERENCES singer(id), year INT);",
        )
        .unwrap()
    }

    fn differences(gold: &str, prediction: &str) -> Vec<&'static str> {
        let (schema, linked) = (schema(), LinkedColumns::new(&schema()));
        let numbers = Numbers::default();
        let parts = |sql| Parts::of(&resolve(sql, &schema).unwrap(), &schema, &linked, &numbers);
        parts(gold).differences(&parts(prediction))
    }

    #[test]
    fn what_does_not_count_makes_no_difference() {
        for (gold, prediction) in [
            ("SELECT name, age FROM singer", "SELECT DISTINCT T.AGE, T.`name` FROM singer T"),
            (
                "SELECT name FROM singer WHERE age > 3 AND country = 'x'",
                "SELECT name FROM singer WHERE country = 'y' AND 9 < age",
            ),
            (
                "SELECT T1.id FROM singer T1 JOIN concert T2 ON T1.id = T2.singer_id",
                "SELECT T2.singer_id FROM concert T2 JOIN singer T1 ON T1.id = T2.id",
            ),
            (
                "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert WHERE year = 1 AND id = 2)",
                "WITH c AS (SELECT singer_id AS s FROM concert WHERE id = 3 AND year = 4) SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert WHERE id = 5 AND year = 6)",
            ),
            (
                "SELECT name FROM singer ORDER BY age DESC LIMIT 1",
                "SELECT name FROM singer ORDER BY age DESC LIMIT 5",
            ),
            (
                "SELECT count(*), country FROM singer GROUP BY country",
                "SELECT country AS c, count(*) FROM singer GROUP BY c",
            ),
        ] {
            assert_eq!(differences(gold, prediction), Vec::<&str>::new(), "{gold} / {prediction}");
        }
    }

    #[test]
    fn what_counts_is_named() {
        for (gold, prediction, parts) in [
            ("SELECT name FROM singer", "SELECT age FROM singer", vec!["select"]),
            ("SELECT name FROM singer", "SELECT name FROM singer, concert", vec!["tables"]),
            ("SELECT name FROM singer WHERE age > 1", "SELECT name FROM singer WHERE age < 1", vec!["where"]),
            (
                "SELECT name FROM singer WHERE age > 1 AND id = 2",
                "SELECT name FROM singer WHERE age > 1 OR id = 2",
                vec!["and/or", "keywords"],
            ),
            (
                "SELECT name FROM singer ORDER BY age",
                "SELECT name FROM singer ORDER BY age DESC",
                vec!["order", "keywords"],
            ),
            (
                "SELECT id FROM singer EXCEPT SELECT singer_id FROM concert",
                "SELECT id FROM singer EXCEPT SELECT year FROM concert",
                vec!["set operations"],
            ),
        ] {
            assert_eq!(differences(gold, prediction), parts, "{gold} / {prediction}");
        }
    }
}
