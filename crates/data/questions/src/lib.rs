//! Questions from resolved queries, and queries from questions, by one grammar and without a language model.
//!
//! # Contract
//! [`Speech::ask`] writes a query over a schema as an English question of a [`QuestionStyle`]; [`Speech::read`] gives all the
//! queries that a text may mean over the schema, as far as the grammar goes. Both use one table of productions
//! (the module `grammar`).
//!
//! - What is asked can be read: the readings of a question contain the [`canonical`](sqlgauge_sql::canonical) form of its query. Otherwise there
//!   is no question ([`Unsayable::NotReadBack`]).
//! - A question with further readings is not refused: [`Question::other_readings`] has them, so that whoever labels
//!   data can accept them all.
//! - A construct without words is refused by its name ([`Unsayable::Construct`]); nothing is left out in silence.
//! - The same query, schema, style and state of the generator give the same question.
//! - Reading takes any text. It ends within a budget of steps, and says so ([`UnreadableQuestion::TooComplex`]).

mod engine;
mod grammar;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod law;
mod names;
mod question;
mod speech;
mod style;
mod styles;
mod unsayable;

pub use self::question::{Manner, Mark, MarkKind, Question, Speech};
pub use self::style::{QuestionStyle, StyleMeta, UnknownStyle};
pub use self::unsayable::{UnreadableQuestion, Unsayable};
