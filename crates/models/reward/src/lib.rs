//! A reward for training Text-to-SQL: a batch of answers in, one value with a typed code for each out.
//!
//! - [`Reward`] is made of [`RewardOptions`] once and scores batch after batch.
//! - [`Request`] is an answer with its golds; [`RewardResult`] is what it is worth, with its [`Code`] and the reason.
//! - [`RewardKind`] says what is rewarded: right results, partial credit, or the structure of the query.
//! - With witnesses an answer must also agree with its gold on counterexample databases that are made for the question,
//!   kept in a folder and grown while answers come in, so that guessing a result does not pay.
//!
//! # Contract
//! - A result depends on the request, the databases, the options and the witnesses that are known when the batch begins; not
//!   on the number of threads, nor on what else is in the batch. Only [`Code::Timeout`] depends on the clock.
//! - No query runs longer than [`RewardOptions::time_limit`]; what does not end is killed with its process.
//! - Memory is bounded: what is remembered of golds, answers and witnesses has a size.
//! - A failure of the machinery (an unknown database, a file that changed) is a [`RewardError`] and never a value.

mod answering;
mod batch;
mod code;
mod error;
mod golds;
mod judge;
mod kinds;
mod lanes;
mod options;
mod reads;
mod recent;
mod request;
mod reward;
mod subject;
mod witnesses;

pub use code::Code;
pub use error::RewardError;
pub use options::{AnswerColumns, Likeness, RewardKind, RewardOptions};
pub use request::{Request, RewardResult};
pub use reward::{Growth, Reward};
