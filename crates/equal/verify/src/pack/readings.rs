//! Other readings of a gold, as answers read its question, beside single mutations.
//!
//! On most databases they return what the gold does. Those on which they do not show more of what answers get wrong: namesakes,
//! and ties.

use std::collections::{BTreeMap, BTreeSet};

use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, Join, JoinKind, Literal, Output, Query, Relation,
    RelationId, RelationSource, Select, SetOperator,
};
use sqlgauge_sql::visit::{any_expr, each_expr, each_relation};
use sqlgauge_sql::{PrintDialect, ordered, print};

use super::build::spread;

/// The readings as SQL; of more than so many of one kind, so many at equal distances.
pub(super) fn readings(query: &Query, schema: &Schema, most: usize) -> Vec<String> {
    let others = regrouped(query, schema, most)
        .into_iter()
        .chain(joined(query, schema, most))
        .chain(without_a_table(query, most))
        .chain(without_nulls(query, most))
        .chain(one_row(query))
        .chain(by_key(query, schema));
    let printed = others.filter_map(|reading| print(&reading, schema, PrintDialect::Sqlite).ok());
    all_at_extremum(query, schema).into_iter().chain(printed).collect()
}

/// The query with another SELECT.
fn with_select(query: &Query, select: Select) -> Query {
    Query { body: Body::Select(Box::new(select)), ..query.clone() }
}

/// The query joined with each table that a foreign key leads to or comes from. On rows without a partner there, or with two, it is
/// another.
fn joined(query: &Query, schema: &Schema, most: usize) -> Vec<Query> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let Some(from) = &select.from else { return Vec::new() };
    let tables = &tables(select);
    let mut last = 0;
    each_relation(query, |relation| last = last.max(relation.id.0));
    let new_id = RelationId(last + 1);
    let with = |table: TableId, pairs: Vec<(ColumnRef, ColumnRef)>| {
        let equal = pairs.into_iter().map(|(left, right)| {
            let [left, right] = [left, right].map(|column| Box::new(Expr::Column(column)));
            Expr::Binary(BinaryOperator::Equal, left, right)
        });
        let on = conjunction(equal.collect());
        let right = From::Relation(Relation::new(new_id, RelationSource::Table(table)));
        let join = Join { kind: JoinKind::Inner, left: from.clone(), right, on };
        with_select(query, Select { from: Some(From::Join(Box::new(join))), ..select.clone() })
    };
    let ids: Vec<TableId> = schema.ids().collect();
    let keys = ids.iter().filter_map(|&id| Some((id, schema.table(id)?)));
    let keys = keys.flat_map(|(id, table)| table.foreign_keys.iter().map(move |key| (id, key)));
    let keys = keys.filter_map(|(id, key)| Some((id, key, schema.resolve_foreign_key(key)?.0)));
    let joins = keys.flat_map(|(id, key, target)| {
        tables.iter().flat_map(move |(&relation, &table)| {
            let to = (table == id).then_some((key, target, [relation, new_id]));
            let from = (table == target).then_some((key, id, [new_id, relation]));
            to.into_iter().chain(from)
        })
    });
    let joined = spread(joins, most).filter_map(|(key, table, [child, parent])| {
        let (_, columns) = schema.resolve_foreign_key(key)?;
        let pairs = key.columns.iter().zip(&columns);
        let pairs = pairs.map(|(&at, &there)| (ColumnRef::at(child, at), ColumnRef::at(parent, there)));
        Some(with(table, pairs.collect()))
    });
    joined.collect()
}

/// The query without each table that nothing but conditions reads, where all joins are inner ones: without the table and the conditions on
/// it, and with these in a subquery. `a = (SELECT …)` takes one of several partners, and IN each once.
fn without_a_table(query: &Query, most: usize) -> Vec<Query> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let Some(from) = select.from.as_ref().filter(|from| from.is_inner()) else { return Vec::new() };
    let relations = from.relations();
    let conditions = conjuncts(select);
    let returned =
        select.outputs.iter().map(|output| &output.expr).chain(&select.group_by).chain(&select.having);
    let returned: Vec<&Expr> = returned.chain(query.order_by.iter().map(|term| &term.expr)).collect();
    let is_unread = |relation: &&&Relation| !returned.iter().any(|expr| reads(expr, relation.id));
    let without = |out: &Relation| {
        let mut rest = relations.iter().filter(|relation| relation.id != out.id);
        let Some(first) = rest.next() else { return Vec::new() };
        let from = rest.fold(From::Relation((*first).clone()), |left, relation| {
            let right = From::Relation((*relation).clone());
            From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on: None }))
        });
        let (on_it, rest): (Vec<&Expr>, Vec<&Expr>) =
            conditions.iter().partition(|condition| reads(condition, out.id));
        let with = |further: Option<Expr>| {
            let filter =
                conjunction(rest.iter().map(|condition| (*condition).clone()).chain(further).collect());
            with_select(query, Select { from: Some(from.clone()), filter, ..select.clone() })
        };
        [None].into_iter().chain(as_subquery(out, &on_it).into_iter().flatten().map(Some)).map(with).collect()
    };
    spread(relations.iter().filter(is_unread), most).flat_map(|relation| without(relation)).collect()
}

/// The conditions on a relation as one on the column that it is joined by: equal to the only value of a subquery, or one of its values.
fn as_subquery(relation: &Relation, conditions: &[&Expr]) -> Option<[Expr; 2]> {
    let is_own = |condition: &Expr| {
        !any_expr(condition, |part| matches!(part, Expr::Column(column) if column.relation != relation.id))
    };
    let (alone, links): (Vec<&Expr>, Vec<&Expr>) = conditions.iter().partition(|condition| is_own(condition));
    let [Expr::Binary(BinaryOperator::Equal, left, right)] = links.as_slice() else { return None };
    let (outer, inner) = if reads(left, relation.id) { (right, left) } else { (left, right) };
    if reads(outer, relation.id) || !is_own(inner) {
        return None;
    }
    let select = Select {
        from: Some(From::Relation(relation.clone())),
        filter: conjunction(alone.into_iter().cloned().collect()),
        ..Select::of(vec![Output::of((**inner).clone())])
    };
    let query = Box::new(Query::of_select(select));
    let one = Expr::Binary(BinaryOperator::Equal, outer.clone(), Box::new(Expr::Scalar(query.clone())));
    Some([one, Expr::InQuery { expr: outer.clone(), query, negated: false }])
}

fn reads(expr: &Expr, id: RelationId) -> bool {
    any_expr(expr, |part| matches!(part, Expr::Column(column) if column.relation == id))
}

/// The query without the rows in which a column is NULL that it returns, sorts by or aggregates.
fn without_nulls(query: &Query, most: usize) -> Vec<Query> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let from: BTreeSet<RelationId> = tables(select).into_keys().collect();
    let mut columns = BTreeSet::new();
    let used = select.outputs.iter().map(|output| &output.expr);
    for expr in used.chain(query.order_by.iter().map(|term| &term.expr)).chain(&select.group_by) {
        each_expr(expr, |part| {
            if let Expr::Column(column) = part
                && from.contains(&column.relation)
            {
                columns.insert(*column);
            }
        });
    }
    let with = |column: ColumnRef| {
        let present = Expr::IsNull { expr: Box::new(Expr::Column(column)), negated: true };
        let filter = conjunction(select.filter.iter().cloned().chain([present]).collect());
        with_select(query, Select { filter, ..select.clone() })
    };
    spread(columns.iter().copied(), most).map(with).collect()
}

/// The first row of what it returns, where that may be several.
fn one_row(query: &Query) -> Option<Query> {
    query.limit.is_none().then(|| Query { limit: Some(Expr::Literal(Literal::Integer(1))), ..query.clone() })
}

/// INTERSECT and EXCEPT of two SELECTs of one table as conditions on its key: of namesakes each counts by itself.
fn by_key(query: &Query, schema: &Schema) -> Option<Query> {
    let Body::SetOperation { operator, left, right, .. } = &query.body else { return None };
    let negated = match operator {
        SetOperator::Intersect => false,
        SetOperator::Except => true,
        SetOperator::Union => return None,
    };
    let (Body::Select(left), Body::Select(right)) = (&**left, &**right) else { return None };
    let (of_left, of_right) = (tables(left), tables(right));
    let is_grouped = |select: &Select| !select.group_by.is_empty() || select.having.is_some();
    if is_grouped(left) || is_grouped(right) || !query.order_by.is_empty() || query.limit.is_some() {
        return None;
    }
    let (left_key, right_key) = keys(left, schema).into_iter().find_map(|(relation, key)| {
        let table = of_left.get(&relation)?;
        let there = of_right.iter().find(|(_, other)| *other == table)?.0;
        output_columns(left)
            .iter()
            .any(|column| column.relation == relation)
            .then_some((key, *keys(right, schema).get(there)?))
    })?;
    let output = Output::of(Expr::Column(right_key));
    let keys_of_right = Query::of_select(Select { outputs: vec![output], ..(**right).clone() });
    let is_in =
        Expr::InQuery { expr: Box::new(Expr::Column(left_key)), query: Box::new(keys_of_right), negated };
    let filter = conjunction(left.filter.iter().cloned().chain([is_in]).collect());
    let select = Select { filter, distinct: true, ..(**left).clone() };
    Some(with_select(query, select))
}

/// The tables in FROM, by their relations.
fn tables(select: &Select) -> BTreeMap<RelationId, TableId> {
    let relations = select.from.iter().flat_map(From::relations);
    relations.filter_map(|relation| Some((relation.id, relation.table()?))).collect()
}

/// The query with other groups. DISTINCT becomes groups by a table's key; each column in GROUP BY is replaced by a key or by a returned
/// column. Grouping by names merges namesakes.
fn regrouped(query: &Query, schema: &Schema, most: usize) -> Vec<Query> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let (keys, outputs) = (keys(select, schema), output_columns(select));
    let is_distinct = select.distinct && select.group_by.is_empty() && outputs.len() == select.outputs.len();
    let is_shown = |key: &&ColumnRef| outputs.iter().any(|column| column.relation == key.relation);
    let by_key: Vec<ColumnRef> = keys.values().filter(|key| is_distinct && is_shown(key)).copied().collect();
    let others: BTreeSet<ColumnRef> = keys.into_values().chain(outputs).collect();
    let replaced = select.group_by.iter().enumerate().flat_map(|(at, group)| {
        let column = if let Expr::Column(column) = group { Some(*column) } else { None };
        let others = others.iter().filter(move |other| column.is_some_and(|column| column != **other));
        others.map(move |other| (at, *other))
    });
    let with = |(at, column): (usize, ColumnRef)| {
        let mut group_by = select.group_by.clone();
        match group_by.get_mut(at) {
            Some(group) => *group = Expr::Column(column),
            None => group_by.push(Expr::Column(column)),
        }
        with_select(query, Select { distinct: false, group_by, ..select.clone() })
    };
    spread(by_key.into_iter().map(|key| (0, key)).chain(replaced), most).map(with).collect()
}

/// The key of each table in FROM whose key is one column.
fn keys(select: &Select, schema: &Schema) -> BTreeMap<RelationId, ColumnRef> {
    let keys = tables(select).into_iter().filter_map(|(relation, id)| {
        let [key] = schema.table(id)?.primary_key.as_slice() else { return None };
        Some((relation, ColumnRef::at(relation, *key)))
    });
    keys.collect()
}

/// The columns that it returns as they are.
fn output_columns(select: &Select) -> Vec<ColumnRef> {
    let columns = select.outputs.iter().filter_map(|output| match output.expr {
        Expr::Column(column) => Some(column),
        _ => None,
    });
    columns.collect()
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

    const ALL: usize = usize::MAX;
    const DDL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INT); CREATE TABLE u (t_id INT REFERENCES t(id), n INT);";

    /// How many of the readings there are, and how many of them a search tells from the gold. Each must be a query.
    fn counts(gold: &str, read: fn(&Query, &Schema) -> Vec<String>) -> (usize, usize) {
        let schema = Schema::from_ddl(DDL).unwrap();
        let options = SearchOptions { tells_open_golds: true, ..SearchOptions::default() };
        let search = Search::new(schema.clone(), options).unwrap();
        let readings = read(&resolve(gold, &schema).unwrap(), &schema);
        assert!(readings.iter().all(|reading| resolve(reading, &schema).is_ok()), "{readings:?}");
        (readings.len(), readings.iter().filter(|reading| search.refute(gold, reading).is_refuted()).count())
    }

    fn printed(readings: impl IntoIterator<Item = Query>, schema: &Schema) -> Vec<String> {
        readings.into_iter().map(|query| print(&query, schema, PrintDialect::Sqlite).unwrap()).collect()
    }

    /// A search tells the readings from the gold where they leave no choice themselves.
    #[test]
    fn golds_are_read_otherwise() {
        for (gold, expected) in [
            ("SELECT name FROM t GROUP BY name", (1, 1)),
            ("SELECT name, count(*) FROM t GROUP BY id", (1, 1)),
            ("SELECT t.name, count(*) FROM t JOIN u ON t.id = u.t_id GROUP BY u.t_id", (2, 1)),
            ("SELECT DISTINCT t.name FROM t JOIN u ON t.id = u.t_id", (1, 1)),
            ("SELECT name FROM t ORDER BY n DESC LIMIT 1", (1, 1)),
            // By the key all groups tie.
            ("SELECT name FROM t GROUP BY name ORDER BY count(*) LIMIT 1", (2, 1)),
            ("SELECT n FROM u GROUP BY n", (0, 0)),
            ("SELECT DISTINCT n FROM u", (0, 0)),
            ("SELECT name FROM t ORDER BY n LIMIT 2", (0, 0)),
        ] {
            let read = |query: &Query, schema: &Schema| {
                let all = printed(regrouped(query, schema, ALL), schema);
                all.into_iter().chain(all_at_extremum(query, schema)).collect()
            };
            assert_eq!(counts(gold, read), expected, "{gold}");
        }
    }

    #[test]
    fn tables_come_and_go() {
        for (gold, more, less) in [
            ("SELECT name FROM t", (1, 1), (0, 0)),
            // u refers to t, but no row of u need do so.
            ("SELECT n FROM u", (1, 1), (0, 0)),
            ("SELECT name FROM t JOIN u ON t.id = u.t_id", (2, 1), (3, 3)),
            ("SELECT u.n FROM u JOIN t ON t.id = u.t_id WHERE t.name = 'k'", (2, 1), (3, 2)),
            ("SELECT max(t.n) FROM t JOIN u ON t.id = u.t_id AND t.n > u.n", (2, 0), (1, 1)),
            ("SELECT name FROM t LEFT JOIN u ON t.id = u.t_id", (2, 2), (0, 0)),
            ("SELECT 1 FROM t UNION SELECT 2 FROM u", (0, 0), (0, 0)),
        ] {
            assert_eq!(
                counts(gold, |query, schema| printed(joined(query, schema, ALL), schema)),
                more,
                "{gold}"
            );
            assert_eq!(
                counts(gold, |query, schema| printed(without_a_table(query, ALL), schema)),
                less,
                "{gold}"
            );
        }
    }

    #[test]
    fn set_operations_are_read_by_the_key() {
        for (gold, expected) in [
            ("SELECT name FROM t WHERE n = 1 INTERSECT SELECT name FROM t WHERE n = 2", (1, 1)),
            ("SELECT name FROM t EXCEPT SELECT name FROM t JOIN u ON t.id = u.t_id", (1, 1)),
            ("SELECT name FROM t UNION SELECT name FROM t WHERE n = 2", (0, 0)),
            ("SELECT n FROM u INTERSECT SELECT n FROM t", (0, 0)),
        ] {
            assert_eq!(
                counts(gold, |query, schema| printed(by_key(query, schema), schema)),
                expected,
                "{gold}"
            );
        }
    }

    #[test]
    fn rows_are_left_out() {
        for (gold, nulls, row) in [
            ("SELECT name FROM t", (1, 1), (1, 1)),
            ("SELECT name FROM t WHERE n > 1 ORDER BY n LIMIT 3", (2, 1), (0, 0)),
            ("SELECT count(*) FROM t", (0, 0), (1, 0)),
        ] {
            assert_eq!(
                counts(gold, |query, schema| printed(without_nulls(query, ALL), schema)),
                nulls,
                "{gold}"
            );
            assert_eq!(counts(gold, |query, schema| printed(one_row(query), schema)), row, "{gold}");
        }
    }
}
