//! Pairs that no database tells apart must survive; pairs that some database tells apart must be refuted.

mod choices;
mod pairs;
mod plainest;
mod schemas;

use std::sync::Arc;

use sqlgauge_search::{
    ColumnOrder, Contract, Need, Search, SearchOptions, SearchReason, SearchVerdict, Witness,
};
use sqlgauge_sql::schema::Schema;

const SCHOOL: &str = "
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT, founded INT);
    CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INT NOT NULL REFERENCES team(id), name TEXT,
        goals INT NOT NULL, height REAL, born DATE);
    CREATE TABLE coach (id INTEGER PRIMARY KEY, team_id INT REFERENCES team(id), name TEXT NOT NULL);
    CREATE TABLE plays (player_id INT NOT NULL REFERENCES player(id), season INT NOT NULL, minutes INT,
        PRIMARY KEY (player_id, season));
    CREATE TABLE loose (a, b, c);";

const ODD: &str = "
    CREATE TABLE person (ssn TEXT PRIMARY KEY, boss TEXT REFERENCES person(ssn), age INT CHECK (age >= 18 AND age < 70),
        nick TEXT COLLATE NOCASE, level INT CHECK (level IN (1, 2, 3)) NOT NULL) WITHOUT ROWID;
    CREATE TABLE item (k INT, part INT, price REAL NOT NULL, UNIQUE (k, part)) STRICT;
    CREATE TABLE left_side (id INTEGER PRIMARY KEY, other INT NOT NULL REFERENCES right_side(id));
    CREATE TABLE right_side (id INTEGER PRIMARY KEY, other INT REFERENCES left_side(id));
    CREATE TABLE part_use (k INT NOT NULL, part INT, n INT, FOREIGN KEY (k, part) REFERENCES item(k, part));";

fn schema(ddl: &str) -> Arc<Schema> {
    Arc::new(Schema::from_ddl(ddl).unwrap())
}

fn options(databases: usize) -> SearchOptions {
    SearchOptions { databases, ..SearchOptions::default() }
}

fn show(verdict: &SearchVerdict) -> String {
    match verdict {
        SearchVerdict::Refuted(refutation) => {
            format!("refuted: {}\n{}", refutation.difference(), refutation.database().script())
        }
        other => format!("{other:?}"),
    }
}

/// Every database that a search makes satisfies the schema; SQLite, with its checks on, says so.
#[test]
fn databases_satisfy_the_schema() {
    for (ddl, tables) in [(SCHOOL, vec!["plays", "coach"]), (ODD, vec!["person", "left_side", "part_use"])] {
        for seed in 0..40 {
            for table in &tables {
                let search = Search::new(schema(ddl), SearchOptions { seed, ..options(60) }).unwrap();
                // Differs on every database with a row of some kind, so that a witness is seen.
                let left = format!("SELECT count(*) FROM {table} WHERE 1");
                let verdict = search.refute(&left, "SELECT 0 + 0");
                let refutation = verdict.refutation().unwrap_or_else(|| panic!("{}", show(&verdict)));
                assert!(refutation.database().rows() > 0);
                satisfies(refutation.database());
            }
        }
    }
}

fn satisfies(witness: &Witness) {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&witness.script()).unwrap_or_else(|error| panic!("{error}\n{witness}"));
    let ask = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(ask("PRAGMA integrity_check"), ["ok"], "{witness}");
    assert!(ask("PRAGMA foreign_key_check").is_empty(), "{witness}");
    for table in &witness.tables {
        let columns: Vec<String> = table.columns.iter().map(|column| format!("\"{column}\"")).collect();
        let rows = format!("SELECT {} FROM \"{}\"", columns.join(", "), table.name);
        let mut statement = connection.prepare(&rows).unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..width)
                .map(|at| row.get_ref(at).map(sqlgauge_engine::Value::from))
                .collect::<Result<Vec<_>, _>>()
        });
        let rows: Vec<Vec<_>> = rows.unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(rows, table.rows, "the script gives the witness's own rows");
    }
}

#[test]
fn the_column_order_may_be_free() {
    let free = SearchOptions {
        contract: Contract { column_order: ColumnOrder::Free, ..Contract::default() },
        ..options(2000)
    };
    let search = Search::new(schema(SCHOOL), free).unwrap();
    let survives = |left: &str, right: &str| matches!(search.refute(left, right), SearchVerdict::Survived(_));
    assert!(survives("SELECT name, city FROM team", "SELECT city, name FROM team"));
    assert!(survives(
        "SELECT name, city FROM team ORDER BY founded",
        "SELECT city, name FROM team ORDER BY founded"
    ));
    assert!(!survives("SELECT name, city FROM team", "SELECT city, id FROM team"));
    assert!(!survives("SELECT name, city FROM team", "SELECT city, name FROM team WHERE founded > 3"));
}

#[test]
fn a_search_is_the_same_each_time_whatever_was_searched_before() {
    let schema = schema(SCHOOL);
    let pairs = [
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3"),
        ("SELECT count(*) FROM team", "SELECT count(city) FROM team"),
        ("SELECT name FROM team", "SELECT name FROM team WHERE 1"),
        ("SELECT a FROM loose", "SELECT nothing FROM loose"),
        ("SELECT name FROM player ORDER BY goals LIMIT 1", "SELECT name FROM player ORDER BY height LIMIT 1"),
    ];
    let refute_all = |options: SearchOptions| -> Vec<SearchVerdict> {
        let search = Search::new(Arc::clone(&schema), options).unwrap();
        pairs.iter().map(|(left, right)| search.refute(left, right)).collect()
    };
    let one = refute_all(options(300));
    let alone: Vec<SearchVerdict> = pairs
        .iter()
        .rev()
        .map(|(left, right)| Search::new(Arc::clone(&schema), options(300)).unwrap().refute(left, right))
        .collect();
    assert_eq!(alone.into_iter().rev().collect::<Vec<_>>(), one);
    let other = SearchOptions { seed: 1, ..options(300) };
    assert_ne!(refute_all(other), one);
}

#[test]
fn what_cannot_be_searched_says_why() {
    let ddl = "CREATE TABLE t (a INT, b AS (no_such_function(a))); CREATE TABLE s (a INT)";
    let search = Search::new(schema(ddl), options(50)).unwrap();
    let SearchVerdict::Inapplicable(why) = search.refute("SELECT a FROM s", "SELECT a FROM t") else {
        panic!()
    };
    assert!(why.code().starts_with("unsupported:"), "{why}");
    for (left, right, code) in [
        ("SELECT a FROM s", "SELECT nothing FROM s", "parse"),
        ("SELEC", "SELECT a FROM s", "parse"),
        ("SELECT a FROM s", "SELECT a FROM s WHERE a > random()", "nondeterministic"),
        ("SELECT a FROM s", "SELECT a FROM s ORDER BY random() LIMIT 1", "nondeterministic"),
        ("SELECT a FROM s", "SELECT name FROM sqlite_master", "unsupported:catalog"),
        ("SELECT a FROM s", "SELECT no_such_function(a) FROM s", "parse"),
        ("SELECT a FROM s", "SELECT a FROM s; SELECT 1", "parse"),
    ] {
        let SearchVerdict::Inapplicable(why) = search.refute(left, right) else { panic!("{right}") };
        assert_eq!(why.code(), code, "{right}: {why}");
    }
    let SearchVerdict::Inapplicable(why) = search.refute("SELECT a FROM s", "DROP TABLE s") else { panic!() };
    assert_eq!(why.reason, SearchReason::Parse);
    assert!(search.refute("SELECT a FROM s", "SELECT a + 1 FROM s").is_refuted(), "the table is still there");
}

/// Untrusted texts neither harm nor hang.
#[test]
fn hostile_texts_end() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    let started = std::time::Instant::now();
    let deep = format!("SELECT {}1{} FROM loose", "(".repeat(900), ")".repeat(900));
    let wide = format!("SELECT a FROM loose WHERE {}", vec!["a = 1"; 2000].join(" OR "));
    let joins = format!("SELECT 1 FROM {}", vec!["loose"; 60].join(", "));
    let hostile = [
        "ATTACH 'x.db' AS x",
        "SELECT load_extension('x')",
        "SELECT a FROM loose WHERE load_extension('x')",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_table_info('loose')",
        "DELETE FROM loose",
        "VACUUM INTO 'x.db'",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
        "WITH RECURSIVE c(n) AS (SELECT 'x' UNION ALL SELECT n || n FROM c) SELECT max(length(n)) FROM c",
        "SELECT a, hex(zeroblob(1000000000)) FROM loose",
        "SELECT printf('%.*c', 2000000000, 'x') FROM loose",
        "SELECT replace(hex(zeroblob(8000)), '0', hex(zeroblob(8000))) FROM loose",
        "SELECT group_concat(x.a || printf('%.*c', 9000, 'x')) FROM loose x, loose y, loose z",
        "SELECT count(*) FROM player a, player b, player c, player d, player e, player f, player g, player h, player i",
        "SELECT a FROM loose WHERE printf('%.*c', 9000, 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b'",
        "SELECT a FROM loose WHERE a = ?",
        "EXPLAIN SELECT a FROM loose",
        deep.as_str(),
        wide.as_str(),
        joins.as_str(),
        "\0",
        "",
        "SELECT a FROM loose -- '",
        "SELECT 9223372036854775807 + 1, abs(-9223372036854775808) FROM loose",
        "SELECT json_extract('{', '$') FROM loose",
    ];
    for text in hostile {
        for (left, right) in [("SELECT a FROM loose", text), (text, "SELECT a FROM loose"), (text, text)] {
            let before = std::time::Instant::now();
            let verdict = search.refute(left, right);
            let took = before.elapsed();
            assert!(took.as_secs() < 20, "{took:?} for {}", &text[..text.len().min(90)]);
            if let Some(refutation) = verdict.refutation() {
                satisfies(refutation.database());
            }
        }
    }
    // The search still works, and the catalog is what it was.
    assert!(search.refute("SELECT a FROM loose", "SELECT b FROM loose").is_refuted());
    assert!(!std::path::Path::new("x.db").exists());
    println!("{} texts in {:?}", hostile.len() * 3, started.elapsed());
}

#[test]
fn the_present_time_may_be_asked_for() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    let age = "SELECT name FROM player WHERE strftime('%Y', 'now') - strftime('%Y', born) > 20";
    let other = "SELECT name FROM player WHERE strftime('%Y', 'now') - strftime('%Y', born) > 30";
    assert!(matches!(search.refute(age, age), SearchVerdict::Survived(_)));
    let verdict = search.refute(age, other);
    assert!(
        verdict.refutation().is_none_or(sqlgauge_search::Refutation::depends_on_clock),
        "{}",
        show(&verdict)
    );
    let precise = "SELECT julianday('now') FROM team";
    let SearchVerdict::Survived(_) = search.refute(precise, precise) else {
        panic!("a clock that ticks is no difference")
    };
}

/// What the plainest witness cannot do without.
#[test]
fn a_witness_is_as_plain_as_it_can_be() {
    let ddl = "CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER, d DATE, s TEXT)";
    let search = Search::new(schema(ddl), options(400)).unwrap();
    for (left, right, needs) in [
        ("SELECT k FROM t WHERE n > 3", "SELECT k FROM t WHERE n >= 3", vec![]),
        ("SELECT k FROM t WHERE n = 'x'", "SELECT k FROM t WHERE n = 7", vec![]),
        ("SELECT k, n FROM t", "SELECT k FROM t", vec![]),
        ("SELECT count(*) FROM t", "SELECT count(k) FROM t", vec![Need::NullInKey]),
        ("SELECT k FROM t WHERE typeof(n) <> 'text'", "SELECT k FROM t", vec![Need::ValueOffType]),
        ("SELECT k FROM t WHERE 0", "SELECT k, n FROM t WHERE 0", vec![Need::EmptyResult]),
    ] {
        for verdict in [search.refute(left, right), search.refute_minimised(left, right)] {
            let refutation = verdict.refutation().unwrap_or_else(|| panic!("{left}\n{right}"));
            assert_eq!(refutation.needs(), needs, "{left}\n{right}\n{}", refutation.database());
        }
    }
}

/// What a search could not exercise is named; all else was.
#[test]
fn what_was_not_exercised_is_said() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    for (sql, missing) in [
        ("SELECT name FROM player WHERE goals > 3 AND height < 2", vec!["player.goals > 3 was never null"]),
        (
            "SELECT name FROM player WHERE height IS NULL OR height > 1",
            vec!["player.height IS NULL OR player.height > 1 was never null"],
        ),
        (
            "SELECT name FROM player WHERE height > 1 AND 1 = 2",
            vec!["1 = 2 was never true", "1 = 2 was never null"],
        ),
        (
            "SELECT p.name FROM player p JOIN team t ON p.team_id = t.id",
            vec!["player.team_id = team.id was never unmatched"],
        ),
        ("SELECT t.name FROM team t JOIN player p ON p.team_id = t.id", vec![]),
        ("SELECT id FROM team GROUP BY id", vec!["team.id was never several-rows"]),
        (
            "SELECT city, count(*) FROM team GROUP BY city HAVING count(*) > 2",
            vec!["count(*) > 2 was never null"],
        ),
    ] {
        let parts = search.unexercised(sql, "SELECT 1").unwrap_or_else(|| panic!("{sql}"));
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        let missing: Vec<String> = missing.into_iter().map(|missing| format!("gold: {missing}")).collect();
        assert_eq!(parts, missing, "{sql}");
    }
}

/// A scalar subquery of several rows may return any of them, and 1.0 is another one than 1.
#[test]
fn a_choice_among_equal_numbers_of_two_types_is_made_once() {
    let search = Search::new(schema(SCHOOL), options(60)).unwrap();
    let choice = "(VALUES (1), (1.0), (2.0))";
    let more = search
        .refute(&format!("SELECT {choice} FROM team"), &format!("SELECT {choice} FROM team WHERE id > 5"));
    assert!(more.refutation().is_some(), "{}", show(&more));
    let typed = search.refute(&format!("SELECT typeof({choice}) FROM team"), "SELECT 'real' FROM team");
    assert!(typed.refutation().is_none(), "{}", show(&typed));
}

/// Rows before DISTINCT that have one key each leave nothing open; those with several do.
#[test]
fn the_order_of_distinct_rows_by_other_columns_may_be_determined() {
    let search = Search::new(schema("CREATE TABLE t (a INT, b INT)"), options(400)).unwrap();
    let least = "SELECT DISTINCT a FROM t ORDER BY b LIMIT 1";
    assert!(search.refute(least, "SELECT DISTINCT a FROM t ORDER BY b DESC LIMIT 1").is_refuted());
    assert!(!search.refute(least, "SELECT a FROM t ORDER BY b LIMIT 1").is_refuted());
    assert!(!search.refute(least, "SELECT a FROM t GROUP BY a ORDER BY b LIMIT 1").is_refuted());
}

/// Equal rows with equal keys permit the same results under one LIMIT.
#[test]
fn what_a_limit_permits_follows_from_the_rows_with_their_keys() {
    let ddl = schema(SCHOOL);
    let search = Search::new(Arc::clone(&ddl), options(10)).unwrap();
    let proved = |left: &str, right: &str| {
        let rows = search.rows_before_limit(left, right);
        rows.is_some_and(|[left, right]| {
            sqlgauge_etm::Matcher::new(&ddl, sqlgauge_etm::Profile::Sound).is_equal(&left, &right)
        })
    };
    let top = "SELECT t.name FROM team t JOIN player p ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3";
    assert!(proved(
        top,
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3"
    ));
    for other in [
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 4",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.height DESC LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC, p.id LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id LIMIT 3",
        "SELECT DISTINCT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3",
    ] {
        assert!(!proved(top, other), "{other}");
    }
}

#[test]
fn a_minimal_witness_has_no_row_too_many() {
    let search = Search::new(schema(SCHOOL), options(2000)).unwrap();
    for (left, right, rows) in [
        ("SELECT max(goals) FROM player", "SELECT goals FROM player ORDER BY goals DESC LIMIT 1", 0),
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3", 2),
        ("SELECT a FROM loose", "SELECT DISTINCT a FROM loose", 2),
        ("SELECT t.name FROM team t LEFT JOIN player p ON p.team_id = t.id", "SELECT name FROM team", 3),
    ] {
        let verdict = search.refute(left, right);
        let smallest = search.minimise(verdict.refutation().unwrap(), left, right);
        assert_eq!(smallest.database().rows(), rows, "{left}\n{}", smallest.database());
        let at_once = search.refute_minimised(left, right);
        assert_eq!(at_once.refutation().unwrap().database().rows(), rows, "{left}");
    }
}

/// SQLite's compiler would copy these for seconds, and nothing could stop it here.
#[test]
fn what_grows_without_end_is_not_compiled() {
    let search = Search::new(schema(SCHOOL), options(60)).unwrap();
    let doubling =
        format!("{}SELECT id AS a FROM team{}", "SELECT a + a AS a FROM (".repeat(40), ")".repeat(40));
    let chained = (1..40).fold("WITH c0 AS (SELECT id FROM team)".to_owned(), |sql, n| {
        format!("{sql}, c{n} AS (SELECT x.id FROM c{} x, c{} y)", n - 1, n - 1)
    }) + " SELECT id FROM c39";
    for text in [doubling, chained] {
        let verdict = search.refute("SELECT id FROM team", &text);
        let SearchVerdict::Inapplicable(reason) = &verdict else { panic!("{}", show(&verdict)) };
        assert_eq!((reason.code(), &reason.reason), ("too_complex".to_owned(), &SearchReason::TooComplex));
        // Such an answer is not taken for right, and such a gold cannot be asked.
        let objection = search.told(&[], "SELECT id FROM team", &text);
        assert!(objection.is_ok_and(|objection| objection.is_some()));
        assert_eq!(search.told(&[], &text, "SELECT id FROM team").unwrap_err().code(), "too_complex");
        assert_eq!(search.signatures(&[&text, "SELECT id FROM team"], 4).iter().flatten().count(), 1);
    }
    assert!(search.refute("SELECT id FROM team", "SELECT id + 1 FROM team").is_refuted());
    // Nor is one that leaves no steps for the databases on which it would be asked.
    let verdict = search.refute("SELECT id FROM team", "SELECT id + 1 FROM team");
    let witness = verdict.refutation().unwrap().database().clone();
    let long = format!("SELECT id FROM team WHERE id NOT IN (-1{})", ", -1".repeat(10_000));
    let objection = |gold: &str, answer: &str| search.told([&witness], gold, answer);
    assert!(objection("SELECT id FROM team", &long).is_ok_and(|objection| objection.is_some()));
    assert_eq!(objection(&long, "SELECT id FROM team").unwrap_err().code(), "too_complex");
    // What SQLite itself refuses is refused.
    let wide = format!("SELECT 1 FROM team{}", ", team".repeat(70));
    let SearchVerdict::Inapplicable(reason) = search.refute("SELECT id FROM team", &wide) else {
        panic!("{wide}")
    };
    assert_eq!(reason.reason, SearchReason::Parse, "{reason}");
}

/// What one query takes is not taken from another.
#[test]
fn a_query_that_takes_long_costs_no_other_its_signature() {
    let search = Search::new(schema(SCHOOL), SearchOptions::default()).unwrap();
    let all =
        "SELECT count(*) FROM player a, player b, player c, player d, player e, player f, player g, player h";
    let short = "SELECT name FROM team";
    let [alone] = &search.signatures(&[short], 24)[..] else { panic!("one signature") };
    let both = search.signatures(&[all, short], 24);
    assert!(alone.iter().flatten().all(Option::is_some));
    assert!(both[1].iter().flatten().all(Option::is_some));
    assert!(both[0].iter().flatten().any(Option::is_none));
}

/// Filling databases has a budget for each search, and one for all searches of a pair, whatever a CHECK says of the rows.
#[test]
fn long_checks_are_bounded() {
    let numbers =
        (0..30_000).map(|number| (1_000_000 + 7 * number).to_string()).collect::<Vec<_>>().join(", ");
    let ddl = |check: &str| {
        format!("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER NOT NULL CHECK ({check} IN ({numbers})));")
    };
    let pair = ("SELECT a FROM t", "SELECT a FROM t WHERE id > 0");
    let reason = |verdict: &SearchVerdict| match verdict {
        SearchVerdict::Inapplicable(reason) => reason.to_string(),
        SearchVerdict::Refuted(_) => "refuted".to_owned(),
        SearchVerdict::Survived(_) => "survived".to_owned(),
    };
    // No row satisfies this one: a text is not a number.
    let search = Search::new(schema(&ddl("hex(a)")), options(800)).unwrap();
    let alone = search.refute(pair.0, pair.1);
    assert!(reason(&alone).contains("the CHECKs of the tables take more"), "{}", reason(&alone));
    // Some rows satisfy this one: it is told within the budget, and not by the searches of a pair that has none left.
    let search = Search::new(schema(&ddl("a")), options(800)).unwrap();
    search.begin_pair(None);
    assert!(search.refute(pair.0, pair.1).refutation().is_some());
    let other = Search::new(schema(&ddl("hex(a)")), options(800)).unwrap().beside(&search);
    for _ in 0..2 {
        assert!(reason(&other.refute(pair.0, pair.1)).contains("the CHECKs of the tables take more"));
    }
    assert!(search.refute(pair.0, pair.1).refutation().is_none());
    search.end_pair();
    assert!(search.refute(pair.0, pair.1).refutation().is_some());
}
