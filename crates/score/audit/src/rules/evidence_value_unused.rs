//! # A value of the evidence that the gold does not have
//!
//! ## What it finds
//! Evidence with a comparison (`status = 'C'`, `year > 2010`, `year(born) < 1990`, `status IN ('C', 'D')`) whose text or number stands
//! nowhere in the gold, and a comparison of the same column and value by another operator.
//!
//! ## Why it matters
//! The gold filters by something else than the benchmark means.
//!
//! ## Example
//! ```sql
//! SELECT title FROM award WHERE year = 2011   -- evidence: "year = 2010"
//! ```
//!
//! ## When it is no defect
//! The evidence explains more than the question needs, or the gold says the same by another column. The rule is silent where the question
//! has the gold's value and not that of the evidence.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::evidence::{Stated, comparisons};
use crate::item::AuditSubject;
use crate::walk::{all_exprs, number};
use crate::words::Words;

pub(super) static RULE: AuditRule = AuditRule {
    name: "evidence-value-unused",
    summary: "the evidence compares with a value, and the gold does not",
    needs: Needs::Evidence,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("evidence_value_unused.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(evidence) = subject.item.evidence(findings) else { return };
    let stated: Vec<Stated<'_>> = comparisons(evidence).into_iter().filter(is_whole).collect();
    let words = Words::of(subject.item.sql);
    let exprs = all_exprs(subject.query);
    for comparison in &stated {
        if !has(subject.item.sql, &words, comparison) && !asked_instead(subject, &exprs, comparison) {
            let Stated { column, operator, value, .. } = comparison;
            findings.report(format!(
                "the evidence says {column} {operator} {value}, and the gold does not have {value}"
            ));
        }
    }
    for expr in exprs {
        let Expr::Binary(operator, left, right) = expr else { continue };
        let Some((_, _, column)) = subject.as_column(left) else { continue };
        let same: Vec<&Stated<'_>> = stated
            .iter()
            .filter(|comparison| {
                comparison.column.eq_ignore_ascii_case(&column.name) && is_value(right, comparison)
            })
            .collect();
        // A list may be written as equalities.
        if same.iter().any(|comparison| comparison.operator == "in") {
            continue;
        }
        if let (Some(used), Some(first)) = (sign(*operator), same.first())
            && !same.iter().any(|comparison| is_sign(&comparison.operator, used))
        {
            findings.report(format!(
                "the evidence says {} {} {}, and the gold compares by {used}",
                first.column, first.operator, first.value
            ));
        }
    }
}

/// Whether a value is one, and not what stands between quotes that are set wrong, or a pattern such as `XX:XX`.
fn is_whole(stated: &Stated<'_>) -> bool {
    !stated.value.contains(['=', ';']) && !stated.value.contains("XX")
}

/// Whether a gold has the value in some form: of a date the year, or the next or the last one where the date ends or begins it.
fn has(sql: &str, words: &Words, stated: &Stated<'_>) -> bool {
    if stated.is_number {
        return numbers(sql).any(|other| Some(other) == stated.value.parse().ok());
    }
    let value = stated.value;
    if !value.chars().any(char::is_alphanumeric) {
        // A sign such as `+` is a value only in quotes.
        return ["'", "\"", "%"].iter().any(|quote| sql.contains(&format!("{quote}{value}{quote}")));
    }
    words.mentions(value) || years(value).into_iter().any(|year| has_number(sql, year))
}

/// The years by which a comparison with a date may be written.
fn years(value: &str) -> Vec<f64> {
    let Some((year, rest)) = value.split_once('-') else { return Vec::new() };
    let Some(year) = year.parse::<f64>().ok().filter(|_| year.len() == 4) else { return Vec::new() };
    let other = if rest.starts_with("12-31") { 1.0 } else { -1.0 };
    if rest.starts_with("12-31") || rest.starts_with("01-01") { vec![year, year + other] } else { Vec::new() }
}

/// Whether the gold compares the column with a value that the question states, while the question does not have the evidence's: then
/// the evidence is at fault.
fn asked_instead(subject: &AuditSubject<'_>, exprs: &[&Expr], stated: &Stated<'_>) -> bool {
    let Some(question) = subject.item.question else { return false };
    let words = Words::of(question);
    let asks = |value: &Expr| match value {
        Expr::Literal(Literal::Text(text)) => text.len() > 2 && words.mentions(text),
        other => number(other).is_some_and(|value| has_number(question, value)),
    };
    let is_asked = |expr: &&Expr| match expr {
        Expr::Binary(operator, left, right) => {
            sign(*operator).is_some()
                && subject
                    .as_column(left)
                    .is_some_and(|(_, _, column)| column.name.eq_ignore_ascii_case(stated.column))
                && asks(right)
        }
        _ => false,
    };
    !words.mentions(stated.value) && exprs.iter().any(is_asked)
}

fn has_number(text: &str, number: f64) -> bool {
    numbers(text).any(|other| other.total_cmp(&number).is_eq())
}

fn numbers(text: &str) -> impl Iterator<Item = f64> + '_ {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter_map(|part| part.trim_matches('.').parse().ok())
}

fn is_value(expr: &Expr, stated: &Stated<'_>) -> bool {
    match expr {
        Expr::Literal(Literal::Text(text)) => text == stated.value,
        other => number(other).is_some() && number(other) == stated.value.parse().ok(),
    }
}

/// An operator that compares, as the evidence writes it.
fn sign(operator: BinaryOperator) -> Option<&'static str> {
    Some(match operator {
        BinaryOperator::Equal => "=",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        _ => return None,
    })
}

fn is_sign(stated: &str, used: &str) -> bool {
    stated == used || matches!((stated, used), ("<>", "!=") | ("==", "=") | ("=<", "<=") | ("=>", ">="))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT title FROM award WHERE year = 2011")
        .hinted("then refers to year = 2010")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city = 'Porto'")
        .hinted("the capital refers to city = 'Lisbon'"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals > 7").hinted("good refers to goals >= 7"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals >= 7").hinted("good refers to goals > = 7"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city LIKE 'Lisbon%'")
        .hinted("the capital refers to city = 'Lisbon'"),
    AuditCase::silent(CLUBS, "SELECT AVG(goals) FROM player").hinted("mean = SUM(goals) / COUNT(id)"),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city IN ('Lisbon')")
        .hinted("the coast refers to city IN ('Lisbon', 'Porto')"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE strftime('%Y', born) < '1995'")
        .hinted("before 1990 refers to YEAR(born) < 1990"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE wage IS NULL")
        .hinted("unknown pay refers to wage IS NULL OR wage = '*'"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon' OR city = 'Porto'")
        .hinted("the coast refers to city IN ('Lisbon', 'Porto')"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE strftime('%Y', born) < '1990'")
        .hinted("before 1990 refers to born <= '1989-12-31'"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon'")
        .asked("Which clubs are in Lisbon?")
        .hinted("in Lisbon refers to city = 'Lisboa'"),
    AuditCase::silent(CLUBS, "SELECT SUM(city = 'Porto') * 1.0 / SUM(city = 'Lisbon') FROM club")
        .hinted("share = COUNT(city = 'Porto), COUNT(city = 'Lisbon')"),
];
