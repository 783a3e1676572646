//! What `sqlgauge tables` says of the files that it was given, and what `translate` and `synth` say of theirs.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use rusqlite::Connection;

use crate::common::{stderr, stdout};

const SALES: &str = "\
id,price,fee,active,day,quantity
1,\"$1,234.50\",\"3,5\",yes,2024-01-05,\"1,234\"
2,$5,\"1.234,50\",no,05/01/2024,\"5,678\"
3,$12,\"0,75\",Yes,\"Jan 5, 2024\",980
3,$12,\"0,75\",Yes,\"Jan 5, 2024\",980
4,$7,\"2,1\",no,2024-02-01,12,more
5,$8
6,$9.99,\"4,2\",no,2024-02-01,12
";

fn sqlgauge_in(folder: &Path, words: &[&str]) -> Output {
    Command::cargo_bin("sqlgauge").unwrap().current_dir(folder).args(words).output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("in");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("sales.csv"), SALES).unwrap();
    std::fs::write(files.join("notes.md"), "# no table").unwrap();
    std::fs::write(files.join("broken.csv"), "a,b\n\0,1\n").unwrap();
    folder
}

fn rows(folder: &Path, sql: &str) -> Vec<String> {
    let database = Connection::open(folder.join("out/sales/sales.sqlite")).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_is_left_out_or_stays_text_is_named_with_the_remedy() {
    let folder = folder();
    let output = sqlgauge_in(folder.path(), &["tables", "in", "--out", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "\
files used: 1 of 3; databases: 1; tables: 1; foreign keys: 0; tables.jsonl has every decision
files left out:
  broken.csv: a NUL byte without a byte order mark: not a text, or UTF-16 without its mark; convert it to UTF-8
  notes.md: not a table, by its file extension
rows:
  sales.csv: 1 line (5): repeated, left out; --keep-duplicates keeps them
  sales.csv: 1 line (7): too few values, left out; --fill-short-lines keeps them, with NULL for the rest
  sales.csv: 1 line (6): too many values, left out; put quotes around values that hold ','
columns:
  sales.csv: `price` is REAL: `$` is taken off its values
  sales.csv: `active` stays text: its values are `yes` and `no`; --booleans stores 1 and 0 instead
  sales.csv: `day` stays text: in `05/01/2024` the day or the month may come first; say which with --date-order day-first or month-first
  sales.csv: `quantity` stays text: `1,234` has two readings; say which with --decimal-mark point (as in 1,234.5) or comma (as in 1.234,5)
"
    );
    let rows =
        rows(folder.path(), "SELECT format('%s %s %s %s %s', price, fee, active, day, quantity) FROM sales");
    assert_eq!(
        rows,
        [
            "1234.5 3.5 yes 2024-01-05 1,234",
            "5.0 1234.5 no 05/01/2024 5,678",
            "12.0 0.75 Yes Jan 5, 2024 980",
            "9.99 4.2 no 2024-02-01 12"
        ]
    );
}

#[test]
fn the_remedies_that_are_named_are_options() {
    let folder = folder();
    let words = [
        "tables",
        "in",
        "--out",
        "out",
        "--decimal-mark",
        "point",
        "--date-order",
        "day-first",
        "--booleans",
        "--fill-short-lines",
        "--keep-duplicates",
    ];
    let output = sqlgauge_in(folder.path(), &words);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stdout(&output).contains("stays text"), "{}", stdout(&output));
    let lines = rows(folder.path(), "SELECT format('%s %s %s %s', id, active, day, quantity) FROM sales");
    let expected = [
        "1 1 2024-01-05 1234",
        "2 0 2024-01-05 5678",
        "3 1 2024-01-05 980",
        "3 1 2024-01-05 980",
        "5   ",
        "6 0 2024-02-01 12",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_strict_run_is_an_error_that_names_file_and_line() {
    let folder = folder();
    std::fs::remove_file(folder.path().join("in/broken.csv")).unwrap();
    let output = sqlgauge_in(folder.path(), &["tables", "in", "--out", "out", "--strict"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("sales.csv, line 6: 7 values, but the header has 6 names"),
        "{}",
        stderr(&output)
    );
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_query_that_a_dialect_cannot_say_is_an_error_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let database = Connection::open(folder.path().join("t.sqlite")).unwrap();
    database
        .execute_batch("CREATE TABLE t (name TEXT, v); INSERT INTO t VALUES ('Zoë', 1), ('Al', 'x')")
        .unwrap();
    let translated =
        |to: &str, sql: &str| sqlgauge_in(folder.path(), &["translate", "--db", "t.sqlite", "--to", to, sql]);
    let refused = translated("duckdb", "SELECT v FROM t");
    assert_eq!((refused.status.code(), stdout(&refused).as_str()), (Some(2), ""));
    let sentence = "DuckDB has nothing with SQLite's meaning for a column that holds both numbers and texts, or texts and blobs: the \
                column v; make its values one type in the data";
    assert!(stderr(&refused).contains(sentence), "{}", stderr(&refused));
    // Where every dialect refuses nothing is translated.
    let several = translated("duckdb,postgres", "SELECT v FROM t");
    assert_eq!(several.status.code(), Some(2));
    assert!(stdout(&several).contains(&format!("-- {sentence}\n")), "{}", stdout(&several));
    let plain = translated("mysql", "SELECT 1 FROM t WHERE name LIKE 'Al%'");
    assert_eq!(stdout(&plain), "SELECT 1 FROM `t` WHERE LOWER(`t`.`name`) LIKE 'al%'\n");
}

#[test]
fn questions_of_a_corpus_say_nothing_beside_the_point_unless_they_are_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let database = Connection::open(folder.path().join("music.sqlite")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
             INSERT INTO singer SELECT i, 'Singer ' || i, 20 + i % 9 FROM n;",
        )
        .unwrap();
    let distracted = |out: &str, further: &[&str]| {
        let words =
            ["synth", "--db", "music.sqlite", "--count", "40", "--seed", "3", "--quiet", "--out", out];
        let output = sqlgauge_in(folder.path(), &[&words, further].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let pairs =
            std::fs::read_to_string(folder.path().join(out).join("data/train-00000-of-00001.jsonl")).unwrap();
        let with = pairs.lines().filter(|line| !line.contains(r#""distractors":[]"#)).count();
        (with, pairs)
    };
    assert_eq!(distracted("plain", &[]).0, 0);
    let (with, pairs) = distracted("asked", &["--distractors", "0.5"]);
    assert!(with > 5, "{with}");
    assert_eq!(distracted("again", &["--distractors", "0.5"]).1, pairs);
}
