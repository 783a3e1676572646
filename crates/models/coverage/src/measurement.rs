//! A corpus, measured example by example.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_base::budget;
use sqlgauge_base::seed_of;
use sqlgauge_dataset::{Benchmark, Example};
use sqlgauge_encode::EncoderInput;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{ErrorKind, PrintDialect, print, renumber, resolve};
use sqlgauge_synth::operators::OperatorId;
use sqlgauge_synth::shape::QueryMeasures;
use sqlgauge_synth::tier::Tier;
use twox_hash::XxHash3_128;

use crate::dimensions::{COUNT, DIMENSIONS, Measure};
use crate::reach::Reach;
use crate::sizes::Sizes;

/// Most examples of a corpus that are drawn; which, their names decide.
pub(crate) const SAMPLE: usize = 2_000;
/// Examples that are measured at a time.
const BATCH: usize = 4_096;

/// What is known of a corpus so far.
#[derive(Default)]
pub struct Measurement {
    name: String,
    examples: usize,
    resolved: usize,
    not_resolved: BTreeMap<&'static str, usize>,
    queries: HashSet<u128>,
    questions: HashSet<u128>,
    with_question: usize,
    words: usize,
    characters: usize,
    operators: BTreeMap<OperatorId, usize>,
    depths: BTreeMap<usize, usize>,
    tiers: BTreeMap<Tier, usize>,
    schemas: BTreeMap<String, Arc<Schema>>,
    /// A value for each query, in the dimensions of queries.
    values: [Vec<f32>; COUNT],
    /// The examples with the smallest hashes of their names.
    sample: BTreeMap<(u64, usize), EncoderInput>,
}

/// What is measured of one query.
struct Measured {
    query: u128,
    operators: Vec<OperatorId>,
    depth: usize,
    tier: Tier,
    values: [f32; COUNT],
}

impl Measurement {
    /// Nothing yet of a corpus of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The name of the corpus.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the examples of a file, whose queries `reading` puts into SQLite's grammar. A database that `schemas` does not have is a
    /// reason not to resolve its queries.
    pub fn add(
        &mut self,
        benchmark: &Benchmark,
        schemas: &HashMap<String, Arc<Schema>>,
        reading: &(dyn Fn(&str) -> String + Sync),
    ) {
        for batch in benchmark.examples.chunks(BATCH) {
            let measured: Vec<(String, Result<Measured, &'static str>)> = batch
                .par_iter()
                .map(|example| {
                    let sql = reading(gold(example));
                    let outcome = measure(example, &sql, schemas.get(&example.db_id));
                    (sql, outcome)
                })
                .collect();
            for (example, (sql, outcome)) in batch.iter().zip(measured) {
                self.take(example, sql, outcome, schemas.get(&example.db_id));
            }
        }
    }

    fn take(
        &mut self,
        example: &Example,
        sql: String,
        outcome: Result<Measured, &'static str>,
        schema: Option<&Arc<Schema>>,
    ) {
        let at = self.examples;
        self.examples += 1;
        let (measured, schema) = match (outcome, schema) {
            (Ok(measured), Some(schema)) => (measured, schema),
            (Err(reason), _) => return *self.not_resolved.entry(reason).or_default() += 1,
            (Ok(_), None) => return,
        };
        self.resolved += 1;
        self.queries.insert(measured.query);
        measured.operators.iter().for_each(|operator| *self.operators.entry(*operator).or_default() += 1);
        *self.depths.entry(measured.depth).or_default() += 1;
        *self.tiers.entry(measured.tier).or_default() += 1;
        self.characters += gold(example).chars().count();
        self.values.iter_mut().zip(measured.values).for_each(|(all, value)| all.push(value));
        if !self.schemas.contains_key(&example.db_id) {
            self.schemas.insert(example.db_id.clone(), Arc::clone(schema));
        }
        if let Some(question) = &example.question {
            self.with_question += 1;
            self.words += question.split_whitespace().count();
            self.questions.insert(hash(&example.db_id, &question.to_lowercase()));
        }
        self.draw(at, example, sql, schema);
    }

    fn draw(&mut self, at: usize, example: &Example, sql: String, schema: &Arc<Schema>) {
        let place = (seed_of(&format!("{}\n{}\n{}", example.db_id, example.id, gold(example))), at);
        if self.sample.len() == SAMPLE {
            match self.sample.last_key_value() {
                Some((last, _)) if place < *last => drop(self.sample.pop_last()),
                _ => return,
            }
        }
        let input = EncoderInput {
            id: example.id.clone(),
            db_id: example.db_id.clone(),
            question: example.question.clone().unwrap_or_default(),
            evidence: example.evidence.clone(),
            schema: Arc::clone(schema),
            prediction: Some(sql),
        };
        self.sample.insert(place, input);
    }

    /// The examples that are drawn.
    pub(crate) fn sample(&self) -> Vec<EncoderInput> {
        self.sample.values().cloned().collect()
    }

    /// Tables I and II.
    pub(crate) fn sizes(&self) -> Sizes {
        let per = |sum: usize, of: usize| (of > 0).then(|| sum as f64 / of as f64);
        let tables = || self.schemas.values().flat_map(|schema| schema.tables());
        Sizes {
            examples: self.examples,
            resolved: self.resolved,
            not_resolved: self.not_resolved.clone(),
            unique_sql: self.queries.len(),
            unique_questions: (self.with_question > 0).then_some(self.questions.len()),
            databases: self.schemas.len(),
            tables: tables().count(),
            columns: tables().map(|table| table.columns.len()).sum(),
            foreign_keys: tables().map(|table| table.foreign_keys.len()).sum(),
            question_words: per(self.words, self.with_question),
            sql_characters: per(self.characters, self.resolved),
            operators: self.operators.iter().map(|(id, count)| (id.get().name, *count)).collect(),
            depths: self.depths.clone(),
            tiers: self.tiers.iter().map(|(tier, count)| (tier.name(), *count)).collect(),
        }
    }

    /// How far it reaches in each dimension; none where it has nothing.
    pub(crate) fn reach(&self) -> Vec<Option<Reach>> {
        let of = |(dimension, values): (&crate::dimensions::Dimension, &Vec<f32>)| match dimension.of {
            Measure::Query(_) => Reach::of(values),
            Measure::Schema(of) => {
                Reach::of(&self.schemas.values().map(|schema| single(of(schema))).collect::<Vec<_>>())
            }
        };
        DIMENSIONS.iter().zip(&self.values).map(of).collect()
    }
}

fn gold(example: &Example) -> &str {
    example.golds.first().map_or("", String::as_str)
}

fn hash(db_id: &str, text: &str) -> u128 {
    XxHash3_128::oneshot(format!("{db_id}\n{text}").as_bytes())
}

#[expect(clippy::cast_possible_truncation, reason = "counts and ratios of counts, far below 2^24")]
fn single(value: f64) -> f32 {
    value as f32
}

/// Measures a query, or says why it cannot be.
fn measure(example: &Example, sql: &str, schema: Option<&Arc<Schema>>) -> Result<Measured, &'static str> {
    let schema = schema.ok_or("no-schema")?;
    let measured = budget::analyse(sql.len(), || {
        let mut query = resolve(sql, schema).map_err(|error| reason(error.kind()))?;
        let shape = QueryMeasures::of(&query, schema);
        renumber(&mut query);
        let text = print(&query, schema, PrintDialect::Sqlite).map_err(|_| "no-words")?;
        let value = |of: Measure| match of {
            Measure::Query(of) => single(of(&shape)),
            // Schemas are measured once each.
            Measure::Schema(_) => 0.0,
        };
        Ok(Measured {
            query: hash(&example.db_id, &text),
            operators: OperatorId::all().filter(|id| (id.get().is_in)(&shape)).collect(),
            depth: shape.features.depth,
            tier: Tier::of(&shape),
            values: DIMENSIONS.map(|dimension| value(dimension.of)),
        })
    });
    measured.unwrap_or(Err("too-complex"))
}

fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::UnknownTable(_) => "unknown-table",
        ErrorKind::UnknownColumn(_) | ErrorKind::AmbiguousColumn(_) => "unknown-column",
        ErrorKind::UnknownFunction(_) => "unknown-function",
        ErrorKind::Empty | ErrorKind::Syntax(_) | ErrorKind::MultipleStatements | ErrorKind::NotAQuery(_) => {
            "no-query"
        }
        ErrorKind::Unsupported(_) => "unsupported",
        ErrorKind::TooComplex(_) => "too-complex",
        _ => "refused-by-sqlite",
    }
}
