//! No bytes make the prediction reader panic, and every prediction belongs to its example. The first byte picks the
//! format and whether SQL is extracted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::{Columns, FileFormat, Input, PredictionOptions, pair_rows, parse_benchmark, parse_predictions};

const GOLDS: [(&str, &str); 4] = [
    (
        "gold.jsonl",
        "{\"id\": \"7\", \"question\": \"q\", \"sql\": \"SELECT 1\"}\n{\"id\": \"7\", \"question\": \"q\", \"sql\": \"SELECT 1\"}\n{\"id\": \"8\", \"question\": \"r\", \"sql\": null}\n",
    ),
    ("gold.sql", "SELECT 1\ta\nSELECT 2\tb\nSELECT 3\ta\n"),
    ("gold.sql", "SELECT 1\ta\nSELECT 2\ta\n\nSELECT 3\tb\n"),
    (
        "gold.jsonl",
        "{\"id\": \"x\", \"db\": \"a\", \"sql\": \"SELECT 1\"}\n{\"id\": \"10\", \"db\": \"b\", \"sql\": \"SELECT 2\"}\n",
    ),
];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let format = FileFormat::all().nth(usize::from(choice >> 1) % (FileFormat::all().count() + 1));
    let mut columns = Columns::default();
    if choice % 3 == 1 {
        columns.name("pred.id", "a.0.b").expect("a role");
        columns.name("pred.sql", "c.-1").expect("a role");
    }
    let options = PredictionOptions { format, extract: choice % 2 == 1, columns, ..PredictionOptions::default() };
    let input = Input::from_bytes("predictions", bytes.to_vec());
    for (name, gold) in GOLDS {
        let gold = Input::from_bytes(name, gold.as_bytes().to_vec());
        let benchmark = parse_benchmark(&gold, None, None, &Columns::default()).expect("the golds are sound");
        if let Ok(paired) = pair_rows(&input, &benchmark, format, &options.columns) {
            assert_eq!(paired.rows.len(), benchmark.examples.len());
        }
        if let Ok(set) = parse_predictions("S", input.clone(), &benchmark, &options) {
            assert_eq!(set.predictions.len(), benchmark.examples.len());
            for (prediction, example) in set.predictions.iter().zip(&benchmark.examples) {
                assert!(prediction.as_ref().is_none_or(|p| p.id == example.id));
            }
        }
    }
});
