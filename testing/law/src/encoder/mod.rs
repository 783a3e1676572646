//! The law of the symbolic execution: with the values of a database put in, the rows are those that SQLite returns.
//!
//! Random queries over hostile schemas run on random databases whose columns hold values of their declared types. What
//! the encoding calls open (ties that show, functions without a value) or unsupported is counted and says nothing.

pub mod construct;
pub mod defect;
pub mod misreading;

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::Value as Read;
use sqlgauge_engine::Value;
use sqlgauge_prove::{OnDatabase, rows_of_broken, rows_on};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Affinity, Column, Schema, TableId, TableKind};

use self::construct::Construct;
use self::defect::Planted;
use crate::data::{literal, remove_orphans};
use crate::database::{dump, open};
use crate::dice::Dice;
use crate::generate::Generator;
use crate::shape::quoted;
use crate::world::{World, shapes};

/// What came of the comparisons.
#[derive(Debug, Default)]
pub struct Tally {
    /// The symbolic rows were compared with SQLite's.
    pub compared: usize,
    /// Of those, with at least one row.
    pub with_rows: usize,
    /// The encoding leaves the rows open.
    pub open: usize,
    /// By the construct that is not encoded.
    pub unsupported: BTreeMap<String, usize>,
    /// The texts of violations.
    pub violations: Vec<String>,
}

const INTEGERS: [&str; 8] = ["0", "1", "1", "2", "3", "-1", "5", "10"];
const REALS: [&str; 6] = ["0.5", "1.0", "2.0", "2.5", "-1.5", "3.0"];
pub(crate) const TEXTS: [&str; 19] = [
    "'a'", "'A'", "'b'", "'a '", "'x'", "'1'", "'01'", "'1.5'", "''", "'ab'", "'Ab%'", "'5'", "' AB '",
    "'é'", "'aé_'", "' -12x'", "'aab'", "'a]b'", "'AB'",
];
/// SQLite reads all but the last two as times, most of them otherwise than they stand.
pub(crate) const DATES: [&str; 21] = [
    "'2020-01-01'",
    "'2020-01-02'",
    "'1999-12-31'",
    "'2020-01-01 10:30:00'",
    "'2020-02-30'",
    "'2020-02-29'",
    "'2019-02-29'",
    "'2020-03-01T10:30'",
    "'10:30'",
    "'24:00'",
    "'2020-01-31 24:00'",
    "'2020-12-31 23:30:00-05:00'",
    "'2020-01-01 00:30Z'",
    "'2020-06-15 23:59:59.9999'",
    "'2020-02-29 23:59:59.999'",
    "'-0044-03-15'",
    "'0000-01-01'",
    "'9999-12-31 23:59:59.999'",
    "'2458849.5'",
    "'  2020-03-01'",
    "'2020-3-1'",
];

/// A value of the column's declared type.
fn value_of(column: &Column, dice: &mut Dice) -> &'static str {
    if dice.chance(15) {
        return "NULL";
    }
    let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_uppercase();
    let is_date = declared.contains("DATE") || declared.contains("TIME");
    let is_truth = declared.contains("BOOL");
    match column.affinity {
        Affinity::Real => dice.word(&REALS),
        Affinity::Numeric if is_date => dice.word(&DATES),
        Affinity::Numeric if is_truth => dice.word(&INTEGERS[..2]),
        Affinity::Numeric if dice.chance(50) => dice.word(&REALS),
        Affinity::Integer | Affinity::Numeric => dice.word(&INTEGERS),
        Affinity::Text if dice.chance(20) => dice.word(&DATES),
        Affinity::Text => dice.word(&TEXTS),
        Affinity::Blob => match dice.below(3) {
            0 => dice.word(&INTEGERS),
            1 => dice.word(&REALS),
            _ => dice.word(&TEXTS),
        },
    }
}

fn fill(connection: &Connection, schema: &Schema, most: usize, dice: &mut Dice) {
    for table in schema.tables().iter().filter(|table| table.kind == TableKind::Table) {
        for _ in 0..dice.below(most + 1) {
            let columns: Vec<&Column> = table.columns.iter().filter(|column| !column.generated).collect();
            let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
            let values: Vec<&str> = columns.iter().map(|column| value_of(column, dice)).collect();
            let sql = format!(
                "INSERT OR IGNORE INTO {} ({}) VALUES ({})",
                quoted(&table.name),
                names.join(", "),
                values.join(", ")
            );
            // A row that breaks a constraint is not there: that is all.
            let _ = connection.execute(&sql, []);
        }
    }
    for _ in 0..6 {
        if remove_orphans(connection, schema) == 0 {
            return;
        }
    }
}

fn stored(value: Read) -> Value {
    match value {
        Read::Null => Value::Null,
        Read::Integer(integer) => Value::Integer(integer),
        Read::Real(real) => Value::Real(real),
        Read::Text(text) => Value::text(&text),
        Read::Blob(bytes) => Value::Blob(bytes.into()),
    }
}

fn rows_of(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at).map(stored)).collect())?;
    rows.take(2_000).collect()
}

fn contents(connection: &Connection, schema: &Schema) -> BTreeMap<TableId, Vec<Vec<Value>>> {
    let tables = schema.ids().filter_map(|id| {
        let table = schema.table(id).filter(|table| table.kind == TableKind::Table)?;
        let mut columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        if !table.without_rowid && table.column_index("rowid").is_none() {
            columns.push("rowid".to_owned());
        }
        let sql = format!("SELECT {} FROM {}", columns.join(", "), quoted(&table.name));
        Some((id, rows_of(connection, &sql).ok()?))
    });
    tables.collect()
}

/// Whether two bags of rows are equal, numbers up to rounding.
fn is_same_bag(left: &[Vec<Value>], right: &[Vec<Value>]) -> bool {
    let mut rest: Vec<&Vec<Value>> = right.iter().collect();
    left.len() == right.len()
        && left.iter().all(|row| {
            let place =
                rest.iter().position(|other| row.iter().zip(other.iter()).all(|(a, b)| is_same(a, b)));
            place.map(|place| rest.swap_remove(place)).is_some()
        })
}

/// Whether two values are equal up to rounding, which the encoding assumes away; it also shows in the text of a number.
fn is_same(left: &Value, right: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Text(_) => value.as_str().filter(|text| text.contains('.'))?.parse::<f64>().ok(),
        Value::Real(real) => Some(*real),
        _ => None,
    };
    match (number(left), number(right)) {
        (Some(l), Some(r)) if std::mem::discriminant(left) == std::mem::discriminant(right) => {
            (l - r).abs() <= 1e-9 * l.abs().max(r.abs()).max(1.0)
        }
        _ => left == right,
    }
}

/// A database with its catalog.
struct Place {
    ddl: Vec<String>,
    schema: Schema,
    connection: Connection,
    contents: BTreeMap<TableId, Vec<Vec<Value>>>,
}

impl Place {
    /// A random database over the schema; `None` where SQLite or the catalog refuses it.
    fn draw(ddl: Vec<String>, schema: Schema, most_rows: usize, dice: &mut Dice) -> Option<Self> {
        let connection = open(&ddl).ok()?;
        fill(&connection, &schema, most_rows, dice);
        let contents = contents(&connection, &schema);
        Some(Self { ddl, schema, connection, contents })
    }
}

/// Compares until so many queries have been drawn, of all constructs mixed, over schemas that are hostile to rules.
///
/// # Errors
/// When SQLite gives no database.
pub fn hunt(seed: u64, queries: usize, most_rows: usize) -> anyhow::Result<Tally> {
    let mut dice = Dice::new(seed, 0);
    let (shapes, generator) = (shapes(), Generator::default());
    let mut tally = Tally::default();
    let mut drawn = 0;
    while drawn < queries {
        let Ok(world) = World::draw(&shapes, &mut dice) else { continue };
        let schema = world.schema.as_ref().clone();
        let Some(place) = Place::draw(world.ddl.clone(), schema, most_rows, &mut dice) else { continue };
        for _ in 0..40 {
            drawn += 1;
            let sql = generator.draw(&world, &mut dice);
            compare(&place, &sql, None, &mut tally)?;
        }
    }
    Ok(tally)
}

/// Compares until so many queries about one construct have been compared, or `most_drawn` have been drawn; with something
/// planted, only those that it changes, and no further than the first violation.
///
/// # Errors
/// When SQLite cannot read what it holds.
pub fn hunt_construct(
    construct: Construct,
    planted: Option<Planted>,
    seed: u64,
    (compared, most_drawn): (usize, usize),
) -> anyhow::Result<Tally> {
    let mut dice = Dice::new(seed, construct as u64);
    let mut tally = Tally::default();
    let mut drawn = 0;
    while tally.compared < compared && drawn < most_drawn {
        let ddl = construct::schema(&mut dice);
        let schema = Schema::from_ddl(&ddl.join(";\n"))?;
        let Some(place) = Place::draw(ddl, schema, 4, &mut dice) else { continue };
        for _ in 0..20 {
            drawn += 1;
            compare(&place, &construct.query(&mut dice), planted, &mut tally)?;
        }
        if planted.is_some() && !tally.violations.is_empty() {
            break;
        }
    }
    Ok(tally)
}

fn compare(place: &Place, sql: &str, planted: Option<Planted>, tally: &mut Tally) -> anyhow::Result<()> {
    let Ok(query) = resolve(sql, &place.schema) else { return Ok(()) };
    let Ok(expected) = rows_of(&place.connection, sql) else { return Ok(()) };
    if expected.iter().flatten().any(|value| matches!(value, Value::Blob(_))) {
        tally.open += 1;
        return Ok(());
    }
    let answer = match planted {
        None => rows_on(&place.schema, &query, &place.contents),
        Some(Planted::Encoder(defect)) => rows_of_broken(&place.schema, &query, &place.contents, defect),
        Some(Planted::Query(misreading)) => match misreading.of(&query) {
            Some(misread) => rows_on(&place.schema, &misread, &place.contents),
            None => return Ok(()),
        },
    };
    let rows = match answer {
        OnDatabase::Rows(rows) => rows,
        OnDatabase::Open => {
            tally.open += 1;
            return Ok(());
        }
        OnDatabase::Unsupported(construct) => {
            *tally.unsupported.entry(construct).or_default() += 1;
            return Ok(());
        }
        OnDatabase::BreaksConstraints => {
            tally
                .violations
                .push(format!("a database that is sound breaks constraints: {}\n{sql}", described(place)?));
            return Ok(());
        }
    };
    tally.compared += 1;
    tally.with_rows += usize::from(!expected.is_empty());
    if !is_same_bag(&expected, &rows) {
        tally.violations.push(format!(
            "{}\n{sql}\nSQLite:   {}\nencoding: {}\n",
            described(place)?,
            spelled(&expected),
            spelled(&rows),
        ));
    }
    Ok(())
}

fn described(place: &Place) -> anyhow::Result<String> {
    Ok(format!("{}\n{}", place.ddl.join(";\n"), dump(&place.connection)?.join(";\n")))
}

fn spelled(rows: &[Vec<Value>]) -> String {
    let cell = |value: &Value| match value {
        Value::Null => literal(&Read::Null),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(_) => format!("'{}'", value.as_str().unwrap_or_default()),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(_) => "a blob".to_owned(),
    };
    let row = |row: &Vec<Value>| format!("({})", row.iter().map(cell).collect::<Vec<_>>().join(", "));
    rows.iter().map(row).collect::<Vec<_>>().join(" ")
}
