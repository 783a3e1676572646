//! The tests of this crate: one program, a module for each file.

mod common;
mod meta_set;
mod printed;
mod properties;
mod reference_library;
