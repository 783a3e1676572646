//! Views written out: a query over views as the query over tables that it stands for.

use crate::identity;
use crate::schema::{Schema, TableId, TableKind};
use crate::tree::{CteId, Query, Relation, RelationSource};
use crate::visit::{Rewriter, Visitor, rewrite_query, walk_query};

/// The query with every view replaced by a subquery of what it is defined as, views inside of views too. A view whose
/// definition is not known stays.
///
/// SQLite does the same: a view is a subquery that has a name. Views that read themselves have no definition here, so that it
/// ends; what it copies counts as steps of the analysis at hand.
pub fn without_views(query: &Query, schema: &Schema) -> Query {
    let mut written = query.clone();
    let mut used = Used::default();
    walk_query(&mut used, query);
    if used.tables.iter().any(|&id| is_view(schema, id)) {
        rewrite_query(&mut WritingOut { schema, used }, &mut written);
    }
    written
}

/// The views that the query reads, also through other views, each after those that it reads.
pub fn views_of(query: &Query, schema: &Schema) -> Vec<TableId> {
    let mut order = Vec::new();
    // A view is done when those that it reads are: an explicit stack, as chains of views can be long.
    let mut pending: Vec<(TableId, bool)> = Vec::new();
    let push_views = |query: &Query, pending: &mut Vec<(TableId, bool)>| {
        let mut used = Used::default();
        walk_query(&mut used, query);
        let views = used.tables.into_iter().filter(|&id| is_view(schema, id));
        pending.extend(views.map(|id| (id, false)));
    };
    push_views(query, &mut pending);
    while let Some((id, is_done)) = pending.pop() {
        if order.contains(&id) {
            continue;
        }
        if is_done {
            order.push(id);
            continue;
        }
        pending.push((id, true));
        if let Some(view) = schema.definition(id).and_then(|definition| definition.view.as_ref()) {
            push_views(view, &mut pending);
        }
    }
    order
}

fn is_view(schema: &Schema, id: TableId) -> bool {
    schema.table(id).is_some_and(|table| table.kind == TableKind::View)
}

/// What a statement declares and reads.
#[derive(Default)]
struct Used {
    next_relation: u32,
    next_cte: u32,
    tables: Vec<TableId>,
}

impl Visitor for Used {
    fn query(&mut self, query: &Query) {
        let last = query.ctes.iter().map(|cte| cte.id.0.saturating_add(1)).max().unwrap_or_default();
        self.next_cte = self.next_cte.max(last);
    }

    fn relation(&mut self, relation: &Relation) {
        self.next_relation = self.next_relation.max(relation.id.0.saturating_add(1));
        match relation.source {
            RelationSource::Table(id) => self.tables.push(id),
            RelationSource::Cte(CteId(cte)) => self.next_cte = self.next_cte.max(cte.saturating_add(1)),
            _ => {}
        }
    }
}

struct WritingOut<'s> {
    schema: &'s Schema,
    used: Used,
}

impl Rewriter for WritingOut<'_> {
    fn relation(&mut self, relation: &mut Relation) {
        let RelationSource::Table(id) = relation.source else { return };
        if !is_view(self.schema, id) {
            return;
        }
        let Some(view) = self.schema.definition(id).and_then(|definition| definition.view.as_ref()) else {
            return;
        };
        let mut query = view.clone();
        let Used { next_relation, next_cte, .. } = &mut self.used;
        identity::refresh(&mut query, next_relation, next_cte);
        rewrite_query(self, &mut query);
        // The relation keeps its identity, so that what refers to its columns stays as it is.
        relation.source = RelationSource::Derived(Box::new(query));
        // A view has no index that could be named.
        relation.hint = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::{PrintDialect, print};

    const DDL: &str = "CREATE TABLE t (a INT, b TEXT);
        CREATE VIEW v (x, y) AS SELECT a + 1, b FROM t WHERE a > 0;
        CREATE VIEW w AS WITH c AS (SELECT x FROM v) SELECT c.x AS x, t.b FROM c JOIN t ON c.x = t.a";

    #[test]
    fn views_are_written_out_with_relations_of_their_own() {
        let schema = Schema::from_ddl(DDL).unwrap();
        for (sql, views) in [
            ("SELECT x AS c1, y AS c2 FROM v", 1),
            ("SELECT l.x AS c1, r.y AS c2 FROM v l JOIN v r ON l.x = r.x", 1),
            ("SELECT x AS c1, (SELECT max(v.x) FROM v WHERE v.x > w.x) AS c2 FROM w", 2),
            ("SELECT a AS c1, b AS c2 FROM t", 0),
        ] {
            let query = resolve(sql, &schema).unwrap();
            assert_eq!(views_of(&query, &schema).len(), views, "{sql}");
            let written = without_views(&query, &schema);
            assert!(views_of(&written, &schema).is_empty());
            let mut ids = crate::reads::relations(&written);
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count, "{sql}");
            let text = print(&written, &schema, PrintDialect::Sqlite).unwrap();
            assert!(!text.contains("\"v\"") && !text.contains("FROM v"), "{text}");
        }
    }

    #[test]
    fn a_view_comes_after_those_that_it_reads() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let query = resolve("SELECT * FROM w, v", &schema).unwrap();
        let names =
            views_of(&query, &schema).into_iter().filter_map(|id| Some(schema.table(id)?.name.clone()));
        assert_eq!(names.collect::<Vec<_>>(), ["v", "w"]);
    }
}
