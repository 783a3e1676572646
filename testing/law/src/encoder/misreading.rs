//! Queries misread on purpose: what an encoding that has a construct wrong would execute in place of the query.
//!
//! [`super::defect`] has the defects that are planted in the encoder itself.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{
    Aggregate, Args, BinaryOperator, Body, ColumnRef, Expr, FrameBound, FrameMode, From, JoinKind, OrderTerm,
    Place, Query,
};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use super::construct::Construct;

/// How a query is misread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misreading {
    /// `%` is of the sign of its second operand.
    RemainderIsPositive,
    /// CAST to INTEGER rounds.
    CastRounds,
    /// A day that no month has is taken as it is.
    DaysAreTexts,
    /// SUBSTR counts from 0.
    SubstrFromZero,
    /// IN a subquery is never NULL.
    InIsNeverNull,
    /// A comparison of row values is never NULL.
    RowsAreNeverNull,
    /// DISTINCT is passed over.
    NoDistinct,
    /// A join's condition is passed over.
    NoJoinCondition,
    /// LEFT JOIN drops rows without a partner.
    LeftIsInner,
    /// FULL and RIGHT JOIN are LEFT JOIN.
    FullIsLeft,
    /// COUNT counts NULL.
    CountCountsNull,
    /// FILTER is passed over.
    NoAggregateFilter,
    /// Texts are joined in the opposite order.
    ConcatTurnsOrder,
    /// The last of the keys of GROUP BY is passed over.
    ShortGroupBy,
    /// HAVING is passed over.
    NoHaving,
    /// NULL sorts to the other end.
    NullsSortOtherwise,
    /// OFFSET is passed over.
    NoOffset,
    /// LIMIT within a statement is passed over.
    NoInnerLimit,
    /// EXISTS asks for a value that is not NULL.
    ExistsAsksForValue,
    /// A subquery without rows is 0.
    NoRowIsZero,
    /// UNION keeps repeated rows.
    UnionKeepsAll,
    /// A recursive CTE is what it starts from.
    NoRecursion,
    /// The rowid is the first column.
    RowidIsKey,
    /// INTERSECT is UNION, EXCEPT keeps all of its left operand.
    OperandsAreUnited,
    /// RANK counts without gaps.
    RankIsDense,
    /// PARTITION BY is passed over.
    NoPartition,
    /// The default frame ends at the row and not at its peers.
    FrameEndsAtRow,
    /// The frame is the whole partition.
    NoFrame,
    /// EXCLUDE is passed over.
    NoExclude,
    /// LAG looks ahead, LEAD back.
    LagLooksAhead,
}

/// The registry: for each construct the defects that the law is known to find.
pub const MISREADINGS: &[(Construct, &[Misreading])] = {
    use Construct as C;
    use Misreading as M;
    &[
        (C::Arithmetic, &[M::RemainderIsPositive]),
        (C::Cast, &[M::CastRounds]),
        (C::Date, &[M::DaysAreTexts]),
        (C::Text, &[M::SubstrFromZero]),
        (C::RowValue, &[M::RowsAreNeverNull]),
        (C::Concat, &[M::ConcatTurnsOrder, M::NoAggregateFilter]),
        (C::Distinct, &[M::NoDistinct]),
        (C::Join, &[M::NoJoinCondition]),
        (C::LeftJoin, &[M::LeftIsInner]),
        (C::FullJoin, &[M::FullIsLeft]),
        (C::Aggregate, &[M::CountCountsNull, M::NoAggregateFilter]),
        (C::GroupBy, &[M::ShortGroupBy, M::CountCountsNull]),
        (C::Having, &[M::NoHaving]),
        (C::Limit, &[M::NullsSortOtherwise, M::NoOffset, M::NoInnerLimit]),
        (C::InQuery, &[M::InIsNeverNull]),
        (C::Exists, &[M::ExistsAsksForValue]),
        (C::Scalar, &[M::NoRowIsZero]),
        (C::SetOperation, &[M::UnionKeepsAll, M::OperandsAreUnited]),
        (C::Cte, &[M::NoDistinct, M::NoInnerLimit]),
        (C::Recursion, &[M::UnionKeepsAll, M::NoRecursion]),
        (C::Rowid, &[M::RowidIsKey, M::LeftIsInner]),
        (C::OuterAggregate, &[M::NoAggregateFilter, M::CountCountsNull]),
        (C::Rank, &[M::RankIsDense, M::NoPartition, M::NullsSortOtherwise]),
        (C::WindowAggregate, &[M::NoPartition, M::FrameEndsAtRow, M::NoFrame, M::NoExclude]),
        (C::Neighbour, &[M::LagLooksAhead, M::NoPartition, M::NoFrame]),
    ]
};

impl Misreading {
    /// What an encoding with this defect takes the query for; `None` where it makes no difference to the text.
    pub fn of(self, query: &Query) -> Option<Query> {
        let mut misread = query.clone();
        let limits = (misread.limit.clone(), misread.offset.clone());
        rewrite_query(&mut Work { misreading: self }, &mut misread);
        if self == Self::NoInnerLimit {
            (misread.limit, misread.offset) = limits;
        }
        (misread != *query).then_some(misread)
    }
}

struct Work {
    misreading: Misreading,
}

impl Rewriter for Work {
    fn query(&mut self, query: &mut Query) {
        match self.misreading {
            Misreading::NullsSortOtherwise => query.order_by.iter_mut().for_each(turn_nulls),
            Misreading::NoOffset => query.offset = None,
            Misreading::NoInnerLimit => (query.limit, query.offset) = (None, None),
            _ => {}
        }
    }

    fn body(&mut self, body: &mut Body) {
        if self.misreading == Misreading::NoRecursion
            && let Body::SetOperation { left, right, .. } = body
            && matches!(&**right, Body::Select(select) if reads::ctes_of(select).next().is_some())
        {
            *body = (**left).clone();
            return;
        }
        match (self.misreading, body) {
            (Misreading::NoDistinct, Body::Select(select)) => select.distinct = false,
            (Misreading::ShortGroupBy, Body::Select(select)) if select.group_by.len() > 1 => {
                select.group_by.pop();
            }
            (Misreading::NoHaving, Body::Select(select)) => select.having = None,
            (Misreading::UnionKeepsAll, Body::SetOperation { operator, all, .. }) => {
                *all |= *operator == sqlgauge_sql::tree::SetOperator::Union;
            }
            (Misreading::OperandsAreUnited, Body::SetOperation { operator, .. }) => {
                *operator = sqlgauge_sql::tree::SetOperator::Union;
            }
            _ => {}
        }
    }

    fn from(&mut self, from: &mut From) {
        let From::Join(join) = from else { return };
        match self.misreading {
            Misreading::NoJoinCondition => join.on = None,
            Misreading::LeftIsInner if join.kind == JoinKind::Left => join.kind = JoinKind::Inner,
            Misreading::FullIsLeft if matches!(join.kind, JoinKind::Full | JoinKind::Right) => {
                join.kind = JoinKind::Left;
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Some(misread) = self.misread(expr) {
            *expr = misread;
        }
        self.change(expr);
    }
}

impl Work {
    /// What stands in place of the expression.
    fn misread(&self, expr: &Expr) -> Option<Expr> {
        use BinaryOperator as B;
        use Misreading as M;
        Some(match (self.misreading, expr) {
            (M::RemainderIsPositive, Expr::Binary(B::Modulo, ..)) => {
                Expr::call(Function::Abs, vec![expr.clone()])
            }
            (M::CastRounds, Expr::Cast { expr, type_name }) if type_name.eq_ignore_ascii_case("INTEGER") => {
                cast(&Expr::call(Function::Round, vec![(**expr).clone()]), type_name)
            }
            (M::InIsNeverNull, Expr::InQuery { negated: true, .. }) => {
                Expr::call(Function::Coalesce, vec![expr.clone(), Expr::integer(1)])
            }
            (M::RowsAreNeverNull, Expr::Binary(B::Equal, left, right)) if is_row(left) => {
                binary(B::Is, left, right)
            }
            (M::RowsAreNeverNull, Expr::Binary(B::NotEqual, left, right)) if is_row(left) => {
                binary(B::IsNot, left, right)
            }
            (M::ExistsAsksForValue, Expr::Exists { query, negated }) => {
                Expr::IsNull { expr: Box::new(Expr::Scalar(query.clone())), negated: !negated }
            }
            (M::RowidIsKey, &Expr::Column(ColumnRef { relation, column: Place::Rowid })) => {
                Expr::Column(ColumnRef { relation, column: Place::At(0) })
            }
            (M::NoRowIsZero, Expr::Scalar(_)) => {
                Expr::call(Function::Coalesce, vec![expr.clone(), Expr::integer(0)])
            }
            (M::SubstrFromZero, Expr::Function { function: Function::Substr, args }) => {
                let mut args = args.as_slice().to_vec();
                args[1] = binary(B::Add, &args[1], &Expr::integer(1));
                Expr::call(Function::Substr, args)
            }
            (M::DaysAreTexts, Expr::Function { function: Function::Date, args }) => {
                let first = args.as_slice().first()?.clone();
                Expr::call(Function::Substr, vec![first, Expr::integer(1), Expr::integer(10)])
            }
            _ => return None,
        })
    }

    /// What is changed within the expression.
    fn change(&self, expr: &mut Expr) {
        match expr {
            Expr::Aggregate(aggregate) => change_aggregate(self.misreading, aggregate),
            Expr::Window(call) => change_window(self.misreading, call),
            _ => {}
        }
    }
}

fn change_aggregate(misreading: Misreading, aggregate: &mut Aggregate) {
    match misreading {
        Misreading::CountCountsNull if aggregate.function == Function::Count && !aggregate.distinct => {
            aggregate.args = Args::Star;
        }
        Misreading::ConcatTurnsOrder => {
            aggregate.order_by.iter_mut().for_each(|term| term.descending = !term.descending);
        }
        Misreading::NoAggregateFilter => aggregate.filter = None,
        Misreading::NoDistinct => aggregate.distinct = false,
        _ => {}
    }
}

fn change_window(misreading: Misreading, call: &mut sqlgauge_sql::tree::WindowCall) {
    use sqlgauge_sql::tree::Frame;
    let whole =
        |mode, end| Frame { mode, start: FrameBound::UnboundedPreceding, end: Some(end), exclude: None };
    match misreading {
        Misreading::RankIsDense if call.function == Function::Rank => call.function = Function::DenseRank,
        Misreading::NoPartition => call.window.partition_by.clear(),
        Misreading::NullsSortOtherwise => call.window.order_by.iter_mut().for_each(turn_nulls),
        Misreading::FrameEndsAtRow if call.window.frame.is_none() => {
            call.window.frame = Some(whole(FrameMode::Rows, FrameBound::CurrentRow));
        }
        Misreading::NoFrame => {
            call.window.frame = Some(whole(FrameMode::Rows, FrameBound::UnboundedFollowing));
        }
        Misreading::NoExclude => call.window.frame.iter_mut().for_each(|frame| frame.exclude = None),
        Misreading::LagLooksAhead => {
            call.function = match &call.function {
                Function::Lag => Function::Lead,
                Function::Lead => Function::Lag,
                other => other.clone(),
            }
        }
        _ => {}
    }
}

fn turn_nulls(term: &mut OrderTerm) {
    term.nulls_first = Some(!term.nulls_first.unwrap_or(!term.descending));
}

fn binary(operator: BinaryOperator, left: &Expr, right: &Expr) -> Expr {
    Expr::Binary(operator, Box::new(left.clone()), Box::new(right.clone()))
}

fn cast(expr: &Expr, type_name: &str) -> Expr {
    Expr::Cast { expr: Box::new(expr.clone()), type_name: type_name.to_owned() }
}

fn is_row(expr: &Expr) -> bool {
    matches!(expr, Expr::Row(_))
}
