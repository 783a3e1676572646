//! An order of commutative parts that does not depend on how a query was written.
//!
//! Parts are ordered by a hash of their structure in which a column stands for the *colour* of its relation
//! instead of its number. Colours start from what a relation reads and how deep it stands; relations of one FROM
//! clause that share a colour (self joins) are told apart by the conditions and results that mention them. Where
//! even that leaves a tie, every order of the tied relations is a candidate: [`Choices`] enumerates them.

mod from;
mod hash;

use sqlgauge_sql::derive::{Fact, Facts};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, OrderTerm, Query, RelationId, Select, SetOperator,
};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};
use sqlgauge_sql::{aggregates, renumber};

use crate::beside::operands_commute;
use crate::context::Position;
use crate::driver::RuleSet;
use crate::driver::rule_set::Arrangement;
use crate::planned::plan_shows;
use crate::profile::Profile;
use crate::sensitive::{Sensitivity, sensitivity};
use crate::tools;

/// Which order to take where relations are tied; counts like an odometer.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    path: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    fn take(&mut self, of: usize) -> usize {
        let place = self.next;
        self.next += 1;
        if let Some((choice, options)) = self.path.get_mut(place) {
            *options = of;
            *choice
        } else {
            self.path.push((0, of));
            0
        }
    }

    /// Moves to the next combination; false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        self.path.truncate(self.next);
        self.next = 0;
        while let Some((choice, options)) = self.path.pop() {
            if choice + 1 < options {
                self.path.push((choice + 1, options));
                return true;
            }
        }
        false
    }
}

/// Whether no column is in two of the conditions.
fn reads_each_column_once(select: &Select) -> bool {
    let on = select.from.iter().flat_map(tools::on_exprs);
    let mut columns: Vec<ColumnRef> =
        on.chain(&select.filter).chain(&select.having).flat_map(tools::columns_of).collect();
    let all = columns.len();
    columns.sort_unstable();
    columns.dedup();
    columns.len() == all
}

/// Brings a normal form into its canonical order and numbering.
pub(crate) fn canonicalise(query: &mut Query, facts: &Facts<'_>, rules: &RuleSet, choices: &mut Choices) {
    let profile = rules.profile;
    let mut canonical = Canonical {
        facts,
        sound: profile == Profile::Sound,
        arrangement: rules.arrangement,
        colours: Vec::new(),
        choices,
        depth: 0,
        conditions: Conditions::Free,
        plan_shows: profile == Profile::Sound && plan_shows(query, Position::Top, facts),
        is_recursive: false,
        is_entangled: profile == Profile::Sound && aggregates::is_entangled(query),
    };
    canonical.query(query, Position::Top, false);
    renumber(query);
    rewrite_query(&mut NameCtes, query);
}

/// Names CTEs by their numbers.
struct NameCtes;

impl Rewriter for NameCtes {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            cte.name = format!("cte{}", cte.id.0);
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about what is at hand")]
struct Canonical<'c, 'f> {
    facts: &'c Facts<'f>,
    sound: bool,
    arrangement: Arrangement,
    colours: Vec<u64>,
    choices: &'c mut Choices,
    depth: u64,
    /// The conditions at hand are a part of a plan that shows.
    conditions: Conditions,
    /// The plan may decide what the statement returns: relations and conditions stay in their order.
    plan_shows: bool,
    /// The query to come is a recursive common table expression: what refers to itself comes last.
    is_recursive: bool,
    /// Somewhere an aggregate stands in a subquery of the query that owns it. SQLite takes it or calls it misused as
    /// what stands around it is written.
    is_entangled: bool,
}

/// In which order conditions may be put.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conditions {
    /// In any.
    Free,
    /// As they are written, but the sides of a comparison may be exchanged: SQLite looks at both.
    Written,
    /// As they are written: a column is in several of them, so that SQLite derives conditions from them.
    Linked,
}

impl Canonical<'_, '_> {
    fn colour(&self, relation: RelationId) -> u64 {
        self.colours.get(relation.0 as usize).copied().unwrap_or(0)
    }

    fn set_colour(&mut self, relation: RelationId, colour: u64) {
        let index = relation.0 as usize;
        if self.colours.len() <= index {
            self.colours.resize(index + 1, 0);
        }
        self.colours[index] = colour;
    }

    fn query(&mut self, query: &mut Query, position: Position, sensitive_around: bool) {
        let stays =
            self.plan_shows || sensitive_around || (self.is_entangled && aggregates::is_entangled(query));
        let sensitivity = match (self.sound, stays) {
            (false, _) => Sensitivity::None,
            (true, true) => Sensitivity::Rows,
            (true, false) => sensitivity(query, position, self.facts),
        };
        let sensitive = sensitivity == Sensitivity::Rows;
        self.depth += 1;
        let outside = std::mem::replace(&mut self.conditions, Conditions::Free);
        let is_recursive = std::mem::take(&mut self.is_recursive);
        for cte in &mut query.ctes {
            self.is_recursive = sqlgauge_sql::reads::is_recursive(cte);
            self.query(&mut cte.query, Position::Cte, sensitive);
        }
        let sorted = self.sound
            && self.arrangement.operands
            && sensitivity == Sensitivity::None
            && !is_recursive
            && operands_commute(query, position, self.facts);
        self.is_recursive = false;
        self.body(&mut query.body, &mut query.order_by, sensitivity, sorted);
        self.conditions = outside;
        self.depth -= 1;
    }

    /// A subquery in an expression.
    fn inner(&mut self, query: &mut Query, position: Position) {
        self.query(query, position, self.conditions != Conditions::Free);
    }

    /// `sorted` tells whether the operands of its set operations may change places.
    fn body(&mut self, body: &mut Body, order_by: &mut [OrderTerm], sensitivity: Sensitivity, sorted: bool) {
        match body {
            Body::Select(select) => self.select(select, order_by, sensitivity),
            Body::SetOperation { operator, all, left, right } => {
                for operand in [&mut *left, &mut *right] {
                    self.body(operand, &mut [], sensitivity, sorted);
                }
                if sorted && *operator != SetOperator::Except {
                    let (operator, all) = (*operator, *all);
                    self.sort_operands(body, operator, all);
                }
            }
            Body::Values(rows) => rows.iter_mut().flatten().for_each(|expr| self.expr(expr)),
        }
    }

    fn sort_operands(&mut self, body: &mut Body, operator: SetOperator, all: bool) {
        let mut operands = Vec::new();
        take_operands(std::mem::replace(body, Body::Values(Vec::new())), operator, all, &mut operands);
        // SQL writes a compound among the operands only in front.
        operands.sort_by_cached_key(|operand| {
            (!matches!(operand, Body::SetOperation { .. }), self.hash_body(operand))
        });
        let mut operands = operands.into_iter();
        let Some(first) = operands.next() else { return };
        *body = operands.fold(first, |left, right| Body::SetOperation {
            operator,
            all,
            left: Box::new(left),
            right: Box::new(right),
        });
    }

    fn select(&mut self, select: &mut Select, order_by: &mut [OrderTerm], sensitivity: Sensitivity) {
        let sensitive = sensitivity == Sensitivity::Rows;
        if let Some(from) = &mut select.from {
            self.paint(from, sensitive);
        }
        if let Some(from) = select.from.take() {
            let stays = sensitive || !self.arrangement.relations;
            let sorted = if stays { from } else { self.sort_from(from, select, order_by) };
            select.from = Some(sorted);
        }
        self.conditions = match sensitive {
            false => Conditions::Free,
            true if reads_each_column_once(select) => Conditions::Written,
            true => Conditions::Linked,
        };
        if let Some(from) = &mut select.from {
            self.conditions(from);
        }
        for expr in select.filter.iter_mut().chain(&mut select.having) {
            self.expr(expr);
        }
        self.conditions = Conditions::Free;
        for output in &mut select.outputs {
            output.alias = None;
            self.expr(&mut output.expr);
        }
        for expr in &mut select.group_by {
            self.expr(expr);
        }
        for term in order_by {
            self.expr(&mut term.expr);
        }
        if sensitivity == Sensitivity::None && self.arrangement.operands {
            let mut keys = std::mem::take(&mut select.group_by);
            keys.sort_by_cached_key(|key| self.hash_expr(key));
            select.group_by = keys;
        }
        if self.arrangement.outputs {
            let mut outputs = std::mem::take(&mut select.outputs);
            outputs.sort_by_cached_key(|output| self.hash_expr(&output.expr));
            select.outputs = outputs;
        }
    }

    fn conditions(&mut self, from: &mut From) {
        if let From::Join(join) = from {
            self.conditions(&mut join.left);
            self.conditions(&mut join.right);
            if let Some(on) = &mut join.on {
                self.expr(on);
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) => {}
            Expr::Unary(_, operand) => self.expr(operand),
            Expr::Binary(operator, left, right) => {
                self.expr(left);
                self.expr(right);
                let flipped = self.flipped(*operator, left, right);
                if let Some(other) = flipped {
                    *operator = other;
                    std::mem::swap(left, right);
                }
            }
            Expr::And(list) | Expr::Or(list) => {
                list.iter_mut().for_each(|operand| self.expr(operand));
                let may_fail = self.sound && list.iter().any(tools::may_fail);
                if self.arrangement.operands && self.conditions == Conditions::Free && !may_fail {
                    list.sort_by_cached_key(|operand| self.hash_expr(operand));
                }
            }
            Expr::Row(list) => list.iter_mut().for_each(|operand| self.expr(operand)),
            Expr::Between { expr, low, high, .. } => {
                [expr, low, high].into_iter().for_each(|operand| self.expr(operand));
            }
            Expr::Like { expr, pattern, escape, .. } => {
                [expr, pattern].into_iter().chain(escape).for_each(|operand| self.expr(operand));
            }
            Expr::InList { expr, list, .. } => {
                self.expr(expr);
                list.iter_mut().for_each(|operand| self.expr(operand));
                if self.sound && self.arrangement.operands {
                    list.sort_by_cached_key(|operand| self.hash_expr(operand));
                }
            }
            Expr::InQuery { expr, query, .. } => {
                self.expr(expr);
                self.inner(query, Position::In);
            }
            Expr::Exists { query, .. } => self.inner(query, Position::Exists),
            Expr::Scalar(query) => self.inner(query, Position::Scalar),
            Expr::Case { operand, branches, otherwise } => {
                operand.iter_mut().for_each(|operand| self.expr(operand));
                for (when, then) in branches {
                    self.expr(when);
                    self.expr(then);
                }
                otherwise.iter_mut().for_each(|operand| self.expr(operand));
            }
            Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::IsNull { expr, .. } => {
                self.expr(expr);
            }
            Expr::Function { args, .. } => self.list(args.as_mut_slice()),
            Expr::Aggregate(aggregate) => {
                self.list(aggregate.args.as_mut_slice());
                aggregate.order_by.iter_mut().for_each(|term| self.expr(&mut term.expr));
                aggregate.filter.iter_mut().for_each(|filter| self.expr(filter));
            }
            Expr::Window(call) => {
                self.list(call.args.as_mut_slice());
                call.filter.iter_mut().for_each(|filter| self.expr(filter));
                self.list(&mut call.window.partition_by);
                call.window.order_by.iter_mut().for_each(|term| self.expr(&mut term.expr));
            }
        }
    }

    fn list(&mut self, list: &mut [Expr]) {
        list.iter_mut().for_each(|expr| self.expr(expr));
    }

    /// The operator with which the operands are to be swapped, if they are.
    fn flipped(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Option<BinaryOperator> {
        if !self.arrangement.operands {
            return None;
        }
        if !self.sound {
            let swap = operator == BinaryOperator::Equal && self.hash_expr(left) > self.hash_expr(right);
            return swap.then_some(operator);
        }
        // What stands on the right of IS decides what is asked.
        if [left, right].into_iter().any(|side| operator.truth_asked(side).is_some()) {
            return None;
        }
        let other = match operator {
            BinaryOperator::Greater => return self.may_swap(left, right).then_some(BinaryOperator::Less),
            BinaryOperator::GreaterEqual => {
                return self.may_swap(left, right).then_some(BinaryOperator::LessEqual);
            }
            operator if operator.commutes() => operator,
            _ => return None,
        };
        // By how an expression is written SQLite finds it in an index.
        let swap = self.hash_expr(left) > self.hash_expr(right)
            && self.may_swap(left, right)
            && (operator.is_comparison() || !self.plan_shows);
        swap.then_some(other)
    }

    /// SQLite compares by the collation of the left operand if that has one.
    fn may_swap(&self, left: &Expr, right: &Expr) -> bool {
        let is_constant = |side: &Expr| matches!(side, Expr::Literal(_));
        if self.conditions == Conditions::Free || is_constant(left) || is_constant(right) {
            return self.facts.commutes(left, right);
        }
        // An index serves a comparison by its own collation only, even where there are no texts.
        let (first, second) = (self.facts.operand(left), self.facts.operand(right));
        let is_known = first.collating != Fact::Unknown && second.collating != Fact::Unknown;
        let brings_none = first.collates_as_rowid || second.collates_as_rowid;
        self.conditions == Conditions::Written
            && is_known
            && (brings_none || first.collating == second.collating)
            && self.facts.commutes(left, right)
    }
}

fn take_operands(body: Body, operator: SetOperator, all: bool, operands: &mut Vec<Body>) {
    match body {
        Body::SetOperation { operator: inner, all: inner_all, left, right }
            if inner == operator && inner_all == all =>
        {
            take_operands(*left, operator, all, operands);
            take_operands(*right, operator, all, operands);
        }
        other => operands.push(other),
    }
}
