//! The evaluator: learns, keeps, estimates, adapts, refuses.

use std::path::Path;

use sqlgauge_fusion::regressors::{self, Mlp, Training};
use sqlgauge_fusion::{
    AdaptOptions, Basis, Blob, BlobValues, EncoderCard, Evaluator, FitOptions, MetaSet, Provenance,
    ReptileOptions, Rows, adapt, find, fine_tune, fit, meta_train, sample_subsets,
};

use crate::common::{Random, message};

/// Descriptors in the made-up sets.
const WIDTH: usize = 8;

/// Sets whose accuracy is a known curved function of two hidden shifts, moved by `system`; descriptors are heavy-tailed.
fn made_up(sets: usize, groups: u32, system: f64, seed: u64) -> MetaSet {
    let mut random = Random(seed.wrapping_mul(77).wrapping_add(5));
    let (mut values, mut accuracy, mut group) = (Vec::new(), Vec::new(), Vec::new());
    for set in 0..u32::try_from(sets).unwrap() {
        let (a, b) = (random.normal(), random.normal());
        for column in 0..WIDTH {
            let turn = column as f64 * 0.8;
            values.push((turn.cos() * a + turn.sin() * b + 0.05 * random.normal()).exp());
        }
        let curved = system + 1.5 * (1.7 * a).sin() - 0.7 * b * b + 0.02 * random.normal();
        accuracy.push(1.0 / (1.0 + (-curved).exp()));
        group.push(set % groups);
    }
    let names = (0..WIDTH).map(|column| format!("d{column}")).collect();
    MetaSet::new(names, Rows::new(WIDTH, values).unwrap(), accuracy, group).unwrap()
}

fn mae(estimates: &[f64], truths: &[f64]) -> f64 {
    estimates.iter().zip(truths).map(|(a, b)| (a - b).abs()).sum::<f64>() / truths.len() as f64
}

fn error_of(evaluator: &Evaluator, sets: &MetaSet) -> f64 {
    mae(&evaluator.predict(sets.rows()).unwrap(), sets.accuracy())
}

/// Ridge regression on the logarithm of the descriptors, which is kind to a line: normal equations by elimination.
fn error_of_ridge(train: &MetaSet, test: &MetaSet) -> f64 {
    let features = |row: &[f64]| row.iter().map(|x| x.ln()).chain([1.0]).collect::<Vec<f64>>();
    let width = WIDTH + 1;
    let mut system = vec![vec![0.0; width + 1]; width];
    for (row, &accuracy) in train.rows().iter().zip(train.accuracy()) {
        let row = features(row);
        for i in 0..width {
            for j in 0..width {
                system[i][j] += row[i] * row[j];
            }
            system[i][width] += row[i] * accuracy;
        }
    }
    for (pivot, line) in system.iter_mut().enumerate() {
        line[pivot] += 1e-3;
    }
    for pivot in 0..width {
        let divisor = system[pivot][pivot];
        system[pivot].iter_mut().for_each(|value| *value /= divisor);
        let line = system[pivot].clone();
        for (row, values) in system.iter_mut().enumerate() {
            let factor = values[pivot];
            if row != pivot {
                values.iter_mut().zip(&line).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
    }
    let estimate =
        |row: &[f64]| features(row).iter().zip(&system).map(|(x, line)| x * line[width]).sum::<f64>();
    mae(&test.rows().iter().map(estimate).collect::<Vec<_>>(), test.accuracy())
}

fn error_of_mean(train: &MetaSet, test: &MetaSet) -> f64 {
    let mean = train.accuracy().iter().sum::<f64>() / train.len() as f64;
    mae(&vec![mean; test.len()], test.accuracy())
}

/// The paper's network, a little faster for a small number of sets.
const QUICK: Mlp = Mlp { training: Training { learning_rate: 1e-3, ..Mlp::PAPER.training } };

fn quick(seed: u64) -> FitOptions<'static> {
    FitOptions { regressor: &QUICK, seed, ..FitOptions::default() }
}

#[test]
fn every_regressor_beats_the_mean_and_a_line_and_survives_saving() {
    let (train, test) = (made_up(3000, 30, 0.3, 1), made_up(500, 10, 0.3, 2));
    let (of_mean, of_line) = (error_of_mean(&train, &test), error_of_ridge(&train, &test));
    assert!(of_line < of_mean && of_mean > 0.15, "mean {of_mean}, line {of_line}");
    for regressor in regressors::all() {
        let regressor = if regressor.id() == "mlp" { &QUICK } else { *regressor };
        let options = FitOptions { regressor, seed: 7, ..FitOptions::default() };
        let evaluator = fit(&train, &options).unwrap();
        let error = error_of(&evaluator, &test);
        assert!(error < 0.5 * of_line, "{}: {error}, line {of_line}", regressor.id());
        assert!(evaluator.card().validation_mae < evaluator.card().validation_mae_of_mean);

        let again = fit(&train, &options).unwrap();
        let folder = tempfile::tempdir().unwrap();
        evaluator.save(folder.path()).unwrap();
        let loaded = Evaluator::load(folder.path()).unwrap();
        let bits = |evaluator: &Evaluator| -> Vec<u64> {
            evaluator.predict(test.rows()).unwrap().into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(bits(&evaluator), bits(&again), "{} is not reproducible", regressor.id());
        assert_eq!(bits(&evaluator), bits(&loaded), "{} is not what was saved", regressor.id());
        let row = test.rows().row(0);
        assert_eq!(evaluator.estimate(row, None, 0.9).unwrap(), loaded.estimate(row, None, 0.9).unwrap());
    }
}

#[test]
fn the_registry_is_sound() {
    let ids: Vec<&str> = regressors::all().iter().map(|regressor| regressor.id()).collect();
    assert_eq!(ids, ["mlp", "knn", "svr", "tree", "forest", "boosting"]);
    for regressor in regressors::all() {
        assert_eq!(find(regressor.id()).unwrap().id(), regressor.id());
    }
    let Err(error) = find("oracle") else { panic!("there is no oracle") };
    assert_eq!(
        error.to_string(),
        "unknown regressor `oracle`; choose from mlp, knn, svr, tree, forest, boosting"
    );
}

#[test]
fn a_seed_decides_everything() {
    let sets = made_up(300, 10, 0.0, 3);
    let bytes = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        fit(&sets, &quick(seed)).unwrap().save(folder.path()).unwrap();
        ["evaluator.safetensors", "card.json"].map(|name| std::fs::read(folder.path().join(name)).unwrap())
    };
    assert_eq!(bytes(4), bytes(4));
    assert_ne!(bytes(4)[0], bytes(5)[0]);
}

#[test]
fn the_card_tells_what_is_needed_to_judge() {
    let sets = made_up(400, 20, 0.2, 4).with_sizes((0..400).map(|set| 100 + set).collect()).unwrap();
    let encoder = EncoderCard {
        id: "features@1".to_owned(),
        fingerprint: "f00".to_owned(),
        form: "question+schema".to_owned(),
        dimensions: 64,
    };
    let provenance = Provenance { encoder: Some(encoder.clone()), ..Provenance::default() };
    let reference = vec![
        Blob::new("mean", vec![2], BlobValues::F64(vec![0.25, -1.5])),
        Blob::new("options.json", vec![2], BlobValues::Bytes(b"{}".to_vec())),
        Blob::new("sorted", vec![1, 3], BlobValues::F32(vec![1.0, 2.0, 3.0])),
    ];
    let options = FitOptions { provenance, reference: reference.clone(), ..quick(1) };
    let folder = tempfile::tempdir().unwrap();
    fit(&sets, &options).unwrap().save(folder.path()).unwrap();
    let loaded = Evaluator::load(folder.path()).unwrap();
    assert_eq!(loaded.reference(), reference);
    let card = loaded.card();
    assert_eq!((card.format, card.method.as_str(), card.regressor.as_str()), (1, "fusion", "mlp"));
    assert_eq!(card.provenance.encoder, Some(encoder));
    assert_eq!((card.sets, card.set_sizes), (400, Some([100, 300, 499])));
    assert_eq!(card.calibration.groups, 4);
    assert_eq!(card.calibration.sets, 80);
    assert_eq!(card.seen.len(), WIDTH);
    assert!(!card.curve.is_empty() && card.curve.len() <= 20);
    let best = card.curve.iter().map(|epoch| epoch.validation_mae).fold(1.0, f64::min);
    assert!((best - card.validation_mae).abs() < 1e-6);
}

/// Sets of held-out groups lie in the interval about as often as its level says.
#[test]
fn intervals_cover() {
    let (train, test) = (made_up(4000, 60, 0.3, 5), made_up(1000, 10, 0.3, 6));
    let evaluator = fit(&train, &quick(2)).unwrap();
    for level in [0.8, 0.9] {
        let covered = (0..test.len()).filter(|&set| {
            let estimate = evaluator.estimate(test.rows().row(set), None, level).unwrap();
            assert!(matches!(estimate.basis, Basis::Conformal(12)));
            assert!(0.0 <= estimate.low && estimate.low <= estimate.accuracy);
            assert!(estimate.accuracy <= estimate.high && estimate.high <= 1.0);
            (estimate.low..=estimate.high).contains(&test.accuracy()[set])
        });
        let share = covered.count() as f64 / test.len() as f64;
        assert!((level - 0.03..level + 0.09).contains(&share), "{share} at {level}");
    }
}

#[test]
fn outside_is_said_and_wider() {
    let sets = made_up(1000, 20, 0.3, 7);
    let evaluator = fit(&sets, &quick(2)).unwrap();
    let row = sets.rows().row(3).to_vec();
    let inside = evaluator.estimate(&row, None, 0.9).unwrap();
    assert!(!inside.outside && inside.outside_in.is_empty());
    let mut far = row.clone();
    far[2] = 1e4;
    let outside = evaluator.estimate(&far, None, 0.9).unwrap();
    assert!(outside.outside && outside.excess > 0.5);
    assert_eq!(outside.outside_in, ["d2"]);
    far[2] = 1e8;
    let farther = evaluator.estimate(&far, None, 0.9).unwrap();
    assert!(farther.excess > outside.excess);
    assert!(farther.high - farther.low > inside.high - inside.low);
    assert!((0.0..=1.0).contains(&farther.accuracy));
}

#[test]
fn one_group_gives_a_wide_interval_and_says_so() {
    let sets = made_up(300, 1, 0.3, 8);
    let evaluator = fit(&sets, &quick(2)).unwrap();
    let estimate = evaluator.estimate(sets.rows().row(0), None, 0.9).unwrap();
    assert_eq!(estimate.basis, Basis::FewGroups(1));
    assert!(evaluator.card().notes[0].contains("one group"));
    let many = fit(&made_up(300, 60, 0.3, 8), &quick(2)).unwrap();
    let other = many.estimate(sets.rows().row(0), None, 0.9).unwrap();
    assert!(matches!(other.basis, Basis::Conformal(_)));
    assert!(estimate.high - estimate.low > other.high - other.low);
}

#[test]
fn bad_meta_sets_are_refused() {
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let sets = |values: Vec<f64>, accuracy: Vec<f64>| {
        let group = vec![0; accuracy.len()];
        MetaSet::new(names(), Rows::new(2, values)?, accuracy, group)
    };
    for (result, expected) in [
        (sets(vec![], vec![]), "is empty"),
        (sets(vec![1.0, f64::NAN], vec![0.5]), "NaN as `b` of set 0"),
        (sets(vec![1.0, f64::INFINITY], vec![0.5]), "inf as `b` of set 0"),
        (sets(vec![1.0, 2.0], vec![1.5]), "an accuracy of 1.5 for set 0"),
        (sets(vec![1.0, 2.0], vec![f64::NAN]), "an accuracy of NaN for set 0"),
        (sets(vec![1.0, 2.0, 3.0], vec![0.5]), "make no rows of 2"),
        (sets(vec![1.0, 2.0], vec![0.5, 0.5]), "2 accuracies"),
    ] {
        let message = message(result);
        assert!(message.contains(expected), "{message}");
    }
    let one = sets(vec![1.0, 2.0], vec![0.5]).unwrap();
    assert!(message(fit(&one, &quick(0))).contains("has 1 sets, too few"));
    for constant in [0.0, 0.4, 1.0] {
        let same = sets(vec![1.0; 80], vec![constant; 40]).unwrap();
        assert!(message(fit(&same, &quick(0))).contains("nothing to learn"), "{constant}");
    }
}

/// Identical descriptors for all sets are useless but no failure: the estimate is about the mean, the interval honest.
#[test]
fn descriptors_that_never_vary_give_the_mean() {
    let accuracy: Vec<f64> = (0..100_u32).map(|set| f64::from(set % 10) / 10.0).collect();
    let rows = Rows::new(1, vec![3.0; 100]).unwrap();
    let sets =
        MetaSet::new(vec!["a".to_owned()], rows, accuracy, (0..100).map(|set| set / 5).collect()).unwrap();
    for regressor in regressors::all() {
        let options = FitOptions { regressor: *regressor, ..FitOptions::default() };
        match fit(&sets, &options) {
            Ok(evaluator) => {
                let estimate = evaluator.estimate(&[3.0], None, 0.9).unwrap();
                assert!((estimate.accuracy - 0.45).abs() < 0.25, "{}: {}", regressor.id(), estimate.accuracy);
                assert!(estimate.high - estimate.low > 0.3, "{}", regressor.id());
            }
            Err(error) => assert!(error.to_string().contains("no descriptor differs"), "{error}"),
        }
    }
}

#[test]
fn bad_targets_are_refused() {
    let evaluator = fit(&made_up(200, 10, 0.3, 9), &quick(0)).unwrap();
    let mut row = vec![1.0; WIDTH];
    row[4] = f64::NAN;
    assert!(message(evaluator.estimate(&row, None, 0.9)).contains("NaN as `d4`"));
    assert!(
        message(evaluator.estimate(&[1.0], None, 0.9))
            .contains("1 numbers, and the evaluator was fitted on 8")
    );
    let row = vec![1.0; WIDTH];
    assert!(message(evaluator.estimate(&row, Some(0), 0.9)).contains("without items"));
    for level in [0.0, 1.0, f64::NAN] {
        assert!(message(evaluator.estimate(&row, None, level)).contains("not between 0 and 1"));
    }
}

#[test]
fn damaged_folders_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let (tensors, card) = (folder.path().join("evaluator.safetensors"), folder.path().join("card.json"));
    let load = |path: &Path| message(Evaluator::load(path));
    assert!(load(folder.path()).contains("there is no card.json"));
    fit(&made_up(200, 10, 0.3, 9), &quick(0)).unwrap().save(folder.path()).unwrap();
    let (whole, text) = (std::fs::read(&tensors).unwrap(), std::fs::read_to_string(&card).unwrap());

    std::fs::write(&tensors, &whole[..whole.len() / 2]).unwrap();
    assert!(load(folder.path()).contains("damaged"));
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 0x40;
    std::fs::write(&tensors, &flipped).unwrap();
    assert!(load(folder.path()).contains("damaged"));
    std::fs::remove_file(&tensors).unwrap();
    assert!(load(folder.path()).contains("evaluator.safetensors cannot be read"));
    std::fs::write(&tensors, &whole).unwrap();

    std::fs::write(&card, &text[..text.len() / 2]).unwrap();
    assert!(load(folder.path()).contains("card.json is damaged"));
    std::fs::write(&card, "{}").unwrap();
    assert!(load(folder.path()).contains("names no format"));
    let newer = text.replacen("\"format\": 1", "\"format\": 2", 1).replacen("0.1.0", "9.0.0", 1);
    std::fs::write(&card, newer).unwrap();
    let newer = load(folder.path());
    assert!(
        newer.contains("format 2, written by sqlgauge 9.0.0") && newer.contains("update sqlgauge"),
        "{newer}"
    );
    std::fs::write(&card, text.replacen("\"d7\"", "\"d7\", \"d8\"", 1)).unwrap();
    assert!(load(folder.path()).contains("names 9 descriptors"));
    std::fs::write(&card, text.replacen("\"regressor\": \"mlp\"", "\"regressor\": \"svr\"", 1)).unwrap();
    assert!(load(folder.path()).contains("is missing"));
    std::fs::write(&card, &text).unwrap();
    Evaluator::load(folder.path()).unwrap();
}

/// A target that answers to the same shifts on another level: a few labelled sets move the estimate there.
#[test]
fn fine_tuning_brings_it_nearer_to_the_target() {
    let evaluator = fit(&made_up(2000, 20, 0.5, 10), &quick(0)).unwrap();
    let (labelled, rest) = (made_up(100, 1, -0.5, 11), made_up(500, 1, -0.5, 12));
    let tuned = fine_tune(&evaluator, &labelled, 0).unwrap();
    let (before, after) = (error_of(&evaluator, &rest), error_of(&tuned, &rest));
    assert!(after < 0.6 * before, "{before} to {after}");
    assert_eq!(tuned.card().method, "fusion-tl");
    assert_eq!(evaluator.card().method, "fusion");
    let knn =
        fit(&labelled, &FitOptions { regressor: find("knn").unwrap(), ..FitOptions::default() }).unwrap();
    assert!(message(fine_tune(&knn, &labelled, 0)).contains("regressor `mlp`"));
}

#[test]
fn sets_are_drawn_from_the_labelled_items() {
    let chosen: Vec<usize> = (0..20).map(|item| 10 * item + 3).collect();
    let sets = sample_subsets(&chosen, 5, 30, 3);
    assert_eq!((sets.len(), sets[0].len()), (5, 30));
    assert!(sets.iter().flatten().all(|item| chosen.contains(item)));
    assert!(sample_subsets(&[], 5, 30, 3).is_empty());
}

/// Systems on different levels; an unseen one on a level of its own. Ten steps from the learnt initialisation must do
/// better than ten steps from an evaluator fitted on all systems as one, and than no steps.
#[test]
fn reptile_adapts_to_an_unseen_system_in_a_few_steps() {
    let systems: Vec<MetaSet> = (0..8_u32)
        .map(|system| made_up(300, 10, f64::from(system) / 2.0 - 1.75, 20 + u64::from(system)))
        .collect();
    let (new, rest) = (made_up(300, 10, -1.5, 40), made_up(300, 10, -1.5, 41));
    let inner = AdaptOptions { steps: 10, ..AdaptOptions::default() };
    let reptile = ReptileOptions { iterations: 300, inner };
    let evaluator = meta_train(&systems, &reptile, &quick(3)).unwrap();
    let adapted = adapt(&evaluator, &new, &inner).unwrap();
    let (before, after) = (error_of(&evaluator, &rest), error_of(&adapted, &rest));
    assert!(after < 0.5 * before && after < 0.05, "{before} to {after}");
    assert_eq!(evaluator.card().method, "fusion-ml");
    assert_eq!(evaluator.card().calibration.groups, 1);
    let estimate = adapted.estimate(rest.rows().row(0), None, 0.9).unwrap();
    assert_eq!(estimate.basis, Basis::FewGroups(1));

    let folder = tempfile::tempdir().unwrap();
    adapted.save(folder.path()).unwrap();
    let loaded = Evaluator::load(folder.path()).unwrap();
    assert_eq!(loaded.estimate(rest.rows().row(0), None, 0.9).unwrap(), estimate);
    let short = ReptileOptions { iterations: 10, ..reptile };
    let predicted = || meta_train(&systems, &short, &quick(3)).unwrap().predict(rest.rows()).unwrap();
    assert_eq!(predicted(), predicted());
}

#[test]
fn meta_training_refuses_what_it_cannot_use() {
    let system = made_up(100, 5, 0.0, 1);
    let train = |systems: &[MetaSet], options: &FitOptions<'_>| {
        message(meta_train(systems, &ReptileOptions::default(), options))
    };
    assert!(train(std::slice::from_ref(&system), &quick(0)).contains("at least two"));
    let trees = FitOptions { regressor: find("forest").unwrap(), ..FitOptions::default() };
    assert!(train(&[system.clone(), system.clone()], &trees).contains("regressor `mlp`"));
    let rows = Rows::new(1, vec![1.0; 30]).unwrap();
    let other = MetaSet::new(vec!["x".to_owned()], rows, vec![0.5; 30], vec![0; 30]).unwrap();
    assert!(train(&[system, other], &quick(0)).contains("other descriptors"));
}
