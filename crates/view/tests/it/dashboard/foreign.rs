//! Folders of a stranger, every file of which is hostile: what of them is sent, and as what.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use sqlgauge_view::{Content, ROUTES, Writer, export};

use super::plans::plan;
use super::{Answer, Asker, Folder, MARKUP};

/// In every text that the stranger plants.
const MARK: &str = "strangers_mark";

/// Ends whatever it stands in, and then acts.
fn hostile() -> String {
    format!(
        "'\"]]></script></style></textarea><script>{MARK}()</script><style>{MARK}{{}}</style><img src=x onerror={MARK}()>"
    )
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Files beside the data: a page, scripts and styles by every name that a report or the server uses, and what vouches for them.
const PLANTED: [&str; 12] = [
    "report.html",
    "index.html",
    "report.js",
    "report.css",
    "home.js",
    "report-items/items-0-0.js",
    "report-items/items-0-0.json",
    "report-items/examples.js",
    "report-items/made.json",
    "index-items/items-0-0.js",
    "index-items/examples.json",
    "index-items/index.html",
];

/// A plan of labels whose systems and questions become hostile.
fn plant_plan(folder: &Folder) {
    let plan = folder.path("runs").join(plan(folder, "planned")).join("plan.json");
    let mut hostile_plan: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    for system in hostile_plan["systems"].as_array_mut().unwrap() {
        *system = json!(format!("{}{system}", hostile()));
    }
    for item in hostile_plan["items"].as_array_mut().unwrap() {
        item["question"] = json!(hostile());
    }
    std::fs::write(plan, hostile_plan.to_string()).unwrap();
}

/// An estimate, an audit and a history with hostile texts, and a run whose texts become hostile.
fn plant(folder: &Folder) {
    let text = hostile();
    plant_plan(folder);
    let run = folder.path("runs/hostile");
    let log = std::fs::read_to_string(run.join("items.jsonl")).unwrap();
    let lines = log.lines().map(|line| {
        let mut item: Value = serde_json::from_str(line).unwrap();
        item["db_id"] = json!(text);
        item["status"] = json!(text);
        for key in ["question", "prediction", "error", "gold", text.as_str()] {
            item["details"][key] = json!(text);
        }
        item.to_string() + "\n"
    });
    std::fs::write(run.join("items.jsonl"), lines.collect::<String>()).unwrap();
    for name in ["summary.json", "items.index"] {
        std::fs::remove_file(run.join(name)).unwrap();
    }
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
    manifest["engine"] = json!(text);
    manifest["tool_version"] = json!(text);
    manifest["command"] = json!([text]);
    manifest["inputs"].as_array_mut().unwrap().push(json!({"role": "gold", "path": text, "sha256": text}));
    manifest["options"][text.as_str()] = json!(text);
    std::fs::write(run.join("run.json"), manifest.to_string()).unwrap();

    for name in ["run.json", "items.jsonl"] {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        write(&folder.path("runs/like").join(name), &text);
    }

    let estimate = folder.path("runs/estimate");
    manifest["inputs"] = json!([{"role": "target", "path": text, "sha256": text}]);
    write(&estimate.join("run.json"), &manifest.to_string());
    let part = json!({"name": text, "count": usize::MAX, "accuracy": 0.5, "runs": 0.5, "pull": 0.1});
    let one = json!({"system": text, "accuracy": 0.5, "interval": {"level": 0.9, "low": 0.1, "high": 0.9},
        "outside": true, "outside_because": [text], "method": text, "metric": text,
        "signals": [{"name": text, "known": 0.1, "target": 0.2, "effect": 0.3}], "descriptors": {text.as_str(): 1.0},
        "by_database": [part], "by_kind": [part], "notes": [text]});
    write(&estimate.join("estimate.json"), &json!([one, one]).to_string());
    let answer = json!({"system": text, "id": text, "db_id": text, "question": text, "prediction": text,
        "status": text, "probability": 0.2, "reasons": [text]});
    write(&estimate.join("predictions.jsonl"), &answer.to_string());
    let point =
        json!({"label": text, "count": 1, "accuracy": 0.5, "low": 0.1, "high": 0.9, "outside": false});
    let alarm = json!({"label": text, "gravity": "alarm", "message": text});
    let drift = json!([{"system": text, "points": [point, point], "alarms": [alarm]}]);
    write(&estimate.join("drift.json"), &drift.to_string());
    let audit = json!({"id": "1", "sql": text, "findings": [{"rule": text, "why": text}], "db_id": text});
    write(&folder.path("runs/audit.jsonl"), &audit.to_string());
    for folder in [run, estimate] {
        for name in PLANTED {
            write(&folder.join(name), &text);
        }
    }
}

/// The addresses of a route that are asked.
fn addresses(path: &str, asker: &Asker) -> Vec<String> {
    let records: Value = serde_json::from_str(&asker.get("/api/records").body).unwrap();
    let first = |kind: &str| records[kind][0]["id"].as_str().unwrap().to_owned();
    let (good, run, like) = (asker.id("good"), asker.id("hostile"), asker.id("like"));
    let system = MARKUP.replace('<', "%3C").replace('>', "%3E").replace('/', "%2F");
    match path {
        "/api/compare" => vec![format!("{path}?a={run}&b={like}&first={system}&second={system}&metric=ex")],
        "/api/pair" => vec![format!("{path}?a={run}&b={good}&first={system}&second=careful&id=bike-01")],
        "/api/history" => vec![format!("{path}?run={run}&system={system}&id=bike-01")],
        "/api/labels" => vec![format!("{path}?run={run}&system={system}")],
        "/api/audit" => vec![format!("{path}?id={}", first("audits"))],
        "/api/plan" => vec![format!("{path}?id={}", first("plans"))],
        _ => {
            let path = path.replace("{id}", &first("estimates")).replace("{run}", &run);
            if !path.contains("{file}") {
                return vec![path];
            }
            let planted = PLANTED.iter().map(|name| name.rsplit_once('/').unwrap_or(("index-items", name)));
            let planted = planted.chain([("alone", "0-0.json"), ("alone", "items-0-0.js")]);
            planted.map(|(folder, file)| path.replace("{folder}", folder).replace("{file}", file)).collect()
        }
    }
}

/// Whether the text has the stranger's markup as such.
fn acts(text: &str) -> bool {
    ["<script>", "<style>"].iter().any(|before| text.contains(&format!("{before}{MARK}")))
        || text.contains("<img")
}

/// A page without the JSON in it, which is no script.
fn without_data(page: &str) -> String {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let Some((before, data)) = page.split_once(begin) else { return page.to_owned() };
    let (data, after) = data.split_once("</script>").unwrap();
    serde_json::from_str::<Value>(data).unwrap();
    before.to_owned() + after
}

fn check(path: &str, content: Content, Answer { head, body, .. }: &Answer) {
    let media_type = content.media_type();
    assert!(head.contains(&format!("content-type: {media_type}\r\n")), "{path}: {head}");
    assert!(
        head.contains("x-content-type-options: nosniff") && !head.contains("script-src 'unsafe"),
        "{path}"
    );
    match content {
        Content::Script | Content::Style => assert!(!body.contains(MARK), "{path}"),
        Content::Data => drop(serde_json::from_str::<Value>(body).unwrap()),
        Content::Page | Content::StyledPage => {
            let rest = without_data(body);
            // The stranger's text ends neither an element nor an attribute.
            assert!(!acts(&rest) && !rest.contains("'\"]]") && !rest.contains("</textarea"), "{path}");
            let scripts = usize::from(content == Content::Page);
            assert_eq!(rest.matches("<script").count(), scripts, "{path}");
        }
        Content::Events => {}
    }
}

/// Every route is asked with hostile files of every kind. Answers have the type of the table; a script and a style are those that are
/// compiled in, and in a page what is the stranger's is a text.
#[test]
fn nothing_of_a_strangers_folder_acts() {
    let folder = Folder::new();
    plant(&folder);
    let asker = Asker::of(folder.options());
    for route in &ROUTES {
        let is_file = matches!(route.content, Content::Script | Content::Style);
        assert!(!is_file || route.writer == Writer::Build, "{}", route.path);
        // A stream does not end, verdicts are posted, and an address without its slash leads to the page.
        if ["/api/events", "/api/label", "/api/decide", "/api/judge", "/run/{run}"].contains(&route.path) {
            continue;
        }
        let mut answers = 0;
        for address in addresses(route.path, &asker) {
            let answer = asker.get(&address);
            if answer.status == 200 {
                answers += 1;
                check(&address, route.content, &answer);
            } else {
                let types = ["html", "javascript", "css"].map(|name| format!("content-type: text/{name}"));
                assert!(types.iter().all(|name| !answer.head.contains(name)), "{address}");
            }
        }
        assert_eq!(answers, 1, "{}", route.path);
    }
}

/// An export has its pages alone, and none has the stranger's markup as such.
#[test]
fn nothing_of_a_strangers_folder_is_exported() {
    let folder = Folder::new();
    plant(&folder);
    write(&folder.path("runs/bad/run.json"), "{}");
    write(&folder.path("runs/bad/estimate.json"), "[{}]");
    let out = folder.path("site");
    export(&[folder.path("runs")], &out).unwrap();
    let mut names = BTreeSet::new();
    let mut open = vec![out.clone()];
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!acts(&without_data(&text)), "{}", path.display());
            let parts: Vec<_> = path.strip_prefix(&out).unwrap().iter().collect();
            names.insert(format!("{} of {}", parts[0].to_string_lossy(), parts.len()));
        }
    }
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["estimate of 2", "index.html of 1", "run of 3"]);
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(index.contains("run.json, line 1: missing field"), "the bad one has its reason");
}
