//! Schemas that a tool trips over: without keys, with reserved words, blanks, quotes and unicode in names, views, triggers,
//! generated columns, WITHOUT ROWID, STRICT, self-references, cycles, no rows, 500 columns. Every item that any kind writes
//! is run by SQLite itself, the new gold and the unchanged one through the views.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use rusqlite::Connection;
use sqlgauge_dataset::{BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_evolve::layout::EvolveReason;
use sqlgauge_evolve::{ChangeKind, EvolveOptions, EvolvedItem, evolve};

use crate::common::{self, of_kinds};

/// Name, script, golds.
const WORLDS: [(&str, &str, &[&str]); 7] = [
    (
        "no_keys",
        "CREATE TABLE log (a, b TEXT, full_name TEXT);
         INSERT INTO log VALUES (1, 'x', 'Ann Lee'), (1.0, NULL, 'Bo Ray'), ('1', 'x', NULL), (NULL, 'y', 'Cy Dee');",
        &["SELECT a, b FROM log", "SELECT count(*) FROM log WHERE b = 'x'", "SELECT full_name FROM log", "SELECT * FROM log"],
    ),
    (
        "odd_names",
        r#"CREATE TABLE "select" ("from" INTEGER PRIMARY KEY, "na me" TEXT NOT NULL, "größe" REAL, "quo""te" TEXT UNIQUE);
           CREATE TABLE "order by" ("group" INTEGER REFERENCES "select" ("from"), "日付" DATE, "a.b" TEXT);
           CREATE INDEX "an index" ON "order by" ("日付" DESC) WHERE "a.b" IS NOT NULL;
           INSERT INTO "select" VALUES (1, 'Ann', 1.5, 'q''1'), (2, 'Bo', NULL, 'q"2'), (3, 'Bo', 2.0, NULL);
           INSERT INTO "order by" VALUES (1, '2020-01-02', 'x'), (1, '2021-03-04', NULL), (3, NULL, 'y');"#,
        &[
            r#"SELECT "na me", "größe" FROM "select" ORDER BY "from""#,
            r#"SELECT s."quo""te", count(*) FROM "select" AS s JOIN "order by" AS o ON s."from" = o."group" GROUP BY s."from""#,
            r"SELECT [a.b] FROM [order by] WHERE `日付` > '2020-06-01'",
            r#"SELECT * FROM "order by""#,
        ],
    ),
    (
        "views",
        "CREATE TABLE person (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, age INTEGER CHECK (age > 0));
         CREATE TABLE visit (person_id INTEGER NOT NULL REFERENCES person (id), visit_date TEXT, cost REAL);
         CREATE VIEW adults (nr, who) AS SELECT id, first_name FROM person WHERE age >= 18;
         CREATE TRIGGER kept AFTER INSERT ON visit BEGIN UPDATE person SET age = age WHERE id = new.person_id; END;
         CREATE UNIQUE INDEX once ON visit (person_id, visit_date);
         INSERT INTO person VALUES (1, 'Ann', 'Lee', 20), (2, 'Bo', 'Ray', 10), (3, 'Cy', 'Dee', 40);
         INSERT INTO visit VALUES (1, '2020-01-02', 2.5), (1, '2020-01-03', 1.0), (3, '2019-12-31', NULL);",
        &[
            "SELECT who FROM adults ORDER BY nr",
            "SELECT p.first_name, sum(v.cost) FROM person AS p LEFT JOIN visit AS v ON p.id = v.person_id GROUP BY p.id",
            "SELECT first_name || ' ' || last_name FROM person WHERE id IN (SELECT person_id FROM visit)",
            "SELECT a.who, v.visit_date FROM adults AS a, visit AS v WHERE a.nr = v.person_id",
        ],
    ),
    (
        "options",
        "CREATE TABLE product (code TEXT PRIMARY KEY, price REAL NOT NULL, cents AS (CAST(price * 100 AS INTEGER)) STORED) WITHOUT ROWID;
         CREATE TABLE sale (id INTEGER PRIMARY KEY, code TEXT NOT NULL REFERENCES product (code), amount INTEGER, note ANY) STRICT;
         CREATE TABLE pair (a INTEGER, b TEXT COLLATE NOCASE DEFAULT 'z', PRIMARY KEY (b, a));
         INSERT INTO product (code, price) VALUES ('AB-1', 1.25), ('AB-2', 3), ('CD-10', 0.5);
         INSERT INTO sale VALUES (1, 'AB-1', 2, 'x'), (2, 'AB-1', 1, 5), (3, 'CD-10', NULL, NULL);
         INSERT INTO pair VALUES (1, 'q'), (2, 'Q'), (2, 'r');",
        &[
            "SELECT code, cents FROM product WHERE price > 1",
            "SELECT p.code, sum(s.amount * p.price) FROM product AS p JOIN sale AS s ON p.code = s.code GROUP BY p.code",
            "SELECT note FROM sale",
            "SELECT count(*) FROM pair WHERE b = 'q'",
        ],
    ),
    (
        "circles",
        "CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES employee (id), team INTEGER REFERENCES team (id));
         CREATE TABLE team (id INTEGER PRIMARY KEY, title TEXT, head INTEGER REFERENCES employee (id));
         INSERT INTO employee VALUES (1, 'Ann', NULL, 1), (2, 'Bo', 1, 1), (3, 'Cy', 1, 2), (4, 'Di', 3, NULL);
         INSERT INTO team VALUES (1, 'sales', 1), (2, 'tools', 3), (3, 'empty', NULL);",
        &[
            "SELECT e.name, b.name FROM employee AS e JOIN employee AS b ON e.boss = b.id",
            "SELECT t.title, e.name FROM team AS t LEFT JOIN employee AS e ON t.head = e.id ORDER BY t.id",
            "WITH RECURSIVE up(id) AS (SELECT 4 UNION SELECT boss FROM employee, up WHERE employee.id = up.id AND boss IS NOT NULL) SELECT id FROM up",
            "SELECT title FROM team WHERE id NOT IN (SELECT team FROM employee WHERE team IS NOT NULL)",
        ],
    ),
    (
        "no_rows",
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, founded DATE);
         CREATE TABLE street (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city (id), name TEXT);",
        &["SELECT name FROM city", "SELECT c.name, s.name FROM city AS c JOIN street AS s ON s.city_id = c.id", "SELECT count(*) FROM street"],
    ),
    ("wide", "", &["SELECT c1, c2 FROM wide WHERE c499 = 3", "SELECT count(*) FROM wide", "SELECT max(c250) FROM wide"]),
];

/// A table of 500 columns.
fn wide() -> String {
    let columns: Vec<String> = (1..=500).map(|n| format!("c{n} INTEGER")).collect();
    let mut script = format!("CREATE TABLE wide ({});\n", columns.join(", "));
    for row in 0..3 {
        let values: Vec<String> = (0..500).map(|n| (row + n % 7).to_string()).collect();
        let _ = writeln!(script, "INSERT INTO wide VALUES ({});", values.join(", "));
    }
    script
}

fn write(folder: &Path) {
    let mut items = Vec::new();
    for (name, script, golds) in WORLDS {
        let place = folder.join("database").join(name);
        std::fs::create_dir_all(&place).unwrap();
        let script = if script.is_empty() { wide() } else { script.to_owned() };
        Connection::open(place.join(format!("{name}.sqlite")))
            .unwrap()
            .execute_batch(&format!("PRAGMA foreign_keys = OFF;\n{script}"))
            .unwrap();
        items.extend(
            golds.iter().map(|gold| serde_json::json!({"db_id": name, "question": "?", "query": gold})),
        );
    }
    std::fs::write(folder.join("dev.json"), serde_json::to_string(&items).unwrap()).unwrap();
}

/// The rows in an order of their own: whether the gold's order is kept is `ex@1`'s part.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut rows = common::rows(connection, sql);
    rows.sort_unstable();
    rows
}

fn open(folder: &Path, name: &str) -> Connection {
    Connection::open(folder.join(name).join(format!("{name}.sqlite"))).unwrap()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_written_item_returns_the_rows_of_the_original() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let databases = folder.path().join("database");
    let source = BenchmarkSource { gold: folder.path().join("dev.json"), ..BenchmarkSource::default() };
    let benchmark = load_benchmark(&source).unwrap();
    let out = folder.path().join("out");
    let options = EvolveOptions { seed: 3, ..of_kinds(&ChangeKind::ALL) };
    let engine = SqliteEngine::new(Limits::default());
    let evolved =
        evolve(&benchmark, &Databases::open(&databases).unwrap(), &engine, &options, &out, &|_, _| ())
            .unwrap_or_else(|error| panic!("{error}"));
    for (kind, statistics) in evolved {
        let place = out.join(&kind);
        for reason in [
            EvolveReason::RowsDiffer,
            EvolveReason::ViewsDiffer,
            EvolveReason::MigrationFails,
            EvolveReason::NotExpressible,
        ] {
            let count = statistics.not_written.get(&reason);
            assert_eq!(
                count,
                None,
                "{kind}: {}",
                std::fs::read_to_string(place.join("changes.jsonl")).unwrap()
            );
        }
        let items: Vec<EvolvedItem> =
            serde_json::from_str(&std::fs::read_to_string(place.join("dev.json")).unwrap()).unwrap();
        assert_eq!(items.len(), statistics.written, "{kind}");
        let mut worlds = BTreeSet::new();
        for item in &items {
            let original = open(&databases, &item.source_db_id);
            if !item.answerable {
                let empty = Connection::open_in_memory().unwrap();
                empty
                    .execute_batch(&item.ddl)
                    .unwrap_or_else(|error| panic!("{kind}: {error}\n{}", item.ddl));
                assert!(
                    empty.prepare(&item.source_query).is_err(),
                    "{kind}: {} still runs",
                    item.source_query
                );
                continue;
            }
            let gold = rows(&original, &item.source_query);
            let evolved = open(&place.join("database"), &item.db_id);
            assert_eq!(rows(&evolved, &item.query), gold, "{kind}: {}\n{}", item.source_query, item.query);
            let views = place.join("database").join(&item.db_id).join("old_over_new.sql");
            evolved.execute_batch(&std::fs::read_to_string(views).unwrap()).unwrap();
            assert_eq!(
                rows(&evolved, &item.source_query),
                gold,
                "{kind}: {} through views",
                item.source_query
            );
            worlds.insert(item.source_db_id.clone());
        }
        // Every schema can be renamed.
        if matches!(kind.as_str(), "rename-columns" | "rename-tables") {
            assert_eq!(worlds.len(), WORLDS.len(), "{kind}: {worlds:?}");
        }
    }
}
