//! Asks, and puts what came into the order of the workload.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_llm::{BatchProgress, Client, LlmError, Usage};

use super::answer::{PredictionLine, SampledAnswer};
use super::request::PredictSettings;

/// A question to ask.
#[derive(Debug, Clone)]
pub struct PromptQuestion<'a> {
    /// The id of its item.
    pub id: &'a str,
    /// Its database.
    pub db_id: &'a str,
    /// The question.
    pub question: &'a str,
    /// External knowledge that comes with it.
    pub evidence: Option<&'a str>,
    /// The schema as DDL, with example rows if they are wanted.
    pub schema: Arc<str>,
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

/// Asks the questions.
pub fn predict(
    client: &Client,
    questions: &[PromptQuestion<'_>],
    settings: &PredictSettings,
    progress: Option<&mut (dyn FnMut(&BatchProgress) + Send)>,
) -> PredictOutcome {
    let samples = settings.samples.max(1);
    let order = by_schema(questions);
    let asked = order.iter().flat_map(|&at| (0..samples).map(move |sample| (at, sample)));
    let requests: Vec<_> = asked.map(|(at, sample)| settings.request(&questions[at], sample)).collect();
    let batch = client.chat_batch(&requests, progress);
    let stopped_by = batch.stopped_by().cloned();
    let usage = batch.usage;
    let mut results = batch.results.into_iter();
    let mut lines: Vec<(usize, PredictionLine)> = Vec::with_capacity(questions.len());
    for at in order {
        let question = &questions[at];
        let answers: Vec<SampledAnswer> =
            results.by_ref().take(samples as usize).map(SampledAnswer::of).collect();
        lines.push((at, PredictionLine::of(question.id, question.db_id, answers)));
    }
    lines.sort_unstable_by_key(|(at, _)| *at);
    PredictOutcome { lines: lines.into_iter().map(|(_, line)| line).collect(), usage, stopped_by }
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
