//! From embedding files to an evaluator, and from it to the estimate of a target file.

use std::path::Path;
use std::sync::LazyLock;

use sqlgauge_encode::{EmbeddingFile, EmbeddingRow, EmbeddingWriter, Metadata};
use sqlgauge_fusion::{
    AdaptOptions, Basis, CorpusOptions, CorpusStage, Evaluator, ReptileOptions, adapt_to_file,
    evaluate_target, find, fit_files,
};
use sqlgauge_shift::{DescriptorSet, Slices};

use crate::common::{Random, message};

const DIMENSIONS: usize = 6;

/// What a file holds.
#[derive(Clone, Copy)]
struct Workload {
    items: usize,
    databases: usize,
    /// How far its databases lie from the source at most.
    reach: f64,
    /// How able the system is.
    ability: f64,
    encoder: &'static str,
    seed: u64,
}

const CORPUS: Workload =
    Workload { items: 3000, databases: 60, reach: 3.0, ability: 2.0, encoder: "made-up@1", seed: 2 };

/// Writes embeddings: each database lies somewhere along a direction, and the farther it lies, the more often the
/// system is wrong. Gives the share that is right.
fn write(path: &Path, workload: Workload, labelled: bool) -> f64 {
    let mut random = Random(workload.seed.wrapping_mul(99) + 1);
    let metadata = Metadata {
        encoder: workload.encoder.to_owned(),
        fingerprint: workload.encoder.to_owned(),
        ..Metadata::default()
    };
    let mut writer = EmbeddingWriter::create(path, &metadata, DIMENSIONS).unwrap();
    let mut right = 0.0;
    for item in 0..workload.items {
        let database = item % workload.databases;
        let distance = workload.reach * (database as f64 + 0.5) / workload.databases as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a component")]
        let vector: Vec<f32> = (0..DIMENSIONS)
            .map(|place| (random.normal() + if place < 2 { distance } else { 0.0 }) as f32)
            .collect();
        let chance = 1.0 / (1.0 + (1.5 * distance - workload.ability).exp());
        let correct = f64::from(u8::from(random.unit() < chance));
        right += correct;
        let (id, db_id) = (item.to_string(), format!("db{database}"));
        let correct = labelled.then_some(correct);
        writer
            .push(EmbeddingRow { id: &id, db_id: &db_id, vector: &vector, correct, confidence: None })
            .unwrap();
    }
    writer.finish().unwrap();
    right / workload.items as f64
}

static ALL: LazyLock<Vec<String>> = LazyLock::new(|| names(DescriptorSet::All));
static PAPER: LazyLock<Vec<String>> = LazyLock::new(|| names(DescriptorSet::Paper));

fn names(set: DescriptorSet) -> Vec<String> {
    set.columns().into_iter().map(str::to_owned).collect()
}

fn options() -> CorpusOptions<'static> {
    CorpusOptions {
        sets: 600,
        smallest: 50,
        largest: 500,
        slices: Slices::Hybrid { principal: 2, random: 6 },
        descriptors: &ALL,
        regressor: find("boosting").unwrap(),
        reptile: ReptileOptions { iterations: 150, ..ReptileOptions::default() },
        seed: 1,
    }
}

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, workload: Workload, labelled: bool) -> (EmbeddingFile, f64) {
        let path = self.folder.path().join(format!("{name}.parquet"));
        let right = write(&path, workload, labelled);
        (EmbeddingFile::open(&path).unwrap(), right)
    }

    fn source(&self) -> EmbeddingFile {
        self.write("source", Workload { items: 1000, reach: 0.0, seed: 1, ..CORPUS }, false).0
    }
}

#[test]
fn a_target_is_estimated_from_its_embeddings_alone() {
    let files = Files::new();
    let source = files.source();
    let (corpus, of_corpus) = files.write("corpus", CORPUS, true);
    let options = CorpusOptions { sets: 2000, ..options() };
    let evaluator = fit_files(&source, &[corpus], &options, &|_| {}).unwrap();
    let folder = files.folder.path().join("evaluator");
    evaluator.save(&folder).unwrap();
    let evaluator = Evaluator::load(&folder).unwrap();
    let card = evaluator.card();
    assert_eq!((card.method.as_str(), card.calibration.groups), ("fusion", 12));
    assert_eq!(card.provenance.corpora[0].databases, 60);
    assert_eq!(card.provenance.source.as_ref().map(|source| source.items), Some(1000));

    let target = Workload { items: 800, databases: 7, reach: 1.6, seed: 3, ..CORPUS };
    let (unlabelled, truth) = files.write("target", target, false);
    let evaluation = evaluate_target(&evaluator, &unlabelled, 0.9).unwrap();
    let estimate = &evaluation.estimate;
    // Half of the way from the corpus to the target at least; the sets are small and noisy.
    assert!(
        (estimate.accuracy - truth).abs() < 0.5 * (of_corpus - truth).abs(),
        "{estimate:?}: {truth}, {of_corpus}"
    );
    assert!(estimate.low <= truth && truth <= estimate.high && estimate.high - estimate.low < 0.5);
    assert_eq!((estimate.basis, estimate.outside), (Basis::Conformal(12), false));

    // Labels in the target's file change nothing.
    let (labelled, _) = files.write("labelled", target, true);
    assert_eq!(evaluate_target(&evaluator, &labelled, 0.9).unwrap(), evaluation);

    let far = Workload { reach: 60.0, seed: 4, ..target };
    let evaluation = evaluate_target(&evaluator, &files.write("far", far, false).0, 0.9).unwrap();
    assert!(evaluation.estimate.outside);
    assert!(evaluation.estimate.high - evaluation.estimate.low > estimate.high - estimate.low);
}

#[test]
fn an_evaluator_learns_from_the_descriptors_that_it_is_given() {
    let files = Files::new();
    let source = files.source();
    let target = Workload { items: 800, databases: 7, reach: 1.6, seed: 3, ..CORPUS };
    let (target, _) = files.write("target", target, false);
    let corpora = [files.write("corpus", CORPUS, true).0];
    let estimate = |descriptors: &[String]| {
        let evaluator =
            fit_files(&source, &corpora, &CorpusOptions { descriptors, ..options() }, &|_| {}).unwrap();
        let folder = files.folder.path().join("evaluator");
        evaluator.save(&folder).unwrap();
        let evaluator = Evaluator::load(&folder).unwrap();
        assert_eq!(evaluator.card().descriptors, descriptors);
        evaluate_target(&evaluator, &target, 0.9).unwrap()
    };
    let [all, paper] = [&ALL, &PAPER].map(|names| estimate(names));
    // The shift is the same; what is learned from it is not.
    assert_eq!(all.descriptors, paper.descriptors);
    assert!((all.estimate.accuracy - paper.estimate.accuracy).abs() > 1e-9);
    let unknown = ["of another version".to_owned()];
    let refused =
        fit_files(&source, &corpora, &CorpusOptions { descriptors: &unknown, ..options() }, &|_| {});
    assert!(message(refused).contains("of another version"));
}

#[test]
fn several_systems_give_an_evaluator_that_adapts() {
    let files = Files::new();
    let source = files.source();
    let corpora: Vec<EmbeddingFile> = (0..6_u64)
        .map(|system| {
            let ability = system as f64 * 0.7;
            files.write(&format!("system{system}"), Workload { ability, seed: 10 + system, ..CORPUS }, true).0
        })
        .collect();
    let options = CorpusOptions { regressor: find("mlp").unwrap(), sets: 1800, ..options() };
    let evaluator = fit_files(&source, &corpora, &options, &|_| {}).unwrap();
    assert_eq!(evaluator.card().method, "fusion-ml");
    let (mut before, mut after) = (0.0, 0.0);
    for (ability, seed) in [(0.3, 30), (3.2, 40)] {
        let new = Workload { ability, seed, ..CORPUS };
        let (corpus, _) = files.write("new", new, true);
        let adapted = adapt_to_file(&evaluator, &corpus, 300, &AdaptOptions::default(), &|_| {}).unwrap();
        assert_eq!(adapted.card().provenance.corpora.len(), 7);
        let target = Workload { items: 800, reach: 1.6, seed: seed + 1, ..new };
        let (target, truth) = files.write("target", target, false);
        let estimate = |evaluator| evaluate_target(evaluator, &target, 0.9).unwrap().estimate;
        let (unadapted, adapted) = (estimate(&evaluator), estimate(&adapted));
        assert!(adapted.low <= truth && truth <= adapted.high);
        before += (unadapted.accuracy - truth).abs();
        after += (adapted.accuracy - truth).abs();
    }
    assert!(after < 0.5 * before && after < 0.2, "{before} to {after}");
}

#[test]
fn a_single_database_gives_a_wide_interval() {
    let files = Files::new();
    let (corpus, right) = files.write("corpus", Workload { databases: 1, items: 400, ..CORPUS }, true);
    let small = CorpusOptions { sets: 100, smallest: 10, ..options() };
    let evaluator = fit_files(&files.source(), &[corpus], &small, &|_| {}).unwrap();
    assert!(evaluator.card().notes[0].contains("single database"));
    let (target, _) = files.write("target", Workload { databases: 1, items: 200, seed: 9, ..CORPUS }, false);
    let estimate = evaluate_target(&evaluator, &target, 0.9).unwrap().estimate;
    assert_eq!(estimate.basis, Basis::FewGroups(1));
    assert!(estimate.high - estimate.low > 0.2, "{estimate:?}");
    assert!((estimate.low..=estimate.high).contains(&right));
}

#[test]
fn bad_files_are_refused() {
    let files = Files::new();
    let source = files.source();
    let fit = |corpus: EmbeddingFile| message(fit_files(&source, &[corpus], &options(), &|_| {}));
    let small = Workload { items: 300, databases: 10, ..CORPUS };
    assert!(
        fit(files.write("other", Workload { encoder: "other@1", ..small }, true).0)
            .contains("encode both alike")
    );
    assert!(fit(files.write("bare", small, false).0).contains("has no label"));
    assert!(
        fit(files.write("right", Workload { ability: 90.0, ..small }, true).0).contains("nothing to learn")
    );
    assert!(
        fit(files.write("wrong", Workload { ability: -90.0, ..small }, true).0).contains("nothing to learn")
    );
    assert!(message(fit_files(&source, &[], &options(), &|_| {})).contains("no corpus"));
    let two = || files.write("two", small, true).0;
    assert!(message(fit_files(&source, &[two(), two()], &options(), &|_| {})).contains("regressor `mlp`"));

    let evaluator = fit_files(&source, &[two()], &CorpusOptions { sets: 60, ..options() }, &|_| {}).unwrap();
    let other = files.write("target", Workload { encoder: "other@1", ..small }, false).0;
    assert!(message(evaluate_target(&evaluator, &other, 0.9)).contains("other@1"));
    let adapted = adapt_to_file(&evaluator, &two(), 50, &AdaptOptions::default(), &|_| {});
    assert!(message(adapted).contains("regressor `mlp`"));
}

#[test]
fn progress_ends_with_all_sets() {
    let files = Files::new();
    let (corpus, _) = files.write("corpus", Workload { items: 600, databases: 12, ..CORPUS }, true);
    let stages = std::cell::RefCell::new(Vec::new());
    let tell = |stage| stages.borrow_mut().push(stage);
    fit_files(&files.source(), &[corpus], &CorpusOptions { sets: 100, ..options() }, &tell).unwrap();
    let stages = stages.into_inner();
    assert_eq!(stages.last(), Some(&CorpusStage::Fitting));
    assert!(stages.contains(&CorpusStage::Sets(100, 100)), "{stages:?}");
}
