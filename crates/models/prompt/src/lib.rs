//! What language models are asked and trained with.
//!
//! - `predict` asks for the SQL of a workload's questions (feature `services`).
//! - [`augment`] makes training chats by the same prompt from a benchmark and its evolved schemas.
//! - `names` asks for new names of tables and columns, for `evolve --names llm` (feature `services`).
//! - `reword` asks for questions in other words, for `synth --polish` (feature `services`).
//!
//! The prompts are the files of `prompts/`.

pub mod augment;
#[cfg(feature = "services")]
mod model;
#[cfg(feature = "services")]
pub mod names;
#[cfg(feature = "services")]
pub mod predict;
mod prompts;
#[cfg(feature = "services")]
pub mod reword;

#[cfg(feature = "services")]
pub use model::ModelSettings;
pub use prompts::{PLACEHOLDERS, built_in_prompt, built_in_prune_prompt};
