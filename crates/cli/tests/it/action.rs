//! The steps of the GitHub Action (`action.yml`), run as a runner runs them, with stand-ins for the forge's variables, its
//! releases and its own program `gh`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A repository with the sample benchmark, on a runner.
struct Runner {
    folder: tempfile::TempDir,
}

impl Runner {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_sqlgauge"))
            .args(["demo", "--out", "demo"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(status.status.success());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program of that name on PATH, before all others.
    fn stand_in(&self, name: &str, script: &str) {
        let bin = self.path("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn step(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_sqlgauge")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = [self.path("bin"), program.to_owned()].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new("bash");
        command.arg(root().join("packaging/action").join(script)).current_dir(self.folder.path());
        command.env("PATH", std::env::join_paths(places).unwrap());
        for (variable, file) in [
            ("GITHUB_OUTPUT", "outputs"),
            ("GITHUB_STEP_SUMMARY", "step-summary.md"),
            ("GITHUB_PATH", "added-to-path"),
            ("RUNNER_TEMP", "temp"),
        ] {
            command.env(variable, self.path(file));
        }
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn score(&self, system: &str, out: &str, more: &[(&str, &str)]) -> Output {
        let pred = format!("mine=demo/benchmark/predictions/{system}.jsonl\n\n");
        let mut variables = vec![
            ("GOLD", "demo/benchmark/questions.json"),
            ("DB", "demo/benchmark/database"),
            ("PRED", pred.as_str()),
            ("METRICS", "ex"),
            ("OUT", out),
        ];
        variables.extend(more);
        self.step("score.sh", &variables)
    }
}

fn all_output(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every variable that a script reads is one that `action.yml` sets, and the other way round.
#[test]
fn the_action_sets_what_its_scripts_read() {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let mut steps: BTreeMap<String, String> = BTreeMap::new();
    for step in action.split("    - name: ").skip(1) {
        let script = step.split("packaging/action/").nth(1).unwrap().split('"').next().unwrap();
        steps.insert(script.to_owned(), step.to_owned());
    }
    assert_eq!(steps.len(), 3);
    for (script, step) in steps {
        let text = fs::read_to_string(root().join("packaging/action").join(&script)).unwrap();
        let set = step
            .lines()
            .filter_map(|line| line.strip_prefix("        ")?.split_once(": ${{"))
            .map(|(name, _)| name);
        for name in set.filter(|name| *name != "GH_TOKEN") {
            let reads =
                [format!("${{{name}:-"), format!("\"${name}\""), format!("${name}/"), format!("/${name}")];
            assert!(reads.iter().any(|read| text.contains(read)), "{script} does not read {name}");
        }
    }
}

#[test]
fn a_run_is_summed_up_and_compared_and_a_real_loss_fails_it() {
    let runner = Runner::new();
    let first = runner.score("careful", "base", &[("BASELINE", "nowhere")]);
    assert_eq!(first.status.code(), Some(0), "{}", all_output(&first));
    assert!(runner.text("step-summary.md").starts_with("There is no run at the baseline"));
    for file in ["report.html", "report.xml", "summary.md", "items.jsonl"] {
        assert!(runner.path("base").join(file).is_file(), "{file}");
    }
    let same = runner.score("careful", "same", &[("BASELINE", "base"), ("MAX_DROP", "0")]);
    assert_eq!(same.status.code(), Some(0), "{}", all_output(&same));
    let worse =
        runner.score("baseline", "worse", &[("BASELINE", "base"), ("MAX_DROP", "5"), ("METRIC", "ex")]);
    assert_eq!(worse.status.code(), Some(1), "{}", all_output(&worse));
    assert!(runner.text("worse/summary.md").starts_with("## Against the baseline\n```text\n"));
    assert!(runner.text("outputs").ends_with("run=worse\n"));
}

#[test]
fn bars_findings_and_bad_input_have_their_exit_codes() {
    let runner = Runner::new();
    let below = runner.score("baseline", "below", &[("FAIL_UNDER", "ex=0.8"), ("AUDIT", "true")]);
    assert_eq!(below.status.code(), Some(1), "{}", all_output(&below));
    assert!(all_output(&below).contains("::error::a bar was not reached"));
    let sarif: serde_json::Value = serde_json::from_str(&runner.text("below/sqlgauge.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(runner.text("outputs").contains("sarif=below/sqlgauge.sarif\n"));
    let bad = runner.score("nobody", "bad", &[]);
    assert_eq!(bad.status.code(), Some(2), "{}", all_output(&bad));
    assert!(all_output(&bad).contains("::error::the predictions were not scored"));
}

#[test]
fn one_comment_is_written_and_then_updated() {
    let runner = Runner::new();
    fs::create_dir(runner.path("run")).unwrap();
    fs::write(runner.path("run/summary.md"), "| ex |\n").unwrap();
    let gh = "#!/bin/sh\necho \"$@\" >> calls\ncase \"$*\" in *--paginate*) cat known ;; esac\n\
        for word; do case \"$word\" in body=@*) cat \"${word#body=@}\" > body ;; esac; done\n";
    runner.stand_in("gh", gh);
    let variables = [("OUT", "run"), ("PULL_REQUEST", "7"), ("GITHUB_REPOSITORY", "a/b")];
    fs::write(runner.path("known"), "").unwrap();
    let first = runner.step("comment.sh", &variables);
    assert!(first.status.success(), "{}", all_output(&first));
    assert!(runner.text("calls").contains("--method POST repos/a/b/issues/7/comments"));
    assert_eq!(runner.text("body"), "<!-- sqlgauge -->\n| ex |\n");
    fs::write(runner.path("known"), "41\n").unwrap();
    assert!(runner.step("comment.sh", &variables).status.success());
    assert!(runner.text("calls").contains("--method PATCH repos/a/b/issues/comments/41"));
}

#[test]
fn a_release_is_taken_only_with_its_digest() {
    let runner = Runner::new();
    let target = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", arch) => format!("{arch}-unknown-linux-musl"),
        (_, arch) => format!("{arch}-apple-darwin"),
    };
    let name = format!("sqlgauge-{target}-v9.9.9");
    let releases = runner.path("releases/v9.9.9");
    fs::create_dir_all(releases.join(&name)).unwrap();
    fs::write(releases.join(&name).join("sqlgauge"), "#!/bin/sh\n").unwrap();
    let archive = releases.join(format!("{name}.tar.gz"));
    let packed = Command::new("tar")
        .args(["-czf"])
        .arg(&archive)
        .arg("-C")
        .arg(&releases)
        .arg(&name)
        .status()
        .unwrap();
    assert!(packed.success());
    let digest = Command::new("sha256sum").arg(&archive).output().unwrap();
    let digest = String::from_utf8(digest.stdout).unwrap();
    let digest = digest.split(' ').next().unwrap();
    let url = format!("file://{}", runner.path("releases").display());
    let install = |sha256: &str| {
        let variables = [("VERSION", "9.9.9"), ("SHA256", sha256), ("SQLGAUGE_RELEASES", url.as_str())];
        runner.step("install.sh", &variables)
    };
    for wrong in ["", &"0".repeat(64)] {
        let refused = install(wrong);
        assert!(!refused.status.success(), "{}", all_output(&refused));
        assert_eq!(runner.text("added-to-path"), "");
    }
    let install_output = install(digest);
    assert!(install_output.status.success(), "{}", all_output(&install_output));
    assert_eq!(runner.text("added-to-path").trim_end(), runner.path("temp/sqlgauge").to_str().unwrap());
    assert!(runner.path("temp/sqlgauge/sqlgauge").is_file());
}

/// What a job with rights may do: hand on the files of other jobs. Commands begin so, actions are named so.
const HANDS_ON: [&str; 9] = [
    "gh release create ",
    "cargo publish --workspace --locked --no-verify",
    "actions/checkout@",
    "actions/download-artifact@",
    "actions/attest-build-provenance@",
    "actions/deploy-pages@",
    "pypa/gh-action-pypi-publish@",
    "rust-lang/crates-io-auth-action@",
    "./.github/workflows/",
];

/// The owner of an action can move its tag, but not its commit. A job that compiles runs the code of every dependency.
#[test]
fn jobs_with_rights_compile_nothing_and_actions_are_pinned() {
    let mut with_rights = Vec::new();
    for path in fs::read_dir(root().join(".github/workflows")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        let (head, jobs) = text.split_once("\njobs:\n").unwrap();
        assert!(!head.contains("write"), "{}: rights for every job", path.display());
        for job in jobs_of(jobs) {
            let has_rights = job.contains("permissions:") && job.contains(": write");
            if has_rights {
                let name = job.trim().split(':').next().unwrap();
                with_rights.push(format!("{} {name}", path.file_stem().unwrap().display()));
            }
            for line in job.lines() {
                let step = line.trim_start().trim_start_matches("- ");
                if let Some(action) = step.strip_prefix("uses: ") {
                    assert!(is_pinned(action), "{}: {action}", path.display());
                }
                let does = step.strip_prefix("uses: ").or_else(|| step.strip_prefix("run: "));
                let hands_on = does.is_none_or(|does| HANDS_ON.iter().any(|start| does.starts_with(start)));
                assert!(!has_rights || hands_on, "{}: {line}", path.display());
            }
        }
    }
    with_rights.sort();
    assert_eq!(with_rights, ["release crates", "release pypi", "release release", "site deploy"]);
}

/// The texts of the jobs, each from its name on.
fn jobs_of(jobs: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for line in jobs.lines() {
        let begins = line.starts_with("  ") && line.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase);
        if begins {
            texts.push(String::new());
        }
        if let Some(text) = texts.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    texts
}

fn is_pinned(action: &str) -> bool {
    let commit = |version: &str| {
        let (commit, release) = version.split_once(" # v").unwrap_or((version, ""));
        commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && !release.is_empty()
    };
    action.starts_with("./") || action.split_once('@').is_some_and(|(_, version)| commit(version))
}
