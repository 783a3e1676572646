//! The items to encode.

use std::sync::Arc;

use sqlgauge_sql::schema::Schema;

/// One item of a workload, as an encoder sees it. A gold query has no place here.
#[derive(Debug, Clone)]
pub struct EncoderInput {
    /// Id of the item.
    pub id: String,
    /// Name of its database.
    pub db_id: String,
    pub question: String,
    /// External knowledge that comes with the question.
    pub evidence: Option<String>,
    /// The schema of the database.
    pub schema: Arc<Schema>,
    /// The SQL that a system predicted.
    pub prediction: Option<String>,
}

sqlgauge_base::named! {
    /// Which parts of an item are encoded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum InputForm by name {
        /// Question (with its evidence) and schema.
        QuestionSchema = "question-schema",
        /// Question, schema and predicted SQL: the form for systems whose hidden states are out of reach (`FusionSQL`,
        /// section V-D, "input-output pair").
        QuestionSchemaPrediction = "question-schema-prediction",
        /// Question and predicted SQL alone: a fraction of the text, for models on small machines. Of the schema it shows what
        /// the prediction names.
        QuestionPrediction = "question-prediction",
    }
}

impl InputForm {
    /// Whether the schema is a part of it.
    pub(crate) fn has_schema(self) -> bool {
        self != Self::QuestionPrediction
    }

    /// Whether the prediction is a part of it.
    pub fn has_prediction(self) -> bool {
        self != Self::QuestionSchema
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}
