//! `sqlgauge shift` on small files: what it prints, and what it says of files that cannot be compared.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use sqlgauge_encode::{EmbeddingRow, EmbeddingWriter, Metadata};

/// Vectors on a line in the plane; those of `far` lie at 10 more.
fn write(folder: &Path, name: &str, fingerprint: &str, rows: u16, far: bool) -> PathBuf {
    let path = folder.join(name);
    let metadata = Metadata {
        encoder: "test@1".to_owned(),
        fingerprint: fingerprint.to_owned(),
        dimension_names: Some(vec!["length".to_owned(), "depth".to_owned()]),
        ..Metadata::default()
    };
    let mut writer = EmbeddingWriter::create(&path, &metadata, 2).unwrap();
    for row in 0..rows {
        let moved = far && row % 2 == 1;
        let vector = [f32::from(row % 7) + if moved { 10.0 } else { 0.0 }, f32::from(row % 5)];
        let (id, db_id) = (row.to_string(), if row % 2 == 1 { "odd" } else { "even" });
        writer
            .push(EmbeddingRow { id: &id, db_id, vector: &vector, correct: None, confidence: None })
            .unwrap();
    }
    writer.finish().unwrap();
    path
}

fn shift(source: &Path, target: &Path, more: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlgauge"));
    command.arg("shift").arg("--source").arg(source).arg("--target").arg(target).args(more);
    command.output().unwrap()
}

#[test]
fn the_database_and_the_dimension_that_moved_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let source = write(folder.path(), "a.parquet", "one", 140, false);
    let target = write(folder.path(), "b.parquet", "one", 70, true);
    for more in [&["--json"][..], &["--json", "--standardise"], &["--json", "--slices", "16", "--seed", "3"]]
    {
        let output = shift(&source, &target, more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["by_database"][0]["name"], "odd");
        assert_eq!(report["by_dimension"][0]["name"], "length");
        assert_eq!((&report["source"]["count"], &report["target"]["count"]), (&140.into(), &70.into()));
        assert_eq!(output.stdout, shift(&source, &target, more).stdout);
        if more.len() == 1 {
            // Half of the target is moved by 10, the rest is the same: the mean by 5.
            let mean_shift = report["columns"]["frechet_mean_shift"].as_f64().unwrap();
            assert!((mean_shift - 25.0).abs() < 1e-9, "{mean_shift}");
        }
    }
    let text = String::from_utf8(shift(&source, &target, &[]).stdout).unwrap();
    assert!(text.contains("70 vectors against 140 of 2 dimensions") && text.contains("length"), "{text}");
}

#[test]
fn files_that_cannot_be_compared_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let source = write(folder.path(), "a.parquet", "one", 14, false);
    let other = write(folder.path(), "b.parquet", "two", 14, false);
    for (output, wanted) in [
        (shift(&source, &other, &[]), "same encoder"),
        (shift(&source, &folder.path().join("none.parquet"), &[]), "none.parquet"),
        (shift(&source, &source, &["--slices", "0"]), "from 1 to"),
    ] {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(wanted), "{message}");
    }
}
