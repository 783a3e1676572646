//! The first witnesses of a question.

use std::sync::Arc;

use sqlgauge_engine::ResultSet;
use sqlgauge_search::mutation::Mutations;
use sqlgauge_search::{Search, SearchError, literal};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Expr, Literal, Query};
use sqlgauge_sql::{PrintDialect, print, resolve};

use super::StoredWitness;
use crate::golds::Gold;
use crate::subject::{Subject, World};

/// Most mutations of one gold; of more, so many at equal distances.
const MUTATIONS: usize = 48;

/// Databases on which one mutation is tried.
const DATABASES: usize = 96;

/// Most witnesses that are made at first.
const MOST: usize = 24;

/// Most values of a gold's rows that are written out as literals.
const ECHO: usize = 400;

/// What the search made of a gold.
#[derive(Debug, Default)]
pub(super) struct Base {
    pub(super) witnesses: Vec<Arc<StoredWitness>>,
    /// Other queries that were tried, and how many of them some witness tells from the gold.
    pub(super) tried: usize,
    pub(super) unequal: usize,
    /// How many of them the rules prove to be the gold in other words.
    pub(super) equal: usize,
    /// Why there can be none, as a code.
    pub(super) none: Option<String>,
    /// Whether values repeat on them that do not repeat in the benchmark.
    pub(super) has_repeats: bool,
}

impl Base {
    /// Without repeats, unless the gold asks about them or cannot be told from a guess without: that a value occurs twice may
    /// be all that it asks for.
    pub(super) fn make(gold: &Gold, subject: &Subject) -> Result<Self, SearchError> {
        if !subject.has_both_worlds() {
            return Ok(Self::within(gold, subject.world(false))?.0);
        }
        if !gold.asks_about_repeats {
            let (base, tells_guesses) = Self::within(gold, subject.world(false))?;
            if tells_guesses {
                return Ok(base);
            }
        }
        let (base, _) = Self::within(gold, subject.world(true))?;
        Ok(Self { has_repeats: true, ..base })
    }

    /// The base in one world, and whether it tells the gold from the guesses.
    fn within(gold: &Gold, world: &World) -> Result<(Self, bool), SearchError> {
        world.searching(|search| Self::searched(gold, world, search))
    }

    fn searched(gold: &Gold, world: &World, search: &Search) -> (Self, bool) {
        let mut base = Self::default();
        let query = resolve(&gold.text, &world.schema).ok();
        let guesses = guesses(gold, query.as_ref(), &world.schema);
        for guess in &guesses {
            base.add(gold, guess, world, search);
        }
        let tells_guesses = base.unequal == guesses.len();
        for other in query.iter().flat_map(|query| mutated(query, &world.schema)) {
            base.add(gold, &other, world, search);
        }
        if base.none.is_some() {
            base = Self { none: base.none, ..Self::default() };
        }
        (base, tells_guesses)
    }

    /// Tells another query from the gold, by one more witness if need be.
    fn add(&mut self, gold: &Gold, other: &str, world: &World, search: &Search) {
        if self.none.is_some() {
            return;
        }
        self.tried += 1;
        let databases = self.witnesses.iter().map(|item| &item.witness);
        match search.told(databases, &gold.text, other) {
            Ok(Some(_)) => self.unequal += 1,
            Ok(None) if self.witnesses.len() >= MOST => {}
            Ok(None) if world.proves_equal(&gold.text, other) => self.equal += 1,
            Ok(None) => {
                let verdict = search.refute_within(&gold.text, other, DATABASES);
                if let Some(refutation) = verdict.refutation().filter(|refutation| world.takes(refutation)) {
                    self.unequal += 1;
                    self.witnesses.push(Arc::new(StoredWitness::new(refutation.database().clone())));
                }
            }
            Err(reason) => self.none = Some(reason.code()),
        }
    }
}

/// What a guess may be: the gold's rows by heart, and no row at all.
fn guesses(gold: &Gold, query: Option<&Query>, schema: &Schema) -> Vec<String> {
    let none = query.and_then(|query| {
        let limit = Some(Expr::Literal(Literal::Integer(0)));
        print(&Query { limit, offset: None, ..query.clone() }, schema, PrintDialect::Sqlite).ok()
    });
    gold.rows().and_then(|rows| echo(rows)).into_iter().chain(none).collect()
}

/// Mutations of a gold, which an answer must not be taken for either.
fn mutated(query: &Query, schema: &Schema) -> Vec<String> {
    let mutations = Mutations::new(query, schema);
    let count = mutations.count();
    let numbers = (0..count.min(MUTATIONS)).map(|number| number * count / count.min(MUTATIONS));
    numbers.filter_map(|number| print(&mutations.get(number)?, schema, PrintDialect::Sqlite).ok()).collect()
}

/// The rows as a query that reads nothing; `None` where there are none, or too many.
pub(crate) fn echo(rows: &ResultSet) -> Option<String> {
    if rows.is_empty() || rows.values().len() > ECHO {
        return None;
    }
    let row = |row: &[sqlgauge_engine::Value]| {
        format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", "))
    };
    Some(format!("VALUES {}", rows.rows().map(row).collect::<Vec<_>>().join(", ")))
}
