//! Vectors that `NumPy`, safetensors and pyarrow wrote; `tests/fixtures/foreign_vectors.py` and `pyarrow_files.py` made them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_encode::encoders::file::VectorFile;
use sqlgauge_encode::{EncoderInput, Vectors};
use sqlgauge_sql::schema::Schema;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn inputs(ids: &[&str]) -> Vec<EncoderInput> {
    let input = |id: &&str| EncoderInput {
        id: (*id).to_owned(),
        db_id: "d".into(),
        question: String::new(),
        evidence: None,
        schema: Arc::new(Schema::default()),
        prediction: None,
    };
    ids.iter().map(input).collect()
}

fn read(path: &Path) -> Result<Vec<f32>, String> {
    let file = VectorFile::open(path).map_err(|error| error.to_string())?;
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for chunk in 0..file.chunks() {
        file.read_chunk(chunk, &mut rows).map_err(|error| error.to_string())?;
        all.extend_from_slice(&rows);
    }
    assert!(file.read_chunk(file.chunks(), &mut rows).is_err());
    assert_eq!(all.len(), file.len() * file.dimensions());
    Ok(all)
}

#[test]
fn every_kind_of_file_has_the_same_vectors() {
    // Multiples of a quarter: the same in 16 bits.
    let expected: Vec<f32> = (0..30).map(|i| i as f32 / 4.0 - 2.0).collect();
    for name in
        ["f2.npy", "f4.npy", "f8.npy", "v2.npy", "f16.safetensors", "bf16.safetensors", "f32.safetensors#b"]
    {
        assert_eq!(read(&fixture("foreign").join(name)).unwrap(), expected, "{name}");
    }
}

#[test]
fn parquet_files_made_elsewhere_have_their_vectors() {
    let expected: Vec<f32> = (0..30).map(|i| i as f32 / 4.0).collect();
    for name in ["float_dictionary.parquet", "double_pandas.parquet"] {
        assert_eq!(read(&fixture("pyarrow").join(name)).unwrap(), expected, "{name}");
    }
    let message = read(&fixture("pyarrow/nan.parquet")).unwrap_err();
    assert!(message.contains("row 2: component 1 is NaN"), "{message}");
}

#[test]
fn what_is_no_file_of_vectors_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(fixture("foreign/f4.npy")).unwrap();
    std::fs::write(folder.path().join("cut.npy"), &bytes[..bytes.len() - 1]).unwrap();
    std::fs::write(folder.path().join("header.npy"), &bytes[..20]).unwrap();
    let bytes = std::fs::read(fixture("foreign/f16.safetensors")).unwrap();
    std::fs::write(folder.path().join("cut.safetensors"), &bytes[..bytes.len() - 1]).unwrap();
    std::fs::write(folder.path().join("x.txt"), "no vectors at all").unwrap();
    for (path, problem) in [
        (folder.path().join("cut.npy"), "cut off"),
        (folder.path().join("header.npy"), "no header of NumPy"),
        (folder.path().join("cut.safetensors"), "cut off"),
        (folder.path().join("x.txt"), "no file of vectors"),
        (folder.path().join("none.npy"), "check the path"),
        (fixture("foreign/fortran.npy"), "column by column"),
        (fixture("foreign/int.npy"), "\"<i8\""),
        (fixture("foreign/flat.npy"), "two-dimensional"),
        (fixture("foreign/nan.npy"), "row 1: component 2 is NaN"),
        (fixture("foreign/f32.safetensors"), "the tensors a, b"),
        (fixture("foreign/f32.safetensors#c"), "the tensors a, b"),
    ] {
        let message = read(&path).unwrap_err();
        assert!(message.contains(problem), "{}: {message}", path.display());
    }
}

const REVERSED: [&str; 10] = ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"];
const ONE_MORE: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

#[test]
fn vectors_with_ids_belong_to_the_items_of_those_ids() {
    let with_ids = VectorFile::open(&fixture("pyarrow/float_dictionary.parquet")).unwrap();
    let reversed = inputs(&REVERSED);
    assert_eq!(with_ids.positions(&reversed).unwrap(), (0..10).rev().collect::<Vec<_>>());
    let message = with_ids.positions(&reversed[1..]).unwrap_err().to_string();
    assert!(message.contains("no item \"9\""), "{message}");
    let message = with_ids.positions(&inputs(&ONE_MORE)).unwrap_err().to_string();
    assert!(message.contains("10 vectors for 11 items, none for item \"10\""), "{message}");
}

#[test]
fn vectors_without_ids_belong_to_the_items_in_their_order() {
    let without = VectorFile::open(&fixture("foreign/f4.npy")).unwrap();
    assert_eq!(without.positions(&inputs(&REVERSED)).unwrap(), (0..10).collect::<Vec<_>>());
    assert!(
        without.positions(&inputs(&ONE_MORE)).unwrap_err().to_string().contains("10 vectors for 11 items")
    );
}
