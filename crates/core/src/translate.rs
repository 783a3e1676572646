//! A query in other SQL dialects: `sqlgauge translate`.

use serde_json::{Value, json};
use sqlgauge_dialects::{
    DIALECTS, Dialect, Refused, SQLITE, TypedSchema, create_table, names, translate as print_in,
};
use sqlgauge_engine::{Database, Engine, observed_types, observed_types_for};
use sqlgauge_sql::schema::TableKind;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, print as print_sql, resolve};

use crate::error::Error;

/// Translates a query over a database, and its tables too where they are asked for.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, TranslateJob};
/// use sqlgauge_engine::{Engine, Limits, Moment};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let engine = Context::default().sqlite(Limits::default(), Moment::now())?;
/// let database = engine.open(&sample.database("bike_rental"))?;
///
/// let job = TranslateJob::new("SELECT count(*) FROM bike", ["postgres"]);
/// let texts = job.run(&engine, &database)?;
/// assert!(texts[0].sql.as_ref().is_some_and(Result::is_ok));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TranslateJob {
    /// The query, in SQLite's dialect; without it only tables are translated.
    pub sql: Option<String>,
    /// Names of dialects, or `all`.
    pub to: Vec<String>,
    /// Whether to write CREATE TABLE for the tables of the database too.
    pub ddl: bool,
}

/// A query, and tables, in one dialect.
#[derive(Debug, Clone)]
pub struct Translation {
    /// Name of the dialect.
    pub dialect: &'static str,
    /// The query in it; `None` where no query was given.
    pub sql: Option<Result<String, Refused>>,
    /// CREATE TABLE for each table; `None` where they were not asked for, or the dialect is SQLite.
    pub ddl: Option<Vec<Result<String, Refused>>>,
}

impl TranslateJob {
    /// Translates a query to the dialects of those names.
    pub fn new(sql: impl Into<String>, to: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { sql: Some(sql.into()), to: to.into_iter().map(Into::into).collect(), ddl: false }
    }

    /// The texts, SQLite's first and the others in the order of the registry. The values of the database decide the types of
    /// its columns.
    ///
    /// # Errors
    /// When there is no such dialect, SQLite refuses the query, or the values cannot be read.
    pub fn run(&self, engine: &dyn Engine, database: &Database) -> Result<Vec<Translation>, Error> {
        self.check_names()?;
        let schema = database.schema();
        let query = self.sql.as_deref().map(|sql| resolve(sql, schema)).transpose()?;
        let typed = match &query {
            Some(query) if !self.ddl => observed_types_for(query, schema, database, engine)?,
            _ => observed_types(schema, database, engine)?,
        };
        let mut all = Vec::new();
        if self.asks_for(SQLITE) {
            let sql =
                query.as_ref().map(|query| print_sql(query, schema, PrintDialect::Sqlite)).transpose()?;
            all.push(Translation { dialect: SQLITE, sql: sql.map(Ok), ddl: None });
        }
        let dialects = DIALECTS.iter().copied().filter(|dialect| self.asks_for(dialect.name));
        all.extend(dialects.map(|dialect| self.text(dialect, query.as_ref(), &typed)));
        Ok(all)
    }

    fn check_names(&self) -> Result<(), Error> {
        let is_known = |name: &String| name == "all" || names().any(|other| other == name);
        match self.to.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => {
                let choices = names().collect::<Vec<_>>().join(", ");
                Err(Error::Invalid(format!("unknown dialect {name:?}; choose from {choices}, or all")))
            }
        }
    }

    fn asks_for(&self, name: &str) -> bool {
        self.to.iter().any(|dialect| dialect == "all" || dialect == name)
    }

    fn text(&self, dialect: &'static Dialect, query: Option<&Query>, typed: &TypedSchema<'_>) -> Translation {
        Translation {
            dialect: dialect.name,
            sql: query.map(|query| print_in(query, typed, dialect)),
            ddl: self.ddl.then(|| tables(dialect, typed)),
        }
    }
}

fn tables(dialect: &'static Dialect, typed: &TypedSchema<'_>) -> Vec<Result<String, Refused>> {
    let schema = typed.schema();
    let tables = schema.ids().zip(schema.tables()).filter(|(_, table)| table.kind == TableKind::Table);
    tables.map(|(id, _)| create_table(dialect, typed, id).map(|sql| format!("{sql};"))).collect()
}

impl Translation {
    /// What `translate --json` prints below the name of the dialect.
    pub fn to_json(&self) -> Value {
        let mut value = match &self.sql {
            Some(Ok(sql)) => json!({"sql": sql}),
            Some(Err(refused)) => refused_to_json(refused),
            None if self.dialect == SQLITE => json!({"sql": null}),
            None => json!({}),
        };
        if let Some(ddl) = &self.ddl {
            let statement = |result: &Result<String, Refused>| match result {
                Ok(sql) => Value::String(sql.clone()),
                Err(refused) => refused_to_json(refused),
            };
            value["ddl"] = ddl.iter().map(statement).collect();
        }
        value
    }
}

/// A refusal for programs, and in a sentence.
fn refused_to_json(refused: &Refused) -> Value {
    json!({"refused": refused.construct.name(), "reason": refused.reason, "message": refused.to_string()})
}
