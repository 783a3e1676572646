//! The databases of one question.

use std::collections::BTreeSet;

use sqlgauge_search::mutation::Mutations;
use sqlgauge_search::suite::cover;
use sqlgauge_search::{Inapplicable, Search, Witness};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{PrintDialect, print, resolve};

use super::format::{KillCount, PackQuestion};
use super::readings::readings;
use super::slips::slips;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackSettings {
    /// Most databases of one question.
    pub databases: usize,
    /// Most single mutations of one gold, and most of its other readings of one kind; of more, so many at equal distances.
    pub mutations: usize,
}

impl Default for PackSettings {
    fn default() -> Self {
        Self { databases: 8, mutations: 64 }
    }
}

/// Most databases of one question from which the kept ones are chosen.
const MOST_CANDIDATES: usize = 64;

/// Databases that are made for all of a question's queries at once.
const SAMPLES: usize = 16;

/// What came of a search for a database that tells a query from the gold.
#[derive(Debug, Clone, PartialEq)]
pub enum Refuted {
    /// It is proved equal to the gold, so there is none.
    Equal,
    By(Witness),
    Open,
}

/// Whom the databases are to tell from the gold.
struct Others {
    texts: Vec<String>,
    /// The first so many are mutations of the gold, the others are answers.
    mutations: usize,
}

/// The databases of a question: those of an earlier pack, and what `refute` finds for mutations of the gold and for answers that
/// none of them tells from it.
pub fn pack_question(
    search: &Search,
    schema: &Schema,
    question: PackQuestion,
    (gold, answers): (&str, &[&str]),
    before: Vec<Witness>,
    settings: PackSettings,
    refute: &mut dyn FnMut(&str, &str) -> Refuted,
) -> PackQuestion {
    let others = Others::new(gold, answers, schema, settings.mutations);
    match databases(search, gold, &others, before, refute) {
        Ok((databases, equal)) => chosen(search, question, (gold, &others), &databases, &equal, settings),
        Err(reason) => {
            let mut question = question;
            question.none = Some(reason.code());
            question
        }
    }
}

impl Others {
    fn new(gold: &str, answers: &[&str], schema: &Schema, most: usize) -> Self {
        let mut seen: BTreeSet<String> = [gold.to_owned()].into();
        let mut texts: Vec<String> = resolve(gold, schema).ok().map_or_else(Vec::new, |query| {
            let mutations = Mutations::new(&query, schema);
            let mutated = spread(0..mutations.count(), most).filter_map(|number| mutations.get(number));
            let texts = mutated
                .chain(slips(&query, schema, most))
                .filter_map(|other| print(&other, schema, PrintDialect::Sqlite).ok())
                .chain(readings(&query, schema, most));
            texts.filter(|text| seen.insert(text.clone())).collect()
        });
        let mutations = texts.len();
        texts.extend(
            answers.iter().map(|answer| (*answer).to_owned()).filter(|answer| seen.insert(answer.clone())),
        );
        Self { texts, mutations }
    }
}

/// At most so many of them, at equal distances. They are counted first: a query of 2,000 columns has more forms than fit in memory.
pub(super) fn spread<T>(items: impl Iterator<Item = T> + Clone, most: usize) -> impl Iterator<Item = T> {
    let count = items.clone().count();
    let size = count.min(most);
    let mut wanted = (0..size).map(move |number| number * count / size).peekable();
    items.enumerate().filter_map(move |(at, item)| wanted.next_if_eq(&at).map(|_| item))
}

/// Databases that tell the others from the gold, and which of the others equal it.
fn databases(
    search: &Search,
    gold: &str,
    others: &Others,
    before: Vec<Witness>,
    refute: &mut dyn FnMut(&str, &str) -> Refuted,
) -> Result<(Vec<Witness>, BTreeSet<usize>), Inapplicable> {
    let (mut databases, mut equal) = (before, BTreeSet::new());
    let texts: Vec<&str> = others.texts.iter().map(String::as_str).collect();
    databases.extend(search.samples(gold, &texts, SAMPLES));
    // Answers come first: what people got wrong is worth more than what could be.
    let order = (others.mutations..others.texts.len()).chain(0..others.mutations);
    for at in order {
        let other = &others.texts[at];
        if databases.len() >= MOST_CANDIDATES {
            break;
        }
        let database_of = |other: &str| {
            search.refute(gold, other).refutation().map(|refutation| refutation.database().clone())
        };
        if search.told(&databases, gold, other)?.is_none() {
            match refute(gold, other) {
                Refuted::Equal => {
                    equal.insert(at);
                    continue;
                }
                Refuted::By(database) => {
                    // As it was found: with more rows it tells more answers from the gold, those that nobody has given too.
                    databases.extend(database_of(other));
                    databases.push(database);
                }
                Refuted::Open => continue,
            }
        }
        let with_rows = where_gold_has_rows(gold, other);
        if search.told(&databases, gold, &with_rows)?.is_none() {
            databases.extend(database_of(&with_rows));
        }
    }
    Ok((databases, equal))
}

/// A query that returns what the other does where the gold returns a row, and nothing where it returns none. What tells it from the gold
/// tells more answers than a database on which the gold finds nothing.
fn where_gold_has_rows(gold: &str, other: &str) -> String {
    let bare = |text: &str| text.trim().trim_end_matches(';').to_owned();
    format!("SELECT * FROM ({}\n) WHERE EXISTS ({}\n)", bare(other), bare(gold))
}

/// The places of at most so many sets: a cover, then a cover by the others, and so on. What several databases tell from the gold
/// in several ways, an answer of the same kind is more likely told by.
fn covered_often(sets: &[&BTreeSet<usize>], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    while places.len() < most {
        let left: Vec<usize> = (0..sets.len()).filter(|at| !places.contains(at)).collect();
        let of_left: Vec<&BTreeSet<usize>> = left.iter().map(|&at| sets[at]).collect();
        let further = cover(&of_left);
        if further.is_empty() {
            break;
        }
        places.extend(further.into_iter().map(|at| left[at]));
    }
    places.truncate(most);
    places
}

/// The question with as few of the databases as tell as many others from the gold as all do.
fn chosen(
    search: &Search,
    question: PackQuestion,
    (gold, others): (&str, &Others),
    databases: &[Witness],
    equal: &BTreeSet<usize>,
    settings: PackSettings,
) -> PackQuestion {
    let mut kills: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); databases.len()];
    let results = search.results_on(databases, gold, gold).unwrap_or_default();
    let has_rows =
        |database: usize| matches!(results.get(database), Some(Some([rows, _])) if !rows.is_empty());
    for (at, other) in others.texts.iter().enumerate().filter(|(at, _)| !equal.contains(at)) {
        for database in search.told_by_each(databases, gold, other).unwrap_or_default() {
            // What SQLite refuses is told without a database.
            if let Some(kills_here) = kills.get_mut(database) {
                kills_here.insert(at);
                // To tell it where the gold returns rows counts once more.
                kills_here.extend(has_rows(database).then_some(others.texts.len() + at));
            }
        }
    }
    let sets: Vec<&BTreeSet<usize>> = kills.iter().collect();
    let cover = covered_often(&sets, settings.databases);
    let killed = cover.iter().flat_map(|&at| kills[at].iter().copied()).filter(|at| *at < others.texts.len());
    let killed: BTreeSet<usize> = killed.collect();
    let count = |is_one: &dyn Fn(usize) -> bool| KillCount {
        tried: (0..others.texts.len()).filter(|&at| is_one(at)).count(),
        killed: killed.iter().filter(|&&at| is_one(at)).count(),
        equal: equal.iter().filter(|&&at| is_one(at)).count(),
    };
    let mut question = question.with_databases(cover.into_iter().map(|at| &databases[at]));
    question.mutations = count(&|at| at < others.mutations);
    question.answers = count(&|at| at >= others.mutations);
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queries of so many columns, conditions, groups or joins, whose other forms are as many and each as long.
    fn wide(width: usize) -> (Schema, Vec<String>) {
        let all = |column: &dyn Fn(usize) -> String, between: &str| {
            (0..width).map(column).collect::<Vec<_>>().join(between)
        };
        let columns = all(&|at| format!("c{at}"), ", ");
        let links = all(&|at| format!("CREATE TABLE u{at} (t_id INT REFERENCES t(c0));"), " ");
        let definitions = all(&|at| format!("c{at} INT"), ", ");
        let ddl = format!("CREATE TABLE t ({definitions}, PRIMARY KEY (c0)); {links}");
        let equal = all(&|at| format!("c{at} = c{}", (at + 1) % width), " AND ");
        let golds = [
            "SELECT * FROM t".to_owned(),
            "SELECT DISTINCT * FROM t".to_owned(),
            format!("SELECT {columns} FROM t GROUP BY {columns}"),
            format!("SELECT * FROM t WHERE {equal}"),
            format!("SELECT count(*) FROM t ORDER BY {columns}"),
        ];
        (Schema::from_ddl(&ddl).unwrap(), golds.into())
    }

    /// Twice the columns give as many other queries and twice the bytes, not four times.
    #[test]
    fn others_grow_with_the_width_and_not_with_its_square() {
        let most = PackSettings::default().mutations;
        let sizes = |width: usize| {
            let (schema, golds) = wide(width);
            let size = |gold: &String| {
                let others = Others::new(gold, &[], &schema, most).texts;
                // Single mutations, slips, and the kinds of readings.
                assert!(others.len() <= 8 * most, "{} others of {gold:.40}", others.len());
                others.iter().map(String::len).sum::<usize>()
            };
            golds.iter().map(size).collect::<Vec<usize>>()
        };
        for (at, (narrow, wide)) in sizes(150).into_iter().zip(sizes(300)).enumerate() {
            assert!(narrow > 0 && 10 * wide < 24 * narrow, "{at}: {narrow} and {wide}");
        }
    }

    /// What is taken of many: the first, and as many as asked for; of few, all.
    #[test]
    fn a_spread_is_even() {
        let spread = |count: usize, most: usize| spread(0..count, most).collect::<Vec<usize>>();
        assert_eq!(spread(9, 3), [0, 3, 6]);
        assert_eq!(spread(3, 9), [0, 1, 2]);
        assert_eq!((spread(0, 3), spread(3, 0)), (vec![], vec![]));
    }
}
