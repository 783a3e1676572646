//! `sqlgauge encode` on the bundled sample.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use sqlgauge_encode::{EmbeddingFile, Vectors};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/sample").join(name)
}

/// Runs `encode` on the sample's questions; the error is what it says on standard error.
fn encode(questions: &Path, out: &Path, options: &[&str]) -> Result<EmbeddingFile, String> {
    let mut command = Command::cargo_bin("sqlgauge").unwrap();
    command.args(["encode", "--questions"]).arg(questions).arg("--tables").arg(sample("tables.json"));
    let output = command.arg("--out").arg(out).args(options).output().unwrap();
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(2));
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    Ok(EmbeddingFile::open(out).unwrap())
}

fn vectors(file: &EmbeddingFile) -> Vec<f32> {
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for chunk in 0..file.chunks() {
        file.read(chunk, &mut rows).unwrap();
        all.extend_from_slice(&rows);
    }
    all
}

#[test]
fn a_workload_becomes_a_file_and_its_golds_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let questions = sample("questions.json");
    let prediction = format!("careful={}", sample("predictions/careful.jsonl").display());
    let one = encode(&questions, &folder.path().join("one.parquet"), &["--pred", &prediction]).unwrap();
    assert_eq!(one.metadata().encoder, "features@1");
    assert_eq!(one.metadata().dimension_names.as_ref().unwrap().len(), one.dimensions());
    let text = std::fs::read_to_string(&questions).unwrap();
    let mut items: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(&text).unwrap();
    assert_eq!(one.len(), items.len());
    for item in &mut items {
        for gold in ["query", "sql", "SQL", "gold", "difficulty"] {
            if item.contains_key(gold) {
                item.insert(gold.to_owned(), "garbled ' (".into());
            }
        }
    }
    let garbled = folder.path().join("garbled.json");
    std::fs::write(&garbled, serde_json::to_string(&items).unwrap()).unwrap();
    encode(&garbled, &folder.path().join("two.parquet"), &["--pred", &prediction]).unwrap();
    let bytes = |name| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("one.parquet"), bytes("two.parquet"));
}

#[test]
fn the_space_of_another_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let questions = sample("questions.json");
    let source = encode(&questions, &path("source.parquet"), &["--encoder", "tfidf:max=20"]).unwrap();
    let few = path("few.json");
    let text = std::fs::read_to_string(&questions).unwrap();
    let items: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    std::fs::write(&few, serde_json::to_string(&items[..3]).unwrap()).unwrap();
    let like = path("source.parquet").display().to_string();
    let target = encode(&few, &path("few.parquet"), &["--encoder", "tfidf", "--like", &like]).unwrap();
    assert_eq!(target.metadata().fingerprint, source.metadata().fingerprint);
    assert_eq!(vectors(&target), vectors(&source)[..3 * source.dimensions()]);
    let alone = encode(&few, &path("alone.parquet"), &["--encoder", "tfidf:max=20"]).unwrap();
    assert_ne!(alone.metadata().fingerprint, source.metadata().fingerprint);
    let copy = format!("file:{like}");
    let copied = encode(&questions, &path("copy.parquet"), &["--encoder", &copy, "--like", &like]).unwrap();
    assert_eq!((vectors(&copied), copied.ids()), (vectors(&source), source.ids()));
    let message = encode(&few, &path("x.parquet"), &["--encoder", "features", "--like", &like]).unwrap_err();
    assert!(message.contains("cannot be compared"), "{message}");
}

#[test]
fn labels_stand_beside_the_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let questions = sample("questions.json");
    let plain = encode(&questions, &path("plain.parquet"), &[]).unwrap();
    assert!(plain.correct().iter().all(Option::is_none));
    let labels = path("labels.tsv");
    std::fs::write(&labels, format!("id\tcorrect\n{}\t1\n", plain.ids()[1])).unwrap();
    let option = labels.display().to_string();
    let file = encode(&questions, &path("labelled.parquet"), &["--correct", &option]).unwrap();
    assert_eq!(file.correct()[..2], [None, Some(1.0)]);
    // The label of another answer does not count.
    let digest = sqlgauge_run::sha256_of_bytes(b"SELECT 42");
    std::fs::write(&labels, format!("id\tcorrect\tshown\n{}\t1\t{digest}\n", plain.ids()[1])).unwrap();
    let prediction = format!("careful={}", sample("predictions/careful.jsonl").display());
    let options = ["--pred", &prediction, "--correct", &option];
    let file = encode(&questions, &path("other.parquet"), &options).unwrap();
    assert!(file.correct().iter().all(Option::is_none));
    std::fs::write(&labels, "id\tcorrect\nnobody\t1\n").unwrap();
    let message = encode(&questions, &path("x.parquet"), &["--correct", &option]).unwrap_err();
    assert!(message.contains("\"nobody\""), "{message}");
}

#[test]
fn what_cannot_be_encoded_is_named_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.parquet");
    let questions = sample("questions.json");
    for (options, part) in [
        (["--encoder", "word2vec"], "unknown encoder \"word2vec\""),
        (["--encoder", "file:/nowhere.npy"], "/nowhere.npy"),
        (["--encoder", "tfidf:max=none"], "not a positive number"),
        (["--form", "question-schema-prediction"], "needs predictions"),
        (["--like", "/nowhere.parquet"], "/nowhere.parquet"),
    ] {
        let message = encode(&questions, &out, &options).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
