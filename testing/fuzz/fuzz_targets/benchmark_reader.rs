//! No bytes make the benchmark reader panic, and what it reads keeps its promises. The first byte picks the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::{Columns, FileFormat, Input, parse_benchmark};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let format = FileFormat::all().nth(usize::from(choice) % (FileFormat::all().count() + 1));
    let input = Input::from_bytes("gold", bytes.to_vec());
    let columns = Columns::default();
    if let Ok(benchmark) = parse_benchmark(&input, None, format, &columns) {
        assert!(!benchmark.examples.is_empty());
        for (index, example) in benchmark.examples.iter().enumerate() {
            assert_eq!(example.index, index);
            assert!(!example.golds.is_empty() && !example.db_id.is_empty());
            assert!(example.turn.is_none() || benchmark.interactions() > 1);
        }
    }
    // A file always agrees with itself, as far as each half can be read.
    let alone = parse_benchmark(&input, None, None, &columns);
    let twice = parse_benchmark(&input, Some(&input), None, &columns);
    assert_eq!(alone.is_ok(), twice.is_ok());
});
