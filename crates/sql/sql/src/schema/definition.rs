//! What the definitions of a schema say once they are resolved.

use std::sync::OnceLock;

use super::fact::ColumnFacts;
use crate::tree::{Expr, Query, RelationId, TableId};

/// What the definitions of one table or view say.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// The query of a view.
    pub view: Option<Query>,
    /// The CHECK constraints, over [`Definition::ROW`].
    pub checks: Vec<Expr>,
    /// The generated columns with their expressions, over [`Definition::ROW`].
    pub generated: Vec<(u32, Expr)>,
    /// The expressions and the WHERE of indexes, over [`Definition::ROW`], by the position of the index.
    pub indexes: Vec<(usize, Expr)>,
    /// The tables and views that the query of the view reads.
    pub(crate) reads: Vec<TableId>,
    pub(crate) facts: OnceLock<ViewFacts>,
}

impl Definition {
    /// The relation whose columns the expressions read: the row of the table.
    pub const ROW: RelationId = RelationId(0);
}

/// What follows from the query of a view.
#[derive(Debug, Clone)]
pub(crate) struct ViewFacts {
    pub columns: Vec<ColumnFacts>,
    pub keys: Vec<Vec<u32>>,
}
