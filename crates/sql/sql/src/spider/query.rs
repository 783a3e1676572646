//! The structure that the official parser gives to a query.

use super::ColumnId;

/// An aggregate function; [`SpiderAggregate::None`] for a bare column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpiderAggregate {
    /// No function (also the word `none`, which the official parser takes for one).
    None,
    /// `max`.
    Max,
    /// `min`.
    Min,
    /// `count`.
    Count,
    /// `sum`.
    Sum,
    /// `avg`.
    Avg,
}

/// An arithmetic operator between two columns; [`UnitOp::None`] for a single column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitOp {
    /// No operator.
    None,
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `*`.
    Times,
    /// `/`.
    Divide,
}

/// A comparison operator. `not` and `exists` are in the official list, so they are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConditionOp {
    /// `not` in the place of an operator.
    Not,
    /// `between`, the only operator with two values.
    Between,
    /// `=`.
    Equal,
    /// `>`.
    Greater,
    /// `<`.
    Less,
    /// `>=`.
    GreaterOrEqual,
    /// `<=`.
    LessOrEqual,
    /// `!=`.
    NotEqual,
    /// `in`.
    In,
    /// `like`.
    Like,
    /// `is`.
    Is,
    /// `exists`.
    Exists,
}

/// Order of sorting. One query has one: the last that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpiderDirection {
    /// `asc`, also the default.
    Ascending,
    /// `desc`.
    Descending,
}

/// A column, perhaps inside an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColumnUnit {
    /// The aggregate around the column.
    pub aggregate: SpiderAggregate,
    /// The column.
    pub column: ColumnId,
    /// `distinct` stands before the column.
    pub distinct: bool,
}

/// One column, or two with an arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueUnit {
    /// The operator.
    pub op: UnitOp,
    /// The first column.
    pub left: ColumnUnit,
    /// The second column.
    pub right: Option<ColumnUnit>,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum SpiderValue {
    /// A number; a NaN equals nothing.
    Number(f64),
    /// A quoted text with its quotes, both written `"`.
    Text(String),
    /// Another column.
    Column(ColumnUnit),
    /// A nested query.
    Query(Box<SpiderQuery>),
}

impl SpiderValue {
    /// The nested query, if the value is one.
    pub(crate) fn as_query(&self) -> Option<&SpiderQuery> {
        if let Self::Query(query) = self { Some(query) } else { None }
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionUnit {
    /// `not` stands before the operator.
    pub negated: bool,
    /// The operator.
    pub op: ConditionOp,
    /// The left side.
    pub unit: ValueUnit,
    /// The right side; `None` once values have been switched off.
    pub first: Option<SpiderValue>,
    /// The upper end of `between`.
    pub second: Option<SpiderValue>,
}

impl ConditionUnit {
    /// The nested queries on the right side.
    pub fn queries(&self) -> impl Iterator<Item = &SpiderQuery> {
        [&self.first, &self.second].into_iter().flatten().filter_map(SpiderValue::as_query)
    }
}

/// A member of a condition list.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionItem {
    /// A condition.
    Unit(ConditionUnit),
    /// `and`.
    And,
    /// `or`.
    Or,
}

/// A flat list of conditions with the operators between them. The official scripts take the members at even
/// positions for conditions and those at odd positions for operators, whatever they are; the two are alike
/// unless an operator is missing between two conditions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Condition(pub Vec<ConditionItem>);

impl Condition {
    /// Whether there is no condition.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members at even positions.
    pub fn even(&self) -> impl Iterator<Item = &ConditionItem> {
        self.0.iter().step_by(2)
    }

    /// The members at odd positions.
    pub fn odd(&self) -> impl Iterator<Item = &ConditionItem> {
        self.0.iter().skip(1).step_by(2)
    }

    /// The conditions at even positions; operators that strayed there are left out.
    pub fn units(&self) -> impl Iterator<Item = &ConditionUnit> {
        self.even().filter_map(|item| if let ConditionItem::Unit(unit) = item { Some(unit) } else { None })
    }

    /// Whether an operator stands at an even position.
    pub fn has_misplaced_operator(&self) -> bool {
        self.even().any(|item| !matches!(item, ConditionItem::Unit(_)))
    }
}

/// A member of the FROM clause.
#[derive(Debug, Clone, PartialEq)]
pub enum TableUnit {
    /// A table.
    Table(ColumnId),
    /// A subquery.
    Query(Box<SpiderQuery>),
}

/// The FROM clause: its tables and all ON conditions joined by AND.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpiderFrom {
    /// Tables and subqueries as written.
    pub tables: Vec<TableUnit>,
    /// The ON conditions.
    pub conditions: Condition,
}

/// One output of a SELECT: an aggregate around a [`ValueUnit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelectItem {
    /// The aggregate.
    pub aggregate: SpiderAggregate,
    /// What is computed.
    pub unit: ValueUnit,
}

/// The SELECT clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpiderSelect {
    /// `distinct` follows `select`.
    pub distinct: bool,
    /// The outputs.
    pub items: Vec<SelectItem>,
}

/// The ORDER BY clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderBy {
    /// The last direction written.
    pub direction: SpiderDirection,
    /// The keys.
    pub units: Vec<ValueUnit>,
}

/// A query. The default value is the empty query that stands for one that cannot be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpiderQuery {
    /// SELECT.
    pub select: SpiderSelect,
    /// FROM.
    pub from: SpiderFrom,
    /// WHERE.
    pub filter: Condition,
    /// GROUP BY.
    pub group_by: Vec<ColumnUnit>,
    /// HAVING.
    pub having: Condition,
    /// ORDER BY.
    pub order_by: Option<OrderBy>,
    /// Whether there is a LIMIT; the official parser reads every limit as 1.
    pub limit: bool,
    /// INTERSECT.
    pub intersect: Option<Box<SpiderQuery>>,
    /// UNION.
    pub union: Option<Box<SpiderQuery>>,
    /// EXCEPT.
    pub except: Option<Box<SpiderQuery>>,
}

impl SpiderQuery {
    /// The condition lists in the order in which the official scripts join them: FROM, WHERE, HAVING.
    ///
    /// The scripts take every other member of each list separately, so the lists stay apart here.
    pub fn conditions(&self) -> [&Condition; 3] {
        [&self.from.conditions, &self.filter, &self.having]
    }

    /// The right-hand queries of set operations: INTERSECT, EXCEPT, UNION.
    pub fn set_operations(&self) -> [Option<&Self>; 3] {
        [self.intersect.as_deref(), self.except.as_deref(), self.union.as_deref()]
    }
}
