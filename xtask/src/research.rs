//! `cargo xtask research PROGRAM ARGS…`: runs a program of `research/`, a workspace of its own, built for release.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::root;

/// Runs the program where the caller stands.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--locked", "--bin", program, "--manifest-path"]);
    command.arg(root().join("research/Cargo.toml"));
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        command.env("CARGO_TARGET_DIR", root().join("target"));
    }
    let status = command.arg("--").args(arguments).status().context("cargo cannot be started")?;
    ensure!(status.success(), "`{program}` failed; its programs stand in research/Cargo.toml");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> String {
        std::fs::read_to_string(root().join(path)).unwrap()
    }

    /// What stands from a line on, without empty lines and comments.
    fn settings(manifest: &str, start: &str) -> Vec<String> {
        let text = &manifest[manifest.find(start).unwrap()..];
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| line.replace("[workspace.lints", "[lints")).collect()
    }

    /// A crate is built and linted in both workspaces alike. A profile names only packages that the workspace has.
    #[test]
    fn lints_and_profiles_are_those_of_the_workspace() {
        let lock = read("research/Cargo.lock");
        let has = |line: &String| {
            let package = line.split_once(" = { opt-level").map(|(name, _)| name);
            package.is_none_or(|name| lock.contains(&format!("\nname = \"{name}\"\n")))
        };
        let mut expected = settings(&read("Cargo.toml"), "[workspace.lints.rust]");
        expected.retain(has);
        assert_eq!(settings(&read("research/Cargo.toml"), "[lints.rust]"), expected);
    }

    /// The versions of what both use are the same, so that it is built once.
    #[test]
    fn locked_versions_are_those_of_the_workspace() {
        let packages = |lock: &str| -> Vec<String> {
            let blocks = lock.split("[[package]]").skip(1);
            let head = |block: &str| block.trim().lines().take(2).collect::<Vec<_>>().join(" ");
            blocks.filter(|block| block.contains("\nsource = ")).map(head).collect()
        };
        let of_workspace = packages(&read("Cargo.lock"));
        let others: Vec<String> = packages(&read("research/Cargo.lock"))
            .into_iter()
            .filter(|one| !of_workspace.contains(one))
            .collect();
        assert_eq!(others, Vec::<String>::new());
    }
}
