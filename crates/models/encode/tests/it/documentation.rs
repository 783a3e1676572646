//! The table of features in the docs is the one in the code.

use std::path::Path;

use sqlgauge_encode::InputForm;
use sqlgauge_encode::encoders::features::FeatureEncoder;

#[test]
fn the_table_of_features_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/features.md");
    let written = std::fs::read_to_string(path).unwrap();
    let table = FeatureEncoder::new(InputForm::QuestionSchemaPrediction).markdown();
    assert!(
        written.ends_with(&table),
        "write it again: cargo run -p sqlgauge-encode --example feature_table > docs/reference/features.md"
    );
}
