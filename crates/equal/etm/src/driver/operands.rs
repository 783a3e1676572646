//! The rules of expressions: parts before wholes, each beside what it is compared with.

use sqlgauge_sql::aggregates;
use sqlgauge_sql::tree::{Expr, OrderTerm, Query};

use super::Driver;
use crate::beside::{Comparand, texts};
use crate::context::Position;
use crate::matcher::Application;
use crate::rule::Rule;
use crate::sensitive::Sensitivity;

/// How often rules may rewrite one and the same expression in one pass.
const MAX_REWRITES: usize = 12;

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Whether only its truth counts.
    is_condition: bool,
    /// The clause, for the log.
    clause: &'static str,
    opposite: &'a Comparand,
}

impl<'a> Place<'a> {
    pub(super) fn of(clause: &'static str, opposite: &'a Comparand) -> Self {
        Self { is_condition: false, clause, opposite }
    }
}

impl Driver<'_, '_> {
    /// An expression of which only the value counts.
    pub(super) fn expr(&mut self, expr: &mut Expr, is_condition: bool, clause: &'static str) {
        self.operand(expr, Place { is_condition, ..Place::of(clause, &Comparand::Nothing) });
    }

    pub(super) fn operand(&mut self, expr: &mut Expr, place: Place<'_>) {
        // SQL tells the owner of an aggregate by the columns that it reads, so one that reads others stays as it is.
        if let Expr::Aggregate(aggregate) = expr
            && self.is_correlated
            && !aggregates::reads_only(aggregate, &self.relations)
        {
            return;
        }
        self.parts(expr, place);
        if aggregates::has_displaced(expr) {
            return;
        }
        for _ in 0..MAX_REWRITES {
            if !self.expression_rules(expr, place) {
                return;
            }
        }
    }

    fn expression_rules(&mut self, expr: &mut Expr, place: Place<'_>) -> bool {
        let Place { is_condition, clause, opposite } = place;
        let mut changed = false;
        let typed = self.context.is_sound() && !matches!(opposite, Comparand::Nothing);
        let mut before = (typed || self.log.is_some()).then(|| expr.clone());
        for &(rule, rewrite) in &self.rules.expressions {
            if self.is_over() {
                return false;
            }
            self.context.is_condition = is_condition || self.rules.lies.is_condition;
            self.context.sensitivity = Sensitivity::None;
            if !rewrite(expr, &mut self.context) {
                continue;
            }
            if let Some(old) = &before
                && typed
                && !opposite.takes(&self.context.facts.operand(old), &self.context.facts.operand(expr))
            {
                expr.clone_from(old);
                continue;
            }
            changed = true;
            self.applied.push(rule);
            if let Some(old) = &mut before {
                self.record_expr(rule, old, expr, clause);
                old.clone_from(expr);
            }
        }
        changed
    }

    /// What an operand is compared with; nothing where neither its affinity nor its collation has an effect.
    fn comparand(&self, expr: &Expr, others: &[&Expr]) -> Comparand {
        let facts = &self.context.facts;
        let shows = self.context.is_sound() && texts(facts, others.iter().copied().chain([expr]));
        if shows { Comparand::these(facts, others.iter().copied()) } else { Comparand::Nothing }
    }

    fn parts(&mut self, expr: &mut Expr, place: Place<'_>) {
        let Place { is_condition, clause, opposite } = place;
        // What passes the affinity or the collation of its operand on.
        let passed = |as_what: Comparand| match opposite {
            Comparand::Nothing => Comparand::Nothing,
            Comparand::Compound(_) => opposite.clone(),
            _ => as_what,
        };
        match expr {
            Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) => {}
            Expr::Unary(_, operand) | Expr::Cast { expr: operand, .. } => {
                let of_operand =
                    if matches!(opposite, Comparand::Itself) { Comparand::Itself } else { Comparand::Others };
                self.operand(operand, Place::of(clause, &passed(of_operand)));
            }
            Expr::Collate { expr: operand, .. } => {
                self.operand(operand, Place::of(clause, &passed(Comparand::Anything)));
            }
            Expr::Binary(operator, left, right) if operator.is_comparison() => {
                let of_left = self.comparand(left, &[right]);
                self.operand(left, Place::of(clause, &of_left));
                let of_right = self.comparand(right, &[left]);
                self.operand(right, Place::of(clause, &of_right));
            }
            Expr::Binary(_, left, right) => {
                self.expr(left, false, clause);
                self.expr(right, false, clause);
            }
            Expr::And(list) | Expr::Or(list) => {
                for operand in list {
                    self.expr(operand, is_condition, clause);
                }
            }
            Expr::Row(list) => {
                let part = passed(Comparand::Anything);
                list.iter_mut().for_each(|operand| self.operand(operand, Place::of(clause, &part)));
            }
            Expr::Between { expr, low, high, .. } => {
                let of_value = self.comparand(expr, &[low, high]);
                self.operand(expr, Place::of(clause, &of_value));
                for bound in [low, high] {
                    let of_bound = self.comparand(bound, &[expr]);
                    self.operand(bound, Place::of(clause, &of_bound));
                }
            }
            Expr::Like { expr, pattern, escape, .. } => {
                [expr, pattern]
                    .into_iter()
                    .chain(escape)
                    .for_each(|operand| self.expr(operand, false, clause));
            }
            Expr::InList { expr, list, .. } => {
                let of_value = self.comparand(expr, &list.iter().collect::<Vec<_>>());
                self.operand(expr, Place::of(clause, &of_value));
                for element in list {
                    let of_element = self.comparand(element, &[expr]);
                    self.operand(element, Place::of(clause, &of_element));
                }
            }
            Expr::InQuery { expr, query, .. } => self.in_query(expr, query, clause),
            Expr::Exists { query, .. } => {
                self.inner(clause, query, Position::Exists, &Comparand::Nothing);
            }
            Expr::Scalar(query) => {
                self.inner(clause, query, Position::Scalar, opposite);
            }
            Expr::Case { operand, branches, otherwise } => {
                // By the form of its results SQLite tells what a CASE may be.
                let of_results =
                    if matches!(opposite, Comparand::Compound(_)) { opposite } else { &Comparand::Nothing };
                self.case(operand.as_deref_mut(), branches, otherwise.as_deref_mut(), clause, of_results);
            }
            Expr::IsNull { expr, .. } => self.expr(expr, false, clause),
            Expr::Function { function, args } => {
                let comparand = Comparand::arguments(&self.context.facts, function, args.as_slice());
                self.list(args.as_mut_slice(), clause, &comparand);
            }
            Expr::Aggregate(aggregate) => {
                let lacking = self.context.enter_rows();
                let comparand = if aggregate.distinct {
                    Comparand::Itself
                } else {
                    Comparand::arguments(&self.context.facts, &aggregate.function, aggregate.args.as_slice())
                };
                self.list(aggregate.args.as_mut_slice(), clause, &comparand);
                self.terms(&mut aggregate.order_by, clause);
                if let Some(filter) = &mut aggregate.filter {
                    self.expr(filter, true, clause);
                }
                self.context.leave_rows(lacking);
            }
            Expr::Window(call) => {
                let comparand =
                    Comparand::arguments(&self.context.facts, &call.function, call.args.as_slice());
                self.list(call.args.as_mut_slice(), clause, &comparand);
                if let Some(filter) = &mut call.filter {
                    self.expr(filter, true, clause);
                }
                self.list(&mut call.window.partition_by, clause, &Comparand::Itself);
                self.terms(&mut call.window.order_by, clause);
            }
        }
    }

    fn in_query(&mut self, value: &mut Expr, query: &mut Query, clause: &'static str) {
        let results = if self.context.is_sound() {
            Comparand::results(&self.context.facts, query)
        } else {
            Comparand::Nothing
        };
        self.operand(value, Place::of(clause, &results));
        let of_results = if self.context.is_sound() {
            Comparand::these(&self.context.facts, [&*value])
        } else {
            Comparand::Nothing
        };
        self.inner(clause, query, Position::In, &of_results);
    }

    fn case(
        &mut self,
        mut operand: Option<&mut Expr>,
        branches: &mut [(Expr, Expr)],
        otherwise: Option<&mut Expr>,
        clause: &'static str,
        of_results: &Comparand,
    ) {
        if let Some(operand) = operand.as_deref_mut() {
            let of_operand =
                self.comparand(operand, &branches.iter().map(|(when, _)| when).collect::<Vec<_>>());
            self.operand(operand, Place::of(clause, &of_operand));
        }
        for (when, then) in branches {
            match operand.as_deref() {
                None => self.expr(when, true, clause),
                Some(operand) => {
                    let of_when = self.comparand(when, &[operand]);
                    self.operand(when, Place::of(clause, &of_when));
                }
            }
            self.operand(then, Place::of(clause, of_results));
        }
        if let Some(otherwise) = otherwise {
            self.operand(otherwise, Place::of(clause, of_results));
        }
    }

    fn list(&mut self, list: &mut [Expr], clause: &'static str, comparand: &Comparand) {
        list.iter_mut().for_each(|expr| self.operand(expr, Place::of(clause, comparand)));
    }

    fn terms(&mut self, terms: &mut [OrderTerm], clause: &'static str) {
        terms.iter_mut().for_each(|term| self.operand(&mut term.expr, Place::of(clause, &Comparand::Itself)));
    }

    fn record_expr(&mut self, rule: &'static Rule, before: &Expr, after: &Expr, clause: &'static str) {
        let schema = self.context.facts.schema();
        let Some(log) = &mut self.log else { return };
        let mut scope = self.scope.clone();
        scope.push(clause);
        let text = |expr: &Expr| crate::difference::expression(expr, &self.context.facts, schema);
        log.push(Application { rule, scope: scope.join(" > "), before: text(before), after: text(after) });
    }
}
