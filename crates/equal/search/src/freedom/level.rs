//! What the expressions of one SELECT take from the rows of a group or window.

use std::collections::BTreeSet;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{
    Aggregate, ColumnRef, Expr, FrameMode, From, OrderTerm, RelationId, Select, Window,
};

use super::walk::operands;

/// The expressions of a SELECT that are evaluated for each of its result rows.
pub(super) fn level_exprs<'e>(select: &'e Select, order_by: &'e [OrderTerm]) -> Vec<&'e Expr> {
    let outputs = select.outputs.iter().map(|output| &output.expr);
    outputs.chain(&select.having).chain(order_by.iter().map(|term| &term.expr)).collect()
}

pub(super) fn has_aggregate(select: &Select, order_by: &[OrderTerm]) -> bool {
    let mut level = Level::new(select);
    level_exprs(select, order_by).iter().for_each(|expr| level.visit(expr));
    level.aggregates > 0
}

/// The single `min()` or `max()` of a SELECT.
#[derive(Debug, Clone)]
pub(super) struct Extreme {
    pub(super) function: Function,
    pub(super) argument: Expr,
}

/// What the expressions of one SELECT take from the rows of a group.
pub(super) struct Level<'s> {
    select: &'s Select,
    relations: BTreeSet<RelationId>,
    pub(super) aggregates: usize,
    /// Columns that are neither grouped nor aggregated.
    pub(super) bare: Vec<Expr>,
    bare_columns: BTreeSet<ColumnRef>,
    /// Arguments of aggregates that depend on the order of rows.
    pub(super) joined: Vec<Expr>,
    /// Those that are sorted first, with the sort keys before them.
    pub(super) sorted: Vec<(Vec<Expr>, Vec<Expr>)>,
    extremes: usize,
    pub(super) extreme: Option<Extreme>,
}

impl<'s> Level<'s> {
    pub(super) fn new(select: &'s Select) -> Self {
        let relations = select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect();
        Self {
            select,
            relations,
            aggregates: 0,
            bare: Vec::new(),
            bare_columns: BTreeSet::new(),
            joined: Vec::new(),
            sorted: Vec::new(),
            extremes: 0,
            extreme: None,
        }
    }

    pub(super) fn visit(&mut self, expr: &Expr) {
        if self.select.group_by.contains(expr) {
            return;
        }
        match expr {
            Expr::Column(column) if self.relations.contains(&column.relation) => {
                self.add_bare(*column);
            }
            Expr::Aggregate(aggregate) => {
                self.aggregate(aggregate);
                return;
            }
            Expr::Scalar(query) | Expr::Exists { query, .. } | Expr::InQuery { query, .. } => {
                let columns = reads::columns(query)
                    .into_iter()
                    .filter(|column| self.relations.contains(&column.relation));
                for column in columns.collect::<Vec<_>>() {
                    self.add_bare(column);
                }
            }
            _ => {}
        }
        operands(expr).into_iter().for_each(|operand| self.visit(operand));
    }

    fn add_bare(&mut self, column: ColumnRef) {
        if self.bare_columns.insert(column) {
            self.bare.push(Expr::Column(column));
        }
    }

    fn aggregate(&mut self, call: &Aggregate) {
        self.aggregates += 1;
        match call.function {
            Function::Min | Function::Max => {
                self.extremes += 1;
                let argument =
                    call.args.as_slice().first().filter(|_| self.extremes == 1 && call.filter.is_none());
                self.extreme = argument
                    .map(|argument| Extreme { function: call.function.clone(), argument: argument.clone() });
            }
            _ if call.function.properties().needs_row_order && !call.order_by.is_empty() => {
                let keys = call.order_by.iter().map(|term| term.expr.clone()).collect();
                self.sorted.push((keys, call.args.as_slice().to_vec()));
            }
            _ if call.function.properties().needs_row_order => {
                call.args.as_slice().iter().for_each(|arg| push_new(&mut self.joined, arg));
            }
            _ => {}
        }
    }
}

fn push_new(list: &mut Vec<Expr>, expr: &Expr) {
    if !list.contains(expr) {
        list.push(expr.clone());
    }
}

/// The windows in which tied rows get different values.
pub(super) fn sensitive_windows(expr: &Expr, windows: &mut Vec<Window>) {
    if let Expr::Window(call) = expr {
        let window = &call.window;
        let ranks = matches!(
            call.function,
            Function::Rank
                | Function::DenseRank
                | Function::PercentRank
                | Function::CumeDist
                | Function::Count
                | Function::Sum
                | Function::Avg
                | Function::Total
                | Function::Min
                | Function::Max
        );
        let by_row = window.frame.as_ref().is_some_and(|frame| frame.mode == FrameMode::Rows);
        if (!ranks || by_row) && !windows.contains(window) {
            windows.push(window.clone());
        }
    }
    operands(expr).into_iter().for_each(|operand| sensitive_windows(operand, windows));
}
