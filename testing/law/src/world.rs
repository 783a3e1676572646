//! A schema with several databases, and the queries' names in it.

use std::rc::Rc;

use rusqlite::Connection;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::schema::{Schema, TableKind};

use crate::data;
use crate::database::{Database, Layout, dump, open};
use crate::dice::Dice;
use crate::hostile::SCHEMAS;
use crate::shape::{Shape, quoted};

/// A schema with its databases.
pub struct World {
    /// What it is called in a report.
    pub name: String,
    /// The statements that create it.
    pub ddl: Vec<String>,
    /// Its catalog, without the foreign keys that the rows break.
    pub schema: Rc<Schema>,
    /// Its catalog with all of them, as whoever has no rows at hand takes it.
    pub declared: Rc<Schema>,
    /// The foreign keys that the rows break, in words.
    pub broken: Vec<String>,
    /// The same catalog under the names that seeds use.
    pub plain: Schema,
    pub databases: Vec<Database>,
}

/// The schemas of all rules' cases and the hostile ones.
pub fn shapes() -> Vec<(String, Vec<String>)> {
    let mut texts: Vec<(String, &str)> = Vec::new();
    for rule in sqlgauge_etm::rules() {
        for case in rule.cases {
            if texts.iter().all(|(_, text)| *text != case.schema) {
                texts.push((format!("cases of {}", rule.id), case.schema));
            }
        }
    }
    texts.extend(SCHEMAS.iter().map(|(name, text)| ((*name).to_owned(), *text)));
    let split = |text: &str| -> Vec<String> {
        let statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
        statements.map(str::to_owned).collect()
    };
    texts.into_iter().map(|(name, text)| (name, split(text))).collect()
}

impl World {
    /// A world over one of those schemas or a twin of it.
    ///
    /// # Errors
    /// When SQLite refuses the schema: a twin may contradict itself, and then another is to be drawn.
    pub fn draw(shapes: &[(String, Vec<String>)], dice: &mut Dice) -> anyhow::Result<Self> {
        let hostile = shapes.len() - SCHEMAS.len();
        let place =
            if dice.chance(50) { hostile + dice.below(SCHEMAS.len()) } else { dice.below(shapes.len()) };
        let (name, ddl) = &shapes[place];
        let changed = *dice.pick(&[0, 0, 8, 15, 30, 50]);
        if changed == 0 {
            let schema = catalog(ddl, dice)?;
            return Self::of(name.clone(), ddl.clone(), schema.clone(), schema, dice);
        }
        let shape = Shape::of(&catalog(ddl, dice)?).twin(changed, dice);
        let ddl = shape.ddl();
        let plain = catalog(&ddl, dice)?;
        if dice.chance(15) {
            let renamed = shape.renamed(dice).ddl();
            let schema = catalog(&renamed, dice)?;
            anyhow::ensure!(same_form(&plain, &schema), "views or indexes went");
            return Self::of(format!("{name}, changed and renamed"), renamed, schema, plain, dice);
        }
        Self::of(format!("{name}, changed"), ddl, plain.clone(), plain, dice)
    }

    fn of(
        name: String,
        ddl: Vec<String>,
        mut schema: Schema,
        plain: Schema,
        dice: &mut Dice,
    ) -> anyhow::Result<Self> {
        let keys_hold = dice.chance(80);
        let mut contents = Vec::new();
        for rows in [5, 5, 2, 8] {
            let connection = open(&ddl)?;
            data::fill(&connection, &schema, rows, keys_hold, dice)?;
            let inserts = dump(&connection)?;
            if rows == 5 {
                let mut shuffled = inserts.clone();
                dice.shuffle(&mut shuffled);
                contents.push((shuffled, Vec::new(), Layout::Shuffled));
                let indexes = further_indexes(&connection, &schema, dice);
                contents.push((inserts.clone(), indexes, Layout::Indexed));
            }
            contents.push((inserts, Vec::new(), Layout::Plain));
        }
        let declared = schema.clone();
        if !keys_hold {
            for (inserts, _, layout) in &contents {
                if *layout == Layout::Plain {
                    schema = kept_by(schema, &ddl, inserts)?;
                }
            }
        }
        let schema = Rc::new(schema);
        let mut databases = Vec::new();
        for (inserts, indexes, layout) in contents {
            databases.push(Database::of(&ddl, &schema, inserts, indexes, layout)?);
        }
        databases.sort_by_key(|database| database.layout);
        let broken = lost_keys(&declared, &schema);
        Ok(Self { name, ddl, schema, declared: Rc::new(declared), broken, plain, databases })
    }
}

/// Whether ids of one schema mean the same in the other.
fn same_form(left: &Schema, right: &Schema) -> bool {
    left.tables().len() == right.tables().len()
        && left.tables().iter().zip(right.tables()).all(|(a, b)| a.columns.len() == b.columns.len())
}

/// The foreign keys that only the first of two catalogs of the same tables has.
fn lost_keys(declared: &Schema, valid: &Schema) -> Vec<String> {
    let tables = declared.tables().iter().zip(valid.tables());
    let lost = tables.flat_map(|(all, rest)| {
        let lost = all.foreign_keys.iter().filter(|key| !rest.foreign_keys.contains(key));
        lost.map(|key| key.describe(all))
    });
    lost.collect()
}

/// The schema without the foreign keys that those rows break, as the engine finds them.
fn kept_by(schema: Schema, ddl: &[String], inserts: &[String]) -> anyhow::Result<Schema> {
    let mut tables = schema.tables().to_vec();
    if tables.iter().all(|table| table.foreign_keys.is_empty()) {
        return Ok(schema);
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("law.sqlite");
    let connection = Connection::open(&path)?;
    let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF";
    connection.execute_batch(pragmas)?;
    for statement in ddl.iter().chain(inserts) {
        connection.execute_batch(statement)?;
    }
    drop(connection);
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path)?;
    let valid = &database.kept_schema(&engine).schema;
    for table in &mut tables {
        let counterpart = valid.table_id(&table.name).and_then(|id| valid.table(id));
        table
            .foreign_keys
            .retain(|key| counterpart.is_some_and(|counterpart| counterpart.foreign_keys.contains(key)));
    }
    Ok(Schema::new(tables))
}

/// The catalog as a database file has it, or as the DDL text says it.
fn catalog(ddl: &[String], dice: &mut Dice) -> anyhow::Result<Schema> {
    let has_view = ddl.iter().any(|statement| statement.starts_with("CREATE VIEW"));
    if !has_view && dice.chance(50) {
        open(ddl)?;
        return Ok(Schema::from_ddl(&ddl.join(";\n"))?);
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("law.sqlite");
    let connection = Connection::open(&path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    for statement in ddl {
        connection.execute_batch(statement)?;
    }
    drop(connection);
    let engine = SqliteEngine::new(Limits::default());
    Ok(engine.open(&path)?.schema().as_ref().clone())
}

fn further_indexes(connection: &Connection, schema: &Schema, dice: &mut Dice) -> Vec<String> {
    let mut indexes = Vec::new();
    for (number, table) in schema.tables().iter().enumerate() {
        for second in 0..2 {
            let (Some(first), Some(last)) = (dice.pick_any(&table.columns), dice.pick_any(&table.columns))
            else {
                continue;
            };
            if table.kind != TableKind::Table {
                continue;
            }
            let direction = if dice.chance(30) { " DESC" } else { "" };
            let tail =
                if first.name == last.name { String::new() } else { format!(", {}", quoted(&last.name)) };
            let index = format!(
                "CREATE INDEX further_{number}_{second} ON {} ({}{direction}{tail})",
                quoted(&table.name),
                quoted(&first.name)
            );
            if connection.execute_batch(&index).is_ok() {
                indexes.push(index);
            }
        }
    }
    if dice.chance(50) {
        indexes.push("ANALYZE".to_owned());
    }
    indexes
}
