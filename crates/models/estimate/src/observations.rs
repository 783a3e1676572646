//! Signals of an answer without a label: whether it parses, resolves and runs, its result, and the systems with the same result.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_dataset::extract_sql;
use sqlgauge_encode::encoders::features::FeatureEncoder;
use sqlgauge_encode::{Encoder, EncoderInput, InputForm};
use sqlgauge_engine::Fingerprint;
use sqlgauge_search::{Search, SearchOptions, Signature};
use sqlgauge_sql::resolve;

use crate::error::EstimateError;
use crate::pool::{Pool, QuestionIndex, SystemIndex};

/// Generated databases on which answers to one question are compared.
pub const GENERATED_DATABASES: usize = 24;

/// Questions of one database that a worker takes at a time.
const CHUNK: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// There is an SQL text at all.
    pub answers: bool,
    /// The text as given is one query that the database compiles, and that did not fail where it was executed.
    pub runs_as_given: bool,
    /// So it is, or its first statement is a query that compiles.
    pub runs: bool,
    /// How the text ended: `ok`, `syntax_error`, …; where it was not executed, `ok` or `refused`.
    pub status: String,
    /// Answers to the same question with the same number return the same on all generated databases; on a server, on its rows.
    pub cluster: Option<u32>,
    /// The result on real rows.
    pub result: Option<Fingerprint>,
    /// The components of the `features` encoder for question, schema and first statement.
    pub features: Vec<f32>,
}

/// What is seen of some systems' answers to some questions.
#[derive(Debug, Default)]
pub struct Observations {
    by_answer: HashMap<(SystemIndex, QuestionIndex), Observation>,
    /// Names of [`Observation::features`].
    pub feature_names: Vec<String>,
}

impl Observations {
    /// Looks at the systems' answers to the questions, and compares their results on so many generated databases.
    ///
    /// # Errors
    /// When SQLite gives no database in memory, or the encoder fails.
    pub fn new(
        pool: &Pool,
        systems: &[SystemIndex],
        questions: &[QuestionIndex],
        databases: usize,
    ) -> Result<Self, EstimateError> {
        let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
        let mut by_database: Vec<Vec<QuestionIndex>> = vec![Vec::new(); pool.databases.len()];
        for &question in questions {
            by_database[pool[question].database].push(question);
        }
        let chunks: Vec<&[QuestionIndex]> = by_database.iter().flat_map(|all| all.chunks(CHUNK)).collect();
        let parts = chunks
            .par_iter()
            .map(|chunk| observe_chunk(pool, systems, chunk, databases, &encoder))
            .collect::<Result<Vec<_>, _>>()?;
        let by_answer = parts.into_iter().flatten().collect();
        Ok(Self { by_answer, feature_names: encoder.dimension_names().unwrap_or_default() })
    }

    /// What is seen of a system's answer to a question, if it gave one.
    pub fn get(&self, system: SystemIndex, question: QuestionIndex) -> Option<&Observation> {
        self.by_answer.get(&(system, question))
    }
}

type Seen = Vec<((SystemIndex, QuestionIndex), Observation)>;

fn observe_chunk(
    pool: &Pool,
    systems: &[SystemIndex],
    questions: &[QuestionIndex],
    databases: usize,
    encoder: &FeatureEncoder,
) -> Result<Seen, EstimateError> {
    let Some(&first) = questions.first() else { return Ok(Vec::new()) };
    let database = &pool.databases[pool[first].database];
    let search = match database.dialect {
        Some(_) => None,
        None => Some(Search::new(Arc::clone(&database.schema), SearchOptions::default())?),
    };
    let search = search.as_ref().map(|search| (search, databases));
    let mut observations = Vec::new();
    for &question in questions {
        observations.extend(observe_question(pool, systems, question, search, encoder)?);
    }
    Ok(observations)
}

fn observe_question(
    pool: &Pool,
    systems: &[SystemIndex],
    question: QuestionIndex,
    search: Option<(&Search, usize)>,
    encoder: &FeatureEncoder,
) -> Result<Seen, EstimateError> {
    let pool_question = &pool[question];
    let database = &pool.databases[pool_question.database];
    let answering: Vec<SystemIndex> =
        systems.iter().copied().filter(|&system| pool.get(system, question).is_some()).collect();
    let texts: Vec<String> = answering
        .iter()
        .filter_map(|&system| pool.get(system, question))
        .map(|answer| extract_sql(&answer.sql).sql)
        .collect();
    let mut distinct: Vec<&str> = texts.iter().map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let results = |text: &str| {
        let mut answers = answering.iter().zip(&texts).filter(|(_, other)| other.as_str() == text);
        answers.find_map(|(&system, _)| pool.get(system, question)?.result)
    };
    let (compiles, clusters) = if let Some((search, databases)) = search {
        by_generated_rows(&search.signatures(&distinct, databases))
    } else {
        // On a server, by the results on its rows.
        let results: Vec<Option<Fingerprint>> = distinct.iter().map(|text| results(text)).collect();
        (results.iter().map(Option::is_some).collect(), clusters(&results))
    };
    let inputs: Vec<EncoderInput> = distinct
        .iter()
        .map(|text| EncoderInput {
            id: pool_question.id.clone(),
            db_id: database.db_id.clone(),
            question: pool_question.text.clone(),
            evidence: pool_question.evidence.clone(),
            schema: Arc::clone(&database.schema),
            prediction: Some(database.reading(text).into_owned()),
        })
        .collect();
    let vectors = encoder.encode(&inputs).map_err(|error| EstimateError::Computation(error.to_string()))?;
    Ok(answering
        .into_iter()
        .zip(&texts)
        .filter_map(|(system, text)| {
            let answer = pool.get(system, question)?;
            let place = distinct.binary_search(&text.as_str()).ok()?;
            let known_ok = answer.status.as_deref().map(|status| status == "ok");
            let is_one = answer.sql.trim().trim_end_matches(';').trim_end() == text
                || resolve(&answer.sql, &database.schema).is_ok();
            let runs_as_given = known_ok.unwrap_or(compiles[place] && is_one);
            let status = answer
                .status
                .clone()
                .unwrap_or_else(|| if runs_as_given { "ok" } else { "refused" }.to_owned());
            let seen = Observation {
                answers: text.chars().any(char::is_alphanumeric) && status != "empty",
                runs_as_given,
                runs: runs_as_given || compiles[place],
                status,
                cluster: clusters[place],
                result: answer.result,
                features: vectors.row(place).to_vec(),
            };
            Some(((system, question), seen))
        })
        .collect())
}

/// Which texts compile, and which return the same on all generated databases; one that failed on each of them is like no other.
fn by_generated_rows(signatures: &[Option<Signature>]) -> (Vec<bool>, Vec<Option<u32>>) {
    let ran = |signature: &Option<Signature>| signature.clone().filter(|all| all.iter().any(Option::is_some));
    let ran: Vec<Option<Signature>> = signatures.iter().map(ran).collect();
    (signatures.iter().map(Option::is_some).collect(), clusters(&ran))
}

/// The same number for what is the same; `None` for `None`.
fn clusters<T: Eq + Hash>(all: &[Option<T>]) -> Vec<Option<u32>> {
    let mut numbers: HashMap<&T, u32> = HashMap::new();
    all.iter()
        .map(|one| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            Some(*numbers.entry(one.as_ref()?).or_insert(next))
        })
        .collect()
}
