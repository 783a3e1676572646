//! The dashboard as a browser and as somebody hostile asks it, over the sample's run.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use serde_json::{Value, json};
use sqlgauge_audit::{RuleSelection, formats};
use sqlgauge_core::{AuditJob, Context, ImportJob, Sample, Source, System};
use sqlgauge_run::{RunFiles, sha256_of_bytes};
use sqlgauge_view::{ViewOptions, export, find_runs, serve};

mod foreign;
mod labels;
mod plans;

/// What makes the answer of `careful` to that question wrong.
const LIB_08: &str = "The prediction tests `back_on >= due_on`, the gold `back_on > due_on`.";

const MARKUP: &str = "<script>alert(1)</script>";

/// A folder with a run of the sample, one whose system is called as markup, and one that is damaged.
struct Folder {
    folder: tempfile::TempDir,
    sample: Sample,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::unpack(&folder.path().join("sample")).unwrap();
        let run = |name: &str| folder.path().join("runs").join(name);
        sample.score_job(&["ex"], run("good")).unwrap().run(&Context::default()).unwrap();
        let mut hostile = sample.score_job(&["ex"], run("hostile")).unwrap();
        let careful = sample.predictions_of("careful").unwrap();
        hostile.systems = vec![System::new(MARKUP, careful)];
        hostile.run(&Context::default()).unwrap();
        std::fs::create_dir(run("damaged")).unwrap();
        std::fs::write(run("damaged").join("run.json"), "{").unwrap();
        std::fs::write(run("damaged").join("items.jsonl"), "").unwrap();
        Self { folder, sample }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// SHA-256 of what a system answered in a run.
    fn digest_of(&self, run: &str, system: &str, id: &str) -> String {
        let items = RunFiles::open(&self.path("runs").join(run)).unwrap().items;
        let item = items.find(system, id).unwrap();
        sha256_of_bytes(item.and_then(|item| item.details.prediction).unwrap_or_default().as_bytes())
    }

    fn options(&self) -> ViewOptions {
        ViewOptions {
            folders: vec![self.path("runs")],
            labels: self.path("labels"),
            labeller: "somebody".to_owned(),
            ..ViewOptions::default()
        }
    }
}

/// A server, and who may ask it.
struct Asker {
    host: String,
    token: String,
    _stop: tokio::sync::oneshot::Sender<()>,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Asker {
    fn of(options: ViewOptions) -> Self {
        let (address_sender, heard) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let announce = |address: &str| address_sender.send(address.to_owned()).unwrap();
            serve(options, announce, async { drop(stopped.await) }).unwrap();
        });
        let address = heard.recv().unwrap();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), _stop: stop }
    }

    fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn cookie(&self) -> String {
        let port = self.host.rsplit(':').next().unwrap();
        format!("Cookie: other=1; sqlgauge-{port}={}\r\n", self.token)
    }

    fn get(&self, path: &str) -> Answer {
        let (host, cookie) = (&self.host, self.cookie());
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{cookie}Connection: close\r\n\r\n"))
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let (host, cookie, body) = (&self.host, self.cookie(), body.to_string());
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{cookie}Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ))
    }

    fn runs(&self) -> Vec<Value> {
        serde_json::from_str(&self.get("/api/runs").body).unwrap()
    }

    fn id(&self, name: &str) -> String {
        let runs = self.runs();
        runs.iter().find(|run| run["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn only_who_has_the_token_is_answered_and_only_by_the_servers_name() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let (host, cookie, token) = (&asker.host, asker.cookie(), &asker.token);
    let port = host.rsplit(':').next().unwrap();
    let ask = |line: &str, headers: &str| {
        asker.send(&format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).status
    };
    let host_line = format!("Host: {host}\r\n");
    for (line, headers) in [
        ("GET /", host_line.clone()),
        ("GET /api/runs", host_line.clone()),
        ("GET /?token=", host_line.clone()),
        ("GET /?token=0123456789abcdef0123456789abcdef", host_line.clone()),
        ("GET /", format!("{host_line}Cookie: sqlgauge-{port}=x\r\n")),
        ("GET /", format!("Host: example.org:{port}\r\n{cookie}")),
        ("GET /", format!("Host: 127.0.0.1\r\n{cookie}")),
        ("GET /api/runs", format!("{host_line}{cookie}Origin: http://example.org\r\n")),
        ("GET /api/runs", format!("{host_line}{cookie}Origin: null\r\n")),
        // A form of another page can post without asking, and sends no origin that is ours.
        ("POST /api/label", format!("{host_line}{cookie}Content-Length: 0\r\n")),
    ] {
        assert_eq!(ask(line, &headers), 403, "{line} {headers}");
    }
    assert_eq!(ask("GET /", &format!("{host_line}{cookie}")), 200);
    assert_eq!(ask("GET /", &format!("Host: localhost:{port}\r\n{cookie}")), 200);
    let first = asker.send(&format!("GET /?token={token} HTTP/1.1\r\n{host_line}Connection: close\r\n\r\n"));
    assert_eq!(first.status, 303);
    assert!(first.head.contains("httponly; samesite=strict") && first.head.contains("location: /\r\n"));
}

/// Connections that never show the token go, the oldest first, and keep nobody out.
#[test]
fn connections_without_the_token_are_few() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let mut idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&asker.host).unwrap()).collect();
    for stream in &mut idle[..60] {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        assert!(stream.read(&mut [0; 9]).is_ok_and(|read| read == 0));
    }
    assert_eq!(asker.get("/api/runs").status, 200);
    let (host, cookie) = (&asker.host, asker.cookie());
    let refusal = asker.send(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(refusal.status == 403 && refusal.head.contains("connection: close"), "one answer, and it ends");
    let mut stream = TcpStream::connect(host).unwrap();
    for _ in 0..2 {
        let request = format!("GET /api/labelled HTTP/1.1\r\nHost: {host}\r\n{cookie}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0, "whoever has the token asks again");
    }
}

#[test]
fn every_answer_forbids_what_stands_inside_a_page() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let id = asker.id("hostile");
    for path in
        ["/", "/api/runs", "/assets/report.js", "/assets/report.css", "/nothing", &format!("/run/{id}/")]
    {
        let head = asker.get(path).head;
        assert!(head.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{path}: {head}");
        assert!(
            !head.contains("unsafe") && head.contains("nosniff") && !head.contains("access-control"),
            "{path}"
        );
    }
    let page = asker.get(&format!("/run/{id}/")).body;
    assert!(!page.contains(MARKUP) && !page.contains("unsafe-inline") && page.contains("/assets/report.js"));
}

#[test]
fn runs_are_listed_with_their_scores_or_the_reason_and_have_their_pages() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let runs = asker.runs();
    let names: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["damaged", "good", "hostile"]);
    assert!(runs[0]["problem"].as_str().unwrap().contains("run.json"));
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.path("runs/good/summary.json")).unwrap()).unwrap();
    assert_eq!(runs[1]["systems"][0]["scores"]["ex@1"][0], summary["systems"][0]["scores"]["ex@1"]["mean"]);
    assert_eq!((&runs[1]["done"], &runs[1]["total"]), (&json!(123), &json!(123)));
    assert_eq!(asker.get(&format!("/run/{}/", asker.id("good"))).status, 200);
    assert_eq!(asker.get("/run/000000000000/").status, 404);
    assert_eq!(asker.get(&format!("/run/{}/", asker.id("damaged"))).status, 422);
}

#[test]
fn no_path_of_a_request_reaches_the_disk() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let id = asker.id("good");
    for rest in [
        "../../run.json",
        "..%2f..%2frun.json",
        "index-items/..",
        "index-items/%2e%2e",
        "index-items/made.json%00",
        "report-items/items-0-0.js",
        "%2e%2e/index.html",
    ] {
        let status = asker.get(&format!("/run/{id}/{rest}")).status;
        assert!((400..500).contains(&status), "{rest}: {status}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = Folder::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::rename(folder.path("runs/good"), outside.path().join("good")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("good"), folder.path("runs/good")).unwrap();
    let names: Vec<String> =
        find_runs(&[folder.path("runs")]).unwrap().into_iter().map(|run| run.name).collect();
    assert_eq!(names, ["damaged", "hostile"]);
}

#[test]
fn two_runs_are_compared_as_the_command_does() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let (a, b) = (asker.id("good"), asker.id("hostile"));
    let system = MARKUP.replace('<', "%3C").replace('>', "%3E").replace('/', "%2F");
    let path = |first: &str| format!("/api/compare?a={a}&b={b}&first={first}&second={system}&metric=ex");
    let comparison = asker.get(&path("baseline")).body;
    // The one that is kept says the same.
    assert_eq!(asker.get(&path("baseline")).body, comparison);
    let comparison: Value = serde_json::from_str(&comparison).unwrap();
    let items = comparison["items"].as_array().unwrap();
    let only_first: Vec<&Value> =
        items.iter().filter(|item| item["side"] == "first").map(|item| &item["id"]).collect();
    assert_eq!((&comparison["metric"], only_first), (&json!("ex@1"), vec![&json!("lib-08")]));
    let other = asker.get(&path("careful")).body;
    assert_ne!(serde_json::from_str::<Value>(&other).unwrap()["items"], comparison["items"]);
    let lib = items.iter().find(|item| item["id"] == "lib-08").unwrap();
    assert_eq!(lib["cause"], "other-comparison");
    assert!(lib["difficulty"].is_string() && lib.get("level").is_none(), "{lib}");
    let item = asker.get(&format!("/api/pair?a={a}&b={b}&first=baseline&second={system}&id=lib-08")).body;
    let item: Value = serde_json::from_str(&item).unwrap();
    assert_eq!((&item["first"]["why"], &item["second"]["why"]), (&Value::Null, &json!(LIB_08)));
    let unknown = asker.get(&path("nobody"));
    assert_eq!(unknown.status, 422);
    assert!(unknown.body.contains("nobody"), "{}", unknown.body);
}

#[test]
fn labels_are_kept_taken_back_and_read_by_import() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let run = asker.id("good");
    let label = |id: &str, verdict: Value| {
        let digest = folder.digest_of("good", "careful", id);
        let body = json!({"run": run, "system": "careful", "id": id, "verdict": verdict, "shown": digest});
        asker.post("/api/label", &body).status
    };
    for (id, verdict) in
        [("bike-01", "wrong"), ("bike-02", "right"), ("bike-03", "unsure"), ("bike-01", "right")]
    {
        assert_eq!(label(id, json!(verdict)), 204);
    }
    assert_eq!(label("bike-02", Value::Null), 204);
    assert_eq!(label("nowhere", json!("right")), 404);
    assert!((400..500).contains(&label("bike-01", json!("perhaps"))));
    let labels_answer = asker.get(&format!("/api/labels?run={run}&system=careful"));
    assert_eq!(
        serde_json::from_str::<Value>(&labels_answer.body).unwrap(),
        json!({
            "bike-01": {"verdict": "right", "current": true},
            "bike-03": {"verdict": "unsure", "current": true},
        })
    );

    let file = folder.path("labels").join("somebody").join(&run).join("careful.jsonl");
    let systems = vec![System::new("careful", folder.sample.predictions_of("careful").unwrap())];
    let (questions, out) = (folder.sample.questions.as_path(), folder.path("imported"));
    let job = ImportJob::new(questions, systems, file, &folder.sample.databases, &out);
    assert_eq!(job.run(&Context::default()).unwrap().labels, [1]);

    let hostile = asker.id("hostile");
    let digest = folder.digest_of("hostile", MARKUP, "bike-01");
    let body =
        json!({"run": hostile, "system": MARKUP, "id": "bike-01", "verdict": "right", "shown": digest});
    assert_eq!(asker.post("/api/label", &body).status, 204);
    let rows: Vec<_> =
        std::fs::read_dir(folder.path("labels").join("somebody").join(hostile)).unwrap().collect();
    assert_eq!(rows.len(), 1);
}

#[test]
fn the_exported_site_needs_no_server_and_carries_texts_as_texts() {
    let folder = Folder::new();
    let out = folder.path("site");
    let runs = export(&[folder.path("runs")], &out).unwrap();
    assert_eq!(runs.len(), 3);
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(!index.contains(MARKUP) && index.contains("\\u003cscript>") && !index.contains("\"/assets"));
    let page = |run: &sqlgauge_view::FoundRun| out.join("run").join(&run.id).join("index.html");
    let there: Vec<bool> = runs.iter().map(|run| page(run).is_file()).collect();
    assert_eq!(there, [false, true, true]);
    for run in runs.iter().filter(|run| page(run).is_file()) {
        let text = std::fs::read_to_string(page(run)).unwrap();
        let (_, after) =
            text.split_once("name=\"sqlgauge-home\" content=\"").expect("a page leads back to the list");
        let home = page(run).parent().unwrap().join(after.split('"').next().unwrap());
        assert_eq!(home.canonicalize().unwrap(), out.join("index.html").canonicalize().unwrap());
    }
    assert!(export(&[folder.path("sample")], Path::new("nowhere")).is_err());
}

#[test]
fn two_people_who_label_the_same_answers_have_an_agreement() {
    let folder = Folder::new();
    let (first, second) =
        (folder.options(), ViewOptions { labeller: "other".to_owned(), ..folder.options() });
    let asker = Asker::of(first);
    let run = asker.id("good");
    let label = |asker: &Asker, id: &str, verdict: &str| {
        let digest = folder.digest_of("good", "careful", id);
        let body = json!({"run": run, "system": "careful", "id": id, "verdict": verdict, "shown": digest});
        assert_eq!(asker.post("/api/label", &body).status, 204);
    };
    let other = Asker::of(second);
    for (id, verdict, others) in [
        ("bike-01", "right", "right"),
        ("bike-02", "wrong", "wrong"),
        ("bike-03", "right", "wrong"),
        ("bike-04", "unsure", "right"),
    ] {
        label(&asker, id, verdict);
        label(&other, id, others);
    }
    let labelled: Value = serde_json::from_str(&asker.get("/api/labelled").body).unwrap();
    let pair = &labelled["systems"][0]["pairs"][0];
    assert_eq!((&pair["both"], &pair["agree"]), (&json!(3), &json!(2)));
    // 2 of 3 agree, where chance gives 4 of 9.
    assert!((pair["kappa"].as_f64().unwrap() - 0.4).abs() < 1e-9, "{pair}");
    let differ = json!([["bike-03", "wrong", "right"], ["bike-04", "right", "unsure"]]);
    assert_eq!(pair["differ"], differ);
}

#[test]
fn a_rejected_finding_is_allowed_for_the_next_audit() {
    let folder = Folder::new();
    let misspelled = folder.path("misspelled.json");
    let questions = std::fs::read_to_string(&folder.sample.questions).unwrap();
    std::fs::write(&misspelled, questions.replace("'Old Town'", "'old town'")).unwrap();
    let audit = |allow: Option<&Path>| {
        let questions = Source::from(misspelled.as_path());
        let job = AuditJob::new(questions, folder.sample.databases.clone());
        let job = AuditJob {
            allow: allow.map(Source::from),
            rules: RuleSelection::of(["all"]).unwrap(),
            verify: None,
            ..job
        };
        job.run(&Context::default()).unwrap()
    };
    let report = audit(None);
    let (id, rule, sql) = report
        .items
        .iter()
        .find_map(|item| Some((item.id.clone(), item.audit.findings.first()?.rule, item.sql.clone())))
        .expect("a hint at least");
    let mut lines = Vec::new();
    formats::find("jsonl").unwrap().render(&report, &mut lines).unwrap();
    std::fs::write(folder.path("runs/findings.jsonl"), lines).unwrap();

    let asker = Asker::of(folder.options());
    let records: Value = serde_json::from_str(&asker.get("/api/records").body).unwrap();
    let audit_id = records["audits"][0]["id"].as_str().unwrap();
    let decide = |decision: Value, reason: &str| {
        let digest = sha256_of_bytes(sql.as_bytes());
        let body = json!({
            "audit": audit_id, "id": id, "rule": rule, "decision": decision, "reason": reason, "shown": digest,
        });
        asker.post("/api/decide", &body).status
    };
    assert_eq!(decide(json!("rejected"), " "), 422);
    assert_eq!(decide(json!("rejected"), "either is right"), 204);
    let audit_page: Value =
        serde_json::from_str(&asker.get(&format!("/api/audit?id={audit_id}")).body).unwrap();
    let allowed = PathBuf::from(audit_page["allowed"].as_str().unwrap());
    let is_left = |audit: &sqlgauge_audit::BenchmarkAudit| {
        audit.items.iter().any(|item| (&item.id, &item.sql) == (&id, &sql) && item.audit.has(rule))
    };
    assert!(is_left(&report) && !is_left(&audit(Some(&allowed))));
    assert_eq!(decide(Value::Null, ""), 204);
    assert!(is_left(&audit(Some(&allowed))));
}

#[test]
fn an_item_is_given_alone_and_over_runs() {
    let folder = Folder::new();
    let again = folder.path("runs").join("again");
    folder.sample.score_job(&["ex"], again).unwrap().run(&Context::default()).unwrap();
    let asker = Asker::of(folder.options());
    let run = asker.id("good");
    let history: Value =
        serde_json::from_str(&asker.get(&format!("/api/history?run={run}&system=careful&id=bike-01")).body)
            .unwrap();
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert_eq!(history[0]["text"], history[1]["text"]);
    let alone: Value =
        serde_json::from_str(&asker.get(&format!("/run/{run}/alone/0-0.1-3.json")).body).unwrap();
    assert_eq!((&alone[0]["id"], &alone[1]["system"]), (&json!("bike-01"), &json!("baseline")));
    // What makes an answer wrong is worked out when it is asked for, or is not known.
    let items: Vec<String> = (0..30).map(|place| format!("0-{place}")).collect();
    let why = |asker: &Asker| -> Value {
        let answer = asker.get(&format!("/run/{}/alone/{}.json", asker.id("good"), items.join("."))).body;
        let answer: Vec<Value> = serde_json::from_str(&answer).unwrap();
        answer.into_iter().find(|item| item["id"] == "lib-08").unwrap()["details"]["why"].take()
    };
    assert_eq!(why(&asker)["sentence"], LIB_08);
    std::fs::remove_file(folder.sample.database("town_library")).unwrap();
    let gone = why(&Asker::of(folder.options()));
    assert!(gone["missing"].as_str().unwrap().contains("cannot be read"), "{gone}");
    for bad in ["0-0", "x-0.json", "0.json", "-1-0.json", "0-0.js"] {
        assert_eq!(asker.get(&format!("/run/{run}/alone/{bad}")).status, 404, "{bad}");
    }
}
