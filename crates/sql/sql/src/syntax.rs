//! The syntax of a query and of a declaration, as every parser supplies it and the resolver reads it.
//!
//! Nothing in it says which parser made it: names come without their quotes, types and constants as their text, and
//! each expression with a way to write it as its text has it. A second dialect is a second parser to this tree.
//!
//! The tree is borrowed from the arena of its text: nothing of it owns memory, so that a tree of
//! any depth goes at once.

use std::fmt;

use crate::quote::Quote;
use crate::schema::Action;
use crate::tree::{
    BinaryOperator, FrameExclude, FrameMode, JoinKind, LikeOperator, SetOperator, UnaryOperator,
};

/// A piece of the text as it is written there, white space aside.
pub(crate) type Text<'a> = &'a dyn fmt::Display;

/// An identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// Without its quotes.
    pub text: &'a str,
    pub quote: Quote,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// The name of a table, perhaps with that of its database.
#[derive(Clone, Copy)]
pub(crate) struct TableName<'a> {
    pub database: Option<Name<'a>>,
    pub name: Name<'a>,
}

/// A whole query.
pub(crate) struct Select<'a> {
    pub with: Option<&'a [CommonTable<'a>]>,
    pub first: Operand<'a>,
    pub rest: &'a [Compound<'a>],
    pub order_by: Option<&'a [SortTerm<'a>]>,
    pub limit: Option<Limit<'a>>,
}

/// A definition in a WITH clause.
pub(crate) struct CommonTable<'a> {
    pub name: Name<'a>,
    pub columns: Option<&'a [Name<'a>]>,
    /// MATERIALIZED (true) and NOT MATERIALIZED (false).
    pub materialized: Option<bool>,
    pub query: &'a Select<'a>,
}

/// A further operand of a compound.
pub(crate) struct Compound<'a> {
    pub operator: SetOperator,
    pub all: bool,
    pub operand: Operand<'a>,
}

/// LIMIT and OFFSET.
pub(crate) struct Limit<'a> {
    pub limit: Expr<'a>,
    pub offset: Option<Expr<'a>>,
}

/// An operand of a compound, or the only one.
pub(crate) enum Operand<'a> {
    Select(&'a Core<'a>),
    Values(&'a [&'a [Expr<'a>]]),
}

/// SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW.
pub(crate) struct Core<'a> {
    pub distinct: bool,
    pub outputs: &'a [ResultColumn<'a>],
    pub from: Option<FromClause<'a>>,
    pub filter: Option<Expr<'a>>,
    pub group_by: Option<&'a [Expr<'a>]>,
    pub having: Option<Expr<'a>>,
    pub windows: &'a [NamedWindow<'a>],
}

/// A result column.
pub(crate) enum ResultColumn<'a> {
    Expr(Expr<'a>, Option<Name<'a>>),
    Star,
    TableStar(Name<'a>),
}

/// FROM and what stands in its parentheses.
pub(crate) struct FromClause<'a> {
    pub first: Option<&'a TableExpr<'a>>,
    pub joins: &'a [Join<'a>],
}

/// A join with all that stands left of it.
pub(crate) struct Join<'a> {
    pub kind: JoinKind,
    pub natural: bool,
    pub table: TableExpr<'a>,
    pub constraint: Option<JoinConstraint<'a>>,
}

/// By what a join pairs rows.
pub(crate) enum JoinConstraint<'a> {
    On(Expr<'a>),
    Using(&'a [Name<'a>]),
}

/// What stands in FROM.
pub(crate) enum TableExpr<'a> {
    Table { name: TableName<'a>, alias: Option<Name<'a>>, hint: Option<IndexHint<'a>> },
    Call { name: TableName<'a>, args: Option<&'a [Expr<'a>]>, alias: Option<Name<'a>> },
    Query(&'a Select<'a>, Option<Name<'a>>),
    Parenthesised(FromClause<'a>, Option<Name<'a>>),
}

impl<'a> TableExpr<'a> {
    /// The alias that the text gives to it.
    pub(crate) fn alias(&self) -> Option<&'a str> {
        let (Self::Table { alias, .. }
        | Self::Call { alias, .. }
        | Self::Query(_, alias)
        | Self::Parenthesised(_, alias)) = self;
        alias.map(|alias| alias.text)
    }
}

/// Which index a table is to be read by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IndexHint<'a> {
    By(Name<'a>),
    None,
}

/// A term of ORDER BY, or a part of an index.
pub(crate) struct SortTerm<'a> {
    pub expr: Expr<'a>,
    pub descending: bool,
    pub nulls_first: Option<bool>,
}

/// A definition in a WINDOW clause.
pub(crate) struct NamedWindow<'a> {
    pub name: Name<'a>,
    pub window: Window<'a>,
}

/// A window.
pub(crate) struct Window<'a> {
    pub base: Option<Name<'a>>,
    pub partition_by: Option<&'a [Expr<'a>]>,
    pub order_by: Option<&'a [SortTerm<'a>]>,
    pub frame: Option<Frame<'a>>,
}

/// The frame of a window.
pub(crate) struct Frame<'a> {
    pub mode: FrameMode,
    pub start: FrameBound<'a>,
    pub end: Option<FrameBound<'a>>,
    pub exclude: Option<FrameExclude>,
}

/// One end of a frame.
pub(crate) enum FrameBound<'a> {
    CurrentRow,
    Following(Expr<'a>),
    Preceding(Expr<'a>),
    UnboundedFollowing,
    UnboundedPreceding,
}

/// OVER.
pub(crate) enum Over<'a> {
    Window(&'a Window<'a>),
    Name(Name<'a>),
}

/// An expression.
pub(crate) struct Expr<'a> {
    pub kind: ExprKind<'a>,
    pub text: Text<'a>,
    /// How deep the tree is that is behind the text: as many calls of itself it takes to write it.
    pub depth: usize,
}

/// What an expression is.
pub(crate) enum ExprKind<'a> {
    Column(Name<'a>),
    Qualified(Name<'a>, Name<'a>),
    /// Database, table, column.
    DoublyQualified(&'a [Name<'a>; 3]),
    Literal(Literal<'a>),
    Parenthesised(&'a [Expr<'a>]),
    Unary(UnaryOperator, &'a Expr<'a>),
    Binary(&'a Expr<'a>, BinaryOperator, &'a Expr<'a>),
    Connective(&'a Expr<'a>, Connective, &'a Expr<'a>),
    Between(&'a Between<'a>),
    Like(&'a Like<'a>),
    InList {
        expr: &'a Expr<'a>,
        list: &'a [Expr<'a>],
        negated: bool,
    },
    InQuery {
        expr: &'a Expr<'a>,
        query: &'a Select<'a>,
        negated: bool,
    },
    InTable(&'a InTable<'a>),
    Exists(&'a Select<'a>),
    Scalar(&'a Select<'a>),
    Case(&'a Case<'a>),
    Cast {
        expr: &'a Expr<'a>,
        type_name: &'a str,
    },
    Collate(&'a Expr<'a>, Name<'a>),
    IsNull {
        expr: &'a Expr<'a>,
        negated: bool,
    },
    Call(&'a Call<'a>),
    Raise,
    Parameter(&'a str),
}

/// AND and OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connective {
    And,
    Or,
}

/// A constant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Literal<'a> {
    Null,
    /// As written.
    Number(&'a str),
    /// Without its quotes.
    String(&'a str),
    /// As written: `x'…'` or its digits.
    Blob(&'a str),
    Keyword(&'a str),
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
}

/// BETWEEN.
pub(crate) struct Between<'a> {
    pub expr: Expr<'a>,
    pub low: Expr<'a>,
    pub high: Expr<'a>,
    pub negated: bool,
}

/// LIKE, GLOB, MATCH, REGEXP.
pub(crate) struct Like<'a> {
    pub operator: LikeOperator,
    pub expr: Expr<'a>,
    pub pattern: Expr<'a>,
    pub escape: Option<Expr<'a>>,
    pub negated: bool,
}

/// `x IN t` and `x IN f(…)`.
pub(crate) struct InTable<'a> {
    pub expr: Expr<'a>,
    pub table: TableName<'a>,
    pub is_call: bool,
    pub negated: bool,
}

/// CASE.
pub(crate) struct Case<'a> {
    pub operand: Option<Expr<'a>>,
    pub branches: &'a [(Expr<'a>, Expr<'a>)],
    pub otherwise: Option<Expr<'a>>,
}

/// A call of a function.
pub(crate) struct Call<'a> {
    pub name: Name<'a>,
    /// `None` is `*`.
    pub args: Option<&'a [Expr<'a>]>,
    pub distinct: bool,
    pub order_by: &'a [SortTerm<'a>],
    pub filter: Option<Expr<'a>>,
    pub over: Option<Over<'a>>,
}

/// What a statement of a script declares.
pub(crate) enum Declaration<'a> {
    Table {
        name: Name<'a>,
        /// `None` where a query makes them.
        body: Option<TableBody<'a>>,
    },
    View {
        name: Name<'a>,
        columns: Option<&'a [Name<'a>]>,
        query: Text<'a>,
    },
    Index {
        name: Name<'a>,
        table: Name<'a>,
        unique: bool,
        parts: &'a [SortTerm<'a>],
        filter: Option<Text<'a>>,
    },
    Virtual {
        name: Name<'a>,
        module: Name<'a>,
    },
    /// DROP TABLE and DROP VIEW.
    Drop(Name<'a>),
    Alter(Name<'a>),
    /// Whatever else: nothing that a schema has.
    Other,
}

/// Columns and constraints of a table.
pub(crate) struct TableBody<'a> {
    pub columns: &'a [ColumnDefinition<'a>],
    pub constraints: &'a [TableConstraint<'a>],
    pub without_rowid: bool,
    pub strict: bool,
}

/// A column of a table.
pub(crate) struct ColumnDefinition<'a> {
    pub name: Name<'a>,
    pub type_name: Option<&'a str>,
    pub constraints: &'a [ColumnConstraint<'a>],
}

/// A constraint that stands at its column.
pub(crate) enum ColumnConstraint<'a> {
    PrimaryKey {
        descending: bool,
        autoincrement: bool,
    },
    /// NOT NULL (true) and NULL (false).
    NotNull(bool),
    Unique,
    Check(Text<'a>),
    Default(Text<'a>),
    Collate(Name<'a>),
    ForeignKey(Reference<'a>),
    Generated(Text<'a>),
    /// DEFERRABLE of the last foreign key; whether INITIALLY DEFERRED.
    Defer(bool),
}

/// A constraint behind the columns.
pub(crate) enum TableConstraint<'a> {
    PrimaryKey { columns: &'a [SortTerm<'a>], autoincrement: bool },
    Unique(&'a [SortTerm<'a>]),
    Check(Text<'a>),
    ForeignKey { columns: &'a [Name<'a>], reference: Reference<'a> },
}

/// REFERENCES.
pub(crate) struct Reference<'a> {
    pub table: Name<'a>,
    pub columns: &'a [Name<'a>],
    pub on_delete: Action,
    pub on_update: Action,
    pub deferred: bool,
}
