//! The operators: each makes of a schema and a change the tables of the new schema and both sides of the mapping.

mod columns;
mod merge_tables;
mod split_table;
mod tables;

use sqlgauge_sql::schema::{Action, ForeignKey, Schema, Table};
use sqlgauge_sql::tree::Expr;
use sqlgauge_sql::visit::rewrite_expr;
use sqlgauge_sql::{Numbering, resolve};

use crate::change::Change;
use crate::step::{ChangeError, Image, Projection, ROW, Side};

/// A step whose views, CHECKs, generated columns and expressions of indexes still have their old texts.
pub(crate) struct Draft {
    pub(crate) tables: Vec<Table>,
    pub(crate) forth: Side,
    pub(crate) back: Side,
    pub(crate) left_out: Vec<String>,
}

impl Draft {
    fn identity(old: &Schema) -> Self {
        let tables = old.tables().to_vec();
        let images = || tables.iter().enumerate().map(|(at, table)| identity(at, table)).collect();
        let (forth, back) = (images(), images());
        Self {
            tables,
            forth: Side { images: forth, merged: None },
            back: Side { images: back, merged: None },
            left_out: Vec::new(),
        }
    }

    /// Takes a table away, whose image is already another one.
    fn remove(&mut self, table: usize) {
        self.tables.remove(table);
        self.back.images.remove(table);
        let shift = |to: &mut usize| *to -= usize::from(*to > table);
        for image in &mut self.forth.images {
            match image {
                Image::Table(projection) | Image::Distinct { projection, .. } => shift(&mut projection.to),
                Image::Fragments { fragments, .. } => {
                    fragments.iter_mut().for_each(|part| shift(&mut part.to));
                }
                Image::Query(_) | Image::Gone => {}
            }
        }
        if let Some(merged) = &mut self.forth.merged {
            shift(&mut merged.child.1.to);
            shift(&mut merged.parent.1.to);
        }
    }

    fn is_free(&self, name: &str) -> Result<(), ChangeError> {
        let exists = self.tables.iter().any(|table| table.name.eq_ignore_ascii_case(name));
        let is_reserved = name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
        if exists || is_reserved || name.is_empty() {
            Err(ChangeError::Taken(name.to_owned()))
        } else {
            Ok(())
        }
    }
}

fn identity(at: usize, table: &Table) -> Image {
    Image::Table(Projection::identity(at, table.columns.len()))
}

pub(crate) fn draft(old: &Schema, change: &Change) -> Result<Draft, ChangeError> {
    match change {
        Change::RenameColumn { table, column, to } => columns::rename(old, table, column, to),
        Change::AddColumn { table, column, at, value } => columns::add(old, table, column, *at, value),
        Change::DropColumn { table, column } => columns::drop(old, table, column),
        Change::SplitColumn { table, column, parts, whole } => {
            columns::split(old, table, column, parts, whole)
        }
        Change::MergeColumns { table, whole, columns } => columns::merge(old, table, whole, columns),
        Change::RenameTable { table, to } => tables::rename(old, table, to),
        Change::AddTable { ddl, rows } => tables::add(old, ddl, rows.as_deref()),
        Change::DropTable { table } => tables::drop(old, table),
        Change::SplitTable { table, fragments } => split_table::split(old, table, fragments),
        Change::MergeTables { child, key, parent, to, renamed, shape } => {
            merge_tables::merge(old, (child, key), parent, to, renamed, *shape)
        }
    }
}

/// An expression over one row of a table, as one over [`ROW`].
fn over_row(text: &str, schema: &Schema, table: usize) -> Result<Expr, ChangeError> {
    let unreadable = |message: String| ChangeError::Unreadable { text: text.to_owned(), message };
    let name = sqlgauge_sql::PrintDialect::Sqlite.identifier(&schema.tables()[table].name);
    let query = resolve(&format!("SELECT ({text}\n) FROM {name}"), schema)
        .map_err(|error| unreadable(error.to_string()))?;
    let select = query.as_select().ok_or_else(|| unreadable("it is no expression".to_owned()))?;
    let relation = select.from.iter().flat_map(sqlgauge_sql::tree::From::relations).map(|r| r.id).next();
    match (select.outputs.as_slice(), relation) {
        ([only], Some(relation)) if !sqlgauge_sql::aggregates::has_own(&only.expr) => {
            let mut expr = only.expr.clone();
            if relation != ROW {
                let relations = [(relation, ROW)].into();
                rewrite_expr(&mut Numbering { relations, ..Numbering::default() }, &mut expr);
            }
            Ok(expr)
        }
        _ => Err(unreadable("it is not an expression over one row".to_owned())),
    }
}

/// Gives a table other columns; `place` says where each old column is now. Constraints over a column that is not there any
/// more go, and are named in `left_out`.
fn relocate(
    table: &Table,
    columns: Vec<sqlgauge_sql::schema::Column>,
    place: &[Option<u32>],
    left_out: &mut Vec<String>,
) -> Table {
    let moved = |positions: &[u32]| {
        positions.iter().map(|&at| place.get(at as usize).copied().flatten()).collect::<Option<Vec<u32>>>()
    };
    let mut new = table.clone();
    let mut lost = |what: String| left_out.push(format!("{what} of {}", table.name));
    new.primary_key = moved(&table.primary_key).unwrap_or_else(|| {
        lost(format!("PRIMARY KEY ({})", table.names(&table.primary_key)));
        Vec::new()
    });
    new.unique = table.unique.iter().filter_map(|key| moved(key)).collect();
    new.foreign_keys.clear();
    for key in &table.foreign_keys {
        match moved(&key.columns) {
            Some(columns) => {
                new.foreign_keys.push(ForeignKey { columns, ..key.clone() });
            }
            None => lost(format!("FOREIGN KEY {}", key.describe(table))),
        }
    }
    new.indexes.clear();
    for index in &table.indexes {
        match relocate_index(index, place) {
            Some(index) => new.indexes.push(index),
            None => lost(index.name.as_ref().map_or("UNIQUE".to_owned(), |name| format!("index {name}"))),
        }
    }
    if new.primary_key.is_empty() {
        (new.key_apart_from_rowid, new.key_is_finer) = (false, false);
        (new.without_rowid, new.autoincrement) = (false, false);
        if table.autoincrement {
            lost("AUTOINCREMENT".to_owned());
        }
    }
    new.columns = columns;
    new
}

fn relocate_index(
    index: &sqlgauge_sql::schema::Index,
    place: &[Option<u32>],
) -> Option<sqlgauge_sql::schema::Index> {
    use sqlgauge_sql::schema::Indexed;
    let mut new = index.clone();
    for part in &mut new.parts {
        if let Indexed::Column(at) = &mut part.of {
            *at = place.get(*at as usize).copied().flatten()?;
        }
    }
    Some(new)
}

/// What a foreign key does when rows that it refers to are deleted or change.
#[derive(Clone, Copy)]
enum Event {
    Delete,
    Update,
}

impl Event {
    fn action(self, key: &mut ForeignKey) -> &mut Action {
        match self {
            Self::Delete => &mut key.on_delete,
            Self::Update => &mut key.on_update,
        }
    }

    /// Names the action as what the new schema could not keep. Doing nothing is not named.
    fn name(self, action: Action, described: &str, left_out: &mut Vec<String>) {
        let event = match self {
            Self::Delete => "DELETE",
            Self::Update => "UPDATE",
        };
        if action != Action::NoAction {
            left_out.push(format!("ON {event} {} of FOREIGN KEY {described}", action.sql()));
        }
    }

    /// The key loses the action, which is named. `described` is the key as it was.
    fn forgo(self, key: &mut ForeignKey, described: &str, left_out: &mut Vec<String>) {
        self.name(std::mem::take(self.action(key)), described, left_out);
    }
}

/// Names in foreign keys follow: those that refer to `table` refer to `to`, with columns renamed by `name`, where `None`
/// takes the foreign key away.
fn refer(draft: &mut Draft, table: &str, to: &str, key: &[String], name: impl Fn(&str) -> Option<String>) {
    for child in &mut draft.tables {
        let described: Vec<String> =
            child.foreign_keys.iter().map(|foreign| foreign.describe(child)).collect();
        let mut described = described.into_iter();
        let child_name = child.name.clone();
        child.foreign_keys.retain_mut(|foreign| {
            let text = described.next().unwrap_or_default();
            if !foreign.referenced_table.eq_ignore_ascii_case(table) {
                return true;
            }
            let is_implicit = foreign.referenced_columns.is_empty();
            let columns = if is_implicit { key.to_vec() } else { foreign.referenced_columns.clone() };
            let Some(renamed) = columns.iter().map(|column| name(column)).collect::<Option<Vec<_>>>() else {
                draft.left_out.push(format!("FOREIGN KEY {text} of {child_name}"));
                return false;
            };
            to.clone_into(&mut foreign.referenced_table);
            if !is_implicit {
                foreign.referenced_columns = renamed;
            }
            true
        });
    }
}

/// The names of the columns of a table's primary key.
fn key_names(table: &Table) -> Vec<String> {
    table.primary_key.iter().filter_map(|&at| Some(table.column(at)?.name.clone())).collect()
}
