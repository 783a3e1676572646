//! The styles in which a question is asked: the nine of `OmniSQL` (Li et al., 2025), and dialogues of several turns.
//!
//! A style decides between wordings of the one grammar; what is asked is the same in all of them, and the reader need
//! not be told the style. Its file in `styles` says what it is like.

use std::fmt;
use std::str::FromStr;

use crate::styles;

/// A way of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuestionStyle {
    /// Full and polite sentences, precise words.
    Formal,
    /// As one speaks to a colleague.
    Colloquial,
    /// A command.
    Imperative,
    Interrogative,
    /// What is wanted, described.
    Descriptive,
    /// As few words as possible.
    Concise,
    /// Imprecise words; columns are named without their tables.
    Vague,
    /// In images.
    Metaphorical,
    /// A message of a conversation.
    Conversational,
    /// A dialogue in which each turn adds a clause.
    MultiTurn,
}

/// What is known of a style.
#[derive(Debug, Clone, Copy)]
pub struct StyleMeta {
    pub style: QuestionStyle,
    /// Its name on the command line and in the corpus.
    pub name: &'static str,
    /// How questions of it sound.
    pub description: &'static str,
    /// Whether columns are named without their tables even where that may be misunderstood.
    pub leaves_tables_out: bool,
    /// Of 100 groupings, how many are said before what is asked.
    pub groups_first: u8,
    /// How often it is drawn beside the others: as people ask databases.
    pub share: u8,
}

impl QuestionStyle {
    pub fn all() -> impl Iterator<Item = Self> {
        styles::ALL.iter().map(|meta| meta.style)
    }

    /// What is known of it.
    pub fn meta(self) -> &'static StyleMeta {
        &styles::ALL[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.meta().name
    }
}

impl fmt::Display for QuestionStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a style of questions; the styles are {names}", names = names())]
pub struct UnknownStyle(String);

fn names() -> String {
    QuestionStyle::all().map(QuestionStyle::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for QuestionStyle {
    type Err = UnknownStyle;

    fn from_str(name: &str) -> Result<Self, UnknownStyle> {
        Self::all().find(|style| style.name() == name).ok_or_else(|| UnknownStyle(name.to_owned()))
    }
}

/// A set of styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Styles(u16);

impl Styles {
    pub(crate) const ALL: Self = Self(u16::MAX);
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const FORMAL: Self = Self::of(QuestionStyle::Formal);
    pub(crate) const COLLOQUIAL: Self = Self::of(QuestionStyle::Colloquial);
    pub(crate) const IMPERATIVE: Self = Self::of(QuestionStyle::Imperative);
    pub(crate) const INTERROGATIVE: Self = Self::of(QuestionStyle::Interrogative);
    pub(crate) const DESCRIPTIVE: Self = Self::of(QuestionStyle::Descriptive);
    pub(crate) const CONCISE: Self = Self::of(QuestionStyle::Concise);
    pub(crate) const VAGUE: Self = Self::of(QuestionStyle::Vague);
    pub(crate) const METAPHORICAL: Self = Self::of(QuestionStyle::Metaphorical);
    pub(crate) const CONVERSATIONAL: Self = Self::of(QuestionStyle::Conversational);
    pub(crate) const MULTI_TURN: Self = Self::of(QuestionStyle::MultiTurn);

    const fn of(style: QuestionStyle) -> Self {
        Self(1 << style as u16)
    }

    /// Both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, style: QuestionStyle) -> bool {
        self.0 & Self::of(style).0 != 0
    }

    /// Whether it is not for everybody.
    pub(crate) fn is_special(self) -> bool {
        self != Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_has_its_place_and_is_found_by_its_name() {
        for (place, style) in QuestionStyle::all().enumerate() {
            assert_eq!(style as usize, place);
            assert_eq!(style.name().parse(), Ok(style));
            assert!(!style.meta().description.is_empty() && style.meta().share > 0);
        }
        assert!("loud".parse::<QuestionStyle>().unwrap_err().to_string().contains("formal, colloquial"));
    }
}
