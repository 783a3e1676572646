//! Guessing does not pay.

mod common;

use std::path::{Path, PathBuf};

use common::{ask, code, request, reward, shop};
use sqlgauge_reward::{AnswerColumns, Code, Likeness, RewardError, RewardKind, RewardOptions};
use sqlgauge_verify::ColumnValues;

const COUNT: &str = "SELECT count(*) FROM sale WHERE amount > 6";

fn with_witnesses(folder: &Path) -> RewardOptions {
    RewardOptions { witnesses: true, growth: 0, ..RewardOptions::new(folder) }
}

/// `NOT IN` says nothing once a NULL is among the values; that only counts where the benchmark has NULLs.
#[test]
fn a_null_that_the_database_has_nowhere_is_not_held_against_an_answer() {
    let folder = shop();
    let reward = reward(with_witnesses(folder.path()));
    let of = |column: &str| {
        let answer = format!("SELECT id FROM sale WHERE id NOT IN (SELECT {column} FROM shop)");
        let gold = format!("SELECT id FROM sale EXCEPT SELECT {column} FROM shop");
        ask(&reward, &answer, &gold)
    };
    assert_eq!(of("rating").code, Code::Right, "{}", of("rating").reason);
    let result = of("NULLIF(rating, 3)");
    assert_eq!(result.code, Code::Wrong, "{}", result.reason);
    let database = rusqlite::Connection::open(folder.path().join("shop/shop.sqlite")).unwrap();
    database.execute_batch("INSERT INTO shop VALUES (4, 'Di', 'Rome', NULL); DELETE FROM sale").unwrap();
    let reward = common::reward(with_witnesses(folder.path()));
    let result = ask(
        &reward,
        "SELECT id FROM sale WHERE id NOT IN (SELECT rating FROM shop)",
        "SELECT id FROM sale EXCEPT SELECT rating FROM shop",
    );
    assert_eq!(result.code, Code::WrongOnWitness, "{}", result.reason);
}

/// Of names that do not repeat in the benchmark; that only counts where the gold does not ask about it.
#[test]
fn a_repeat_that_the_database_has_nowhere_is_held_against_an_answer_only_where_the_gold_asks() {
    let folder = shop();
    let like = |likeness| reward(RewardOptions { likeness, ..with_witnesses(folder.path()) });
    let (nulls, repeats) = (like(Likeness::Nulls), like(Likeness::Repeats));
    let sold = "SELECT name, count(*) FROM shop JOIN sale ON shop.id = shop_id GROUP BY";
    for (gold, answer, without, with) in [
        (format!("{sold} name"), format!("{sold} shop.id"), Code::Right, Code::WrongOnWitness),
        (
            "SELECT count(DISTINCT name) FROM shop".to_owned(),
            "SELECT count(*) FROM shop".to_owned(),
            Code::WrongOnWitness,
            Code::WrongOnWitness,
        ),
        (
            "SELECT name FROM shop GROUP BY name HAVING count(*) > 1".to_owned(),
            "SELECT name FROM shop WHERE 0".to_owned(),
            Code::WrongOnWitness,
            Code::WrongOnWitness,
        ),
    ] {
        assert_eq!(code(&repeats, &answer, &gold), without, "{answer}");
        assert_eq!(code(&nulls, &answer, &gold), with, "{answer}");
    }
    // Cities do repeat.
    let (gold, answer) =
        ("SELECT max(id) FROM shop GROUP BY city", "SELECT max(id) FROM shop GROUP BY city, name");
    assert_eq!(code(&repeats, answer, gold), Code::Wrong);
}

/// SQLite lets 1.3 stand in a column of integers.
#[test]
fn values_that_columns_do_not_declare_tell_only_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("code/code.sqlite");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE t (code TEXT PRIMARY KEY, a INT); INSERT INTO t VALUES ('x', 1), ('y', 2)",
        )
        .unwrap();
    let ask = |values, answer, gold| {
        let options = RewardOptions { values, likeness: Likeness::Nulls, ..with_witnesses(folder.path()) };
        reward(options).score(&[request(answer, gold, "code")]).unwrap().remove(0).code
    };
    let (gold, answer) = ("SELECT code FROM t WHERE a > 1.2", "SELECT code FROM t WHERE a > 1.4");
    for (values, code) in [
        (ColumnValues::Rows, Code::Right),
        (ColumnValues::Declared, Code::Right),
        (ColumnValues::Any, Code::WrongOnWitness),
    ] {
        assert_eq!(ask(values, answer, gold), code, "{values:?}");
    }
}

/// A database on which the gold has several results says nothing of an answer, whoever made it.
#[test]
fn a_tie_that_the_gold_breaks_is_not_held_against_an_answer() {
    let folder = shop();
    let reward = reward(with_witnesses(folder.path()));
    let gold = "SELECT name FROM shop ORDER BY rating LIMIT 1";
    let answer = "SELECT name FROM shop WHERE rating = (SELECT min(rating) FROM shop)";
    let result = ask(&reward, answer, gold);
    assert_eq!(result.code, Code::Right, "{}\n{:?}", result.reason, result.witness);
}

#[test]
fn columns_come_in_any_order_unless_that_is_asked_for() {
    let folder = shop();
    let any = [
        reward(RewardOptions::new(folder.path())),
        reward(with_witnesses(folder.path())),
        reward(RewardOptions { kind: RewardKind::Dense, ..RewardOptions::new(folder.path()) }),
    ];
    let ordered =
        reward(RewardOptions { columns: AnswerColumns::Ordered, ..RewardOptions::new(folder.path()) });
    let gold = "SELECT name, city, rating FROM shop ORDER BY id";
    for (answer, free, strict) in [
        ("SELECT rating, name, city FROM shop ORDER BY id", Code::Right, Code::Wrong),
        ("SELECT rating, name, city FROM shop ORDER BY id DESC", Code::Wrong, Code::Wrong),
        ("SELECT name, name, rating FROM shop ORDER BY id", Code::Wrong, Code::Wrong),
        ("SELECT rating, name, city, 1 FROM shop ORDER BY id", Code::Wrong, Code::Wrong),
    ] {
        for reward in &any {
            assert_eq!(code(reward, answer, gold), free, "{answer}");
        }
        assert_eq!(code(&ordered, answer, gold), strict, "{answer}");
    }
    // The benchmark's rows are the same either way; other databases tell the columns apart.
    let (gold, answer) =
        ("SELECT id, shop_id FROM sale WHERE id = 1", "SELECT shop_id, shop_id FROM sale WHERE id = 1");
    assert_eq!(code(&any[0], answer, gold), Code::Right);
    assert_eq!(code(&any[1], answer, gold), Code::WrongOnWitness);
}

#[test]
fn a_guess_is_right_on_the_database_alone() {
    let folder = shop();
    let (plain, guarded) = (reward(RewardOptions::new(folder.path())), reward(with_witnesses(folder.path())));
    for (prediction, gold, without, with) in [
        ("SELECT 4 FROM sale LIMIT 1", COUNT, Code::Right, Code::WrongOnWitness),
        ("SELECT CASE WHEN 1 THEN 4 ELSE id END FROM sale LIMIT 1", COUNT, Code::Right, Code::WrongOnWitness),
        (
            "SELECT 3 + count(*) FROM empty HAVING count(*) = 0",
            "SELECT count(*) FROM shop",
            Code::Right,
            Code::WrongOnWitness,
        ),
        (
            "SELECT id FROM shop WHERE 0",
            "SELECT id FROM shop WHERE city = 'Paris'",
            Code::Right,
            Code::WrongOnWitness,
        ),
        ("SELECT count(*) FROM sale WHERE id <> 3", COUNT, Code::Right, Code::WrongOnWitness),
        (
            "SELECT max(rating) FROM shop",
            "SELECT rating FROM shop WHERE id = 1",
            Code::Right,
            Code::WrongOnWitness,
        ),
        // Bare columns leave SQLite a choice, which does not help.
        (
            "SELECT CASE WHEN amount THEN 4 ELSE 4 END FROM sale GROUP BY 1 + 0 * count(id) LIMIT 1",
            COUNT,
            Code::DoesNotRun,
            Code::DoesNotRun,
        ),
        ("SELECT count(id) FROM sale WHERE amount >= 7", COUNT, Code::Right, Code::Right),
        ("SELECT count(*) FROM sale WHERE NOT amount <= 6", COUNT, Code::Right, Code::Right),
        (COUNT, COUNT, Code::Right, Code::Right),
    ] {
        assert_eq!(code(&plain, prediction, gold), without, "{prediction}");
        let result = ask(&guarded, prediction, gold);
        assert_eq!(result.code, with, "{prediction}: {}", result.reason);
        let script = result.witness.unwrap_or_default();
        assert_eq!(script.contains("CREATE TABLE"), with == Code::WrongOnWitness, "{prediction}: {script}");
    }
}

#[test]
fn ties_of_the_gold_are_not_held_against_it() {
    let folder = shop();
    let reward = reward(with_witnesses(folder.path()));
    let gold = "SELECT name FROM shop ORDER BY rating DESC LIMIT 1";
    assert_eq!(code(&reward, gold, gold), Code::Right);
    assert_eq!(
        code(&reward, "SELECT s.name FROM shop AS s ORDER BY s.rating DESC LIMIT 1", gold),
        Code::Right
    );
    assert_eq!(code(&reward, "SELECT name FROM shop ORDER BY id LIMIT 1", gold), Code::WrongOnWitness);
}

#[test]
fn by_heart_is_worth_little_in_parts_too() {
    let folder = shop();
    let options = RewardOptions { kind: RewardKind::Dense, ..with_witnesses(folder.path()) };
    let (guarded, plain) = (
        reward(options),
        reward(RewardOptions { kind: RewardKind::Dense, ..RewardOptions::new(folder.path()) }),
    );
    let echo = "SELECT 4 FROM sale LIMIT 1";
    assert_eq!(ask(&plain, echo, COUNT).value, Some(1.0));
    let worth = ask(&guarded, echo, COUNT);
    assert!(worth.code == Code::WrongOnWitness && worth.value.unwrap() < 0.6, "{worth:?}");
    assert_eq!(ask(&guarded, COUNT, COUNT).value, Some(1.0));
}

#[expect(clippy::unwrap_used, reason = "a helper of tests")]
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn a_folder_is_shared_and_grows() {
    let (folder, store) = (shop(), tempfile::tempdir().unwrap());
    let options = RewardOptions {
        witness_folder: Some(store.path().to_owned()),
        growth: 4,
        ..with_witnesses(folder.path())
    };
    let (one, other) = (reward(options.clone()), reward(options.clone()));
    let questions = [(COUNT.to_owned(), "shop".to_owned()), ("SELECT oops".to_owned(), "shop".to_owned())];
    let growth = one.prepare(&questions).unwrap();
    assert!(growth.questions == 2 && growth.witnesses > 0 && growth.failed == ["SELECT oops"], "{growth:?}");
    let before = files(store.path());
    assert_eq!(before.len(), growth.witnesses + 1);
    // The same folder is made anew, byte for byte.
    let again = tempfile::tempdir().unwrap();
    reward(RewardOptions { witness_folder: Some(again.path().to_owned()), ..options.clone() })
        .prepare(&questions)
        .unwrap();
    let names = |root: &Path, files: &[PathBuf]| -> Vec<_> {
        files
            .iter()
            .map(|path| (path.strip_prefix(root).unwrap().to_owned(), std::fs::read(path).unwrap()))
            .collect()
    };
    assert_eq!(names(store.path(), &before), names(again.path(), &files(again.path())));
    // What one finds, the other sees in its next batch.
    let sly = "SELECT count(*) FROM sale WHERE amount > 6 AND amount <> 1000003";
    assert_eq!(code(&one, sly, COUNT), Code::WrongOnWitness);
    let grown = files(store.path());
    assert!(grown.len() > before.len());
    assert_eq!(code(&other, sly, COUNT), Code::WrongOnWitness);
    assert_eq!(files(store.path()).len(), grown.len());
    // Wrong answers make witnesses too.
    let wrong = "SELECT count(*) FROM sale, shop WHERE amount > 6 AND shop.id = 77";
    one.score(&[request(wrong, COUNT, "shop")]).unwrap();
    // A file that is no witness is named.
    let bad = grown.iter().find(|path| path.extension().is_some_and(|extension| extension == "sql")).unwrap();
    std::fs::write(bad.with_file_name("zz.sql"), "DROP TABLE x").unwrap();
    match reward(options).score(&[request(COUNT, COUNT, "shop")]) {
        Err(error @ RewardError::Witnesses { .. }) => {
            assert!(error.to_string().contains("zz.sql"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_witness_that_is_no_file_or_creates_no_table_is_named() {
    let (folder, store) = (shop(), tempfile::tempdir().unwrap());
    let options =
        RewardOptions { witness_folder: Some(store.path().to_owned()), ..with_witnesses(folder.path()) };
    reward(options.clone()).prepare(&[(COUNT.to_owned(), "shop".to_owned())]).unwrap();
    let witness = files(store.path())
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "sql"));
    let witness = witness.unwrap();
    let name = witness.file_name().unwrap().to_str().unwrap();
    let assert_problem = |what: &str| {
        let error = reward(options.clone()).score(&[request(COUNT, COUNT, "shop")]).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(what), "{error}");
    };
    for text in ["", "-- SELECT 1\n"] {
        std::fs::write(&witness, text).unwrap();
        assert_problem("creates no table");
    }
    if cfg!(unix) {
        std::fs::remove_file(&witness).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&witness).status().unwrap().success());
        assert_problem("regular file");
    }
}
