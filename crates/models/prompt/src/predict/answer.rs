//! From what a server said to a line of the prediction file.

use std::collections::HashMap;

use serde::Serialize;
use sqlgauge_dataset::{extract_sql, is_abstention};
use sqlgauge_llm::{AnswerToken, ChatAnswer, LlmError};
use sqlgauge_sql::lex::{self, TokenKind};

use super::prune::PrunedSchema;

sqlgauge_base::named! {
    /// What became of a question.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status by name {
        /// An answer with a text to run.
        Ok = "ok",
        /// The model says that the question cannot be answered.
        Abstained = "abstained",
        /// The answer ended at the limit of tokens.
        Truncated = "truncated",
        /// The model, or a filter of the server, refused.
        Refused = "refused",
        Empty = "empty",
        /// No connection, or it broke.
        Unreachable = "unreachable",
        /// No answer in time.
        Timeout = "timeout",
        /// The server refused or failed.
        ServerError = "server_error",
        /// The answer is not what the protocol says.
        Malformed = "malformed",
        /// It was not asked: the budget was used up, an earlier failure concerns all questions, or the run was stopped.
        NotAsked = "not_asked",
        /// Anything else; the error says what.
        Failed = "failed",
    }
}

impl Status {
    /// Whether there was no answer: the same request may get one another time.
    pub fn is_failure(self) -> bool {
        self >= Self::Unreachable
    }

    fn of_error(error: &LlmError) -> Self {
        match error {
            LlmError::GaveUp { last, .. } => Self::of_error(last),
            LlmError::Connect { .. } | LlmError::Interrupted { .. } => Self::Unreachable,
            LlmError::Timeout { .. } => Self::Timeout,
            LlmError::Status { .. }
            | LlmError::Redirect { .. }
            | LlmError::Quota { .. }
            | LlmError::Wait { .. } => Self::ServerError,
            LlmError::Malformed { .. } | LlmError::TooLarge { .. } => Self::Malformed,
            error if error.is_unasked() => Self::NotAsked,
            _ => Self::Failed,
        }
    }

    fn of_answer(answer: &ChatAnswer, sql: &str) -> Self {
        match answer.finish_reason.as_deref() {
            _ if answer.refusal.is_some() && sql.is_empty() => Self::Refused,
            Some("content_filter") => Self::Refused,
            Some("length") => Self::Truncated,
            _ if sql.is_empty() => Self::Empty,
            _ if is_abstention(sql) => Self::Abstained,
            _ => Self::Ok,
        }
    }
}

/// The log-probabilities (natural) of the tokens of a SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LogProbabilities {
    pub tokens: usize,
    /// Their sum: the logarithm of the probability of the whole text.
    pub sum_logprob: f64,
    pub mean_logprob: f64,
    /// The smallest.
    pub min_logprob: f64,
}

impl LogProbabilities {
    /// Those of the tokens that the SQL is made of; of all tokens where it is not a piece of the answer. `None` without
    /// tokens.
    fn of(tokens: &[AnswerToken], sql: &str) -> Option<Self> {
        let whole: String = tokens.iter().map(|token| token.token.as_str()).collect();
        let range = whole.rfind(sql).filter(|_| !sql.is_empty()).map(|start| start..start + sql.len());
        let mut end = 0;
        let spoken: Vec<f64> = tokens
            .iter()
            .filter(|token| {
                let start = end;
                end += token.token.len();
                range.as_ref().is_none_or(|range| start < range.end && end > range.start)
            })
            .map(|token| token.logprob)
            .collect();
        let sum: f64 = spoken.iter().sum();
        (!spoken.is_empty()).then(|| Self {
            tokens: spoken.len(),
            sum_logprob: sum,
            mean_logprob: sum / spoken.len() as f64,
            min_logprob: spoken.iter().copied().fold(0.0, f64::min),
        })
    }
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledAnswer {
    /// The SQL in the answer; null where there is no answer.
    pub sql: Option<String>,
    /// What became of it.
    pub status: Status,
    /// The probabilities of its tokens, where the server gave them.
    #[serde(flatten)]
    pub logprobs: Option<LogProbabilities>,
    /// Why the server stopped, in its words.
    pub finish: Option<String>,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The whole answer.
    pub raw: Option<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl SampledAnswer {
    pub(crate) fn of(result: Result<ChatAnswer, LlmError>) -> Self {
        match result {
            Ok(answer) => {
                let sql = extract_sql(&answer.text).sql;
                Self {
                    status: Status::of_answer(&answer, &sql),
                    logprobs: LogProbabilities::of(&answer.tokens, &sql),
                    sql: Some(sql),
                    finish: answer.finish_reason,
                    model: answer.model,
                    raw: Some(answer.text),
                    error: None,
                }
            }
            Err(error) => Self {
                sql: None,
                status: Status::of_error(&error),
                logprobs: None,
                finish: None,
                model: None,
                raw: None,
                error: Some(error.to_string()),
            },
        }
    }

    fn probability(&self) -> Option<f64> {
        self.logprobs.map(|logprobs| logprobs.sum_logprob.exp())
    }

    /// What must be equal for two samples to say the same.
    fn key(&self) -> Option<String> {
        let tokens = lex::tokens(self.sql.as_deref()?);
        let key: String =
            tokens.map(|token| if token.kind == TokenKind::Space { " " } else { token.text }).collect();
        Some(key.trim_matches(' ').to_owned())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionLine {
    /// The id of the item.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// The answer; of several samples the one that most of them give (white space does not count), of equally many the
    /// most probable one, then the first one.
    #[serde(flatten)]
    pub answer: SampledAnswer,
    /// How sure the model is, in [0, 1]: the probability of the whole SQL; of several samples the share that says the same.
    /// Null where it is not known.
    pub confidence: Option<f64>,
    /// All samples, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampledAnswer>,
    /// What was shown of the schema, where it was pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<PrunedSchema>,
}

impl PredictionLine {
    pub(crate) fn of(id: &str, db_id: &str, samples: Vec<SampledAnswer>) -> Self {
        let (id, db_id) = (id.to_owned(), db_id.to_owned());
        if let [only] = samples.as_slice() {
            let (answer, confidence) = (only.clone(), only.probability());
            return Self { id, db_id, answer, confidence, samples: Vec::new(), schema: None };
        }
        let mut votes: HashMap<String, usize> = HashMap::new();
        samples.iter().filter_map(SampledAnswer::key).for_each(|key| *votes.entry(key).or_default() += 1);
        let votes = |sample: &SampledAnswer| sample.key().map_or(0, |key| votes[&key]);
        // `max_by` gives the last of equals, and the first is wanted.
        let best = samples.iter().rev().max_by(|a, b| {
            let probability = |sample: &SampledAnswer| sample.probability().unwrap_or_default();
            votes(a).cmp(&votes(b)).then(probability(a).total_cmp(&probability(b)))
        });
        let answer = best.cloned().unwrap_or_else(|| SampledAnswer::of(Err(LlmError::Abandoned)));
        let share = votes(&answer) as f64 / samples.len().max(1) as f64;
        let confidence = answer.sql.is_some().then_some(share);
        Self { id, db_id, confidence, answer, samples, schema: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(pieces: &[(&str, f64)]) -> Vec<AnswerToken> {
        pieces
            .iter()
            .map(|(token, logprob)| AnswerToken { token: (*token).to_owned(), logprob: *logprob })
            .collect()
    }

    #[test]
    fn only_the_tokens_of_the_sql_count() {
        let answer_tokens =
            tokens(&[("```sql\n", -0.25), ("SELECT", -0.5), (" 1", -1.0), (";", -2.0), ("\n```", -4.0)]);
        let probabilities = LogProbabilities::of(&answer_tokens, "SELECT 1").unwrap();
        let expected =
            LogProbabilities { tokens: 2, sum_logprob: -1.5, mean_logprob: -0.75, min_logprob: -1.0 };
        assert_eq!(probabilities, expected);
        assert_eq!(LogProbabilities::of(&answer_tokens, "another text").unwrap().tokens, 5);
        assert_eq!(LogProbabilities::of(&[], "SELECT 1"), None);
    }

    #[test]
    fn what_most_samples_say_is_the_answer() {
        let sample = |sql: &str, logprob: f64| {
            SampledAnswer::of(Ok(ChatAnswer {
                text: sql.to_owned(),
                finish_reason: Some("stop".to_owned()),
                refusal: None,
                model: None,
                tokens: tokens(&[(sql, logprob)]),
                usage: None,
                cached: false,
            }))
        };
        let failed = || SampledAnswer::of(Err(LlmError::Cancelled));
        let line = |samples: Vec<SampledAnswer>| {
            let line = PredictionLine::of("0", "d", samples);
            (line.answer.sql, line.confidence)
        };
        let some = |sql: &str| Some(sql.to_owned());
        let (a, spaced, b) = ("SELECT a FROM t", "SELECT a  FROM\nt", "SELECT b FROM t");
        assert_eq!(
            line(vec![sample(b, -0.1), sample(a, -3.0), sample(spaced, -2.0), failed()]),
            (some(spaced), Some(0.5))
        );
        assert_eq!(line(vec![sample(a, -3.0), sample(b, -1.0)]), (some(b), Some(0.5)));
        assert_eq!(line(vec![sample(a, -1.0), sample(b, -1.0)]).0, some(a));
        // Only what is white space to SQL does not count, and what stands in a text does.
        let (one, two, other) = ("SELECT ' '", "SELECT '  '", "SELECT\u{a0}' '");
        let share = |samples: Vec<SampledAnswer>| line(samples).1;
        assert_eq!(share(vec![sample(one, -1.0), sample(two, -1.0), sample(other, -1.0)]), Some(1.0 / 3.0));
        assert_eq!(line(vec![failed(), failed()]), (None, None));
        assert_eq!(line(vec![sample(a, -1.0)]), (some(a), Some((-1.0_f64).exp())));
    }
}
