//! Which values the queries compare each column with, and which columns they compare with each other.
//!
//! A comparison is followed through derived tables, CTEs and expressions down to the columns of tables: for
//! `substr(d, 1, 4) = '1990'` the column `d` gets a value that makes it true.

mod constants;
mod require;

use std::cell::Cell;
use std::collections::HashMap;

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, CteId, Expr, Output, Query, Relation, RelationId, RelationSource,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

pub(super) use self::constants::constant;
use self::constants::instantiate;
use super::values::text_of;

/// How deep a comparison is followed through derived tables and expressions.
const MAX_DEPTH: usize = 24;

/// Steps by which the comparisons of one query are followed in all, since what stands in a derived table may be read twice in each
/// that is around it. What is not followed only guides the search less.
const MAX_STEPS: usize = 50_000;

/// Largest count that LIMIT or HAVING can ask of a search; larger ones need larger databases than it makes.
const MAX_SIZE: i64 = 200;

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
    pub(super) read: Vec<ColumnKey>,
    /// Columns whose text is also used as a number.
    pub(super) numeric: Vec<ColumnKey>,
    /// Columns that are used as a date.
    pub(super) dates: Vec<ColumnKey>,
    /// Columns inside `sum()`, `avg()` and `total()`.
    pub(super) summed: Vec<ColumnKey>,
    /// What else columns are used for.
    pub(super) uses: Vec<(ColumnKey, Use)>,
}

/// What a query uses a column for, other than comparing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Rows are grouped or made distinct by it.
    Grouped,
    /// Rows are sorted by it.
    Sorted,
    /// An aggregate is computed over it.
    Aggregated,
    /// `count()` counts its values.
    Counted,
    /// `count(DISTINCT)` counts its values.
    CountedDistinct,
}

pub(super) fn trace(query: &Query) -> Trace {
    let mut origins = Origins::default();
    walk_query(&mut origins, query);
    let mut tracer = Tracer { origins, trace: Trace::default(), steps: Cell::new(0) };
    walk_query(&mut tracer, query);
    tracer.trace
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
            RelationSource::Table(id) => Origin::Table(*id),
            RelationSource::Cte(id) => Origin::Cte(*id),
            RelationSource::Derived(query) => Origin::Outputs(outputs(&query.body)),
            RelationSource::Function { .. } | RelationSource::Catalog => return,
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
    trace: Trace,
    steps: Cell<usize>,
}

impl Visitor for Tracer {
    fn query(&mut self, query: &Query) {
        for expr in query.limit.iter().chain(&query.offset) {
            if let Some(Value::Integer(size)) = constant(expr) {
                self.size(size);
            }
        }
        query.order_by.iter().for_each(|term| self.sort_by(&term.expr, query.outputs()));
    }

    fn body(&mut self, body: &Body) {
        if let Body::Select(select) = body {
            let distinct = select.outputs.iter().map(|output| &output.expr).filter(|_| select.distinct);
            select.group_by.iter().chain(distinct).for_each(|expr| self.use_for(expr, Use::Grouped));
        }
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
                    self.trace.read.push((*table, at));
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
                self.aggregate(other);
                if let Some((function, args)) = other.called() {
                    self.call(function, args.as_slice());
                }
            }
        }
    }
}

impl Tracer {
    /// Whether something at that depth is still to be followed.
    fn follows(&self, depth: usize) -> bool {
        self.steps.set(self.steps.get() + 1);
        depth <= MAX_DEPTH && self.steps.get() <= MAX_STEPS
    }

    fn size(&mut self, size: i64) {
        if (0..=MAX_SIZE).contains(&size) {
            self.trace.sizes.extend(usize::try_from(size));
        }
    }

    /// The columns of an aggregate or a window function.
    fn aggregate(&mut self, expr: &Expr) {
        match expr {
            Expr::Aggregate(call) => {
                let use_ = match (&call.function, call.distinct) {
                    (Function::Count, true) => Use::CountedDistinct,
                    (Function::Count, false) => Use::Counted,
                    _ => Use::Aggregated,
                };
                call.args.as_slice().iter().for_each(|arg| self.use_for(arg, use_));
            }
            Expr::Window(call) => {
                call.window.partition_by.iter().for_each(|expr| self.use_for(expr, Use::Grouped));
                call.window.order_by.iter().for_each(|term| self.use_for(&term.expr, Use::Sorted));
            }
            _ => {}
        }
    }

    fn sort_by(&mut self, expr: &Expr, outputs: Option<&[Output]>) {
        match (expr, outputs) {
            (Expr::Output(at), Some(outputs)) => {
                outputs
                    .get(*at as usize)
                    .into_iter()
                    .for_each(|output| self.use_for(&output.expr, Use::Sorted));
            }
            _ => self.use_for(expr, Use::Sorted),
        }
    }

    fn use_for(&mut self, expr: &Expr, use_: Use) {
        let mut columns = Vec::new();
        self.columns_of(expr, &mut columns, 0);
        self.trace.uses.extend(columns.into_iter().map(|column| (column, use_)));
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
                self.trace.summed.extend(columns);
            }
            _ => {}
        }
    }

    fn use_as_number(&mut self, expr: &Expr) {
        let mut columns = Vec::new();
        if matches!(expr, Expr::Column(_) | Expr::Cast { .. }) {
            self.columns_of(expr, &mut columns, 0);
        }
        self.trace.numeric.extend(columns);
    }

    fn use_as_date(&mut self, expr: Option<&Expr>) {
        let mut columns = Vec::new();
        if let Some(expr) = expr {
            self.columns_of(expr, &mut columns, 0);
        }
        self.trace.dates.extend(columns);
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
            (Some(value), None) => self.require(right, &value, operator.mirrored(), 0),
            (Some(_), Some(_)) => {}
            (None, None) => {
                let (mut lefts, mut rights) = (Vec::new(), Vec::new());
                self.columns_of(left, &mut lefts, 0);
                self.columns_of(right, &mut rights, 0);
                let pairs = lefts.iter().take(3).flat_map(|&l| rights.iter().take(3).map(move |&r| (l, r)));
                self.trace.equal.extend(pairs);
            }
        }
    }

    /// The columns of tables that an expression's value comes from; of a subquery, those of its result.
    fn columns_of(&self, expr: &Expr, columns: &mut Vec<ColumnKey>, depth: usize) {
        if !self.follows(depth) || columns.len() > 16 {
            return;
        }
        match expr {
            Expr::Column(column) => match self.origin(*column) {
                Some(Ok(key)) => columns.push(key),
                Some(Err(exprs)) => exprs.iter().for_each(|expr| self.columns_of(expr, columns, depth + 1)),
                None => {}
            },
            Expr::Scalar(query) => {
                let outputs = outputs(&query.body);
                outputs.iter().flatten().for_each(|expr| self.columns_of(expr, columns, depth + 1));
            }
            _ => children(expr).into_iter().for_each(|child| self.columns_of(child, columns, depth + 1)),
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
    fn what_doubles_with_each_level_is_followed_in_part() {
        let nested =
            (0..24).fold("SELECT a FROM t".to_owned(), |inner, _| format!("SELECT a+a AS a FROM ({inner})"));
        assert!(traced(&format!("SELECT 1 FROM ({nested}) WHERE a = 5")).facts.len() <= MAX_STEPS);
        assert!(traced(&format!("SELECT 1 FROM ({nested}) WHERE a = a")).equal.len() <= MAX_STEPS);
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
