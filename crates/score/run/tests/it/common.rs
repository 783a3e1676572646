//! A small invented benchmark.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sqlgauge_dataset::{Example, PairedBy, Prediction, PredictionSet};
use sqlgauge_run::Manifest;

/// `count` examples with ids that are not their positions.
pub(crate) fn examples(count: usize) -> Vec<Example> {
    let example = |index: usize| Example {
        id: format!("q{}", index * 7),
        index,
        db_id: format!("db{}", index % 3),
        question: Some(format!("What is \"{index}\"?\nSay it.")),
        evidence: None,
        golds: vec![format!("SELECT {index}")],
        difficulty: None,
        turn: None,
        ddl: None,
        source_index: None,
        source_db_id: None,
    };
    (0..count).map(example).collect()
}

/// A system that answers `SELECT index % modulus`, and nothing at every tenth example.
pub(crate) fn system(name: &str, examples: &[Example], modulus: usize) -> PredictionSet {
    let answer = |e: &Example| {
        (e.index % 10 != 9).then(|| Prediction {
            id: e.id.clone(),
            sql: format!("SELECT {}", e.index % modulus),
            confidence: None,
            earlier: None,
        })
    };
    PredictionSet {
        system: name.to_owned(),
        predictions: examples.iter().map(answer).collect(),
        source: PathBuf::from(format!("{name}.sql")),
        paired_by: PairedBy::Position,
        notes: Vec::new(),
        extra: BTreeMap::new(),
    }
}

pub(crate) fn manifest(systems: &[PredictionSet], examples: usize) -> Manifest {
    Manifest {
        tool_version: "0.0.0".into(),
        engine: "none".into(),
        command: vec!["score".into()],
        metrics: vec!["same@1".into()],
        systems: systems.iter().map(|s| s.system.clone()).collect(),
        examples,
        ..Manifest::default()
    }
}
