//! The 16 dimensions of Figure 4.
//!
//! FusionSQL compares corpora "across 16 normalized schema and query complexity dimensions, capturing nesting, set operations,
//! aggregation, schema connectivity, and predicate density", and names no more of them. These are five of schemas, a value for
//! each database, and eleven of queries, a value for each query.

use std::collections::{BTreeSet, VecDeque};

use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_synth::operators::OperatorId;
use sqlgauge_synth::shape::QueryMeasures;

/// A dimension of schemas or queries.
#[derive(Debug, Clone, Copy)]
pub struct Dimension {
    /// Its name in files.
    pub name: &'static str,
    /// What it counts.
    pub about: &'static str,
    pub of: Measure,
}

/// What a dimension is a property of.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// Of a database.
    Schema(fn(&Schema) -> f64),
    Query(fn(&QueryMeasures) -> f64),
}

pub const COUNT: usize = 16;

/// The registry: schemas first, then queries.
pub const DIMENSIONS: [Dimension; COUNT] = [
    Dimension {
        name: "tables",
        about: "tables of a database",
        of: Measure::Schema(|schema| count(tables(schema).count())),
    },
    Dimension {
        name: "columns per table",
        about: "columns of a table, on average",
        of: Measure::Schema(columns_per_table),
    },
    Dimension {
        name: "column types",
        about: "different declared types of a database",
        of: Measure::Schema(column_types),
    },
    Dimension {
        name: "foreign keys per table",
        about: "foreign keys of a table, on average",
        of: Measure::Schema(keys_per_table),
    },
    Dimension {
        name: "key path",
        about: "most foreign keys on a shortest way between two tables",
        of: Measure::Schema(key_path),
    },
    Dimension {
        name: "length",
        about: "nodes of a query's tree",
        of: Measure::Query(|shape| count(shape.nodes)),
    },
    Dimension {
        name: "tables read",
        about: "different tables",
        of: Measure::Query(|shape| count(shape.features.tables.len())),
    },
    Dimension {
        name: "columns named",
        about: "different columns",
        of: Measure::Query(|shape| count(shape.features.columns.len())),
    },
    Dimension {
        name: "joins",
        about: "joins of two relations",
        of: Measure::Query(|shape| count(shape.features.joins)),
    },
    Dimension {
        name: "nesting",
        about: "levels of queries, 1 without subqueries",
        of: Measure::Query(|shape| count(shape.features.depth)),
    },
    Dimension {
        name: "subqueries",
        about: "queries inside the query",
        of: Measure::Query(|shape| count(shape.features.subqueries)),
    },
    Dimension {
        name: "set operations",
        about: "UNION, INTERSECT, EXCEPT",
        of: Measure::Query(|shape| count(shape.features.set_operations)),
    },
    Dimension {
        name: "aggregates",
        about: "calls of aggregate functions",
        of: Measure::Query(|shape| count(shape.features.aggregates)),
    },
    Dimension {
        name: "predicates",
        about: "comparisons, BETWEEN, LIKE, IN, EXISTS, IS NULL",
        of: Measure::Query(|shape| count(shape.features.predicates)),
    },
    Dimension {
        name: "predicate density",
        about: "predicates for each relation that is read",
        of: Measure::Query(predicate_density),
    },
    Dimension {
        name: "operators",
        about: "different ones of the 42",
        of: Measure::Query(|shape| count(OperatorId::names_in(shape).len())),
    },
];

fn count(number: usize) -> f64 {
    number as f64
}

fn tables(schema: &Schema) -> impl Iterator<Item = &Table> {
    schema.tables().iter().filter(|table| table.kind == TableKind::Table)
}

fn per_table(schema: &Schema, of: fn(&Table) -> usize) -> f64 {
    count(tables(schema).map(of).sum()) / count(tables(schema).count().max(1))
}

fn columns_per_table(schema: &Schema) -> f64 {
    per_table(schema, |table| table.columns.len())
}

fn keys_per_table(schema: &Schema) -> f64 {
    per_table(schema, |table| table.foreign_keys.len())
}

fn column_types(schema: &Schema) -> f64 {
    let columns = tables(schema).flat_map(|table| &table.columns);
    let declared = columns.filter_map(|column| column.declared_type.as_deref());
    // The size of a type is none of its own.
    let bare =
        declared.map(|declared| declared.split('(').next().unwrap_or_default().trim().to_ascii_lowercase());
    count(bare.collect::<BTreeSet<_>>().len())
}

/// A breadth-first walk from every table.
fn key_path(schema: &Schema) -> f64 {
    let tables = schema.tables();
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); tables.len()];
    for (from, table) in tables.iter().enumerate() {
        for key in &table.foreign_keys {
            let Some(to) = schema.table_id(&key.referenced_table) else { continue };
            neighbours[from].insert(to.index());
            neighbours[to.index()].insert(from);
        }
    }
    count((0..tables.len()).map(|start| farthest(&neighbours, start)).max().unwrap_or(0))
}

fn farthest(neighbours: &[BTreeSet<usize>], start: usize) -> usize {
    let mut steps = vec![usize::MAX; neighbours.len()];
    let (mut open, mut most) = (VecDeque::from([start]), 0);
    steps[start] = 0;
    while let Some(at) = open.pop_front() {
        most = steps[at];
        for &next in &neighbours[at] {
            if steps[next] == usize::MAX {
                steps[next] = steps[at] + 1;
                open.push_back(next);
            }
        }
    }
    most
}

fn predicate_density(shape: &QueryMeasures) -> f64 {
    count(shape.features.predicates) / count(shape.features.joins + shape.features.subqueries + 1)
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::resolve;

    use super::*;

    #[test]
    fn names_are_unique_and_all_are_described() {
        let names: BTreeSet<&str> = DIMENSIONS.iter().map(|dimension| dimension.name).collect();
        assert_eq!(names.len(), COUNT);
        assert!(DIMENSIONS.iter().all(|dimension| !dimension.about.is_empty()));
    }

    #[test]
    fn a_schema_and_a_query_have_their_values() {
        let schema = Schema::from_ddl(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, n VARCHAR(20));
             CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INT REFERENCES a (id));
             CREATE TABLE c (b_id INT REFERENCES b (id), n varchar(9), x REAL);",
        )
        .unwrap();
        let sql =
            "SELECT n, count(*) FROM a WHERE id > 3 AND n LIKE 'x%' AND id IN (SELECT a_id FROM b) GROUP BY n
                   UNION SELECT n, x FROM c";
        let query = resolve(sql, &schema).unwrap();
        let shape = QueryMeasures::of(&query, &schema);
        let value = |name: &str| {
            let dimension = DIMENSIONS.iter().find(|dimension| dimension.name == name).unwrap();
            match dimension.of {
                Measure::Schema(of) => of(&schema),
                Measure::Query(of) => of(&shape),
            }
        };
        for (name, expected) in [
            ("tables", 3.0),
            ("columns per table", 7.0 / 3.0),
            ("column types", 4.0),
            ("foreign keys per table", 2.0 / 3.0),
            ("key path", 2.0),
            ("tables read", 3.0),
            ("nesting", 2.0),
            ("set operations", 1.0),
            ("aggregates", 1.0),
            ("predicates", 3.0),
            ("predicate density", 1.5),
        ] {
            assert!((value(name) - expected).abs() < 1e-9, "{name}: {}", value(name));
        }
    }
}
