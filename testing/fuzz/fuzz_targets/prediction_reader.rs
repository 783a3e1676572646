//! No bytes make the prediction reader panic, and every prediction belongs to its example. The first byte picks the
//! format and whether SQL is extracted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::{Columns, Format, Input, PredictionOptions, parse_benchmark, parse_predictions};

const GOLDS: [(&str, &str); 3] = [
    ("gold.sql", "SELECT 1\ta\nSELECT 2\tb\nSELECT 3\ta\n"),
    ("gold.sql", "SELECT 1\ta\nSELECT 2\ta\n\nSELECT 3\tb\n"),
    (
        "gold.jsonl",
        "{\"id\": \"x\", \"db\": \"a\", \"sql\": \"SELECT 1\"}\n{\"id\": \"10\", \"db\": \"b\", \"sql\": \"SELECT 2\"}\n",
    ),
];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let format = Format::all().nth(usize::from(choice >> 1) % (Format::all().count() + 1));
    let options = PredictionOptions { format, extract: choice % 2 == 1, ..PredictionOptions::default() };
    let input = Input::from_bytes("predictions", bytes.to_vec());
    for (name, gold) in GOLDS {
        let gold = Input::from_bytes(name, gold.as_bytes().to_vec());
        let benchmark = parse_benchmark(&gold, None, None, &Columns::default()).expect("the golds are sound");
        if let Ok(set) = parse_predictions("S", input.clone(), &benchmark, &options) {
            assert_eq!(set.predictions.len(), benchmark.examples.len());
            for (prediction, example) in set.predictions.iter().zip(&benchmark.examples) {
                assert!(prediction.as_ref().is_none_or(|p| p.id == example.id));
            }
        }
    }
});
