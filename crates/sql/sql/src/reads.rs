//! Lists what a piece of a query declares and reads, subqueries included: relations, tables, columns, CTEs.

use crate::tree::{ColumnRef, Cte, CteId, Expr, From, RelationId, RelationSource, Select, TableId};
use crate::visit::{Walk, each_expr, each_relation};

/// The relations that the piece declares, in the order of a walk.
pub fn relations(piece: &impl Walk) -> Vec<RelationId> {
    let mut relations = Vec::new();
    each_relation(piece, |relation| relations.push(relation.id));
    relations
}

/// The tables and views that the piece reads, with the relation of each reading.
pub fn tables(piece: &impl Walk) -> Vec<(RelationId, TableId)> {
    let mut tables = Vec::new();
    each_relation(piece, |relation| {
        tables.extend(relation.table().map(|id| (relation.id, id)));
    });
    tables
}

/// The columns that the piece reads, with repetition.
pub fn columns(piece: &impl Walk) -> Vec<ColumnRef> {
    let mut columns = Vec::new();
    each_expr(piece, |expr| {
        if let Expr::Column(column) = expr {
            columns.push(*column);
        }
    });
    columns
}

/// The CTEs in the FROM clause of a SELECT, with repetition.
pub fn ctes_of(select: &Select) -> impl Iterator<Item = CteId> {
    let relations = select.from.as_ref().map(From::relations).unwrap_or_default();
    relations.into_iter().filter_map(|relation| match relation.source {
        RelationSource::Cte(id) => Some(id),
        _ => None,
    })
}

/// The columns that the piece reads of relations outside of it, with repetition.
pub fn outer_columns(piece: &impl Walk) -> Vec<ColumnRef> {
    let mut declared = relations(piece);
    declared.sort_unstable();
    let mut columns = columns(piece);
    columns.retain(|column| declared.binary_search(&column.relation).is_err());
    columns
}

/// How often the piece reads a common table expression.
pub fn readings_of_cte(piece: &impl Walk, id: CteId) -> usize {
    let mut readings = 0;
    each_relation(piece, |relation| readings += usize::from(relation.source == RelationSource::Cte(id)));
    readings
}

/// Whether a common table expression reads itself.
pub fn is_recursive(cte: &Cte) -> bool {
    readings_of_cte(&cte.query, cte.id) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::schema::Schema;
    use crate::tree::Body;

    #[test]
    fn subqueries_count_and_a_column_of_a_query_around_is_an_outer_one() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b); CREATE TABLE u (x, y)").unwrap();
        let sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT n + 1 FROM c), d(m) AS (SELECT 1) \
                   SELECT a FROM t, c, d WHERE EXISTS (SELECT 1 FROM u WHERE x = t.b)";
        let query = resolve(sql, &schema).unwrap();
        assert_eq!(relations(&query).len(), 5);
        assert_eq!(tables(&query).len(), 2);
        assert_eq!((columns(&query).len(), outer_columns(&query).len()), (4, 0));
        assert_eq!(query.ctes.iter().map(is_recursive).collect::<Vec<_>>(), [true, false]);
        assert_eq!(readings_of_cte(&query, query.ctes[0].id), 2);
        let Body::Select(select) = &query.body else { panic!("a SELECT") };
        let filter = select.filter.as_ref().unwrap();
        let outer = outer_columns(filter);
        assert_eq!(outer.len(), 1);
        assert_eq!(outer[0].relation, tables(&query)[0].0);
    }
}
