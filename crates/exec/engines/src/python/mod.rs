//! Engines that run in a process of Python, each with a driver of its own behind one protocol.

pub(crate) mod child;
mod values;
