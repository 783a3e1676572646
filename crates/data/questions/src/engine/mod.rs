//! From phrases to text and from text to phrases: what knows the grammar and nothing of queries.

pub(crate) mod parse;
pub(crate) mod token;
pub(crate) mod tree;
pub(crate) mod write;
