//! Join conditions that read a table further right.
//!
//! SQLite takes `a JOIN b ON a.x = c.x JOIN c`; other engines let ON read only what it joins. Between inner joins a
//! condition means the same in WHERE.

use sqlgauge_base::budget;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Body, Expr, From, Query, RelationId};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

/// Moves such conditions into WHERE where all joins of the FROM clause are inner ones.
pub(super) fn moved(query: &Query) -> Query {
    let mut query = query.clone();
    rewrite_query(&mut Mover, &mut query);
    query
}

struct Mover;

impl Rewriter for Mover {
    fn body(&mut self, body: &mut Body) {
        let Body::Select(select) = body else { return };
        let Some(from) = select.from.as_mut().filter(|from| from.is_inner()) else { return };
        let all: Vec<RelationId> = from.relations().iter().map(|relation| relation.id).collect();
        let mut conditions = Vec::new();
        take(from, &all, &mut conditions);
        if conditions.is_empty() {
            return;
        }
        conditions.extend(select.filter.take());
        select.filter = sqlgauge_sql::canonical::conjunction(conditions);
    }
}

/// Takes the conditions that read what is in the FROM clause but not in their own join.
fn take(from: &mut From, all: &[RelationId], conditions: &mut Vec<Expr>) {
    let joined = relations(from);
    let From::Join(join) = from else { return };
    take(&mut join.left, all, conditions);
    take(&mut join.right, all, conditions);
    if join.on.as_ref().is_some_and(|on| reads_beside(on, all, &joined)) {
        conditions.extend(join.on.take());
    }
}

/// Whether a join condition in the clause reads what is in the clause but not in its own join.
pub(super) fn looks_ahead(from: &From) -> bool {
    fn any(from: &From, all: &[RelationId]) -> bool {
        let From::Join(join) = from else { return false };
        any(&join.left, all)
            || any(&join.right, all)
            || join.on.as_ref().is_some_and(|on| reads_beside(on, all, &relations(from)))
    }
    any(from, &relations(from))
}

fn relations(from: &From) -> Vec<RelationId> {
    from.relations().iter().map(|relation| relation.id).collect()
}

fn reads_beside(on: &Expr, all: &[RelationId], joined: &[RelationId]) -> bool {
    let columns = reads::columns(on);
    budget::spend(columns.len() * all.len());
    columns.iter().any(|column| all.contains(&column.relation) && !joined.contains(&column.relation))
}
