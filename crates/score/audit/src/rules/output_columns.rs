//! # Columns that the question does not ask for, or misses
//!
//! ## What it finds
//! A question that lists what to return ("name and city of …") while the gold returns fewer columns; and a
//! question for one thing ("which club has the most …") whose answer comes with the count by which it is sorted.
//!
//! ## Why it matters
//! A prediction that returns what is asked for is marked wrong.
//!
//! ## Example
//! ```sql
//! SELECT name FROM club   -- "List the name and city of each club."
//! ```
//!
//! ## When it is no defect
//! A column holds several of the things, such as the full name.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_base::counted;
use sqlgauge_sql::tree::{Expr, Output};

use crate::item::AuditSubject;
use crate::words::Words;

/// Words with which a question begins that lists what to return.
const STARTS: [&str; 12] = [
    "what are the",
    "what is the",
    "list the",
    "show the",
    "give the",
    "find the",
    "return the",
    "list",
    "show",
    "give",
    "state the",
    "provide the",
];
/// Words with which a sentence begins that asks for something.
const REQUESTS: [&str; 16] = [
    "give",
    "state",
    "list",
    "indicate",
    "provide",
    "calculate",
    "also",
    "how",
    "what",
    "who",
    "please",
    "write",
    "find",
    "identify",
    "mention",
    "show",
];
/// Words that ask for something wherever they stand.
const QUESTIONS: [&str; 7] = ["which", "who", "whose", "what", "how", "where", "when"];
const IDENTIFIERS: [&str; 6] = ["id", "ids", "name", "names", "identifier", "identifiers"];
/// Words that end the list.
const ENDS: [&str; 20] = [
    "ordered", "sorted", "order", "sort", "of", "for", "in", "who", "whose", "that", "which", "with",
    "where", "from", "by", "when", "if", "at", "between", "among",
];

pub(super) static RULE: AuditRule = AuditRule {
    name: "output-columns",
    summary: "the question names more or fewer things than the gold returns",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("output_columns.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(outputs) = subject.query.outputs() else { return };
    let Some(question) = subject.item.question else { return };
    if subject.item.words(findings).is_none() {
        return;
    }
    if let Some(names) = listed(question)
        && outputs.len() < names.len()
    {
        let why = format!(
            "the question asks for {}, and the gold returns {}",
            names.join(", "),
            counted(outputs.len(), "column")
        );
        findings.report(why);
    }
    if outputs.len() == 1 && asks_twice(question) {
        findings.report("the question asks for a second thing, and the gold returns one column");
    }
    let is_sorted_by = |output: &Output| {
        let term = subject.query.order_by.first();
        matches!(output.expr, Expr::Aggregate(_))
            && term.is_some_and(|term| sorts_by(&term.expr, outputs, &output.expr))
    };
    if outputs.len() == 2
        && subject.query.limit.is_some()
        && outputs.iter().any(is_sorted_by)
        && asks_for_one(&Words::of(question))
    {
        findings.report("the question asks for one thing, and the gold also returns what it sorts by");
    }
}

fn sorts_by(term: &Expr, outputs: &[Output], aggregate: &Expr) -> bool {
    match term {
        Expr::Output(at) => outputs.get(*at as usize).is_some_and(|output| output.expr == *aggregate),
        other => other == aggregate,
    }
}

/// Whether a second sentence asks for something more. It does not where the first one only says of what, or where it says by
/// what to name the things of the first one: "Which cards …? List their IDs." Nor does it where it says how to write the answer.
fn asks_twice(question: &str) -> bool {
    let sentences: Vec<Words> = sentences(question).into_iter().map(Words::of).collect();
    let Some((first, others)) = sentences.split_first() else { return false };
    let asks = |sentence: &Words| sentence.begins(&REQUESTS);
    let names = |sentence: &Words| {
        sentence.any(&["them", "your answer"]) || (sentence.any(&IDENTIFIERS) && !sentence.any(&["and"]))
    };
    (asks(first) || first.any(&QUESTIONS)) && others.iter().any(|other| asks(other) && !names(other))
}

/// The sentences of a text: a stop inside a word or before a small letter, as in "Inc. of" and "No.5", ends none.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, stop) in text.match_indices(['.', '?', '!']) {
        let rest = &text[at + stop.len()..];
        let begins = rest.trim_start().chars().next().is_none_or(char::is_uppercase);
        if begins && (rest.is_empty() || rest.starts_with(char::is_whitespace)) {
            sentences.push(&text[from..at]);
            from = at + stop.len();
        }
    }
    sentences.push(&text[from..]);
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

fn asks_for_one(words: &Words) -> bool {
    words.begins(&["which", "who", "what is the name of", "what is the most"])
        && !words.any(&["how many", "number of", "and", "also", "count", "along with"])
}

/// The things that a question lists before it says of what, where it lists more than one.
fn listed(question: &str) -> Option<Vec<String>> {
    let lower = question.to_lowercase();
    let rest = STARTS.iter().find_map(|start| lower.strip_prefix(&format!("{start} ")))?;
    let mut things = vec![String::new()];
    for word in rest.split_whitespace() {
        let (bare, ends) = word.strip_suffix(['?', '.', ';', ':']).map_or((word, false), |bare| (bare, true));
        let (bare, comma) = bare.strip_suffix(',').map_or((bare, false), |bare| (bare, true));
        if ENDS.contains(&bare) {
            break;
        }
        if bare == "and" {
            things.push(String::new());
            continue;
        }
        if let Some(thing) = things.last_mut() {
            thing.push_str(bare);
            thing.push(' ');
        }
        if ends {
            break;
        }
        if comma {
            things.push(String::new());
        }
    }
    let things: Vec<String> =
        things.iter().map(|thing| thing.trim().to_owned()).filter(|thing| !thing.is_empty()).collect();
    let is_short = |thing: &String| thing.split(' ').count() <= 4;
    (things.len() > 1 && things.iter().all(is_short)).then_some(things)
}

const CASES: &[AuditCase] = &[
    AuditCase::silent(CLUBS, "SELECT id FROM club WHERE city = 'Lisbon'")
        .asked("Which clubs are in Lisbon? List their IDs."),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon'")
        .asked("For all the clubs of Acme Inc. in Lisbon. Give the name."),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE id = 1")
        .asked("Which club is the first? State its city."),
    AuditCase::silent(CLUBS, "SELECT name, city FROM club ORDER BY name")
        .asked("List the name and city, ordered by name."),
    AuditCase::silent(CLUBS, "SELECT 1.0 * SUM(club_id = 1) / SUM(club_id = 2) FROM player")
        .asked("Find the ratio between players of Harbour and players of Forest."),
    AuditCase::silent(CLUBS, "SELECT AVG(goals) FROM player")
        .asked("What is the average number of goals? Please provide your answer with two decimal places."),
    AuditCase::fires(CLUBS, "SELECT name FROM club")
        .asked("List the name and city of each club.")
        .of_benchmark(),
    AuditCase::fires(
        CLUBS,
        "SELECT club_id, COUNT(*) FROM player GROUP BY club_id ORDER BY COUNT(*) DESC LIMIT 1",
    )
    .asked("Which club has the most players?"),
    AuditCase::silent(CLUBS, "SELECT name, city FROM club").asked("List the name and city of each club."),
    AuditCase::silent(
        CLUBS,
        "SELECT club_id, COUNT(*) FROM player GROUP BY club_id ORDER BY COUNT(*) DESC LIMIT 1",
    )
    .asked("Which club has the most players, and how many?"),
];
