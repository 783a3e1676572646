//! Copies of queries and expressions. Each copied node counts as a step.
//!
//! Rewriting copies, and copies of copies double: written out, so that no copy escapes the budget of the analysis at hand.

use sqlgauge_base::budget;

use crate::tree::{Expr, Literal, Query};

impl Clone for Query {
    fn clone(&self) -> Self {
        // The query itself, its body, and the names of what it defines.
        budget::copy(3 + self.ctes.iter().map(|cte| 1 + cte.columns.len()).sum::<usize>());
        Self {
            ctes: self.ctes.clone(),
            body: self.body.clone(),
            order_by: self.order_by.clone(),
            limit: self.limit.clone(),
            offset: self.offset.clone(),
        }
    }
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        budget::copy(1);
        match self {
            Self::Column(column) => Self::Column(*column),
            Self::Output(place) => Self::Output(*place),
            Self::Literal(literal) => {
                budget::spend(bytes(literal));
                Self::Literal(literal.clone())
            }
            Self::Unary(operator, operand) => Self::Unary(*operator, operand.clone()),
            Self::Binary(operator, left, right) => Self::Binary(*operator, left.clone(), right.clone()),
            Self::And(list) => Self::And(list.clone()),
            Self::Or(list) => Self::Or(list.clone()),
            Self::Between { expr, low, high, negated } => {
                let (expr, low, high) = (expr.clone(), low.clone(), high.clone());
                Self::Between { expr, low, high, negated: *negated }
            }
            Self::Like { operator, expr, pattern, escape, negated } => {
                let (expr, pattern, escape) = (expr.clone(), pattern.clone(), escape.clone());
                Self::Like { operator: *operator, expr, pattern, escape, negated: *negated }
            }
            Self::InList { expr, list, negated } => {
                Self::InList { expr: expr.clone(), list: list.clone(), negated: *negated }
            }
            Self::InQuery { expr, query, negated } => {
                Self::InQuery { expr: expr.clone(), query: query.clone(), negated: *negated }
            }
            Self::Exists { query, negated } => Self::Exists { query: query.clone(), negated: *negated },
            Self::Scalar(query) => Self::Scalar(query.clone()),
            Self::Case { operand, branches, otherwise } => {
                let (operand, branches) = (operand.clone(), branches.clone());
                Self::Case { operand, branches, otherwise: otherwise.clone() }
            }
            Self::Cast { expr, type_name } => {
                budget::spend(type_name.len());
                Self::Cast { expr: expr.clone(), type_name: type_name.clone() }
            }
            Self::Collate { expr, collation } => {
                Self::Collate { expr: expr.clone(), collation: collation.clone() }
            }
            Self::IsNull { expr, negated } => Self::IsNull { expr: expr.clone(), negated: *negated },
            Self::Function { function, args } => {
                Self::Function { function: function.clone(), args: args.clone() }
            }
            Self::Aggregate(aggregate) => Self::Aggregate(aggregate.clone()),
            Self::Window(call) => Self::Window(call.clone()),
            Self::Row(list) => Self::Row(list.clone()),
        }
    }
}

/// The bytes that a constant has besides its node.
fn bytes(literal: &Literal) -> usize {
    match literal {
        Literal::Text(text) => text.len(),
        Literal::Blob(bytes) => bytes.len(),
        Literal::Null | Literal::Boolean(_) | Literal::Integer(_) | Literal::Real(_) => 0,
    }
}
