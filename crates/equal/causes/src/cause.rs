//! Causes, slips, and why there is no sentence.

use std::fmt;

use sqlgauge_sql::tree::Query;

use crate::pair::{Pair, Rest};

/// A kind of difference: what a line of a fix list is about.
pub struct Cause {
    /// Its name in files: `missing-condition`.
    pub id: &'static str,
    /// The same for a reader.
    pub title: &'static str,
    /// When it is said.
    pub about: &'static str,
    /// A gold, an answer, and the sentence.
    pub example: [&'static str; 3],
    /// Takes the differences that it explains out of the rest.
    pub(crate) find: fn(&Pair<'_>, &mut Rest) -> Result<Vec<Slip>, Unclear>,
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cause").field(&self.id).finish()
    }
}

/// One place in which an answer is not the gold.
#[derive(Debug, Clone)]
pub struct Slip {
    pub cause: &'static Cause,
    /// Where, unless it is the outermost query: `in a subquery`.
    pub place: Option<&'static str>,
    /// In which clause, where the words do not say it: `HAVING`.
    pub clause: Option<&'static str>,
    /// What the answer does, after the words "the prediction"; empty where only the gold does something.
    pub prediction: String,
    /// What the gold does, after the words "the gold"; empty where only the answer does something.
    pub gold: String,
    /// How many differences belong to it beside the one that it names.
    pub more: usize,
    /// The gold with this slip and no other.
    pub planted: Query,
    /// The answer without this slip, and with all others.
    pub repaired: Query,
}

impl Slip {
    /// A slip of the outermost query.
    pub(crate) fn new(
        cause: &'static Cause,
        [prediction, gold]: [String; 2],
        [planted, repaired]: [Query; 2],
    ) -> Self {
        Self { cause, place: None, clause: None, prediction, gold, more: 0, planted, repaired }
    }

    /// Whether a sentence has the same words for both.
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        let words = |slip: &Self| (slip.place, slip.clause, slip.prediction.clone(), slip.gold.clone());
        words(self) == words(other)
    }
}

sqlgauge_base::named! {
    /// Why a difference has no sentence.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Unclear by about {
        /// A query cannot be resolved.
        Unresolved = "a query cannot be resolved against the schema",
        /// The trees are the same but for what never matters.
        NoDifference = "the trees are the same but for what never matters",
        /// None of the slips alone changes the result.
        OnlyTogether = "no difference alone changes the result",
        /// The sentence would be too long to be read.
        TooLong = "the sentence would be longer than 600 characters",
        /// The queries are of different shapes: a compound against a SELECT with subqueries, say.
        OtherShape = "the queries are built too differently to compare them clause by clause",
        /// A part has no words, or both queries have the same.
        NoWords = "a part has no words, or both queries have the same",
        /// The analysis would take too many steps.
        TooComplex = "the comparison would take too many steps",
        /// The log of a run holds only the beginning of the answer.
        CutText = "the log of the run holds only the beginning of the answer",
    }
}

impl Unclear {
    /// That of a name in files.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unclear| unclear.id() == id)
    }

    /// Its name in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::NoDifference => "no-difference",
            Self::OnlyTogether => "only-together",
            Self::TooLong => "too-long",
            Self::OtherShape => "other-shape",
            Self::NoWords => "no-words",
            Self::TooComplex => "too-complex",
            Self::CutText => "cut-text",
        }
    }
}
