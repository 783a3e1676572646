//! Asks, and puts what came into the order of the workload.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_llm::{BatchProgress, Client, LlmError, Usage};

use super::answer::{PredictionLine, SampledAnswer};
use super::demonstration::Demonstration;
use super::prune::{PrunedSchema, pruned};
use super::request::PredictSettings;

/// A question to ask.
#[derive(Debug, Clone)]
pub struct PromptQuestion<'a> {
    /// The id of its item.
    pub id: &'a str,
    /// Its database.
    pub db_id: &'a str,
    pub question: &'a str,
    /// External knowledge that comes with it.
    pub evidence: Option<&'a str>,
    /// The schema as DDL, with example rows if they are wanted.
    pub schema: Arc<str>,
    /// Answered questions that are shown before it.
    pub demonstrations: Arc<[Demonstration]>,
}

/// What came of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictOutcome {
    /// One per question, in their order.
    pub lines: Vec<PredictionLine>,
    /// What was used.
    pub usage: Usage,
    /// Why questions were left unasked, if some were.
    pub stopped_by: Option<LlmError>,
}

/// What is shown of a schema, or why there is nothing to ask with.
type Shown = Result<Option<PrunedSchema>, LlmError>;

/// Asks the questions.
pub fn predict(
    client: &Client,
    questions: &[PromptQuestion<'_>],
    settings: &PredictSettings,
    mut progress: Option<&mut (dyn FnMut(&BatchProgress) + Send)>,
) -> PredictOutcome {
    let before = client.usage();
    let order = by_schema(questions);
    let mut questions = questions.to_vec();
    let mut tell = |event: &BatchProgress| progress.iter_mut().for_each(|progress| progress(event));
    let schemas = prune(client, &mut questions, &order, settings, &mut tell);
    let samples = settings.samples.max(1);
    let is_asked = |at: &usize| schemas[*at].is_ok();
    let pairs =
        order.iter().copied().filter(is_asked).flat_map(|at| (0..samples).map(move |sample| (at, sample)));
    let requests: Vec<_> = pairs.map(|(at, sample)| settings.request(&questions[at], sample)).collect();
    let batch = client.chat_batch(&requests, Some(&mut tell));
    let stopped_by = batch.stopped_by().cloned().or_else(|| stopped_by(&schemas));
    let mut results = batch.results.into_iter();
    let mut lines: Vec<(usize, PredictionLine)> = Vec::with_capacity(questions.len());
    for at in order {
        let question = &questions[at];
        let answers: Vec<SampledAnswer> = match &schemas[at] {
            Ok(_) => results.by_ref().take(samples as usize).map(SampledAnswer::of).collect(),
            Err(error) => vec![SampledAnswer::of(Err(error.clone()))],
        };
        let line = PredictionLine::of(question.id, question.db_id, answers);
        lines.push((at, PredictionLine { schema: schemas[at].clone().unwrap_or_default(), ..line }));
    }
    lines.sort_unstable_by_key(|(at, _)| *at);
    let lines = lines.into_iter().map(|(_, line)| line).collect();
    PredictOutcome { lines, usage: client.usage().since(&before), stopped_by }
}

/// Puts the part that the model says is needed into the place of each question's schema, if that is wanted.
fn prune(
    client: &Client,
    questions: &mut [PromptQuestion<'_>],
    order: &[usize],
    settings: &PredictSettings,
    progress: &mut (dyn FnMut(&BatchProgress) + Send),
) -> Vec<Shown> {
    let mut schemas: Vec<Shown> = vec![Ok(None); questions.len()];
    let Some(prompt) = &settings.prune else { return schemas };
    let requests: Vec<_> = order.iter().map(|&at| settings.prune_request(prompt, &questions[at])).collect();
    for (&at, result) in order.iter().zip(client.chat_batch(&requests, Some(progress)).results) {
        schemas[at] = result.map(|answer| {
            let (schema, record) = pruned(&questions[at].schema, &answer.text);
            questions[at].schema = schema;
            Some(record)
        });
    }
    schemas
}

/// What stopped the pruning before its end, if anything did.
fn stopped_by(schemas: &[Shown]) -> Option<LlmError> {
    let error = schemas.iter().find_map(|schema| schema.as_ref().err().filter(|error| error.is_unasked()))?;
    Some(match error {
        LlmError::Stopped { because } => because.as_ref().clone(),
        error => error.clone(),
    })
}

/// The positions of the questions, those of one schema together, in the order in which schemas are first asked about.
fn by_schema(questions: &[PromptQuestion<'_>]) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let keys: Vec<usize> = questions
        .iter()
        .enumerate()
        .map(|(at, question)| *first.entry(question.schema.as_ref()).or_insert(at))
        .collect();
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by_key(|&at| keys[at]);
    order
}
