//! Changes the schema of a benchmark in every way that EvoSchema (`VLDB` 2025) names, and its data and golds with it.
//!
//! - A [`Change`] is a schema modification operator; a [`Kind`] proposes changes of one sort.
//! - [`layout`] says what is written: a folder per kind that is a benchmark of its own, and `changes.jsonl`, which says
//!   what was changed and what became of every item ([`Record`]).

pub mod layout;
pub mod names;

mod change;
mod kind;

pub use change::{Change, Part};
pub use kind::{Kind, Scope, UnknownKind};
pub use layout::{EvolvedItem, FORMAT_VERSION, Record};
