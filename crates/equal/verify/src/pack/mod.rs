//! Witness packs: for each question of a benchmark a few small databases on which wrong answers show.
//!
//! # Contract
//! - A pack is a text of JSON Lines: a header, then one line per question with its databases as rows of values. It names the
//!   gold by its SHA-256, and has no text of a query and no row of the benchmark's databases.
//! - A database of a pack satisfies the schema, and some other query than the gold was told from the gold on it
//!   ([`sqlgauge_search::Search::told`]): a slip in one place of the gold, another reading of it, or an answer of a system.
//! - Some databases are made for all of these queries together ([`sqlgauge_search::Search::samples`]), the others for one that no database
//!   tells yet, or none on which the gold returns a row.
//! - Of all databases that were made for a question those are kept that tell as many of these queries from the gold as all do, by a
//!   greedy choice; then those that do so once more, up to the number that the settings allow.
//! - [`KillCount`] says how many such queries were tried, how many a kept database tells from the gold, and how many are proved
//!   equal to it. The rest is open: nobody has found a difference.
//! - A reader trusts nothing in the file: tables and columns must be those of the schema, and every database is loaded into
//!   SQLite under the limits of a search.

mod build;
mod format;
mod readings;
mod slips;

pub use build::{PackSettings, Refuted, pack_question};
pub use format::{KillCount, Pack, PackError, PackQuestion, gold_name};
