//! What is encoded.

use std::sync::Arc;

use sqlgauge_sql::schema::Schema;

/// One item of a workload, as an encoder sees it. A gold query has no place here.
#[derive(Debug, Clone)]
pub struct EncoderInput {
    /// Id of the item.
    pub id: String,
    /// Name of its database.
    pub db_id: String,
    /// The question.
    pub question: String,
    /// External knowledge that comes with the question.
    pub evidence: Option<String>,
    /// The schema of the database.
    pub schema: Arc<Schema>,
    /// The SQL that a system predicted.
    pub prediction: Option<String>,
}

/// Which parts of an item are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Question (with its evidence) and schema.
    QuestionSchema,
    /// Question, schema and predicted SQL: the form for systems whose hidden states are out of reach (`FusionSQL`,
    /// section V-D, "input-output pair").
    QuestionSchemaPrediction,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 2] = [Self::QuestionSchema, Self::QuestionSchemaPrediction];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::QuestionSchema => "question-schema",
            Self::QuestionSchemaPrediction => "question-schema-prediction",
        }
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}
