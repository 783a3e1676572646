//! Whether the rows of a query depend on the order in which SQLite reads the tables.
//!
//! LIMIT with ties, a scalar subquery of several rows and bare columns beside aggregates leave SQLite a choice.
//! The choice follows from the query plan, which follows from how the query is written. Where the choice shows,
//! only rewritings that keep the plan are proofs.

use sqlgauge_sql::derive::{Dependencies, Facts, has_aggregate, has_window, is_aggregate_select};
use sqlgauge_sql::tree::{Body, Expr, Query, Select};
use sqlgauge_sql::visit::children;

use crate::context::Position;
use crate::tools::{any, order_expr};

/// On which order of SQLite's the result of a query depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// On none.
    None,
    /// On the order in which groups come: LIMIT cuts through groups with equal sort keys. SQLite makes groups by
    /// sorting by the key (or by reading an index in that order), so with one key their order follows from its
    /// values, whatever the plan.
    Groups,
    /// On the order in which rows are read, and so on the plan.
    Rows,
}

/// On which order the query's own result depends.
pub(crate) fn sensitivity(query: &Query, position: Position, facts: &Facts<'_>) -> Sensitivity {
    let picks = position != Position::Exists
        && (query.limit.is_some() || query.offset.is_some() || position == Position::Scalar);
    match &query.body {
        Body::Select(select) => {
            let groups =
                is_aggregate_select(select) || query.order_by.iter().any(|term| has_aggregate(&term.expr));
            if !picks && !groups && !select.distinct && !select.outputs.iter().any(|o| has_window(&o.expr)) {
                return Sensitivity::None;
            }
            of_select(query, select, picks, groups, facts)
        }
        Body::SetOperation { .. } if picks && !covers_all_columns(query) => Sensitivity::Rows,
        Body::SetOperation { .. } | Body::Values(_) => Sensitivity::None,
    }
}

fn of_select(query: &Query, select: &Select, picks: bool, groups: bool, facts: &Facts<'_>) -> Sensitivity {
    let results = || {
        let order = query.order_by.iter().map(|term| &term.expr);
        select.outputs.iter().map(|output| &output.expr).chain(&select.having).chain(order)
    };
    if results().any(|expr| has_window(expr) || any(expr, &|e| depends_on_order(e, facts))) {
        return Sensitivity::Rows;
    }
    if select.distinct && select.outputs.iter().any(|output| !facts.is_binary_or_plain(&output.expr)) {
        return Sensitivity::Rows;
    }
    let dependencies = Dependencies::of(select, facts);
    if groups {
        let closure = dependencies.closure(&select.group_by);
        let is_fixed = |expr: &Expr| is_fixed_in_group(expr, select, &|e| closure.determines(e));
        if !results().all(is_fixed) {
            return Sensitivity::Rows;
        }
    }
    if !picks || (groups && select.group_by.is_empty()) || select.from.is_none() {
        return Sensitivity::None;
    }
    let keys: Vec<Expr> = query.order_by.iter().map(|term| order_expr(query, &term.expr).clone()).collect();
    let closure = dependencies.closure(&keys);
    if closure.is_complete() || (groups && select.group_by.iter().all(|key| closure.determines(key))) {
        return Sensitivity::None;
    }
    let determined = select.outputs.iter().all(|output| {
        keys.contains(&output.expr) || (!has_aggregate(&output.expr) && closure.determines(&output.expr))
    });
    // A set of keys of which the first fixes the others sorts by the first.
    let one_key = || match select.group_by.as_slice() {
        [first, rest @ ..] => {
            let closure = dependencies.closure(std::slice::from_ref(first));
            rest.iter().all(|key| closure.determines(key))
        }
        [] => false,
    };
    match (determined, groups && one_key()) {
        (true, _) => Sensitivity::None,
        (false, true) => Sensitivity::Groups,
        (false, false) => Sensitivity::Rows,
    }
}

/// Whether an expression has one value per group: it is a key, fixed by the keys, or reads other columns only
/// inside aggregates.
fn is_fixed_in_group(expr: &Expr, select: &Select, is_fixed: &dyn Fn(&Expr) -> bool) -> bool {
    if select.group_by.contains(expr) || matches!(expr, Expr::Literal(_) | Expr::Output(_)) {
        return true;
    }
    match expr {
        Expr::Aggregate(_) => true,
        Expr::Column(_) => is_fixed(expr),
        // The columns that a subquery reads from outside are bare columns too.
        Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => {
            crate::tools::columns_of(expr).iter().all(|column| is_fixed(&Expr::Column(*column)))
        }
        other => {
            let mut all = true;
            children(other, &mut |child| all = all && is_fixed_in_group(child, select, is_fixed));
            all
        }
    }
}

fn depends_on_order(expr: &Expr, facts: &Facts<'_>) -> bool {
    let Some((function, args)) = expr.called() else { return false };
    let properties = function.properties();
    let picks_text = matches!(expr, Expr::Aggregate(_)) && properties.uses_collation;
    properties.needs_row_order
        || (picks_text && !args.as_slice().iter().all(|arg| facts.is_binary_or_plain(arg)))
}

/// Whether the sort keys of a compound are all of its columns, so that rows with equal keys are equal.
fn covers_all_columns(query: &Query) -> bool {
    (0..query.width()).all(|column| {
        query.order_by.iter().any(|term| matches!(term.expr, Expr::Output(n) if n as usize == column))
    })
}
