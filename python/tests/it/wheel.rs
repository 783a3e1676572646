//! The Python package: its wheel is built in the profile of the tests, installed into a virtual environment in the target
//! folder, and the package's own tests run there (`python/tests`, the notebook, the types).
//!
//! It needs Python with `venv`, and pip with its registry. Without them it says that it skipped; with `CI=true` it fails.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Python that the package is for.
const SUITABLE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a command ends well; what it says is to be read.
fn runs(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

fn must_run(what: &str, command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{what}: {command:?}: {error}"));
    assert!(status.success(), "{what}: {command:?} ended with {status}");
}

/// Says why nothing was tested, past the harness, which keeps what a test that passes has said.
fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "the Python package must be tested in CI: {why}");
    let sentence = format!("skipped: the tests of the Python package: {why}\n");
    std::io::stderr().write_all(sentence.as_bytes()).unwrap();
}

/// What building and testing the package needs, as its `pyproject.toml` says.
fn requirements() -> Vec<String> {
    let settings = std::fs::read_to_string(project().join("pyproject.toml")).unwrap();
    let read: toml::Table = toml::from_str(&settings).unwrap();
    let build = read["build-system"]["requires"].as_array().unwrap();
    let test = read["project"]["optional-dependencies"]["test"].as_array().unwrap();
    build.iter().chain(test).map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// A virtual environment with all of them, kept from run to run; or why there is none.
fn environment() -> Result<PathBuf, String> {
    if !runs(Command::new("python3").args(["-c", SUITABLE])) {
        return Err("there is no python3 of 3.10 or later with venv and ensurepip".to_owned());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let bin = folder.join("bin");
    if !runs(Command::new(bin.join("python")).args(["-m", "pip", "--version"])) {
        must_run("venv", Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    }
    let mut pip = Command::new(bin.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(requirements());
    if runs(&mut pip) {
        Ok(bin)
    } else {
        Err("pip cannot install what they need; its message stands above".to_owned())
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_wheel_installs_and_passes_its_tests() {
    let bin = match environment() {
        Ok(bin) => bin,
        Err(why) => return skipped(&why),
    };
    let project = project();
    let mut install = Command::new(bin.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall"]);
    install
        .args(["--no-deps", "--no-build-isolation"])
        .arg(&project)
        .env("MATURIN_PEP517_ARGS", "--profile dev --features full,unify");
    // Where maturin lies.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
    install.env("PATH", std::env::join_paths(places).unwrap());
    must_run("the wheel", &mut install);
    // Not in the project's folder, where `sqlgauge` would be the sources without the module.
    let elsewhere = tempfile::tempdir().unwrap();
    let run = |what: &str, program: &str, arguments: &[&str], path: Option<&Path>| {
        let mut command = Command::new(bin.join(program));
        must_run(what, command.args(arguments).args(path).current_dir(elsewhere.path()));
    };
    run("tests", "pytest", &["-q", "-p", "no:cacheprovider"], Some(&project.join("tests")));
    run("notebook", "pytest", &["-q", "-p", "no:cacheprovider", "--nbmake"], Some(&project.join("examples")));
    let settings = project.join("pyproject.toml").display().to_string();
    run("types", "mypy", &["--strict", "--config-file", &settings, "--package", "sqlgauge"], None);
    run("types of the module", "stubtest", &["sqlgauge._native"], None);
}
