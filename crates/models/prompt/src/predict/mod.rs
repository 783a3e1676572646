//! Asks a language model for the SQL of a workload's questions.
//!
//! # Contract
//! - `predict` makes one `PredictionLine` per question, in the order of the workload: the SQL, a typed `Status`, and what the
//!   server says of the probabilities of its tokens. Whatever a server does costs the questions that it concerns, and
//!   nothing else: a line without an answer has no SQL (null) and an error in words.
//! - Questions of one schema are asked one after the other, and the schema stands at the beginning of the built-in prompt, so
//!   that a server that keeps the state of a prompt's beginning computes a schema once.
//! - Nothing is asked again that the client's cache has; so a run that was broken off goes on.
//! - Demonstrations are turns of the chat before the question, by the same prompt: a question of another database with its query.
//! - With pruning each question is asked twice: which tables and columns it needs, then for its SQL over those. A question whose first
//!   answer is missing is not asked for its SQL.
//! - The lines are a prediction file: `score`, `import` and `estimate` read `id`, `db_id`, `sql` and `confidence`.

mod answer;
mod asking;
mod demonstration;
mod prune;
mod request;
mod schema;

pub use answer::{LogProbabilities, PredictionLine, SampledAnswer, Status};
pub use asking::{PredictOutcome, PromptQuestion, predict};
pub use demonstration::{Demonstration, draw_demonstrations};
pub use prune::PrunedSchema;
pub use request::PredictSettings;
pub use schema::{ExampleRows, schema_with_rows};
