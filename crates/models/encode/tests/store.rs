//! Embedding files: what is written is read, and what is wrong with a file is said.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use sqlgauge_encode::{
    EmbeddingFile, EmbeddingRow, EmbeddingWriter, InputForm, Metadata, StoreError, Vectors,
};

fn metadata() -> Metadata {
    Metadata {
        encoder: "features@1".to_owned(),
        fingerprint: "abc".to_owned(),
        form: Some(InputForm::QuestionSchema),
        dimension_names: Some(vec!["one".to_owned(), "\"two\"".to_owned()]),
        source_digest: "0f".to_owned(),
        extra: [("vocabulary".to_owned(), "[]".to_owned())].into(),
        ..Metadata::default()
    }
}

/// Vector of an item: every component differs from every other one of a file.
fn vector(row: usize, dimensions: usize) -> Vec<f32> {
    (0..dimensions).map(|component| (row * dimensions + component) as f32 - 1000.5).collect()
}

fn write(path: &Path, rows: usize, dimensions: usize) {
    let mut writer = EmbeddingWriter::create(path, &metadata(), dimensions).unwrap();
    for row in 0..rows {
        let item = EmbeddingRow {
            id: &format!("é{row}"),
            db_id: ["a", "b"][row % 2],
            vector: &vector(row, dimensions),
            correct: (row % 3 > 0).then_some(f64::from(row % 2 == 0)),
            confidence: (row % 5 == 0).then_some(-(row as f64) / 7.0),
        };
        writer.push(item).unwrap();
    }
    writer.finish().unwrap();
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    (folder, path)
}

#[test]
fn what_is_written_is_read_by_many_threads() {
    let (folder, path) = scratch();
    // One component per vector; one row group; several row groups with pages that hold a few vectors each.
    for (rows, dimensions, chunks) in [(5, 1, 1), (40_000, 2, 3), (1300, 4096, 21), (3, 3_000_000, 3)] {
        write(&path, rows, dimensions);
        let file = EmbeddingFile::open(&path).unwrap();
        assert_eq!((file.len(), file.dimensions(), file.chunks()), (rows, dimensions, chunks));
        assert_eq!(*file.metadata(), Metadata { version: file.metadata().version.clone(), ..metadata() });
        assert_eq!(file.ids()[rows - 1], format!("é{}", rows - 1));
        assert_eq!(&*file.db_ids()[1], "b");
        assert_eq!(&file.correct()[..3], [None, Some(0.0), Some(1.0)]);
        assert_eq!(&file.confidence()[..2], [Some(0.0), None]);
        let chunks: Vec<Vec<f32>> = std::thread::scope(|scope| {
            let read = |chunk| {
                let file = &file;
                scope.spawn(move || {
                    let mut rows = vec![7.0];
                    file.read_chunk(chunk, &mut rows).map(|()| rows)
                })
            };
            let threads: Vec<_> = (0..file.chunks()).map(read).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert!(
            chunks
                .concat()
                .chunks(dimensions)
                .enumerate()
                .all(|(row, components)| components == vector(row, dimensions))
        );
        assert!(file.read_chunk(file.chunks(), &mut Vec::new()).is_err());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside the file");
}

#[test]
fn a_missing_label_is_named() {
    let (_folder, path) = scratch();
    write(&path, 2, 1);
    let message = EmbeddingFile::open(&path).unwrap().labels().unwrap_err().to_string();
    assert!(message.contains("\"é0\" has no label"), "{message}");
}

#[test]
fn what_no_item_can_have_is_refused() {
    let (folder, path) = scratch();
    let item = EmbeddingRow { id: "q7", db_id: "a", vector: &[1.0, 2.0], correct: None, confidence: None };
    let cases = [
        (EmbeddingRow { vector: &[1.0, f32::NAN], ..item }, "component 1 is NaN"),
        (EmbeddingRow { vector: &[f32::NEG_INFINITY, 0.0], ..item }, "component 0 is -inf"),
        (EmbeddingRow { vector: &[1.0], ..item }, "1 components where the file has 2"),
        (EmbeddingRow { correct: Some(1.5), ..item }, "between 0 and 1"),
        (EmbeddingRow { correct: Some(f64::NAN), ..item }, "between 0 and 1"),
        (EmbeddingRow { confidence: Some(f64::INFINITY), ..item }, "finite number"),
    ];
    let mut writer = EmbeddingWriter::create(&path, &metadata(), 2).unwrap();
    for (item, problem) in cases {
        let message = writer.push(item).unwrap_err().to_string();
        assert!(message.contains(problem) && message.contains("q7"), "{message}");
    }
    // The largest numbers are finite: nothing overflows in the check.
    writer.push(EmbeddingRow { vector: &[f32::MAX, f32::MIN], ..item }).unwrap();
    drop(writer);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "a writer that is dropped leaves nothing"
    );
    let writer = EmbeddingWriter::create(&path, &metadata(), 2).unwrap();
    assert!(matches!(writer.finish(), Err(StoreError::Empty { .. })));
    assert!(matches!(EmbeddingWriter::create(&path, &metadata(), 0), Err(StoreError::Io { .. })));
    assert!(matches!(EmbeddingFile::open(&path), Err(StoreError::Io { .. })));
}

#[test]
fn a_file_that_is_cut_off_or_changed_is_an_error_or_a_valid_file() {
    let (_folder, path) = scratch();
    write(&path, 50, 3);
    let bytes = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| -> Result<(), StoreError> {
        std::fs::write(&path, bytes).unwrap();
        let file = EmbeddingFile::open(&path)?;
        (0..file.chunks()).try_for_each(|chunk| file.read(chunk, &mut Vec::new()))
    };
    for length in (0..bytes.len()).step_by(37) {
        let error = read(&bytes[..length]).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{length}: {error}");
    }
    for position in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[position] ^= 0xff;
        let _ = read(&changed);
    }
}

/// Files that pandas and pyarrow wrote; `tests/fixtures/pyarrow_files.py` makes them.
#[test]
fn files_of_pyarrow_are_read() {
    let fixture =
        |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pyarrow").join(name);
    for name in ["float_dictionary.parquet", "float_plain_v1.parquet", "double_pandas.parquet"] {
        let file = EmbeddingFile::open(&fixture(name)).unwrap();
        let mut rows = Vec::new();
        let read: Vec<f32> = (0..file.chunks())
            .flat_map(|chunk| {
                file.read(chunk, &mut rows).unwrap();
                rows.clone()
            })
            .collect();
        let expected: Vec<f32> = (0..30).map(|i| i as f32 / 4.0).collect();
        assert_eq!((file.len(), file.dimensions(), read), (10, 3, expected), "{name}");
        assert_eq!(file.correct()[1], Some(1.0), "{name}");
        assert_eq!(file.ids()[9], "9", "{name}");
    }
    let cases = [
        ("ragged.parquet", "row 1: its vector has another length"),
        ("short_last.parquet", "row 2: its vector is shorter"),
        ("null_vector.parquet", "row 1: its vector is null"),
        ("null_component.parquet", "row 2: its vector is null"),
        ("nan.parquet", "row 2: component 1 is NaN"),
        ("overflow.parquet", "row 0: component 1 is inf"),
        ("text_vector.parquet", "\"vector\" is a column of BYTE_ARRAY, not a list"),
        ("int_vector.parquet", "\"vector\" is a list of INT64, not a list"),
        ("no_vector.parquet", "no column \"vector\""),
        ("no_rows.parquet", "has no item"),
        ("null_id.parquet", "row 1: id is null"),
        ("wrong_label.parquet", "row 0: correct is 2"),
    ];
    for (name, problem) in cases {
        let read = || {
            let file = EmbeddingFile::open(&fixture(name))?;
            (0..file.chunks()).try_for_each(|chunk| file.read(chunk, &mut Vec::new()))
        };
        let message = read().unwrap_err().to_string();
        assert!(message.contains(problem) && message.contains(name), "{name}: {message}");
    }
}
