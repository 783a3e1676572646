//! Changes the schema of a benchmark in every way that EvoSchema (`VLDB` 2025) names, and its data and golds with it.
//!
//! - A [`Change`] is a schema modification operator; a [`ChangeKind`] proposes changes of one sort.
//! - A [`Chain`] of changes is one mapping from the first schema to the last: by it the DDL is made, the data are migrated,
//!   and every gold is rewritten.
//! - [`evolve`] does that to a whole benchmark, and runs every gold before and after.
//! - [`versions`](versions::versions) makes databases under later schemas where there are no golds.
//! - [`layout`] says what is written: a folder per kind that is a benchmark of its own, and `changes.jsonl`, which says
//!   what was changed and what became of every item ([`ChangeRecord`]).

pub mod additions;
pub mod layout;
pub mod values;
pub mod versions;

mod chain;
mod change;
mod check;
mod ddl;
mod define;
mod definitions;
mod equivalence;
mod error;
mod evolve;
mod in_place;
mod kind;
mod migrate;
mod operators;
mod output;
mod perturbations;
mod plan;
mod rewrite;
mod script;
mod shard;
mod source;
mod step;
mod tables_json;
mod text;
mod triggers;
mod turned;
mod work;

pub use chain::Chain;
pub use change::{Change, MergeShape, SplitPart};
pub use error::EvolveError;
pub use evolve::{EvolveProgress, evolve};
pub use kind::{Answerability, ChangeKind, UnknownKind};
pub use layout::{ChangeRecord, EvolvedItem, FORMAT_VERSION};
pub use migrate::MigrationError;
pub use plan::{EvolveOptions, EvolvePlan};
pub use script::{ChangeScript, ScriptError, read_script};
pub use step::ChangeError;
pub use tables_json::with_keys;
