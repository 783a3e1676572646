//! The prompts for predictions.

use sqlgauge_llm::{Placeholders, Prompt, PromptError};

const BUILT_IN: &str = include_str!("../prompts/predict.md");
const PRUNE: &str = include_str!("../prompts/prune.md");

pub const PLACEHOLDERS: Placeholders =
    Placeholders { prompt: "predict", required: &["schema", "question"], optional: &["evidence", "dialect"] };

/// The dialect of a prompt where nothing says which it is.
pub(crate) const SQLITE: &str = "SQLite";

/// The prompt that is used when none is given (`prompts/predict.md`).
///
/// # Errors
/// None for the file that comes with the crate, which its tests read.
pub fn built_in_prompt() -> Result<Prompt, PromptError> {
    Prompt::parse(BUILT_IN, PLACEHOLDERS)
}

/// The prompt that asks which tables and columns a question needs (`prompts/prune.md`).
///
/// # Errors
/// None for the file that comes with the crate, which its tests read.
pub fn built_in_prune_prompt() -> Result<Prompt, PromptError> {
    Prompt::parse(PRUNE, Placeholders { prompt: "predict --prune", ..PLACEHOLDERS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_for_pruning_has_the_question_after_the_schema() {
        let prompt = built_in_prune_prompt().unwrap();
        let (_, user) =
            prompt.fill(|name| if name == "evidence" { String::new() } else { format!("<{name}>") });
        assert!(user.starts_with("<schema>\n\n-- Question: <question>\n"), "{user}");
    }

    #[test]
    fn the_built_in_prompt_ends_with_the_question() {
        let prompt = built_in_prompt().unwrap();
        let filled = |evidence: &str| {
            prompt.fill(|name| match name {
                "evidence" => evidence.to_owned(),
                name => format!("<{name}>"),
            })
        };
        assert!(filled("").0.starts_with("You write <dialect> queries."), "{}", filled("").0);
        assert_eq!(filled("").1, "<schema>\n\n-- Question: <question>");
        assert_eq!(filled("e").1, "<schema>\n\n-- Evidence: e\n-- Question: <question>");
    }
}
