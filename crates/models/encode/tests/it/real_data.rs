//! The published benchmarks are encoded without an error, and the named features say something about them.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_dataset::{
    PredictionOptions, WorkloadSource, load_labels, load_predictions, load_tables, load_workload,
};
use sqlgauge_encode::encoders::features::FeatureEncoder;
use sqlgauge_encode::encoders::tfidf::{Tfidf, TfidfOptions};
use sqlgauge_encode::{Encoder, EncoderInput, InputForm, Vectors};

/// Items of a benchmark with the predictions of a model.
fn items(questions: &str, tables: &str, predictions: &str) -> Option<Vec<EncoderInput>> {
    let data = sqlgauge_conformance::data()?;
    let source = WorkloadSource { path: data.join(questions), ..WorkloadSource::default() };
    let workload = load_workload(&source).unwrap();
    let tables = load_tables(&data.join(tables)).unwrap();
    let schemas: HashMap<&str, Arc<_>> =
        tables.entries().iter().map(|entry| (entry.db_id.as_str(), Arc::new(entry.schema()))).collect();
    let set =
        load_predictions("S", &data.join(predictions), &workload, &PredictionOptions::default()).unwrap();
    let input =
        |(example, prediction): (&sqlgauge_dataset::Example, &Option<sqlgauge_dataset::Prediction>)| {
            EncoderInput {
                id: example.id.clone(),
                db_id: example.db_id.clone(),
                question: example.question.clone().unwrap(),
                evidence: example.evidence.clone(),
                schema: Arc::clone(&schemas[example.db_id.as_str()]),
                prediction: prediction.as_ref().map(|prediction| prediction.sql.clone()),
            }
        };
    Some(workload.examples.iter().zip(&set.predictions).map(input).collect())
}

fn spider() -> Option<Vec<EncoderInput>> {
    items("spider/dev.json", "spider/tables.json", "spider/predictions/dev/llmnl2sql_Qwen2-7B-Instruct.sql")
}

fn bird() -> Option<Vec<EncoderInput>> {
    let predictions = "bird/llm_nl2sql/predictions/llmnl2sql_Qwen2-7B-Instruct.sql";
    items("bird/llm_nl2sql/questions.json", "bird/dev_tables.json", predictions)
}

#[test]
fn benchmarks_have_finite_vectors_of_moderate_size() {
    for (items, size) in [(spider(), 1034), (bird(), 1534)] {
        let Some(items) = items else { return };
        for form in InputForm::ALL {
            let encoder = FeatureEncoder::new(form);
            let vectors = encoder.encode(&items).unwrap();
            assert_eq!((vectors.len(), vectors.dimensions()), (size, encoder.dimensions()));
            let (least, most) =
                vectors.values().iter().fold((0.0_f32, 0.0_f32), |(a, b), &v| (a.min(v), b.max(v)));
            assert!(least >= 0.0 && most < 12.0 && most.is_finite(), "{least} to {most}");
            let tfidf = Tfidf::fit(&items, form, TfidfOptions::default()).unwrap();
            let vectors = tfidf.encode(&items).unwrap();
            for row in vectors.rows() {
                let length: f64 = row.iter().map(|&value| f64::from(value).powi(2)).sum();
                assert!((length - 1.0).abs() < 1e-5);
            }
        }
    }
}

/// Every feature differs between some items of the benchmarks, but for those that the predictions of one model need
/// not show.
#[test]
fn features_vary() {
    let (Some(mut items), Some(more)) = (spider(), bird()) else { return };
    items.extend(more);
    let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
    let vectors = encoder.encode(&items).unwrap();
    let rare =
        ["sql.missing", "sql.error.", "sql.op.with", "sql.op.window", "sql.fn.", "sql.unasked.", "sql.text."];
    for (place, dimension) in encoder.table().iter().enumerate() {
        let varies = vectors.rows().any(|row| row[place].to_bits() != vectors.row(0)[place].to_bits());
        assert!(varies || rare.iter().any(|rare| dimension.name.starts_with(rare)), "{}", dimension.name);
    }
}

/// On BIRD, right predictions resolve more often and name more of what the question mentions.
#[test]
fn features_go_with_correctness() {
    let (Some(items), Some(data)) = (bird(), sqlgauge_conformance::data()) else { return };
    let path = data.join("bird/llm_nl2sql/correct.tsv");
    let labels =
        load_labels(&path, None, Some("llmnl2sql_Qwen2-7B-Instruct"), &sqlgauge_dataset::Columns::default());
    let labels: HashMap<String, f64> =
        labels.unwrap().into_iter().map(|label| (label.id, label.correct.unwrap())).collect();
    let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
    let vectors = encoder.encode(&items).unwrap();
    let mean = |name: &str, right: bool| {
        let place = encoder.table().iter().position(|dimension| dimension.name == name).unwrap();
        let of = items.iter().zip(vectors.rows()).filter(|(item, _)| (labels[&item.id] > 0.5) == right);
        let values: Vec<f64> = of.map(|(_, row)| row[place].into()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    for name in ["sql.resolves", "sql.link.columns", "sql.link.tables", "sql.link.texts_in_question"] {
        assert!(
            mean(name, true) > mean(name, false) + 0.05,
            "{name}: {} {}",
            mean(name, true),
            mean(name, false)
        );
    }
}
