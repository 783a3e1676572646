//! Training data for Text-to-SQL: the questions of a benchmark over the original and over evolved schemas (`EvoSchema`,
//! section 4: the same questions with other schemas, so that a model learns to read the schema).
//!
//! # Contract
//! - A [`Triple`] is a question, a schema and the query that answers it there, or the sentence that it cannot be answered. It
//!   becomes an [`ChatExample`]: a chat of instructions, question and answer by the prompt that `predict` asks with.
//! - The schema of an example has the tables that the answer reads and, mixed in at their places, at most so many others,
//!   drawn by the seed. So a model does not learn to join whatever it is shown (the paper's section 6.5).
//! - Equal examples are written once. Examples are split by the *original* database: all schemas made of one are on one
//!   side; or, within databases, by question ([`SplitBy`]). A question with an answer that the training side has is not on the other side too.
//! - The same triples and seed give the same examples in the same order.

mod example;
mod split;
#[cfg(feature = "parquet")]
mod table;
mod triple;

pub use example::{ChatExample, ChatMessage};
pub use split::{SplitBy, TrainingSplit, split};
#[cfg(feature = "parquet")]
pub use table::{TableError, write_parquet};
pub use triple::{AugmentSettings, SkippedTriple, Triple};
