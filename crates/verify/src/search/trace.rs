//! Which values the queries compare each column with, and which columns they compare with each other.
//!
//! A comparison is followed through derived tables, CTEs and expressions down to the columns of tables: for
//! `substr(d, 1, 4) = '1990'` the column `d` gets a value that makes it true.

use std::collections::HashMap;

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, CteId, Expr, LikeOperator, Literal, Query, Relation, RelationId, Source,
    UnaryOperator,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

use super::values::{self, above, below, number, text_of};

/// How deep a comparison is followed through derived tables and expressions.
const MAX_DEPTH: usize = 24;

/// Largest count that LIMIT or HAVING can ask of a search; larger ones need larger databases than it makes.
const MAX_SIZE: i64 = 40;

/// A column of a table.
pub(super) type ColumnKey = (TableId, u32);

/// A value that one of the queries compares a column with.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) column: ColumnKey,
    pub(super) value: Value,
    /// Values that make the comparison true, where they are other than `value`.
    pub(super) wanted: Vec<Value>,
}

/// What a set of queries says about the values of columns.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) facts: Vec<Fact>,
    /// Columns that are compared, or that meet in a set operation.
    pub(super) equal: Vec<(ColumnKey, ColumnKey)>,
    /// Numbers of rows at which LIMIT, OFFSET or a count decides.
    pub(super) sizes: Vec<usize>,
    /// Columns that are read at all.
    pub(super) read: Vec<ColumnKey>,
    /// Columns whose text is also used as a number.
    pub(super) numeric: Vec<ColumnKey>,
    /// Columns that are used as a date.
    pub(super) dates: Vec<ColumnKey>,
    /// Columns inside `sum()`, `avg()` and `total()`.
    pub(super) summed: Vec<ColumnKey>,
}

/// Traces one query.
pub(super) fn trace(query: &Query) -> Trace {
    let mut origins = Origins::default();
    walk_query(&mut origins, query);
    let mut tracer = Tracer { origins, found: Trace::default() };
    walk_query(&mut tracer, query);
    tracer.found
}

/// Where the columns of relations come from.
#[derive(Default)]
struct Origins {
    relations: HashMap<RelationId, Origin>,
    ctes: HashMap<CteId, Vec<Vec<Expr>>>,
}

enum Origin {
    Table(TableId),
    Cte(CteId),
    /// For each column the expressions that can give its value.
    Outputs(Vec<Vec<Expr>>),
}

impl Visitor for Origins {
    fn query(&mut self, query: &Query) {
        for cte in &query.ctes {
            self.ctes.insert(cte.id, outputs(&cte.query.body));
        }
    }

    fn relation(&mut self, relation: &Relation) {
        let origin = match &relation.source {
            Source::Table(id) => Origin::Table(*id),
            Source::Cte(id) => Origin::Cte(*id),
            Source::Derived(query) => Origin::Outputs(outputs(&query.body)),
            Source::Function { .. } | Source::Catalog => return,
        };
        self.relations.insert(relation.id, origin);
    }
}

/// For each result column of a body, its expressions in all operands.
fn outputs(body: &Body) -> Vec<Vec<Expr>> {
    match body {
        Body::Select(select) => select.outputs.iter().map(|output| vec![output.expr.clone()]).collect(),
        Body::SetOperation { left, right, .. } => {
            let mut columns = outputs(left);
            for (column, more) in columns.iter_mut().zip(outputs(right)) {
                column.extend(more);
            }
            columns
        }
        Body::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (0..width).map(|at| rows.iter().filter_map(|row| row.get(at).cloned()).collect()).collect()
        }
    }
}

struct Tracer {
    origins: Origins,
    found: Trace,
}

impl Visitor for Tracer {
    fn query(&mut self, query: &Query) {
        for expr in query.limit.iter().chain(&query.offset) {
            if let Some(Value::Integer(size)) = constant(expr) {
                self.size(size);
            }
        }
    }

    fn body(&mut self, body: &Body) {
        let Body::SetOperation { left, right, .. } = body else { return };
        for (left, right) in outputs(left).iter().zip(&outputs(right)) {
            for (left, right) in left.iter().flat_map(|left| right.iter().map(move |right| (left, right))) {
                self.relate(BinaryOperator::Equal, left, right);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(column) => {
                if let Some(Origin::Table(table)) = self.origins.relations.get(&column.relation)
                    && let Some(at) = column.column.position()
                {
                    self.found.read.push((*table, at));
                }
            }
            Expr::Binary(operator, left, right) if operator.is_comparison() => match (&**left, &**right) {
                (Expr::Row(left), Expr::Row(right)) => {
                    left.iter().zip(right).for_each(|(left, right)| self.relate(*operator, left, right));
                }
                (left, right) => self.relate(*operator, left, right),
            },
            Expr::Binary(
                BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide,
                left,
                right,
            ) => [left, right].into_iter().for_each(|operand| self.use_as_number(operand)),
            Expr::Between { expr, low, high, .. } => {
                self.relate(BinaryOperator::GreaterEqual, expr, low);
                self.relate(BinaryOperator::LessEqual, expr, high);
            }
            Expr::InList { expr, list, .. } => {
                list.iter().for_each(|item| self.relate(BinaryOperator::Equal, expr, item));
            }
            Expr::InQuery { expr, query, .. } => self.relate_to_query(expr, query),
            Expr::Like { operator, expr, pattern, .. } => {
                let pattern = constant(pattern).and_then(|pattern| text_of(&pattern));
                for text in pattern.iter().flat_map(|pattern| instantiate(*operator, pattern)) {
                    self.require(expr, &Value::text(&text), BinaryOperator::Equal, 0);
                }
            }
            Expr::Case { operand: Some(operand), branches, .. } => {
                branches.iter().for_each(|(when, _)| self.relate(BinaryOperator::Equal, operand, when));
            }
            other => {
                if let Some((function, args)) = other.called() {
                    self.call(function, args.as_slice());
                }
            }
        }
    }
}

impl Tracer {
    fn size(&mut self, size: i64) {
        if (0..=MAX_SIZE).contains(&size) {
            self.found.sizes.extend(usize::try_from(size));
        }
    }

    fn call(&mut self, function: &Function, args: &[Expr]) {
        match function {
            Function::Date
            | Function::Time
            | Function::DateTime
            | Function::JulianDay
            | Function::UnixEpoch => self.use_as_date(args.first()),
            Function::Strftime => self.use_as_date(args.get(1)),
            Function::Abs | Function::Round => args.iter().take(1).for_each(|arg| self.use_as_number(arg)),
            Function::Sum | Function::Avg | Function::Total => {
                let mut columns = Vec::new();
                args.iter().for_each(|arg| {
                    self.use_as_number(arg);
                    self.columns_of(arg, &mut columns, 0);
                });
                self.found.summed.extend(columns);
            }
            _ => {}
        }
    }

    fn use_as_number(&mut self, expr: &Expr) {
        let mut columns = Vec::new();
        if matches!(expr, Expr::Column(_) | Expr::Cast { .. }) {
            self.columns_of(expr, &mut columns, 0);
        }
        self.found.numeric.extend(columns);
    }

    fn use_as_date(&mut self, expr: Option<&Expr>) {
        let mut columns = Vec::new();
        if let Some(expr) = expr {
            self.columns_of(expr, &mut columns, 0);
        }
        self.found.dates.extend(columns);
    }

    fn relate_to_query(&mut self, expr: &Expr, query: &Query) {
        let parts = match expr {
            Expr::Row(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        for (part, outputs) in parts.iter().zip(outputs(&query.body)) {
            outputs.iter().for_each(|output| self.relate(BinaryOperator::Equal, part, output));
        }
    }

    fn relate(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) {
        match (constant(left), constant(right)) {
            (None, Some(value)) => self.require(left, &value, operator, 0),
            (Some(value), None) => self.require(right, &value, mirrored(operator), 0),
            (Some(_), Some(_)) => {}
            (None, None) => {
                let (mut lefts, mut rights) = (Vec::new(), Vec::new());
                self.columns_of(left, &mut lefts, 0);
                self.columns_of(right, &mut rights, 0);
                let pairs = lefts.iter().take(3).flat_map(|&l| rights.iter().take(3).map(move |&r| (l, r)));
                self.found.equal.extend(pairs);
            }
        }
    }

    /// The columns of tables that an expression's value comes from; of a subquery, those of its result.
    fn columns_of(&self, expr: &Expr, found: &mut Vec<ColumnKey>, depth: usize) {
        if depth > MAX_DEPTH || found.len() > 16 {
            return;
        }
        match expr {
            Expr::Column(column) => match self.origin(*column) {
                Some(Ok(key)) => found.push(key),
                Some(Err(exprs)) => exprs.iter().for_each(|expr| self.columns_of(expr, found, depth + 1)),
                None => {}
            },
            Expr::Scalar(query) => {
                let outputs = outputs(&query.body);
                outputs.iter().flatten().for_each(|expr| self.columns_of(expr, found, depth + 1));
            }
            _ => children(expr).into_iter().for_each(|child| self.columns_of(child, found, depth + 1)),
        }
    }

    fn origin(&self, column: ColumnRef) -> Option<Result<ColumnKey, &[Expr]>> {
        let at = column.column.position()?;
        match self.origins.relations.get(&column.relation)? {
            Origin::Table(table) => Some(Ok((*table, at))),
            Origin::Cte(id) => Some(Err(self.origins.ctes.get(id)?.get(at as usize)?)),
            Origin::Outputs(outputs) => Some(Err(outputs.get(at as usize)?)),
        }
    }

    /// Notes values of columns for which `expr operator value` is decided one way or the other.
    fn require(&mut self, expr: &Expr, value: &Value, operator: BinaryOperator, depth: usize) {
        if depth > MAX_DEPTH {
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
                self.require(inner, &negated, mirrored(operator), next);
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
        let wanted = match operator {
            BinaryOperator::Less => vec![below(value)],
            BinaryOperator::LessEqual => vec![value.clone(), below(value)],
            BinaryOperator::Greater => vec![above(value)],
            BinaryOperator::GreaterEqual => vec![value.clone(), above(value)],
            BinaryOperator::NotEqual | BinaryOperator::IsNot => vec![above(value), below(value)],
            _ => vec![value.clone()],
        };
        self.found.facts.push(Fact { column, value: value.clone(), wanted });
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
                for text in text_of(value).iter().flat_map(|text| values::around_substring(text, start)) {
                    self.require(first, &Value::text(&text), operator, depth);
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
                if let (Some(text), Some(date)) = (text_of(value), args.get(1)) {
                    for date_text in values::dates_formatted_as(&format, &text) {
                        self.require(date, &Value::text(&date_text), operator, depth);
                    }
                }
            }
            Function::Instr => {
                let part = args.get(1).and_then(constant).as_ref().and_then(text_of).unwrap_or_default();
                for text in [part.clone(), format!("a{part}"), format!("{part}b")] {
                    self.require(first, &Value::text(&text), BinaryOperator::Equal, depth);
                }
            }
            Function::Sum | Function::Total => {
                self.require(first, value, operator, depth);
                if let Some(n) = number(value) {
                    self.require(first, &values::from_number((n / 2.0).floor()), operator, depth);
                }
            }
            _ => args.iter().for_each(|arg| self.require(arg, value, operator, depth)),
        }
    }
}

/// The operands of an expression, subqueries excepted.
fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Unary(_, inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => {
            vec![inner]
        }
        Expr::Binary(_, left, right) => vec![left, right],
        Expr::Function { .. } | Expr::Aggregate(_) | Expr::Window(_) => {
            expr.called().map_or(&[][..], |(_, args)| args.as_slice()).iter().collect()
        }
        Expr::Case { operand, branches, otherwise } => {
            let branches = branches.iter().flat_map(|(when, then)| [when, then]);
            operand.as_deref().into_iter().chain(branches).chain(otherwise.as_deref()).collect()
        }
        Expr::Row(parts) => parts.iter().collect(),
        _ => Vec::new(),
    }
}

/// The value of an expression without columns, as far as it can be told without SQLite.
pub(super) fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Literal(literal) => Some(match literal {
            Literal::Null => return None,
            Literal::Boolean(truth) => Value::Integer(i64::from(*truth)),
            Literal::Integer(integer) => Value::Integer(*integer),
            Literal::Real(real) => Value::Real(real.get()),
            Literal::Text(text) => Value::text(text),
            Literal::Blob(bytes) => Value::Blob(bytes.as_slice().into()),
        }),
        Expr::Unary(UnaryOperator::Minus, inner) => {
            constant(inner).as_ref().and_then(number).map(|n| values::from_number(-n))
        }
        Expr::Unary(UnaryOperator::Plus, inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Collate { expr: inner, .. } => constant(inner),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (constant(left)?, constant(right)?);
            let pair = || Some((number(&left)?, number(&right)?));
            match operator {
                BinaryOperator::Concat => Some(Value::text(&(text_of(&left)? + &text_of(&right)?))),
                BinaryOperator::Add => pair().map(|(l, r)| values::from_number(l + r)),
                BinaryOperator::Subtract => pair().map(|(l, r)| values::from_number(l - r)),
                BinaryOperator::Multiply => pair().map(|(l, r)| values::from_number(l * r)),
                _ => None,
            }
        }
        Expr::Function { function, args } if function.is_deterministic(args) => match function {
            Function::Date
            | Function::DateTime
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::JulianDay => constant(args.as_slice().first()?),
            _ => None,
        },
        _ => None,
    }
}

fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessEqual => BinaryOperator::GreaterEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterEqual => BinaryOperator::LessEqual,
        same => same,
    }
}

/// Texts that a pattern matches, and some that it just does not.
fn instantiate(operator: LikeOperator, pattern: &str) -> Vec<String> {
    let (many, one) = match operator {
        LikeOperator::Like => ('%', '_'),
        LikeOperator::Glob => ('*', '?'),
        LikeOperator::Regexp | LikeOperator::Match => return vec![pattern.to_owned()],
    };
    let fill = |many_text: &str, one_text: &str| -> String {
        pattern
            .chars()
            .map(|c| {
                if c == many {
                    many_text.to_owned()
                } else if c == one {
                    one_text.to_owned()
                } else {
                    c.to_string()
                }
            })
            .collect()
    };
    let mut texts = vec![fill("", "a"), fill("x", "b")];
    let core = texts[0].clone();
    let fitting = fill("", "");
    texts.extend([fill(" ", "a"), core.to_ascii_uppercase(), core.to_ascii_lowercase(), format!("x{core}y")]);
    if fitting != core {
        texts.push(fitting);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    fn traced(sql: &str) -> Trace {
        trace(&resolve(sql, &schema()).unwrap())
    }

    fn schema() -> Schema {
        Schema::from_ddl("CREATE TABLE t (a, b, c); CREATE TABLE u (x, y)").unwrap()
    }

    fn wanted(sql: &str) -> Vec<(u32, String)> {
        let facts = traced(sql).facts.into_iter();
        facts
            .flat_map(|fact| fact.wanted.into_iter().map(move |v| (fact.column.1, super::super::literal(&v))))
            .collect()
    }

    #[test]
    fn constants_reach_the_column_that_they_are_compared_with() {
        for (sql, column, value) in [
            ("SELECT 1 FROM t WHERE a = 5", 0, "5"),
            ("SELECT 1 FROM t WHERE 5 < b", 1, "6"),
            ("SELECT 1 FROM t WHERE b BETWEEN 3 AND 4", 1, "4"),
            ("SELECT 1 FROM t WHERE a + 2 = 5", 0, "3"),
            ("SELECT 1 FROM t WHERE 10 - a = 4", 0, "6"),
            ("SELECT 1 FROM t WHERE substr(a, 1, 4) = '1990'", 0, "'1990'"),
            ("SELECT 1 FROM t WHERE substr(a, 3, 2) = 'zz'", 0, "'aazz'"),
            ("SELECT 1 FROM t WHERE strftime('%Y', a) = '1990'", 0, "'1990-06-15'"),
            ("SELECT 1 FROM t WHERE a || ' ' || b = 'x y'", 0, "'x'"),
            ("SELECT 1 FROM t WHERE a || ' ' || b = 'x y'", 1, "'y'"),
            ("SELECT 1 FROM t WHERE lower(a) = 'q'", 0, "'Q'"),
            ("SELECT 1 FROM t WHERE a LIKE 'p%'", 0, "'px'"),
            ("SELECT q FROM (SELECT a AS q FROM t) WHERE q IN (1, 7)", 0, "7"),
            ("WITH w AS (SELECT c AS q FROM t) SELECT 1 FROM w WHERE q = -7", 2, "-7"),
            ("SELECT sum(CASE WHEN a = 'v' THEN 1 ELSE 0 END) FROM t", 0, "'v'"),
            ("SELECT 1 FROM t GROUP BY b HAVING max(a) > 8", 0, "9"),
        ] {
            assert!(wanted(sql).contains(&(column, value.to_owned())), "{sql}: {:?}", wanted(sql));
        }
    }

    #[test]
    fn compared_columns_share_a_domain() {
        let ids: Vec<TableId> = schema().ids().collect();
        let key = |table: usize, column| (ids[table], column);
        for (sql, pair) in [
            ("SELECT 1 FROM t JOIN u ON a = x", (key(0, 0), key(1, 0))),
            ("SELECT a FROM t WHERE b IN (SELECT y FROM u)", (key(0, 1), key(1, 1))),
            ("SELECT a FROM t EXCEPT SELECT x FROM u", (key(0, 0), key(1, 0))),
            ("SELECT a FROM t WHERE a = (SELECT max(x) FROM u)", (key(0, 0), key(1, 0))),
            ("SELECT 1 FROM t, (SELECT y + 1 AS z FROM u) WHERE c < z", (key(0, 2), key(1, 1))),
        ] {
            assert!(traced(sql).equal.contains(&pair), "{sql}");
        }
    }

    #[test]
    fn limits_and_counts_ask_for_that_many_rows() {
        for (sql, sizes) in [
            ("SELECT a FROM t LIMIT 3", vec![3]),
            ("SELECT a FROM t LIMIT 2 OFFSET 1", vec![2, 1]),
            ("SELECT a FROM t GROUP BY a HAVING count(*) >= 4", vec![4]),
            ("SELECT a FROM t LIMIT 100000", vec![]),
        ] {
            assert_eq!(traced(sql).sizes, sizes, "{sql}");
        }
    }
}
