//! Components of small items, counted by hand.

use super::*;

const DDL: &str = "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, birth_year INT);
    CREATE TABLE song (song_id INTEGER PRIMARY KEY, title TEXT, sngr INT REFERENCES singer, name TEXT, \"Sales (k)\" REAL);
    CREATE TABLE log (x)";

struct FeatureValues(HashMap<&'static str, f32>);

impl FeatureValues {
    fn of(question: &str, evidence: Option<&str>, prediction: Option<&str>) -> Self {
        let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
        let input = EncoderInput {
            id: "1".into(),
            db_id: "d".into(),
            question: question.into(),
            evidence: evidence.map(str::to_owned),
            schema: Arc::new(Schema::from_ddl(DDL).unwrap()),
            prediction: prediction.map(str::to_owned),
        };
        let matrix = encoder.encode(&[input]).unwrap();
        Self(encoder.table().iter().map(|d| d.name).zip(matrix.row(0).iter().copied()).collect())
    }

    /// Counts are read back as counts.
    fn check(&self, expected: &[(&str, f32)]) {
        for (name, value) in expected {
            let component = self.0[name];
            let counted = component.exp_m1();
            assert!(
                (component - value).abs() < 1e-5 || (counted - value).abs() < 1e-4,
                "{name} is {component} (a count of {counted}), not {value}"
            );
        }
    }
}

#[test]
fn names_are_unique_and_the_forms_agree() {
    let (short, long) = (
        FeatureEncoder::new(InputForm::QuestionSchema),
        FeatureEncoder::new(InputForm::QuestionSchemaPrediction),
    );
    let names: std::collections::HashSet<&str> = long.table().iter().map(|d| d.name).collect();
    assert_eq!(names.len(), long.dimensions());
    assert!(long.table().starts_with(short.table()) && long.dimensions() > short.dimensions());
    assert!(long.table().iter().all(|d| !d.description.is_empty() && d.name.contains('.')));
    assert_ne!(short.fingerprint(), long.fingerprint());
}

#[test]
fn questions() {
    FeatureValues::of(
        "How many singers were born in 1990, 'or so'? List Anna's 3 oldest.",
        Some("old = 1/2 AND MAX(x)"),
        None,
    )
    .check(&[
        ("question.words", 13.0),
        ("question.sentences", 1.0),
        ("question.numbers", 2.0),
        ("question.years", 1.0),
        ("question.quoted", 1.0),
        ("question.capitals", 2.0),
        ("question.asks.how_many", 1.0),
        ("question.cue.count", 1.0),
        ("question.cue.superlative", 1.0),
        ("question.cue.alternative", 1.0),
        ("question.cue.average", 0.0),
        ("question.begins.order", 0.0),
        ("evidence.present", 1.0),
        ("evidence.formulas", 2.0),
        ("evidence.functions", 1.0),
    ]);
    FeatureValues::of("", None, None).check(&[
        ("question.words", 0.0),
        ("question.word_length", 0.0),
        ("evidence.present", 0.0),
    ]);
}

#[test]
fn schemas() {
    FeatureValues::of("", None, None).check(&[
        ("schema.tables", 3.0),
        ("schema.columns", 9.0),
        ("schema.columns_per_table", 3.0),
        ("schema.widest_table", 5.0),
        ("schema.foreign_keys", 1.0),
        ("schema.linked_tables", 2.0 / 3.0),
        ("schema.keyed_tables", 2.0 / 3.0),
        ("schema.composite_keys", 0.0),
        ("schema.type.text", 3.0 / 9.0),
        ("schema.type.integer", 4.0 / 9.0),
        ("schema.type.real", 1.0 / 9.0),
        ("schema.type.blob", 1.0 / 9.0),
        ("schema.name.underscores", 3.0 / 12.0),
        ("schema.name.quoting", 1.0 / 12.0),
        // sngr, x, k of the 16 words.
        ("schema.name.obscure_words", 3.0 / 16.0),
        ("schema.name.obscure", 2.0 / 12.0),
        ("schema.name.repeated", 2.0 / 9.0),
    ]);
}

#[test]
fn linking() {
    let question = "What are the names and birth years of all singers from France?";
    FeatureValues::of(question, Some("`Sales (k)` is not a part"), None).check(&[
        // names, birth, years, singers, france
        ("link.words", 5.0),
        ("link.table_words_exact", 0.0),
        ("link.table_words", 0.2),
        ("link.column_words_exact", 0.2),
        // singer is a word of singer_id.
        ("link.column_words", 0.8),
        ("link.unmatched_words", 0.2),
        ("link.tables_mentioned", 1.0),
        ("link.tables_mentioned_share", 1.0 / 3.0),
        // name twice, birth_year
        ("link.columns_mentioned", 3.0),
        ("link.columns_mentioned_share", 3.0 / 9.0),
        // name: 2; birth, year, singer: 1 each
        ("link.columns_per_word", 1.25),
        ("link.columns_per_word_max", 2.0),
        ("link.same_name_max", 2.0),
        ("link.columns_verbatim", 0.0),
        ("link.evidence.columns_verbatim", 1.0),
    ]);
}

#[test]
fn predictions() {
    let question = "How many songs titled 'Hello' with more than 5 sales does each singer have?";
    let sql = "SELECT T1.name, count(*) FROM singer AS T1 JOIN song AS T2 ON T1.singer_id = T2.sngr \
               WHERE T2.title LIKE '%hello%' AND T2.\"Sales (k)\" > 5 AND birth_year NOT IN (7, 1) GROUP BY T1.name";
    FeatureValues::of(question, None, Some(sql)).check(&[
        ("sql.missing", 0.0),
        ("sql.resolves", 1.0),
        ("sql.outputs", 2.0),
        ("sql.tables", 2.0),
        ("sql.tables_share", 2.0 / 3.0),
        ("sql.columns", 6.0),
        ("sql.joins", 1.0),
        ("sql.aggregates", 1.0),
        ("sql.op.group_by", 1.0),
        ("sql.op.order_comparison", 1.0),
        ("sql.op.negated", 1.0),
        ("sql.fn.count", 1.0),
        ("sql.text.joins", 1.0),
        ("sql.text.star", 0.0),
        ("sql.literals.text", 1.0),
        ("sql.literals.number", 2.0),
        // title (stem titl) of name, singer_id, sngr, title, Sales (k), birth_year
        ("sql.link.columns", 1.0 / 6.0),
        ("sql.link.columns_unmentioned", 5.0),
        // title 1, singer_id 1/2, Sales (k) 1/2
        ("sql.link.column_words", 2.0 / 6.0),
        ("sql.link.tables", 1.0),
        ("sql.link.texts_in_question", 1.0),
        ("sql.link.texts_from_nowhere", 0.0),
        ("sql.link.numbers", 0.5),
        ("sql.link.numbers_from_nowhere", 1.0),
        ("sql.link.question_numbers_used", 1.0),
        ("sql.link.quoted_used", 1.0),
        ("sql.link.equalities", 1.0),
        ("sql.link.foreign_keys", 1.0),
        ("sql.lacks.count", 0.0),
        ("sql.lacks.grouping", 0.0),
        ("sql.lacks.comparison", 0.0),
        ("sql.unasked.negation", 1.0),
    ]);
}

#[test]
fn predictions_that_are_no_query_have_their_error_and_no_structure() {
    for (sql, flags) in [
        (None, ["sql.missing"].as_slice()),
        (Some(" \n"), &["sql.missing"]),
        (Some("SELEC 1"), &["sql.error.syntax"]),
        (Some("SELECT x FROM singers"), &["sql.error.unknown_table"]),
        (Some("SELECT x FROM singer"), &["sql.error.unknown_column"]),
        (Some("SELECT name FROM singer, song"), &["sql.error.ambiguous_column"]),
        (Some("DELETE FROM singer"), &["sql.error.no_query"]),
        (Some("SELECT 1; SELECT 2"), &["sql.error.no_query"]),
        (Some("SELECT * FROM log"), &["sql.resolves", "sql.text.star"]),
    ] {
        let values = FeatureValues::of("How many?", None, sql);
        let set: std::collections::BTreeSet<&str> = values
            .0
            .iter()
            .filter(|(name, value)| {
                let is_flag = ["sql.missing", "sql.resolves", "sql.text.star"].contains(name);
                **value != 0.0 && (is_flag || name.starts_with("sql.error."))
            })
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(set, flags.iter().copied().collect(), "{sql:?}");
    }
}

#[test]
fn a_vector_depends_on_its_item_alone() {
    let schema = Arc::new(Schema::from_ddl(DDL).unwrap());
    let input = |question: &str| EncoderInput {
        id: String::new(),
        db_id: String::new(),
        question: question.into(),
        evidence: None,
        schema: Arc::clone(&schema),
        prediction: Some("SELECT 1".into()),
    };
    let inputs: Vec<EncoderInput> = ["List names", "Who?", "How many songs?"].map(input).into();
    let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
    let together = encoder.encode(&inputs).unwrap();
    for (input, row) in inputs.iter().zip(together.rows()) {
        assert_eq!(
            FeatureEncoder::new(InputForm::QuestionSchemaPrediction)
                .encode(std::slice::from_ref(input))
                .unwrap()
                .row(0),
            row
        );
    }
}
