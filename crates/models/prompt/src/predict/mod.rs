//! Asks a language model for the SQL of a workload's questions.
//!
//! # Contract
//! - `predict` makes one `PredictionLine` per question, in the order of the workload: the SQL, a typed `Status`, and what the
//!   server says of the probabilities of its tokens. Whatever a server does costs the questions that it concerns, and
//!   nothing else: a line without an answer has no SQL (null) and an error in words.
//! - Questions of one schema are asked one after the other, and the schema stands at the beginning of the built-in prompt, so
//!   that a server that keeps the state of a prompt's beginning computes a schema once.
//! - Nothing is asked again that the client's cache has; so a run that was broken off goes on.
//! - The lines are a prediction file: `score`, `import` and `estimate` read `id`, `db_id`, `sql` and `confidence`.
//!
//! Without the feature `services` there is only the prompt.

#[cfg(feature = "services")]
mod answer;
#[cfg(feature = "services")]
mod asking;
mod prompt;
#[cfg(feature = "services")]
mod request;
#[cfg(feature = "services")]
mod schema;

#[cfg(feature = "services")]
pub use answer::{LogProbabilities, PredictionLine, SampledAnswer, Status};
#[cfg(feature = "services")]
pub use asking::{PredictOutcome, PromptQuestion, predict};
pub use prompt::{PLACEHOLDERS, built_in_prompt};
#[cfg(feature = "services")]
pub use request::PredictSettings;
#[cfg(feature = "services")]
pub use schema::{ExampleRows, schema_with_rows};
