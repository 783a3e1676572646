//! The number of threads changes no bit: the same fit in processes with one, two and three threads.

use std::process::Command;

use sqlgauge_fusion::regressors::{self, Regressor};
use sqlgauge_fusion::{FitOptions, MetaSet, ReptileOptions, Rows, fit, meta_train};

/// Enough sets and descriptors that matrix products are worth sharing between threads.
fn sets(seed: u32) -> MetaSet {
    let value = |at: u32| {
        (f64::from(at.wrapping_mul(2_654_435_761).wrapping_add(seed * 977) >> 8) / f64::from(1 << 24)).exp()
    };
    let rows = Rows::new(48, (0..600 * 48).map(value).collect()).unwrap();
    let accuracy = rows.iter().map(|row| (row[0] * row[1]).sin().abs()).collect();
    let names = (0..48).map(|column| format!("d{column}")).collect();
    MetaSet::new(names, rows, accuracy, (0..600).map(|set| set % 12).collect()).unwrap()
}

/// Says that the test below started this process.
const PART: &str = "SQLGAUGE_TEST_FIT";

/// Prints the SHA-256 of what is saved; a part of the test below.
#[test]
fn fit_and_print() {
    if std::env::var_os(PART).is_none() {
        return;
    }
    let print = |name: &str, evaluator: sqlgauge_fusion::Evaluator| {
        let folder = tempfile::tempdir().unwrap();
        evaluator.save(folder.path()).unwrap();
        println!("\nsaved {name} {}", sqlgauge_fusion::Evaluator::load(folder.path()).unwrap().card().sha256);
    };
    for regressor in regressors::all() {
        let regressor: &dyn Regressor = *regressor;
        print(regressor.id(), fit(&sets(0), &FitOptions { regressor, ..FitOptions::default() }).unwrap());
    }
    let reptile = ReptileOptions { iterations: 20, ..ReptileOptions::default() };
    print("reptile", meta_train(&[sets(1), sets(2), sets(3)], &reptile, &FitOptions::default()).unwrap());
}

#[test]
fn threads_change_no_bit() {
    let run = |threads: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "evaluator_threads::fit_and_print", "--nocapture"])
            .env(PART, "1")
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<String> =
            text.lines().filter(|line| line.starts_with("saved ")).map(str::to_owned).collect();
        assert_eq!(lines.len(), 7, "{text}");
        lines
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("3"));
}
