//! The predicted query: its text, its structure, and how it fits the question and the schema.

use std::collections::{HashMap, HashSet};

use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, Literal, Query, Relation, RelationId, RelationSource,
};
use sqlgauge_sql::visit::{Visitor, walk_query};
use sqlgauge_sql::{ErrorKind, Features, resolve};

use super::linking::{Links, has_word};
use super::question::{Cues, Text};
use super::row::Row;
use super::schema::{Prepared, TableColumn};

/// What an item's other parts say, for judging a prediction by.
pub(super) struct ItemParts<'a> {
    pub(super) schema: &'a Schema,
    pub(super) prepared: &'a Prepared,
    pub(super) question: &'a Text,
    pub(super) evidence: Option<&'a Text>,
    pub(super) cues: &'a Cues,
    pub(super) links: &'a Links,
}

/// Puts the components of a prediction.
pub(super) fn put(row: &mut Row, prediction: Option<&str>, parts: &ItemParts<'_>) {
    let text = prediction.unwrap_or_default().trim();
    let resolved = resolve(text, parts.schema);
    put_outcome(row, prediction, resolved.as_ref().err().map(sqlgauge_sql::ResolveError::kind));
    put_text(row, text);
    let query = resolved.as_ref().ok();
    let features = query.map(|query| Features::of(query, parts.schema)).unwrap_or_default();
    let query_parts = query.map(QueryParts::of).unwrap_or_default();
    put_structure(row, query, &features, parts.prepared);
    put_operators(row, &features, &query_parts);
    put_links(row, &features, &query_parts, parts);
    put_agreement(row, query.is_some(), &features, &query_parts, parts.cues);
}

fn put_outcome(row: &mut Row, prediction: Option<&str>, error: Option<&ErrorKind>) {
    let missing = prediction.is_none_or(|text| text.trim().is_empty());
    row.flag("sql.missing", "there is no prediction, or an empty one", missing);
    row.flag(
        "sql.resolves",
        "the prediction is a query and all its names are in the schema",
        error.is_none(),
    );
    let is = |test: fn(&ErrorKind) -> bool| !missing && error.is_some_and(test);
    row.flag("sql.error.syntax", "it is no SQL", is(|kind| matches!(kind, ErrorKind::Syntax(_))));
    row.flag(
        "sql.error.unknown_table",
        "it names a table that the schema does not have",
        is(|kind| matches!(kind, ErrorKind::UnknownTable(_))),
    );
    row.flag(
        "sql.error.unknown_column",
        "it names a column that no table in scope has",
        is(|kind| matches!(kind, ErrorKind::UnknownColumn(_))),
    );
    row.flag(
        "sql.error.ambiguous_column",
        "it names a column that two tables in scope have",
        is(|kind| matches!(kind, ErrorKind::AmbiguousColumn(_))),
    );
    row.flag("sql.error.invalid", "it breaks another rule of SQLite", is(breaks_a_rule));
    row.flag(
        "sql.error.unsupported",
        "it uses what the resolver does not know",
        is(|kind| matches!(kind, ErrorKind::Unsupported(_) | ErrorKind::TooComplex(_))),
    );
    let other =
        is(|kind| matches!(kind, ErrorKind::Empty | ErrorKind::MultipleStatements | ErrorKind::NotAQuery(_)));
    row.flag("sql.error.no_query", "it is no query, or several statements", other);
}

/// Whether the error has no feature of its own.
fn breaks_a_rule(kind: &ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::Syntax(_)
            | ErrorKind::UnknownTable(_)
            | ErrorKind::UnknownColumn(_)
            | ErrorKind::AmbiguousColumn(_)
            | ErrorKind::Unsupported(_)
            | ErrorKind::TooComplex(_)
            | ErrorKind::Empty
            | ErrorKind::MultipleStatements
            | ErrorKind::NotAQuery(_)
    )
}

fn put_text(row: &mut Row, text: &str) {
    let lower = text.to_ascii_lowercase();
    let words =
        || lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    row.count("sql.text.characters", "characters of the prediction", text.chars().count());
    row.count("sql.text.words", "words, names and numbers of it", words().count());
    row.count(
        "sql.text.selects",
        "how often it says SELECT, whether it resolves or not",
        words().filter(|word| *word == "select").count(),
    );
    row.count(
        "sql.text.joins",
        "how often it says JOIN, whether it resolves or not",
        words().filter(|word| *word == "join").count(),
    );
    row.flag("sql.text.star", "it selects *", selects_star(&lower));
    row.flag("sql.text.quotes", "it quotes names with \" ` or [", text.contains(['"', '`', '[']));
    row.flag(
        "sql.text.comment",
        "it has a comment or a code fence",
        text.contains("--") || text.contains("/*") || text.contains("```"),
    );
}

/// Whether a `*` stands where an output stands: after SELECT, DISTINCT, ALL, a comma or `name.`.
fn selects_star(lower: &str) -> bool {
    lower.match_indices('*').any(|(at, _)| {
        let before = lower[..at].trim_end();
        before.ends_with(['.', ','])
            || ["select", "distinct", "all"].iter().any(|word| before.ends_with(word))
    })
}

fn put_structure(row: &mut Row, query: Option<&Query>, features: &Features, prepared: &Prepared) {
    row.count("sql.outputs", "columns that it returns", query.map_or(0, Query::width));
    row.count("sql.tables", "distinct tables that it reads", features.tables.len());
    row.share(
        "sql.tables_share",
        "share of the schema's tables that it reads",
        features.tables.len(),
        prepared.tables.len(),
    );
    row.count("sql.columns", "distinct columns that it names", features.columns.len());
    row.share(
        "sql.columns_share",
        "share of the schema's columns that it names",
        features.columns.len(),
        prepared.columns.len(),
    );
    row.count("sql.depth", "levels of queries: 1 without subqueries", features.depth);
    row.count("sql.subqueries", "queries inside the query", features.subqueries);
    row.count("sql.joins", "joins", features.joins);
    row.count(
        "sql.self_joins",
        "pairs of relations in one FROM that read the same table",
        features.self_joins,
    );
    row.count("sql.aggregates", "calls of aggregate functions", features.aggregates);
    row.count("sql.set_operations", "UNION, INTERSECT, EXCEPT", features.set_operations);
    row.count("sql.predicates", "atomic conditions", features.predicates);
}

/// Names of components, what they count, and the operators of [`Features::operators`] that they are made of.
const OPERATORS: &[(&str, &str, &[&str])] = &[
    ("sql.op.where", "WHERE", &["WHERE"]),
    ("sql.op.group_by", "GROUP BY", &["GROUP BY"]),
    ("sql.op.having", "HAVING", &["HAVING"]),
    ("sql.op.order_by", "ORDER BY", &["ORDER BY"]),
    ("sql.op.limit", "LIMIT", &["LIMIT"]),
    ("sql.op.distinct", "DISTINCT, in aggregates too", &["DISTINCT"]),
    ("sql.op.with", "WITH", &["WITH"]),
    ("sql.op.outer_join", "LEFT, RIGHT, FULL JOIN", &["LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]),
    ("sql.op.union", "UNION, UNION ALL", &["UNION", "UNION ALL"]),
    ("sql.op.intersect", "INTERSECT", &["INTERSECT"]),
    ("sql.op.except", "EXCEPT", &["EXCEPT"]),
    ("sql.op.and", "AND", &["AND"]),
    ("sql.op.or", "OR", &["OR"]),
    ("sql.op.equal", "=, IS", &["=", "IS"]),
    ("sql.op.not_equal", "<>, IS NOT", &["<>", "IS NOT"]),
    ("sql.op.order_comparison", "<, <=, >, >=", &["<", "<=", ">", ">="]),
    ("sql.op.between", "BETWEEN", &["BETWEEN"]),
    ("sql.op.like", "LIKE, GLOB, REGEXP, MATCH", &["LIKE", "GLOB", "REGEXP", "MATCH"]),
    ("sql.op.in", "IN", &["IN"]),
    ("sql.op.exists", "EXISTS", &["EXISTS"]),
    ("sql.op.is_null", "IS NULL, IS NOT NULL", &["IS NULL"]),
    ("sql.op.case", "CASE", &["CASE"]),
    ("sql.op.cast", "CAST", &["CAST"]),
    ("sql.op.divide", "division", &["/"]),
    ("sql.op.arithmetic", "+ - * %", &["+", "-", "*", "%"]),
    ("sql.op.concat", "||", &["||"]),
    ("sql.op.window", "window functions", &["OVER"]),
    ("sql.fn.count", "count()", &["count()"]),
    ("sql.fn.sum", "sum(), total()", &["sum()", "total()"]),
    ("sql.fn.avg", "avg()", &["avg()"]),
    ("sql.fn.min_max", "min(), max()", &["min()", "max()"]),
    (
        "sql.fn.date",
        "functions of date and time",
        &["strftime()", "date()", "datetime()", "julianday()", "time()", "year()", "month()", "now()"],
    ),
    (
        "sql.fn.text",
        "functions of text",
        &[
            "substr()",
            "substring()",
            "instr()",
            "replace()",
            "lower()",
            "upper()",
            "length()",
            "trim()",
            "printf()",
        ],
    ),
    (
        "sql.fn.null",
        "iif(), coalesce(), ifnull(), nullif()",
        &["iif()", "coalesce()", "ifnull()", "nullif()"],
    ),
    ("sql.fn.round", "round(), abs()", &["round()", "abs()"]),
];

fn uses(features: &Features, names: &[&str]) -> usize {
    names.iter().filter_map(|name| features.operators.get(*name)).sum()
}

fn put_operators(row: &mut Row, features: &Features, query_parts: &QueryParts) {
    for (name, description, operators) in OPERATORS {
        row.count(name, description, uses(features, operators));
    }
    let calls = features.operators.iter().filter(|(name, _)| name.ends_with("()"));
    let in_table = |name: &str| OPERATORS.iter().any(|(.., operators)| operators.contains(&name));
    let others = calls.filter(|(name, _)| !in_table(name)).map(|(_, count)| count).sum();
    row.count("sql.fn.other", "calls of other functions", others);
    row.count("sql.op.negated", "NOT IN, NOT LIKE, NOT BETWEEN, NOT EXISTS, NOT", query_parts.negated);
    row.count("sql.literals.text", "text constants", query_parts.texts.len());
    row.count("sql.literals.number", "number constants, 0, 1 and 100 excepted", query_parts.numbers.len());
}

/// What [`Features`] does not say of a query.
#[derive(Default)]
struct QueryParts {
    texts: Vec<String>,
    numbers: Vec<f64>,
    negated: usize,
    /// Equalities of columns of two relations.
    equalities: Vec<[ColumnRef; 2]>,
    relations: HashMap<RelationId, TableId>,
}

impl QueryParts {
    fn of(query: &Query) -> Self {
        let mut parts = Self::default();
        walk_query(&mut parts, query);
        parts
    }

    /// The column of a table; `None` for derived ones and the rowid.
    fn place(&self, column: ColumnRef) -> Option<TableColumn> {
        let table = self.relations.get(&column.relation)?;
        Some((table.index(), column.column.position()? as usize))
    }
}

impl Visitor for QueryParts {
    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Table(table) = relation.source {
            self.relations.insert(relation.id, table);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(Literal::Text(text)) => {
                let text = text.trim_matches(['%', '_', ' ']).to_lowercase();
                self.texts.extend(Some(text).filter(|text| !text.is_empty()));
            }
            Expr::Literal(Literal::Integer(0 | 1 | 100)) => {}
            Expr::Literal(Literal::Integer(number)) => self.numbers.push(*number as f64),
            Expr::Literal(Literal::Real(number)) if ![0.0, 1.0, 100.0].contains(&number.get()) => {
                self.numbers.push(number.get());
            }
            Expr::Binary(BinaryOperator::Equal, left, right) => {
                if let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right)
                    && left.relation != right.relation
                {
                    self.equalities.push([*left, *right]);
                }
            }
            Expr::Between { negated, .. }
            | Expr::Like { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::InQuery { negated, .. }
            | Expr::Exists { negated, .. } => self.negated += usize::from(*negated),
            Expr::Unary(sqlgauge_sql::tree::UnaryOperator::Not, _) => self.negated += 1,
            _ => {}
        }
    }
}

fn put_links(row: &mut Row, features: &Features, query_parts: &QueryParts, parts: &ItemParts<'_>) {
    let ItemParts { prepared, links, .. } = parts;
    let columns: Vec<usize> =
        features.columns.iter().filter_map(|name| prepared.by_name.get(name).copied()).collect();
    let mentioned = columns.iter().filter(|&&column| links.columns[column]).count();
    row.share(
        "sql.link.columns",
        "share of the columns that it names all of whose name's words question or evidence has",
        mentioned,
        columns.len(),
    );
    let words: f64 = columns.iter().map(|&column| links.share(&prepared.columns[column])).sum();
    row.number(
        "sql.link.column_words",
        "share of the words of those names that question or evidence has, on average",
        words / columns.len().max(1) as f64,
    );
    row.count(
        "sql.link.columns_unmentioned",
        "columns that it names and neither mentions",
        columns.len() - mentioned,
    );
    let by_name = |(position, table): (usize, &super::schema::Name)| {
        features.tables.contains(&table.lower).then_some(position)
    };
    let tables: Vec<usize> = prepared.tables.iter().enumerate().filter_map(by_name).collect();
    let mentioned = tables.iter().filter(|&&table| links.tables[table]).count();
    row.share(
        "sql.link.tables",
        "share of the tables that it reads whose name question or evidence mentions",
        mentioned,
        tables.len(),
    );
    let named = links.columns.iter().filter(|&&mentioned| mentioned).count();
    let used = columns.iter().filter(|&&column| links.columns[column]).count();
    row.share("sql.link.mentioned_columns_used", "share of the mentioned columns that it names", used, named);
    put_literals(row, query_parts, parts);
    let places = query_parts
        .equalities
        .iter()
        .filter_map(|pair| Some((query_parts.place(pair[0])?, query_parts.place(pair[1])?)));
    let on_keys = places.filter(|pair| prepared.foreign_keys.contains(pair)).count();
    row.count("sql.link.equalities", "equalities of columns of two relations", query_parts.equalities.len());
    row.share(
        "sql.link.foreign_keys",
        "share of those equalities that are a foreign key",
        on_keys,
        query_parts.equalities.len(),
    );
}

/// How many text constants, and how many quoted parts, are looked for in texts; real queries have a few.
const MOST_LOOKED_FOR: usize = 256;

/// Numbers that are looked up by their value.
#[derive(Default)]
struct Numbers(HashSet<u64>);

impl Numbers {
    fn contains(&self, number: f64) -> bool {
        self.0.contains(&bits(number))
    }
}

impl FromIterator<f64> for Numbers {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        Self(numbers.into_iter().filter(|number| !number.is_nan()).map(bits).collect())
    }
}

/// The same for equal numbers: adding zero makes the two zeros one.
fn bits(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

fn put_literals(row: &mut Row, query_parts: &QueryParts, parts: &ItemParts<'_>) {
    let texts = &query_parts.texts[..query_parts.texts.len().min(MOST_LOOKED_FOR)];
    let evidence = parts.evidence.map_or("", |text| text.lower.as_str());
    let count = |text: &str| texts.iter().filter(|literal| text.contains(literal.as_str())).count();
    row.share(
        "sql.link.texts_in_question",
        "share of its text constants that stand in the question",
        count(&parts.question.lower),
        texts.len(),
    );
    row.share(
        "sql.link.texts_in_evidence",
        "share of its text constants that stand in the evidence",
        count(evidence),
        texts.len(),
    );
    let neither = |literal: &&String| {
        !parts.question.lower.contains(literal.as_str()) && !evidence.contains(literal.as_str())
    };
    row.count(
        "sql.link.texts_from_nowhere",
        "text constants that stand in neither",
        texts.iter().filter(neither).count(),
    );
    let question: Vec<f64> = numbers(parts.question);
    let item_numbers: Numbers =
        question.iter().copied().chain(parts.evidence.map(numbers).unwrap_or_default()).collect();
    let shared = query_parts.numbers.iter().filter(|number| item_numbers.contains(number.abs())).count();
    row.share(
        "sql.link.numbers",
        "share of its number constants that stand in question or evidence, as digits or words",
        shared,
        query_parts.numbers.len(),
    );
    row.count(
        "sql.link.numbers_from_nowhere",
        "number constants that stand in neither",
        query_parts.numbers.len() - shared,
    );
    let in_texts: Numbers = query_parts.texts.iter().flat_map(|text| digits(text)).collect();
    let constants: Numbers = query_parts.numbers.iter().copied().collect();
    let asked_for = parts.question.numbers().filter_map(|number| number.parse().ok()).collect::<Vec<f64>>();
    let used =
        asked_for.iter().filter(|number| constants.contains(**number) || in_texts.contains(**number)).count();
    row.share(
        "sql.link.question_numbers_used",
        "share of the question's numbers that are in its constants",
        used,
        asked_for.len(),
    );
    let quoted = &parts.question.quoted;
    let quoted = &quoted[..quoted.len().min(MOST_LOOKED_FOR)];
    let used = quoted
        .iter()
        .filter(|quoted| texts.iter().any(|text| has_word(text, quoted) || text == *quoted))
        .count();
    row.share(
        "sql.link.quoted_used",
        "share of the question's quoted parts that are in its constants",
        used,
        quoted.len(),
    );
}

/// The runs of digits of a text, as numbers.
fn digits(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok())
}

/// The numbers of a text, in digits or in words.
fn numbers(text: &Text) -> Vec<f64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let number = |word: &super::words::Word| {
        let digits = word.text.trim_end_matches(|c: char| c.is_alphabetic());
        let spelled = || WORDS.iter().position(|name| *name == word.text).map(|number| number as f64);
        digits.parse().ok().or_else(spelled)
    };
    text.words.iter().filter_map(number).collect()
}

/// Puts, for each thing that a question's words ask for, whether the query lacks it or has it unasked.
fn put_agreement(row: &mut Row, resolves: bool, features: &Features, query_parts: &QueryParts, cues: &Cues) {
    let has = |names: &[&str]| uses(features, names) > 0;
    let mut put = |names: [&'static str; 2], descriptions: [&'static str; 2], count: usize, does: bool| {
        row.flag(names[0], descriptions[0], resolves && count > 0 && !does);
        row.flag(names[1], descriptions[1], resolves && count == 0 && does);
    };
    let extremes = has(&["LIMIT", "max()", "min()"]);
    let negates = query_parts.negated > 0 || has(&["<>", "IS NOT", "EXCEPT"]);
    put(
        ["sql.lacks.count", "sql.unasked.count"],
        ["a count is asked for and it has no count()", "it has count() and no word asks for it"],
        cues.count,
        has(&["count()"]),
    );
    put(
        ["sql.lacks.sum", "sql.unasked.sum"],
        ["a total is asked for and it has no sum(), count()", "it has sum() and no word asks for it"],
        cues.sum + cues.ratio,
        has(&["sum()", "total()"]) || (cues.sum > 0 && has(&["count()"])),
    );
    put(
        ["sql.lacks.average", "sql.unasked.average"],
        [
            "an average is asked for and it has no avg() and no division",
            "it has avg() and no word asks for it",
        ],
        cues.average,
        has(&["avg()"]) || (cues.average > 0 && has(&["/"])),
    );
    put(
        ["sql.lacks.ratio", "sql.unasked.ratio"],
        ["a ratio is asked for and it does not divide", "it divides and no word asks for it"],
        cues.ratio + cues.average,
        has(&["/"]) || (cues.ratio == 0 && cues.average > 0),
    );
    put(
        ["sql.lacks.extreme", "sql.unasked.extreme"],
        [
            "an extreme is asked for and it has no LIMIT, max(), min()",
            "it has LIMIT, max() or min() and no word asks for it",
        ],
        cues.superlative,
        extremes,
    );
    put(
        ["sql.lacks.negation", "sql.unasked.negation"],
        ["something is negated and it negates nothing", "it negates and no word asks for it"],
        cues.negation,
        negates,
    );
    put(
        ["sql.lacks.grouping", "sql.unasked.grouping"],
        ["\"each\", \"per\", … and no GROUP BY", "GROUP BY and none of those words"],
        cues.grouping,
        has(&["GROUP BY"]),
    );
    put(
        ["sql.lacks.distinct", "sql.unasked.distinct"],
        ["\"different\", \"distinct\", … and no DISTINCT, GROUP BY", "DISTINCT and none of those words"],
        cues.distinct,
        has(&["DISTINCT"]) || (cues.distinct > 0 && has(&["GROUP BY"])),
    );
    put(
        ["sql.lacks.order", "sql.unasked.order"],
        [
            "an order is asked for and it has no ORDER BY",
            "it has ORDER BY and no word asks for an order or an extreme",
        ],
        cues.ordering,
        has(&["ORDER BY"]) && (cues.ordering > 0 || cues.superlative == 0),
    );
    put(
        ["sql.lacks.alternative", "sql.unasked.alternative"],
        ["\"or\", \"either\" and no OR, IN, UNION", "it has OR, UNION and none of those words"],
        cues.alternative,
        has(&["OR", "UNION"]) || (cues.alternative > 0 && has(&["IN", ">=", "<="])),
    );
    put(
        ["sql.lacks.comparison", "sql.unasked.comparison"],
        ["words of comparison and no <, >, BETWEEN", "it has <, > or BETWEEN and none of those words"],
        cues.comparison,
        has(&["<", "<=", ">", ">=", "BETWEEN"]),
    );
}
