//! `sqlgauge evolve` from end to end on small databases, and what is made of its benchmarks: killed and begun again, training
//! data, robustness over steps and intensities, foreign keys of a tables.json.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::common::{assert_same, next_state, sqlgauge, stderr, tree, write_database};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Name, tables, golds.
const DATABASES: [(&str, &str, &[&str]); 3] = [
    (
        "school",
        "CREATE TABLE teacher (teacher_id INTEGER PRIMARY KEY, full_name TEXT, birth_date TEXT, salary REAL);
         CREATE TABLE course (course_id INTEGER PRIMARY KEY, title TEXT, teacher_id INTEGER REFERENCES teacher (teacher_id), room TEXT);
         CREATE TABLE building (building_id INTEGER PRIMARY KEY, city TEXT);",
        &[
            "SELECT full_name FROM teacher WHERE salary > 1500",
            "SELECT T1.title, T2.full_name FROM course AS T1 JOIN teacher AS T2 ON T1.teacher_id = T2.teacher_id WHERE T2.salary < 1200",
            "SELECT count(*) FROM course",
            "SELECT room, count(*) FROM course GROUP BY room ORDER BY count(*) DESC, room",
        ],
    ),
    (
        "shop",
        "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT);
         CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (customer_id), price REAL, sale_date TEXT);",
        &[
            "SELECT first_name, last_name FROM customer WHERE city = 'Ulm'",
            "SELECT T2.city, sum(T1.price) FROM sale AS T1 JOIN customer AS T2 ON T1.customer_id = T2.customer_id GROUP BY T2.city",
            "SELECT max(price) FROM sale",
        ],
    ),
    (
        "port",
        "CREATE TABLE harbour (harbour_id INTEGER PRIMARY KEY, name TEXT, country TEXT, depth REAL);
         CREATE TABLE ship (ship_id INTEGER PRIMARY KEY, name TEXT, harbour_id INTEGER REFERENCES harbour (harbour_id), tonnage INTEGER);",
        &[
            "SELECT name FROM ship WHERE tonnage > 60",
            "SELECT T2.country, count(*) FROM ship AS T1 JOIN harbour AS T2 ON T1.harbour_id = T2.harbour_id GROUP BY T2.country",
            "SELECT avg(depth) FROM harbour",
        ],
    ),
];

struct World(TempDir);

impl World {
    /// The benchmark, so many rows in each table.
    fn new(rows: usize) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        let mut items = Vec::new();
        for (name, ddl, golds) in DATABASES {
            let script = format!("{ddl}\nBEGIN;\n{}COMMIT;", inserts(ddl, rows));
            write_database(&world.path("database"), name, &script);
            for gold in golds {
                let question = format!("What is asked in number {}?", items.len());
                items.push(
                    json!({"question_id": items.len(), "db_id": name, "question": question, "query": gold}),
                );
            }
        }
        world.write("dev.json", &json!(items).to_string());
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// `command --gold … --db … --out OUT` and further words; those that begin with `@` are paths.
    fn words(&self, command: &str, out: &str, further: &[&str]) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let mut words = [command, "--gold", "@dev.json", "--db", "@database", "--quiet", "--out"]
            .map(str::to_owned)
            .to_vec();
        words.push(format!("@{out}"));
        words.extend(further.iter().map(|word| (*word).to_owned()));
        let resolved = words.into_iter().map(|word| match word.split_once('@') {
            Some((before, name)) => format!("{before}{}", path(name)),
            None => word,
        });
        resolved.collect()
    }

    fn run(&self, command: &str, out: &str, further: &[&str]) {
        let output = sqlgauge(&self.words(command, out, further));
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// The queries of an evolved benchmark under that name, as a prediction file.
    fn predict(&self, benchmark: &str, field: &str, to: &str) {
        let items = self.json(&format!("{benchmark}/dev.json"));
        let queries: Vec<&str> =
            items.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap()).collect();
        self.write(to, &queries.join("\n"));
    }
}

/// Rows for the tables of a script: numbers in a small range, so that foreign keys have partners, names, dates.
fn inserts(ddl: &str, rows: usize) -> String {
    let mut text = String::new();
    for statement in ddl.split(';').filter_map(|part| part.trim().strip_prefix("CREATE TABLE ")) {
        let (table, columns) = statement.split_once(" (").unwrap();
        for row in 1..=rows {
            let value = |(at, column): (usize, &str)| match column {
                _ if at == 0 => row.to_string(),
                _ if column.contains("REFERENCES") => (1 + row * 7 % rows).to_string(),
                _ if column.contains("date") => format!("'20{:02}-0{}-1{}'", row % 30, 1 + row % 9, row % 9),
                _ if column.contains("full_name") => format!("'Ann{row} Lee{}'", row % 5),
                _ if column.contains("REAL") || column.contains("INTEGER") => {
                    format!("{}", 1000 + row * 37 % 900)
                }
                _ if column.contains("city") => ["'Ulm'", "'Bonn'", "'Kiel'"][row % 3].to_owned(),
                _ => format!("'{table} {}'", row % 11),
            };
            let values: Vec<String> = columns.split(", ").enumerate().map(value).collect();
            let _ = writeln!(text, "INSERT INTO {table} VALUES ({});", values.join(", "));
        }
    }
    text
}

/// Every folder that has its name is a whole benchmark: its records end in statistics, and SQLite finds its databases sound.
fn assert_whole(out: &Path) {
    let Ok(entries) = std::fs::read_dir(out) else { return };
    for folder in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        if folder.to_string_lossy().ends_with("partial") {
            continue;
        }
        let changes = std::fs::read_to_string(folder.join("changes.jsonl")).unwrap();
        assert!(
            changes.lines().last().unwrap().starts_with(r#"{"record":"statistics""#),
            "{}",
            folder.display()
        );
        for (name, _) in
            tree(&folder).into_iter().filter(|(name, _)| name.extension().is_some_and(|e| e == "sqlite"))
        {
            let connection = Connection::open(folder.join(&name)).unwrap();
            let answer: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(answer, "ok", "{}", name.display());
        }
    }
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let world = World::new(3000);
    let further = [
        "--seed",
        "7",
        "--jobs",
        "2",
        "--kinds",
        "rename-columns,split-columns,split-tables,merge-tables,add-tables,invent-tables",
    ];
    let started = Instant::now();
    world.run("evolve", "unbroken", &further);
    let whole = started.elapsed();
    let wanted = tree(&world.path("unbroken"));
    assert!(wanted.keys().any(|name| name.extension().is_some_and(|extension| extension == "sqlite")));

    // The longest wait follows what is seen, so that the outcome does not depend on how fast the machine is.
    let mut state: u64 = 20_261_122;
    let (mut longest, mut killed, mut at_work) = (whole, 0, 0);
    while killed < kills() || at_work == 0 {
        assert!(killed < 100 * kills(), "never killed at work");
        state = next_state(state);
        let share = f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24);
        let mut child = Command::new(env!("CARGO_BIN_EXE_sqlgauge"))
            .args(world.words("evolve", "out", &further))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(longest.mul_f64(share));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            assert_same(&tree(&world.path("out")), &wanted, "begun again");
            std::fs::remove_dir_all(world.path("out")).unwrap();
            longest /= 2;
            continue;
        }
        killed += 1;
        assert_whole(&world.path("out"));
        if has_partial(&world.path("out")) {
            at_work += 1;
        } else {
            longest *= 2;
        }
    }
    world.run("evolve", "out", &further);
    assert_same(&tree(&world.path("out")), &wanted, "begun again");
}

/// A disk that is full says nothing of a database: it ends the command, and with space the same command makes the same bytes.
#[test]
#[cfg(unix)]
fn a_full_disk_is_the_outcome_of_no_item() {
    let world = World::new(3000);
    let further = ["--seed", "7", "--kinds", "rename-columns,split-tables"];
    world.run("evolve", "unbroken", &further);
    let wanted = tree(&world.path("unbroken"));
    let largest = wanted.values().map(Vec::len).max().unwrap().div_ceil(512);
    for blocks in [0, 1, 2, 8, 32, largest / 2, largest - 8] {
        // Files may not grow beyond so many blocks: the system refuses the write as it does on a full disk.
        let script = format!("ulimit -f {blocks}; exec \"$@\"");
        let mut limited = Command::new("sh");
        limited.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_sqlgauge")]);
        let output = limited.args(world.words("evolve", "out", &further)).output().unwrap();
        let what = format!("ulimit -f {blocks}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(2), "{what}");
        assert!(what.contains("cannot be written"), "{what}");
        world.run("evolve", "out", &further);
        assert_same(&tree(&world.path("out")), &wanted, "begun again");
        std::fs::remove_dir_all(world.path("out")).unwrap();
    }
}

/// How often it is killed: as `EVOLVE_KILLS` says.
fn kills() -> usize {
    std::env::var("EVOLVE_KILLS").map_or(8, |text| text.parse().unwrap())
}

fn has_partial(out: &Path) -> bool {
    let names = std::fs::read_dir(out).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.into_iter().any(|name| name.to_string_lossy().ends_with("partial"))
}

/// Looks at every example of a training file and its validation file; gives their kinds.
fn check_examples(world: &World, items: &Value) -> BTreeSet<String> {
    let lines = |name: &str| -> Vec<Value> {
        world.text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (train, validation) = (lines("sft.jsonl"), lines("sft.validation.jsonl"));
    assert!(!train.is_empty() && !validation.is_empty());
    let source =
        |example: &Value| items[usize::try_from(example["source_index"].as_u64().unwrap()).unwrap()].clone();
    let databases = |side: &[Value]| -> BTreeSet<String> {
        side.iter().map(|example| source(example)["db_id"].to_string()).collect()
    };
    assert!(databases(&train).is_disjoint(&databases(&validation)));
    let mut kinds = BTreeSet::new();
    for example in train.iter().chain(&validation) {
        let content = |at: usize| example["messages"][at]["content"].as_str().unwrap();
        let (user, answer, source) = (content(1), content(2), source(example));
        assert_eq!(source["question"].as_str().map(str::trim), example["question"].as_str().map(str::trim));
        let kind = example["kind"].as_str().unwrap();
        kinds.insert(kind.to_owned());
        let ddl = user.split("\n\n-- ").next().unwrap();
        let empty = Connection::open_in_memory().unwrap();
        empty.execute_batch(ddl).unwrap_or_else(|error| panic!("{kind}: {error}\n{ddl}"));
        if kind.ends_with("-in-gold") {
            assert!(answer.contains("insufficient to generate an SQL query"), "{answer}");
            assert!(empty.prepare(source["query"].as_str().unwrap()).is_err(), "{kind}: {ddl}");
        } else {
            // The answer reads nothing that the prompt does not show.
            empty.prepare(answer).unwrap_or_else(|error| panic!("{kind}: {error}\n{ddl}\n{answer}"));
        }
    }
    kinds
}

#[test]
fn training_data_are_made_of_evolved_schemas() {
    let world = World::new(12);
    world.run("augment", "sft.jsonl", &["--kinds", "all", "--seed", "3", "--validation", "0.4"]);
    let kinds = check_examples(&world, &world.json("dev.json"));
    for kind in [
        "original",
        "rename-columns",
        "rename-tables",
        "split-tables",
        "merge-tables",
        "remove-tables-in-gold",
    ] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn training_data_of_a_real_benchmark_show_what_their_answers_read() {
    let Some(data) = sqlgauge_conformance::data() else { return };
    let spider = data.join("spider");
    let all: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(spider.join("dev.json")).unwrap()).unwrap();
    let some = ["concert_singer", "pets_1", "student_transcripts_tracking", "tvshow", "orchestra"];
    let items: Vec<Value> =
        all.into_iter().filter(|item| some.contains(&item["db_id"].as_str().unwrap())).collect();
    let world = World(tempfile::tempdir().unwrap());
    world.write("dev.json", &json!(items).to_string());
    let mut words =
        world.words("augment", "sft.jsonl", &["--kinds", "all", "--seed", "7", "--validation", "0.4"]);
    let at = words.iter().position(|word| word == "--db").unwrap();
    words[at + 1] = spider.join("database").display().to_string();
    let output = sqlgauge(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    let kinds = check_examples(&world, &json!(items));
    assert!(kinds.len() >= 12, "{kinds:?}");
}

#[test]
fn steps_and_intensities_are_curves() {
    let world = World::new(12);
    world.run("evolve", "steps", &["--steps", "3", "--seed", "5"]);
    for intensity in ["0.3", "1.0"] {
        let folder = format!("at{intensity}");
        world.run("evolve", &folder, &["--kinds", "rename-columns", "--seed", "5", "--intensity", intensity]);
        for (system, field) in [("rewritten", "query"), ("unchanged", "source_query")] {
            let to = format!("preds/{system}/{folder}/rename-columns.sql");
            world.predict(&format!("{folder}/rename-columns"), field, &to);
        }
    }
    for step in 1..=3 {
        for (system, field) in [("rewritten", "query"), ("unchanged", "source_query")] {
            world.predict(
                &format!("steps/step-{step}"),
                field,
                &format!("preds/{system}/steps/step-{step}.sql"),
            );
        }
    }
    let golds: Vec<&str> = DATABASES.iter().flat_map(|(_, _, golds)| golds.iter().copied()).collect();
    world.write("original.sql", &golds.join("\n"));
    let metrics = ["--metrics", "ex,table-f1,column-f1"];
    let systems = ["--pred", "rewritten=@original.sql", "--pred", "unchanged=@original.sql"];
    world.run("score", "runs/original", &[metrics.as_slice(), &systems].concat());
    let mut words: Vec<String> = vec!["robustness".to_owned(), "--quiet".to_owned()];
    for (flag, value) in [
        ("--original", "@runs/original"),
        ("--evolved", "@at0.3"),
        ("--evolved", "@at1.0"),
        ("--evolved", "@steps"),
        ("--pred", "rewritten=@preds/rewritten"),
        ("--pred", "unchanged=@preds/unchanged"),
        ("--out", "@robust"),
    ] {
        let (before, name) = value.split_once('@').unwrap();
        words.extend([flag.to_owned(), format!("{before}{}", world.path(name).display())]);
    }
    let output = sqlgauge(&words);
    assert!(output.status.success(), "{}", stderr(&output));

    let report = world.json("robust/robustness.json");
    let (rewritten, unchanged) = (&report["systems"][0], &report["systems"][1]);
    let places = |system: &Value| -> Vec<(Value, Value)> {
        let rows = system["rows"].as_array().unwrap().iter();
        rows.map(|row| (row["step"].clone(), row["intensity"].clone())).collect()
    };
    let expected = [
        (json!(null), json!(0.3)),
        (json!(null), json!(1.0)),
        (json!(1), json!(0.5)),
        (json!(2), json!(0.5)),
        (json!(3), json!(0.5)),
    ];
    assert_eq!(places(rewritten), expected);
    for row in rewritten["rows"].as_array().unwrap() {
        assert_eq!(row["scores"]["ex@1"]["mean"], 1.0, "{}", row["label"]);
    }
    let ex = |at: usize| unchanged["rows"][at]["scores"]["ex@1"]["mean"].as_f64().unwrap();
    // More is renamed, so that less of what was written for the old schema runs.
    assert!(ex(1) <= ex(0) && ex(1) < 1.0, "{} {}", ex(0), ex(1));
    assert!(ex(4) <= ex(2), "{} {}", ex(2), ex(4));
    let page = world.text("robust/report.html");
    for title in
        ["unchanged: step by step", "unchanged: rename-columns by intensity", "rewritten: step by step"]
    {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.matches("<svg").count() >= 4, "a curve for each system over steps and intensities");
    let table = world.text("robust/robustness.csv");
    assert!(
        table.contains("rewritten,step-3,0.5,3,ex@1,")
            && table.contains("unchanged,rename-columns,0.3,,ex@1,"),
        "{table}"
    );
}

#[test]
fn foreign_keys_of_a_tables_json_are_followed() {
    let world = World::new(6);
    // The same databases without foreign keys.
    let mut entries = Vec::new();
    for (name, ddl, _) in DATABASES {
        let file = world.path("database").join(name).join(format!("{name}.sqlite"));
        std::fs::remove_file(&file).unwrap();
        let words: Vec<&str> = ddl.split(" REFERENCES ").collect();
        let bare: String = std::iter::once(words[0].to_owned())
            .chain(words[1..].iter().map(|part| part.split_once(')').unwrap().1.to_owned()))
            .collect();
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch(&format!("{bare}\nBEGIN;\n{}COMMIT;", inserts(ddl, 6))).unwrap();
        entries.push(tables_entry(name, &bare, ddl));
    }
    let merged = |out: &str, further: &[&str]| {
        world.run("evolve", out, &[&["--kinds", "merge-tables", "--intensity", "1"], further].concat());
        world
            .text(&format!("{out}/merge-tables/changes.jsonl"))
            .matches(r#""operator":"merge_tables""#)
            .count()
    };
    assert_eq!(merged("without", &[]), 0);
    world.write("tables.json", &json!(entries).to_string());
    assert_eq!(merged("with", &["--tables", "@tables.json"]), 3);
    let written = world.json("with/merge-tables/dev.json");
    assert_eq!(written.as_array().unwrap().len(), 10);

    world.write("tables.json", &json!(entries[..2]).to_string());
    let words = world.words("evolve", "less", &["--kinds", "merge-tables", "--tables", "@tables.json"]);
    let output = sqlgauge(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the tables.json has no database \"port\""), "{}", stderr(&output));
}

/// The entry of a database: its columns, and the foreign keys that `ddl` has.
fn tables_entry(name: &str, bare: &str, ddl: &str) -> Value {
    let statements = |script: &str| -> Vec<(String, Vec<String>)> {
        let parts = script.split(';').filter_map(|part| part.trim().strip_prefix("CREATE TABLE "));
        let parts = parts.map(|part| part.split_once(" (").unwrap());
        parts
            .map(|(table, columns)| (table.to_owned(), columns.split(", ").map(str::to_owned).collect()))
            .collect()
    };
    let tables = statements(bare);
    let mut columns = vec![json!([-1, "*"])];
    for (at, (_, columns_of_table)) in tables.iter().enumerate() {
        columns.extend(columns_of_table.iter().map(|column| json!([at, column.split(' ').next().unwrap()])));
    }
    let number = |table: &str, column: &str| {
        let at = tables.iter().position(|(name, _)| name == table).unwrap();
        columns.iter().position(|column_of_table| *column_of_table == json!([at, column])).unwrap()
    };
    let mut keys = Vec::new();
    for (table, parts) in statements(ddl) {
        for column in parts.iter().filter(|column| column.contains(" REFERENCES ")) {
            let (parent, key) = column.split_once(" REFERENCES ").unwrap().1.split_once(" (").unwrap();
            let key = key.split(')').next().unwrap();
            keys.push(json!([number(&table, column.split(' ').next().unwrap()), number(parent, key)]));
        }
    }
    let names: Vec<&String> = tables.iter().map(|(table, _)| table).collect();
    let types = vec!["text"; columns.len()];
    json!({"db_id": name, "table_names_original": names, "column_names_original": columns, "column_types": types,
        "primary_keys": [], "foreign_keys": keys})
}

#[cfg(feature = "services")]
mod named_by_a_model {
    use super::*;
    use crate::server::{Reply, SeenRequest, Server};

    /// What a model might say: names that fit for some, keywords and names that are taken for others.
    fn answer(seen: &SeenRequest) -> Reply {
        let prompt = seen.prompt();
        let table = prompt.split("for the table ").nth(1).unwrap().split(',').next().unwrap();
        let names = match table {
            "teacher" => {
                json!({"table": ["instructor"], "columns": {"full_name": ["select", "whole_name"], "salary": ["title", "pay"],
                "birth_date": ["rowid"]}})
            }
            "ship" => return Reply::chat("I would rather not.", 9, 9),
            other => json!({"table": [format!("{other}_renamed")], "columns": {}}),
        };
        Reply::chat(&format!("```json\n{names}\n```"), 50, 20)
    }

    fn words(world: &World, server: &Server, out: &str) -> Vec<String> {
        let url = server.url();
        let further = [
            "--kinds",
            "rename-columns,rename-tables",
            "--intensity",
            "1",
            "--names",
            "llm",
            "--llm-url",
            &url,
            "--llm-model",
            "m",
        ];
        world.words("evolve", out, &further)
    }

    #[test]
    fn its_names_are_taken_where_they_fit_and_asked_for_once() {
        let server = Server::start(answer);
        let world = World::new(6);
        let mut loud = words(&world, &server, "out");
        loud.retain(|word| word != "--quiet");
        let output = sqlgauge(&loud);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("1 of 7 answers have no names"), "{}", stderr(&output));
        assert_eq!(server.count(), 7);
        let sent = server.seen()[0].body.to_string();
        assert!(!sent.contains("Ann1") && sent.contains("\"max_tokens\""), "no row is sent: {sent}");
        let changes = |kind: &str| -> Vec<Value> {
            let text = world.text(&format!("out/{kind}/changes.jsonl"));
            let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            records
                .filter(|record| record["record"] == "schema")
                .flat_map(|record| record["changes"].as_array().unwrap().clone())
                .collect()
        };
        let columns = changes("rename-columns");
        let renamed: BTreeSet<(&str, &str)> = columns
            .iter()
            .map(|change| (change["column"].as_str().unwrap(), change["to"].as_str().unwrap()))
            .collect();
        // `title` is a column of the schema, `select` a keyword, `rowid` SQLite's; not every column is drawn.
        assert!(
            !renamed.is_empty()
                && renamed.is_subset(&BTreeSet::from([("full_name", "whole_name"), ("salary", "pay")])),
            "{renamed:?}"
        );
        let tables = changes("rename-tables");
        for change in &tables {
            let (table, to) = (change["table"].as_str().unwrap(), change["to"].as_str().unwrap());
            assert!(to == format!("{table}_renamed") || (table, to) == ("teacher", "instructor"), "{change}");
        }
        assert!(!tables.is_empty());
        let header = world.text("out/rename-tables/changes.jsonl");
        assert!(header.lines().next().unwrap().contains(r#""names":"m""#), "{header}");

        // Another folder of the same answers: no server is needed.
        let url = server.url();
        drop(server);
        let cache = world.path("out.answers").display().to_string();
        let further = [
            "--kinds",
            "rename-columns,rename-tables",
            "--intensity",
            "1",
            "--names",
            "llm",
            "--llm-url",
            &url,
            "--llm-model",
            "m",
            "--llm-cache",
            &cache,
        ];
        world.run("evolve", "again", &further);
        assert_eq!(tree(&world.path("again")), tree(&world.path("out")));
    }

    #[test]
    fn without_an_answer_nothing_is_written() {
        let server = Server::start(|_| Reply::error(401, "no"));
        let world = World::new(3);
        let output = sqlgauge(&words(&world, &server, "out"));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("no names for the table")
                && stderr(&output).contains("running it again goes on"),
            "{}",
            stderr(&output)
        );
        assert!(!world.path("out/rename-tables").exists());
        let output = sqlgauge(&world.words("evolve", "out", &["--names", "llm"]));
        assert!(stderr(&output).contains("give --llm-url and --llm-model"), "{}", stderr(&output));
    }
}
