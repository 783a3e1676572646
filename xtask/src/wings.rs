//! The wings of `crates/`, and their order: each uses only those before it.
//!
//! # Contract
//! A crate's wing is the folder of `crates/` that it lies in. A crate may use its wing and those below. Tests may use all.

/// From the ground up. Those of one line stand side by side: neither uses the other.
#[cfg(test)]
const WINGS: [&[&str]; 11] = [
    &["crates/base"],
    &["crates/sql"],
    &["crates/exec"],
    &["crates/equal"],
    &["crates/score"],
    &["crates/data"],
    &["crates/models"],
    &["crates/core"],
    &["crates/view"],
    &["crates/cli"],
    &["python"],
];

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;
    use std::process::Command;

    use serde_json::Value;

    use super::WINGS;
    use crate::root;

    /// The floor of a folder; `None` where no wing has it.
    fn floor(folder: &Path) -> Option<usize> {
        let place = folder.strip_prefix(root()).ok()?;
        WINGS.iter().position(|wings| wings.iter().any(|wing| place.starts_with(wing)))
    }

    /// Arrows that point back, and crates without a wing, one line each.
    fn faults(metadata: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        for package in metadata["packages"].as_array().unwrap() {
            let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
            let name = package["name"].as_str().unwrap();
            let tools = ["testing", "xtask"].map(|tool| root().join(tool));
            if tools.iter().any(|tool| folder.starts_with(tool)) {
                continue;
            }
            let Some(above) = floor(folder) else {
                faults.push(format!("{name} has no wing"));
                continue;
            };
            for used in package["dependencies"].as_array().unwrap() {
                // The one crate of `testing` that has no code: it sets features.
                let is_ours = used["path"].is_string() && used["name"] != "sqlgauge-unify";
                if is_ours && used["kind"] != "dev" {
                    let below = floor(Path::new(used["path"].as_str().unwrap()));
                    if below.is_none_or(|below| below > above) {
                        faults.push(format!("{name} uses {}", used["name"].as_str().unwrap()));
                    }
                }
            }
        }
        faults
    }

    pub(crate) fn metadata() -> Value {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn arrows_point_down() {
        assert_eq!(faults(&metadata()), Vec::<String>::new());
    }

    /// An arrow from the ground up is found, and so is a crate beside the wings.
    #[test]
    fn planted_faults_are_found() {
        let mut metadata = metadata();
        let packages = metadata["packages"].as_array_mut().unwrap();
        let base = packages.iter_mut().find(|package| package["name"] == "sqlgauge-base").unwrap();
        let run = serde_json::json!({"name": "sqlgauge-run", "kind": null, "path": root().join("crates/score/run")});
        base["dependencies"].as_array_mut().unwrap().push(run);
        let names = packages.iter_mut().find(|package| package["name"] == "sqlgauge-names").unwrap();
        names["manifest_path"] = root().join("crates/names/Cargo.toml").to_str().unwrap().into();
        let mut faults = faults(&metadata);
        faults.sort();
        assert_eq!(faults, ["sqlgauge-base uses sqlgauge-run", "sqlgauge-names has no wing"]);
    }
}
