//! Evolves one database: its schema, data and items under one kind of change.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlgauge_dataset::Example;
use sqlgauge_engine::Database;
use sqlgauge_sql::schema::Schema;

use crate::chain::{Chain, Rewritten};
use crate::change::Change;
use crate::ddl;
use crate::equivalence::Equivalence;
use crate::error::EvolveError;
use crate::kind::ChangeKind;
use crate::layout::{EvolveReason, EvolvedItem, ItemRecord, SchemaRecord};
use crate::migrate::migrate;
use crate::perturbations::Needed;
use crate::rewrite::Refusal;
use crate::source::{SourceDatabase, read_by_query};
use crate::tables_json;
use crate::triggers;

/// The script of views next to a database.
pub(crate) const VIEWS: &str = "old_over_new.sql";

/// What becomes of one database and its items.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Shard {
    pub(crate) schemas: Vec<SchemaRecord>,
    /// The entries of `tables.json` of the databases that are written.
    pub(crate) tables: Vec<Value>,
    pub(crate) items: Vec<(ItemRecord, Option<EvolvedItem>)>,
    /// Elements changed, by table.
    pub(crate) per_table: Vec<usize>,
}

impl Shard {
    /// Takes in what was made of other items of the database.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.schemas.append(&mut other.schemas);
        self.tables.append(&mut other.tables);
        self.items.append(&mut other.items);
        self.per_table.append(&mut other.per_table);
    }

    /// Nothing of no item.
    pub(crate) fn empty() -> Self {
        Self { schemas: Vec::new(), tables: Vec::new(), items: Vec::new(), per_table: Vec::new() }
    }
}

/// An evolved database, to write and to check.
pub(crate) struct Evolving<'a> {
    pub(crate) source: &'a SourceDatabase<'a>,
    pub(crate) chain: &'a Chain,
    pub(crate) db_id: &'a str,
    pub(crate) folder: &'a Path,
    /// By item, tables of the last schema that it shows beside those that it needs.
    pub(crate) extra_tables: HashMap<usize, BTreeSet<usize>>,
}

/// What the changes touch of the first schema: tables, and columns where the changes are of columns.
struct Touched {
    tables: BTreeSet<usize>,
    columns: BTreeSet<(usize, u32)>,
}

impl Evolving<'_> {
    /// Migrates the data, rewrites the golds, and checks both.
    ///
    /// # Errors
    /// When a file cannot be written or read. What is wrong with the database or an item is in the records.
    pub(crate) fn run(&self, items: &[&Example]) -> Result<Shard, EvolveError> {
        let touched = touched(self.chain);
        let triggers = triggers::of(&self.source.probe(), self.chain.first(), &touched.tables);
        if self.chain.changes().is_empty() && self.extra_tables.is_empty() {
            return Ok(self.infeasible(items, EvolveReason::NothingToChange, None));
        }
        let path = self.folder.join(format!("{}.sqlite", self.db_id));
        let new_over_old = match migrate(self.chain, &triggers.statements, self.source.path(), &path) {
            Ok(tables) => tables,
            Err(error @ crate::migrate::MigrationError::Io { .. }) => return Err(error.into()),
            Err(error) => {
                return Ok(self.infeasible(items, EvolveReason::MigrationFails, Some(&error.to_string())));
            }
        };
        let views = self.chain.old_over_new();
        let statements: Vec<(String, String)> =
            views.iter().map(|view| (view.name.clone(), view.statement())).collect();
        let script: String = statements.iter().map(|(_, statement)| statement.as_str()).collect();
        let script_path = self.folder.join(VIEWS);
        sqlgauge_base::file::write_atomically(&script_path, |out| out.write_all(script.as_bytes()))
            .map_err(|source| EvolveError::Write { path: script_path, source })?;
        let database = self.source.engine().open(&path)?;
        let through_views = database.with_prelude(&script);
        let equivalence = Equivalence::of(self.chain);
        let views_of = ViewsOfTables { statements, all: through_views };
        let added = added(self.chain);
        let checked = Checked { evolving: self, database, views_of, touched: &touched, equivalence, added };
        let name = |at: usize| self.chain.last().tables()[at].name.clone();
        let schema = SchemaRecord {
            changes: self.chain.changes().to_vec(),
            infeasible: None,
            detail: None,
            old_over_new: views.into_iter().map(|view| (view.name, view.sql)).collect(),
            new_over_old: new_over_old.into_iter().map(|table| (name(table.table), table.sql)).collect(),
            left_out: self.chain.left_out().into_iter().chain(triggers.left_out).collect(),
            ..self.record(&touched)
        };
        let items = items.iter().map(|item| checked.item(item)).collect();
        // What a query returns of a file that another process changes is no outcome.
        checked.database.check_unchanged()?;
        self.source.database.check_unchanged()?;
        let per_table = per_table(&touched);
        let tables = vec![tables_json::entry(self.db_id, self.chain.last(), self.source.entry)];
        Ok(Shard { schemas: vec![schema], tables, items, per_table })
    }

    /// The only item, which the schema cannot answer any more: its DDL is all that is needed.
    pub(crate) fn unanswerable(&self, item: &Example, kind: ChangeKind) -> Shard {
        let touched = touched(self.chain);
        let gold = item.golds.first().map(String::as_str).unwrap_or_default();
        let schema = SchemaRecord { changes: self.chain.changes().to_vec(), ..self.record(&touched) };
        let manipulated =
            if touched.columns.is_empty() { touched.tables.len() } else { touched.columns.len() };
        let record = ItemRecord {
            written: true,
            reason: None,
            gold_changed: true,
            manipulated,
            ..self.unwritten(item, EvolveReason::StillRuns, None)
        };
        let nothing = Needed::default();
        let reads = self.source.reads(item).unwrap_or(&nothing);
        let relevant: HashSet<usize> =
            reads.tables.iter().flat_map(|&table| self.chain.image_of(table)).collect();
        let query = kind.abstention().unwrap_or_default();
        let evolved = self.as_item(item, (query, gold), false, (&relevant, &BTreeSet::new()));
        let tables = vec![tables_json::entry(self.db_id, self.chain.last(), self.source.entry)];
        let per_table = per_table(&touched);
        Shard { schemas: vec![schema], tables, items: vec![(record, Some(evolved))], per_table }
    }

    fn as_item(
        &self,
        item: &Example,
        (query, gold): (&str, &str),
        answerable: bool,
        (needed, extra_tables): (&HashSet<usize>, &BTreeSet<usize>),
    ) -> EvolvedItem {
        let schema = self.chain.last();
        let is_shown = |table: usize| needed.contains(&table) || extra_tables.contains(&table);
        EvolvedItem {
            source_index: item.index,
            question_id: item.id.clone(),
            db_id: self.db_id.to_owned(),
            source_db_id: item.db_id.clone(),
            question: item.question.clone(),
            evidence: item.evidence.clone(),
            difficulty: item.difficulty.clone(),
            query: query.to_owned(),
            source_query: gold.to_owned(),
            answerable,
            ddl: ddl::script(schema, |_| true),
            ddl_relevant: ddl::script(schema, is_shown),
            ddl_needed: ddl::script(schema, |table| needed.contains(&table)),
        }
    }

    fn record(&self, touched: &Touched) -> SchemaRecord {
        let first = self.chain.first().tables();
        let column = |&(table, at): &(usize, u32)| {
            let table = &first[table];
            Some(format!("{}.{}", table.name, table.column(at)?.name))
        };
        SchemaRecord {
            db_id: self.db_id.to_owned(),
            source_db_id: self.source.db_id.to_owned(),
            changes: Vec::new(),
            infeasible: None,
            detail: None,
            old_over_new: std::collections::BTreeMap::new(),
            new_over_old: std::collections::BTreeMap::new(),
            changed_tables: touched.tables.iter().map(|&table| first[table].name.clone()).collect(),
            changed_columns: touched.columns.iter().filter_map(column).collect(),
            left_out: self.chain.left_out(),
        }
    }

    /// A database that is not written, and neither are its items.
    pub(crate) fn infeasible(&self, items: &[&Example], reason: EvolveReason, detail: Option<&str>) -> Shard {
        let nothing = Touched { tables: BTreeSet::new(), columns: BTreeSet::new() };
        let detail = || detail.map(str::to_owned);
        let schema = SchemaRecord { infeasible: Some(reason), detail: detail(), ..self.record(&nothing) };
        let item = |item: &&Example| (self.unwritten(item, reason, detail()), None);
        let items = items.iter().map(item).collect();
        Shard { schemas: vec![schema], tables: Vec::new(), items, per_table: Vec::new() }
    }

    fn unwritten(&self, item: &Example, reason: EvolveReason, detail: Option<String>) -> ItemRecord {
        ItemRecord {
            source_index: item.index,
            db_id: self.db_id.to_owned(),
            written: false,
            reason: Some(reason),
            detail,
            gold_changed: false,
            manipulated: 0,
            equivalent: None,
        }
    }
}

/// The databases that golds are run on.
struct Checked<'a> {
    evolving: &'a Evolving<'a>,
    database: Arc<Database>,
    views_of: ViewsOfTables,
    touched: &'a Touched,
    equivalence: Option<Equivalence<'a>>,
    /// Tables of the last schema that come from none of the first.
    added: BTreeSet<usize>,
}

/// Views up to which every gold has all of them, so that golds share connections.
const FEW_VIEWS: usize = 64;

/// The tables of the first schema as views over the new database.
struct ViewsOfTables {
    /// By the name of the table, the statement that makes its view.
    statements: Vec<(String, String)>,
    all: Database,
}

impl ViewsOfTables {
    /// Those that a gold needs which reads these tables. SQLite compiles every view anew for every connection: of thousands a
    /// gold gets its own alone.
    fn of_reads(&self, database: &Database, first: &Schema, reads: Option<&Needed>) -> Option<Database> {
        // What a gold reads that cannot be resolved is not known.
        let reads = reads.filter(|reads| !reads.tables.is_empty() && self.statements.len() > FEW_VIEWS)?;
        let is_read = |name: &str| first.table_id(name).is_some_and(|id| reads.tables.contains(&id.index()));
        let statements = self.statements.iter().filter(|(name, _)| is_read(name));
        let script: String = statements.map(|(_, statement)| statement.as_str()).collect();
        Some(database.with_prelude(&script))
    }
}

impl Checked<'_> {
    fn item(&self, item: &Example) -> (ItemRecord, Option<EvolvedItem>) {
        match self.evolved(item) {
            Ok(rewritten) => {
                let needed = self.needed(item, &rewritten);
                let extra_tables = self.extra_tables(item, &needed);
                let record = self.written(item, &rewritten, extra_tables.len());
                (record, Some(self.as_item(item, &rewritten, (&needed, &extra_tables))))
            }
            Err(refusal) => (self.evolving.unwritten(item, refusal.reason, Some(refusal.detail)), None),
        }
    }

    /// The gold over the new schema, once it has returned the original's rows, and the unchanged one through the views.
    fn evolved(&self, item: &Example) -> Result<Rewritten, Refusal> {
        let source = self.evolving.source;
        let gold = source.gold(item).ok_or_else(|| Refusal {
            reason: EvolveReason::GoldFails,
            detail: "the item has no gold".to_owned(),
        })?;
        gold.ran()?;
        if source.reads(item).is_some_and(|reads| reads.beyond_views) {
            let detail = "it reads a rowid or names an index, and a view has neither".to_owned();
            return Err(Refusal { reason: EvolveReason::NotThroughViews, detail });
        }
        let rewritten = self.evolving.chain.rewrite(&gold.sql)?;
        let original = (source.engine(), &*source.database);
        if rewritten.sql != gold.sql && restructures(self.evolving.chain) {
            gold.determined(original)?;
        }
        gold.returns(original, (&self.database, &rewritten.sql), EvolveReason::RowsDiffer)?;
        let views = self.views_of.of_reads(&self.database, self.evolving.chain.first(), source.reads(item));
        let through_views = views.as_ref().unwrap_or(&self.views_of.all);
        gold.returns(original, (through_views, &gold.sql), EvolveReason::ViewsDiffer)?;
        Ok(rewritten)
    }

    fn written(&self, item: &Example, rewritten: &Rewritten, extra_count: usize) -> ItemRecord {
        let nothing = Needed::default();
        let reads = self.evolving.source.reads(item).unwrap_or(&nothing);
        let changed = if self.touched.columns.is_empty() {
            self.touched.tables.iter().filter(|table| reads.tables.contains(table)).count()
        } else {
            self.touched.columns.iter().filter(|(table, _)| reads.tables.contains(table)).count()
        };
        ItemRecord {
            written: true,
            reason: None,
            gold_changed: item.golds.first() != Some(&rewritten.sql),
            manipulated: changed + extra_count,
            equivalent: self
                .equivalence
                .as_ref()
                .zip(item.golds.first())
                .map(|(equivalence, gold)| equivalence.proves(gold, &rewritten.sql)),
            ..self.evolving.unwritten(item, EvolveReason::RowsDiffer, None)
        }
    }

    /// The tables of the last schema that the gold reads, and what took the place of those that it read.
    fn needed(&self, item: &Example, rewritten: &Rewritten) -> HashSet<usize> {
        let chain = self.evolving.chain;
        let mut needed: HashSet<usize> = read_by_query(&rewritten.query, chain.last()).tables;
        if let Some(reads) = self.evolving.source.reads(item) {
            needed.extend(reads.tables.iter().flat_map(|&table| chain.image_of(table)));
        }
        needed
    }

    /// The tables that the item shows besides: those drawn for it, and those added ones that refer to what it needs.
    fn extra_tables(&self, item: &Example, needed: &HashSet<usize>) -> BTreeSet<usize> {
        let schema = self.evolving.chain.last();
        let refers = |table: &&usize| {
            let keys = &schema.tables()[**table].foreign_keys;
            let to = |name: &str| schema.table_id(name).is_some_and(|id| needed.contains(&id.index()));
            keys.iter().any(|key| to(&key.referenced_table))
        };
        let drawn = self.evolving.extra_tables.get(&item.index).into_iter().flatten();
        drawn.chain(self.added.iter().filter(refers)).copied().collect()
    }

    fn as_item(
        &self,
        item: &Example,
        rewritten: &Rewritten,
        tables: (&HashSet<usize>, &BTreeSet<usize>),
    ) -> EvolvedItem {
        let gold = item.golds.first().map(String::as_str).unwrap_or_default();
        self.evolving.as_item(item, (&rewritten.sql, gold), true, tables)
    }
}

/// The tables of the last schema that come from none of the first.
fn added(chain: &Chain) -> BTreeSet<usize> {
    if !chain.changes().iter().any(|change| matches!(change, Change::AddTable { .. })) {
        return BTreeSet::new();
    }
    let old: HashSet<usize> = (0..chain.first().tables().len()).flat_map(|at| chain.image_of(at)).collect();
    (0..chain.last().tables().len()).filter(|at| !old.contains(at)).collect()
}

/// Whether rows come from other tables than they did, so that they may come in another order.
fn restructures(chain: &Chain) -> bool {
    let moves = |change: &Change| matches!(change, Change::SplitTable { .. } | Change::MergeTables { .. });
    chain.changes().iter().any(moves)
}

/// How many elements changed, by table.
fn per_table(touched: &Touched) -> Vec<usize> {
    let columns = |table: &usize| touched.columns.iter().filter(|(owner, _)| owner == table).count().max(1);
    touched.tables.iter().map(columns).collect()
}

/// Names of changes are those of the schema at hand, which may be a later one: what it calls otherwise is not counted.
fn touched(chain: &Chain) -> Touched {
    let mut touched = Touched { tables: BTreeSet::new(), columns: BTreeSet::new() };
    let schema: &Schema = chain.first();
    for change in chain.changes() {
        let (tables, columns): (Vec<&String>, Vec<&String>) = match change {
            Change::RenameColumn { table, column, .. }
            | Change::DropColumn { table, column }
            | Change::SplitColumn { table, column, .. } => (vec![table], vec![column]),
            Change::MergeColumns { table, columns, .. } => {
                (vec![table], columns.iter().map(|(name, _)| name).collect())
            }
            Change::RenameTable { table, .. }
            | Change::AddColumn { table, .. }
            | Change::DropTable { table }
            | Change::SplitTable { table, .. } => (vec![table], Vec::new()),
            Change::MergeTables { child, parent, .. } => (vec![child, parent], Vec::new()),
            Change::AddTable { .. } => (Vec::new(), Vec::new()),
        };
        for id in tables.iter().filter_map(|name| schema.table_id(name)) {
            touched.tables.insert(id.index());
            let table = &schema.tables()[id.index()];
            let places = columns.iter().filter_map(|name| table.column_index(name));
            touched.columns.extend(places.map(|at| (id.index(), at)));
        }
    }
    touched
}
