//! Decides which expressions may be NULL.

use super::Facts;
use super::conditions::{conjuncts, is_aggregate_select, rejects_null};
use crate::functions::Function;
use crate::tree::{BinaryOperator, Expr, LikeOperator, Literal, Query, Select};
use crate::visit::children;

impl Facts<'_> {
    /// Whether the expression may be NULL.
    pub fn is_nullable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.column(*column).nullable,
            Expr::Literal(literal) => *literal == Literal::Null,
            Expr::Unary(_, operand) => self.is_nullable(operand),
            Expr::Binary(operator, left, right) => match operator {
                BinaryOperator::Is | BinaryOperator::IsNot => false,
                // Division by zero, overflow to NaN and JSON paths that lead nowhere give NULL.
                BinaryOperator::Divide
                | BinaryOperator::Modulo
                | BinaryOperator::Arrow
                | BinaryOperator::LongArrow
                | BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply => true,
                _ => self.is_nullable(left) || self.is_nullable(right),
            },
            Expr::And(list) | Expr::Or(list) => list.iter().any(|operand| self.is_nullable(operand)),
            Expr::Between { expr, low, high, .. } => [expr, low, high].iter().any(|e| self.is_nullable(e)),
            Expr::InList { expr, list, .. } => {
                self.is_nullable(expr) || list.iter().any(|operand| self.is_nullable(operand))
            }
            Expr::Like {
                operator: LikeOperator::Like | LikeOperator::Glob,
                expr,
                pattern,
                escape: None,
                ..
            } => self.is_nullable(expr) || self.is_nullable(pattern),
            Expr::Exists { .. } | Expr::IsNull { .. } => false,
            Expr::InQuery { expr, query, .. } => self.is_nullable(expr) || self.outputs_may_be_null(query),
            Expr::Case { branches, otherwise, .. } => {
                otherwise.as_ref().is_none_or(|otherwise| self.is_nullable(otherwise))
                    || branches.iter().any(|(_, then)| self.is_nullable(then))
            }
            Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => self.is_nullable(expr),
            Expr::Function { function, args } => match function {
                Function::Coalesce | Function::Merged | Function::IfNull => {
                    args.as_slice().iter().all(|arg| self.is_nullable(arg))
                }
                Function::Length
                | Function::Upper
                | Function::Lower
                | Function::Trim
                | Function::Ltrim
                | Function::Rtrim => args.as_slice().iter().any(|arg| self.is_nullable(arg)),
                Function::TypeOf => false,
                _ => true,
            },
            Expr::Aggregate(aggregate) => !matches!(aggregate.function, Function::Count | Function::Total),
            Expr::Window(call) => call.function != Function::Count,
            Expr::Output(_) | Expr::Like { .. } | Expr::Scalar(_) | Expr::Row(_) => true,
        }
    }

    fn outputs_may_be_null(&self, query: &Query) -> bool {
        let Some(select) = query.as_select() else { return true };
        let of_no_row = has_group_of_no_row(select);
        select.outputs.iter().any(|output| self.may_be_null(select, of_no_row, &output.expr))
    }

    /// Whether a result column of a SELECT may be NULL, its own filter considered.
    pub fn output_may_be_null(&self, select: &Select, expr: &Expr) -> bool {
        self.may_be_null(select, has_group_of_no_row(select), expr)
    }

    /// As [`Facts::output_may_be_null`]; [`has_group_of_no_row`] reads all result columns, and is asked once for all of them.
    pub(super) fn may_be_null(&self, select: &Select, of_no_row: bool, expr: &Expr) -> bool {
        if of_no_row && reads_row(expr) {
            return true;
        }
        if !self.is_nullable(expr) {
            return false;
        }
        let Expr::Column(column) = expr else { return true };
        !conjuncts(select).iter().any(|conjunct| rejects_null(conjunct, *column))
    }
}

/// Whether a query without rows still has a group, as it has without GROUP BY. Every column of that group is NULL.
pub(super) fn has_group_of_no_row(select: &Select) -> bool {
    select.group_by.is_empty() && is_aggregate_select(select)
}

/// Whether the expression reads a column outside of every aggregate in it.
fn reads_row(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => true,
        Expr::Aggregate(_) => false,
        other => {
            let mut any = false;
            children(other, &mut |child| any = any || reads_row(child));
            any
        }
    }
}
