//! From the files of a workload to the items that encoders and estimators see. No gold is read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use sqlgauge_dataset::{
    Benchmark, Databases, PredictionOptions, PredictionSet, WorkloadSource, load_predictions, load_tables,
    load_workload,
};
use sqlgauge_encode::EncoderInput;
use sqlgauge_engine::{Engine, Limits};
use sqlgauge_sql::schema::Schema;

use crate::engine::engine;
use crate::options::SystemFile;
use crate::scoring::asks;

/// Where the schemas of a workload are.
#[derive(Debug, Clone)]
pub enum SchemaSource {
    /// A folder of databases, or one database; rows are not needed.
    Databases(PathBuf),
    /// A `tables.json`.
    Tables(PathBuf),
}

impl SchemaSource {
    /// The schema of every database of the workload.
    pub fn read(&self, workload: &Benchmark) -> Result<HashMap<String, Arc<Schema>>> {
        let mut names: Vec<&str> = workload.examples.iter().map(|example| example.db_id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let schemas: Result<Vec<Arc<Schema>>> = match self {
            Self::Databases(folder) => of_databases(folder, &names),
            Self::Tables(file) => of_tables(file, &names),
        };
        Ok(names.into_iter().map(str::to_owned).zip(schemas?).collect())
    }
}

fn of_databases(folder: &Path, names: &[&str]) -> Result<Vec<Arc<Schema>>> {
    let databases = Databases::open(folder)?;
    let engine = engine(Limits::default())?;
    let schema = |name: &&str| Ok(Arc::clone(engine.open(&databases.locate(name)?.main)?.schema()));
    names.iter().map(schema).collect()
}

fn of_tables(file: &Path, names: &[&str]) -> Result<Vec<Arc<Schema>>> {
    let tables = load_tables(file)?;
    let schema = |name: &&str| {
        let entry = tables.get(name).ok_or_else(|| {
            anyhow!(
                "{} has no database {name:?}, which the workload asks about; check --tables",
                file.display()
            )
        })?;
        Ok(Arc::new(entry.schema()))
    };
    names.iter().map(schema).collect()
}

/// A workload that was read.
pub struct Workload {
    /// The questions, without golds.
    pub questions: Benchmark,
    /// What a system predicted, if it was given.
    pub predictions: Option<PredictionSet>,
    /// The items, in the order of the questions.
    pub inputs: Vec<EncoderInput>,
}

impl Workload {
    /// Reads questions, schemas, and the predictions of a system.
    pub fn read(
        source: &WorkloadSource,
        schemas: &SchemaSource,
        system: Option<&SystemFile>,
        options: &PredictionOptions,
    ) -> Result<Self> {
        let questions = load_workload(source)?;
        let schemas = schemas.read(&questions).with_context(|| asks(&source.path))?;
        let load = |file: &SystemFile| load_predictions(&file.system, &file.path, &questions, options);
        let predictions = system.map(load).transpose()?;
        let mut inputs = Vec::with_capacity(questions.examples.len());
        for (position, example) in questions.examples.iter().enumerate() {
            let schema = schemas.get(&example.db_id).context("a schema was read for every database")?;
            let prediction = predictions.as_ref().and_then(|set| set.predictions[position].as_ref());
            inputs.push(EncoderInput {
                id: example.id.clone(),
                db_id: example.db_id.clone(),
                question: example.question.clone().unwrap_or_default(),
                evidence: example.evidence.clone(),
                schema: Arc::clone(schema),
                prediction: prediction.map(|prediction| prediction.sql.clone()),
            });
        }
        Ok(Self { questions, predictions, inputs })
    }

    /// What reading repaired, for people.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.questions.notes.iter().chain(self.predictions.iter().flat_map(|set| &set.notes))
    }
}
