//! The clauses of one SELECT, apart, and put together again.

use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::derive::conjuncts_of;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{
    BinaryOperator, Body, Cte, Expr, From, Join, JoinKind, OrderTerm, Output, Query, Relation, RelationId,
    Select,
};

/// What a SELECT reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Relations whose joins are all inner ones; their conditions stand elsewhere.
    Inner(Vec<Relation>),
    /// A FROM with outer joins, as it is.
    Outer(From),
}

impl Reads {
    pub(crate) fn relations(&self) -> Vec<&Relation> {
        match self {
            Self::Inner(relations) => relations.iter().collect(),
            Self::Outer(from) => from.relations(),
        }
    }
}

/// Where a condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Where,
    Having,
}

/// The clauses of a SELECT with the order and limit of its query.
#[derive(Debug, Clone)]
pub(crate) struct Clauses {
    pub(crate) reads: Reads,
    /// Equalities of columns of two relations.
    pub(crate) keys: Vec<Expr>,
    pub(crate) conditions: Vec<Expr>,
    pub(crate) group_by: Vec<Expr>,
    pub(crate) having: Vec<Expr>,
    pub(crate) outputs: Vec<Expr>,
    pub(crate) distinct: bool,
    pub(crate) order_by: Vec<OrderTerm>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
}

impl Clauses {
    /// The clauses of a query that is a SELECT.
    pub(crate) fn of(query: &Query) -> Option<Self> {
        let select = query.as_select()?;
        let mut all = Vec::new();
        let reads = match &select.from {
            None => Reads::Inner(Vec::new()),
            Some(from) if from.is_inner() => {
                on_of(from, &mut all);
                Reads::Inner(from.relations().into_iter().cloned().collect())
            }
            Some(from) => Reads::Outer(from.clone()),
        };
        all.extend(parts_of(select.filter.as_ref()));
        let ids: Vec<RelationId> = reads.relations().iter().map(|relation| relation.id).collect();
        let (keys, conditions) = all.into_iter().partition(|expr| is_key(expr, &ids));
        Some(Self {
            reads,
            keys,
            conditions,
            group_by: select.group_by.clone(),
            having: parts_of(select.having.as_ref()).collect(),
            outputs: select.outputs.iter().map(|output| output.expr.clone()).collect(),
            distinct: select.distinct,
            order_by: query.order_by.clone(),
            limit: query.limit.clone(),
            offset: query.offset.clone(),
        })
    }

    pub(crate) fn query(&self, ctes: &[Cte]) -> Query {
        let from = match &self.reads {
            Reads::Inner(relations) => relations.iter().cloned().map(From::Relation).reduce(joined),
            Reads::Outer(from) => Some(from.clone()),
        };
        let conditions = self.keys.iter().chain(&self.conditions).cloned().collect();
        let select = Select {
            distinct: self.distinct,
            from,
            filter: conjunction(conditions),
            group_by: self.group_by.clone(),
            having: conjunction(self.having.clone()),
            outputs: self.outputs.iter().map(|expr| Output::of(expr.clone())).collect(),
        };
        Query {
            ctes: ctes.to_vec(),
            body: Body::Select(Box::new(select)),
            order_by: self.order_by.clone(),
            limit: self.limit.clone(),
            offset: self.offset.clone(),
        }
    }

    pub(crate) fn list(&mut self, clause: Clause) -> &mut Vec<Expr> {
        match clause {
            Clause::Where => &mut self.conditions,
            Clause::Having => &mut self.having,
        }
    }

    pub(crate) fn tables(&self) -> Vec<(RelationId, TableId)> {
        let table = |relation: &Relation| Some((relation.id, relation.table()?));
        self.reads.relations().into_iter().filter_map(table).collect()
    }
}

pub(crate) fn joined(left: From, right: From) -> From {
    From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on: None }))
}

fn on_of(from: &From, parts: &mut Vec<Expr>) {
    if let From::Join(join) = from {
        on_of(&join.left, parts);
        on_of(&join.right, parts);
        parts.extend(parts_of(join.on.as_ref()));
    }
}

/// The parts of a condition that must all hold.
pub(crate) fn parts_of(condition: Option<&Expr>) -> impl Iterator<Item = Expr> {
    conjuncts_of(condition).into_iter().cloned()
}

/// Whether columns of two of these relations are said to be equal.
fn is_key(expr: &Expr, relations: &[RelationId]) -> bool {
    let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return false };
    let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) else { return false };
    left.relation != right.relation
        && relations.contains(&left.relation)
        && relations.contains(&right.relation)
}
