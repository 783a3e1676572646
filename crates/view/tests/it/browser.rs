//! The dashboard and its static site in a real browser: `browser.mjs` clicks, this prepares what it clicks through.
//!
//! Needs node, Chromium, and a folder with the packages of `package-lock.json` beside this file, which `SQLGAUGE_BROWSER` names;
//! else it says that it skipped. Screenshots go to `target/tmp/view`, or to the folder that `SQLGAUGE_SCREENSHOTS` names.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};
use sqlgauge_audit::{RuleSelection, formats};
use sqlgauge_core::{AuditJob, Context, LabelPlanJob, Sample, Source, System};
use sqlgauge_view::{ViewOptions, export, find_runs, serve};

/// Texts that would do something if a page took them for more than texts.
const HOSTILE: [&str; 30] = [
    "<script>window.hit=1</script>",
    "</script><script>window.hit=1</script>",
    "<img src=x onerror=\"window.hit=1\">",
    "<svg onload=window.hit=1>",
    "<svg><script>window.hit=1</script></svg>",
    "<iframe src=\"javascript:parent.hit=1\"></iframe>",
    "<iframe srcdoc=\"<script>parent.hit=1</script>\"></iframe>",
    "<object data=\"javascript:window.hit=1\"></object>",
    "<embed src=\"javascript:window.hit=1\">",
    "<a href=\"javascript:window.hit=1\">x</a>",
    "javascript:window.hit=1",
    "\"><script>window.hit=1</script>",
    "'><img src=x onerror=window.hit=1>",
    "<style>@import 'javascript:window.hit=1';</style>",
    "<link rel=stylesheet href=\"javascript:window.hit=1\">",
    "<meta http-equiv=refresh content=\"0;url=javascript:window.hit=1\">",
    "<base href=\"javascript:window.hit=1//\">",
    "<form action=\"javascript:window.hit=1\"><button>x</button></form>",
    "<input autofocus onfocus=window.hit=1>",
    "<details open ontoggle=window.hit=1>",
    "<math><mtext><script>window.hit=1</script></mtext></math>",
    "<!--><script>window.hit=1</script>-->",
    "<![CDATA[<script>window.hit=1</script>]]>",
    "<template><script>window.hit=1</script></template>",
    "<video><source onerror=\"window.hit=1\"></video>",
    "<body onload=window.hit=1>",
    "\u{2028}window.hit=1\u{2029}",
    "\\u003cscript\\u003ewindow.hit=1\\u003c/script\\u003e",
    "{{data}}{{script}}${window.hit=1}",
    "=HYPERLINK(\"javascript:window.hit=1\")",
];

/// The folder of the browser's packages, Chromium and node; else what is missing.
fn browser() -> Result<(PathBuf, PathBuf), String> {
    let modules =
        std::env::var_os("SQLGAUGE_BROWSER").map(PathBuf::from).ok_or("SQLGAUGE_BROWSER is not set")?;
    if !modules.join("node_modules/playwright-core").is_dir() {
        return Err(format!("{} has no playwright-core", modules.display()));
    }
    let runs =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    if !runs("node") {
        return Err("node is missing".to_owned());
    }
    let names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let chromium =
        names.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or("Chromium is missing")?;
    Ok((modules, chromium))
}

/// The sample scored twice, once with hostile answers, once left in the middle; an audit with a line of another form; and estimates.
fn prepare(folder: &Path) -> Sample {
    let sample = Sample::unpack(&folder.join("sample")).unwrap();
    let runs = folder.join("runs");
    for name in ["good", "again", "writing"] {
        sample.score_job(&["ex"], runs.join(name)).unwrap().run(&Context::default()).unwrap();
    }
    let questions: Vec<Value> = serde_json::from_slice(&std::fs::read(&sample.questions).unwrap()).unwrap();
    let id =
        |question: &Value| question["id"].as_str().or(question["question_id"].as_str()).unwrap().to_owned();
    let answers: String = questions
        .iter()
        .zip(HOSTILE)
        .map(|(question, text)| json!({"id": id(question), "sql": text}).to_string() + "\n")
        .collect();
    let file = folder.join("hostile.jsonl");
    std::fs::write(&file, answers).unwrap();
    let mut hostile = sample.score_job(&["ex"], runs.join("hostile")).unwrap();
    hostile.systems = vec![System::new("<img src=x onerror=window.hit=1>", file)];
    hostile.run(&Context::default()).unwrap();

    let misspelled = folder.join("misspelled.json");
    let questions = std::fs::read_to_string(&sample.questions).unwrap();
    std::fs::write(&misspelled, questions.replace("'Old Town'", "'old town'")).unwrap();
    let job = AuditJob::new(Source::from(misspelled.as_path()), sample.databases.clone());
    let job = AuditJob { rules: RuleSelection::of(["all"]).unwrap(), verify: None, ..job };
    let mut lines = Vec::new();
    formats::find("jsonl").unwrap().render(&job.run(&Context::default()).unwrap(), &mut lines).unwrap();
    let damage = json!({"id": "damaged", "sql": 1, "findings": [null, {"rule": "odd", "evidence": 1}, {}]});
    lines.extend(format!("{damage}\n").bytes());
    std::fs::write(runs.join("findings.jsonl"), lines).unwrap();
    estimates(&runs);
    let system = |name: &str| System::new(name, sample.predictions_of(name).unwrap());
    let out = runs.join("planned");
    let job = LabelPlanJob::new(sample.questions.as_path(), vec![system("careful")], &sample.databases, out);
    LabelPlanJob { against: Some(system("baseline")), ..job }.run(&Context::default()).unwrap();
    sample
}

/// An estimate whose every text is hostile and whose page acts, one of another form, and a history with one bad line.
fn estimates(runs: &Path) {
    let text = HOSTILE.concat();
    let folder = runs.join("estimate");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, value: Value| std::fs::write(folder.join(name), value.to_string()).unwrap();
    write(
        "run.json",
        json!({"tool_version": text, "engine": text, "command": [text], "metrics": [], "systems": [text],
            "inputs": [{"role": "target", "path": text, "sha256": text}], "options": {"seed": text}, "examples": 1}),
    );
    let part = json!({"name": text, "count": 1, "accuracy": 0.5, "runs": 0.5, "pull": 0.1});
    let signal = json!({"name": text, "known": 0.1, "target": 0.2, "effect": 0.3});
    write(
        "estimate.json",
        json!([{"system": text, "accuracy": 0.5, "interval": {"level": 0.9, "low": 0.1, "high": 0.9},
            "outside": true, "outside_because": [text], "method": text, "signals": [signal],
            "descriptors": {text.as_str(): 1.0}, "by_database": [part], "by_kind": [part], "notes": [text]}]),
    );
    write(
        "predictions.jsonl",
        json!({"system": text, "id": text, "db_id": text, "question": text, "prediction": text, "status": text,
            "probability": 0.2, "reasons": [text]}),
    );
    std::fs::write(folder.join("report.html"), "<p id=\"taken-over\"></p><script>window.hit=1</script>")
        .unwrap();
    let bad = runs.join("bad-estimate");
    std::fs::create_dir(&bad).unwrap();
    std::fs::write(bad.join("run.json"), "{}").unwrap();
    std::fs::write(bad.join("estimate.json"), "[{\"system\":1}]").unwrap();
    let line = |at: usize, accuracy: Value| {
        json!({"as_of": format!("{at}"), "system": "s", "method": "m", "accuracy": accuracy, "low": 0, "high": 1})
            .to_string()
            + "\n"
    };
    let lines = [line(1, json!(0.5)), line(2, json!({})), line(3, json!(0.6))].concat();
    std::fs::write(runs.join("history.jsonl"), lines).unwrap();
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_page_works_in_a_browser_and_on_a_static_site() {
    let (modules, chromium) = match browser() {
        Ok(tools) => tools,
        Err(why) => {
            println!("skipped the browser: {why}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let _sample = prepare(folder.path());
    let runs = export(&[path("runs")], &path("site")).unwrap();
    let id = |name: &str| runs.iter().find(|run| run.name == name).unwrap().id.clone();
    assert_eq!(find_runs(&[path("runs")]).unwrap().len(), 4);

    // From here on one run looks as if it were being written.
    let log = path("runs/writing/items.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    let half: String = whole.split_inclusive('\n').take(60).collect();
    std::fs::write(&log, half).unwrap();

    let options = ViewOptions {
        folders: vec![path("runs")],
        labels: path("labels"),
        labeller: "somebody".to_owned(),
        ..ViewOptions::default()
    };
    let (address_sender, heard) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        serve(options, |address| address_sender.send(address.to_owned()).unwrap(), async {
            drop(stopped.await);
        })
        .unwrap();
    });
    let shots = std::env::var_os("SQLGAUGE_SCREENSHOTS")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("view"), PathBuf::from);
    let test = json!({
        "modules": modules, "chromium": chromium, "shots": shots, "site": path("site"),
        "good": id("good"), "hostileRun": id("hostile"), "hostile": HOSTILE.len(),
        "server": {"address": heard.recv().unwrap()},
        "again": {"id": id("again"), "log": path("runs/again/items.jsonl")}, "labels": path("labels/somebody"),
    });
    let mut node = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.mjs"))
        .env("BROWSER_TEST", test.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(node.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line == "live" {
            std::fs::write(&log, &whole).unwrap();
        }
        lines.push(line);
    }
    assert!(node.wait().unwrap().success() && lines.last().is_some_and(|line| line == "passed"), "{lines:?}");
    // Open streams of events do not keep the server.
    drop(stop);
    server.join().unwrap();
}
