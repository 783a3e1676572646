//! One database of the original with its golds.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sqlgauge_dataset::{Example, TablesEntry};
use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::lex::words;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{ColumnRef, Expr, IndexHint, Place, Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::check::Gold;
use crate::perturbations::{Needed, Probe};
use crate::tables_json;

/// A database with the items about it.
pub(crate) struct SourceDatabase<'a> {
    pub(crate) db_id: &'a str,
    pub(crate) database: Arc<Database>,
    pub(crate) items: Vec<&'a Example>,
    /// What the benchmark's `tables.json` says of it.
    pub(crate) entry: Option<&'a TablesEntry>,
    schema: Arc<Schema>,
    engine: &'a dyn Engine,
    golds: OnceLock<HashMap<String, Gold>>,
    reads: OnceLock<HashMap<String, Needed>>,
}

impl<'a> SourceDatabase<'a> {
    pub(crate) fn new(
        (db_id, database): (&'a str, Arc<Database>),
        items: Vec<&'a Example>,
        engine: &'a dyn Engine,
        entry: Option<&'a TablesEntry>,
    ) -> Self {
        let schema = match entry {
            Some(entry) => Arc::new(tables_json::with_keys(database.schema(), entry)),
            None => Arc::clone(database.schema()),
        };
        let (golds, reads) = (OnceLock::new(), OnceLock::new());
        Self { db_id, database, items, entry, schema, engine, golds, reads }
    }

    pub(crate) fn engine(&self) -> &'a dyn Engine {
        self.engine
    }

    pub(crate) fn probe(&self) -> Probe<'a> {
        Probe { engine: self.engine, database: Arc::clone(&self.database) }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn path(&self) -> &Path {
        self.database.path()
    }

    /// The gold of an item, run on its own database once.
    pub(crate) fn gold(&self, item: &Example) -> Option<&Gold> {
        let golds = self.golds.get_or_init(|| {
            let texts = self.items.iter().filter_map(|item| item.golds.first());
            texts.map(|sql| (sql.clone(), Gold::run(self.engine, &self.database, sql))).collect()
        });
        golds.get(item.golds.first()?.as_str())
    }

    /// What the gold of an item reads; nothing of one that cannot be resolved.
    pub(crate) fn reads(&self, item: &Example) -> Option<&Needed> {
        let reads = self.reads.get_or_init(|| {
            let texts = self.items.iter().filter_map(|item| item.golds.first());
            texts.map(|sql| (sql.clone(), read_by(sql, self.schema()))).collect()
        });
        reads.get(item.golds.first()?.as_str())
    }

    /// What the golds read together.
    pub(crate) fn needed(&self) -> Needed {
        let mut needed = Needed::default();
        for reads in self.items.iter().filter_map(|item| self.reads(item)) {
            needed.tables.extend(&reads.tables);
            needed.columns.extend(&reads.columns);
        }
        needed
    }
}

/// The tables and columns that a text reads.
pub(crate) fn read_by(sql: &str, schema: &Schema) -> Needed {
    let needed = resolve(sql, schema).map(|query| read_by_query(&query, schema)).unwrap_or_default();
    Needed { beyond_views: needed.beyond_views || names_rowid(sql, schema), ..needed }
}

/// Whether a text has a name of the rowid, which may stand for an INTEGER PRIMARY KEY, and is the name of no column.
fn names_rowid(sql: &str, schema: &Schema) -> bool {
    const NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];
    let is_column = |name: &str| schema.tables().iter().any(|table| table.column_index(name).is_some());
    let mut words = words(sql).filter(sqlgauge_sql::lex::Token::is_name);
    words.any(|word| {
        let name = word.unquoted();
        NAMES.iter().any(|rowid| rowid.eq_ignore_ascii_case(&name)) && !is_column(&name)
    })
}

/// The tables and columns that a query reads, also through views.
pub(crate) fn read_by_query(query: &Query, schema: &Schema) -> Needed {
    let mut needed = read_directly(query);
    let mut open: Vec<usize> = needed.tables.iter().copied().collect();
    while let Some(table) = open.pop() {
        let view = schema.tables().get(table).and_then(|table| table.view.as_ref());
        let Some(query) = view.and_then(|text| resolve(text, schema).ok()) else { continue };
        let reads = read_directly(&query);
        open.extend(reads.tables.into_iter().filter(|&table| needed.tables.insert(table)));
        needed.columns.extend(reads.columns);
    }
    needed
}

fn read_directly(query: &Query) -> Needed {
    struct Reads {
        tables: HashMap<RelationId, usize>,
        columns: Vec<ColumnRef>,
        beyond_views: bool,
    }
    impl Visitor for Reads {
        fn relation(&mut self, relation: &Relation) {
            if let RelationSource::Table(id) = relation.source {
                self.tables.insert(relation.id, id.index());
            }
            self.beyond_views |= matches!(relation.hint, Some(IndexHint::By(_)));
        }

        fn expr(&mut self, expr: &Expr) {
            if let Expr::Column(column) = expr {
                self.beyond_views |= column.column == Place::Rowid;
                self.columns.push(*column);
            }
        }
    }
    let mut reads = Reads { tables: HashMap::new(), columns: Vec::new(), beyond_views: false };
    walk_query(&mut reads, query);
    let columns = reads
        .columns
        .iter()
        .filter_map(|column| Some((*reads.tables.get(&column.relation)?, column.column.position()?)));
    Needed {
        columns: columns.collect(),
        tables: reads.tables.values().copied().collect(),
        beyond_views: reads.beyond_views,
    }
}
