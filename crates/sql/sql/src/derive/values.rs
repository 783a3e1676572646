//! Decides which values an expression can have.

use super::Facts;
use crate::functions::{Function, Returns};
use crate::lex;
use crate::schema::{Affinity, Fact, ValueDomain};
use crate::tree::{Args, BinaryOperator, Body, Expr, Literal, Query, SetOperator, UnaryOperator};

impl Facts<'_> {
    /// Which values the expression can have, so far as a comparison can take different ones for equal.
    pub fn values(&self, expr: &Expr) -> ValueDomain {
        match expr {
            Expr::Column(column) => self.own_column(*column).values,
            Expr::Literal(literal) => of_literal(literal),
            Expr::Unary(operator, operand) => match operator {
                UnaryOperator::Not | UnaryOperator::BitNot => ValueDomain::INTEGER,
                UnaryOperator::Plus => self.values(operand),
                UnaryOperator::Minus => {
                    numbers(self.values(operand), ValueDomain::INTEGER.or(ValueDomain::OTHER_REAL))
                }
            },
            Expr::Binary(operator, left, right) => self.values_of_binary(*operator, left, right),
            Expr::And(_)
            | Expr::Or(_)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::IsNull { .. } => ValueDomain::INTEGER,
            Expr::Scalar(query) => self.values_of_query(query),
            Expr::Case { branches, otherwise, .. } => branches
                .iter()
                .map(|(_, then)| then)
                .chain(otherwise.as_deref())
                .fold(ValueDomain::NONE, |all, then| all.or(self.values(then))),
            Expr::Cast { type_name, .. } => ValueDomain::cast(Affinity::of_declared_type(Some(type_name))),
            Expr::Collate { expr, .. } => self.values(expr),
            Expr::Function { function, args } => self.values_of_call(function, args),
            Expr::Aggregate(call) => self.values_of_call(&call.function, &call.args),
            Expr::Window(call) => self.values_of_call(&call.function, &call.args),
            Expr::Output(_) | Expr::Row(_) => ValueDomain::ANY,
        }
    }

    fn values_of_binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> ValueDomain {
        match operator {
            BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::Is
            | BinaryOperator::IsNot
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => ValueDomain::INTEGER,
            // Integers beyond 64 bits become real numbers that equal none.
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
                self.arithmetic(left, right, ValueDomain::INTEGER.or(ValueDomain::OTHER_REAL))
            }
            BinaryOperator::Divide | BinaryOperator::Modulo => {
                self.arithmetic(left, right, ValueDomain::INTEGER)
            }
            BinaryOperator::Concat => ValueDomain::TEXT.or(ValueDomain::BLOB),
            BinaryOperator::Arrow => ValueDomain::TEXT,
            BinaryOperator::LongArrow => ValueDomain::ANY,
        }
    }

    /// The result of an operator that gives a real number as soon as one operand is real.
    fn arithmetic(&self, left: &Expr, right: &Expr, of_integers: ValueDomain) -> ValueDomain {
        let (left, right) = (self.values(left), self.values(right));
        if left.only(ValueDomain::REAL) || right.only(ValueDomain::REAL) {
            return ValueDomain::REAL;
        }
        numbers(left.or(right), of_integers)
    }

    fn values_of_call(&self, function: &Function, args: &Args) -> ValueDomain {
        let args = args.as_slice();
        let all = |args: &[Expr]| args.iter().fold(ValueDomain::NONE, |all, arg| all.or(self.values(arg)));
        let first = || args.first().map_or(ValueDomain::ANY, |arg| self.values(arg));
        match function.properties().returns {
            Returns::Integer => return ValueDomain::INTEGER,
            Returns::Real => return ValueDomain::REAL,
            Returns::Text => return ValueDomain::TEXT,
            Returns::Open => {}
        }
        match function {
            Function::Sum | Function::Abs => numbers(first(), ValueDomain::INTEGER),
            Function::Min | Function::Max | Function::Coalesce | Function::Merged | Function::IfNull => {
                all(args)
            }
            Function::NullIf
            | Function::FirstValue
            | Function::LastValue
            | Function::Likely
            | Function::Unlikely
            | Function::Likelihood => first(),
            Function::Iif | Function::If if args.len() > 1 => {
                args.iter().enumerate().fold(ValueDomain::NONE, |values, (place, arg)| {
                    // Conditions and results take turns; the last of an odd number is the result of ELSE.
                    let is_result = place % 2 == 1 || place + 1 == args.len();
                    if is_result { values.or(self.values(arg)) } else { values }
                })
            }
            Function::Substr | Function::Substring => ValueDomain::TEXT.or(ValueDomain::BLOB),
            _ => ValueDomain::ANY,
        }
    }

    pub(super) fn values_of_query(&self, query: &Query) -> ValueDomain {
        self.values_of_body(&query.body, 0)
    }

    /// The values of one result column of a body.
    fn values_of_body(&self, body: &Body, place: usize) -> ValueDomain {
        match body {
            Body::Select(select) => {
                select.outputs.get(place).map_or(ValueDomain::ANY, |output| self.values(&output.expr))
            }
            Body::SetOperation { operator: SetOperator::Except, left, .. } => {
                self.values_of_body(left, place)
            }
            Body::SetOperation { left, right, .. } => {
                self.values_of_body(left, place).or(self.values_of_body(right, place))
            }
            Body::Values(rows) => rows.iter().fold(ValueDomain::NONE, |all, row| {
                all.or(row.get(place).map_or(ValueDomain::ANY, |expr| self.values(expr)))
            }),
        }
    }
}

/// The values of an operator over numbers whose operands have those values: texts and blobs count as the number
/// that they begin with.
fn numbers(operands: ValueDomain, of_integers: ValueDomain) -> ValueDomain {
    if operands.only(ValueDomain::INTEGER) {
        of_integers
    } else if operands.only(ValueDomain::REAL) {
        ValueDomain::REAL
    } else {
        ValueDomain::NUMBER
    }
}

fn of_literal(literal: &Literal) -> ValueDomain {
    match literal {
        Literal::Null => ValueDomain::NONE,
        Literal::Boolean(_) | Literal::Integer(_) => ValueDomain::INTEGER,
        Literal::Real(real) => {
            let is_whole = real.get().fract() == 0.0 && real.get().abs() <= 9_223_372_036_854_775_808.0;
            if is_whole { ValueDomain::WHOLE_REAL } else { ValueDomain::OTHER_REAL }
        }
        Literal::Text(text) => {
            // A number begins with a digit, a sign or a point, perhaps behind white space.
            let start = text.trim_start_matches(lex::is_space);
            let may_be_number =
                start.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
            if may_be_number { ValueDomain::TEXT } else { ValueDomain::OTHER_TEXT }
        }
        Literal::Blob(_) => ValueDomain::BLOB,
    }
}

/// What is read from a materialised column: with REAL affinity SQLite makes real numbers of integers, or does not,
/// as its plan has it.
pub(super) fn read_back(values: ValueDomain, affinity: Fact<Option<Affinity>>) -> ValueDomain {
    let may_be_real = matches!(affinity, Fact::Unknown | Fact::Known(Some(Affinity::Real)));
    if may_be_real && values.may_be(ValueDomain::INTEGER) {
        values.or(ValueDomain::WHOLE_REAL)
    } else {
        values
    }
}
