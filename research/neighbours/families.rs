//! Families of items; a family's outcome is certain. `{v}` in a text is the number of the variant.

use std::sync::Arc;

use sqlgauge_base::Random;
use sqlgauge_engine::{Enough, FailureKind, Outcome, ResultSet, Value};

use crate::hostile::TEMPLATES;
use crate::worlds::World;

/// Items that cost, return or fail alike.
pub(crate) struct Family {
    name: &'static str,
    /// Items of 1,000.
    weight: usize,
    expected: Expected,
    until: Until,
    texts: &'static [&'static str],
}

/// How the items end, alone and among neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// With rows: a right answer.
    Rows,
    /// With the first rows, which were enough.
    Beginning,
    Failure(FailureKind),
    /// As they end alone.
    Any,
}

/// When the rows are enough.
#[derive(Debug, Clone, Copy)]
enum Until {
    End,
    Over(usize),
    Foreign,
}

/// One text and how it is run.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) family: &'static str,
    pub(crate) sql: String,
    pub(crate) enough: Option<Enough>,
    pub(crate) expected: Expected,
}

impl Expected {
    /// Whether an outcome is that.
    pub(crate) fn is(self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Rows, Outcome::Rows(rows)) => !rows.is_beginning(),
            (Self::Beginning, Outcome::Rows(rows)) => rows.is_beginning(),
            (Self::Failure(kind), Outcome::Failed(failure)) => failure.kind == kind,
            (Self::Any, _) => true,
            _ => false,
        }
    }
}

const fn family(
    name: &'static str,
    weight: usize,
    expected: Expected,
    until: Until,
    texts: &'static [&'static str],
) -> Family {
    Family { name, weight, expected, until, texts }
}

/// Right answers: one row, many rows, joins, groups, windows, recursion.
const RIGHT: &[&str] = &[
    "SELECT count(*) + 0 * {v} FROM items a, items b",
    "SELECT name FROM items WHERE id = {v} + 1",
    "SELECT id + 0 * {v} FROM items ORDER BY id",
    "SELECT max(id), min(name) FROM items WHERE id > {v}",
    "SELECT a.id, count(*) FROM items a JOIN items b ON b.id <= a.id WHERE a.id > {v} GROUP BY a.id ORDER BY a.id",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100 + {v}) SELECT sum(i) FROM n",
    "SELECT name, row_number() OVER (ORDER BY id) FROM items WHERE id <= 10 + {v} ORDER BY id",
];

/// Answers with more rows than their gold: the server has sent all, has them ready, or would send for long.
const WIDE: &[&str] = &[
    "SELECT id + 0 * {v} FROM items",
    "SELECT a.id + {v}, b.id FROM items a, items b",
    "SELECT a.id + {v} FROM items a, items b, items c",
    "SELECT a.id + {v} FROM items a, items b ORDER BY b.id, a.id",
];

/// What all engines have.
const COMMON: &[Family] = &[
    family("right", 200, Expected::Rows, Until::End, RIGHT),
    family("right under a gold", 200, Expected::Rows, Until::Over(1_000), RIGHT),
    family(
        "below the limit",
        12,
        Expected::Rows,
        Until::End,
        &["SELECT count(*) + 0 * {v} FROM items a, items b, items c WHERE c.id <= 40"],
    ),
    family(
        "above the limit",
        4,
        Expected::Failure(FailureKind::Timeout),
        Until::End,
        &["SELECT count(*) + 0 * {v} FROM items a, items b, items c, items d, items e, items f, items g"],
    ),
    family("more rows than the gold", 200, Expected::Beginning, Until::Over(1), WIDE),
    family("a row the gold lacks", 80, Expected::Beginning, Until::Foreign, WIDE),
    family(
        "too many rows",
        20,
        Expected::Failure(FailureKind::TooLarge),
        Until::End,
        &["SELECT a.id + {v} FROM items a, items b, items c"],
    ),
    family(
        "no table",
        30,
        Expected::Failure(FailureKind::NoSuchTable),
        Until::End,
        &["SELECT * FROM nothing{v}"],
    ),
    family(
        "no column",
        30,
        Expected::Failure(FailureKind::NoSuchColumn),
        Until::End,
        &["SELECT nothing{v} FROM items"],
    ),
    family(
        "fails",
        40,
        Expected::Any,
        Until::End,
        &[
            "SELECT FROM WHERE {v}",
            "SELECT id FROM items a, items b WHERE a.id > {v}",
            "SELECT {v} / (id - 90) FROM items ORDER BY id",
            "SELECT sum(count(*)) + {v} FROM items",
            "SELECT 9223372036854775807 + id + {v} FROM items ORDER BY id",
        ],
    ),
];

/// What an earlier query might have changed for a later one.
const OBSERVERS: &str = "what a session has";

/// What `SQLite` has besides.
pub(crate) const SQLITE: &[Family] = &[
    family(
        OBSERVERS,
        60,
        Expected::Any,
        Until::End,
        &[
            "SELECT changes(), total_changes(), last_insert_rowid(), {v}",
            "SELECT count(*), {v} FROM sqlite_schema",
            "SELECT random(), {v}",
            "SELECT hex(randomblob(8)), {v}",
        ],
    ),
    family(
        "big values",
        6,
        Expected::Any,
        Until::End,
        &["SELECT length(zeroblob(10000000 + {v}))", "SELECT zeroblob(100000000 + {v})"],
    ),
];

/// What `PostgreSQL` has besides.
pub(crate) const POSTGRESQL: &[Family] = &[
    family(
        OBSERVERS,
        60,
        Expected::Any,
        Until::End,
        &[
            "SELECT current_setting('statement_timeout'), current_setting('search_path'), {v}",
            "SELECT current_setting('transaction_read_only'), current_setting('transaction_isolation'), {v}",
            "SELECT current_setting('TimeZone'), current_setting('DateStyle'), current_user, {v}",
            "SELECT count(*), {v} FROM pg_prepared_statements",
            "SELECT count(*), {v} FROM pg_listening_channels()",
            "SELECT pg_my_temp_schema(), {v}",
        ],
    ),
    family(
        "big values",
        6,
        Expected::Any,
        Until::End,
        &["SELECT repeat('x', 10000000 + {v})", "SELECT repeat('x', 100000000 + {v})"],
    ),
];

/// What `MariaDB` has besides.
pub(crate) const MARIADB: &[Family] = &[
    family(
        OBSERVERS,
        60,
        Expected::Any,
        Until::End,
        &[
            "SELECT @@sql_mode, @@max_statement_time, @@autocommit, {v}",
            "SELECT @@tx_read_only, @@tx_isolation, @@time_zone, DATABASE(), {v}",
            "SELECT @a, {v}",
            "SELECT LAST_INSERT_ID(), ROW_COUNT(), {v}",
            "SELECT @@sql_select_limit, @@group_concat_max_len, @@character_set_client, {v}",
        ],
    ),
    family(
        "big values",
        6,
        Expected::Any,
        Until::End,
        &["SELECT REPEAT('x', 10000000 + {v})", "SELECT REPEAT('x', 100000000 + {v})"],
    ),
];

/// What `DuckDB` has besides.
pub(crate) const DUCKDB: &[Family] = &[
    family(
        OBSERVERS,
        60,
        Expected::Any,
        Until::End,
        &[
            "SELECT current_setting('TimeZone'), current_setting('threads'), {v}",
            "SELECT getvariable('x'), {v}",
            "SELECT count(*), {v} FROM duckdb_tables()",
            "SELECT current_schema(), current_database(), {v}",
            "SELECT count(*), {v} FROM duckdb_prepared_statements()",
        ],
    ),
    family(
        "big values",
        6,
        Expected::Any,
        Until::End,
        &["SELECT repeat('x', 10000000 + {v})", "SELECT repeat('x', 100000000 + {v})"],
    ),
];

/// Items of 1,000 that are hostile.
const HOSTILE: usize = 120;

/// `count` items by their places in the list of all that differ.
pub(crate) fn draw(world: &World, count: usize, random: &mut Random) -> (Vec<Item>, Vec<usize>) {
    let variants = (count / 1_000).clamp(1, 8);
    let mut items = Vec::new();
    // For each of 1,000 the items to draw from.
    let mut places = Vec::new();
    for family in COMMON.iter().chain(world.families) {
        let begin = items.len();
        for text in family.texts {
            items
                .extend((0..variants).map(|variant| family.item(&text.replace("{v}", &variant.to_string()))));
        }
        places.extend(std::iter::repeat_n(begin..items.len(), family.weight));
    }
    let begin = items.len();
    for _ in 0..(count / 50).clamp(10, 300) {
        let text = random.pick(world.hostile).copied().unwrap_or_default();
        let template = random.pick(TEMPLATES).copied().unwrap_or("{}");
        let sql = template.replace("{}", text);
        items.push(Item { family: "hostile", sql, enough: None, expected: Expected::Any });
    }
    places.extend(std::iter::repeat_n(begin..items.len(), HOSTILE));
    let drawn = (0..count).map(|_| {
        let range = places[random.below(places.len())].clone();
        range.start + random.below(range.len())
    });
    let drawn = drawn.collect();
    (items, drawn)
}

impl Family {
    fn item(&self, sql: &str) -> Item {
        let enough = match self.until {
            Until::End => None,
            Until::Over(rows) => Some(Enough { rows_over: Some(rows), foreign_to: None }),
            Until::Foreign => {
                let gold = ResultSet::new(vec!["id".into()], vec![Value::Integer(-1)]);
                Some(Enough { rows_over: None, foreign_to: Some(Arc::new(gold)) })
            }
        };
        Item { family: self.name, sql: sql.to_owned(), enough, expected: self.expected }
    }
}
