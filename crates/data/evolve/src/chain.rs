//! A chain of changes: one mapping from the first schema to the last, and its inverse.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::tree::{Expr, From, Literal, Output, Query, RelationSource};
use sqlgauge_sql::{Aliases, PrintDialect, PrintError, print, print_as_written, resolve_with_aliases};

use crate::change::Change;
use crate::in_place::{self, Renamed};
use crate::layout::EvolveReason;
use crate::rewrite::{Refusal, rewrite};
use crate::step::{ChangeError, Step, Way};
use crate::text;

/// Most columns that the steps of a chain hold together: each step holds those of the whole schema.
const MAX_COLUMNS: usize = 400_000;

/// Changes one after the other. A schema of so many columns takes only so many changes ([`ChangeError::TooMany`]); that is
/// far from the schemas of benchmarks.
#[derive(Debug, Clone)]
pub struct Chain {
    first: Arc<Schema>,
    changes: Vec<Change>,
    steps: Vec<Arc<Step>>,
    renamed: OnceLock<Renamed>,
}

/// A gold over the last schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) sql: String,
    pub(crate) query: Query,
}

impl Chain {
    /// No change yet.
    pub fn new(schema: impl Into<Arc<Schema>>) -> Self {
        Self { first: schema.into(), changes: Vec::new(), steps: Vec::new(), renamed: OnceLock::new() }
    }

    /// Applies one more change to the last schema.
    ///
    /// # Errors
    /// [`ChangeError`], which names what does not fit; the chain is then as it was.
    pub fn push(&mut self, change: Change) -> Result<(), ChangeError> {
        let columns = columns(&self.first);
        let most = MAX_COLUMNS / columns.max(1);
        if self.steps.len() >= most {
            return Err(ChangeError::TooMany { columns, most });
        }
        let step = Step::new(self.last_shared(), &change)?;
        self.steps.push(Arc::new(step));
        self.changes.push(change);
        self.renamed = OnceLock::new();
        Ok(())
    }

    /// The schema that the changes begin with.
    pub fn first(&self) -> &Schema {
        &self.first
    }

    /// The schema that the changes end with.
    pub fn last(&self) -> &Schema {
        self.last_shared()
    }

    fn last_shared(&self) -> &Arc<Schema> {
        self.steps.last().map_or(&self.first, |step| &step.new)
    }

    /// Whether the schema takes fewer changes than it has columns: then what golds read comes first.
    pub(crate) fn is_large(&self) -> bool {
        let columns = columns(&self.first);
        columns.saturating_mul(columns) > MAX_COLUMNS
    }

    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What was left out on the way, by name.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.steps.iter().flat_map(|step| step.left_out.iter().cloned()).collect()
    }

    /// A query over the first schema as one over the last.
    fn forth(&self, query: &Query, aliases: &mut Aliases) -> Result<Query, Refusal> {
        self.steps.iter().try_fold(query.clone(), |query, step| rewrite(&query, aliases, step.forward()))
    }

    /// A query over the last schema as one over the first.
    fn back(&self, query: &Query, aliases: &mut Aliases) -> Result<Query, Refusal> {
        let mut steps = self.steps.iter().rev();
        steps.try_fold(query.clone(), |query, step| rewrite(&query, aliases, step.inverse()))
    }

    /// A whole table of the first schema as a query over the last. A step that leaves the table as it is changes nothing but
    /// its position, so that tables that nobody changes cost next to nothing.
    fn whole_forth(&self, query: Query, aliases: &mut Aliases) -> Result<Query, Refusal> {
        self.steps.iter().try_fold(query, |query, step| whole_over(query, aliases, step.forward()))
    }

    /// A whole table of the last schema as a query over the first.
    fn whole_back(&self, query: Query, aliases: &mut Aliases) -> Result<Query, Refusal> {
        self.steps.iter().rev().try_fold(query, |query, step| whole_over(query, aliases, step.inverse()))
    }

    /// The position in the last schema of a table that no step changes.
    fn untouched(&self, table: usize) -> Option<usize> {
        self.steps.iter().try_fold(table, |at, step| step.forward().untouched(at))
    }

    /// A gold over the last schema, in the words that it had as far as they still mean it.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn rewrite(&self, gold: &str) -> Result<Rewritten, Refusal> {
        let (query, mut aliases) = resolve_with_aliases(gold, &self.first)
            .map_err(|error| Refusal { reason: EvolveReason::GoldUnresolved, detail: error.to_string() })?;
        let in_place = in_place::replace(gold, &query, &aliases, &self.first, self.renamed());
        let new = self.forth(&query, &mut aliases)?;
        let before = [gold, in_place.as_str()];
        let sql = text::choose(&before, &new, self.last(), &aliases).map_err(|error| unsayable(&error))?;
        Ok(Rewritten { sql, query: new })
    }

    /// A text over the last schema as one over the first.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn taken_back(&self, sql: &str) -> Result<String, Refusal> {
        let (query, mut aliases) = resolve_with_aliases(sql, self.last())
            .map_err(|error| Refusal { reason: EvolveReason::NotExpressible, detail: error.to_string() })?;
        let query = self.back(&query, &mut aliases)?;
        print(&query, &self.first, PrintDialect::Sqlite).map_err(|error| unsayable(&error))
    }

    /// The tables and columns that are the same but for their names.
    fn renamed(&self) -> &Renamed {
        self.renamed.get_or_init(|| {
            let mut renamed = Renamed::default();
            for (at, table) in self.first.tables().iter().enumerate() {
                if self.untouched(at).is_some() && table.kind == TableKind::Table {
                    renamed.tables.insert(at, table.name.clone());
                    let columns = table.columns.iter().map(|column| &column.name);
                    renamed
                        .columns
                        .extend(columns.map(|name| ((at, name.to_ascii_lowercase()), name.clone())));
                    continue;
                }
                for (position, column) in (0..).zip(&table.columns) {
                    if let Some((to, name)) = self.renamed_to(table, position) {
                        renamed.tables.insert(at, to);
                        renamed.columns.insert((at, column.name.to_ascii_lowercase()), name);
                    }
                }
            }
            renamed
        })
    }

    /// The table and column that a column of the first schema is in the last.
    fn renamed_to(&self, table: &Table, column: u32) -> Option<(String, String)> {
        let (query, _) = self.over_new(table, &[column]).ok()?;
        let select = query.as_select()?;
        let (Some(From::Relation(relation)), [output]) = (&select.from, select.outputs.as_slice()) else {
            return None;
        };
        let (RelationSource::Table(id), Expr::Column(target)) = (&relation.source, &output.expr) else {
            return None;
        };
        let table = self.last().table(*id)?;
        Some((table.name.clone(), table.at(target.column)?.name.clone()))
    }

    /// Every table of the first schema as a query over the last, with its name and columns; columns that are lost are
    /// left out, and so is a table that is.
    pub(crate) fn old_over_new(&self) -> Vec<View> {
        let tables = self.first.tables().iter().filter(|table| table.kind == TableKind::Table);
        tables.filter_map(|table| self.view(table)).collect()
    }

    fn view(&self, table: &Table) -> Option<View> {
        let is_untouched =
            self.first.table_id(&table.name).is_some_and(|id| self.untouched(id.index()).is_some());
        let positions: Vec<u32> = (0..)
            .zip(&table.columns)
            .filter(|(at, column)| !column.hidden && (is_untouched || self.over_new(table, &[*at]).is_ok()))
            .map(|(at, _)| at)
            .collect();
        let (query, aliases) = self.over_new(table, &positions).ok().filter(|_| !positions.is_empty())?;
        let columns = positions.iter().filter_map(|&at| Some(table.column(at)?.name.clone())).collect();
        let sql = |database| {
            let text = print_as_written(&query, self.last(), PrintDialect::Sqlite, &aliases, database);
            text.ok()
        };
        Some(View { name: table.name.clone(), columns, sql: sql(None)?, in_main: sql(Some("main"))? })
    }

    fn over_new(&self, table: &Table, columns: &[u32]) -> Result<(Query, Aliases), Refusal> {
        let (query, mut aliases) = whole(table, columns, &self.first)?;
        let query = self.whole_forth(query, &mut aliases)?;
        Ok((query, aliases))
    }

    /// Every table of the last schema as a query over the first: the migration.
    ///
    /// # Errors
    /// Why one is none.
    pub(crate) fn new_over_old(&self) -> Result<Vec<Migrated>, Refusal> {
        let tables = self.last().tables().iter().enumerate();
        let stored = tables.filter(|(_, table)| table.kind == TableKind::Table);
        stored.map(|(at, table)| self.migrated(at, table)).collect()
    }

    fn migrated(&self, at: usize, table: &Table) -> Result<Migrated, Refusal> {
        let columns: Vec<u32> =
            (0..).zip(&table.columns).filter(|(_, column)| !column.generated).map(|(at, _)| at).collect();
        let (query, mut aliases) = whole(table, &columns, self.last())?;
        let query = inlined(self.whole_back(query, &mut aliases)?);
        let sql = text::brief(&query, &self.first, &aliases).map_err(|error| unsayable(&error))?;
        Ok(Migrated { table: at, columns, query, sql })
    }

    /// The tables of the last schema that took the place of one of the first.
    pub(crate) fn image_of(&self, table: usize) -> HashSet<usize> {
        if let Some(to) = self.untouched(table) {
            return HashSet::from([to]);
        }
        let first = &self.first.tables()[table];
        let of = |at: u32| {
            let (query, _) = self.over_new(first, &[at]).ok()?;
            Some(crate::source::read_by_query(&query, self.last()).tables)
        };
        (0..).take(first.columns.len()).filter_map(of).flatten().collect()
    }
}

/// The columns of all tables.
fn columns(schema: &Schema) -> usize {
    schema.tables().iter().map(|table| table.columns.len()).sum()
}

/// A query of all rows of one relation, a step on.
fn whole_over(mut query: Query, aliases: &mut Aliases, way: Way<'_>) -> Result<Query, Refusal> {
    match moved(&mut query, way) {
        Some(()) => Ok(query),
        None => rewrite(&query, aliases, way),
    }
}

/// Puts the new position of an untouched table into a query of its rows alone.
fn moved(query: &mut Query, way: Way<'_>) -> Option<()> {
    use sqlgauge_sql::tree::Body;
    let Body::Select(select) = &mut query.body else { return None };
    let is_plain = |output: &Output| matches!(output.expr, Expr::Column(_));
    let Some(From::Relation(relation)) = &mut select.from else { return None };
    let RelationSource::Table(id) = &mut relation.source else { return None };
    if select.filter.is_some() || !select.outputs.iter().all(is_plain) || relation.hint.is_some() {
        return None;
    }
    *id = way.new.id_at(way.untouched(id.index())?)?;
    Some(())
}

/// An old table over the new schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) sql: String,
    /// The same with the name of the database before every table, which the views hide.
    in_main: String,
}

impl View {
    /// The statement that creates it, next to those of the tables.
    pub(crate) fn statement(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        format!("CREATE TEMP VIEW {} ({}) AS {};\n", quoted(&self.name), columns.join(", "), self.in_main)
    }
}

/// A new table over the old schema.
#[derive(Debug, Clone)]
pub(crate) struct Migrated {
    /// Position in the last schema.
    pub(crate) table: usize,
    /// The columns that the query gives: all that are not computed.
    pub(crate) columns: Vec<u32>,
    pub(crate) query: Query,
    pub(crate) sql: String,
}

fn unsayable(error: &PrintError) -> Refusal {
    Refusal { reason: EvolveReason::NotExpressible, detail: error.to_string() }
}

/// `SELECT … FROM table`.
fn whole(table: &Table, columns: &[u32], schema: &Schema) -> Result<(Query, Aliases), Refusal> {
    let names: Vec<String> =
        columns.iter().filter_map(|&at| table.column(at)).map(|column| quoted(&column.name)).collect();
    let text = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
    resolve_with_aliases(&text, schema)
        .map_err(|error| Refusal { reason: EvolveReason::NotExpressible, detail: error.to_string() })
}

/// `SELECT a, b FROM (query)` as the query itself.
fn inlined(mut query: Query) -> Query {
    use sqlgauge_sql::tree::Body;
    let Body::Select(select) = &mut query.body else { return query };
    let is_plain = select.filter.is_none() && !select.distinct && query.order_by.is_empty();
    let Some(From::Relation(relation)) = &mut select.from else { return query };
    let id = relation.id;
    let RelationSource::Derived(inner) = &mut relation.source else { return query };
    let places: Option<Vec<usize>> = select
        .outputs
        .iter()
        .map(|output| match &output.expr {
            Expr::Column(column) if column.relation == id => column.column.position().map(|at| at as usize),
            _ => None,
        })
        .collect();
    let (Some(places), Body::Select(derived), true) = (places, &mut inner.body, is_plain) else {
        return query;
    };
    if derived.distinct && places.len() != derived.outputs.len() {
        return query;
    }
    let null = || Output::of(Expr::Literal(Literal::Null));
    derived.outputs =
        places.iter().map(|&at| derived.outputs.get(at).cloned().unwrap_or_else(null)).collect();

    std::mem::replace(&mut **inner, Query::of(Body::Values(Vec::new())))
}

/// The query over a first schema whose database is attached as `original`. Every relation has a name of its own.
pub(crate) fn in_original(query: &Query, schema: &Schema) -> String {
    let numbered = sqlgauge_sql::reads::relations(query);
    let aliases: Aliases = numbered.into_iter().map(|id| (id, format!("r{}", id.0))).collect();
    print_as_written(query, schema, PrintDialect::Sqlite, &aliases, Some("original")).unwrap_or_default()
}
