//! Which values of columns make an expression have a given value.

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, UnaryOperator};

use super::constants::constant;
use super::{ColumnKey, Fact, Tracer, children, outputs};
use crate::values::{self, above, below, number, text_of};

impl Tracer {
    /// Notes values of columns for which `expr operator value` is decided one way or the other.
    pub(super) fn require(&mut self, expr: &Expr, value: &Value, operator: BinaryOperator, depth: usize) {
        if !self.follows(depth) {
            return;
        }
        let next = depth + 1;
        match expr {
            Expr::Column(column) => match self.origin(*column) {
                Some(Ok(key)) => self.fact(key, value, operator),
                Some(Err(exprs)) => {
                    let exprs = exprs.to_vec();
                    exprs.iter().for_each(|expr| self.require(expr, value, operator, next));
                }
                None => {}
            },
            Expr::Scalar(query) => {
                let outputs = outputs(&query.body);
                outputs.iter().flatten().for_each(|output| self.require(output, value, operator, next));
            }
            Expr::Unary(UnaryOperator::Minus, inner) => {
                let negated = number(value).map_or_else(|| value.clone(), |n| values::from_number(-n));
                self.require(inner, &negated, operator.mirrored(), next);
            }
            Expr::Binary(arithmetic, left, right) => {
                self.require_of_operands(*arithmetic, left, right, value, operator, next);
            }
            Expr::Function { function, args } => {
                self.require_of_call(function, args.as_slice(), value, operator, next);
            }
            Expr::Aggregate(call) => {
                self.require_of_aggregate(&call.function, call.args.as_slice(), value, operator, next);
            }
            Expr::Window(call) => {
                self.require_of_call(&call.function, call.args.as_slice(), value, operator, next);
            }
            Expr::Case { branches, otherwise, .. } => {
                let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                results.for_each(|result| self.require(result, value, operator, next));
            }
            _ => children(expr).into_iter().for_each(|child| self.require(child, value, operator, next)),
        }
    }

    fn fact(&mut self, column: ColumnKey, value: &Value, operator: BinaryOperator) {
        let wanted = satisfying(value, operator);
        self.trace.facts.push(Fact { column, value: value.clone(), wanted });
    }

    /// Values of the operands for which an arithmetic or text operator gives `value`.
    fn require_of_operands(
        &mut self,
        arithmetic: BinaryOperator,
        left: &Expr,
        right: &Expr,
        value: &Value,
        operator: BinaryOperator,
        depth: usize,
    ) {
        if arithmetic == BinaryOperator::Concat {
            return self.require_of_parts(left, right, value, depth);
        }
        let Some(target) = number(value) else { return };
        let (fixed_left, fixed_right) =
            (constant(left).as_ref().and_then(number), constant(right).as_ref().and_then(number));
        let (lefts, rights): (Vec<f64>, Vec<f64>) = match arithmetic {
            BinaryOperator::Add => match (fixed_left, fixed_right) {
                (Some(l), _) => (vec![], vec![target - l]),
                (_, Some(r)) => (vec![target - r], vec![]),
                _ => (vec![target, (target / 2.0).floor()], vec![0.0, target - (target / 2.0).floor()]),
            },
            BinaryOperator::Subtract => match (fixed_left, fixed_right) {
                (Some(l), _) => (vec![], vec![l - target]),
                (_, Some(r)) => (vec![target + r], vec![]),
                // Some years before the present one, whichever that is.
                _ if is_year(right) && reads_clock(left) => {
                    let years = [PAST_YEAR, FUTURE_YEAR].into_iter().chain(PRESENT_YEARS.map(f64::from));
                    (vec![], years.map(|year| year - target).collect())
                }
                _ if is_year(left) || is_year(right) => {
                    (vec![2000.0 + target, 2001.0 + target], vec![2000.0, 2001.0])
                }
                _ if satisfying(value, operator).first() == Some(&above(value)) => {
                    (vec![target + 1.0, target + 3.0], vec![0.0, 1.0])
                }
                _ => (vec![target, target + 1.0, target + 2.0], vec![0.0, 1.0, 2.0]),
            },
            BinaryOperator::Multiply => match (fixed_left, fixed_right) {
                (Some(l), _) if l != 0.0 => (vec![], vec![target / l]),
                (_, Some(r)) if r != 0.0 => (vec![target / r], vec![]),
                _ => (vec![target, 1.0], vec![1.0, target, 2.0]),
            },
            BinaryOperator::Divide => match (fixed_left, fixed_right) {
                (Some(l), _) if target != 0.0 => (vec![], vec![l / target]),
                (_, Some(r)) => (vec![target * r], vec![]),
                _ => (vec![target, target * 2.0, 1.0], vec![1.0, 2.0, 0.0]),
            },
            BinaryOperator::Modulo => (vec![target, target + fixed_right.unwrap_or(2.0)], vec![]),
            _ => return,
        };
        for (side, numbers) in [(left, lefts), (right, rights)] {
            for number in numbers.into_iter().filter(|number| number.is_finite()) {
                self.require(side, &values::from_number(number), operator, depth);
            }
        }
    }

    /// Values of the operands of `||` that make `value`: cut at a constant part, or at each space.
    fn require_of_parts(&mut self, left: &Expr, right: &Expr, value: &Value, depth: usize) {
        let Some(whole) = text_of(value) else { return };
        let part = |expr: &Expr| constant(expr).as_ref().and_then(text_of);
        let mut cuts: Vec<(String, String)> = Vec::new();
        match (part(left), part(right)) {
            (Some(start), _) => {
                cuts.extend(whole.strip_prefix(&start).map(|rest| (start.clone(), rest.to_owned())));
            }
            (_, Some(end)) => {
                cuts.extend(whole.strip_suffix(&end).map(|rest| (rest.to_owned(), end.clone())));
            }
            _ => cuts.extend(
                whole
                    .match_indices(' ')
                    .map(|(at, _)| (whole[..at].to_owned(), whole[at..].to_owned()))
                    .take(4),
            ),
        }
        // `first || ' ' || last` is `(first || ' ') || last`: the space belongs to the left part.
        let shifted: Vec<_> = cuts
            .iter()
            .filter_map(|(l, r)| r.strip_prefix(' ').map(|rest| (format!("{l} "), rest.to_owned())))
            .collect();
        for (l, r) in cuts.iter().chain(&shifted) {
            self.require(left, &Value::text(l), BinaryOperator::Equal, depth);
            self.require(right, &Value::text(r), BinaryOperator::Equal, depth);
        }
    }

    fn require_of_aggregate(
        &mut self,
        function: &Function,
        args: &[Expr],
        value: &Value,
        operator: BinaryOperator,
        depth: usize,
    ) {
        if *function != Function::Count {
            return self.require_of_call(function, args, value, operator, depth);
        }
        if let Some(size) = number(value) {
            #[expect(clippy::cast_possible_truncation, reason = "the size is bounded just behind")]
            self.size(size as i64);
        }
    }

    fn require_of_call(
        &mut self,
        function: &Function,
        args: &[Expr],
        value: &Value,
        operator: BinaryOperator,
        depth: usize,
    ) {
        let Some(first) = args.first() else { return };
        match function {
            Function::Lower | Function::Upper | Function::Trim | Function::Ltrim | Function::Rtrim => {
                let text = text_of(value).unwrap_or_default();
                for text in
                    [text.clone(), text.to_ascii_uppercase(), text.to_ascii_lowercase(), format!(" {text} ")]
                {
                    self.require(first, &Value::text(&text), operator, depth);
                }
            }
            Function::Substr | Function::Substring => {
                let start = args.get(1).and_then(constant).as_ref().and_then(number).unwrap_or(1.0);
                let texts = satisfying(value, operator).into_iter().chain([value.clone()]);
                for text in texts.filter_map(|text| text_of(&text)) {
                    for whole in values::around_substring(&text, start) {
                        self.require(first, &Value::text(&whole), BinaryOperator::Equal, depth);
                    }
                }
            }
            Function::Length => {
                for length in number(value).into_iter().flat_map(|n| [n - 1.0, n, n + 1.0]) {
                    if (0.0..64.0).contains(&length) {
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "in bounds"
                        )]
                        let text = "abcdefgh".repeat(8)[..length as usize].to_owned();
                        self.require(first, &Value::text(&text), BinaryOperator::Equal, depth);
                    }
                }
            }
            Function::Strftime => {
                let format = constant(first).as_ref().and_then(text_of).unwrap_or_default();
                let Some(date) = args.get(1) else { return };
                // The comparison is one of texts or numbers; which dates give them is another matter.
                let texts = satisfying(value, operator).into_iter().chain([value.clone()]);
                for text in texts.filter_map(|text| text_of(&text)) {
                    for date_text in values::dates_formatted_as(&format, &text) {
                        self.require(date, &Value::text(&date_text), BinaryOperator::Equal, depth);
                    }
                }
            }
            Function::Instr => {
                let part = args.get(1).and_then(constant).as_ref().and_then(text_of).unwrap_or_default();
                for text in [part.clone(), format!("a{part}"), format!("{part}b"), format!("1{part}25")] {
                    self.require(first, &Value::text(&text), BinaryOperator::Equal, depth);
                }
            }
            Function::Sum | Function::Total | Function::Avg => {
                self.require(first, value, operator, depth);
                for n in number(value).into_iter().flat_map(|n| [(n / 2.0).floor(), n + n / 4.0]) {
                    self.require(first, &values::from_number(n.round()), operator, depth);
                }
            }
            _ => args.iter().for_each(|arg| self.require(arg, value, operator, depth)),
        }
    }
}

/// Years so far apart that the present one lies between them, and those that it may well be, of which one is that at which a
/// comparison changes. A clock is not asked: the databases of a search follow from its seed.
const PAST_YEAR: f64 = 1980.0;
const FUTURE_YEAR: f64 = 2040.0;
const PRESENT_YEARS: std::ops::RangeInclusive<u16> = 2025..=2030;

/// Whether the value of an expression depends on the present time.
fn reads_clock(expr: &Expr) -> bool {
    let is_clock = expr.called().is_some_and(|(function, args)| {
        function.properties().may_read_clock && !function.is_deterministic(args)
    });
    is_clock || children(expr).into_iter().any(reads_clock)
}

/// Whether an expression is the year of a date.
fn is_year(expr: &Expr) -> bool {
    match expr {
        Expr::Function { function: Function::Strftime, args } => {
            let format = args.as_slice().first().and_then(constant);
            format.as_ref().and_then(text_of).is_some_and(|format| format == "%Y")
        }
        Expr::Cast { expr, .. } => is_year(expr),
        _ => false,
    }
}

/// Values for which the comparison with `value` is true.
fn satisfying(value: &Value, operator: BinaryOperator) -> Vec<Value> {
    match operator {
        BinaryOperator::Less => vec![below(value)],
        BinaryOperator::LessEqual => vec![value.clone(), below(value)],
        BinaryOperator::Greater => vec![above(value)],
        BinaryOperator::GreaterEqual => vec![value.clone(), above(value)],
        BinaryOperator::NotEqual | BinaryOperator::IsNot => vec![above(value), below(value)],
        _ => vec![value.clone()],
    }
}
