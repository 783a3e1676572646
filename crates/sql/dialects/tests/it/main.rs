//! The tests of this crate: one program, a module for each file.

mod registry;
mod rows;
mod texts;
