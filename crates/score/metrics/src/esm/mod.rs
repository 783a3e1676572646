//! `esm@1`: Spider's exact set match, with partial scores and hardness, bit-compatible with the official
//! `evaluation.py` of the test-suite repository.
//!
//! Both queries are read by the benchmark's own parser ([`sqlgauge_sql::spider`]); a prediction that it cannot
//! read counts as the empty query. Literal values are dropped ([`Switches::values`]), DISTINCT is dropped
//! at the outer level ([`Switches::distinct`]), columns linked by foreign keys become one column
//! ([`ForeignKeyMap`]), and ten components are compared as sets. The prediction matches when all ten agree
//! and the FROM clauses name the same tables.
//!
//! Where the official script stops with an exception after parsing, the outcome here is defined: a
//! prediction whose conditions cannot be taken apart counts as the empty query, and two FROM clauses with several
//! different subqueries are compared as bags.

mod compare;
mod foreign_keys;
mod partial;
mod rebuild;
mod table;

use sqlgauge_sql::spider::{
    Catalog, Hardness, MisplacedOperator, ParseFailure, SpiderQuery, fill_placeholders, hardness, parse,
};

pub use compare::Incomparable;
pub use foreign_keys::{BoundKeys, ForeignKeyMap};
pub use partial::{Component, PartialScore, PartialScores};
pub use table::{Etype, OfficialTable, TurnOutcome};

/// What is kept of the queries for the comparison. The official script has both switched off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches {
    /// Compare literal values (`DISABLE_VALUE = False` in the official script).
    pub values: bool,
    /// Compare DISTINCT inside column references (`DISABLE_DISTINCT = False`). The DISTINCT of a SELECT itself
    /// is never compared, except in nested queries.
    pub distinct: bool,
}

/// Why the prediction was compared as the empty query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmptyQueryReason {
    /// The official parser cannot read it (`parsed` is false).
    #[error(transparent)]
    Parse(#[from] ParseFailure),
    /// It was read, but the official comparison fails on it.
    #[error(transparent)]
    Compare(#[from] Incomparable),
}

/// Why the gold query itself cannot be scored against; the official script stops on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldFailure {
    /// The official parser cannot read the gold query.
    #[error("the gold query cannot be read by Spider's parser: {0}; leave the item out of exact set match")]
    Parse(#[from] ParseFailure),
    /// The official comparison fails on the gold query.
    #[error(
        "the gold query cannot be compared by Spider's script: {0}; leave the item out of exact set match"
    )]
    Compare(#[from] Incomparable),
}

impl From<MisplacedOperator> for GoldFailure {
    fn from(failure: MisplacedOperator) -> Self {
        Self::Compare(failure.into())
    }
}

/// The outcome of one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct EsmScore {
    /// The exact set match.
    pub exact: bool,
    pub partial: PartialScores,
    /// Hardness of the gold query.
    pub hardness: Hardness,
    /// Why the prediction counted as the empty query, if it did.
    pub unreadable: Option<EmptyQueryReason>,
}

impl EsmScore {
    /// Whether the official parser read the prediction.
    pub fn parsed(&self) -> bool {
        !matches!(self.unreadable, Some(EmptyQueryReason::Parse(_)))
    }
}

/// Scores a prediction against a gold query, both as text; placeholders in the prediction are filled first.
///
/// # Errors
/// [`GoldFailure`] when the gold query itself cannot be scored against.
///
/// ```
/// use sqlgauge_metrics::esm::{BoundKeys, ForeignKeyMap, Switches, score};
/// use sqlgauge_sql::spider::Catalog;
/// let catalog = Catalog::new([("singer", ["name", "age"])]);
/// let keys = BoundKeys::new(&ForeignKeyMap::default(), &catalog);
/// let gold = "SELECT name, age FROM singer WHERE age > 20";
/// let outcome = score(&catalog, &keys, gold, "SELECT T.age, T.name FROM singer AS T WHERE age > 30", Switches::default())?;
/// assert!(outcome.exact, "order of outputs, aliases and values do not matter");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score(
    catalog: &Catalog,
    keys: &BoundKeys,
    gold: &str,
    prediction: &str,
    switches: Switches,
) -> Result<EsmScore, GoldFailure> {
    let gold = parse(catalog, gold)?;
    let prediction = parse(catalog, &fill_placeholders(prediction));
    score_parsed(catalog, keys, &gold, prediction.as_ref().map_err(Clone::clone), switches)
}

/// [`score`] for queries that have been parsed already, the prediction with its placeholders filled.
///
/// # Errors
/// [`GoldFailure`] when the gold query itself cannot be scored against.
pub(crate) fn score_parsed(
    catalog: &Catalog,
    keys: &BoundKeys,
    gold: &SpiderQuery,
    prediction: Result<&SpiderQuery, ParseFailure>,
    switches: Switches,
) -> Result<EsmScore, GoldFailure> {
    let hardness = hardness(gold)?;
    let rebuild = |query: &SpiderQuery| rebuild::rebuild(query, catalog, keys, switches);
    let gold = rebuild(gold)?;
    compare::check(&gold)?;
    let attempt = prediction.map_err(EmptyQueryReason::from).and_then(|prediction| {
        let prediction = rebuild(prediction).map_err(Incomparable::from)?;
        Ok(compare::exact_match(keys, &prediction, &gold)?)
    });
    let (matched, unreadable) = match attempt {
        Ok(matched) => (matched, None),
        Err(reason) => (compare::exact_match(keys, &SpiderQuery::default(), &gold)?, Some(reason)),
    };
    Ok(EsmScore { exact: matched.exact, partial: matched.partial, hardness, unreadable })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(gold: &str, prediction: &str, switches: Switches) -> EsmScore {
        let catalog = Catalog::new([("t", vec!["id", "a", "b"]), ("u", vec!["t_id", "c"])]);
        let keys = ForeignKeyMap::from_tables_json(
            &["t", "u"],
            &[(-1, "*"), (0, "id"), (0, "a"), (0, "b"), (1, "t_id"), (1, "c")],
            &[(4, 1)],
        );
        score(&catalog, &BoundKeys::new(&keys, &catalog), gold, prediction, switches).unwrap()
    }

    #[test]
    fn pairs_match_or_not_as_the_official_script_says() {
        let cases = [
            // Sets: order of outputs and conditions does not matter, order of keys in ORDER BY does.
            ("SELECT a , b FROM t", "SELECT b , a FROM t", true),
            ("SELECT a FROM t WHERE a = 1 AND b = 2", "SELECT a FROM t WHERE b = 9 AND a = 'x'", true),
            ("SELECT a FROM t ORDER BY a , b", "SELECT a FROM t ORDER BY b , a", false),
            ("SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t ORDER BY a LIMIT 5", true),
            ("SELECT a FROM t WHERE a = 1 OR b = 2", "SELECT a FROM t WHERE a = 1 AND b = 2", false),
            ("SELECT DISTINCT a FROM t", "SELECT a FROM t", true),
            ("SELECT count(DISTINCT a) FROM t", "SELECT count(a) FROM t", true),
            // Columns joined by a foreign key are one column, at the outer level only.
            (
                "SELECT t.id FROM t JOIN u ON t.id = u.t_id",
                "SELECT u.t_id FROM t JOIN u ON t.id = u.t_id",
                true,
            ),
            ("SELECT id FROM t", "SELECT t_id FROM u", false),
            (
                "SELECT a FROM t WHERE a IN (SELECT t.id FROM t JOIN u ON t.id = u.t_id)",
                "SELECT a FROM t WHERE a IN (SELECT u.t_id FROM t JOIN u ON t.id = u.t_id)",
                false,
            ),
            // DISTINCT and values stay where the script does not reach.
            (
                "SELECT a FROM t WHERE a IN (SELECT DISTINCT c FROM u)",
                "SELECT a FROM t WHERE a IN (SELECT c FROM u)",
                false,
            ),
            (
                "SELECT a FROM t WHERE a IN (SELECT c FROM u WHERE c = 1)",
                "SELECT a FROM t WHERE a IN (SELECT c FROM u WHERE c = 2)",
                true,
            ),
            (
                "SELECT count(*) FROM (SELECT c FROM u WHERE c = 1)",
                "SELECT count(*) FROM (SELECT c FROM u WHERE c = 2)",
                false,
            ),
            (
                "SELECT a FROM t UNION SELECT c FROM u WHERE c = 1",
                "SELECT a FROM t UNION SELECT c FROM u WHERE c = 2",
                true,
            ),
            ("SELECT a FROM t UNION SELECT c FROM u", "SELECT a FROM t EXCEPT SELECT c FROM u", false),
            // The tables count, the ON conditions do not.
            ("SELECT a FROM t JOIN u ON t.id = u.t_id", "SELECT a FROM u JOIN t", true),
            ("SELECT a FROM t JOIN u", "SELECT a FROM t", false),
            ("SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a = value AND b", false),
        ];
        for (gold, prediction, exact) in cases {
            assert_eq!(outcome(gold, prediction, Switches::default()).exact, exact, "{gold} / {prediction}");
            assert!(outcome(gold, gold, Switches::default()).exact, "{gold}");
        }
    }

    #[test]
    fn switches_bring_values_and_distinct_back() {
        let values = Switches { values: true, distinct: false };
        assert!(!outcome("SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a = 2", values).exact);
        assert!(outcome("SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a = 1.0", values).exact);
        assert!(!outcome("SELECT a FROM t WHERE a = nan", "SELECT a FROM t WHERE a = nan", values).exact);
        let distinct = Switches { values: false, distinct: true };
        assert!(!outcome("SELECT count(DISTINCT a) FROM t", "SELECT count(a) FROM t", distinct).exact);
        assert!(outcome("SELECT DISTINCT a FROM t", "SELECT a FROM t", distinct).exact);
    }

    #[test]
    fn an_unreadable_prediction_is_the_empty_query() {
        let result = outcome("SELECT a FROM t ORDER BY a", "SELECT a, FROM", Switches::default());
        assert!(!result.exact && !result.parsed());
        let by = |component| result.partial.get(component);
        assert_eq!(by(Component::Select), PartialScore { matched: false, label_total: 1, pred_total: 0 });
        assert_eq!(by(Component::Where), PartialScore { matched: true, label_total: 0, pred_total: 0 });
        assert_eq!(by(Component::AndOr), PartialScore { matched: true, label_total: 1, pred_total: 1 });
        assert_eq!(by(Component::Keywords), PartialScore { matched: false, label_total: 2, pred_total: 0 });
    }

    #[test]
    fn what_stops_the_official_comparison_has_a_defined_outcome() {
        let gold = "SELECT a FROM t WHERE a = 1";
        let shifted = outcome(gold, "SELECT a FROM t WHERE a = 1 b = 2 AND a = 3", Switches::default());
        assert!(shifted.parsed() && !shifted.exact && shifted.unreadable.is_some());
        let unhashable =
            outcome(gold, "SELECT a FROM t WHERE a = 1 b = (SELECT c FROM u)", Switches::default());
        assert_eq!(unhashable.unreadable, Some(EmptyQueryReason::Compare(Incomparable::QueryForOperator)));
        let two = "SELECT count(*) FROM (SELECT a FROM t) (SELECT b FROM t)";
        let turned = "SELECT count(*) FROM (SELECT b FROM t) (SELECT a FROM t)";
        assert!(outcome(two, turned, Switches::default()).exact);
        let catalog = Catalog::new([("t", ["a"])]);
        let keys = BoundKeys::new(&ForeignKeyMap::default(), &catalog);
        let failure = score(&catalog, &keys, "SELECT x FROM t", "SELECT a FROM t", Switches::default());
        assert_eq!(failure, Err(GoldFailure::Parse(ParseFailure::UnknownColumn("x".to_owned()))));
    }
}
