//! A library of others has the same features in all builds, so that it is built once.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The libraries of others in a build, each with the sets of features that it has there.
fn libraries(build: &str) -> BTreeMap<String, BTreeSet<String>> {
    let tree = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p}|{f}"])
        .args(build.split_whitespace())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut libraries = BTreeMap::<String, BTreeSet<String>>::new();
    for line in String::from_utf8(tree.stdout).unwrap().lines() {
        let Some((name, features)) = line.trim_end_matches(" (*)").split_once('|') else { continue };
        // Ours have a path.
        if !name.contains('/') {
            libraries.entry(name.to_owned()).or_default().insert(features.to_owned());
        }
    }
    libraries
}

/// Crates of ours that no feature changes, and that stand on most others.
const UNCHANGED: &str = "-p sqlgauge-audit -p sqlgauge-coverage -p sqlgauge-evolve -p sqlgauge-report -p sqlgauge-run -p sqlgauge-shift";

#[test]
fn builds_share_their_libraries() {
    let full = libraries("--workspace --features full");
    let plain = libraries("--workspace");
    for name in libraries(&format!("{UNCHANGED} --edges normal,build")).keys() {
        assert_eq!(plain[name], full[name], "the features of {name} without features and with every feature");
    }
    for build in [
        "-p sqlgauge-python --features full,unify --edges normal,build",
        "--manifest-path research/Cargo.toml --edges normal,build",
    ] {
        let others = libraries(build);
        assert!(others.len() > 100);
        for (name, features) in &others {
            let is_shared = full.get(name).is_some_and(|of_full| features.is_subset(of_full));
            assert!(is_shared, "{name} has the features {features:?} with {build} alone");
        }
    }
}
