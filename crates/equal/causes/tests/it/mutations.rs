//! A slip that is planted in a query is said for what it is, and what a sentence says is true of the two queries.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use sqlgauge_causes::{Explainer, Judge, Proofs};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_search::mutation::{MutationKind, Mutations};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{PrintDialect, print, resolve};

const SCHEMA: &str = "
    CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT, height INT, country TEXT);
    CREATE TABLE stadium (id INTEGER PRIMARY KEY, name TEXT, city TEXT, seats INT);
    CREATE TABLE concert (
        id INTEGER PRIMARY KEY, name TEXT, year INT, price REAL,
        singer_id INT REFERENCES singer (id), stadium_id INT REFERENCES stadium (id));";

const GOLDS: [&str; 14] = [
    "SELECT name, age FROM singer WHERE age > 20 AND country = 'Peru' ORDER BY age DESC LIMIT 3",
    "SELECT count(*), avg(age), max(height) FROM singer WHERE country <> 'Peru' OR age <= 30",
    "SELECT DISTINCT country FROM singer WHERE name LIKE '%a%' AND height IS NOT NULL",
    "SELECT s.name, count(*) FROM singer s JOIN concert c ON s.id = c.singer_id GROUP BY s.id, s.name HAVING count(*) >= 2",
    "SELECT s.name, t.city FROM singer s JOIN concert c ON s.id = c.singer_id JOIN stadium t ON c.stadium_id = t.id WHERE c.year = 2014",
    "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE year > 2010)",
    "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer WHERE country = 'Peru')",
    "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30",
    "SELECT name FROM stadium EXCEPT SELECT t.name FROM stadium t JOIN concert c ON c.stadium_id = t.id WHERE c.year = 2014",
    "SELECT s.name FROM singer s LEFT JOIN concert c ON s.id = c.singer_id AND c.year = 2014 WHERE s.age BETWEEN 20 AND 30",
    "SELECT t.name FROM stadium t WHERE EXISTS (SELECT 1 FROM concert c WHERE c.stadium_id = t.id AND c.price > 10.5)",
    "SELECT sum(price) FROM concert WHERE year IN (2014, 2015) AND stadium_id = 3",
    "SELECT country, count(DISTINCT name) FROM singer GROUP BY country ORDER BY count(*) DESC, country LIMIT 1",
    "SELECT x.n FROM (SELECT country AS c, count(*) AS n FROM singer GROUP BY country) x WHERE x.n > 3",
];

/// The causes that a slip of that kind may be said to be.
fn expected(kind: MutationKind) -> &'static [&'static str] {
    match kind {
        MutationKind::Column => {
            &["other-column", "same-name", "join-key", "grouping", "order", "wrong-aggregate", "join-kind"]
        }
        MutationKind::Number => &["other-constant", "limit", "join-kind"],
        MutationKind::Text => &["other-constant"],
        MutationKind::Comparison => &["other-comparison", "subquery", "join-kind"],
        MutationKind::Key => {
            &["join-key", "other-comparison", "missing-condition", "connective", "join-kind", "null-handling"]
        }
        MutationKind::Arithmetic => &["other-outputs", "other-condition"],
        MutationKind::Connective => &["connective"],
        MutationKind::Condition => &["missing-condition", "subquery", "null-handling"],
        MutationKind::Negation => &["other-comparison", "subquery", "null-handling"],
        MutationKind::Aggregate => &["wrong-aggregate", "order"],
        MutationKind::Distinct => &["distinct", "order"],
        MutationKind::Direction => &["order"],
        MutationKind::NoLimit => &["limit"],
        MutationKind::Join => &["join-kind"],
        MutationKind::SetOperation => &["set-operation"],
        MutationKind::Grouping => &["grouping"],
    }
}

#[derive(Debug, Default)]
struct Tally {
    slips: usize,
    sentences: usize,
    as_planted: usize,
    /// Those of one slip, which can be checked whole.
    checked: usize,
    unclear: BTreeMap<&'static str, usize>,
    /// What is not said, or not as planted.
    other: Vec<String>,
    /// What is not true.
    untrue: Vec<String>,
}

impl Tally {
    /// Plants slips in a query, the mutations of these numbers.
    fn plant(&mut self, gold: &str, schema: &Schema, wanted: impl Fn(usize) -> bool) {
        let explainer = Explainer::of(schema.clone());
        let options = SearchOptions { databases: 60, ..SearchOptions::default() };
        let search = Search::new(schema.clone(), options).unwrap();
        let query = resolve(gold, schema).unwrap();
        let mutations = Mutations::new(&query, schema);
        for number in (0..mutations.count()).filter(|number| wanted(*number)) {
            let Some(mutant) = mutations.get(number) else { continue };
            let Ok(text) = print(&mutant, schema, PrintDialect::Sqlite) else { continue };
            if resolve(&text, schema).is_ok() {
                self.look_at(gold, &text, mutations.kinds()[number], (&explainer, &search, schema));
            }
        }
    }

    fn look_at(
        &mut self,
        gold: &str,
        text: &str,
        kind: MutationKind,
        (explainer, search, schema): (&Explainer, &Search, &Schema),
    ) {
        self.slips += 1;
        let difference = match explainer.explain(gold, text, &Proofs::over(schema)) {
            Ok(difference) => difference,
            Err(unclear) => {
                *self.unclear.entry(unclear.id()).or_default() += 1;
                self.other.push(format!("{kind:?}: {}\n  {gold}\n  {text}", unclear.id()));
                return;
            }
        };
        self.sentences += 1;
        if difference.slips.iter().any(|slip| expected(kind).contains(&slip.cause.id)) {
            self.as_planted += 1;
        } else {
            self.other.push(format!("{kind:?}: {}\n  {gold}\n  {text}", difference.sentence()));
        }
        // The gold with the one slip that is said must be the answer, and the answer without it the gold.
        let Ok(difference) = explainer.explain(gold, text, &Nobody) else { return };
        if let [slip] = difference.slips.as_slice() {
            self.checked += 1;
            let [planted, repaired] = [&slip.planted, &slip.repaired]
                .map(|query| print(query, schema, PrintDialect::Sqlite).unwrap());
            for (left, right) in [(planted.as_str(), text), (gold, repaired.as_str())] {
                if let SearchVerdict::Refuted(_) = search.refute(left, right) {
                    self.untrue
                        .push(format!("{}\n  {gold}\n  {text}\n  {left}\n  {right}", difference.sentence()));
                }
            }
        }
    }

    fn print(&self) {
        let Self { slips, sentences, as_planted, checked, unclear, .. } = self;
        println!(
            "{slips} slips: {sentences} said, {as_planted} as planted, {checked} checked, unclear {unclear:?}"
        );
        println!("{} contradictions\n{}", self.untrue.len(), self.untrue.join("\n"));
        println!("not as planted, or unclear:\n{}", self.other.join("\n"));
    }
}

#[test]
fn a_planted_slip_is_said_for_what_it_is() {
    let schema = Schema::from_ddl(SCHEMA).unwrap();
    let mut tally = Tally::default();
    GOLDS.iter().for_each(|gold| tally.plant(gold, &schema, |_| true));
    tally.print();
    assert_eq!(tally.untrue.len(), 0, "sentences that are not true");
    assert!(tally.slips > 150 && tally.sentences * 10 >= tally.slips * 9, "too few are said");
    assert!(tally.as_planted * 100 >= tally.sentences * 95, "too few are said as planted");
}

/// The same on the golds of Spider dev; `SQLGAUGE_DATA` names the data.
#[test]
#[ignore = "takes a minute, and prints what a person is to read"]
fn slips_planted_in_the_golds_of_spider() {
    let root = std::env::var("SQLGAUGE_DATA").expect("SQLGAUGE_DATA names the data");
    let spider = Path::new(&root).join("spider");
    let golds = std::fs::read_to_string(spider.join("dev_gold.sql")).unwrap();
    let engine = SqliteEngine::new(Limits::default());
    let mut open: HashMap<&str, Arc<Database>> = HashMap::new();
    let mut tally = Tally::default();
    for (place, (gold, db)) in golds.lines().filter_map(|line| line.split_once('\t')).enumerate() {
        let path = spider.join(format!("database/{db}/{db}.sqlite"));
        let database = open.entry(db).or_insert_with(|| engine.open(&path).unwrap());
        // Every seventh, another one for each query.
        tally.plant(gold, database.schema(), |number| (number + place) % 7 == 0);
    }
    tally.print();
    assert_eq!(tally.untrue.len(), 0, "sentences that are not true");
}

/// Knows nothing, so that every slip is said.
struct Nobody;

impl Judge for Nobody {
    fn same(&self, _query: &str, _other: &str) -> Option<bool> {
        None
    }
}

/// Whatever two queries are compared: with one slip, it turns the gold into the answer.
#[test]
fn one_slip_between_any_two_queries_is_the_whole_difference() {
    let schema = Schema::from_ddl(SCHEMA).unwrap();
    let explainer = Explainer::of(schema.clone());
    let search =
        Search::new(schema.clone(), SearchOptions { databases: 60, ..SearchOptions::default() }).unwrap();
    let (mut sentences, mut untrue) = (0, Vec::new());
    for gold in GOLDS {
        for prediction in GOLDS.into_iter().filter(|other| *other != gold) {
            let Ok(difference) = explainer.explain(gold, prediction, &Nobody) else { continue };
            sentences += 1;
            if let [slip] = difference.slips.as_slice() {
                let planted = print(&slip.planted, &schema, PrintDialect::Sqlite).unwrap();
                if let SearchVerdict::Refuted(_) = search.refute(&planted, prediction) {
                    untrue.push(format!("{}\n  {gold}\n  {prediction}\n  {planted}", difference.sentence()));
                }
            }
        }
    }
    println!("{sentences} sentences");
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}
