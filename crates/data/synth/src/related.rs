//! Makes queries related to a pair: equal ones with the rules that prove it, near misses with the database that
//! separates them.
//!
//! # Contract
//! A *variant* is the query of a pair after one or more applications of sound rules of tree matching; the rules stand with
//! it. Both are run on the pair's database, and a variant with other rows is no variant: it is counted and shown in the data
//! card, for a rule or SQLite is wrong. Rules rely on no foreign key that the rows of the database break. A variant that does not
//! run within the limits is dropped and counted apart. A *near miss* differs in one node, runs on the database, and has a
//! witness: a small database that keeps the schema and on which SQLite returns other rows. A change for which the search finds
//! no witness is dropped.

use serde::{Deserialize, Serialize};
use sqlgauge_base::{Random, seed_of};
use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_etm::law::{RewriteChange, Stepper};
use sqlgauge_search::{Search, SearchOptions};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, print};

use crate::check::{CheckedQuery, Checker};
use crate::data::{FieldColumn, FieldKind};
use crate::near_miss::mutated;
use crate::world::GrammarDatabase;

/// Databases that are tried for one near miss, or one reading of a question.
const DATABASES: usize = 60;
/// Changes that are tried for one near miss.
const CHANGES: usize = 4;

/// How a query is related to a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueryRelation {
    /// It returns the same on every database that keeps the schema.
    Variant,
    /// It does not.
    NearMiss,
}

/// A query related to a pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Related {
    /// The pair's, and which one of it.
    pub id: String,
    /// The pair.
    pub of: String,
    /// The database.
    pub db_id: String,
    pub relation: QueryRelation,
    /// The query.
    pub sql: String,
    /// Of a variant: the rules by which it was made, in order.
    pub rules: Vec<String>,
    /// Of a near miss: what was changed.
    pub change: Option<String>,
    /// Of a near miss: a script of a database on which the results differ.
    pub witness: Option<String>,
}

/// Of which share of the pairs there are such queries, from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    pub variants: f64,
    pub near_misses: f64,
}

/// Two queries that rules prove equal, and that return different rows: a rule is wrong, or SQLite is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contradiction {
    /// The pair.
    pub pair: String,
    /// Its query.
    pub sql: String,
    /// The query after the rules.
    pub variant: String,
    /// The rules, in order.
    pub rules: Vec<String>,
}

/// What came of a pair.
#[derive(Debug, Default)]
pub(crate) struct RelatedQueries {
    pub related: Vec<Related>,
    /// Variants whose rows are not the pair's.
    pub contradictions: Vec<Contradiction>,
    /// Variants that did not run within the limits, so that nothing is known of their rows.
    pub unfinished: u64,
    /// Changes without a witness.
    pub without_witness: u64,
}

/// Makes the related queries of one pair.
pub(crate) fn related_queries(
    world: &GrammarDatabase,
    checker: &Checker<'_>,
    shares: Shares,
    seed: u64,
    (id, pair): (&str, &CheckedQuery),
) -> RelatedQueries {
    let mut queries = RelatedQueries::default();
    let mut random = Random::new([seed, seed_of(id), 1]);
    if random.unit() < shares.variants
        && let Some((sql, rules)) = variant(world, &pair.query, &mut random)
    {
        match Fate::of(checker, pair, &sql) {
            Fate::Equal => {
                queries
                    .related
                    .push(Related { rules, ..Related::of(id, world, QueryRelation::Variant, sql) });
            }
            Fate::Unequal => queries.contradictions.push(Contradiction {
                pair: id.to_owned(),
                sql: pair.sql.clone(),
                variant: sql,
                rules,
            }),
            Fate::Unfinished => queries.unfinished += 1,
        }
    }
    if random.unit() < shares.near_misses {
        queries.near_miss(world, checker, (id, pair), &mut random);
    }
    queries
}

impl RelatedQueries {
    /// Adds a near miss, if one of a few changes has a witness.
    fn near_miss(
        &mut self,
        world: &GrammarDatabase,
        checker: &Checker<'_>,
        (id, pair): (&str, &CheckedQuery),
        random: &mut Random,
    ) {
        for _ in 0..CHANGES {
            let Some((query, mutation)) = mutated(&pair.query, random) else { break };
            let Ok(sql) = print(&query, &world.schema, PrintDialect::Sqlite) else { continue };
            if checker.rows(&sql).is_none() {
                continue;
            }
            if let Some(script) = witness(world, &pair.sql, &sql) {
                self.related.push(Related {
                    change: Some(mutation.name().to_owned()),
                    witness: Some(script),
                    ..Related::of(id, world, QueryRelation::NearMiss, sql)
                });
                break;
            }
            self.without_witness += 1;
        }
    }
}

impl Related {
    /// Its fields, in order, as columns of a table.
    pub const COLUMNS: &'static [FieldColumn] = &[
        FieldColumn { name: "id", kind: FieldKind::Text },
        FieldColumn { name: "of", kind: FieldKind::Text },
        FieldColumn { name: "db_id", kind: FieldKind::Text },
        FieldColumn { name: "relation", kind: FieldKind::Text },
        FieldColumn { name: "sql", kind: FieldKind::Text },
        FieldColumn { name: "rules", kind: FieldKind::Texts },
        FieldColumn { name: "change", kind: FieldKind::Text },
        FieldColumn { name: "witness", kind: FieldKind::Text },
    ];

    /// A query related to the pair of that id, before anything else is known.
    fn of(id: &str, world: &GrammarDatabase, relation: QueryRelation, sql: String) -> Self {
        Self {
            id: format!("{id}-{}", if relation == QueryRelation::Variant { "variant" } else { "near" }),
            of: id.to_owned(),
            db_id: world.db_id.clone(),
            relation,
            sql,
            rules: Vec::new(),
            change: None,
            witness: None,
        }
    }
}

/// The query after some applications of rules, with these.
fn variant(world: &GrammarDatabase, query: &Query, random: &mut Random) -> Option<(String, Vec<String>)> {
    let text = |query: &Query| print(query, &world.schema, PrintDialect::Sqlite).ok();
    let before = text(query)?;
    let trace = Stepper::new(&world.sound_schema).steps(query);
    if trace.stopped.is_some() || !Stepper::has_normal_form(query) {
        return None;
    }
    let mut rules = Vec::new();
    let mut variants = Vec::new();
    for step in &trace.steps {
        // What no rule answers for is no proof.
        let RewriteChange::Rule(rule) = step.change else { break };
        rules.push(rule.id.to_owned());
        variants
            .extend(text(&step.query).filter(|after| *after != before).map(|after| (after, rules.clone())));
    }
    random.pick(&variants).cloned()
}

/// What came of running a variant.
enum Fate {
    /// It returns the rows of the pair.
    Equal,
    /// It returns others.
    Unequal,
    /// It does not run within the limits.
    Unfinished,
}

impl Fate {
    fn of(checker: &Checker<'_>, pair: &CheckedQuery, sql: &str) -> Self {
        let Some(rows) = checker.rows(sql) else { return Self::Unfinished };
        let unordered = &GoldOrder::Unordered;
        match Semantics::Bag.difference((&pair.rows, unordered), (&rows, unordered)) {
            None => Self::Equal,
            Some(_) => Self::Unequal,
        }
    }
}

/// A search for databases of that schema; `None` if SQLite has no memory for one.
pub(crate) fn search_over(world: &GrammarDatabase) -> Option<Search> {
    let options = SearchOptions { databases: DATABASES, ..SearchOptions::default() };
    Search::new(std::sync::Arc::clone(&world.schema), options).ok()
}

/// A database on which the two return different rows.
fn witness(world: &GrammarDatabase, gold: &str, near: &str) -> Option<String> {
    let verdict = search_over(world)?.refute_minimised(gold, near);
    verdict.refutation().map(|refutation| refutation.database().script())
}

#[cfg(test)]
mod tests {
    use sqlgauge_engine::{Engine, Limits, SqliteEngine};
    use sqlgauge_sql::resolve;

    use super::*;

    #[test]
    fn other_rows_are_a_contradiction_and_rules_rely_on_no_key_that_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let tables = "PRAGMA foreign_keys = OFF; CREATE TABLE a (id INTEGER PRIMARY KEY);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a(id)); INSERT INTO a VALUES (1);";
        let with = |name: &str, rows: &str, look: &dyn Fn(&GrammarDatabase, &Checker<'_>, &CheckedQuery)| {
            let path = folder.path().join(name);
            let script = format!("{tables} INSERT INTO b VALUES {rows};");
            rusqlite::Connection::open(&path).unwrap().execute_batch(&script).unwrap();
            let engine = SqliteEngine::new(Limits { max_vm_steps: 50_000, ..Limits::default() });
            let database = engine.open(&path).unwrap();
            let world = GrammarDatabase::read("x", &database, &engine);
            let checker = Checker::new(&world.schema, &database, &engine);
            let query = resolve("SELECT b.id FROM b JOIN a ON b.a = a.id", &world.schema).unwrap();
            look(&world, &checker, &checker.check(&query, &mut Random::new([1])).unwrap());
        };
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
        with("kept", "(5, 1), (6, 1)", &|world, checker, pair| {
            assert!(matches!(Fate::of(checker, pair, "SELECT id FROM b"), Fate::Equal));
            assert!(matches!(Fate::of(checker, pair, "SELECT a FROM b"), Fate::Unequal));
            assert!(matches!(Fate::of(checker, pair, endless), Fate::Unfinished));
            assert!(drops_the_join(world, pair));
        });
        with("broken", "(5, 1), (6, 2)", &|world, _, pair| assert!(!drops_the_join(world, pair)));
    }

    /// Whether some variant reads one table, which the foreign key proves.
    fn drops_the_join(world: &GrammarDatabase, pair: &CheckedQuery) -> bool {
        let variants = (0..40).filter_map(|seed| variant(world, &pair.query, &mut Random::new([seed])));
        variants.map(|(sql, _)| sql).any(|sql| !sql.contains("JOIN"))
    }
}
