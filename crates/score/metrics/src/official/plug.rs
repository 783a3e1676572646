//! The official script's `--plug_value`: the values of the gold put into the prediction, in all ways.
//!
//! With that flag a prediction counts as right if it is right as it is, or with the values in it replaced by values
//! of the gold. The script takes both queries apart as texts: it puts one blank between the tokens that
//! `sqlparse` sees, takes quoted texts for values, then every blank-separated word that looks like a float, then
//! every one that looks like an integer, and fills each place of the prediction with each value of the gold.
//! Whatever else that does is followed too: a word such as `a1` looks like an integer, except after `t`; what a
//! quoted text says is replaced wherever it stands; all but the values is put into lower case.
//!
//! Source: `parse.py` and `exec_eval.py` of the test-suite repository.

use std::collections::BTreeSet;

use sqlgauge_base::budget::{self, TooComplex};

use super::sqlparse::{self, Kind, is_space};
use super::{fix_year, prediction_line, repair};

/// Steps for taking a byte of a text apart: it is lexed twice, and every byte may be a token.
const STEPS_PER_BYTE: usize = 40;

/// What stands for a value.
const SLOT: &str = "VALUERARE";

/// The prediction with values of the gold in the place of its own, in every way, as the script runs it. `None` if the
/// script stops with an exception on one of the texts.
///
/// # Errors
/// When the texts have so many values that taking them apart is too much.
pub fn plugged(gold: &str, prediction: &str, keep_distinct: bool) -> Result<Option<Plugged>, TooComplex> {
    budget::within(budget::ANALYSIS, || ways(gold, prediction, keep_distinct))
}

fn ways(gold: &str, prediction: &str, keep_distinct: bool) -> Option<Plugged> {
    let gold = take_apart(&repair(gold, keep_distinct)?)?;
    let prediction = take_apart(&repair(&prediction_line(prediction), keep_distinct)?)?;
    let slot = SLOT.to_lowercase();
    let slots = prediction.words.iter().filter(|word| **word == slot).count();
    let values: Vec<String> = gold.values.into_iter().collect();
    let next = (slots == 0 || !values.is_empty()).then(|| vec![0; slots]);
    Some(Plugged { words: prediction.words, slot, values, next })
}

/// All ways to fill the places of a prediction, one after the other.
#[derive(Debug)]
pub struct Plugged {
    words: Vec<String>,
    slot: String,
    values: Vec<String>,
    /// For each place the value that comes next.
    next: Option<Vec<usize>>,
}

impl Iterator for Plugged {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let chosen = self.next.take()?;
        let mut choices = chosen.iter();
        let words = self.words.iter().map(|word| match choices.as_slice() {
            [choice, ..] if *word == self.slot => {
                choices.next();
                self.values[*choice].as_str()
            }
            _ => word.as_str(),
        });
        let text = words.collect::<Vec<_>>().join(" ");
        self.next = after(chosen, self.values.len());
        Some(fix_year(&text).into_owned())
    }
}

/// The choice after that one, as an odometer counts.
fn after(mut choice: Vec<usize>, values: usize) -> Option<Vec<usize>> {
    for place in choice.iter_mut().rev() {
        *place += 1;
        if *place < values {
            return Some(choice);
        }
        *place = 0;
    }
    None
}

/// A query as words with places for values, and its values.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    words: Vec<String>,
    values: BTreeSet<String>,
}

fn take_apart(sql: &str) -> Option<Parts> {
    budget::spend(STEPS_PER_BYTE.saturating_mul(sql.len()));
    let text = without_blank_after_alias(&spread(sql)?);
    let mut values: Vec<String> = Vec::new();
    let mut slotted = text.clone();
    for (_, value) in sqlparse::first_statement(&text)?.into_iter().filter(|(kind, _)| *kind == Kind::Text) {
        budget::spend(slotted.len());
        slotted = slotted.replace(value.trim_matches(is_space), SLOT);
        values.push(value.to_owned());
    }
    let mut words: Vec<String> =
        slotted.split(is_space).filter(|w| !w.is_empty()).map(str::to_owned).collect();
    take_numbers(&mut words, &mut values, &floats(&slotted));
    let integers = integers(&words.join(" "));
    take_numbers(&mut words, &mut values, &integers);
    let words = words.iter().flat_map(|word| lowered(word)).collect();
    Some(Parts { words, values: values.into_iter().collect() })
}

fn take_numbers(words: &mut [String], values: &mut Vec<String>, numbers: &BTreeSet<String>) {
    for word in words.iter_mut().filter(|word| numbers.contains(*word)) {
        values.push(std::mem::replace(word, SLOT.to_owned()));
    }
}

/// The tokens of the first statement with one blank between them.
fn spread(sql: &str) -> Option<String> {
    let plain = sql.trim_matches(is_space).replace([';', '\t'], "");
    let tokens = sqlparse::first_statement(&plain)?.into_iter();
    let tokens = tokens.filter(|(kind, _)| *kind != Kind::Whitespace).map(|(_, value)| value);
    let mut text = tokens.collect::<Vec<_>>().join(" ");
    for star in ["t1.*", "t2.*", "t3.*", "T1.*", "T2.*", "T3.*"] {
        text = text.replace(star, "*");
    }
    Some(text)
}

/// Drops the white space character behind `T1.`, whatever the number.
fn without_blank_after_alias(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut output = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        output.push(chars[at]);
        if chars[at] == 'T' {
            let end = digits(&chars, at + 1);
            let ends_so = end > at + 1 && chars.get(end) == Some(&'.');
            if ends_so && chars.get(end + 1).is_some_and(|c| is_space(*c)) {
                output.extend(&chars[at + 1..=end]);
                at = end + 1;
            }
        }
        at += 1;
    }
    output
}

/// End of the digits that begin at `at`.
fn digits(chars: &[char], at: usize) -> usize {
    at + chars.iter().skip(at).take_while(|c| c.is_ascii_digit()).count()
}

/// What the expression `[-+]?\d*\.\d+` finds.
fn floats(text: &str) -> BTreeSet<String> {
    find_all(text, |chars, at| {
        let start = at + usize::from(matches!(chars[at], '-' | '+'));
        let point = digits(chars, start);
        if chars.get(point) != Some(&'.') {
            // What begins among these digits ends here too.
            return Err(point.max(at + 1));
        }
        let end = digits(chars, point + 1);
        if end > point + 1 { Ok(end) } else { Err(point + 1) }
    })
}

/// What the expression `[^tT]\d+` finds, without white space.
fn integers(text: &str) -> BTreeSet<String> {
    let numbers = find_all(text, |chars, at| {
        let end = digits(chars, at + 1);
        if !matches!(chars[at], 't' | 'T') && end > at + 1 { Ok(end) } else { Err(at + 1) }
    });
    numbers.into_iter().map(|number| number.trim_matches(is_space).to_owned()).collect()
}

/// What a rule finds, from left to right. Of what begins at a place it tells the end, or where to look next.
fn find_all(text: &str, end_at: impl Fn(&[char], usize) -> Result<usize, usize>) -> BTreeSet<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut pieces = BTreeSet::new();
    let mut at = 0;
    while at < chars.len() {
        match end_at(&chars, at) {
            Ok(end) => {
                pieces.insert(chars[at..end].iter().collect());
                at = end;
            }
            Err(next) => at = next,
        }
    }
    pieces
}

/// A word in lower case; one with an alias in it is cut at its dots.
fn lowered(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let has_alias = (0..chars.len()).any(|at| {
        let end = digits(&chars, at + 1);
        matches!(chars[at], 't' | 'T') && end > at + 1 && chars.get(end) == Some(&'.')
    });
    if has_alias {
        let cut = word.replace('.', " . ");
        return cut.split(is_space).filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    }
    vec![word.to_lowercase()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(gold: &str, prediction: &str) -> Vec<String> {
        plugged(gold, prediction, false).unwrap().unwrap().collect()
    }

    /// Expected with the functions of the official `parse.py` on Python's sqlparse; the order of the ways is ours.
    #[test]
    fn values_of_the_gold_fill_the_places_of_the_prediction() {
        for (gold, prediction, expected) in [
            (
                "SELECT a FROM t WHERE b = 'x' AND c > 30",
                "SELECT a FROM t WHERE b = 'y'",
                &["select a from t where b = 'x'", "select a from t where b = 30"][..],
            ),
            (
                "SELECT a FROM t WHERE b = 'x' LIMIT 3",
                "SELECT T1.a FROM t AS T1 WHERE T1.b = \"some thing\" LIMIT 1",
                &[
                    "select t1 . a from t as t1 where t1 . b = 'x' limit 'x'",
                    "select t1 . a from t as t1 where t1 . b = 'x' limit 3",
                    "select t1 . a from t as t1 where t1 . b = 3 limit 'x'",
                    "select t1 . a from t as t1 where t1 . b = 3 limit 3",
                ],
            ),
            (
                "SELECT a FROM t WHERE b = 1.5 OR b = -2",
                "SELECT a FROM t WHERE b BETWEEN 7 AND 8.25",
                &[
                    "select a from t where b between -2 and -2",
                    "select a from t where b between -2 and 1.5",
                    "select a from t where b between 1.5 and -2",
                    "select a from t where b between 1.5 and 1.5",
                ],
            ),
            ("SELECT a FROM t", "SELECT a FROM t WHERE b = 7", &[]),
            ("SELECT a FROM t WHERE b = 5", "SELECT a FROM t", &["select a from t"]),
            (
                "SELECT count(DISTINCT a) FROM t WHERE c LIKE '%FT2. x%'",
                "SELECT COUNT(a1) FROM t2 WHERE c LIKE '%q%' ;",
                &["select count ( '%FT2.x%' ) from t2 where c like '%FT2.x%'"],
            ),
            (
                "SELECT a FROM t WHERE b = 'it''s'",
                "SELECT max(a), t1.* FROM t AS t1 WHERE b != 'a' and c = 'a'",
                &["select max ( a ) , t1 . * from t as t1 where b != 'it''s' and c = 'it''s'"],
            ),
            (
                "SELECT a FROM t WHERE d = '2020-01-02' AND e >= 10",
                "SELECT a\nFROM t WHERE d > 2e3 AND e = value",
                &[
                    "select a from t where d > 2e3 and e = '2020-01-02'",
                    "select a from t where d > 2e3 and e = 10",
                ],
            ),
            (
                "SELECT a FROM t WHERE b IN (1,2)",
                "SELECT a FROM t WHERE b IN (3, 4)",
                &[
                    "select a from t where b in ( 1 , 1 )",
                    "select a from t where b in ( 1 , 2 )",
                    "select a from t where b in ( 2 , 1 )",
                    "select a from t where b in ( 2 , 2 )",
                ],
            ),
            (
                "SELECT a FROM t WHERE b = 4",
                "SELECT a FROM t WHERE b>= 5 and YEAR(CURDATE()) - c > x10",
                &["select a from t where b >= 4 and 2020- c > 4"],
            ),
        ] {
            let mut values = all(gold, prediction);
            values.sort_unstable();
            assert_eq!(values, expected, "{gold} | {prediction}");
        }
    }

    #[test]
    fn texts_without_a_statement_stop_the_script() {
        assert!(plugged("SELECT 1", " ", true).unwrap().is_none());
        assert!(plugged("", "SELECT 1", true).unwrap().is_none());
    }
}
