//! Expressions.

use super::from::ColumnRef;
use super::literal::Literal;
use super::window::WindowCall;
use super::{OrderTerm, Query};
use crate::functions::Function;

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
    /// An integer constant.
    pub fn integer(value: i64) -> Self {
        Self::Literal(Literal::Integer(value))
    }

    /// An operator between two operands.
    pub fn binary(operator: BinaryOperator, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The comparison of two operands by `=`.
    pub fn equal(left: Self, right: Self) -> Self {
        Self::binary(BinaryOperator::Equal, left, right)
    }

    /// A call of a scalar function.
    pub fn call(function: Function, args: Vec<Self>) -> Self {
        Self::Function { function, args: Args::List(args) }
    }

    /// A plain aggregate of the query that it stands in.
    pub fn aggregate(function: Function, args: Args) -> Self {
        Self::Aggregate(Box::new(Aggregate::plain(function, args)))
    }

    /// 1 where a condition holds, else 0.
    pub fn one_if(condition: Self) -> Self {
        let branches = vec![(condition, Self::integer(1))];
        Self::Case { operand: None, branches, otherwise: Some(Box::new(Self::integer(0))) }
    }

    /// The function and the arguments of a call of any kind.
    pub fn called(&self) -> Option<(&Function, &Args)> {
        match self {
            Self::Function { function, args } => Some((function, args)),
            Self::Aggregate(aggregate) => Some((&aggregate.function, &aggregate.args)),
            Self::Window(call) => Some((&call.function, &call.args)),
            _ => None,
        }
    }

    /// What a COLLATE is about.
    pub fn uncollated(&self) -> &Self {
        let mut expr = self;
        while let Self::Collate { expr: inner, .. } = expr {
            expr = inner;
        }
        expr
    }

    /// The word TRUE or FALSE that it is, perhaps behind COLLATE.
    pub fn as_truth(&self) -> Option<bool> {
        let mut expr = self;
        while let Self::Collate { expr: inner, .. } = expr {
            expr = inner;
        }
        match expr {
            Self::Literal(Literal::Boolean(truth)) => Some(*truth),
            _ => None,
        }
    }

    /// Whether it says NOT itself: of BETWEEN, LIKE, IN, EXISTS and IS NULL, which have a place for it.
    pub fn negated(&self) -> Option<bool> {
        match self {
            Self::Between { negated, .. }
            | Self::Like { negated, .. }
            | Self::InList { negated, .. }
            | Self::InQuery { negated, .. }
            | Self::Exists { negated, .. }
            | Self::IsNull { negated, .. } => Some(*negated),
            _ => None,
        }
    }

    /// That place, to turn it round.
    pub fn negated_mut(&mut self) -> Option<&mut bool> {
        match self {
            Self::Between { negated, .. }
            | Self::Like { negated, .. }
            | Self::InList { negated, .. }
            | Self::InQuery { negated, .. }
            | Self::Exists { negated, .. }
            | Self::IsNull { negated, .. } => Some(negated),
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

sqlgauge_base::named! {
    /// A binary operator other than AND and OR.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum BinaryOperator by symbol {
        /// `=`, `==`.
        Equal = "=",
        /// `<>`, `!=`.
        NotEqual = "<>",
        /// `<`.
        Less = "<",
        /// `<=`.
        LessEqual = "<=",
        /// `>`.
        Greater = ">",
        /// `>=`.
        GreaterEqual = ">=",
        /// IS, IS NOT DISTINCT FROM.
        Is = "IS",
        /// IS NOT, IS DISTINCT FROM.
        IsNot = "IS NOT",
        /// `+`.
        Add = "+",
        /// `-`.
        Subtract = "-",
        /// `*`.
        Multiply = "*",
        /// `/`.
        Divide = "/",
        /// `%`.
        Modulo = "%",
        /// `||`.
        Concat = "||",
        /// `&`.
        BitAnd = "&",
        /// `|`.
        BitOr = "|",
        /// `<<`.
        ShiftLeft = "<<",
        /// `>>`.
        ShiftRight = ">>",
        /// `->`.
        Arrow = "->",
        /// `->>`.
        LongArrow = "->>",
    }
}

impl BinaryOperator {
    /// The truth that `x op right` asks for, if it is IS TRUE, IS FALSE or the negation of one. SQLite looks for the word behind
    /// COLLATE, and nowhere else: in `(x, y) IS (TRUE, 1)`, `x IS likely(TRUE)` and `x = TRUE` it is the integer 1.
    pub fn truth_asked(self, right: &Expr) -> Option<bool> {
        if !matches!(self, Self::Is | Self::IsNot) {
            return None;
        }
        right.as_truth()
    }

    /// Whether `a op b` and `b op a` have the same value.
    pub fn commutes(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Is
                | Self::IsNot
                | Self::Add
                | Self::Multiply
                | Self::BitAnd
                | Self::BitOr
        )
    }

    /// The operator with its operands the other way round.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            same => same,
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

impl Function {
    /// Whether a scalar call gives the same value for the same arguments within one run of a query and the next.
    /// Date functions do unless they are asked for the present (`'now'`, or no argument at all).
    pub fn is_deterministic(&self, args: &Args) -> bool {
        let properties = self.properties();
        if properties.is_volatile {
            return false;
        }
        if !properties.may_read_clock {
            return true;
        }
        let is_now = |arg: &Expr| matches!(arg, Expr::Literal(Literal::Text(text)) if text.eq_ignore_ascii_case("now"));
        let least = if *self == Self::Strftime { 2 } else { 1 };
        args.as_slice().len() >= least && !args.as_slice().iter().any(is_now)
    }
}
