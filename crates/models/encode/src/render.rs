//! An item as text, for encoders that read text.

use std::fmt::Write;

use sqlgauge_sql::schema::{Schema, TableKind};

use crate::input::{EncoderInput, InputForm};

/// Changes with the text of some item: part of the fingerprint of every encoder that reads text.
pub(crate) const RENDER_VERSION: u32 = 1;

/// The text of an item.
///
/// ```text
/// Question: <question>
/// Evidence: <evidence>                     (where there is one)
/// SQL: <predicted query on one line>       (in forms that have it; nothing after the colon where there is no prediction)
/// Schema: <table>(<column> <TYPE>, …); …   (in forms that have it, as the next line)
/// Foreign keys: <table>.<column> = <table>.<column>; …   (where there are some)
/// ```
///
/// The schema is last: a model that reads only the first few hundred tokens still sees the question and the query.
/// White space of any kind becomes one space. Nothing of a database's rows is in it.
pub fn render(input: &EncoderInput, form: InputForm) -> String {
    let mut text = format!("Question: {}", one_line(&input.question));
    let mut line = |label: &str, value: &str| {
        let _ = write!(text, "\n{label}:");
        for word in value.split_whitespace() {
            let _ = write!(text, " {word}");
        }
    };
    if let Some(evidence) = input.evidence.as_deref().filter(|evidence| !evidence.trim().is_empty()) {
        line("Evidence", evidence);
    }
    if form.has_prediction() {
        line("SQL", input.prediction.as_deref().unwrap_or_default());
    }
    if !form.has_schema() {
        return text;
    }
    line("Schema", &tables(&input.schema));
    let keys = foreign_keys(&input.schema);
    if !keys.is_empty() {
        line("Foreign keys", &keys);
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tables(schema: &Schema) -> String {
    let table = |table: &sqlgauge_sql::schema::Table| {
        let columns = table.columns.iter().map(|column| match &column.declared_type {
            Some(declared) => format!("{} {declared}", column.name),
            None => column.name.clone(),
        });
        format!("{}({})", table.name, columns.collect::<Vec<_>>().join(", "))
    };
    let tables = schema.tables().iter().filter(|table| table.kind != TableKind::Shadow);
    tables.map(table).collect::<Vec<_>>().join("; ")
}

fn foreign_keys(schema: &Schema) -> String {
    let mut pairs = Vec::new();
    for table in schema.tables() {
        for key in &table.foreign_keys {
            let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
            let Some(target) = schema.table(target) else { continue };
            for (&from, &to) in key.columns.iter().zip(&columns) {
                if let (Some(from), Some(to)) = (table.column(from), target.column(to)) {
                    pairs.push(format!("{}.{} = {}.{}", table.name, from.name, target.name, to.name));
                }
            }
        }
    }
    pairs.join("; ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_item_is_one_line_per_part() {
        let ddl = "CREATE TABLE a (id INTEGER PRIMARY KEY, x); CREATE TABLE b (a_id INT REFERENCES a, \"y z\" TEXT);";
        let mut input = EncoderInput {
            id: "1".into(),
            db_id: "d".into(),
            question: "How\nmany  xs? ".into(),
            evidence: Some(" ".into()),
            schema: Arc::new(Schema::from_ddl(ddl).unwrap()),
            prediction: Some("SELECT count(*)\n FROM a".into()),
        };
        let schema = "Schema: a(id INTEGER, x); b(a_id INT, y z TEXT)\nForeign keys: b.a_id = a.id";
        assert_eq!(render(&input, InputForm::QuestionSchema), format!("Question: How many xs?\n{schema}"));
        input.evidence = Some("x is a\tletter".into());
        assert_eq!(
            render(&input, InputForm::QuestionSchemaPrediction),
            format!("Question: How many xs?\nEvidence: x is a letter\nSQL: SELECT count(*) FROM a\n{schema}")
        );
        assert_eq!(
            render(&input, InputForm::QuestionPrediction),
            "Question: How many xs?\nEvidence: x is a letter\nSQL: SELECT count(*) FROM a"
        );
        input.prediction = None;
        assert!(render(&input, InputForm::QuestionSchemaPrediction).contains("\nSQL:\n"));
    }
}
