//! Small builders of trees.

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, ColumnRef, Expr, From, Literal, OrderTerm, Output, Query, Real, Relation,
    RelationId, RelationSource, Select, Window, WindowCall,
};

pub(super) fn column(relation: RelationId, at: usize) -> Expr {
    Expr::Column(ColumnRef::at(relation, u32::try_from(at).unwrap_or(u32::MAX)))
}

/// `function(args) OVER (PARTITION BY partition_by ORDER BY order_by)`.
pub(super) fn over(
    function: Function,
    args: Vec<Expr>,
    partition_by: Vec<Expr>,
    order_by: Vec<OrderTerm>,
) -> Expr {
    let window = Window { partition_by, order_by, frame: None };
    Expr::Window(Box::new(WindowCall { function, args: Args::List(args), filter: None, window }))
}

/// `rank() OVER (ORDER BY terms)`; without terms all rows have rank 1.
pub(super) fn rank_by(terms: Vec<OrderTerm>) -> Expr {
    if terms.is_empty() {
        return Expr::integer(1);
    }
    over(Function::Rank, Vec::new(), Vec::new(), terms)
}

pub(crate) fn literal_of(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Integer(integer) => Literal::Integer(*integer),
        Value::Real(real) => Literal::Real(Real::new(*real)),
        Value::Text(bytes) => Literal::Text(String::from_utf8_lossy(bytes).into_owned()),
        Value::Decimal(decimal) => Literal::Real(Real::new(decimal.to_float())),
        Value::Blob(bytes) => Literal::Blob(bytes.to_vec()),
    }
}

pub(super) fn derived(id: RelationId, query: Query) -> From {
    From::Relation(Relation::new(id, RelationSource::Derived(Box::new(query))))
}

/// `SELECT 1 FROM from`.
pub(crate) fn select_one(from: From) -> Select {
    Select { from: Some(from), ..Select::of(vec![Output::of(Expr::integer(1))]) }
}

/// OR of the conditions, false without any.
pub(super) fn any(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        0 => Expr::integer(0),
        1 => conditions.swap_remove(0),
        _ => Expr::Or(conditions),
    }
}

/// Whether an expression has two values within a group, NULL and types included.
pub(super) fn varies(expr: &Expr) -> Expr {
    let bytes = Expr::Collate { expr: Box::new(expr.clone()), collation: "BINARY".to_owned() };
    let least = |expr: &Expr| Expr::aggregate(Function::Min, Args::List(vec![expr.clone()]));
    let most = |expr: &Expr| Expr::aggregate(Function::Max, Args::List(vec![expr.clone()]));
    let kind = Expr::call(Function::TypeOf, vec![expr.clone()]);
    Expr::Or(vec![
        Expr::binary(BinaryOperator::IsNot, least(&bytes), most(&bytes)),
        Expr::binary(BinaryOperator::NotEqual, least(&kind), most(&kind)),
    ])
}

/// Whether a column is that very value: the same text byte by byte, and 1.0 is not 1.
pub(super) fn is_exactly(relation: RelationId, at: usize, value: &Value) -> Vec<Expr> {
    let bytes = Expr::Collate { expr: Box::new(column(relation, at)), collation: "BINARY".to_owned() };
    let is = Expr::binary(BinaryOperator::Is, bytes, Expr::Literal(literal_of(value)));
    let kind = match value {
        Value::Integer(_) => "integer",
        Value::Real(_) => "real",
        Value::Null | Value::Text(_) | Value::Decimal(_) | Value::Blob(_) => return vec![is],
    };
    let kind = Expr::Literal(Literal::Text(kind.to_owned()));
    vec![
        is,
        Expr::binary(BinaryOperator::Equal, Expr::call(Function::TypeOf, vec![column(relation, at)]), kind),
    ]
}
