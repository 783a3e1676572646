//! SQL text to a resolved query and back, the schema catalog, and query features.
//!
//! [`resolve`] parses a text with SQLite's grammar and looks up every name; [`tree`] is what comes out,
//! [`print()`] turns it back into SQL. The law: for every query that executes, the printed query executes to the
//! same result. The crate never runs anything: whether SQLite accepts a text is SQLite's own `prepare` to
//! judge (crate `engine`).

#![deny(missing_docs, reason = "strangers read this crate")]

pub mod aggregates;
mod builtin;
pub mod canonical;
mod copy;
pub mod ddl;
mod definition;
pub mod derive;
mod error;
mod expansion;
mod features;
mod folded;
pub mod functions;
mod identity;
pub mod lex;
mod locate;
mod named;
mod ordering;
mod parse;
mod print;
pub mod quote;
pub mod reach;
pub mod reads;
mod resolve;
pub mod schema;
mod schema_text;
mod syntax;
pub mod tree;
mod views;
pub mod visit;

pub use error::{ErrorKind, ResolveError};
pub use expansion::expanded_size;
pub use features::Features;
pub use identity::{Numbering, refresh, renumber};
pub use locate::TextPosition;
pub use named::NamedThings;
pub use ordering::{Ordered, UnderDistinct, ordered, ordered_under_distinct};

pub use print::{Names, PrintDialect, PrintError, print, print_as_written, print_expr, print_part};
pub use resolve::{Aliases, MAX_DEPTH, resolve, resolve_with_aliases};
pub use schema::Definition;
pub use schema_text::schema_text;
pub use views::{views_of, without_views};
pub mod spider;
