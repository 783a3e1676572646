//! One change as a mapping between two schemas.
//!
//! # Contract
//! A [`Step`] says of every table of the old schema what took its place in the new one ([`Image`]), and of every table of
//! the new schema what it is made of. With the values of the old database, the image of a table has the table's rows:
//! that is the law by which data are migrated, golds rewritten, and both checked.

use std::sync::Arc;

use sqlgauge_sql::schema::{Schema, TableKind};
use sqlgauge_sql::tree::{ColumnRef, Expr, Query, RelationId};

use crate::change::Change;
use crate::definitions;
use crate::operators;

/// The relation that stands for the row of a table in an [`Image`].
pub(crate) const ROW: RelationId = RelationId(0);

/// A change between two schemas. Steps that follow each other share the schema between them.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) old: Arc<Schema>,
    pub(crate) new: Arc<Schema>,
    /// For each old table what took its place.
    pub(crate) forth: Side,
    /// For each new table what it is made of.
    pub(crate) back: Side,
    /// What the new schema could not keep, by name.
    pub(crate) left_out: Vec<String>,
}

/// A step in one of its directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) old: &'a Schema,
    pub(crate) new: &'a Schema,
    pub(crate) forth: &'a Side,
}

/// The tables of one schema over those of the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Side {
    pub(crate) images: Vec<Image>,
    /// The two tables that became one.
    pub(crate) merged: Option<Merged>,
}

/// What took the place of a table.
#[derive(Debug, Clone)]
pub(crate) enum Image {
    Table(Projection),
    /// The rows of several tables with the same key; every row is in each of them.
    Fragments {
        /// Positions of the key in the old table.
        key: Vec<u32>,
        /// Columns that a fragment does not have are `None`; all have the key.
        fragments: Vec<Projection>,
    },
    /// The different rows of a part of a table; the key tells them apart.
    Distinct {
        /// Positions of the key in the old table.
        key: Vec<u32>,
        projection: Projection,
    },
    /// The rows of a query over the other schema, of as many columns.
    Query(Query),
    /// Nothing.
    Gone,
}

/// A table as a part of another.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    /// Position of the other table in its schema.
    pub(crate) to: usize,
    /// Each column over [`ROW`] of the other table; `None` for what is not there.
    pub(crate) columns: Vec<Option<Expr>>,
    /// A column of the other table that is NULL in rows that are none of this table.
    pub(crate) present: Option<u32>,
}

/// Two tables that a foreign key links and that became one.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    /// The table with the foreign key.
    pub(crate) child: (usize, Projection),
    /// The table that it refers to.
    pub(crate) parent: (usize, Projection),
    /// Columns of the foreign key with those that they refer to.
    pub(crate) key: Vec<(u32, u32)>,
}

impl Projection {
    /// A part of a table without conditions.
    pub(crate) fn new(to: usize, columns: Vec<Option<Expr>>) -> Self {
        Self { to, columns, present: None }
    }

    /// The first columns of a table as they are.
    pub(crate) fn identity(to: usize, columns: usize) -> Self {
        Self::new(to, (0..).take(columns).map(|at| Some(column(at))).collect())
    }

    /// The position of the column that stands for a column, if it is one.
    pub(crate) fn plain(&self, at: u32) -> Option<u32> {
        match self.columns.get(at as usize)?.as_ref()? {
            Expr::Column(column) => column.column.position(),
            _ => None,
        }
    }
}

/// A column of [`ROW`].
pub(crate) fn column(at: u32) -> Expr {
    Expr::Column(ColumnRef::at(ROW, at))
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    #[error("unknown table {0:?}; name one of the schema that the change is applied to")]
    NoTable(String),
    #[error(
        "the table {table:?} has no column {column:?}; name one of the schema that the change is applied to"
    )]
    NoColumn {
        table: String,
        /// The name that it does not have.
        column: String,
    },
    #[error("the name {0:?} is taken; choose another")]
    Taken(String),
    /// Too many changes for a schema of so many columns.
    #[error(
        "a schema of {columns} columns takes at most {most} changes; change fewer things, or leave out tables that no query reads"
    )]
    TooMany {
        columns: usize,
        /// How many changes it takes.
        most: usize,
    },
    /// The operator cannot be applied to this.
    #[error("{0}")]
    NotApplicable(String),
    /// An expression or statement of the change is not SQL over the table.
    #[error("{text:?} cannot be read: {message}")]
    Unreadable { text: String, message: String },
}

impl Step {
    /// The change on that schema.
    ///
    /// # Errors
    /// [`ChangeError`], which names what does not fit.
    pub(crate) fn new(old: &Arc<Schema>, change: &Change) -> Result<Self, ChangeError> {
        operators::draft(old, change).map(|draft| definitions::follow(old, draft))
    }

    /// From the old schema to the new one.
    pub(crate) fn forward(&self) -> Way<'_> {
        Way { old: &self.old, new: &self.new, forth: &self.forth }
    }

    /// The change the other way round.
    pub(crate) fn inverse(&self) -> Way<'_> {
        Way { old: &self.new, new: &self.old, forth: &self.back }
    }
}

impl Way<'_> {
    /// The position of a table that is on the other side what it is here: the same columns under the same names.
    pub(crate) fn untouched(&self, at: usize) -> Option<usize> {
        let Image::Table(projection) = self.forth.images.get(at)? else { return None };
        let is_merged =
            self.forth.merged.as_ref().is_some_and(|merged| merged.child.0 == at || merged.parent.0 == at);
        let (old, new) = (self.old.tables().get(at)?, self.new.tables().get(projection.to)?);
        let is_same = !is_merged
            && projection.present.is_none()
            && old.name == new.name
            && old.columns.len() == new.columns.len()
            && (0..).zip(old.columns.iter().zip(&new.columns)).all(|(at, (column, other))| {
                column.name == other.name && column.hidden == other.hidden && projection.plain(at) == Some(at)
            });
        is_same.then_some(projection.to)
    }

    /// The names of columns that a table has on one side only, in lower case; `None` where its rows are not those of one
    /// table of its name.
    pub(crate) fn changed_names(&self, at: usize) -> Option<(usize, Vec<String>)> {
        let Image::Table(projection) = self.forth.images.get(at)? else { return None };
        let (old, new) = (self.old.tables().get(at)?, self.new.tables().get(projection.to)?);
        if projection.present.is_some() || old.name != new.name {
            return None;
        }
        let mut stays = vec![false; new.columns.len()];
        let mut changed = Vec::new();
        for (at, column) in (0..).zip(&old.columns) {
            let to =
                projection.plain(at).filter(|&to| new.column(to).is_some_and(|new| new.name == column.name));
            match to.and_then(|to| stays.get_mut(to as usize)) {
                Some(stays) => *stays = true,
                None => changed.push(column.name.to_ascii_lowercase()),
            }
        }
        let added = new.columns.iter().zip(stays).filter(|(_, stays)| !stays);
        changed.extend(added.map(|(column, _)| column.name.to_ascii_lowercase()));
        Some((projection.to, changed))
    }
}

/// The position of a table that can be changed.
pub(crate) fn table_at(schema: &Schema, name: &str) -> Result<usize, ChangeError> {
    let id = schema.table_id(name).ok_or_else(|| ChangeError::NoTable(name.to_owned()))?;
    match schema.table(id).map(|table| table.kind) {
        Some(TableKind::Table) => Ok(id.index()),
        _ => Err(ChangeError::NotApplicable(format!("{name:?} is a view or a virtual table; name a table"))),
    }
}

/// The position of a column.
pub(crate) fn column_at(schema: &Schema, table: usize, name: &str) -> Result<u32, ChangeError> {
    let table = &schema.tables()[table];
    table
        .column_index(name)
        .ok_or_else(|| ChangeError::NoColumn { table: table.name.clone(), column: name.to_owned() })
}
