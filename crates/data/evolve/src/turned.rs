//! Stores the rows of a database in reverse order.
//!
//! # Contract
//! `PRAGMA reverse_unordered_selects` turns how SQLite reads tables, but not where rows are grouped: there the row that a column
//! beside an aggregate comes from, or that reaches a maximum first, stays the same, nor where a window sorts them. [`views`] puts a temporary view in the place
//! of every table, with the same rows in the opposite order, which reaches both. What a query returns through them it may
//! return of the tables.

use sqlgauge_sql::derive::{has_aggregate, is_aggregate_select};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::tree::{Body, Expr, Query};
use sqlgauge_sql::visit::{Visitor, walk_query};

/// A script of views under the names of the tables. LIMIT keeps SQLite from forgetting their order.
pub(crate) fn views(schema: &Schema) -> String {
    let tables = schema.tables().iter().filter(|table| table.kind == TableKind::Table);
    let view = |table: &Table| {
        let name = quoted(&table.name);
        let order = order(table);
        format!("CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} ORDER BY {order} LIMIT -1;\n")
    };
    tables.map(view).collect()
}

fn order(table: &Table) -> String {
    if !table.without_rowid {
        return "rowid DESC".to_owned();
    }
    let columns = table.primary_key.iter().filter_map(|&at| table.column(at));
    let terms: Vec<String> = columns.map(|column| format!("{} DESC", quoted(&column.name))).collect();
    terms.join(", ")
}

/// Whether a query groups rows anywhere, or sorts them in a window.
pub(crate) fn groups(query: &Query) -> bool {
    struct Groups(bool);
    impl Visitor for Groups {
        fn query(&mut self, query: &Query) {
            self.0 |= query.order_by.iter().any(|term| has_aggregate(&term.expr));
        }

        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(expr, Expr::Window(_));
        }

        fn body(&mut self, body: &Body) {
            self.0 |= matches!(body, Body::Select(select) if is_aggregate_select(select));
        }
    }
    let mut groups = Groups(false);
    walk_query(&mut groups, query);
    groups.0
}
