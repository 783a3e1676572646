//! What `verify` mines from the rows of superhero beside the published constraints of SpotIt+, kind by kind: the table
//! `research/spotit/mined.tsv`, computed anew. Whether a published constraint holds is asked of SQLite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::Value as Json;
use sqlgauge_conformance::{data, measured, read};
use sqlgauge_engine::{Engine, Limits, SqliteEngine, Value};
use sqlgauge_search::{Mined, RowConstraint};
use sqlgauge_sql::schema::Schema;

/// The columns of the table.
const COLUMNS: [&str; 5] = ["kind", "published", "hold", "mined or declared here", "follow"];

/// How one kind compares.
#[derive(Debug, Default, PartialEq, Eq)]
struct OfKind {
    published: usize,
    /// Those that the rows keep.
    hold: usize,
    /// Those that are mined here too.
    same: usize,
    /// Those that follow from what is mined or declared.
    implied: usize,
}

/// What is known here of one database.
struct Known {
    /// Published names of columns and ours, as `table.column`.
    names: BTreeMap<String, (String, String)>,
    mined: Vec<RowConstraint>,
    /// Columns that repeat no value by themselves.
    unique: Vec<String>,
    primary: Vec<Vec<String>>,
    foreign: Vec<(String, String)>,
    rows: Connection,
}

impl Known {
    fn of(path: &Path) -> Self {
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(path).unwrap();
        let schema = Arc::clone(database.schema());
        let mined = Mined::new(Arc::clone(&schema)).among(schema.ids(), &engine, &database);
        let mined = mined.listed(&schema);
        let one =
            |columns: &Vec<String>| if let [one] = columns.as_slice() { Some(one.clone()) } else { None };
        let of_rows = mined.iter().filter_map(|constraint| match constraint {
            RowConstraint::Unique { columns } => one(columns),
            _ => None,
        });
        let (primary, foreign) = declared(&schema);
        let unique = of_rows.chain(primary.iter().filter_map(one)).collect();
        let names = schema.tables().iter().flat_map(|table| {
            table.columns.iter().map(|column| {
                let published = format!("{}__{}", table.name, column.name).to_uppercase();
                (published, (table.name.clone(), column.name.clone()))
            })
        });
        let rows = Connection::open(path).unwrap();
        Self { names: names.collect(), mined, unique, primary, foreign, rows }
    }

    fn column(&self, published: &Json) -> (&str, &str) {
        let name = published["value"].as_str().or(published.as_str()).unwrap();
        let (table, column) = &self.names[name];
        (table, column)
    }

    fn named(&self, published: &Json) -> String {
        let (table, column) = self.column(published);
        format!("{table}.{column}")
    }

    /// Whether no row of the column's table is one of which that is so.
    fn never(&self, published: &Json, condition: impl Fn(&str) -> String) -> bool {
        let (table, column) = self.column(published);
        let condition = condition(&format!("\"{column}\""));
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM \"{table}\" WHERE {condition})");
        self.rows.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    /// What becomes of one published constraint: the kind, whether it holds, whether it is mined here, and whether it follows.
    fn judge(&self, kind: &str, published: &Json) -> (&'static str, bool, bool, bool) {
        match kind {
            "primary" => {
                let key: Vec<String> =
                    published.as_array().unwrap().iter().map(|column| self.named(column)).collect();
                ("primary key", true, self.primary.contains(&key), false)
            }
            "foreign" => {
                let key = (self.named(&published[0]), self.named(&published[1]));
                ("foreign key", true, self.foreign.contains(&key), false)
            }
            "between" => {
                let (low, high) = (published[1].as_f64().unwrap(), published[2].as_f64().unwrap());
                let holds = self.never(&published[0], |c| format!("{c} < {low} OR {c} > {high}"));
                let name = self.named(&published[0]);
                let is_same = |mined: &RowConstraint| {
                    matches!(mined, RowConstraint::Range { column, low: l, high: h }
                        if *column == name && number(l) == Some(low) && number(h) == Some(high))
                };
                ("range", holds, self.mined.iter().any(is_same), false)
            }
            "in" => {
                let list = published[1].as_array().unwrap();
                let texts = list.iter().map(literal).collect::<Vec<_>>().join(", ");
                let holds = self.never(&published[0], |c| format!("{c} NOT IN ({texts})"));
                let name = self.named(&published[0]);
                let is_same = |mined: &RowConstraint| {
                    matches!(mined, RowConstraint::Categories { column, values }
                        if *column == name && values.len() == list.len())
                };
                ("categories", holds, self.mined.iter().any(is_same), false)
            }
            "not_null" => {
                let name = self.named(published);
                let is_same = |mined: &RowConstraint| matches!(mined, RowConstraint::NotNull { column } if *column == name);
                let holds = self.never(published, |c| format!("{c} IS NULL"));
                ("not NULL", holds, self.mined.iter().any(is_same), false)
            }
            "dependency" => self.judge_dependency(published),
            other => panic!("a published constraint of kind {other}"),
        }
    }

    fn judge_dependency(&self, published: &Json) -> (&'static str, bool, bool, bool) {
        let (from, to) = (&published["values"][0], &published["values"][1]);
        let (name, other) = (self.named(from), self.named(to));
        let (table, target) = self.column(to);
        if published["type"] == "ordering" {
            let breaks = if published["operator"] == "<=" { ">" } else { "<" };
            let holds = self.never(from, |c| format!("{c} {breaks} \"{target}\""));
            let (low, high) = if published["operator"] == "<=" { (name, other) } else { (other, name) };
            let is_same = |mined: &RowConstraint| matches!(mined, RowConstraint::Order { low: l, high: h } if *l == low && *h == high);
            return ("order", holds, self.mined.iter().any(is_same), false);
        }
        let holds = self.never(from, |c| {
            let twin = format!("SELECT 1 FROM \"{table}\" AS twin WHERE twin.{c} = \"{table}\".{c}");
            format!("EXISTS ({twin} AND twin.\"{target}\" IS NOT \"{table}\".\"{target}\")")
        });
        let is_same = |mined: &RowConstraint| matches!(mined, RowConstraint::Dependency { from, to } if *from == name && *to == other);
        ("functional", holds, self.mined.iter().any(is_same), self.unique.contains(&name))
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

fn literal(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("'{}'", text.replace('\'', "''")))
}

/// The primary and foreign keys that the schema declares.
fn declared(schema: &Schema) -> (Vec<Vec<String>>, Vec<(String, String)>) {
    let (mut primary, mut foreign) = (Vec::new(), Vec::new());
    for table in schema.tables() {
        let name = |at: u32| format!("{}.{}", table.name, table.column(at).unwrap().name);
        primary.push(table.primary_key.iter().map(|&at| name(at)).collect());
        for key in &table.foreign_keys {
            let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
            let target = schema.table(target).unwrap();
            for (&column, at) in key.columns.iter().zip(columns) {
                foreign.push((name(column), format!("{}.{}", target.name, target.column(at).unwrap().name)));
            }
        }
    }
    (primary, foreign)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn mined_constraints_compare_with_the_published_ones_as_the_page_says() {
    let Some(root) = data() else { return };
    let constraints = Known::of(&root.join("bird/database/superhero/superhero.sqlite"));
    let published = read(&root.join("spotit/constraints/superhero_constraints.json"));
    let published: Json = serde_json::from_str(&published).unwrap();
    let mut kinds: BTreeMap<&str, OfKind> = BTreeMap::new();
    for constraint in published["superhero"][0].as_array().unwrap() {
        let (kind, content) = constraint.as_object().unwrap().iter().next().unwrap();
        let (kind, holds, is_same, is_implied) = constraints.judge(kind, content);
        if !holds {
            println!("does not hold: {constraint}");
        } else if !is_same && !is_implied {
            println!("not mined here: {constraint}");
        }
        let counts = kinds.entry(kind).or_default();
        counts.published += 1;
        counts.hold += usize::from(holds);
        counts.same += usize::from(is_same);
        counts.implied += usize::from(is_implied && !is_same);
    }
    let row = |(kind, of): (&&str, &OfKind)| {
        let counts = [of.published, of.hold, of.same, of.implied].map(|count| count.to_string());
        std::iter::once((*kind).to_owned()).chain(counts).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = kinds.iter().map(row).collect();
    for row in &rows {
        println!("{}", row.join("\t"));
    }
    let mut besides: BTreeMap<String, usize> = BTreeMap::new();
    for constraint in &constraints.mined {
        let kind = format!("{constraint:?}");
        *besides.entry(kind.split([' ', '{']).next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    println!("mined here: {besides:?}");
    assert!(rows.len() > 5, "the published file has fewer kinds than the table");
    let written = measured("spotit/mined.tsv");
    let written: Vec<Vec<String>> =
        written.iter().map(|row| COLUMNS.iter().map(|column| row[*column].clone()).collect()).collect();
    assert_eq!(written, rows);
}

/// Every order that is mined is one that the rows keep, by SQLite.
#[test]
#[ignore = "long: cargo xtask long"]
fn mined_orders_are_kept_by_the_rows() {
    let Some(root) = data() else { return };
    let (mut databases, mut orders) = (0, 0);
    for folder in ["spider/database", "spider/train_database", "bird/database"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name();
            let path = root.join(folder).join(&name).join(&name).with_extension("sqlite");
            if !path.is_file() {
                continue;
            }
            databases += 1;
            let constraints = Known::of(&path);
            for order in &constraints.mined {
                let RowConstraint::Order { low, high } = order else { continue };
                let (table, low) = low.rsplit_once('.').unwrap();
                let (_, high) = high.rsplit_once('.').unwrap();
                println!("{}: {table}: {low} <= {high}", name.display());
                let sql = format!("SELECT count(*) FROM \"{table}\" WHERE \"{low}\" > \"{high}\"");
                let breaks: i64 = constraints.rows.query_row(&sql, [], |row| row.get(0)).unwrap();
                assert_eq!(breaks, 0, "{}: {order:?}", path.display());
                orders += 1;
            }
        }
    }
    println!("{orders} orders in {databases} databases");
    assert!(orders > 0);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn published_dependencies_are_as_many_as_the_page_says() {
    let Some(root) = data() else { return };
    let published: BTreeMap<String, Vec<Vec<Json>>> =
        serde_json::from_str(&read(&root.join("spotit/constraints/all_constraints.json"))).unwrap();
    let all = published.values().flatten().flatten().filter_map(|constraint| constraint.get("dependency"));
    let (orders, functional): (Vec<&Json>, Vec<&Json>) =
        all.partition(|dependency| dependency["type"] == "ordering");
    let thousands = |count: usize| format!("{},{:03}", count / 1000, count % 1000);
    let (both, orders) = (thousands(orders.len() + functional.len()), thousands(orders.len()));
    println!("{both} dependencies in {} databases, {orders} of them orders", published.len());
    let [row] = &measured("spotit/dependencies.tsv")[..] else { panic!("one row of counts") };
    let written = ["databases", "published dependencies", "orders"].map(|column| row[column].as_str());
    assert_eq!(written, [&published.len().to_string(), &both, &orders]);
}
