//! Which values an expression can have.

use super::Facts;
use super::fact::{Fact, Values};
use crate::functions::{Function, Returns};
use crate::lex;
use crate::schema::Affinity;
use crate::tree::{Args, BinaryOperator, Body, Expr, Literal, Query, SetOperator, UnaryOperator};

impl Facts<'_> {
    /// Which values the expression can have, so far as a comparison can take different ones for equal.
    pub fn values(&self, expr: &Expr) -> Values {
        match expr {
            Expr::Column(column) => self.own_column(*column).values,
            Expr::Literal(literal) => of_literal(literal),
            Expr::Unary(operator, operand) => match operator {
                UnaryOperator::Not | UnaryOperator::BitNot => Values::INTEGER,
                UnaryOperator::Plus => self.values(operand),
                UnaryOperator::Minus => numbers(self.values(operand), Values::INTEGER.or(Values::OTHER_REAL)),
            },
            Expr::Binary(operator, left, right) => self.values_of_binary(*operator, left, right),
            Expr::And(_)
            | Expr::Or(_)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::IsNull { .. } => Values::INTEGER,
            Expr::Scalar(query) => self.values_of_query(query),
            Expr::Case { branches, otherwise, .. } => branches
                .iter()
                .map(|(_, then)| then)
                .chain(otherwise.as_deref())
                .fold(Values::NONE, |all, then| all.or(self.values(then))),
            Expr::Cast { type_name, .. } => Values::cast(Affinity::of_declared_type(Some(type_name))),
            Expr::Collate { expr, .. } => self.values(expr),
            Expr::Function { function, args } => self.values_of_call(function, args),
            Expr::Aggregate(call) => self.values_of_call(&call.function, &call.args),
            Expr::Window(call) => self.values_of_call(&call.function, &call.args),
            Expr::Output(_) | Expr::Row(_) => Values::ANY,
        }
    }

    fn values_of_binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Values {
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
            | BinaryOperator::ShiftRight => Values::INTEGER,
            // Integers beyond 64 bits become real numbers that equal none.
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
                self.arithmetic(left, right, Values::INTEGER.or(Values::OTHER_REAL))
            }
            BinaryOperator::Divide | BinaryOperator::Modulo => self.arithmetic(left, right, Values::INTEGER),
            BinaryOperator::Concat => Values::TEXT.or(Values::BLOB),
            BinaryOperator::Arrow => Values::TEXT,
            BinaryOperator::LongArrow => Values::ANY,
        }
    }

    /// The result of an operator that gives a real number as soon as one operand is real.
    fn arithmetic(&self, left: &Expr, right: &Expr, of_integers: Values) -> Values {
        let (left, right) = (self.values(left), self.values(right));
        if left.only(Values::REAL) || right.only(Values::REAL) {
            return Values::REAL;
        }
        numbers(left.or(right), of_integers)
    }

    fn values_of_call(&self, function: &Function, args: &Args) -> Values {
        let args = args.as_slice();
        let all = |args: &[Expr]| args.iter().fold(Values::NONE, |all, arg| all.or(self.values(arg)));
        let first = || args.first().map_or(Values::ANY, |arg| self.values(arg));
        match function.properties().returns {
            Returns::Integer => return Values::INTEGER,
            Returns::Real => return Values::REAL,
            Returns::Text => return Values::TEXT,
            Returns::Open => {}
        }
        match function {
            Function::Sum | Function::Abs => numbers(first(), Values::INTEGER),
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
                args.iter().enumerate().fold(Values::NONE, |values, (place, arg)| {
                    // Conditions and results take turns; the last of an odd number is the result of ELSE.
                    let is_result = place % 2 == 1 || place + 1 == args.len();
                    if is_result { values.or(self.values(arg)) } else { values }
                })
            }
            Function::Substr | Function::Substring => Values::TEXT.or(Values::BLOB),
            _ => Values::ANY,
        }
    }

    pub(super) fn values_of_query(&self, query: &Query) -> Values {
        self.values_of_body(&query.body, 0)
    }

    /// The values of one result column of a body.
    fn values_of_body(&self, body: &Body, place: usize) -> Values {
        match body {
            Body::Select(select) => {
                select.outputs.get(place).map_or(Values::ANY, |output| self.values(&output.expr))
            }
            Body::SetOperation { operator: SetOperator::Except, left, .. } => {
                self.values_of_body(left, place)
            }
            Body::SetOperation { left, right, .. } => {
                self.values_of_body(left, place).or(self.values_of_body(right, place))
            }
            Body::Values(rows) => rows.iter().fold(Values::NONE, |all, row| {
                all.or(row.get(place).map_or(Values::ANY, |expr| self.values(expr)))
            }),
        }
    }
}

/// The values of an operator over numbers whose operands have those values: texts and blobs count as the number
/// that they begin with.
fn numbers(operands: Values, of_integers: Values) -> Values {
    if operands.only(Values::INTEGER) {
        of_integers
    } else if operands.only(Values::REAL) {
        Values::REAL
    } else {
        Values::NUMBER
    }
}

fn of_literal(literal: &Literal) -> Values {
    match literal {
        Literal::Null => Values::NONE,
        Literal::Boolean(_) | Literal::Integer(_) => Values::INTEGER,
        Literal::Real(real) => {
            let is_whole = real.get().fract() == 0.0 && real.get().abs() <= 9_223_372_036_854_775_808.0;
            if is_whole { Values::WHOLE_REAL } else { Values::OTHER_REAL }
        }
        Literal::Text(text) => {
            // A number begins with a digit, a sign or a point, perhaps behind white space.
            let start = text.trim_start_matches(lex::is_space);
            let may_be_number =
                start.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
            if may_be_number { Values::TEXT } else { Values::OTHER_TEXT }
        }
        Literal::Blob(_) => Values::BLOB,
    }
}

/// What is read from a materialised column: with REAL affinity SQLite makes real numbers of integers, or does not,
/// as its plan has it.
pub(super) fn read_back(values: Values, affinity: Fact<Option<Affinity>>) -> Values {
    let may_be_real = matches!(affinity, Fact::Unknown | Fact::Known(Some(Affinity::Real)));
    if may_be_real && values.may_be(Values::INTEGER) { values.or(Values::WHOLE_REAL) } else { values }
}
