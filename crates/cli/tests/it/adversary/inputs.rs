//! What the commands read, and how they are called.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::command;
use crate::common::stderr;

/// The inputs of all commands, in one folder.
pub(crate) struct Inputs {
    pub(crate) folder: TempDir,
}

impl Inputs {
    pub(crate) fn new() -> Self {
        let inputs = Self { folder: tempfile::tempdir().unwrap() };
        let items = 40;
        let database = inputs.path("database/shop");
        fs::create_dir_all(&database).unwrap();
        let connection = rusqlite::Connection::open(database.join("shop.sqlite")).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
                 CREATE TABLE sale (item INTEGER REFERENCES item(id), day TEXT, count INTEGER);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                 INSERT INTO item SELECT i, 'item ' || i, i * 0.5 FROM n;
                 INSERT INTO sale SELECT id, '2024-01-' || (id % 28), id % 7 FROM item;",
            )
            .unwrap();
        let questions: Vec<serde_json::Value> = (0..items)
            .map(|at| {
                serde_json::json!({"question_id": at, "db_id": "shop", "question": format!("Which items cost {at}?"),
                    "SQL": format!("SELECT name FROM item WHERE price > {at} ORDER BY name")})
            })
            .collect();
        inputs.write("dev.json", &serde_json::to_string(&questions).unwrap());
        for (system, right) in [("good", 4), ("fair", 2)] {
            let sql = |at: usize| {
                let sign = if at % 5 < right { ">" } else { "<" };
                format!("SELECT name FROM item WHERE price {sign} {at} ORDER BY name")
            };
            let lines: Vec<String> = (0..items)
                .map(|at| serde_json::json!({"id": at.to_string(), "sql": sql(at)}).to_string() + "\n")
                .collect();
            inputs.write(&format!("{system}.jsonl"), &lines.concat());
            // The same answers in the other formats.
            let all = || (0..items).map(|at| (at, sql(at)));
            let rows: String =
                all().map(|(at, sql)| format!("{at},\"{sql}\"")).collect::<Vec<_>>().join("\n");
            inputs.write(&format!("{system}.csv"), &format!("id,sql\n{rows}"));
            let list: Vec<_> =
                all().map(|(at, sql)| serde_json::json!({"id": at.to_string(), "sql": sql})).collect();
            inputs.write(&format!("{system}-list.json"), &serde_json::to_string(&list).unwrap());
            let map: serde_json::Map<_, _> = all().map(|(at, sql)| (at.to_string(), sql.into())).collect();
            inputs.write(&format!("{system}-map.json"), &serde_json::to_string(&map).unwrap());
            inputs.write(&format!("{system}.sql"), &all().map(|(_, sql)| sql + "\n").collect::<String>());
        }
        let golds: String = questions
            .iter()
            .map(|item| format!("{}\tshop", item["SQL"].as_str().unwrap()))
            .collect::<Vec<_>>()
            .join("\n");
        inputs.write("gold.sql", &golds);
        let labels: Vec<String> = (0..items).map(|at| format!("{at}\t{}\n", at % 2)).collect();
        inputs.write("labels.tsv", &format!("id\tcorrect\n{}", labels.concat()));
        inputs
            .write("schema.sql", "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> ''));");
        fs::create_dir(inputs.path("sources")).unwrap();
        for file in 0..4 {
            let rows: Vec<String> =
                (0..30).map(|row| format!("{row},name {row},{}\n", row * file % 7)).collect();
            inputs.write(&format!("sources/part{file}.csv"), &format!("id,name,a\n{}", rows.concat()));
        }
        inputs.write("own.toml", "[rules]\n[metrics]\njson = true\n");
        inputs.write(
            "tables.json",
            r#"[{"db_id": "shop", "table_names_original": ["item"], "table_names": ["item"],
                "column_names_original": [[-1, "*"], [0, "id"], [0, "name"]], "column_names": [[-1, "*"], [0, "id"], [0, "name"]],
                "column_types": ["text", "number", "text"], "primary_keys": [1], "foreign_keys": []}]"#,
        );
        inputs.run(&["score", "--out", "known", "--quiet"]);
        inputs.run(&["verify", "--out", "verified", "--quiet"]);
        inputs.run(&["monitor", "--log", "log.jsonl", "--as-of", "may", "--quiet"]);
        if cfg!(feature = "evaluator") {
            inputs.run(&["encode", "--out", "source.parquet", "--quiet"]);
            inputs.run(&["fit", "--out", "evaluator", "--quiet"]);
        }
        inputs
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// What each of the commands that write needs besides its output, all by relative paths.
    pub(crate) fn arguments(words: &[&str]) -> Vec<String> {
        let common: &[&str] = match words[0] {
            "score" => &[
                "--gold",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "good=good.jsonl",
                "--pred",
                "fair=fair.jsonl",
                "--metrics",
                "ex-spider,ex,esm",
                "--jobs",
                "2",
                "--now",
                "2026-01-31",
            ],
            "evolve" => &["--gold", "dev.json", "--db", "database"],
            "synth" => &["--db", "database", "--count", "200"],
            "import" => &[
                "--questions",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "good=good.jsonl",
                "--correct",
                "labels.tsv",
            ],
            "verify" => &[
                "--gold",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "good=good.jsonl",
                "--pred",
                "fair=fair.jsonl",
                "--jobs",
                "2",
                "--now",
                "2026-01-31",
            ],
            "verify-pair" => {
                &["--left", "SELECT name FROM item", "--right", "SELECT name FROM item WHERE id > 1"]
            }
            "score-alone" => &["--db", "database", "--metrics", "ex,esm-fair,etm", "--out", "out", "--quiet"],
            "estimate" | "monitor" if !words.contains(&"--evaluator") => &[
                "--known",
                "known",
                "--questions",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "good=good.jsonl",
                "--now",
                "2026-01-31",
            ],
            "encode" => &[
                "--questions",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "good=good.jsonl",
                "--encoder",
                "tfidf:max=64",
                "--correct",
                "labels.tsv",
            ],
            "fit" => &[
                "--source",
                "source.parquet",
                "--corpus",
                "source.parquet",
                "--sets",
                "120",
                "--set-size",
                "30",
                "--smallest-set",
                "5",
                "--regressor",
                "knn",
            ],
            _ => &[],
        };
        // The name of a set of arguments is that of a command with what tells it from others behind it.
        let command = words[0].split('-').next().into_iter();
        command.chain(words[1..].iter().copied()).chain(common.iter().copied()).map(str::to_owned).collect()
    }

    pub(crate) fn run(&self, words: &[&str]) {
        let output = command(self.folder.path(), &Self::arguments(words)).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }
}
