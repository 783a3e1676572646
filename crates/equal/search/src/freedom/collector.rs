//! Walks a query and makes its checks.

use std::collections::BTreeSet;

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, Body, Cte, Expr, From, Literal, OrderTerm, Output, Query, Relation, RelationId,
    RelationSource, Select, Window,
};
use sqlgauge_sql::{PrintDialect, print, print_expr};

use super::build::{any, column, derived, over, rank_by, select_one, varies};
use super::level::{Extreme, Level, has_aggregate, level_exprs, sensitive_windows};
use super::possible::OutermostLimit;
use super::walk::{free_relations, operands, reads_output};
use super::{Choice, Loose, Place, Site, TiedWindow};
use crate::trace::constant;

/// What a query's rows are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The outermost query.
    Top,
    /// All rows count.
    Rows,
    /// The first row alone counts.
    First,
    /// Only whether there is a row.
    Existence,
}

/// Walks a query and collects its checks.
pub(super) struct Collector<'a> {
    pub(super) schema: &'a Schema,
    /// The CTEs in scope, each after those that it refers to.
    pub(super) ctes: Vec<Cte>,
    /// The FROM clauses whose columns are in scope, outermost first.
    pub(super) enclosing: Vec<From>,
    /// How many recursive CTEs the walk is inside of.
    pub(super) recursive: usize,
    /// How many CTEs the walk is inside of, where one may be evaluated several times.
    pub(super) shared: usize,
    /// Whether some CTE is read several times.
    pub(super) shares_ctes: bool,
    pub(super) next_relation: u32,
    pub(super) checks: Vec<(Query, Place)>,
    /// Some place leaves a choice that cannot be checked.
    pub(super) is_always_open: bool,
    pub(super) cut: Option<OutermostLimit>,
    pub(super) sites: Vec<Site>,
    pub(super) ties: Vec<TiedWindow>,
    pub(super) loose: Vec<Loose>,
}

impl Collector<'_> {
    pub(super) fn query(&mut self, query: &Query, role: Role) {
        let ctes_before = self.ctes.len();
        for cte in &query.ctes {
            let is_recursive = sqlgauge_sql::reads::is_recursive(cte);
            self.recursive += usize::from(is_recursive);
            self.shared += usize::from(self.shares_ctes);
            self.query(&cte.query, Role::Rows);
            self.shared -= usize::from(self.shares_ctes);
            self.recursive -= usize::from(is_recursive);
            self.ctes.push(cte.clone());
        }
        self.body(&query.body, query, role);
        self.limit(query, role);
        self.ctes.truncate(ctes_before);
    }

    fn body(&mut self, body: &Body, query: &Query, role: Role) {
        match body {
            Body::Select(select) => self.select(select, query, role),
            Body::SetOperation { left, right, .. } => {
                self.body(left, query, Role::Rows);
                self.body(right, query, Role::Rows);
            }
            Body::Values(rows) => rows.iter().flatten().for_each(|expr| self.expr(expr)),
        }
    }

    fn select(&mut self, select: &Select, query: &Query, role: Role) {
        if let Some(from) = &select.from {
            self.derived(from);
            self.enclosing.push(from.clone());
        }
        if let Some(from) = &select.from {
            self.conditions(from);
        }
        let exprs = level_exprs(select, &query.order_by);
        select
            .filter
            .iter()
            .chain(&select.group_by)
            .chain(exprs.iter().copied())
            .for_each(|expr| self.expr(expr));
        if select.from.is_some() {
            self.enclosing.pop();
            self.grouping(select, query, role);
            self.windows(select, query, &exprs);
        }
    }

    fn derived(&mut self, from: &From) {
        for relation in from.relations() {
            if let RelationSource::Derived(query) = &relation.source {
                self.query(query, Role::Rows);
            }
        }
    }

    fn conditions(&mut self, from: &From) {
        let mut pending = vec![from];
        while let Some(from) = pending.pop() {
            match from {
                From::Join(join) => {
                    join.on.iter().for_each(|on| self.expr(on));
                    pending.extend([&join.left, &join.right]);
                }
                From::Relation(Relation { source: RelationSource::Function { args, .. }, .. }) => {
                    args.iter().for_each(|arg| self.expr(arg));
                }
                From::Relation(_) => {}
            }
        }
    }

    /// The subqueries of an expression.
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Scalar(query) => self.query(query, Role::First),
            Expr::Exists { query, .. } => self.query(query, Role::Existence),
            Expr::InQuery { query, .. } => self.query(query, Role::Rows),
            _ => {}
        }
        operands(expr).into_iter().for_each(|operand| self.expr(operand));
    }

    /// LIMIT, and the implicit one of a scalar subquery.
    fn limit(&mut self, query: &Query, role: Role) {
        let at_most_one = query.as_select().is_some_and(|select| {
            select.from.is_none() || (select.group_by.is_empty() && has_aggregate(select, &query.order_by))
        });
        let is_cut = role == Role::First || query.limit.is_some();
        // The first row may be skipped by an OFFSET, but which rows there are is then no question either.
        if !is_cut || role == Role::Existence || at_most_one {
            return;
        }
        let Some((limit, offset)) = bounds(query) else {
            self.is_always_open = true;
            return;
        };
        if role == Role::Top {
            let cut = limit.map(|limit| OutermostLimit::new(query, limit, offset, self.schema)).transpose();
            self.is_always_open |= cut.is_err();
            self.cut = cut.ok().flatten();
            return;
        }
        let limit = if role == Role::First { 1 } else { limit.unwrap_or(i64::MAX) };
        if limit == 1 && self.recursive == 0 && free_relations(query).is_empty() {
            let ctes = self.ctes.iter().chain(&query.ctes).cloned().collect();
            let Ok(cut) = OutermostLimit::new(&Query { ctes, ..query.clone() }, limit, offset, self.schema)
            else {
                self.is_always_open = true;
                return;
            };
            let free_relation = self.new_relation();
            let place = Place {
                choice: Choice::FirstRow,
                part: print(query, self.schema, PrintDialect::Sqlite).ok(),
            };
            self.sites.push(Site { query: query.clone(), place, cut, free_relation });
            return;
        }
        let check = self.cut_check(query, offset, offset.saturating_add(limit));
        let choice = if role == Role::First { Choice::FirstRow } else { Choice::Limit };
        let part = print(query, self.schema, PrintDialect::Sqlite).ok();
        self.add(check, Place { choice, part });
    }

    /// Rows if a run of rows with equal sort keys, not all equal, has a cut inside of it.
    fn cut_check(&mut self, query: &Query, first_cut: i64, second_cut: i64) -> Select {
        let (ranked, width) = self.ranked(query);
        let id = self.new_relation();
        let column = |at: usize| column(id, at);
        let rank = column(width);
        let before = || Expr::binary(BinaryOperator::Subtract, rank.clone(), Expr::integer(1));
        let behind = || Expr::binary(BinaryOperator::Add, before(), count_rows());
        let is_inside = |cut: i64| {
            Expr::And(vec![
                Expr::binary(BinaryOperator::Less, before(), Expr::integer(cut)),
                Expr::binary(BinaryOperator::Less, Expr::integer(cut), behind()),
            ])
        };
        let varies = (0..width).map(|at| varies(&column(at)));
        let having = Expr::And(vec![
            Expr::Or(vec![is_inside(first_cut), is_inside(second_cut)]),
            any(varies.collect()),
        ]);
        Select { group_by: vec![rank.clone()], having: Some(having), ..select_one(derived(id, ranked)) }
    }

    /// The query without its limit, with the rank of each row by its sort keys appended; and its own width.
    fn ranked(&mut self, query: &Query) -> (Query, usize) {
        let width = query.width();
        if let Some(select) = query.as_select().filter(|select| !select.distinct) {
            let mut select = select.clone();
            let terms = query.order_by.iter().map(|term| {
                let expr = match &term.expr {
                    Expr::Output(at) => select.outputs.get(*at as usize).map(|output| output.expr.clone()),
                    expr => Some(expr.clone()),
                };
                Some(OrderTerm { expr: expr?, ..term.clone() })
            });
            let rank = rank_by(terms.collect::<Option<_>>().unwrap_or_default());
            select.outputs.push(Output::of(rank));
            return (Query { ctes: query.ctes.clone(), ..Query::of_select(select) }, width);
        }
        let id = self.new_relation();
        let unlimited = Query { order_by: Vec::new(), limit: None, offset: None, ..query.clone() };
        let position = |expr: &Expr| match expr {
            Expr::Output(at) => Some(*at as usize),
            expr => query.outputs()?.iter().position(|output| output.expr == *expr),
        };
        // Keys behind one that is no output cannot be told: rows that they sort count as tied.
        let terms = query
            .order_by
            .iter()
            .map_while(|term| Some(OrderTerm { expr: column(id, position(&term.expr)?), ..term.clone() }));
        let rank = rank_by(terms.collect());
        let mut ranked = select_one(derived(id, unlimited));
        ranked.outputs = (0..width).map(|at| Output::of(column(id, at))).chain([Output::of(rank)]).collect();
        (Query::of_select(ranked), width)
    }

    /// Columns that are neither grouped nor aggregated, and aggregates that depend on the order of rows.
    fn grouping(&mut self, select: &Select, query: &Query, role: Role) {
        let mut all = Level::new(select);
        level_exprs(select, &query.order_by).iter().for_each(|expr| all.visit(expr));
        if select.group_by.is_empty() && all.aggregates == 0 {
            return;
        }
        // There is nothing to sort in the one row of a query without GROUP BY.
        let order_by = if select.group_by.is_empty() { &[][..] } else { query.order_by.as_slice() };
        let sorts_by = |at: usize| order_by.iter().any(|term| reads_output(&term.expr, at));
        let mut inner: Vec<&Expr> =
            select.having.iter().chain(order_by.iter().map(|term| &term.expr)).collect();
        for (at, output) in select.outputs.iter().enumerate() {
            let decides_rows = select.distinct || (query.limit.is_some() && sorts_by(at));
            if role != Role::Top || decides_rows {
                inner.push(&output.expr);
                continue;
            }
            for (check, place) in self.open_checks(select, query, &[&output.expr], all.extreme.as_ref()) {
                let closed = self.closed(check);
                match closed.and_then(|check| print(&check, self.schema, PrintDialect::Sqlite).ok()) {
                    Some(check) => self.loose.push(Loose { column: at, check, place }),
                    None => self.is_always_open = true,
                }
            }
        }
        for (check, place) in self.open_checks(select, query, &inner, all.extreme.as_ref()) {
            self.add(check, place);
        }
    }

    /// The checks for what the expressions take from any row of a group.
    fn open_checks(
        &mut self,
        select: &Select,
        query: &Query,
        exprs: &[&Expr],
        extreme: Option<&Extreme>,
    ) -> Vec<(Select, Place)> {
        let mut level = Level::new(select);
        exprs.iter().for_each(|expr| level.visit(expr));
        let mut parts = vec![
            (Vec::new(), level.bare, extreme, Choice::BareColumn),
            (Vec::new(), level.joined, None, Choice::RowOrder),
        ];
        // Rows with equal sort keys are joined in any order.
        parts.extend(level.sorted.into_iter().map(|(keys, exprs)| (keys, exprs, None, Choice::RowOrder)));
        let parts = parts.into_iter().filter(|(_, exprs, ..)| !exprs.is_empty());
        let check = |(keys, exprs, extreme, choice): (Vec<Expr>, Vec<Expr>, Option<&Extreme>, Choice)| {
            let words = exprs.iter().map(|expr| print_expr(expr, query, self.schema, PrintDialect::Sqlite));
            let part = words.collect::<Result<Vec<String>, _>>().ok().map(|words| words.join(", "));
            let group_by = select.group_by.iter().cloned().chain(keys).collect();
            let groups = Select { group_by, ..select.clone() };
            (self.constancy_check(&groups, exprs, extreme.cloned()), Place { choice, part })
        };
        parts.map(check).collect()
    }

    /// Rows if one of the expressions varies within a group. With an extreme, the only `min()` or `max()` of the
    /// SELECT, SQLite takes bare columns from a row that has it, and only such rows count.
    fn constancy_check(&mut self, select: &Select, exprs: Vec<Expr>, extreme: Option<Extreme>) -> Select {
        let (groups, id) = (select.group_by.len(), self.new_relation());
        let count = exprs.len();
        let mut outputs: Vec<Output> = select.group_by.iter().cloned().chain(exprs).map(Output::of).collect();
        let mut filter = None;
        if let Some(extreme) = extreme {
            let args = vec![extreme.argument.clone()];
            let best = over(extreme.function, args, select.group_by.clone(), Vec::new());
            outputs.extend([Output::of(extreme.argument), Output::of(best)]);
            let (argument, best) = (column(id, groups + count), column(id, groups + count + 1));
            filter = Some(Expr::binary(BinaryOperator::Is, argument, best));
        }
        let inner =
            Select { from: select.from.clone(), filter: select.filter.clone(), ..Select::of(outputs) };
        let group_by = match groups {
            0 => vec![Expr::Literal(Literal::Text("all".into()))],
            _ => (0..groups).map(|at| column(id, at)).collect(),
        };
        let having = any((groups..groups + count).map(|at| varies(&column(id, at))).collect());
        let from = derived(id, Query::of_select(inner));
        Select { filter, group_by, having: Some(having), ..select_one(from) }
    }

    /// Window functions that tell tied rows apart.
    fn windows(&mut self, select: &Select, query: &Query, exprs: &[&Expr]) {
        let calls = exprs.iter().flat_map(|expr| {
            let mut calls = Vec::new();
            sensitive_windows(expr, &mut calls);
            calls.into_iter().map(|window| (window, *expr))
        });
        for (window, expr) in calls.collect::<Vec<_>>() {
            let part = print_expr(expr, query, self.schema, PrintDialect::Sqlite).ok();
            let place = Place { choice: Choice::Window, part };
            if self.keep_tied((query, select), &window, &place) {
                continue;
            }
            let id = self.new_relation();
            let keys = window.partition_by.iter().chain(window.order_by.iter().map(|term| &term.expr));
            let mut inner = Select {
                distinct: false,
                outputs: keys.cloned().map(Output::of).collect(),
                ..select.clone()
            };
            let group_by = match inner.outputs.len() {
                0 => vec![Expr::Literal(Literal::Text("all".into()))],
                width => (0..width).map(|at| column(id, at)).collect(),
            };
            if inner.outputs.is_empty() {
                inner.outputs.push(Output::of(Expr::integer(1)));
            }
            let having = Expr::binary(BinaryOperator::Greater, count_rows(), Expr::integer(1));
            let from = derived(id, Query::of_select(inner));
            self.add(Select { group_by, having: Some(having), ..select_one(from) }, place);
        }
    }

    /// Keeps a window whose tied rows can be put in each order; false for any other.
    fn keep_tied(&mut self, level: (&Query, &Select), window: &Window, place: &Place) -> bool {
        let is_once = self.recursive == 0 && self.shared == 0;
        let tied =
            is_once.then(|| TiedWindow::new(level, window, place.clone(), &self.ctes, self.schema)).flatten();
        let is_kept = tied.is_some();
        self.ties.extend(tied.filter(|tied| !self.ties.iter().any(|other| other.is_of(tied))));
        is_kept
    }

    /// Adds a check.
    fn add(&mut self, check: Select, place: Place) {
        match self.closed(check) {
            Some(check) => self.checks.push((check, place)),
            None => self.is_always_open = true,
        }
    }

    /// The check as a query of its own: where it refers to rows of enclosing queries, it is asked for all of them.
    fn closed(&self, check: Select) -> Option<Query> {
        if self.recursive > 0 {
            return None;
        }
        let mut query = Query::of_select(check);
        for from in self.enclosing.iter().rev() {
            let declared: BTreeSet<RelationId> =
                from.relations().iter().map(|relation| relation.id).collect();
            if !free_relations(&query).is_disjoint(&declared) {
                let exists = Expr::Exists { query: Box::new(query), negated: false };
                query = Query::of_select(Select { filter: Some(exists), ..select_one(from.clone()) });
            }
        }
        query.ctes.clone_from(&self.ctes);
        query.limit = Some(Expr::integer(1));
        free_relations(&query).is_empty().then_some(query)
    }

    fn new_relation(&mut self) -> RelationId {
        self.next_relation += 1;
        RelationId(self.next_relation - 1)
    }
}

fn count_rows() -> Expr {
    Expr::aggregate(Function::Count, Args::Star)
}

/// LIMIT (`None` for none) and OFFSET, where both are constants.
pub(super) fn bounds(query: &Query) -> Option<(Option<i64>, i64)> {
    let number = |expr: &Expr| match constant(expr) {
        Some(Value::Integer(number)) => Some(number),
        _ => None,
    };
    let limit = match &query.limit {
        Some(limit) => Some(number(limit)?).filter(|limit| *limit >= 0),
        None => None,
    };
    let offset = query.offset.as_ref().map_or(Some(0), number)?;
    Some((limit, offset.max(0)))
}
