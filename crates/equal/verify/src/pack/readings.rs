//! Other readings of a gold, as answers read its question, beside single mutations.
//!
//! On most databases they return what the gold does. Those on which they do not show more of what answers get wrong: namesakes,
//! and ties.

use std::collections::BTreeMap;

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, ColumnRef, Expr, Literal, Query, RelationId, RelationSource, Select};
use sqlgauge_sql::{PrintDialect, ordered, print};

/// The readings as SQL.
pub(super) fn readings(query: &Query, schema: &Schema) -> Vec<String> {
    let other = regrouped(query, schema);
    let printed = other.iter().filter_map(|reading| print(reading, schema, PrintDialect::Sqlite).ok());
    printed.chain(all_at_extremum(query, schema)).collect()
}

/// The query with other groups: by a table's key where it groups by another column of the table or has DISTINCT, and by a returned
/// column where it groups by the key. What groups by names merges namesakes.
fn regrouped(query: &Query, schema: &Schema) -> Vec<Query> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let (keys, shown) = (keys(select, schema), shown(select));
    let mut groups: Vec<Vec<Expr>> = Vec::new();
    if select.distinct && select.group_by.is_empty() && shown.len() == select.outputs.len() {
        let is_shown = |key: &&ColumnRef| shown.iter().any(|column| column.relation == key.relation);
        let keys = keys.values().filter(is_shown);
        groups.extend(keys.map(|key| vec![Expr::Column(*key)]));
    }
    for (at, group) in select.group_by.iter().enumerate() {
        let Expr::Column(column) = group else { continue };
        let Some(key) = keys.get(&column.relation) else { continue };
        let others = if column == key {
            shown.iter().copied().filter(|other| other.relation == key.relation && other != key).collect()
        } else {
            vec![*key]
        };
        groups.extend(others.into_iter().map(|other| {
            let mut groups = select.group_by.clone();
            groups[at] = Expr::Column(other);
            groups
        }));
    }
    let with = |group_by: Vec<Expr>| {
        let select = Select { distinct: false, group_by, ..select.clone() };
        Query { body: Body::Select(Box::new(select)), ..query.clone() }
    };
    groups.into_iter().map(with).collect()
}

/// The key of each table in FROM whose key is one column.
fn keys(select: &Select, schema: &Schema) -> BTreeMap<RelationId, ColumnRef> {
    let relations = select.from.iter().flat_map(|from| from.relations()).filter_map(|relation| {
        let RelationSource::Table(id) = relation.source else { return None };
        let [key] = schema.table(id)?.primary_key.as_slice() else { return None };
        Some((relation.id, ColumnRef::at(relation.id, *key)))
    });
    relations.collect()
}

/// The columns that it returns as they are.
fn shown(select: &Select) -> Vec<ColumnRef> {
    let shown = select.outputs.iter().filter_map(|output| match output.expr {
        Expr::Column(column) => Some(column),
        _ => None,
    });
    shown.collect()
}

/// All rows that tie for the one that `ORDER BY … LIMIT 1` takes.
fn all_at_extremum(query: &Query, schema: &Schema) -> Option<String> {
    let [term] = query.order_by.as_slice() else { return None };
    let is_one = matches!(query.limit, Some(Expr::Literal(Literal::Integer(1))));
    if !is_one || query.offset.is_some() || term.nulls_first.is_some() {
        return None;
    }
    let with_key = ordered(&Query { limit: None, ..query.clone() })?;
    let [key] = with_key.keys.as_slice() else { return None };
    let names = |count: usize| (0..count).map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ");
    let rows = Query { order_by: Vec::new(), ..with_key.query };
    let (all, text) = (names(rows.width()), print(&rows, schema, PrintDialect::Sqlite).ok()?);
    let extremum = if term.descending { "max" } else { "min" };
    Some(format!(
        "WITH \"all rows\" ({all}) AS ({text}) SELECT {} FROM \"all rows\" \
         WHERE c{key} = (SELECT {extremum}(c{key}) FROM \"all rows\")",
        names(with_key.width)
    ))
}

#[cfg(test)]
mod tests {
    use sqlgauge_search::{Search, SearchOptions};
    use sqlgauge_sql::resolve;

    use super::*;

    const DDL: &str =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INT); CREATE TABLE u (t_id INT, n INT);";

    /// Each reading is a query, and a search tells it from the gold where it leaves no choice itself.
    #[test]
    fn golds_are_read_otherwise() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let options = SearchOptions { tells_open_golds: true, ..SearchOptions::default() };
        let search = Search::new(schema.clone(), options).unwrap();
        for (gold, count, told) in [
            ("SELECT name FROM t GROUP BY name", 1, 1),
            ("SELECT name, count(*) FROM t GROUP BY id", 1, 1),
            ("SELECT DISTINCT t.name FROM t JOIN u ON t.id = u.t_id", 1, 1),
            ("SELECT name FROM t ORDER BY n DESC LIMIT 1", 1, 1),
            // By the key all groups tie.
            ("SELECT name FROM t GROUP BY name ORDER BY count(*) LIMIT 1", 2, 1),
            ("SELECT n FROM u GROUP BY n", 0, 0),
            ("SELECT DISTINCT n FROM u", 0, 0),
            ("SELECT name FROM t ORDER BY n LIMIT 2", 0, 0),
        ] {
            let found = readings(&resolve(gold, &schema).unwrap(), &schema);
            assert_eq!(found.len(), count, "{gold}: {found:?}");
            assert!(found.iter().all(|reading| resolve(reading, &schema).is_ok()), "{found:?}");
            let refuted = found.iter().filter(|reading| search.refute(gold, reading).is_refuted());
            assert_eq!(refuted.count(), told, "{gold}: {found:?}");
        }
    }
}
