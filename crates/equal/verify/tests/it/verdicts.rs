//! What a verdict says besides its name: what it was proved for, in which words, and where nobody knows.

use sqlgauge_engine::compare::Semantics;
use sqlgauge_prove::{ProofAssumption, Solver, SolverLimits};
use sqlgauge_search::{Choice, DifferenceKind, Event, Minimality, Side, Unexercised};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{NO_SOLVER, OnlyStage, Stage, Verdict, Verifier, VerifyOptions, VerifyReport};

const DDL: &str = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, shop INTEGER NOT NULL);
    CREATE TABLE shop (id INTEGER PRIMARY KEY, town TEXT COLLATE NOCASE);";

fn verified(semantics: Semantics, left: &str, right: &str) -> VerifyReport {
    let options = VerifyOptions { semantics, ..VerifyOptions::default() };
    Verifier::new(Schema::from_ddl(DDL).unwrap(), options).unwrap().verify(left, right, None).unwrap()
}

/// Where rows count as a set or a bag, the rules need not prove more.
#[test]
fn what_does_not_count_need_not_be_proved() {
    for (left, right, proved) in [
        ("SELECT name FROM item", "SELECT DISTINCT name FROM item", "set"),
        ("SELECT name FROM item ORDER BY price", "SELECT name FROM item", "set bag"),
        ("SELECT name FROM item", "SELECT name FROM item GROUP BY name", "set"),
        ("SELECT name FROM item LIMIT 2", "SELECT DISTINCT name FROM item LIMIT 2", ""),
        // DISTINCT keeps one of the texts that NOCASE takes for equal, a set both.
        ("SELECT town FROM shop", "SELECT DISTINCT town FROM shop", ""),
    ] {
        for semantics in [Semantics::Set, Semantics::Bag] {
            let report = verified(semantics, left, right);
            let is_expected = proved.split(' ').any(|name| name == semantics.name());
            let Verdict::Equivalent(proof) = &report.verdict else {
                assert!(!is_expected, "{semantics}: {left} | {right}: {:?}", report.verdict);
                continue;
            };
            assert!(is_expected, "{semantics}: {left} | {right}");
            assert_eq!(proof.rules()[0], format!("both: rows as a {semantics}"));
        }
    }
}

#[test]
fn what_sqlite_refuses_is_verified_in_other_words_that_are_told() {
    let left = "SELECT q.n FROM (SELECT name FROM item) AS q (n)";
    let report = verified(Semantics::Bag, left, "SELECT name FROM item");
    assert!(matches!(report.verdict, Verdict::Equivalent(_)), "{:?}", report.verdict);
    let [Some(spelled), None] = &report.spelled else { panic!("{:?}", report.spelled) };
    assert_eq!(spelled.by, ["column-lists"]);
    assert_eq!(report.to_json()["spelled"]["left"]["sql"], spelled.sql);
    // A text that SQLite takes is left alone.
    let report = verified(Semantics::Bag, "SELECT price AS date FROM item", "SELECT price FROM item");
    assert_eq!(report.spelled, [None, None]);
}

/// One clause that makes the difference alone is named, or the one in which they differ.
#[test]
fn the_clause_that_makes_the_difference_is_named() {
    for (gold, prediction, sentence) in [
        (
            "SELECT name FROM item WHERE price > 2",
            "SELECT name FROM item WHERE price >= 2",
            "Without their WHERE clauses, both queries return the same rows here.",
        ),
        (
            "SELECT name FROM item",
            "SELECT name FROM item WHERE price > 2",
            "Without the prediction's WHERE, both queries return the same rows here.",
        ),
        (
            "SELECT name FROM item ORDER BY price, id LIMIT 1",
            "SELECT name FROM item ORDER BY price DESC, id LIMIT 1",
            "The queries differ only in their ORDER BY.",
        ),
        (
            "SELECT id FROM item",
            "SELECT id FROM shop",
            "Only the gold reads item, and only the prediction shop.",
        ),
    ] {
        let report = verified(Semantics::Bag, gold, prediction);
        let Verdict::Different(counterexample) = report.verdict else {
            panic!("{prediction}: {:?}", report.verdict)
        };
        assert_eq!(counterexample.explanation.as_deref(), Some(sentence), "{prediction}");
    }
}

/// The solver, `None` where it is not installed.
fn solver() -> Option<Solver> {
    let named = std::env::var_os("SQLGAUGE_SOLVER").map(std::path::PathBuf::from);
    let program = sqlgauge_prove::locate(named.as_deref(), std::env::var_os("PATH").as_deref());
    program.ok().map(|program| Solver::new(program, SolverLimits::default()))
}

/// A key that may hold NULL, in a table that is read or in another, does not stand in the way of a bounded proof.
#[test]
fn a_key_that_may_be_null_leaves_the_bounded_proof() {
    let Some(mut solver) = solver() else { return };
    let columns = "a INT, b TEXT";
    for (ddl, assumes) in [
        (format!("CREATE TABLE t (id INTEGER PRIMARY KEY, {columns});"), false),
        (format!("CREATE TABLE t ({columns}); CREATE TABLE k (id TEXT PRIMARY KEY);"), true),
        (format!("CREATE TABLE t (id INT PRIMARY KEY, {columns});"), true),
        (format!("CREATE TABLE t (id INTEGER, n INT, {columns}, PRIMARY KEY (id, n));"), true),
        (format!("CREATE TABLE t (id INTEGER PRIMARY KEY DESC, {columns});"), true),
        (
            format!(
                "CREATE TABLE s (id TEXT PRIMARY KEY, {columns}, c INT AS (a + 1)); CREATE VIEW t AS SELECT a, b FROM s WHERE c > 0;"
            ),
            true,
        ),
    ] {
        let verifier = Verifier::new(Schema::from_ddl(&ddl).unwrap(), VerifyOptions::default()).unwrap();
        let left = "SELECT a FROM t WHERE a > 1 AND b = (SELECT MAX(b) FROM t)";
        let right = "SELECT a FROM t WHERE NOT a <= 1 AND b >= (SELECT MAX(b) FROM t)";
        let report = verifier.verify(left, right, Some(&mut solver)).unwrap();
        let Verdict::EquivalentUpTo(proof) = &report.verdict else { panic!("{ddl}: {:?}", report.verdict) };
        assert_eq!(proof.assumes().contains(&ProofAssumption::NoNullInKey), assumes, "{ddl}");
    }
}

const TEXTS: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, s TEXT, d DATE, n INT, x REAL, ok BOOLEAN NOT NULL)";

fn of_conditions(left: &str, right: &str, solver: &mut Solver) -> Verdict {
    let verifier = Verifier::new(Schema::from_ddl(TEXTS).unwrap(), VerifyOptions::default()).unwrap();
    let query = |condition: &str| format!("SELECT id FROM t WHERE {condition}");
    verifier.verify(&query(left), &query(right), Some(solver)).unwrap().verdict
}

/// SpotIt's Design 1: dates of a calendar, and texts as they are.
#[test]
fn conditions_on_texts_and_times_are_proved_equal() {
    let Some(mut solver) = solver() else { return };
    for (left, right) in [
        ("strftime('%m', d) = '13'", "0"),
        ("strftime('%m-%d', d) = '02-29' AND strftime('%Y', d) = '1991'", "0"),
        ("strftime('%Y-%m', d) = '2012-01'", "strftime('%Y', d) = '2012' AND strftime('%m', d) = '01'"),
        ("strftime('%Y-%m', d) = '1990-02'", "date(d) BETWEEN '1990-02-01' AND '1990-02-28'"),
        ("strftime('%m', d) IN ('01', '02', '03')", "strftime('%m', d) < '04'"),
        ("strftime('%j', d) = '366' AND strftime('%Y', d) = '2019'", "0"),
        ("strftime('%Y', d) = '2020'", "substr(d, 1, 4) = '2020'"),
        ("strftime('%Y', d) = '2020'", "d LIKE '2020%'"),
        ("strftime('%Y', d) = '2020'", "date(d) BETWEEN '2020-01-01' AND '2020-12-31'"),
        ("CAST(strftime('%Y', d) AS INTEGER) >= 2001", "strftime('%Y', d) > '2000'"),
        ("julianday(d) >= julianday('2000-01-01')", "date(d) >= '2000-01-01'"),
        ("strftime('%Y', d) || '-' || strftime('%m', d) = '2012-01'", "strftime('%Y-%m', d) = '2012-01'"),
        ("date(s) = '2020-02-30'", "0"),
        ("strftime('%d', s) > '31'", "0"),
        ("name LIKE 'A%' AND name LIKE '%z'", "name LIKE 'A%z'"),
        ("name || 'x' = 'abx'", "name = 'ab'"),
        ("s LIKE '_'", "length(s) = 1"),
        ("length(name || 'ab') = 5", "length(name) = 3"),
        ("upper(lower(s)) = upper(s)", "s IS NOT NULL"),
        ("upper(s) = 'AB'", "s = 'ab' COLLATE NOCASE"),
        ("trim(s) = 'a' AND length(s) = 1", "s = 'a'"),
        ("substr(s, 1, 2) = 'ab' AND substr(s, 3, 1) = 'c'", "substr(s, 1, 3) = 'abc'"),
        ("instr(s, 'ab') > 0", "s GLOB '*ab*'"),
        ("substr(s, -3) = 'abc'", "s LIKE '%c' AND substr(s, -3) = 'abc'"),
        ("substr(s, -2, 1) = 'a' AND length(s) = 2", "s GLOB 'a?'"),
        ("replace(s, 'x', '') = ''", "trim(s, 'x') = ''"),
        ("replace(s, '-', '/') = 'a/b' AND s NOT LIKE '%/%'", "s = 'a-b'"),
        ("name || ' ' || s = 'A B'", "name = 'A' AND s = 'B'"),
        (
            "name || s = 'xy'",
            "(name = '' AND s = 'xy') OR (name = 'x' AND s = 'y') OR (name = 'xy' AND s = '')",
        ),
        ("name || s < 'b'", "name < 'b' AND s IS NOT NULL AND NOT (name = '' AND s >= 'b')"),
        ("CAST(strftime('%Y', d) AS INTEGER) - 1 = 2019", "strftime('%Y', d) = '2020'"),
        ("CAST(strftime('%Y', d) AS INTEGER) / 10 = 202", "strftime('%Y', d) BETWEEN '2020' AND '2029'"),
        ("CAST(substr(s, 1, 4) AS INTEGER) * 2 > 3981", "CAST(substr(s, 1, 4) AS INTEGER) > 1990"),
        ("2020 - strftime('%Y', d) >= 18", "strftime('%Y', d) <= '2002'"),
        ("strftime('%d/%m/%Y', d) = '01/02/2020'", "date(d) = '2020-02-01'"),
        ("length(name) + length(s) = 0", "name = '' AND s = ''"),
        ("ok = 1", "ok"),
        ("ok = 1", "ok <> 0"),
        ("n % 2 = 0", "mod(n, 2) = 0"),
        ("round(x, 0) = 2", "x >= 1.5 AND x < 2.5"),
        ("round(n) = 2", "n = 2"),
        ("ceil(x) = 2", "x > 1 AND x <= 2"),
        ("floor(x) = -2", "x >= -2 AND x < -1"),
        ("trunc(x) = 2", "CAST(x AS INTEGER) = 2"),
        ("sign(x) = -1", "x < 0"),
        ("upper(name) = upper(s)", "name = s COLLATE NOCASE"),
        ("trim(s) = name", "ltrim(rtrim(s)) = name"),
        ("name || (' ' || s) = d", "name || ' ' || s = d"),
        ("concat(name, s) = d AND s IS NOT NULL AND name IS NOT NULL", "name || s = d"),
        ("date(d, 'start of month') = '2020-03-01'", "strftime('%Y-%m', d) = '2020-03'"),
        ("datetime(d, 'start of year') = '2020-01-01 00:00:00'", "strftime('%Y', d) = '2020'"),
        ("strftime('%w', d) = '7'", "0"),
        ("strftime('%w', d) IN ('0', '6')", "strftime('%w', d) NOT BETWEEN '1' AND '5'"),
        ("strftime('%Y %w', d) = '2021 5' AND strftime('%j', d) = '001'", "date(d) = '2021-01-01'"),
    ] {
        let verdict = of_conditions(left, right, &mut solver);
        assert!(
            matches!(verdict, Verdict::EquivalentUpTo(_) | Verdict::Equivalent(_)),
            "{left} | {right}: {verdict:?}"
        );
    }
}

#[test]
fn near_misses_of_texts_and_times_are_told_apart() {
    let Some(mut solver) = solver() else { return };
    for (left, right) in [
        ("strftime('%m-%d', d) = '02-29' AND strftime('%Y', d) = '1992'", "0"),
        ("strftime('%Y-%m', d) = '1990-02'", "date(d) BETWEEN '1990-02-01' AND '1990-02-27'"),
        ("strftime('%Y', d) = '2020'", "d BETWEEN '2020-01-01' AND '2020-12-31'"),
        ("strftime('%m', d) IN ('01', '02')", "strftime('%m', d) < '04'"),
        // A column of texts holds more than times that stand as they are read.
        ("strftime('%Y', s) = '2020'", "substr(s, 1, 4) = '2020'"),
        ("strftime('%j', d) = '366' AND strftime('%Y', d) = '2020'", "0"),
        ("name LIKE 'A%' AND name LIKE '%a'", "name LIKE 'A%a'"),
        ("s LIKE '__'", "length(s) = 1"),
        ("upper(s) = 'AB'", "s = 'ab'"),
        ("trim(s) = 'a'", "s = 'a'"),
        ("instr(s, 'ab') > 1", "s GLOB '*ab*'"),
        ("substr(s, -3) = 'abc'", "s LIKE '%abc'"),
        ("substr(s, -2, 1) = 'a' AND length(s) = 2", "s GLOB '?a'"),
        ("replace(s, 'x', '') = 'aa'", "trim(s, 'x') = 'aa'"),
        ("name || ' ' || s = 'A B C'", "name = 'A' AND s = 'B C'"),
        ("name || s = 'xy'", "name = 'x' AND s = 'y'"),
        ("CAST(strftime('%Y', d) AS INTEGER) - 1 = 2019", "strftime('%Y', d) = '2018'"),
        ("CAST(strftime('%Y', d) AS INTEGER) / 10 = 202", "strftime('%Y', d) BETWEEN '2020' AND '2030'"),
        ("CAST(substr(s, 1, 4) AS INTEGER) * 2 > 3980", "CAST(substr(s, 1, 4) AS INTEGER) > 1991"),
        ("2020 - strftime('%Y', d) > 18", "strftime('%Y', d) <= '2002'"),
        ("strftime('%d/%m/%Y', d) = '01/02/2020'", "date(d) = '2020-01-02'"),
        ("n % 2 = 0", "mod(n, 3) = 0"),
        ("round(x) = -1", "x >= -1.5 AND x < -0.5"),
        ("ceil(x) = 2", "x >= 1 AND x < 2"),
        ("upper(name) = upper(s)", "name = s"),
        ("date(d, 'start of month') = '2020-03-01'", "date(d) = '2020-03-01'"),
        ("strftime('%w', d) IN ('0', '6')", "strftime('%w', d) NOT BETWEEN '1' AND '4'"),
    ] {
        let verdict = of_conditions(left, right, &mut solver);
        assert!(matches!(verdict, Verdict::Different(_)), "{left} | {right}: {verdict:?}");
    }
}

/// A start may be too early for SQLite where the time is not: it is NULL for the day 1.5.
#[test]
fn a_start_may_be_null_where_the_time_is_not() {
    let Some(mut solver) = solver() else { return };
    let verdict = of_conditions("date(s) IS NOT NULL AND date(s, 'start of year') IS NULL", "0", &mut solver);
    assert!(matches!(verdict, Verdict::Different(_) | Verdict::Unknown(_)), "{verdict:?}");
}

/// The places at which the results differed, of the queries that are nondeterministic.
fn places(left: &str, right: &str) -> Vec<(Side, Choice, String)> {
    let report = verified(Semantics::Ex, left, right);
    let Verdict::Unknown(unknown) = report.verdict else { panic!("{left} | {right}: {:?}", report.verdict) };
    assert_eq!(unknown.reason, "nondeterministic", "{left} | {right}");
    unknown
        .places
        .into_iter()
        .map(|place| (place.side, place.choice, place.part.unwrap_or_default()))
        .collect()
}

#[test]
fn what_is_not_determined_is_named_with_its_place() {
    let bare = places("SELECT name FROM item GROUP BY shop", "SELECT MAX(name) FROM item GROUP BY shop");
    assert_eq!(bare.len(), 1);
    assert_eq!((bare[0].0, bare[0].1), (Side::Left, Choice::BareColumn));
    assert!(bare[0].2.contains("name"), "{bare:?}");
    let limit = places(
        "SELECT name FROM item ORDER BY shop LIMIT 1",
        "SELECT name FROM item ORDER BY shop, name LIMIT 1",
    );
    assert_eq!(limit, [(Side::Left, Choice::Limit, String::new())]);
    let row = places(
        "SELECT id FROM item WHERE price = (SELECT price FROM item WHERE shop = 1)",
        "SELECT id FROM item WHERE price = (SELECT MAX(price) FROM item WHERE shop = 1)",
    );
    assert_eq!((row[0].0, row[0].1), (Side::Left, Choice::FirstRow));
    assert!(row[0].2.starts_with("SELECT"), "{row:?}");
}

/// In which order a set operation comes out is SQLite's choice: no database shows that the gold's was not asked for.
#[test]
fn an_order_that_only_the_gold_asks_for_is_named_at_once() {
    let union = "SELECT id FROM item UNION SELECT shop FROM item";
    // SQLite sorts to find rows that are there twice, and shows no other order.
    let report = verified(Semantics::Ex, &format!("{union} ORDER BY 1"), union);
    let Verdict::Unknown(unknown) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(unknown.reason, "nondeterministic");
    assert!(unknown.message.contains("the prediction does not ask for"), "{}", unknown.message);
    let report = verified(Semantics::Ex, &format!("{union} ORDER BY 1 DESC"), union);
    let Verdict::Different(counterexample) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(counterexample.refutation.kind(), &DifferenceKind::PermitsAnother);
    let others =
        verified(Semantics::Ex, &format!("{union} ORDER BY 1"), "SELECT id FROM item UNION SELECT 5");
    assert!(matches!(others.verdict, Verdict::Different(_)), "{:?}", others.verdict);
}

/// SQLite takes 0 for a reference to '0', and a join does not.
#[test]
fn a_reference_without_a_partner_tells_apart() {
    let ddl = "CREATE TABLE p (k TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (b NOT NULL REFERENCES p (k));";
    let verifier = Verifier::new(Schema::from_ddl(ddl).unwrap(), VerifyOptions::default()).unwrap();
    for (left, right) in [
        ("SELECT b FROM c", "SELECT c.b FROM c JOIN p ON c.b = p.k"),
        ("SELECT p.k FROM c LEFT JOIN p ON c.b = p.k", "SELECT p.k FROM c JOIN p ON c.b = p.k"),
        ("SELECT COUNT(*) FROM c", "SELECT COUNT(*) FROM c WHERE b IN (SELECT k FROM p)"),
        ("SELECT COUNT(*) FROM c", "SELECT COUNT(*) FROM c WHERE EXISTS (SELECT 1 FROM p WHERE k = b)"),
    ] {
        let report = verifier.verify(left, right, None).unwrap();
        let Verdict::Different(counterexample) = &report.verdict else {
            panic!("{left} | {right}: {:?}", report.verdict)
        };
        assert_eq!(counterexample.defect, None, "{left} | {right}");
    }
}

#[test]
fn what_the_search_did_not_exercise_is_told() {
    // No row has a NULL there.
    let left = "SELECT id FROM item WHERE shop = 1 AND price > 3 AND price < 1";
    let report = verified(Semantics::Ex, left, "SELECT id FROM item WHERE price > 2 AND LENGTH(name) < 0");
    let Verdict::Unknown(unknown) = report.verdict else { panic!("{:?}", report.verdict) };
    let is_told = |item: &Unexercised| {
        (item.side, item.event) == (Side::Left, Event::Null) && item.part.contains("shop")
    };
    assert!(unknown.unexercised.iter().any(is_told), "{:?}", unknown.unexercised);
}

#[test]
fn the_time_of_a_pair_covers_the_search_too() {
    let options = VerifyOptions { solver_time: std::time::Duration::ZERO, ..VerifyOptions::default() };
    let verifier =
        Verifier::new(Schema::from_ddl("CREATE TABLE t (a INTEGER, b INTEGER)").unwrap(), options).unwrap();
    let report =
        verifier.verify("SELECT a FROM t WHERE b * 2 > 2", "SELECT a FROM t WHERE b > 1", None).unwrap();
    let Verdict::Unknown(unknown) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(unknown.reason, "too_complex");
    assert!(unknown.message.contains("longer than the pair may"), "{}", unknown.message);
}

/// The sentence is of the trees, and the counterexample says for which rows.
#[test]
fn a_difference_is_said_in_words() {
    let ddl = "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id), price REAL);";
    let verifier = Verifier::new(
        Schema::from_ddl(ddl).unwrap(),
        VerifyOptions { words: true, ..VerifyOptions::default() },
    )
    .unwrap();
    for (left, right, causes, sentence) in [
        (
            "SELECT count(DISTINCT c.id) FROM customer c JOIN orders o ON c.id = o.customer_id",
            "SELECT count(c.id) FROM customer c JOIN orders o ON c.id = o.customer_id",
            "distinct",
            "The prediction shows `count(customer.id)`, the gold `count(DISTINCT customer.id)`. On a database with 1 row in \
             `customer` and 2 rows in `orders`, the prediction gives 2, the gold 1.",
        ),
        (
            "SELECT name FROM customer WHERE id > 3",
            "SELECT name FROM customer WHERE id >= 3",
            "other-comparison",
            "The prediction tests `id >= 3`, the gold `id > 3`. On a database with 1 row in `customer`, the prediction \
             returns 1 row, the gold none.",
        ),
    ] {
        let record = verifier.verify(left, right, None).unwrap().record();
        let words = record.words.unwrap();
        assert_eq!((words.sentence.as_deref(), words.causes.join(" ")), (Some(sentence), causes.to_owned()));
        assert_eq!(words.unclear, None);
    }
    let (left, right) = ("SELECT count(*) FROM orders", "SELECT 1 UNION SELECT count(*) + 1 FROM customer");
    let words = verifier.verify(left, right, None).unwrap().record().words.unwrap();
    assert_eq!((words.sentence, words.unclear.as_deref()), (None, Some("other-shape")));
    // Who asks for no words does not pay for them.
    let verifier = Verifier::new(Schema::from_ddl(ddl).unwrap(), VerifyOptions::default()).unwrap();
    let record = verifier.verify(left, right, None).unwrap().record();
    assert_eq!((record.words, record.verdict.as_str()), (None, "different"));
}

/// How small the counterexample is said to be, and how many rows it has.
fn minimal(pair: [&str; 2], solver: Option<&mut Solver>) -> (Minimality, usize) {
    let options = VerifyOptions { proves_fewest: solver.is_some(), ..VerifyOptions::default() };
    let verifier = Verifier::new(Schema::from_ddl(DDL).unwrap(), options).unwrap();
    let report = verifier.verify(pair[0], pair[1], solver).unwrap();
    let Verdict::Different(counterexample) = report.verdict else { panic!("{pair:?}: {:?}", report.verdict) };
    (counterexample.minimality.unwrap(), counterexample.refutation.database().rows())
}

/// Of these each needs as many rows as there are: of one price there must be two to be one too many.
const TWO_ROWS_OF_A_TABLE: [[&str; 2]; 2] = [
    ["SELECT price FROM item", "SELECT DISTINCT price FROM item"],
    ["SELECT max(price) FROM item", "SELECT min(price) FROM item"],
];

#[test]
fn the_fewest_rows_are_known_where_each_table_needs_one() {
    for (left, right, rows) in [
        ("SELECT name FROM item WHERE price > 1", "SELECT name FROM item WHERE price >= 1", 1),
        ("SELECT count(*) FROM item", "SELECT count(name) FROM item", 1),
        ("SELECT item.id FROM item JOIN shop ON shop.id = item.shop", "SELECT item.id FROM item, shop", 2),
    ] {
        assert_eq!(minimal([left, right], None), (Minimality::Fewest, rows), "{left} | {right}");
    }
    for pair in TWO_ROWS_OF_A_TABLE {
        assert_eq!(minimal(pair, None), (Minimality::Local, 2), "{pair:?}");
    }
}

/// Needs a solver.
#[test]
fn a_solver_knows_that_there_are_no_fewer_rows() {
    let Some(program) = std::env::var_os("SQLGAUGE_SOLVER") else {
        eprintln!("skipped: SQLGAUGE_SOLVER names no solver");
        return;
    };
    let mut solver = Solver::new(program, SolverLimits::default());
    for pair in TWO_ROWS_OF_A_TABLE {
        assert_eq!(minimal(pair, Some(&mut solver)), (Minimality::Fewest, 2), "{pair:?}");
    }
    // Two rows of one table and one of the other.
    let left = "SELECT shop.id FROM item JOIN shop ON shop.id = item.shop";
    let pair = [left, "SELECT DISTINCT shop.id FROM item JOIN shop ON shop.id = item.shop"];
    assert_eq!(minimal(pair, Some(&mut solver)), (Minimality::Fewest, 3));
}

/// How many rows a LIMIT takes may depend on the rows.
#[test]
fn a_limit_that_is_no_constant_is_proved_to_its_rows() {
    let Some(mut solver) = solver() else { return };
    let verifier = Verifier::new(Schema::from_ddl(DDL).unwrap(), VerifyOptions::default()).unwrap();
    let limited = |limit: &str| format!("SELECT id FROM item WHERE id > 0 ORDER BY id LIMIT {limit}");
    for (limit, other, expected) in [
        ("(SELECT count(*) FROM item)", "(SELECT count(id) + 1 FROM item)", true),
        // Below 0 all rows are taken.
        ("-1 - (SELECT count(*) FROM shop)", "(SELECT count(*) FROM item)", true),
        ("(SELECT count(*) FROM shop)", "(SELECT count(town) FROM shop)", false),
        ("(SELECT count(*) FROM item)", "(SELECT count(*) / 2 FROM item)", false),
    ] {
        let report = verifier.verify(&limited(limit), &limited(other), Some(&mut solver)).unwrap();
        // A near miss may stay unknown: the search does not replay such a LIMIT.
        let is_proved = matches!(report.verdict, Verdict::EquivalentUpTo(_));
        assert_eq!(is_proved, expected, "{limit} | {other}: {:?}", report.verdict);
    }
}

/// Redundant parts of queries, each with a pair that looks alike and is another.
#[test]
fn redundant_parts_are_proved_to_be_so() {
    let Some(mut solver) = solver() else { return };
    let verifier = Verifier::new(Schema::from_ddl(DDL).unwrap(), VerifyOptions::default()).unwrap();
    for (left, right, is_equal) in [
        ("SELECT a.name FROM item AS a JOIN item AS b ON a.id = b.id", "SELECT name FROM item", true),
        ("SELECT a.name FROM item AS a JOIN item AS b ON a.shop = b.shop", "SELECT name FROM item", false),
        (
            "SELECT id FROM item WHERE shop = 1 UNION SELECT id FROM item WHERE shop = 2",
            "SELECT id FROM item WHERE shop = 1 UNION ALL SELECT id FROM item WHERE shop = 2",
            true,
        ),
        (
            "SELECT id FROM item WHERE shop = 1 UNION SELECT id FROM item WHERE shop < 2",
            "SELECT id FROM item WHERE shop = 1 UNION ALL SELECT id FROM item WHERE shop < 2",
            false,
        ),
        ("SELECT id, max(price) FROM item GROUP BY id", "SELECT id, avg(price) FROM item GROUP BY id", true),
        (
            "SELECT shop, max(price) FROM item GROUP BY shop",
            "SELECT shop, avg(price) FROM item GROUP BY shop",
            false,
        ),
    ] {
        let report = verifier.verify(left, right, Some(&mut solver)).unwrap();
        let names: &[&str] = if is_equal { &["equivalent", "equivalent_up_to"] } else { &["different"] };
        assert!(names.contains(&report.verdict.name()), "{left} | {right}: {:?}", report.verdict);
    }
}

/// The solver alone says at which bound a pair is decided, and whether it knows of all calls what SQLite does.
#[test]
fn the_solver_alone_says_how_it_decides() {
    let Some(mut solver) = solver() else { return };
    let options = VerifyOptions { only: Some(OnlyStage::Solver), bound: 3, ..VerifyOptions::default() };
    let verifier = Verifier::new(Schema::from_ddl(TEXTS).unwrap(), options).unwrap();
    for (left, right, expected) in [
        // The rules would prove it.
        ("SELECT name FROM t WHERE n > 1", "SELECT name FROM t WHERE 1 < n", ("equivalent_up_to", Some(3))),
        ("SELECT name FROM t WHERE n > 1", "SELECT name FROM t WHERE n >= 1", ("different", Some(1))),
        ("SELECT n FROM t", "SELECT DISTINCT n FROM t", ("different", Some(2))),
        (
            "SELECT sum(n) FROM t HAVING count(*) > 2",
            "SELECT sum(n) FROM t WHERE 0 HAVING count(*) > 2",
            ("different", Some(3)),
        ),
        ("SELECT total_changes() FROM t", "SELECT 1 FROM t", ("unknown", None)),
    ] {
        let report = verifier.verify(left, right, Some(&mut solver)).unwrap();
        assert_eq!(report.stage, Stage::Smt, "{left}");
        let work = report.solver.clone().unwrap();
        assert_eq!((report.verdict.name(), work.bound), expected, "{left} | {right}: {report:?}");
        assert_eq!(work.is_exact(), expected.1.is_some(), "{left} | {right}: {work:?}");
        assert_eq!(work.confirmed, usize::from(expected.0 == "different"));
        assert!(report.times.iter().all(|(stage, _)| *stage == Stage::Smt));
    }
    let inexact = "SELECT id FROM t WHERE soundex(s) = 'A000'";
    let report = verifier.verify(inexact, inexact, Some(&mut solver)).unwrap();
    assert_eq!(
        report.solver.unwrap().inexact,
        Vec::<String>::new(),
        "one text, one formula: nothing is asked"
    );
    let other = "SELECT id FROM t WHERE soundex(s) > 'A000'";
    let report = verifier.verify(inexact, other, Some(&mut solver)).unwrap();
    assert_eq!(report.solver.unwrap().inexact, ["soundex(?1)"]);
    let report = verifier.verify(inexact, other, None).unwrap();
    let Verdict::Unknown(unknown) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(unknown.reason, NO_SOLVER);
}
