//! The resolved query: a small, closed tree in which every name is resolved.
//!
//! Every table instance has its own [`RelationId`]; a column reference is (relation, column position).
//! Aliases, letter case, quoting, `*`, USING, NATURAL and references to select aliases are gone. A reference is
//! correlated when its relation belongs to an outer query.

use std::fmt;

use crate::functions::Function;
use crate::schema::TableId;

/// One instance of a table, subquery or CTE in a FROM clause; unique within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationId(pub u32);

/// One common table expression; unique within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CteId(pub u32);

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
}

/// One common table expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cte {
    /// Its identity; [`Source::Cte`] refers to it.
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

/// One result column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its value.
    pub expr: Expr,
    /// The alias that the text gave; it never matters for the rows.
    pub alias: Option<String>,
}

/// What a SELECT reads from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum From {
    /// One table, subquery or CTE.
    Relation(Relation),
    /// A join of two.
    Join(Box<Join>),
}

impl From {
    /// All relations, left to right, those inside subqueries excepted.
    pub fn relations(&self) -> Vec<&Relation> {
        let mut found = Vec::new();
        let mut pending = vec![self];
        while let Some(from) = pending.pop() {
            match from {
                Self::Relation(relation) => found.push(relation),
                Self::Join(join) => pending.extend([&join.right, &join.left]),
            }
        }
        found
    }
}

/// A join.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Join {
    /// Which rows survive.
    pub kind: JoinKind,
    /// Left operand.
    pub left: From,
    /// Right operand.
    pub right: From,
    /// The condition; USING and NATURAL are written out as equalities.
    pub on: Option<Expr>,
}

/// Which rows of a join survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JoinKind {
    /// Comma, JOIN, INNER JOIN.
    Inner,
    /// CROSS JOIN: an inner join that SQLite never reorders.
    Cross,
    /// LEFT JOIN.
    Left,
    /// RIGHT JOIN.
    Right,
    /// FULL JOIN.
    Full,
}

/// One relation in a FROM clause.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    /// Its identity; columns refer to it.
    pub id: RelationId,
    /// Where its rows come from.
    pub source: Source,
    /// INDEXED BY or NOT INDEXED, of a table only.
    pub hint: Option<IndexHint>,
}

impl Relation {
    /// A relation without a hint.
    pub fn new(id: RelationId, source: Source) -> Self {
        Self { id, source, hint: None }
    }
}

/// By which indexes SQLite may read a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexHint {
    /// By this one and no other: its name, lower case.
    By(String),
    /// By none.
    None,
}

/// Where a relation's rows come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// A table or view of the schema.
    Table(TableId),
    /// A subquery.
    Derived(Box<Query>),
    /// A common table expression.
    Cte(CteId),
    /// A table-valued function such as `json_each`.
    Function {
        /// Name, lower case.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `sqlite_master` (also known as `sqlite_schema`).
    Catalog,
}

/// A reference to a column of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnRef {
    /// The relation; of an enclosing query where the reference is correlated.
    pub relation: RelationId,
    /// Which of the relation's columns.
    pub column: Place,
}

/// Which column of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The one at that position among the relation's columns.
    At(u32),
    /// The rowid of a table without an INTEGER PRIMARY KEY; where there is one, that column stands for it.
    Rowid,
}

impl ColumnRef {
    /// The column at that position.
    pub fn at(relation: RelationId, position: u32) -> Self {
        Self { relation, column: Place::At(position) }
    }

    /// The rowid of a table without an INTEGER PRIMARY KEY.
    pub fn rowid(relation: RelationId) -> Self {
        Self { relation, column: Place::Rowid }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(position) => position.fmt(f),
            Self::Rowid => f.write_str("rowid"),
        }
    }
}

impl Place {
    /// The position, unless it is the rowid.
    pub fn position(self) -> Option<u32> {
        match self {
            Self::At(position) => Some(position),
            Self::Rowid => None,
        }
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

/// A scalar expression.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A column.
    Column(ColumnRef),
    /// The result column at that position (ORDER BY only: by alias or by ordinal).
    Output(u32),
    /// A constant.
    Literal(Literal),
    /// A unary operator.
    Unary(UnaryOperator, Box<Expr>),
    /// A binary operator other than AND and OR.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// AND of two or more operands, in the order of the text.
    And(Vec<Expr>),
    /// OR of two or more operands, in the order of the text.
    Or(Vec<Expr>),
    /// BETWEEN.
    Between {
        /// The value.
        expr: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// NOT BETWEEN.
        negated: bool,
    },
    /// LIKE, GLOB, REGEXP, MATCH.
    Like {
        /// Which one.
        operator: LikeOperator,
        /// The text.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// ESCAPE.
        escape: Option<Box<Expr>>,
        /// NOT LIKE.
        negated: bool,
    },
    /// IN with a list.
    InList {
        /// The value.
        expr: Box<Expr>,
        /// The list; SQLite allows an empty one.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
    },
    /// IN with a subquery (also `IN table`).
    InQuery {
        /// The value.
        expr: Box<Expr>,
        /// The subquery.
        query: Box<Query>,
        /// NOT IN.
        negated: bool,
    },
    /// EXISTS.
    Exists {
        /// The subquery.
        query: Box<Query>,
        /// NOT EXISTS.
        negated: bool,
    },
    /// A subquery used as a value: the first row, NULL without one.
    Scalar(Box<Query>),
    /// CASE.
    Case {
        /// `CASE operand WHEN …`.
        operand: Option<Box<Expr>>,
        /// WHEN and THEN.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST.
    Cast {
        /// The value.
        expr: Box<Expr>,
        /// The type as written, spaces made single.
        type_name: String,
    },
    /// COLLATE.
    Collate {
        /// The value.
        expr: Box<Expr>,
        /// The collation as written, upper case.
        collation: String,
    },
    /// IS NULL.
    IsNull {
        /// The value.
        expr: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// A scalar function.
    Function {
        /// Which one.
        function: Function,
        /// The arguments.
        args: Args,
    },
    /// An aggregate over the rows of a group.
    Aggregate(Box<Aggregate>),
    /// A window function.
    Window(Box<WindowCall>),
    /// A row value of two or more parts.
    Row(Vec<Expr>),
}

impl Expr {
    /// The function and the arguments of a call of any kind.
    pub fn called(&self) -> Option<(&Function, &Args)> {
        match self {
            Self::Function { function, args } => Some((function, args)),
            Self::Aggregate(aggregate) => Some((&aggregate.function, &aggregate.args)),
            Self::Window(call) => Some((&call.function, &call.args)),
            _ => None,
        }
    }
}

/// An aggregate function over the rows of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// Which one.
    pub function: Function,
    /// The arguments.
    pub args: Args,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY inside the parentheses.
    pub order_by: Vec<OrderTerm>,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// Whose groups it is computed over.
    pub owner: Owner,
}

impl Aggregate {
    /// A plain aggregate of the query that it stands in.
    pub fn plain(function: Function, args: Args) -> Self {
        Self { function, args, distinct: false, order_by: Vec::new(), filter: None, owner: Owner::HERE }
    }

    /// Whether it has neither DISTINCT, ORDER BY nor FILTER.
    pub fn is_plain(&self) -> bool {
        !self.distinct && self.order_by.is_empty() && self.filter.is_none()
    }
}

/// The query whose groups an aggregate is computed over: how many queries one must go outward from where the
/// aggregate stands (0: the SELECT that it stands in; every [`Query`] around counts, be it in FROM or in WITH).
///
/// SQL does not write it down: an aggregate belongs to the innermost query around of which its arguments read a
/// column, and to the one that it stands in if they read none. To the queries between, it is a value from outside,
/// like a correlated column.
///
/// It is a distance and not an identity, so that equal queries have equal trees, and that copies and new numbers of
/// relations leave it as it is. What it does not survive by itself is a move to another depth:
/// [`aggregates`](crate::aggregates) tells where such aggregates are, and shifts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(pub u32);

impl Owner {
    /// The SELECT that the aggregate stands in.
    pub const HERE: Self = Self(0);
}

/// A call with OVER.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WindowCall {
    /// Which function.
    pub function: Function,
    /// The arguments.
    pub args: Args,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// OVER.
    pub window: Window,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Args {
    /// No parentheses at all: `CURRENT_DATE`, `CURRENT_TIME`, `CURRENT_TIMESTAMP`.
    Bare,
    /// `(*)`.
    Star,
    /// A list, perhaps empty.
    List(Vec<Expr>),
}

impl Args {
    /// The expressions; empty for [`Args::Bare`] and [`Args::Star`].
    pub fn as_slice(&self) -> &[Expr] {
        match self {
            Self::List(list) => list,
            Self::Bare | Self::Star => &[],
        }
    }

    /// The expressions, to change them.
    pub fn as_mut_slice(&mut self) -> &mut [Expr] {
        match self {
            Self::List(list) => list,
            Self::Bare | Self::Star => &mut [],
        }
    }
}

/// A window; named windows are written out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderTerm>,
    /// The frame; `None` for SQLite's default.
    pub frame: Option<Frame>,
}

/// A window frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub mode: FrameMode,
    /// Where it starts.
    pub start: FrameBound,
    /// Where it ends; `None` when the text has no BETWEEN (then: the current row).
    pub end: Option<FrameBound>,
    /// EXCLUDE.
    pub exclude: Option<FrameExclude>,
}

/// The unit of a window frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameMode {
    /// ROWS.
    Rows,
    /// RANGE.
    Range,
    /// GROUPS.
    Groups,
}

/// One end of a window frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FrameBound {
    /// CURRENT ROW.
    CurrentRow,
    /// n PRECEDING.
    Preceding(Box<Expr>),
    /// n FOLLOWING.
    Following(Box<Expr>),
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// What a window frame leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameExclude {
    /// EXCLUDE NO OTHERS.
    NoOthers,
    /// EXCLUDE CURRENT ROW.
    CurrentRow,
    /// EXCLUDE GROUP.
    Group,
    /// EXCLUDE TIES.
    Ties,
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// NULL.
    Null,
    /// TRUE or FALSE: the integers 1 and 0, but `x IS TRUE` is a test of its own.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(Real),
    /// A string.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A real constant; compared by its bits so that it can be hashed. Never NaN.
#[derive(Debug, Clone, Copy)]
pub struct Real(f64);

impl Real {
    /// The constant of that value; NaN becomes 0, as SQLite has no NaN constant.
    pub fn new(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value })
    }

    /// Its value.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnaryOperator {
    /// NOT.
    Not,
    /// Negation.
    Minus,
    /// Unary plus: keeps the value, drops affinity and collation.
    Plus,
    /// Bitwise complement.
    BitNot,
}

/// A binary operator other than AND and OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOperator {
    /// `=`, `==`.
    Equal,
    /// `<>`, `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// IS, IS NOT DISTINCT FROM.
    Is,
    /// IS NOT, IS DISTINCT FROM.
    IsNot,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Modulo,
    /// `||`.
    Concat,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `->`.
    Arrow,
    /// `->>`.
    LongArrow,
}

impl BinaryOperator {
    /// The operator's spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Is => "IS",
            Self::IsNot => "IS NOT",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Concat => "||",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Arrow => "->",
            Self::LongArrow => "->>",
        }
    }

    /// Whether it compares: `=`, `<>`, `<`, `<=`, `>`, `>=`, IS, IS NOT.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
                | Self::Is
                | Self::IsNot
        )
    }
}

/// A pattern operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LikeOperator {
    /// LIKE: ASCII case ignored, `%` and `_`.
    Like,
    /// GLOB.
    Glob,
    /// REGEXP (needs a function that stock SQLite does not have).
    Regexp,
    /// MATCH (full-text tables).
    Match,
}
