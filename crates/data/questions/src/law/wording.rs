//! The short forms: that they are written where they fit, that they mean their query, and where they would say another
//! one, that they are not.

use sqlgauge_base::Random;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

use crate::{QuestionStyle, Speech};
use sqlgauge_sql::canonical::canonical;

/// Tables that are linked by a table between, whose name has a verb, and by foreign keys.
const LINKED: &str = "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, country TEXT, birth_date TEXT, age INTEGER); \
    CREATE TABLE paper (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, venue_id INTEGER REFERENCES venue(id)); \
    CREATE TABLE writes (author_id INTEGER REFERENCES author(id), paper_id INTEGER REFERENCES paper(id), place INTEGER); \
    CREATE TABLE award (author_id INTEGER REFERENCES author(id), prize TEXT); \
    CREATE TABLE venue (id INTEGER PRIMARY KEY, city TEXT, is_open INTEGER, directed_by TEXT)";

/// Queries with a phrase that people say.
const SHORT: &[(&str, &str)] = &[
    ("SELECT name FROM author ORDER BY age DESC LIMIT 1", "name of the author with the"),
    ("SELECT name FROM author ORDER BY birth_date DESC LIMIT 1", "author with the latest birth date"),
    ("SELECT name FROM author ORDER BY name LIMIT 3", "authors with the alphabetically first name"),
    ("SELECT name FROM author ORDER BY name", "authors, in alphabetical order"),
    (
        "SELECT country FROM author GROUP BY country ORDER BY count(*) DESC LIMIT 1",
        "country with the most authors",
    ),
    (
        "SELECT country FROM author GROUP BY country ORDER BY count(*) LIMIT 3",
        "the 3 countries with the fewest authors",
    ),
    (
        "SELECT country FROM author GROUP BY country ORDER BY avg(age) DESC LIMIT 1",
        "country with the highest average age",
    ),
    ("SELECT country FROM author GROUP BY country HAVING count(*) > 2", "countries with more than"),
    (
        "SELECT country, count(*) FROM author GROUP BY country",
        "each country along with the number of its authors",
    ),
    (
        "SELECT country, avg(age), max(age) FROM author GROUP BY country",
        "each country along with the average age and the",
    ),
    (
        "SELECT a.name, p.title FROM author a JOIN writes w ON w.author_id = a.id JOIN paper p ON w.paper_id = p.id",
        "authors that wrote papers",
    ),
    (
        "SELECT a.name FROM paper p JOIN writes w ON w.paper_id = p.id JOIN author a ON w.author_id = a.id",
        "papers written by authors",
    ),
    (
        "SELECT p.title, v.city FROM paper p JOIN venue v ON p.venue_id = v.id WHERE v.city = 'Rome' AND p.pages > 3",
        "of venues whose city is Rome, each with the city of its venue",
    ),
    (
        "SELECT p.title FROM paper p JOIN venue v ON p.venue_id = v.id WHERE v.city = 'Rome' AND p.pages > 3 AND v.is_open = 1",
        "of venues whose city is",
    ),
    (
        "SELECT v.city FROM venue v JOIN paper p ON v.id = p.venue_id WHERE p.pages > 3",
        "venues with papers whose pages",
    ),
    (
        "SELECT v.city, count(*) FROM venue v JOIN paper p ON v.id = p.venue_id WHERE p.pages > 3 GROUP BY v.id",
        "city of each venue along with the number of its papers whose pages",
    ),
    (
        "SELECT w.author_id, count(*) FROM writes w JOIN award b ON b.author_id = w.author_id WHERE b.author_id > 3 GROUP BY b.author_id",
        "each author id along with",
    ),
    (
        "SELECT name FROM author WHERE country = 'Chad' AND age IN (SELECT age FROM author WHERE country = 'Mali')",
        "and that share their age with authors whose country is",
    ),
    (
        "SELECT name FROM author WHERE age NOT IN (SELECT age FROM author WHERE country = 'Mali')",
        "authors that share their age with no authors whose country is",
    ),
    ("SELECT name FROM author WHERE country NOT IN ('Chad')", "country is not"),
    (
        "SELECT v.city, count(*) FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.city",
        "each city along with the number of papers",
    ),
    (
        "SELECT city FROM venue WHERE EXISTS (SELECT 1 FROM paper WHERE venue.id = paper.venue_id AND pages > 3)",
        "venues that have papers whose pages",
    ),
    (
        "SELECT city FROM venue WHERE NOT EXISTS (SELECT 1 FROM paper WHERE venue.id = paper.venue_id)",
        "venues that have no papers",
    ),
    (
        "SELECT city FROM venue WHERE city = 'Rome' AND id IN (SELECT venue_id FROM paper)",
        "and that appear in papers",
    ),
    (
        "SELECT title FROM paper WHERE venue_id IN (SELECT id FROM venue WHERE city = 'Rome')",
        "papers that belong to venues whose city",
    ),
    (
        "SELECT city, (SELECT count(*) FROM paper WHERE venue.id = paper.venue_id) FROM venue",
        "the number of papers of that venue",
    ),
    (
        "SELECT max(n) FROM (SELECT country, count(*) AS n FROM author GROUP BY country) WHERE country <> 'x'",
        "maximum count of",
    ),
    (
        "SELECT m FROM (SELECT country, avg(age) AS m FROM author GROUP BY country) WHERE m > 3",
        "whose average age is",
    ),
    ("WITH a AS (SELECT name, age FROM author) SELECT name FROM a WHERE age > 3", "these re"),
    ("SELECT name FROM author WHERE age > 3 EXCEPT SELECT name FROM author WHERE age > 9", "those of"),
    ("SELECT name FROM author WHERE country IN ('Chad', 'Mali')", "country is either"),
    ("SELECT sum(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM author", "the number of cases where the age is"),
    ("SELECT name || ', ' || country FROM author", "the name and the country joined by ', '"),
    ("SELECT name FROM author WHERE birth_date < '1990-01-01'", "whose birth date is before '1990-01-01'"),
    ("SELECT name FROM author WHERE birth_date >= '1990-01-01'", "whose birth date is '1990-01-01' or later"),
    (
        "SELECT p.title FROM paper p JOIN venue v ON p.venue_id = v.id WHERE v.city = 'Rome' ORDER BY p.pages DESC LIMIT 5",
        "only for the 5 with",
    ),
    (
        "SELECT 100 * age, CAST(sum(CASE WHEN country = 'Chad' THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM author",
        "divided by the number of authors",
    ),
    (
        "SELECT CAST(sum(CASE WHEN country = 'Chad' THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM author WHERE age > 30",
        "authors whose age is above 30 have the country",
    ),
    (
        "SELECT CAST(sum(CASE WHEN country = 'Chad' THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM author",
        "For what percentage of authors is the country",
    ),
    ("SELECT country, avg(age) FROM author GROUP BY country", "the average age of authors by country"),
    (
        "SELECT v.city, avg(p.pages) FROM paper p JOIN venue v ON p.venue_id = v.id GROUP BY v.city",
        "the average pages of papers by the city of the venue",
    ),
    (
        "SELECT name FROM author WHERE age > 30 ORDER BY birth_date DESC LIMIT 1",
        "author with the latest birth date among those whose age is",
    ),
    (
        "SELECT country, CAST(sum(CASE WHEN age > 30 THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM author GROUP BY country",
        "authors have an age above 30?",
    ),
    (
        "SELECT CAST(sum(CASE WHEN p.pages > 30 THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM paper p \
         JOIN venue v ON p.venue_id = v.id WHERE v.city = 'Rome'",
        "have pages above 30?",
    ),
    (
        "SELECT sum(CASE WHEN country = 'Chad' THEN 1 ELSE 0 END) - sum(CASE WHEN country = 'Mali' THEN 1 ELSE 0 END) FROM author",
        "How many more authors are there whose country is Chad than Mali?",
    ),
    (
        "SELECT name FROM author WHERE age > (SELECT avg(age) FROM author)",
        "whose age is above the overall average",
    ),
    ("SELECT name FROM author WHERE age = (SELECT max(age) FROM author)", "whose age is the highest of all"),
    (
        "SELECT p.title FROM paper p JOIN venue v ON p.venue_id = v.id WHERE p.pages < (SELECT avg(pages) FROM paper) AND v.city = 'Rome'",
        "papers of venues whose city is Rome where the pages are below the overall average",
    ),
    (
        "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.id HAVING count(*) >= 2",
        "venues that have at least",
    ),
    (
        "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id WHERE p.pages > 30 GROUP BY v.id ORDER BY count(*) DESC LIMIT 1",
        "city of the venue that has the most papers whose pages are",
    ),
    (
        "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.id ORDER BY count(*) LIMIT 3",
        "venues that have the fewest papers",
    ),
    (
        "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.id ORDER BY avg(p.pages) DESC LIMIT 1",
        "the venue with the highest average pages of its papers",
    ),
    (
        "SELECT v.city, count(*) FROM paper p JOIN venue v ON p.venue_id = v.id WHERE p.pages > 30 GROUP BY v.city",
        "each city of venues along with the number of their papers whose pages are",
    ),
    (
        "SELECT v.city, avg(p.pages) FROM paper p JOIN venue v ON p.venue_id = v.id GROUP BY v.city HAVING count(*) >= 2",
        "only where there are at least 2 papers",
    ),
    (
        "SELECT v.city, avg(p.pages) FROM paper p JOIN venue v ON p.venue_id = v.id GROUP BY v.city ORDER BY avg(p.pages)",
        "by the city of the venue, sorted by the average pages",
    ),
    (
        "SELECT p.title FROM paper p JOIN venue v ON p.venue_id = v.id WHERE v.city = 'Rome' GROUP BY p.title ORDER BY count(*) DESC LIMIT 1",
        "title with the most papers of venues whose city is",
    ),
    (
        "SELECT v.city, avg(p.pages) FROM paper p JOIN venue v ON p.venue_id = v.id WHERE p.pages > 3 GROUP BY v.city HAVING count(*) >= 2",
        "only where there are at least 2 such papers",
    ),
    ("SELECT max(birth_date) FROM author", "the latest birth date"),
    (
        "SELECT p.id, v.id FROM paper p JOIN venue v ON p.venue_id = v.id",
        "papers, each with the id of its venue",
    ),
    ("SELECT p.id FROM paper p JOIN venue v ON p.venue_id = v.id", "the ids of"),
    ("SELECT is_open, directed_by FROM venue", "open statuses and directors"),
];

fn speech(schema: &Schema) -> Speech<'_> {
    Speech::of(schema)
}

/// The questions of a query over some seeds; each has its query as its one reading.
fn questions(speech: &Speech<'_>, schema: &Schema, sql: &str, style: QuestionStyle) -> Vec<String> {
    let query = resolve(sql, schema).unwrap();
    let ask = |seed| {
        let question = speech.ask(&query, style, &mut Random::new([seed])).unwrap();
        assert_eq!(
            speech.read(&question.text()).unwrap(),
            [canonical(&query, schema)],
            "{sql}: {}",
            question.text()
        );
        question.text()
    };
    (0..24).map(ask).collect()
}

#[test]
fn what_a_question_says_twice_it_says_in_the_same_words() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    let sql = "SELECT name FROM author WHERE age > 12 AND id > 5 AND country = 'Chad' AND name = 'Li'";
    for style in QuestionStyle::all() {
        for question in questions(&speech, &schema, sql, style) {
            let count =
                |words: &[&str]| words.iter().map(|word| question.matches(word).count()).collect::<Vec<_>>();
            let above = count(&["greater than", "above", "is over", "exceeds"]);
            assert!(above.contains(&2), "{question}");
            assert!(matches!(*count(&["'Chad'", "'Li'"]), [0, 0] | [1, 1]), "{question}");
        }
    }
}

#[test]
fn what_people_say_is_said() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    let mut missing = Vec::new();
    for (sql, phrase) in SHORT {
        let questions = questions(&speech, &schema, sql, QuestionStyle::Imperative);
        if !questions.iter().any(|question| question.contains(phrase)) {
            missing.push(format!("{sql}: no {phrase:?} in {:?}", &questions[..2]));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn short_forms_are_read_back_in_every_style() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    for style in QuestionStyle::all().filter(|style| *style != QuestionStyle::Vague) {
        for (sql, _) in SHORT {
            questions(&speech, &schema, sql, style);
        }
    }
}

#[test]
fn a_count_is_asked_for_by_how_many() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    for (sql, phrase) in [
        ("SELECT count(*) FROM author WHERE age > 3", "How many authors are there whose age is"),
        ("SELECT count(DISTINCT country) FROM author", "How many different countries do the authors have?"),
    ] {
        let questions = questions(&speech, &schema, sql, QuestionStyle::Interrogative);
        assert!(questions.iter().any(|question| question.starts_with(phrase)), "{questions:?}");
    }
}

#[test]
fn groups_are_asked_about_by_their_keys() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    for (sql, phrase) in [
        (
            "SELECT country, count(*) FROM author GROUP BY country",
            "For each country, what is the number of authors?",
        ),
        (
            "SELECT v.city, max(p.pages) FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.city",
            "For each city, what is the",
        ),
    ] {
        let questions = questions(&speech, &schema, sql, QuestionStyle::Interrogative);
        assert!(questions.iter().all(|question| question.starts_with(phrase)), "{questions:?}");
    }
    // Without the keys it is another question.
    let questions =
        questions(&speech, &schema, "SELECT count(*) FROM author GROUP BY country", QuestionStyle::Formal);
    assert!(!questions.iter().any(|question| question.starts_with("For e")), "{questions:?}");
}

#[test]
fn a_verb_after_a_plural_is_one_of_several() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    for (condition, phrase) in [
        ("pages > 3", "pages exceed "),
        ("pages <= 3", "pages do not exceed "),
        ("pages BETWEEN 3 AND 5", "pages lie between 3 and 5"),
        ("id > 3", "id exceeds "),
    ] {
        let sql = format!("SELECT title FROM paper WHERE {condition}");
        let questions = questions(&speech, &schema, &sql, QuestionStyle::Formal);
        assert!(questions.iter().any(|question| question.contains(phrase)), "{phrase}: {questions:?}");
    }
}

/// Things are in places and works by people; other rows are of what they refer to.
#[test]
fn what_rows_refer_to_has_its_preposition() {
    let schema = Schema::from_ddl(
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, region TEXT);
         CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
         CREATE TABLE airline (id INTEGER PRIMARY KEY, name TEXT, fleet INTEGER);
         CREATE TABLE song (title TEXT, sales INTEGER, singer_id INTEGER REFERENCES singer(id));
         CREATE TABLE club (title TEXT, sales INTEGER, city_id INTEGER REFERENCES city(id));
         CREATE TABLE flight (title TEXT, sales INTEGER, airline_id INTEGER REFERENCES airline(id))",
    )
    .unwrap();
    let speech = speech(&schema);
    for (table, other, condition, phrase) in [
        ("song", "singer", "age > 30", "songs by singers whose age is"),
        ("club", "city", "region = 'Lazio'", "clubs in cities whose region is"),
        ("flight", "airline", "fleet > 30", "flights of airlines whose fleet is"),
    ] {
        let sql = format!(
            "SELECT title FROM {table} JOIN {other} ON {table}.{other}_id = {other}.id WHERE {other}.{condition}"
        );
        let questions = questions(&speech, &schema, &sql, QuestionStyle::Imperative);
        assert!(questions.iter().any(|question| question.contains(phrase)), "{phrase}: {questions:?}");
    }
}

/// Where a short form would say something else, or nothing certain, it is not written.
#[test]
fn what_would_mean_something_else_is_not_said() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    for (sql, phrase) in [
        // Venues without papers are counted too.
        (
            "SELECT v.city, count(*) FROM venue v LEFT JOIN paper p ON p.venue_id = v.id GROUP BY v.city",
            "number of papers",
        ),
        // Both tables have an id: "of papers" says whose, "for all papers" does not.
        ("SELECT p.id FROM paper p JOIN venue v ON p.venue_id = v.id", "the ids for"),
        // Of the papers of Rome, and not of all.
        (
            "SELECT title FROM paper WHERE pages > (SELECT avg(pages) FROM paper WHERE venue_id = 3)",
            "overall average",
        ),
        // A share of papers is not one of venues, whose rows repeat.
        (
            "SELECT CAST(sum(CASE WHEN v.city = 'Rome' THEN 1 ELSE 0 END) AS REAL) * 100 / count(*) FROM paper p \
             JOIN venue v ON p.venue_id = v.id",
            "percentage of",
        ),
        // By the largest number, and not by the number of papers.
        (
            "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.id ORDER BY max(v.is_open) DESC LIMIT 1",
            "of its papers",
        ),
        // All groups in an order, and not the first of them.
        ("SELECT country FROM author GROUP BY country ORDER BY count(*) DESC", "with the most"),
        // The author of the most is one of all, not one of those that are compared with.
        (
            "SELECT name FROM author WHERE age > (SELECT avg(age) FROM author) ORDER BY age LIMIT 1",
            "all authors with the",
        ),
        // A venue counts as often as it has papers.
        (
            "SELECT avg(v.is_open) FROM venue v JOIN paper p ON p.venue_id = v.id WHERE p.pages > 3",
            "of all venues",
        ),
        (
            "SELECT v.directed_by, sum(v.is_open) FROM venue v JOIN paper p ON p.venue_id = v.id GROUP BY v.directed_by",
            "of its venues",
        ),
        // The city of one venue, and not the city that has the most.
        (
            "SELECT v.city FROM writes w JOIN paper p ON w.paper_id = p.id JOIN venue v ON p.venue_id = v.id \
             GROUP BY v.city ORDER BY count(*) DESC LIMIT 1",
            "of the venue with",
        ),
        // Cities of papers.
        ("SELECT p.title, v.city FROM paper p FULL JOIN venue v ON p.venue_id = v.id", "and cities"),
        // How many countries there are.
        ("SELECT n FROM (SELECT country, count(*) AS n FROM author GROUP BY country)", "the count of"),
        ("SELECT n FROM (SELECT country, count(*) AS n FROM author GROUP BY country)", "the count for"),
        // Cities of open venues, and the number of all their papers.
        (
            "SELECT v.city, count(*) FROM paper p JOIN venue v ON p.venue_id = v.id WHERE v.is_open = 1 GROUP BY v.city",
            "of their papers",
        ),
        // The average of each author.
        (
            "SELECT a.name FROM author a JOIN award b ON b.author_id = a.id WHERE b.prize = 'x' OR a.age > (SELECT avg(age) FROM author) \
             GROUP BY a.id HAVING count(*) > 2",
            "average for each",
        ),
        // Five rows of venues and papers are not five venues.
        (
            "SELECT v.city FROM venue v JOIN paper p ON p.venue_id = v.id WHERE p.pages > 3 ORDER BY p.pages DESC LIMIT 5",
            "only for the 5",
        ),
        // The country of the most is one of those authors', not of all.
        (
            "SELECT country, max(age) FROM author WHERE age > 3 GROUP BY country ORDER BY max(age) DESC LIMIT 1",
            "for the country with",
        ),
        // Papers are written and do not write.
        (
            "SELECT a.name, v.city FROM paper p JOIN venue v ON p.venue_id = v.id JOIN writes w ON w.paper_id = p.id JOIN author a ON w.author_id = a.id",
            "that wrote",
        ),
    ] {
        let questions = questions(&speech, &schema, sql, QuestionStyle::Imperative);
        assert!(!questions.iter().any(|question| question.contains(phrase)), "{phrase}: {questions:?}");
    }
}

#[test]
fn what_is_said_besides_is_of_a_column_that_the_query_does_not_use() {
    let schema = Schema::from_ddl(LINKED).unwrap();
    let speech = speech(&schema);
    let query = resolve("SELECT name FROM author WHERE age > 3", &schema).unwrap();
    let manner = crate::Manner { style: QuestionStyle::Formal, distractor: true };
    let mut asides = Vec::new();
    for seed in 0..40 {
        let question = speech.ask(&query, manner, &mut Random::new([seed])).unwrap();
        asides.extend(
            question
                .marks
                .iter()
                .filter(|mark| mark.kind == crate::MarkKind::Distractor)
                .map(|mark| question.turns[mark.turn][mark.bytes.clone()].to_owned()),
        );
    }
    assert!(!asides.is_empty());
    for aside in asides {
        let unused = ["id", "country", "birth date"]
            .iter()
            .any(|name| aside.to_lowercase().contains(&format!("the {name} of")));
        assert!(unused && aside.contains("author"), "{aside}");
    }
}
