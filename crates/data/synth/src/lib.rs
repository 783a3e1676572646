//! Makes a labelled Text-to-SQL corpus from databases: queries by a grammar, each checked by execution.
//!
//! - [`synthesize`] makes a corpus of [`CorpusSource`]s in a folder; what it holds is a [`SynthPair`] a line.
//! - [`GrammarDatabase`] is a database as the [`grammar`] sees it; a [`Wish`] is what one query is to be like.
//! - [`operators`], [`tier`] and [`sampler`] are the registries: what is recognised, how it is graded, how columns are
//!   chosen. Operators and tiers are read off the finished tree, never from what made it.
//! - [`check`] says what a query must pass before it is a pair.

mod ambiguity;
mod asking;
pub mod budget;
mod card;
pub mod check;
mod corpus;
pub mod data;
mod dialects;
mod effort;
mod folder;
pub mod grammar;
mod near_miss;
pub mod operators;
mod pair;
pub mod polish;
mod related;
pub mod sampler;
pub mod shape;
mod source;
mod tally;
pub mod tier;
pub mod unit;
pub mod wish;
pub mod world;

pub use asking::{Asking, QuestionOutcome};
pub use budget::Caps;
pub use corpus::{CorpusError, CorpusHeader, CorpusSummary, SynthOptions, SynthProgress, synthesize};
pub use data::DataFormat;
pub use dialects::{DialectText, Translation};
pub use folder::{CorpusManifest, FORMAT_VERSION, FolderError, VERSIONS};
pub use near_miss::{Mutation, mutated};
pub use pair::SynthPair;
pub use related::{Contradiction, QueryRelation, Related, Shares};
pub use source::{CorpusSource, SourceError, sources};
pub use tally::CorpusTally;
pub use tier::Tier;
pub use wish::{TierShares, Wish};
pub use world::GrammarDatabase;
