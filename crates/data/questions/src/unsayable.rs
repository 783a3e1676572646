//! Why a query cannot be asked, or a text cannot be read.

/// Why there is no question for a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsayable {
    /// The grammar has no words for a construct.
    #[error("the grammar has no words for {construct}; leave the query without a question")]
    Construct { construct: &'static str },
    /// The query names what the schema does not have: it belongs to another schema.
    #[error(
        "the query is of another schema: {what} is not in this one; ask with the schema it was resolved by"
    )]
    OtherSchema {
        /// What is missing.
        what: &'static str,
    },
    /// What was written does not read back as the query: a name or a construct stands in its way.
    #[error("no wording reads back as the query; the last one tried was: {text}")]
    NotReadBack {
        /// The last wording.
        text: String,
    },
}

impl Unsayable {
    pub(crate) const fn construct(construct: &'static str) -> Self {
        Self::Construct { construct }
    }
}

/// Why a text has no reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableQuestion {
    /// The grammar does not have it.
    #[error(
        "the text is not understood from {rest:?} on; write it in the words of the grammar (docs/explanation/questions.md)"
    )]
    Unknown {
        /// From where on nothing fits.
        rest: String,
    },
    /// It is a sentence of the grammar, but no query over the schema fits it.
    #[error("the text is a question, but not one about this schema; give the schema that it is about")]
    OtherSchema,
    /// It is too long, or may be read in too many ways.
    #[error(
        "the text may be read in too many ways, or is too long; shorten it or name the tables of columns"
    )]
    TooComplex,
}
