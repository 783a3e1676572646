//! What the program does with a text before, or without, running it: one entry per analysis.

use std::sync::Arc;

use anyhow::{Context, Result};
use sqlgauge_dialects::{DIALECTS, TypedSchema, translate};
use sqlgauge_encode::encoders::features::FeatureEncoder;
use sqlgauge_encode::encoders::tfidf::{Tfidf, TfidfOptions};
use sqlgauge_encode::{Encoder, EncoderInput, InputForm};
use sqlgauge_engine::{Engine, SqliteEngine};
use sqlgauge_estimate::{GENERATED_DATABASES, Observations, Pool, PoolAnswer, PoolQuestion};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::{Pair, Target, find, official};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{Features, PrintDialect, print, resolve, spider};
use sqlgauge_verify::{Verdict, Verifier, VerifyOptions};

use crate::constructs::SCHEMA;

/// A small database and what belongs to it.
pub struct World {
    engine: SqliteEngine,
    target: Target,
    schema: Arc<Schema>,
    folder: tempfile::TempDir,
}

impl World {
    /// Writes the database.
    ///
    /// # Errors
    /// When it cannot be written or opened.
    pub fn new(engine: SqliteEngine) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let path = folder.path().join("grow.sqlite");
        rusqlite::Connection::open(&path)?.execute_batch(SCHEMA)?;
        let database = engine.open(&path)?;
        let schema = Arc::clone(database.schema());
        Ok(Self { engine, target: Target::new("grow", database), schema, folder })
    }

    fn catalog(&self) -> std::path::PathBuf {
        self.folder.path().join("catalog.sqlite")
    }

    fn score(&self, metric: &str, gold: &str, prediction: &str) -> String {
        let Ok(metric) = find(metric) else { return format!("unknown metric {metric}") };
        let pair = Pair::new(&self.engine, &self.target, gold, prediction, None);
        let score = metric.score(&pair);
        let reason = score.detail.reason().map(ToString::to_string).unwrap_or_default();
        format!("{:?} {}", score.value, shortened(&reason))
    }

    fn encoded(&self, encoder: &dyn Encoder, text: &str) -> String {
        let input = EncoderInput {
            id: "0".to_owned(),
            db_id: "grow".to_owned(),
            question: text.to_owned(),
            evidence: None,
            schema: Arc::clone(&self.schema),
            prediction: Some(text.to_owned()),
        };
        match encoder.encode(&[input]) {
            Ok(_) => "a vector".to_owned(),
            Err(error) => shortened(&error.to_string()),
        }
    }
}

/// One analysis of a text.
pub struct Analysis {
    /// Its name.
    pub name: &'static str,
    /// Makes what it analyses of the text; neither time nor memory is that of the analysis.
    pub prepare: fn(&World, &str),
    /// Runs it and says what came of it.
    pub run: fn(&World, &str) -> String,
}

const GOLD: &str = "SELECT id FROM t WHERE score > 3";

/// All analyses.
pub static ANALYSES: &[Analysis] = &[
    Analysis {
        prepare: nothing,
        name: "extract-sql",
        run: |_, text| shortened(&sqlgauge_dataset::extract_sql(text).sql),
    },
    Analysis { prepare: nothing, name: "parse", run: parse },
    Analysis {
        prepare: nothing,
        name: "resolve",
        run: |world, text| outcome(resolve(text, &world.schema).map(|_| "a query")),
    },
    Analysis { prepare: nothing, name: "spider", run: spider },
    Analysis {
        prepare: nothing,
        name: "official",
        run: |_, text| format!("{:?}", official::prediction_to_run(text, false).is_some()),
    },
    Analysis {
        prepare: nothing,
        name: "changes",
        run: |_, text| format!("{:?}", official::changes_of_prediction(text, false)),
    },
    Analysis {
        prepare: nothing,
        name: "plug_value",
        run: |_, text| {
            outcome(official::plugged(text, text, false).map(|ways| ways.map_or("none", |_| "ways")))
        },
    },
    Analysis {
        prepare: nothing,
        name: "schema",
        run: |_, text| outcome(Schema::from_ddl(text).map(|_| "a schema")),
    },
    Analysis {
        prepare: nothing,
        name: "features",
        run: |world, text| world.encoded(&FeatureEncoder::new(InputForm::QuestionSchemaPrediction), text),
    },
    Analysis {
        prepare: nothing,
        name: "tfidf",
        run: |world, text| {
            let options = TfidfOptions { ngrams: 2, ..TfidfOptions::default() };
            match Tfidf::fit_texts(&[text.to_owned()], InputForm::QuestionSchemaPrediction, options) {
                Ok(tfidf) => world.encoded(&tfidf, text),
                Err(error) => shortened(&error.to_string()),
            }
        },
    },
    Analysis { prepare: nothing, name: "esm", run: |world, text| world.score("esm", GOLD, text) },
    Analysis { prepare: nothing, name: "esm, both", run: |world, text| world.score("esm", text, text) },
    Analysis { prepare: nothing, name: "esm-fair", run: |world, text| world.score("esm-fair", GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "esm-fair, both",
        run: |world, text| world.score("esm-fair", text, text),
    },
    Analysis { prepare: nothing, name: "table-f1", run: |world, text| world.score("table-f1", GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "table-f1, both",
        run: |world, text| world.score("table-f1", text, text),
    },
    Analysis { prepare: nothing, name: "column-f1", run: |world, text| world.score("column-f1", GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "column-f1, both",
        run: |world, text| world.score("column-f1", text, text),
    },
    Analysis { prepare: nothing, name: "etm", run: |world, text| world.score("etm", GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "etm, both",
        run: |world, text| world.score("etm", text, &format!("{text} ")),
    },
    Analysis { prepare: nothing, name: "etm-paper", run: |world, text| world.score("etm-paper", GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "etm-paper, both",
        run: |world, text| world.score("etm-paper", text, &format!("{text} ")),
    },
    Analysis { prepare: nothing, name: "match", run: |world, text| matched(world, Profile::Sound, text) },
    Analysis {
        prepare: nothing,
        name: "match, paper",
        run: |world, text| matched(world, Profile::Paper, text),
    },
    Analysis { prepare: nothing, name: "verify", run: |world, text| verified(world, GOLD, text) },
    Analysis {
        prepare: nothing,
        name: "verify, both",
        run: |world, text| verified(world, text, &text.replacen("SELECT ", "SELECT ALL ", 1)),
    },
    Analysis { prepare: nothing, name: "translate", run: translated },
    Analysis { prepare: nothing, name: "estimate", run: observed },
    Analysis { prepare: write_catalog, name: "catalog", run: open_catalog },
];

/// What `sqlgauge estimate` sees of an answer.
fn observed(world: &World, text: &str) -> String {
    let mut pool = Pool::default();
    let question = PoolQuestion {
        database: pool.database("grow", &world.target.database, None),
        id: "0".to_owned(),
        text: "How many are there?".to_owned(),
        evidence: None,
        in_target: true,
    };
    let (question, system) = (pool.question(question, 0), pool.system("x"));
    let answer =
        PoolAnswer { sql: text.to_owned(), correct: None, confidence: None, status: None, result: None };
    pool.answer(system, question, answer);
    let seen = Observations::new(&pool, &[system], &[question], GENERATED_DATABASES);
    outcome(seen.map(|seen| {
        let answer = seen.get(system, question);
        answer.map_or_else(
            || "no answer".to_owned(),
            |answer| format!("{}, {:?}", answer.status, answer.cluster),
        )
    }))
}

/// What `sqlgauge match` does.
fn matched(world: &World, profile: Profile, text: &str) -> String {
    let other = text.replacen("SELECT ", "SELECT ALL ", 1);
    shortened(&Matcher::new(&world.schema, profile).compare(text, &other).verdict.to_string())
}

/// What `sqlgauge verify` does without a solver, and `unknown` prints.
fn verified(world: &World, left: &str, right: &str) -> String {
    let Ok(verifier) = Verifier::new(Arc::clone(&world.schema), VerifyOptions::default()) else {
        return "SQLite gives no database".to_owned();
    };
    match verifier.verify(left, right, None) {
        Ok(report) => match report.verdict {
            Verdict::Unknown(unknown) => {
                shortened(&format!("unknown: {}, {}", unknown.reason, unknown.message))
            }
            verdict => verdict.name().to_owned(),
        },
        Err(refused) => shortened(&refused.message),
    }
}

/// What `sqlgauge translate` does, for all dialects.
fn translated(world: &World, text: &str) -> String {
    outcome(resolve(text, &world.schema).map(|query| {
        let typed = TypedSchema::declared(&world.schema);
        let dialects = DIALECTS.iter().filter(|dialect| translate(&query, &typed, dialect).is_ok());
        format!("in {} dialects", dialects.count())
    }))
}

fn nothing(_: &World, _: &str) {}

/// Writes a database whose schema is the text, or that has the text as a view; nothing if SQLite does not take it.
fn write_catalog(world: &World, text: &str) {
    let schema = if text.starts_with("CREATE ") {
        text.to_owned()
    } else {
        format!("{SCHEMA} CREATE VIEW v AS {text}")
    };
    let written = rusqlite::Connection::open(world.catalog()).and_then(|connection| {
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")?;
        connection.execute_batch(&schema)?;
        connection.execute_batch("COMMIT")
    });
    if written.is_err() {
        // There is nothing to take away if it could not be made.
        let _ = std::fs::remove_file(world.catalog());
    }
}

fn open_catalog(world: &World, _: &str) -> String {
    outcome(world.engine.open(&world.catalog()).map(|database| {
        let tables = database.schema().tables();
        let columns: usize = tables.iter().map(|table| table.columns.len()).sum();
        format!("{} tables, {columns} columns", tables.len())
    }))
}

fn parse(world: &World, text: &str) -> String {
    outcome(resolve(text, &world.schema).map(|query| {
        let features = Features::of(&query, &world.schema);
        let printed = print(&query, &world.schema, PrintDialect::Sqlite);
        format!("{} tables, {:?} bytes", features.tables.len(), printed.map(|text| text.len()))
    }))
}

fn spider(world: &World, text: &str) -> String {
    outcome(
        spider::parse(world.target.catalog(), text).map(|query| format!("{:?}", spider::hardness(&query))),
    )
}

fn outcome<T: std::fmt::Display, E: std::fmt::Display>(result: Result<T, E>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => shortened(&error.to_string()),
    }
}

/// The beginning of a text, in one line.
fn shortened(text: &str) -> String {
    text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
