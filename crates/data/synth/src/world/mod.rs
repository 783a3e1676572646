//! Profiles a database before queries are written over it: its schema, its values, and its joins.
//!
//! # Contract
//! A [`GrammarDatabase`] follows from the database file alone. Rows are sampled at places that follow from the number of rows, so
//! that two runs see the same. A table that cannot be read is left out, and [`GrammarDatabase::left_out`] says why.

mod links;
mod profile;

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::schema::{Schema, TableKind};

pub use self::links::{Link, LinkEvidence};
pub use self::profile::{ColumnProfile, ContentKind, TableProfile};

/// A database as the grammar sees it.
#[derive(Debug)]
pub struct GrammarDatabase {
    pub db_id: String,
    /// Its schema, which all queries are resolved against.
    pub schema: Arc<Schema>,
    /// The same without the foreign keys that its rows break: what a proof may rely on.
    pub sound_schema: Arc<Schema>,
    /// The tables that queries may read.
    pub tables: Vec<TableProfile>,
    /// What may be joined.
    pub links: Vec<Link>,
    /// Tables that no query reads, and why.
    pub left_out: Vec<(String, String)>,
    /// Steps along links between two tables, by their positions in `tables`; `None` where there is no way.
    distances: Vec<Vec<Option<u32>>>,
    /// For each table whether it only links others.
    between: Vec<bool>,
    /// Whether a foreign key says any of the links.
    has_declared: bool,
}

impl GrammarDatabase {
    /// Looks at a database.
    pub fn read(db_id: &str, database: &Database, engine: &dyn Engine) -> Self {
        let schema = Arc::clone(database.schema());
        // Nothing is proved on a server.
        let sound_schema =
            Arc::clone(if engine.is_sqlite() { &database.kept_schema(engine).schema } else { &schema });
        let referenced = profile::referenced(&schema);
        let (mut tables, mut left_out) = (Vec::new(), Vec::new());
        for (id, table) in schema.ids().zip(schema.tables()) {
            if !matches!(table.kind, TableKind::Table | TableKind::View) || table.columns.is_empty() {
                left_out.push((table.name.clone(), "it is neither a table nor a view".to_owned()));
                continue;
            }
            match profile::read(id, table, &referenced, database, engine) {
                Ok(profile) if profile.rows == 0 => {
                    left_out.push((table.name.clone(), "it has no rows".to_owned()));
                }
                Ok(profile) => tables.push(profile),
                Err(failure) => left_out.push((table.name.clone(), failure.to_string())),
            }
        }
        let links = links::find(&tables, &schema, database, engine);
        let distances = distances(tables.len(), &links);
        let between = between(&tables, &links);
        let has_declared = links.iter().any(|link| link.evidence == LinkEvidence::Declared);
        let db_id = db_id.to_owned();
        Self { db_id, schema, sound_schema, tables, links, left_out, distances, between, has_declared }
    }

    /// How likely a link is followed: what a foreign key says is what people know of.
    pub fn likely(&self, link: &Link) -> f64 {
        let is_sure = link.evidence == LinkEvidence::Declared || !self.has_declared;
        let sure = if is_sure { 1.0 } else { 0.05 };
        // By which of two keys tables are linked takes words of its own: the matches that a player won, or lost.
        if link.is_only { sure } else { sure * 0.15 }
    }

    /// Whether a table only links others: it refers to two or more, and its rows have no name.
    pub fn is_between(&self, table: usize) -> bool {
        self.between.get(table).copied().unwrap_or_default()
    }

    /// Steps along links between two tables; `None` where there is no way.
    pub fn distance(&self, from: usize, to: usize) -> Option<u32> {
        self.distances.get(from)?.get(to).copied().flatten()
    }
}

fn between(tables: &[TableProfile], links: &[Link]) -> Vec<bool> {
    let mut refers = vec![0; tables.len()];
    links.iter().for_each(|link| refers[link.child] += 1);
    tables.iter().zip(refers).map(|(table, refers)| refers > 1 && table.labels.is_empty()).collect()
}

/// Breadth first from every table.
fn distances(count: usize, links: &[Link]) -> Vec<Vec<Option<u32>>> {
    let mut neighbours = vec![Vec::new(); count];
    for link in links {
        neighbours[link.child].push(link.parent);
        neighbours[link.parent].push(link.child);
    }
    let from = |start: usize| {
        let mut distances = vec![None; count];
        distances[start] = Some(0);
        let mut pending = std::collections::VecDeque::from([(start, 0)]);
        while let Some((at, steps)) = pending.pop_front() {
            for &next in &neighbours[at] {
                if distances[next].is_none() {
                    distances[next] = Some(steps + 1);
                    pending.push_back((next, steps + 1));
                }
            }
        }
        distances
    };
    (0..count).map(from).collect()
}
