//! What `sqlgauge estimate` may claim: effects that add up, one judgement of "outside", intervals of few questions, one
//! other system, questions that are known already.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{write_database, write_json_lines};

const KNOWN: [&str; 6] = ["singer", "song", "album", "venue", "label", "tour"];
const TARGET: &str = "film";

/// Methods that need no server, and what they are given beside a known run.
const METHODS: [(&str, &[&str]); 7] = [
    ("signals", &[]),
    ("source", &[]),
    ("atc-mc", &[]),
    ("atc-ne", &[]),
    ("doc", &["--tau", "0"]),
    ("agreement", &[]),
    ("ppi", &["--labels", "a.target.labels"]),
];

/// Two systems with known runs on six databases, and a seventh without labels.
struct World(TempDir);

/// What a system of a skill from 0 to 10 answers: right below its skill, another column above, and what ends in `broken`
/// or more does not run.
fn query(table: &str, number: usize, skill: usize, broken: usize) -> String {
    match number % 10 {
        of_ten if of_ten >= broken => format!("SELEC name FROM {table}"),
        of_ten if of_ten < skill => format!("SELECT name FROM {table} WHERE id > {number}"),
        _ => format!("SELECT id, year FROM {table} WHERE id < {skill} ORDER BY year"),
    }
}

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for db_id in KNOWN.iter().chain(&[TARGET]) {
            let ddl = format!("CREATE TABLE {db_id} (id INTEGER PRIMARY KEY, name TEXT, year INTEGER)");
            write_database(&world.path("database"), db_id, &ddl);
        }
        world.lines("known", (0..120).map(|id| question(id, KNOWN[id / 20])));
        for (name, skill, broken) in [("a", 7, 9), ("b", 8, 10)] {
            let answers = (0..120).map(|id| answer(id, &query(KNOWN[id / 20], id, skill, broken - id / 100)));
            world.lines(&format!("{name}.known"), answers);
            let labels = (0..120).map(|id| json!({"id": format!("q{id}"), "correct": id % 10 < skill}));
            world.lines(&format!("{name}.labels"), labels);
            world.import(name);
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn lines(&self, name: &str, rows: impl Iterator<Item = Value>) {
        write_json_lines(&self.path(&format!("{name}.jsonl")), rows);
    }

    fn import(&self, name: &str) {
        Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["import", "--quiet", "--questions", &self.text("known.jsonl"), "--pred"])
            .arg(format!("{name}={}", self.text(&format!("{name}.known.jsonl"))))
            .args(["--correct", &self.text(&format!("{name}.labels.jsonl"))])
            .args(["--db", &self.text("database"), "--out", &self.text(&format!("run-{name}"))])
            .assert()
            .success();
    }

    /// Writes a target: its questions, and the answers of both systems to them.
    fn target(&self, questions: &[Value], broken: usize) {
        self.lines("target", questions.iter().cloned());
        for (name, skill) in [("a", 7), ("b", 8)] {
            let answers = questions.iter().enumerate().map(|(at, question)| {
                let table = question["db_id"].as_str().unwrap();
                let number =
                    question["number"].as_u64().map_or(at, |number| usize::try_from(number).unwrap());
                json!({"id": question["id"], "prediction": query(table, number, skill, broken)})
            });
            self.lines(&format!("{name}.target"), answers);
            let labels = questions.iter().enumerate();
            let labels = labels.map(|(at, q)| json!({"id": q["id"], "correct": at % 10 < skill}));
            self.lines(&format!("{name}.target.labels"), labels);
        }
    }

    /// The estimate of `a` by a method, beside `b` if it is wanted.
    fn estimate(&self, method: &str, more: &[&str], names: &[&str], with_peer: bool) -> Value {
        let mut command = Command::cargo_bin("sqlgauge").unwrap();
        command.args(["estimate", "--json", "--quiet", "--method", method]);
        names.iter().for_each(|name| {
            command.args(["--known", &self.text(&format!("run-{name}"))]);
        });
        command.args(["--questions", &self.text("target.jsonl"), "--db", &self.text("database")]);
        command.arg("--pred").arg(format!("a={}", self.text("a.target.jsonl")));
        if with_peer {
            command.arg("--peer").arg(format!("b={}", self.text("b.target.jsonl")));
        }
        for text in more {
            let labels = text.ends_with(".labels");
            command.arg(if labels { self.text(&format!("{text}.jsonl")) } else { (*text).to_owned() });
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{method}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn question(id: usize, table: &str) -> Value {
    json!({"id": format!("q{id}"), "db_id": table, "question": format!("Names of {table} above {id}?")})
}

fn answer(id: usize, sql: &str) -> Value {
    json!({"id": format!("q{id}"), "prediction": sql})
}

fn new_questions(count: usize) -> Vec<Value> {
    let question = |id: usize| json!({"id": format!("t{id}"), "db_id": TARGET, "question": format!("Names of {TARGET} above {id}?"), "number": id});
    (0..count).map(question).collect()
}

/// New questions about the databases that have labels.
fn like_the_known() -> Vec<Value> {
    let question = |id: usize| {
        let (table, number) = (KNOWN[id % 6], (id + 20 * (id % 6) + 40) % 120);
        json!({"id": format!("t{id}"), "db_id": table, "question": format!("Names of {table} above {number}?"),
            "number": number})
    };
    (0..60).map(question).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn signal<'v>(estimate: &'v Value, name: &str) -> Option<&'v Value> {
    estimate["signals"].as_array().unwrap().iter().find(|signal| signal["name"] == name)
}

fn notes(estimate: &Value) -> String {
    estimate["notes"].to_string()
}

/// For every method: the effects are the difference from the known accuracy, and each that stands beside two values has
/// the sign of their difference.
#[test]
fn effects_add_up_and_have_the_right_sign() {
    let world = World::new();
    for (what, broken, evidence) in
        [("like the known runs", 9, false), ("half does not run", 5, false), ("of another kind", 6, true)]
    {
        let mut questions = new_questions(60);
        if evidence {
            questions.iter_mut().for_each(|q| q["evidence"] = json!("name = 'the name', above: id > n"));
        }
        world.target(&questions, broken);
        for with_peer in [false, true] {
            for (method, more) in METHODS.iter().filter(|(method, _)| with_peer || *method != "agreement") {
                let estimate = world.estimate(method, more, &["a", "b"], with_peer);
                let context = format!("{method}, {what}, peer {with_peer}: {}", estimate["signals"]);
                let base = number(&signal(&estimate, "accuracy").unwrap()["known"]);
                let all = estimate["signals"].as_array().unwrap();
                let effects = all.iter().filter_map(|signal| signal["effect"].as_f64());
                let difference = number(&estimate["accuracy"]) - base;
                assert!((effects.sum::<f64>() - difference).abs() < 1e-6, "{difference}, {context}");
                for signal in all {
                    let (Some(home), Some(target), Some(effect)) =
                        (signal["known"].as_f64(), signal["target"].as_f64(), signal["effect"].as_f64())
                    else {
                        continue;
                    };
                    let same = effect * (target - home) >= -1e-6;
                    assert!(same, "{signal} has another sign than its change; {context}");
                }
            }
        }
    }
}

#[test]
fn outside_is_one_judgement_with_its_reason() {
    let world = World::new();
    let inside = like_the_known();
    let mut outside = inside.clone();
    outside.iter_mut().for_each(|question| question["evidence"] = json!("above: id > n"));
    for (questions, reason) in [(inside, None), (outside, Some("have evidence"))] {
        world.target(&questions, 9);
        let verdicts: Vec<(bool, Value)> = METHODS
            .iter()
            .map(|(method, more)| {
                let estimate = world.estimate(method, more, &["a", "b"], true);
                (estimate["outside"].as_bool().unwrap(), estimate["outside_because"].clone())
            })
            .collect();
        assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "{verdicts:?}");
        assert_eq!(verdicts[0].0, reason.is_some(), "{verdicts:?}");
        assert!(verdicts[0].1.to_string().contains(reason.unwrap_or("[]")), "{verdicts:?}");
    }
}

/// Signals that moved farther than anywhere in the known runs are a reason of their own, named with its values.
#[test]
fn a_share_that_runs_as_nowhere_before_is_said() {
    let world = World::new();
    world.target(&new_questions(60), 3);
    for (method, more) in METHODS.iter().filter(|(method, _)| *method != "agreement") {
        let estimate = world.estimate(method, more, &["a"], false);
        assert_eq!(estimate["outside"], true, "{method}");
        let because = estimate["outside_because"].to_string();
        assert!(because.contains("the share of predictions that run went from"), "{method}: {because}");
    }
}

/// All of five answers look right, and nobody knows.
#[test]
fn five_questions_give_no_certainty() {
    let world = World::new();
    world.target(&new_questions(5), 9);
    for (method, more) in METHODS {
        let estimate = world.estimate(method, more, &["a", "b"], true);
        let [low, high] = ["low", "high"].map(|end| number(&estimate["interval"][end]));
        assert!(high - low > 0.3, "{method}: {} [{low}, {high}]", estimate["accuracy"]);
    }
}

#[test]
fn exactly_one_other_system_is_compared_with() {
    let world = World::new();
    world.target(&new_questions(60), 9);
    let agreement = "agreement with other systems";
    let estimate = world.estimate("signals", &[], &["a", "b"], true);
    let agreement_signal = signal(&estimate, agreement).unwrap();
    assert!(
        agreement_signal["known"].is_number() && agreement_signal["target"].is_number(),
        "{agreement_signal}"
    );
    assert!(!notes(&estimate).contains("agreement, the best signal, is missing"), "{}", notes(&estimate));
    // Nothing tells how far it agrees where labels are: it cannot be used, and that is said.
    let unknown = world.estimate("signals", &[], &["a"], true);
    assert!(signal(&unknown, agreement).is_none());
    assert!(notes(&unknown).contains("the predictions of b are not compared with"), "{}", notes(&unknown));
    let alone = world.estimate("signals", &[], &["a"], false);
    assert!(notes(&alone).contains("agreement, the best signal, is missing"), "{}", notes(&alone));
}

#[test]
fn questions_that_are_known_already_are_counted_and_said() {
    let world = World::new();
    let mut questions = new_questions(30);
    // The same question about the same database, with other case and spaces; the same words about another database.
    questions.extend((0..4).map(|id| {
        json!({"id": format!("old{id}"), "db_id": "singer", "question": format!("names of  SINGER above {id}?")})
    }));
    questions.extend((20..23).map(|id| {
        json!({"id": format!("moved{id}"), "db_id": TARGET, "question": format!("Names of song above {id}?")})
    }));
    world.target(&questions, 9);
    for (names, of_itself, others) in [(vec!["a", "b"], 4, 4), (vec!["a"], 4, 0), (vec!["b"], 0, 4)] {
        let estimate = world.estimate("signals", &[], &names, true);
        assert_eq!(
            estimate["overlap"],
            json!({"questions": 37, "own": of_itself, "others": others, "elsewhere": 3}),
            "{names:?}"
        );
        let notes = notes(&estimate);
        for (count, words) in
            [(of_itself, "in a known run of a itself"), (others, "in known runs of other systems")]
        {
            assert_eq!(notes.contains(words), count > 0, "{names:?}: {notes}");
        }
        assert!(notes.contains("3 of 37 questions of the target stand word for word"), "{notes}");
    }
    // What is known of the very answers that are asked about is not used, and the error says that it is there.
    let all: Vec<Value> = (0..120).map(|id| question(id, KNOWN[id / 20])).collect();
    world.target(&all, 9);
    let output = Command::cargo_bin("sqlgauge")
        .unwrap()
        .args(["estimate", "--method", "source", "--known", &world.text("run-a"), "--questions"])
        .args([world.text("target.jsonl"), "--db".to_owned(), world.text("database"), "--pred".to_owned()])
        .arg(format!("a={}", world.text("a.target.jsonl")))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("on other questions than the target's, to which all its 120 labels belong"),
        "{message}"
    );
}
