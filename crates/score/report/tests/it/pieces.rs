//! Files of a large run's items beside its page. A server keeps those of the same log; beside a report all are written anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde_json::json;
use sqlgauge_dataset::{Example, PairedBy, Prediction, PredictionSet};
use sqlgauge_report::formats::ServedHtml;
use sqlgauge_report::{Report, find};
use sqlgauge_run::{
    Judgement, Plan, RunDirectory, RunError, RunFiles, Schedule, Scorer, Start, SummaryBuilder, Task,
    execute, xxh3_of,
};

/// Says so much that a page has no room for it.
struct Verbose;

impl Scorer for Verbose {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        let details = json!({
            "question": task.example.question,
            "gold": task.example.golds[0],
            "prediction": format!("{} it's \\ \"long\" {}", task.prediction.unwrap(), "x".repeat(14 << 20)),
        });
        Ok(Judgement {
            status: "ok".into(),
            metrics: BTreeMap::from([("ex@1".to_owned(), Some(1.0))]),
            details: serde_json::from_value(details).unwrap(),
        })
    }
}

fn score(folder: &Path) {
    let example = |index: usize| Example {
        id: format!("q{index}"),
        index,
        db_id: "shop".into(),
        question: Some("How many?".into()),
        evidence: None,
        golds: vec!["SELECT 1".into()],
        difficulty: None,
        turn: None,
        ddl: None,
        source_index: None,
        source_db_id: None,
    };
    let examples: Vec<Example> = (0..2).map(example).collect();
    let answer = |system: &str, e: &Example| Prediction {
        id: e.id.clone(),
        sql: format!("{system} {}", e.id),
        confidence: None,
        earlier: None,
    };
    let system = |name: &str| PredictionSet {
        system: name.to_owned(),
        predictions: examples.iter().map(|e| Some(answer(name, e))).collect(),
        source: PathBuf::from("predictions"),
        paired_by: PairedBy::Position,
        notes: Vec::new(),
        extra: BTreeMap::new(),
    };
    let systems = [system("a"), system("b")];
    let plan = Plan::new(&examples, &systems).unwrap();
    let manifest = sqlgauge_run::Manifest {
        metrics: vec!["ex@1".into()],
        systems: vec!["a".into(), "b".into()],
        examples: 2,
        ..crate::common::report(2, 2).manifest
    };
    let directory = RunDirectory::create(folder, &manifest, Start::Continue).unwrap();
    let cancel = AtomicBool::new(false);
    execute(&directory, &plan, &Verbose, &Schedule::new(&cancel), &()).unwrap();
}

fn report(folder: &Path) -> Report {
    let RunFiles { manifest, items, .. } = RunFiles::open(folder).unwrap();
    let summary = SummaryBuilder::of(&manifest, &items).unwrap();
    Report::new(manifest, summary, items)
}

fn write_report(folder: &Path) {
    find("html").unwrap().write_file(&report(folder), &folder.join("report.html")).unwrap();
}

/// Writes the page as a server does, into the run's folder.
fn write_served(folder: &Path) {
    let page = ServedHtml { assets: "/assets/", home: "/", run: "1" };
    page.write_file(&report(folder), &folder.join("report.html")).unwrap();
}

/// Page and pieces with their bytes.
fn written(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let pieces = std::fs::read_dir(folder.join("report-items")).unwrap().map(|entry| entry.unwrap().path());
    let all = pieces.chain([folder.join("report.html")]);
    all.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Beside a report every file is written anew, whatever the folder says of those that lie there.
#[test]
fn a_report_takes_no_piece_from_a_run_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    score(folder);
    // With a word of what the files are.
    write_served(folder);
    let pieces = || written(folder).into_keys().filter(|path| path.parent() != Some(folder));
    for piece in pieces().filter(|path| !path.ends_with("made.json")) {
        forge_piece(folder, &piece);
        std::fs::copy(&piece, piece.with_extension("js")).unwrap();
    }
    write_report(folder);
    for piece in pieces() {
        let text = std::fs::read_to_string(&piece).unwrap();
        let name = piece.file_stem().unwrap().to_str().unwrap();
        assert!(text.starts_with(&format!("sqlgaugePiece('{name}','")), "{}", piece.display());
    }
}

/// Other bytes in a piece, and their hash in the word of what it is.
fn forge_piece(folder: &Path, piece: &Path) {
    let hash = || format!("{:016x}", xxh3_of(&mut std::fs::File::open(piece).unwrap()).unwrap());
    let before = hash();
    std::fs::write(piece, "window.hit=1").unwrap();
    let manifest = folder.join("report-items/made.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(manifest, text.replace(&before, &hash())).unwrap();
}

#[test]
fn a_server_keeps_files_of_the_same_log_and_makes_others_anew() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    score(folder);
    let write_report = write_served;
    write_report(folder);
    let expected = written(folder);
    let piece = folder.join("report-items/items-1-0.json");
    let made_at = || std::fs::metadata(&piece).unwrap().modified().unwrap();
    let first = made_at();
    std::fs::remove_file(folder.join("report.html")).unwrap();
    write_report(folder);
    assert!(made_at() == first && written(folder) == expected, "what is whole is kept");

    let manifest = folder.join("report-items/made.json");
    let damages: [(&str, &dyn Fn()); 5] = [
        ("a byte of a file", &|| {
            let mut bytes = std::fs::read(&piece).unwrap();
            bytes[1 << 20] ^= 1;
            std::fs::write(&piece, bytes).unwrap();
        }),
        ("a file that is gone", &|| std::fs::remove_file(&piece).unwrap()),
        ("no word of what they are", &|| std::fs::remove_file(&manifest).unwrap()),
        ("half a word", &|| std::fs::write(&manifest, &expected[&manifest][..40]).unwrap()),
        ("names that lead elsewhere", &|| {
            let text = String::from_utf8(expected[&manifest].clone()).unwrap();
            std::fs::write(&manifest, text.replace("\"items-1-0\"", "\"../items\"")).unwrap();
        }),
    ];
    for (damage, inflict) in damages {
        inflict();
        write_report(folder);
        assert!(written(folder) == expected, "{damage}");
    }

    // Another log of equal length, with its own index.
    let log = folder.join("items.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replacen("a q1 it's", "a q1 it S", 1)).unwrap();
    score(folder);
    write_report(folder);
    let actual = written(folder);
    let changed: Vec<&PathBuf> = expected.keys().filter(|path| actual[*path] != expected[*path]).collect();
    assert_eq!(changed, [&folder.join("report-items/items-0-0.json"), &manifest]);
}
