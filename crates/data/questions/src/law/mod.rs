//! The law of reading back, on queries that cover the constructs, over schemas with plain and with hostile names.

mod random;
mod wording;

use std::sync::LazyLock;

use sqlgauge_base::Random;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

use crate::grammar::{Grammar, Rule, planted};
use crate::{Manner, MarkKind, QuestionStyle, Speech, UnreadableQuestion, Unsayable};
use sqlgauge_sql::canonical::canonical;

const PLAIN: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER, born TEXT, \
    boss INTEGER REFERENCES singer(id)); \
    CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, singer_id INTEGER REFERENCES singer(id), \
    guest_id INTEGER REFERENCES singer(id), stadium_id INTEGER REFERENCES stadium(id), price REAL); \
    CREATE TABLE stadium (id INTEGER PRIMARY KEY, name TEXT, capacity INTEGER)";

/// Each of a construct or two; all are sayable over the plain schema.
const QUERIES: &[&str] = &[
    "SELECT name FROM singer",
    "SELECT DISTINCT name, age FROM singer",
    "SELECT age, name, country FROM singer",
    "SELECT count(*) FROM singer",
    "SELECT count(*), country FROM singer GROUP BY country",
    "SELECT country, count(*) FROM singer GROUP BY country HAVING count(*) > 2 AND max(age) < 60",
    "SELECT count(name), count(DISTINCT country), sum(age), avg(DISTINCT age), max(age) - min(age) FROM singer",
    "SELECT name FROM singer WHERE age > 20",
    "SELECT name FROM singer WHERE age >= 20 AND country = 'France' AND name <> 'Bob'",
    "SELECT name FROM singer WHERE age < 20 OR country = 'France'",
    "SELECT name FROM singer WHERE (age < 20 OR age > 60) AND (country = 'France' OR country = 'Italy')",
    "SELECT name FROM singer WHERE age < 20 AND country = 'France' OR age > 60 AND country = 'Italy' OR name = 'x'",
    "SELECT name FROM singer WHERE NOT (age < 20 AND (country = 'a' OR NOT country = 'b'))",
    "SELECT name FROM singer WHERE age = 20 AND (country = 'a' OR name = 'b' AND (age = 1 OR age = 2))",
    "SELECT name FROM singer WHERE age BETWEEN 20 AND 30 AND age NOT BETWEEN 24 AND 25",
    "SELECT name FROM singer WHERE name LIKE '%a%' OR name LIKE 'a%' OR name LIKE '%a' OR name LIKE 'a_b%'",
    "SELECT name FROM singer WHERE name NOT LIKE '%a%' AND name NOT LIKE 'a%' AND name GLOB 'a*'",
    "SELECT name FROM singer WHERE name LIKE 'a!%' ESCAPE '!'",
    "SELECT name FROM singer WHERE age IN (1, 2, 3) AND country NOT IN ('a', 'b') OR age IN (7)",
    "SELECT name FROM singer WHERE age IS NULL OR country IS NOT NULL",
    "SELECT name FROM singer WHERE age IS 3 AND name IS NOT 'a'",
    "SELECT name FROM singer WHERE age = 1.5 OR age = -3 OR age = 1e20 OR name = 'it''s, and or \"the\" (x). why?'",
    "SELECT name FROM singer WHERE name = 'two\nlines' OR name = ''",
    "SELECT name FROM singer ORDER BY age DESC, name",
    "SELECT name FROM singer ORDER BY 1 DESC LIMIT 3",
    "SELECT name FROM singer ORDER BY age LIMIT 1",
    "SELECT name FROM singer ORDER BY age DESC NULLS FIRST LIMIT 2 OFFSET 5",
    "SELECT name FROM singer LIMIT 4 OFFSET 2",
    "SELECT country FROM singer GROUP BY country ORDER BY count(*) DESC LIMIT 1",
    "SELECT s.name, c.title FROM singer s JOIN concert c ON c.singer_id = s.id WHERE c.price > 3",
    "SELECT s.name, c.title FROM concert c JOIN singer s ON c.guest_id = s.id",
    "SELECT s.name FROM stadium d, concert c, singer s WHERE c.stadium_id = d.id AND s.id = c.singer_id AND d.capacity > 9",
    "SELECT s.name, b.name FROM singer s JOIN singer b ON s.boss = b.id",
    "SELECT s.name, b.name FROM singer s JOIN singer b ON s.age < b.age",
    "SELECT s.name, c.title FROM singer s LEFT JOIN concert c ON c.singer_id = s.id WHERE c.concert_id IS NULL",
    "SELECT s.name FROM singer s JOIN stadium d ON s.name = d.name",
    "SELECT s.name, d.name FROM singer s, stadium d",
    "SELECT name FROM singer UNION SELECT name FROM stadium",
    "SELECT name FROM singer WHERE age > 3 EXCEPT SELECT name FROM singer WHERE age > 9 OR age < 4",
    "SELECT name FROM singer INTERSECT SELECT name FROM stadium UNION ALL SELECT title FROM concert ORDER BY 1 DESC LIMIT 3",
    "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert)",
    "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE price > 3) AND age > 4",
    "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)",
    "SELECT name FROM singer WHERE age = (SELECT max(age) FROM singer WHERE country = 'France') AND country = 'Italy'",
    "SELECT name FROM singer WHERE EXISTS (SELECT * FROM concert WHERE concert.singer_id = singer.id)",
    "SELECT name FROM singer s WHERE NOT EXISTS (SELECT 1 FROM singer t WHERE t.age > s.age AND t.country = s.country)",
    "SELECT avg(n) FROM (SELECT count(*) AS n FROM singer GROUP BY country)",
    "SELECT a.n, b.n FROM (SELECT count(*) AS n FROM singer) a, (SELECT max(age) AS n FROM singer) b",
    "WITH old AS (SELECT name, age FROM singer WHERE age > 50) SELECT name FROM old WHERE age < 60",
    "WITH a AS (SELECT name FROM singer), b AS (SELECT name FROM a) SELECT a.name FROM a JOIN b ON a.name = b.name",
    "SELECT CASE WHEN age > 50 THEN 'old' WHEN age > 20 THEN 'grown' ELSE 'young' END FROM singer",
    "SELECT CASE country WHEN 'a' THEN 1 ELSE 0 END, CASE WHEN age > 3 THEN 1 END FROM singer",
    "SELECT sum(CASE WHEN age > 50 THEN 1 ELSE 0 END) * 100.0 / count(*) FROM singer",
    "SELECT age + 1, age - 1, age * 2, age / 2, age % 2, name || country, (age + 1) * (age - 1) FROM singer",
    "SELECT CAST(age AS REAL), CAST(name AS VARCHAR(20)), length(name), upper(name), round(age, 2), round(age) FROM singer",
    "SELECT strftime('%Y', born), strftime('%m', born), strftime('%j', born), coalesce(age, 0), abs(-age) FROM singer",
    "SELECT name FROM singer WHERE name = 'a' COLLATE NOCASE",
    "SELECT name, rank() OVER (PARTITION BY country ORDER BY age DESC) FROM singer",
    "SELECT name, sum(age) OVER (PARTITION BY country), row_number() OVER (ORDER BY age, name) FROM singer",
    "SELECT name, lag(age) OVER (ORDER BY age), count(*) OVER () FROM singer",
    "SELECT count(*) FILTER (WHERE age > 3), group_concat(name), group_concat(name, ';') FROM singer",
    "SELECT name FROM singer WHERE (age, country) IN (SELECT max(age), country FROM singer GROUP BY country)",
    "SELECT 1 + 2, 'x'",
    "SELECT name FROM singer WHERE age > 3 AND (SELECT count(*) FROM concert WHERE concert.singer_id = singer.id) > 2",
    "SELECT * FROM singer",
    "SELECT * FROM singer, stadium WHERE singer.name = stadium.name",
    "SELECT country, age FROM singer GROUP BY country, age ORDER BY avg(age) LIMIT 1",
    "SELECT country FROM singer GROUP BY country HAVING count(DISTINCT name) >= 3 ORDER BY max(age) DESC LIMIT 1",
    "SELECT name FROM singer WHERE country = 'France' AND name IN ('Ann Bee', 'Cy') AND age = 3",
    "SELECT name FROM singer WHERE age",
    "SELECT iif(age > 3, 'a', 'b'), age > 3 FROM singer",
];

/// Names that are words of the grammar, are said alike, or cannot be said.
const HOSTILE: &str = "CREATE TABLE \"and\" (\"the\" TEXT, \"name of\" TEXT, \"or\" INTEGER, \"first_name\" TEXT, \
    \"firstName\" TEXT, \"%\" TEXT, \"whose\" INTEGER REFERENCES \"number of\"(\"missing\")); \
    CREATE TABLE \"number of\" (\"missing\" INTEGER PRIMARY KEY, \"name\" TEXT, \"records\" TEXT, \"a \"\"b\"\"\" TEXT, \
    \"größe\" REAL, \"数量\" INTEGER, \"1\" INTEGER); CREATE TABLE number_of (\"is\" TEXT, \"average\" TEXT)";

const HOSTILE_QUERIES: &[&str] = &[
    "SELECT \"the\", \"name of\", \"or\" FROM \"and\"",
    "SELECT \"first_name\", \"firstName\", \"%\" FROM \"and\" WHERE \"or\" > 3 OR \"%\" = 'or'",
    "SELECT \"missing\", \"records\", \"a \"\"b\"\"\" FROM \"number of\" WHERE \"missing\" IS NULL AND \"1\" = 1",
    "SELECT \"größe\", \"数量\" FROM \"number of\" ORDER BY \"数量\" DESC LIMIT 3",
    "SELECT a.\"or\", b.\"name\" FROM \"and\" a JOIN \"number of\" b ON a.\"whose\" = b.\"missing\"",
    "SELECT count(*), \"average\" FROM number_of GROUP BY \"average\", \"is\"",
    "SELECT avg(\"1\") FROM \"number of\" WHERE \"1\" IN (1, 2)",
];

fn schema(ddl: &str) -> Schema {
    Schema::from_ddl(ddl).unwrap()
}

/// What goes wrong when a query is asked in every style.
fn failures(speech: &Speech<'_>, schema: &Schema, sql: &str) -> Vec<String> {
    let query = resolve(sql, schema).unwrap();
    let wanted = canonical(&query, schema);
    let mut failed = Vec::new();
    for (place, style) in (0..).zip(QuestionStyle::all()) {
        for seed in 0..4 {
            let mut random = Random::new([seed, place]);
            let question = match speech.ask(&query, style, &mut random) {
                Ok(question) => question,
                Err(error) => {
                    failed.push(format!("{style}: {sql}: {error}"));
                    continue;
                }
            };
            let readings = speech.read(&question.text()).unwrap();
            if !readings.contains(&wanted) || readings.len() != question.other_readings.len() + 1 {
                failed.push(format!("{style}: {sql}: {}", question.text()));
            }
            if question.is_ambiguous() && style != QuestionStyle::Vague {
                failed.push(format!("{style}: ambiguous: {sql}: {}", question.text()));
            }
        }
    }
    failed
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_construct_is_asked_and_read_back_in_every_style() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let failed: Vec<String> = QUERIES.iter().flat_map(|sql| failures(&speech, &schema, sql)).collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn names_that_are_words_of_the_grammar_are_told_from_them() {
    let schema = schema(HOSTILE);
    let speech = Speech::of(&schema);
    let failed: Vec<String> =
        HOSTILE_QUERIES.iter().flat_map(|sql| failures(&speech, &schema, sql)).collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// How many random queries are asked.
const RANDOM_QUERIES: u64 = 3_000;

#[test]
#[ignore = "long: cargo xtask long"]
fn random_queries_are_asked_and_read_back() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let styles: Vec<QuestionStyle> = QuestionStyle::all().collect();
    let (mut questions, mut ambiguous, mut refused, mut failed) = (0, 0, 0, Vec::new());
    for seed in 0..RANDOM_QUERIES {
        let mut random = Random::new([29, seed]);
        let sql = random::query(&mut random);
        let Ok(query) = resolve(&sql, &schema) else { continue };
        let style = styles[random.below(styles.len())];
        match speech.ask(&query, style, &mut random) {
            Ok(question) => {
                questions += 1;
                ambiguous += usize::from(question.is_ambiguous() && style != QuestionStyle::Vague);
            }
            Err(Unsayable::Construct { .. }) => refused += 1,
            Err(error) => failed.push(format!("{style}: {sql}: {error}")),
        }
    }
    eprintln!("{questions} asked, {ambiguous} of them ambiguous, {refused} refused");
    assert!(failed.is_empty(), "{} of {questions} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(questions > refused * 20 && ambiguous * 100 < questions, "{questions} {ambiguous} {refused}");
}

/// A reader in which two productions have changed places does not read what is asked.
#[test]
fn two_productions_that_are_swapped_are_found_by_the_law() {
    static LESS: LazyLock<Grammar> = LazyLock::new(|| planted(Rule::Less, Rule::Greater));
    static ORDER: LazyLock<Grammar> = LazyLock::new(|| planted(Rule::Highest, Rule::Lowest));
    static AND: LazyLock<Grammar> = LazyLock::new(|| planted(Rule::Average, Rule::Total));
    let schema = schema(PLAIN);
    for (name, reader) in [("comparisons", &LESS), ("orders", &ORDER), ("aggregates", &AND)] {
        let speech = Speech::reading_by(&schema, reader);
        let failed = QUERIES.iter().filter(|sql| !failures(&speech, &schema, sql).is_empty()).count();
        assert!(failed > 0, "the swap of {name} is not found");
    }
}

#[test]
fn the_same_seed_asks_the_same_question() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    for sql in QUERIES {
        let query = resolve(sql, &schema).unwrap();
        let ask = || speech.ask(&query, QuestionStyle::Colloquial, &mut Random::new([3])).unwrap();
        assert_eq!(ask(), ask());
    }
}

/// The texts of the marked stretches of a kind, over some seeds.
fn marked(speech: &Speech<'_>, sql: &str, schema: &Schema, manner: Manner, kind: MarkKind) -> Vec<String> {
    let query = resolve(sql, schema).unwrap();
    let mut texts = Vec::new();
    for seed in 0..20 {
        let question = speech.ask(&query, manner, &mut Random::new([seed])).unwrap();
        assert_eq!(
            speech.read(&question.text()).unwrap(),
            [canonical(&query, schema)],
            "{}",
            question.text()
        );
        let all = question.marks.iter().chain(&question.implicit_values).chain(&question.other_names);
        let marks = all.filter(|mark| mark.kind == kind);
        texts.extend(marks.map(|mark| question.turns[mark.turn][mark.bytes.clone()].to_owned()));
    }
    texts
}

#[test]
fn what_is_beside_the_point_is_marked_and_changes_nothing() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let sql = "SELECT name FROM singer WHERE age > 3";
    for style in [QuestionStyle::Formal, QuestionStyle::MultiTurn] {
        let manner = Manner { style, distractor: true };
        let asides = marked(&speech, sql, &schema, manner, MarkKind::Distractor);
        let modifiers = marked(&speech, sql, &schema, manner, MarkKind::Modifier);
        assert_eq!(asides.len() + modifiers.len(), 20, "{asides:?} {modifiers:?}");
        assert!(
            asides.iter().all(|aside| aside.starts_with(|c: char| c.is_uppercase()) && aside.contains(' '))
        );
        assert!(modifiers.iter().all(|modifier| !modifier.starts_with(' ') && !modifier.contains("singer")));
    }
}

#[test]
fn a_value_without_quotes_is_marked_and_read_as_it_is() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let manner = Manner::from(QuestionStyle::Imperative);
    let values = |sql: &str| marked(&speech, sql, &schema, manner, MarkKind::ImplicitValue);
    let cities = values("SELECT name FROM singer WHERE country = 'New Zealand'");
    assert!(!cities.is_empty() && cities.iter().all(|city| city == "New Zealand"), "{cities:?}");
    let numbers = values("SELECT name FROM singer ORDER BY age LIMIT 3");
    assert!(!numbers.is_empty() && numbers.iter().all(|number| number == "three"), "{numbers:?}");
    for value in ["The Who", "new york", "Rock'n Roll", "A", "Three Ten", "Null", "Zürich", " Paris", ""] {
        let sql = format!("SELECT name FROM singer WHERE country = {}", sqlgauge_sql::quote::text(value));
        assert!(values(&sql).is_empty(), "{value}");
    }
}

#[test]
fn a_column_called_by_another_name_is_marked_and_found_by_it() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let called = |style| {
        let sql = "SELECT country, price FROM singer, concert WHERE country = title";
        marked(&speech, sql, &schema, Manner::from(style), MarkKind::OtherName)
    };
    assert!(called(QuestionStyle::Formal).is_empty());
    let others = called(QuestionStyle::Descriptive);
    assert!(
        !others.is_empty() && others.iter().all(|other| !["country", "price"].contains(&&**other)),
        "{others:?}"
    );
}

#[test]
fn what_is_not_said_is_refused_by_name_and_what_is_not_read_says_where() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    for (sql, construct) in [
        ("VALUES (1), (2)", "VALUES"),
        ("SELECT name FROM singer WHERE age IN ()", "IN of an empty list"),
        ("SELECT x'00' FROM singer", "a constant that is no text, number or NULL"),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n WHERE x < 3) SELECT x FROM n",
            "a recursive CTE",
        ),
    ] {
        let query = resolve(sql, &schema).unwrap();
        let refused = speech.ask(&query, QuestionStyle::Formal, &mut Random::new([1]));
        assert_eq!(refused, Err(Unsayable::Construct { construct }), "{sql}");
    }
    let unknown = |text| match speech.read(text) {
        Err(UnreadableQuestion::Unknown { rest }) => rest,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(unknown("Show the name of all bananas."), "bananas");
    assert_eq!(unknown("Gibberish"), "gibberish");
    assert_eq!(speech.read("Show the capacity of all singers."), Err(UnreadableQuestion::OtherSchema));
}

#[test]
fn any_text_is_read_within_the_budget() {
    use UnreadableQuestion::{TooComplex, Unknown};
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let many =
        |part: &str, count: usize| format!("Show the name of singers whose name is {}", part.repeat(count));
    // Each breaks off, so that none is a question.
    for text in [
        many("( ", 400),
        many("the name plus ", 200),
        many("'a' or name is ", 150),
        many("one of 1 , 2 or ", 150),
        many("among the name of singers whose name is ", 60),
        "\"".to_owned(),
        "'".repeat(999),
        "the ".repeat(5_000),
    ] {
        let outcome = speech.read(&text);
        assert!(matches!(outcome, Err(TooComplex | Unknown { .. })), "{outcome:?}: {text}");
    }
    // More words than a question may have.
    let text = many("not the case that ", 800);
    assert_eq!(speech.read(&text), Err(TooComplex), "{text}");
}

/// The same constructs, whole: one is read, and a long chain is read or said to be too complex, within the steps of an analysis.
#[test]
fn a_chain_is_read_until_it_is_too_complex() {
    let schema = schema(PLAIN);
    let speech = Speech::of(&schema);
    let style = QuestionStyle::all().next().unwrap();
    let mut outcomes = Vec::new();
    for count in [1_u64, 2, 600] {
        let all: Vec<String> = (0..count).map(|number| format!("age = {number}")).collect();
        let query = resolve(&format!("SELECT name FROM singer WHERE {}", all.join(" OR ")), &schema).unwrap();
        let question = speech.ask(&query, style, &mut Random::new([count]));
        let text = question.map(|question| question.text());
        let read = text.as_ref().map(|text| sqlgauge_base::budget::measure(|| speech.read(text)));
        if let Ok((outcome, steps)) = &read {
            assert!(*steps <= sqlgauge_base::budget::ANALYSIS, "{count}: {steps}");
            let is_read =
                outcome.as_ref().is_ok_and(|readings| readings.contains(&canonical(&query, &schema)));
            assert!(is_read || *outcome == Err(UnreadableQuestion::TooComplex), "{count}: {outcome:?}");
            outcomes.push((count, is_read));
        }
    }
    assert!(outcomes.starts_with(&[(1, true), (2, true)]), "{outcomes:?}");
    assert_ne!(outcomes.get(2), Some(&(600, true)), "so long a chain has too many words");
}
