//! A library of others has the same features in all builds of `.ci/run`, so that it is built once.

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
    let script = include_str!("../../../../.ci/run");
    let packages = script.lines().find_map(|line| line.strip_prefix("for crate in ")?.split_once("; do"));
    let packages = packages.unwrap().0.split_whitespace().map(|name| format!(" -p sqlgauge-{name}"));
    let every_feature =
        format!("-p sqlgauge -p sqlgauge-core{} --features full", packages.collect::<String>());
    let wheel = "-p sqlgauge-python --features unify --edges normal,build";
    let below = libraries(&format!("{UNCHANGED} --edges normal,build"));
    assert!(below.len() > 50);
    let plain = libraries("--workspace");
    let of_wheel = libraries(wheel);
    for (build, other, names) in
        [(every_feature.as_str(), libraries(&every_feature), &below), (wheel, of_wheel.clone(), &of_wheel)]
    {
        for name in names.keys() {
            assert_eq!(other[name], plain[name], "the features of {name}, with {build} and in the workspace");
        }
    }
    let full = libraries(&every_feature);
    let research = libraries("--manifest-path research/Cargo.toml --edges normal,build");
    assert!(research.len() > 100);
    for (name, features) in &research {
        let is_shared = full.get(name).is_some_and(|of_full| features.is_subset(of_full));
        assert!(
            is_shared,
            "{name} has the features {features:?} in research alone, not with {every_feature}"
        );
    }
}
