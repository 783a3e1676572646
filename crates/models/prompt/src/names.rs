//! Names from a language model: one request for each table.
//!
//! # Contract
//! Names, types and keys of a schema are sent, and nothing of its rows. Answers are kept by the client's cache, so that the same
//! question asks no server twice. An answer without names costs its table, which is named; a server that gives no answer ends the
//! asking, since what it says next time would make another benchmark.

use sqlgauge_llm::{BatchProgress, ChatRequest, Client, LlmError, Placeholders, Prompt, Usage};
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::{PrintDialect, schema_text};

use sqlgauge_names::{Naturalness, SchemaNames, Suggestions};

use crate::ModelSettings;

const BUILT_IN: &str = include_str!("../prompts/names.md");
const PLACEHOLDERS: Placeholders = Placeholders {
    prompt: "evolve --names",
    required: &["schema", "table", "columns", "style", "example"],
    optional: &[],
};

/// What the names of a column take of an answer, at most.
pub(crate) const TOKENS_OF_A_COLUMN: u32 = 32;

/// What came of the asking.
#[derive(Debug, Clone, PartialEq)]
pub struct NameAnswers {
    pub suggestions: Suggestions,
    /// Tables that were asked about.
    pub tables: usize,
    /// Tables and columns that were asked about.
    pub elements: usize,
    /// Those of them for which the answers have a name, whether it fits or not.
    pub named: usize,
    /// Those whose answers have no names, as `database.table`.
    pub without_names: Vec<String>,
    /// What was used.
    pub usage: Usage,
}

/// Why there are no names.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The built-in prompt is not whole; a defect.
    #[error(transparent)]
    Prompt(#[from] sqlgauge_llm::PromptError),
    /// A table has no answer.
    #[error("no names for the table {table:?} of {db_id}: {source}")]
    Llm {
        /// The database.
        db_id: String,
        table: String,
        /// Why not.
        source: LlmError,
    },
}

impl AskError {
    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Llm { source: LlmError::Cancelled, .. })
    }
}

/// Asks for names of every table of these databases.
///
/// # Errors
/// [`AskError`]; what was answered is kept by the client.
pub fn ask(
    client: &Client,
    databases: &[(&str, &Schema)],
    settings: &ModelSettings,
    naturalness: Naturalness,
    progress: Option<&mut (dyn FnMut(&BatchProgress) + Send)>,
) -> Result<NameAnswers, AskError> {
    let prompt = Prompt::parse(BUILT_IN, PLACEHOLDERS)?;
    let mut tables = Vec::new();
    let mut requests = Vec::new();
    for (db_id, schema) in databases {
        let text = schema_text(schema);
        for table in schema.tables().iter().filter(|table| table.kind == TableKind::Table) {
            tables.push((*db_id, table));
            requests.push(request(settings, naturalness, &prompt, &text, table));
        }
    }
    let batch = client.chat_batch(&requests, progress);
    let mut suggestions = Suggestions { of: settings.model.clone(), ..Suggestions::default() };
    let mut without_names = Vec::new();
    let (mut elements, mut with_names) = (0, 0);
    for ((db_id, table), result) in tables.iter().zip(batch.results) {
        let error = |source| AskError::Llm { db_id: (*db_id).to_owned(), table: table.name.clone(), source };
        let answer = result.map_err(error)?;
        let names: &mut SchemaNames = suggestions.databases.entry((*db_id).to_owned()).or_default();
        let count = names.add_answer(table, &answer.text);
        if count == 0 {
            without_names.push(format!("{db_id}.{}", table.name));
        }
        elements += 1 + table.columns.len();
        with_names += count;
    }
    Ok(NameAnswers {
        suggestions,
        tables: tables.len(),
        elements,
        named: with_names,
        without_names,
        usage: batch.usage,
    })
}

/// The request about a table. [`TOKENS_OF_A_COLUMN`] for each of its columns come on top of the tokens of an answer.
fn request(
    settings: &ModelSettings,
    naturalness: Naturalness,
    prompt: &Prompt,
    schema: &str,
    table: &Table,
) -> ChatRequest {
    let columns = u32::try_from(table.columns.len()).unwrap_or(u32::MAX);
    let most = settings.max_tokens.saturating_add(columns.saturating_mul(TOKENS_OF_A_COLUMN));
    let filled = prompt.fill(|name| match name {
        "schema" => schema.to_owned(),
        "style" => style(naturalness).to_owned(),
        "example" => example(naturalness).to_owned(),
        "columns" => column_list(table),
        _ => PrintDialect::Sqlite.identifier(&table.name),
    });
    ChatRequest { max_tokens: Some(most), ..settings.request(filled) }
}

/// The columns by name, as they are written in SQL.
fn column_list(table: &Table) -> String {
    let names: Vec<_> =
        table.columns.iter().map(|column| PrintDialect::Sqlite.identifier(&column.name)).collect();
    names.join(", ")
}

fn style(naturalness: Naturalness) -> &'static str {
    match naturalness {
        Naturalness::Regular => "made of full English words, as in vegetation_height",
        Naturalness::Low => {
            "made of abbreviations that people recognise, as in veg_hgt for vegetation height"
        }
        Naturalness::Least => {
            "made of initials or of the consonants of its words, as in vgt_h for vegetation height"
        }
    }
}

fn example(naturalness: Naturalness) -> &'static str {
    match naturalness {
        Naturalness::Regular => {
            r#"{"table": ["client", "buyer", "patron"], "columns": {"first_name": ["given_name", "forename", "personal_name"]}}"#
        }
        Naturalness::Low => {
            r#"{"table": ["cust", "clnt", "custmr"], "columns": {"first_name": ["fst_name", "given_nm", "fname"]}}"#
        }
        Naturalness::Least => {
            r#"{"table": ["c", "cst", "cl"], "columns": {"first_name": ["fn", "f_nm", "gvn"]}}"#
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Column;

    use super::*;

    #[test]
    fn the_prompt_names_the_table_after_the_schema() {
        let prompt = Prompt::parse(BUILT_IN, PLACEHOLDERS).unwrap();
        let settings = ModelSettings { max_tokens: 9, ..ModelSettings::new("m") };
        let columns = ["a", "b c"].map(|name| Column::new(name, None)).to_vec();
        let schema = "CREATE TABLE \"my t\" (a);";
        let request = request(&settings, Naturalness::Low, &prompt, schema, &Table::new("my t", columns));
        assert_eq!(request.max_tokens, Some(9 + 2 * TOKENS_OF_A_COLUMN));
        let user = &request.messages[1].content;
        assert!(user.starts_with("CREATE TABLE \"my t\" (a);\n\nGive three"), "{user}");
        assert!(user.contains("the table \"my t\",") && user.contains("veg_hgt"), "{user}");
        assert!(user.contains(r#""first_name": ["fst_name""#), "{user}");
        assert!(user.contains(r#"each of its columns: a, "b c"."#), "{user}");
    }
}
