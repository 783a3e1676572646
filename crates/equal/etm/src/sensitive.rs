//! Whether the rows of a query depend on the order in which SQLite reads the tables.
//!
//! LIMIT with ties, a scalar subquery of several rows and bare columns beside aggregates leave SQLite a choice.
//! The choice follows from the query plan, which follows from how the query is written and from the indexes of the
//! tables. A statement in which it shows is not rewritten ([`crate::planned`]).
//!
//! Two orders do not depend on the plan, because no index can supply another: that in which a lone table is read
//! ([`Sensitivity::Scan`]), and that in which groups are sorted ([`Sensitivity::Groups`]). There any rewriting may be
//! used that leaves the query in the same position ([`OrderConditions`]).

use sqlgauge_sql::derive::{Dependencies, Facts, has_aggregate, has_window, is_aggregate_select};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::{Index, IndexPart, Table, TableId, TableKind};
use sqlgauge_sql::tree::{
    Body, ColumnRef, Expr, From, IndexHint, Place, Query, RelationId, RelationSource, Select,
};
use sqlgauge_sql::visit::children;

use crate::beside::{equals_are_identical, keeps_any_of_equals};
use crate::context::Position;
use crate::planned::has_mixed_comparison;
use crate::tools::{self, any_part, order_expr};

/// On which order of SQLite's the result of a query depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// On none.
    None,
    /// On the order of groups that come out of a sorter, since no index holds a group key: by the keys as they are
    /// written, in the direction of ORDER BY if that has as many terms.
    Groups,
    /// On which rows come first by the rowid of the one table that is read, since no index could be of use.
    Scan,
    /// On the order in which rows are read, and so on the plan.
    Rows,
}

/// What must stay as it is for an order that does not depend on the plan to be the same.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OrderConditions {
    kind: Sensitivity,
    table: Option<TableId>,
    group_keys: usize,
    /// SQLite sorts groups in the direction of ORDER BY if the two have equally many terms.
    descending: Vec<bool>,
}

impl OrderConditions {
    /// What must stay for a query of that sensitivity; `None` if its order depends on the plan.
    pub(crate) fn of(query: &Query, kind: Sensitivity, facts: &Facts<'_>) -> Option<Self> {
        if !matches!(kind, Sensitivity::Groups | Sensitivity::Scan) {
            return None;
        }
        let select = query.as_select()?;
        let group_keys = select.group_by.len();
        let descending = if group_keys == query.order_by.len() {
            query.order_by.iter().map(|term| term.descending).collect()
        } else {
            Vec::new()
        };
        let table = match kind {
            Sensitivity::Scan => facts.table_of(tools::single_relation(select)?.id),
            _ => None,
        };
        Some(Self { kind, table, group_keys, descending })
    }
}

/// On which order the query's own result depends.
pub(crate) fn sensitivity(query: &Query, position: Position, facts: &Facts<'_>) -> Sensitivity {
    let picks = position != Position::Exists
        && (query.limit.is_some() || query.offset.is_some() || position == Position::Scalar);
    match &query.body {
        // What such a comparison does follows from where SQLite evaluates it.
        Body::Select(select) if has_mixed_comparison(select, facts) => Sensitivity::Rows,
        Body::Select(select) => {
            let groups =
                is_aggregate_select(select) || query.order_by.iter().any(|term| has_aggregate(&term.expr));
            if !picks && !groups && !select.distinct && !select.outputs.iter().any(|o| has_window(&o.expr)) {
                return Sensitivity::None;
            }
            of_select(query, select, picks, groups, facts)
        }
        body @ Body::SetOperation { .. }
            if picks && !(covers_all_columns(query) && equals_are_identical(body, facts)) =>
        {
            Sensitivity::Rows
        }
        body @ Body::SetOperation { .. } if !keeps_any_of_equals(body, facts) => Sensitivity::Rows,
        Body::SetOperation { .. } | Body::Values(_) => Sensitivity::None,
    }
}

/// Whether the query's own result depends on no order.
pub(crate) fn is_settled_by_data(query: &Query, position: Position, facts: &Facts<'_>) -> bool {
    sensitivity(query, position, facts) == Sensitivity::None
}

fn of_select(query: &Query, select: &Select, picks: bool, groups: bool, facts: &Facts<'_>) -> Sensitivity {
    let results = || {
        let order = query.order_by.iter().map(|term| &term.expr);
        select.outputs.iter().map(|output| &output.expr).chain(&select.having).chain(order)
    };
    if results().any(|expr| has_window(expr) || any_part(expr, &|e| depends_on_order(e, facts))) {
        return Sensitivity::Rows;
    }
    if select.distinct && select.outputs.iter().any(|output| !facts.is_identity(&output.expr)) {
        return Sensitivity::Rows;
    }
    let dependencies = Dependencies::of(select, facts);
    if groups {
        let closure = dependencies.closure(&select.group_by);
        let is_fixed = |expr: &Expr| is_fixed_in_group(expr, select, facts, &|e| closure.determines(e));
        if !results().all(is_fixed) {
            return Sensitivity::Rows;
        }
    }
    if !picks || (groups && select.group_by.is_empty()) || select.from.is_none() {
        return Sensitivity::None;
    }
    let keys: Vec<Expr> = query.order_by.iter().map(|term| order_expr(query, &term.expr).clone()).collect();
    let closure = dependencies.closure(&keys);
    let complete =
        closure.is_complete() || (groups && select.group_by.iter().all(|key| closure.determines(key)));
    let determined = || {
        select.outputs.iter().all(|output| {
            // Of equal keys that are different values the plan decides which comes first.
            (keys.contains(&output.expr) && facts.is_identity(&output.expr))
                || (!has_aggregate(&output.expr) && closure.determines(&output.expr))
        })
    };
    if (complete || determined()) && keys_are_of_results(select, &keys, &dependencies) {
        Sensitivity::None
    } else if groups && are_sorted(select, facts) {
        Sensitivity::Groups
    } else if is_scan(query, select, facts) {
        Sensitivity::Scan
    } else {
        Sensitivity::Rows
    }
}

/// Whether a row has the same sort keys as every other that DISTINCT takes for equal to it. Else SQLite sorts by those of
/// the one that it reads first.
fn keys_are_of_results(select: &Select, keys: &[Expr], dependencies: &Dependencies<'_>) -> bool {
    if !select.distinct {
        return true;
    }
    let results: Vec<Expr> = select.outputs.iter().map(|output| output.expr.clone()).collect();
    let closure = dependencies.closure(&results);
    keys.iter().all(|key| results.contains(key) || closure.determines(key))
}

/// Whether an expression has one value per group: it is a key, fixed by the keys, or reads other columns only
/// inside aggregates.
fn is_fixed_in_group(
    expr: &Expr,
    select: &Select,
    facts: &Facts<'_>,
    is_fixed: &dyn Fn(&Expr) -> bool,
) -> bool {
    // A key whose equal values differ shows the one of some row.
    if (select.group_by.contains(expr) && facts.is_identity(expr))
        || matches!(expr, Expr::Literal(_) | Expr::Output(_))
    {
        return true;
    }
    match expr {
        Expr::Aggregate(_) => true,
        Expr::Column(_) => is_fixed(expr),
        // The columns that a subquery reads from outside are bare columns too.
        Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => {
            tools::columns_of(expr).iter().all(|column| is_fixed(&Expr::Column(*column)))
        }
        other => {
            let mut all = true;
            children(other, &mut |child| all = all && is_fixed_in_group(child, select, facts, is_fixed));
            all
        }
    }
}

fn depends_on_order(expr: &Expr, facts: &Facts<'_>) -> bool {
    let Some((function, args)) = expr.called() else { return false };
    let properties = function.properties();
    let picks_text = matches!(expr, Expr::Aggregate(_)) && properties.uses_collation;
    properties.needs_row_order || (picks_text && !args.as_slice().iter().all(|arg| facts.is_identity(arg)))
}

/// Whether the sort keys of a compound are all of its columns, so that rows with equal keys are equal.
fn covers_all_columns(query: &Query) -> bool {
    (0..query.width()).all(|column| {
        query.order_by.iter().any(|term| matches!(term.expr, Expr::Output(n) if n as usize == column))
    })
}

/// The column sets that the indexes of an ordinary table consist of; `None` where they are not known, and where it
/// takes more than columns to say when SQLite can use an index: it is partial, or sorts by an expression.
fn indexes(table: &Table) -> Option<Vec<Vec<Place>>> {
    if table.kind != TableKind::Table {
        return None;
    }
    let key = (table.rowid_alias().is_none() && !table.primary_key.is_empty()).then_some(&table.primary_key);
    let places = |key: &Vec<u32>| key.iter().copied().map(Place::At).collect();
    let mut all: Vec<Vec<Place>> = key.into_iter().chain(&table.unique).map(places).collect();
    for index in &table.indexes {
        if is_sought_by_text(index) {
            return None;
        }
        all.push(index.parts.iter().filter_map(IndexPart::column).map(Place::At).collect());
    }
    Some(all)
}

/// Whether an index is partial, sorts by an expression or is not known: SQLite uses it where a query repeats an
/// expression of it word for word.
fn is_sought_by_text(index: &Index) -> bool {
    index.filter.is_some() || index.parts.is_empty() || index.parts.iter().any(|part| part.column().is_none())
}

/// Whether SQLite must sort to form the groups: every key reads tables, and nothing that stands in an index or is
/// the rowid.
fn are_sorted(select: &Select, facts: &Facts<'_>) -> bool {
    let in_no_index = |column: &ColumnRef| {
        let Some(table) = facts.table_of(column.relation).and_then(|id| facts.schema().table(id)) else {
            return false;
        };
        let Some(indexes) = indexes(table) else { return false };
        !table.is_rowid(column.column) && !indexes.iter().any(|index| index.contains(&column.column))
    };
    let relations: Vec<RelationId> =
        select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect();
    let is_sorted = |key: &Expr| {
        let columns = tools::columns_of(key);
        !columns.is_empty()
            && !sqlgauge_sql::derive::has_subquery(key)
            && columns.iter().all(|column| relations.contains(&column.relation) && in_no_index(column))
    };
    !select.group_by.is_empty() && select.group_by.iter().all(is_sorted)
}

/// Whether the query reads one table and nothing else, and no index of it could be of use: none holds a column by
/// which the query filters, sorts, groups or looks for an extreme, and none holds all columns that it reads.
fn is_scan(query: &Query, select: &Select, facts: &Facts<'_>) -> bool {
    let Some(Relation { id, table }) = lone_table(select, facts) else { return false };
    let (Some(indexes), false) = (indexes(table), table.without_rowid) else { return false };
    let mut searched = Vec::new();
    let mut rowid_is_plain = true;
    let is_rowid = |column: Place| table.is_rowid(column);
    for conjunct in tools::conjuncts_of(select.filter.as_ref()) {
        let compares_rowid = matches!(conjunct, Expr::Binary(operator, left, right)
            if operator.is_comparison() && matches!((left.as_ref(), right.as_ref()),
                (Expr::Column(_), Expr::Literal(_)) | (Expr::Literal(_), Expr::Column(_))));
        let columns = tools::columns_of(conjunct);
        rowid_is_plain &= compares_rowid || !columns.iter().any(|c| c.relation == id && is_rowid(c.column));
        searched.extend(columns);
    }
    let terms = query.order_by.iter().map(|term| order_expr(query, &term.expr));
    for expr in select.group_by.iter().chain(&select.having).chain(terms) {
        searched_by(expr, &mut searched);
    }
    let picks_out = select.distinct || is_aggregate_select(select);
    for output in select.outputs.iter().filter(|_| picks_out) {
        searched_by(&output.expr, &mut searched);
    }
    let groups_by_rowid = select.group_by.iter().flat_map(tools::columns_of).any(|c| is_rowid(c.column));
    let read = tools::columns_read(query, id);
    let mine = |column: &&ColumnRef| column.relation == id;
    let is_sought =
        |index: &[Place]| searched.iter().filter(mine).any(|column| index.contains(&column.column));
    let covers = |index: &[Place]| read.iter().all(|column| is_rowid(*column) || index.contains(column));
    rowid_is_plain
        && !groups_by_rowid
        && only_values_inside(query, id)
        && !indexes.iter().any(|index| is_sought(index) || covers(index))
}

struct Relation<'s> {
    id: RelationId,
    table: &'s Table,
}

fn lone_table<'s>(select: &Select, facts: &Facts<'s>) -> Option<Relation<'s>> {
    let relation = tools::single_relation(select)?;
    // By an index that it names, SQLite reads the table in that order.
    let (RelationSource::Table(table), None | Some(IndexHint::None)) = (&relation.source, &relation.hint)
    else {
        return None;
    };
    let table = *table;
    Some(Relation { id: relation.id, table: facts.schema().table(table)? })
}

/// Adds the columns by which an expression could make SQLite use an index: all but those that are counted or summed.
fn searched_by(expr: &Expr, columns: &mut Vec<ColumnRef>) {
    match expr {
        Expr::Column(column) => columns.push(*column),
        Expr::Aggregate(call)
            if !call.distinct
                && call.filter.is_none()
                && !matches!(call.function, Function::Min | Function::Max) => {}
        other => children(other, &mut |child| searched_by(child, columns)),
    }
}

/// Whether all subqueries in the query's clauses are values that do not depend on the row.
fn only_values_inside(query: &Query, relation: RelationId) -> bool {
    let is_joined = |e: &Expr| match e {
        Expr::Exists { .. } | Expr::InQuery { .. } => true,
        Expr::Scalar(inner) => !tools::columns_read(inner, relation).is_empty(),
        _ => false,
    };
    !tools::own_exprs(query).into_iter().any(|expr| any_part(expr, &is_joined))
}
