//! The resolved query: a small, closed tree in which every name is resolved.
//!
//! Every table instance has its own [`RelationId`]; a column reference is (relation, column position).
//! Aliases, letter case, quoting, `*`, USING, NATURAL and references to select aliases are gone. A reference is
//! correlated when its relation belongs to an outer query.

mod expr;
mod from;
mod literal;
mod window;

pub use expr::{Aggregate, Args, BinaryOperator, Expr, LikeOperator, Owner, UnaryOperator};
pub use from::{
    ColumnRef, CteId, From, IndexHint, Join, JoinKind, Place, Relation, RelationId, RelationSource, TableId,
};
pub use literal::{Literal, Real};
pub(crate) use literal::{negative_number, number};
pub use window::{Frame, FrameBound, FrameExclude, FrameMode, Window, WindowCall};

/// A query: a SELECT, a compound of SELECTs, or VALUES, with its ordering and limit.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// The CTEs that this query declares and uses, each after those that it refers to (itself excepted).
    pub ctes: Vec<Cte>,
    /// What produces the rows.
    pub body: Body,
    /// ORDER BY; empty for none.
    pub order_by: Vec<OrderTerm>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
}

impl Query {
    /// A query of that body alone.
    pub fn of(body: Body) -> Self {
        Self { ctes: Vec::new(), body, order_by: Vec::new(), limit: None, offset: None }
    }

    /// A query of that SELECT alone.
    pub fn of_select(select: Select) -> Self {
        Self::of(Body::Select(Box::new(select)))
    }

    /// The outputs of the query: of its first SELECT where it is a compound; `None` for VALUES.
    pub fn outputs(&self) -> Option<&[Output]> {
        self.body.first_select().map(|select| select.outputs.as_slice())
    }

    /// The number of columns that the query returns.
    pub fn width(&self) -> usize {
        self.body.width()
    }

    /// The SELECT, if the query is no compound and no VALUES.
    pub fn as_select(&self) -> Option<&Select> {
        match &self.body {
            Body::Select(select) => Some(select),
            Body::SetOperation { .. } | Body::Values(_) => None,
        }
    }

    /// The SELECT, for changes; `None` for a compound or VALUES.
    pub fn as_select_mut(&mut self) -> Option<&mut Select> {
        match &mut self.body {
            Body::Select(select) => Some(select),
            Body::SetOperation { .. } | Body::Values(_) => None,
        }
    }
}

/// One common table expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cte {
    /// Its identity; [`RelationSource::Cte`] refers to it.
    pub id: CteId,
    /// The name that it was given.
    pub name: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// `AS MATERIALIZED` (true), `AS NOT MATERIALIZED` (false) or neither.
    pub materialized: Option<bool>,
    /// Its query. It is recursive if a relation in it has this CTE as source.
    pub query: Query,
}

/// What produces the rows of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// A SELECT.
    Select(Box<Select>),
    /// A compound. SQLite's compounds are left-associative without precedence, so `right` is a SELECT or VALUES
    /// unless a rewrite put a compound there.
    SetOperation {
        /// UNION, INTERSECT or EXCEPT.
        operator: SetOperator,
        /// UNION ALL; false for the others.
        all: bool,
        /// Left operand.
        left: Box<Body>,
        /// Right operand.
        right: Box<Body>,
    },
    /// VALUES rows, all of one width.
    Values(Vec<Vec<Expr>>),
}

impl Body {
    /// The leftmost SELECT, whose outputs name the result; `None` if that is VALUES.
    pub fn first_select(&self) -> Option<&Select> {
        match self {
            Self::Select(select) => Some(select),
            Self::SetOperation { left, .. } => left.first_select(),
            Self::Values(_) => None,
        }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        match self {
            Self::Select(select) => select.outputs.len(),
            Self::SetOperation { left, .. } => left.width(),
            Self::Values(rows) => rows.first().map_or(0, Vec::len),
        }
    }
}

/// A set operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SetOperator {
    /// UNION and UNION ALL.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// A single SELECT.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Select {
    /// SELECT DISTINCT.
    pub distinct: bool,
    /// FROM; `None` without one.
    pub from: Option<From>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY; aliases and ordinals are replaced by what they stand for.
    pub group_by: Vec<Expr>,
    /// HAVING.
    pub having: Option<Expr>,
    /// The result columns, `*` expanded.
    pub outputs: Vec<Output>,
}

impl Select {
    /// A SELECT of nothing but those result columns.
    pub fn of(outputs: Vec<Output>) -> Self {
        Self { distinct: false, from: None, filter: None, group_by: Vec::new(), having: None, outputs }
    }
}

/// One result column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its value.
    pub expr: Expr,
    /// The alias that the text gave; it never matters for the rows.
    pub alias: Option<String>,
}

impl Output {
    /// A result column without an alias.
    pub fn of(expr: Expr) -> Self {
        Self { expr, alias: None }
    }
}

/// A term of ORDER BY.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderTerm {
    /// What is sorted by. In a compound query always an [`Expr::Output`], perhaps inside a COLLATE.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST (true) or NULLS LAST (false) where it differs from SQLite's default for the direction.
    pub nulls_first: Option<bool>,
}
