//! A window whose order leaves rows tied: the statement is run with each order of them.
//!
//! # Contract
//! Rows are told apart by the rowids of the tables that the SELECT joins. Each order of tied rows becomes a last term of the
//! window's ORDER BY, in those calls alone that look at the order of rows and not at which rows are tied: `row_number()`,
//! `lag()`, `lead()`, `ntile()`, and a frame of ROWS. Rows count as tied where some collation takes their keys for equal, so
//! that the orders are all that SQLite may take, and perhaps more.

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::{Schema, TableKind};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Cte, Expr, FrameMode, OrderTerm, Output, Query, RelationId,
    RelationSource, Select, Window, WindowCall,
};
use sqlgauge_sql::visit::{Rewriter, change_exprs, rewrite_query};
use sqlgauge_sql::{PrintDialect, print};

use super::build::literal_of;
use super::level::has_aggregate;
use super::possible::is_same_key;
use super::{Place, free_relations};

/// Most orders of tied rows that are tried.
const MAX_ORDERS: usize = 24;

/// Rows by their rowids, in one order.
pub(crate) type RowOrder = Vec<Vec<Value>>;

/// A window of a SELECT in which rows may be tied.
#[derive(Debug, Clone)]
pub(crate) struct TiedWindow {
    select: Select,
    window: Window,
    relations: Vec<RelationId>,
    pub(crate) place: Place,
    /// A query for the rowids of all rows and, behind them, the keys of the window.
    pub(crate) text: String,
}

impl TiedWindow {
    /// The window of that SELECT of a query; `None` where its rows cannot be told apart, or more than their order counts.
    pub(super) fn new(
        (query, select): (&Query, &Select),
        window: &Window,
        place: Place,
        ctes: &[Cte],
        schema: &Schema,
    ) -> Option<Self> {
        let from = select.from.as_ref()?;
        let has_rowid = |source: &RelationSource| match source {
            RelationSource::Table(id) => {
                schema.table(*id).is_some_and(|table| table.kind == TableKind::Table && !table.without_rowid)
            }
            _ => false,
        };
        let relations = from.relations();
        let is_plain = select.group_by.is_empty() && !has_aggregate(select, &query.order_by);
        let is_own = query.as_select() == Some(select) && free_relations(query).is_empty();
        if !is_plain || !is_own || !relations.iter().all(|relation| has_rowid(&relation.source)) {
            return None;
        }
        let mut calls = Vec::new();
        let outputs = select.outputs.iter().map(|output| &output.expr);
        outputs.chain(query.order_by.iter().map(|term| &term.expr)).for_each(|expr| find(expr, &mut calls));
        let of_window = calls.iter().filter(|call| call.window == *window);
        if !of_window.clone().all(|call| looks_at_order(call) || looks_at_ties(call)) {
            return None;
        }
        let relations: Vec<RelationId> = relations.iter().map(|relation| relation.id).collect();
        let names = relations.iter().map(|id| Expr::Column(ColumnRef::rowid(*id)));
        let keys = window.partition_by.iter().chain(window.order_by.iter().map(|term| &term.expr)).cloned();
        let rows = Select {
            distinct: false,
            outputs: names.chain(keys).map(Output::of).collect(),
            having: None,
            ..select.clone()
        };
        let ctes = ctes.iter().chain(&query.ctes).cloned().collect();
        let rows = Query { ctes, ..Query::of_select(rows) };
        let text = print(&rows, schema, PrintDialect::Sqlite).ok()?;
        Some(Self { select: select.clone(), window: window.clone(), relations, place, text })
    }

    /// Whether both are the same window of the same SELECT.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        (&self.window, &self.select) == (&other.window, &other.select)
    }

    /// The orders that SQLite may read those rows in; one alone where none are tied. `None` where there are too many.
    pub(crate) fn orders(&self, rows: &ResultSet) -> Option<Vec<RowOrder>> {
        let width = self.relations.len();
        let mut classes: Vec<Vec<&[Value]>> = Vec::new();
        for row in rows.rows() {
            let is_tied = |other: &&[Value]| {
                row[width..].iter().zip(&other[width..]).all(|(a, b)| is_same_key(Some(a), Some(b)))
            };
            // Being taken for equal by some collation is not transitive.
            let (same, others): (Vec<_>, Vec<_>) =
                classes.into_iter().partition(|class| class.iter().any(is_tied));
            classes = others;
            classes.push(same.into_iter().flatten().chain([row]).collect());
        }
        let mut orders: Vec<RowOrder> = vec![Vec::new()];
        for class in classes {
            let permutations = permutations(class.len(), MAX_ORDERS / orders.len())?;
            let name = |at: &usize| class[*at][..width].to_vec();
            orders = orders
                .iter()
                .flat_map(|before| {
                    permutations.iter().map(move |order| {
                        before.iter().cloned().chain(order.iter().map(name)).collect::<RowOrder>()
                    })
                })
                .collect();
        }
        Some(orders)
    }

    /// The statement with the rows of the window in that order where they are tied.
    pub(crate) fn narrowed(&self, statement: &Query, order: &RowOrder) -> Query {
        let mut narrowed = statement.clone();
        let mut window = self.window.clone();
        window.order_by.push(OrderTerm { expr: self.place_in(order), descending: false, nulls_first: None });
        rewrite_query(&mut Narrowing { site: self, window }, &mut narrowed);
        narrowed
    }

    /// The place of a row in the order.
    fn place_in(&self, order: &RowOrder) -> Expr {
        let branches = (0_i64..).zip(order).map(|(place, name)| {
            let is_row = self.relations.iter().zip(name).map(|(id, value)| {
                let rowid = Expr::Column(ColumnRef::rowid(*id));
                Expr::binary(BinaryOperator::Is, rowid, Expr::Literal(literal_of(value)))
            });
            let mut parts: Vec<Expr> = is_row.collect();
            let is_row = if parts.len() == 1 { parts.swap_remove(0) } else { Expr::And(parts) };
            (is_row, Expr::integer(place))
        });
        Expr::Case { operand: None, branches: branches.collect(), otherwise: None }
    }
}

/// Gives the calls of a window that look at the order of rows another window.
struct Narrowing<'n> {
    site: &'n TiedWindow,
    window: Window,
}

impl Rewriter for Narrowing<'_> {
    fn query(&mut self, query: &mut Query) {
        if query.as_select() != Some(&self.site.select) {
            return;
        }
        let narrow = |expr: &mut Expr| {
            if let Expr::Window(call) = expr
                && call.window == self.site.window
                && looks_at_order(call)
            {
                call.window.clone_from(&self.window);
            }
        };
        for term in &mut query.order_by {
            change_exprs(&mut term.expr, narrow);
        }
        if let Body::Select(select) = &mut query.body {
            for output in &mut select.outputs {
                change_exprs(&mut output.expr, narrow);
            }
        }
    }
}

/// Whether the call looks at the order of rows, and not at which of them are tied.
fn looks_at_order(call: &WindowCall) -> bool {
    let by_row = call
        .window
        .frame
        .as_ref()
        .is_some_and(|frame| frame.mode == FrameMode::Rows && frame.exclude.is_none());
    match call.function {
        Function::RowNumber | Function::Lag | Function::Lead | Function::Ntile => true,
        Function::Rank | Function::DenseRank | Function::PercentRank | Function::CumeDist => false,
        _ => by_row,
    }
}

/// Whether the call gives tied rows the same whatever their order.
fn looks_at_ties(call: &WindowCall) -> bool {
    let by_row = call.window.frame.as_ref().is_some_and(|frame| frame.mode == FrameMode::Rows);
    match call.function {
        Function::Rank | Function::DenseRank | Function::PercentRank | Function::CumeDist => true,
        Function::Count | Function::Sum | Function::Avg | Function::Total | Function::Min | Function::Max => {
            !by_row
        }
        _ => false,
    }
}

fn find<'e>(expr: &'e Expr, calls: &mut Vec<&'e WindowCall>) {
    if let Expr::Window(call) = expr {
        calls.push(call);
    }
    super::walk::operands(expr).into_iter().for_each(|operand| find(operand, calls));
}

/// The orders of that many rows, if there are at most that many.
fn permutations(count: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for next in 0..count {
        all = all
            .iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
        if all.len() > most {
            return None;
        }
    }
    Some(all)
}
