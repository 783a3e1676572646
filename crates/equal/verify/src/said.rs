//! What makes the answer of a counterexample wrong, in words, and for which rows.

use sqlgauge_base::{counted, noun_for};
use sqlgauge_causes::{DifferenceRecord, Explainer, Judge, Proofs};
use sqlgauge_engine::ResultSet;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Schema;

use sqlgauge_search::{Refutation, Search, SearchVerdict, Witness, WitnessTable, literal};

/// Databases on which a query is compared with the same query with a slip more or less.
const MORE_DATABASES: usize = 40;

/// Most tables of which the rows are counted in words.
const MAX_TABLES: usize = 3;

/// Numbers in words.
const WORDS: [&str; 11] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Longest value that stands in the sentence.
const MAX_VALUE: usize = 40;

/// The sentence on a refuted pair.
pub(crate) fn said(
    search: &Search,
    schema: &Schema,
    refutation: &Refutation,
    read: &[(String, ResultSet)],
    [left, right]: [&str; 2],
) -> DifferenceRecord {
    let explainer = Explainer::of(schema);
    let judge = OnWitness { proofs: Proofs::over(schema), search, refutation };
    let found = explainer.explain(left, right, &judge);
    let shown = Shown { schema, explainer: &explainer, refutation, read };
    DifferenceRecord::of(&found, Some(&shown.sentence()))
}

/// Knows what is proved, and what the counterexample shows.
struct OnWitness<'a> {
    proofs: Proofs<'a>,
    search: &'a Search,
    refutation: &'a Refutation,
}

impl Judge for OnWitness<'_> {
    /// Proved, or told apart neither by the counterexample nor by some databases more.
    fn same(&self, query: &str, other: &str) -> Option<bool> {
        if let Some(proved) = self.proofs.same(query, other) {
            return Some(proved);
        }
        let agrees = self.search.agree(self.refutation.database(), query, other)?;
        let more = || self.search.refute_within(query, other, MORE_DATABASES);
        Some(agrees && matches!(more(), SearchVerdict::Survived(_)))
    }
}

/// For which rows the results differ.
struct Shown<'a> {
    schema: &'a Schema,
    explainer: &'a Explainer<'a>,
    refutation: &'a Refutation,
    /// The tables that the queries read.
    read: &'a [(String, ResultSet)],
}

impl Shown<'_> {
    fn sentence(&self) -> String {
        let rows = self.rows();
        self.results()
            .map_or_else(|| format!("they differ {rows}"), |results| format!("they differ {rows}: {results}"))
    }

    /// `for one singer with two concerts`; counted are the tables that the queries read.
    fn rows(&self) -> String {
        let database = self.refutation.database();
        let tables: Vec<&WitnessTable> =
            self.read.iter().filter_map(|(name, _)| database.table(name)).collect();
        let filled = tables.iter().filter(|table| !table.rows.is_empty()).count();
        if filled == 0 {
            return "on a database without rows".to_owned();
        }
        if tables.len() > MAX_TABLES {
            let (rows, tables) = (counted(database.rows(), "row"), counted(filled, "table"));
            return format!("on a database of {rows} in {tables}");
        }
        if let [first, second] = tables.as_slice() {
            for (parent, child) in [(first, second), (second, first)] {
                if self.all_belong(database, parent, child) {
                    return format!("for {} with {}", self.count(parent), self.count(child));
                }
            }
        }
        let counts: Vec<String> = tables.iter().map(|table| self.count(table)).collect();
        match counts.as_slice() {
            [one] => format!("for {one}"),
            [first @ .., last] => format!("for {} and {last}", first.join(", ")),
            [] => "on a database without rows".to_owned(),
        }
    }

    /// Whether there is one row of the parent, and every row of the child refers to it.
    fn all_belong(&self, database: &Witness, parent: &WitnessTable, child: &WitnessTable) -> bool {
        let keys = self.schema.table_named(&child.name).map_or(&[][..], |table| &table.foreign_keys);
        let mut refers = keys.iter().filter_map(|key| {
            let (target, columns) = self.schema.resolve_foreign_key(key)?;
            let is_parent = self.schema.table(target)?.name.eq_ignore_ascii_case(&parent.name);
            is_parent.then(|| key.columns.iter().copied().zip(columns).collect::<Vec<_>>())
        });
        let [row] = parent.rows.as_slice() else { return false };
        let has_column = |table: &WitnessTable, at: u32| (at as usize) < table.columns.len();
        database.tables.len() >= 2
            && !child.rows.is_empty()
            && refers.any(|pairs| {
                pairs.iter().all(|&(own, target)| {
                    has_column(child, own)
                        && has_column(parent, target)
                        && child.rows.iter().all(|other| other.get(own as usize) == row.get(target as usize))
                })
            })
    }

    /// `two concerts`.
    fn count(&self, table: &WitnessTable) -> String {
        let count = table.rows.len();
        let name = self
            .explainer
            .table(&table.name, count != 1)
            .unwrap_or_else(|| format!("{} of {}", noun_for(&count, "row"), quoted(&table.name)));
        WORDS.get(count).map_or_else(|| format!("{count} {name}"), |word| format!("{word} {name}"))
    }

    /// What both return, where that is short.
    fn results(&self) -> Option<String> {
        let (gold, yours) = (self.refutation.left(), self.refutation.right());
        let single = |result: &ResultSet| {
            let only = result.rows().next().filter(|row| result.len() == 1 && row.len() == 1)?;
            Some(literal(only.first()?)).filter(|text| text.chars().count() <= MAX_VALUE)
        };
        if let (Some(gold), Some(yours)) = (single(gold), single(yours)) {
            return (gold != yours).then(|| format!("yours gives {yours}, the gold {gold}"));
        }
        let rows = |result: &ResultSet| match result.len() {
            0 => "no row".to_owned(),
            count => counted(count, "row"),
        };
        (gold.len() != yours.len()).then(|| format!("yours returns {}, the gold {}", rows(yours), rows(gold)))
    }
}
