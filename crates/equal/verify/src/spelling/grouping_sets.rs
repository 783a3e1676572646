//! `GROUP BY ROLLUP (a, b)`, `CUBE (…)`, `GROUPING SETS (…)`, and `GROUPING (a, b)`.
//!
//! *Why it holds*: the standard defines them so. The terms of GROUP BY are lists of grouping sets (ROLLUP: its beginnings, CUBE:
//! its subsets), of which one is taken of each term in every combination. The result is the UNION ALL, over the combinations, of
//! the query grouped by that set, in which a grouping column that is not in the set is NULL wherever it stands outside of the
//! arguments of an aggregate, and `GROUPING` is the number whose bits say which of its arguments are not in the set. The empty
//! set is one group, be there rows or not: a query with an aggregate and without GROUP BY; `MAX(NULL)` is NULL and an aggregate.
//!
//! The text stays where what stands for a grouping column cannot be told from the words alone (`t.a` beside `a`, `*`, a subquery,
//! a position), beside windows, and beyond 64 sets.

use std::collections::BTreeSet;

use sqlgauge_sql::functions::Function;

use super::words::{Edits, Words, is_name};

/// The most grouping sets that are written out.
const MAX_SETS: usize = 64;
/// The longest text that is written.
const MAX_TEXT: usize = 1 << 20;
/// How deep terms of GROUP BY may nest.
const MAX_DEPTH: usize = 4;
/// GROUP BYs of a text that are looked at, and grouping columns of one.
const MAX_GROUPS: usize = 64;

/// The first and the last but one word of a part of the text.
type Span = (usize, usize);
/// Grouping expressions, as their words.
type Set = Vec<Span>;

const SET_OPERATIONS: [&str; 3] = ["UNION", "INTERSECT", "EXCEPT"];
const ENDS: [&str; 4] = ["ORDER", "LIMIT", "OFFSET", ";"];

/// The first GROUP BY of the text that has such a term, written out; what is nested in it comes first in the text.
pub(super) fn spell(words: &Words<'_>) -> Edits {
    let groups = (0..words.len()).filter(|&at| words.is(at, &["GROUP"]) && words.is(at + 1, &["BY"]));
    let spelled = groups.take(MAX_GROUPS).find_map(|at| {
        let block = Block::around(words, at)?;
        let terms = words.parts(at + 2, block.groups_end);
        terms.iter().any(|&(from, _)| is_grouping(words, from)).then(|| (block.written(&terms), block))
    });
    let Some((Some(text), block)) = spelled else { return Edits::new() };
    let mut edits: Edits = (block.select..block.end).map(|at| (at, String::new())).collect();
    edits.insert(block.select, text);
    edits
}

fn is_grouping(words: &Words<'_>, at: usize) -> bool {
    (words.is(at, &["ROLLUP", "CUBE"]) && words.at(at + 1) == "(")
        || (words.is(at, &["GROUPING"]) && words.is(at + 1, &["SETS"]))
}

/// A SELECT with its GROUP BY, by the numbers of words.
struct Block<'w, 'a> {
    words: &'w Words<'a>,
    select: usize,
    from: usize,
    group: usize,
    groups_end: usize,
    end: usize,
    /// The first word and the last but one of the text or of the parentheses that it stands in.
    region: Span,
}

impl<'w, 'a> Block<'w, 'a> {
    /// The SELECT that the GROUP BY there belongs to.
    fn around(words: &'w Words<'a>, group: usize) -> Option<Self> {
        let around = words.around(group);
        let region = match around {
            Some(open) => (open + 1, words.closing(open)?),
            None => (0, words.len()),
        };
        let is_here = |at: &usize| words.around(*at) == around;
        let select = (region.0..group).rev().filter(is_here).find(|&at| words.is(at, &["SELECT"]))?;
        let from = (select..group).filter(is_here).find(|&at| words.is(at, &["FROM"]))?;
        let next = |words_there: &[&str], from: usize| {
            (from..region.1).filter(is_here).find(|&at| words.is(at, words_there)).unwrap_or(region.1)
        };
        let end = next(&ENDS, group).min(next(&SET_OPERATIONS, group));
        if next(&["WINDOW", "FETCH"], group) < end {
            return None;
        }
        let groups_end = next(&["HAVING"], group).min(end);
        Some(Self { words, select, from, group, groups_end, end, region })
    }

    /// The text that stands for it.
    fn written(&self, terms: &[Span]) -> Option<String> {
        let words = self.words;
        let sets = self.combinations(terms)?;
        let all: Set = sets.iter().flatten().copied().collect::<BTreeSet<Span>>().into_iter().collect();
        if all.len() > MAX_GROUPS {
            return None;
        }
        let is_distinct = words.is(self.select + 1, &["DISTINCT"]);
        let items = words.parts(self.select + 1 + usize::from(is_distinct), self.from);
        let mut arms = Vec::new();
        for set in &sets {
            arms.push(self.arm(set, &all, &items)?);
        }
        let union = arms.join(" UNION ALL ");
        let is_alone = self.region == (self.select, self.end);
        let orders_by_more =
            words.is(self.end, &["ORDER"]) && (self.end..self.region.1).any(|at| words.at(at) == "(");
        let text = match (is_distinct, is_alone) {
            (false, true) => union,
            (false, false) => format!("SELECT * FROM ({union})"),
            (true, _) => format!("SELECT DISTINCT * FROM ({union})"),
        };
        (!orders_by_more && text.len() <= MAX_TEXT).then_some(text)
    }

    /// One of each term's sets, in every combination.
    fn combinations(&self, terms: &[Span]) -> Option<Vec<Set>> {
        let mut combined: Vec<Set> = vec![Vec::new()];
        for &term in terms {
            let sets = self.sets(term, MAX_DEPTH)?;
            let with = |set: &Set| sets.iter().map(|more| [&set[..], more].concat()).collect::<Vec<_>>();
            combined = combined.iter().flat_map(with).collect();
            if combined.len() > MAX_SETS {
                return None;
            }
        }
        Some(combined)
    }

    fn sets(&self, (from, to): Span, depth: usize) -> Option<Vec<Set>> {
        let words = self.words;
        if !is_grouping(words, from) {
            return Some(vec![self.composite((from, to))?]);
        }
        let is_sets = words.is(from, &["GROUPING"]);
        let open = from + if is_sets { 2 } else { 1 };
        let close = words.closing(open).filter(|close| close + 1 == to)?;
        let parts = words.parts(open + 1, close);
        if parts.len() > MAX_SETS || depth == 0 {
            return None;
        }
        if is_sets {
            let sets: Option<Vec<Vec<Set>>> = parts.iter().map(|&part| self.sets(part, depth - 1)).collect();
            return sets.map(|sets| sets.concat()).filter(|sets| sets.len() <= MAX_SETS);
        }
        let parts: Option<Vec<Set>> = parts.iter().map(|&part| self.composite(part)).collect();
        let parts = parts?;
        if words.is(from, &["ROLLUP"]) {
            return Some((0..=parts.len()).rev().map(|length| parts[..length].concat()).collect());
        }
        let count =
            1_usize.checked_shl(u32::try_from(parts.len()).ok()?).filter(|count| *count <= MAX_SETS)?;
        let subset = |left_out: usize| {
            let subset =
                parts.iter().enumerate().filter(|(at, _)| left_out >> (parts.len() - 1 - at) & 1 == 0);
            subset.flat_map(|(_, part)| part.clone()).collect()
        };
        Some((0..count).map(subset).collect())
    }

    /// One expression, or several in parentheses.
    fn composite(&self, (from, to): Span) -> Option<Set> {
        let words = self.words;
        let inside = words.at(from) == "(" && words.closing(from).is_some_and(|close| close + 1 == to);
        let all = if inside { words.parts(from + 1, to - 1) } else { vec![(from, to)] };
        let is_position =
            |&(from, to): &Span| to == from + 1 && words.at(from).starts_with(|c: char| c.is_ascii_digit());
        let is_plain =
            !all.iter().any(|part| is_position(part) || (part.0..part.1).any(|at| words.is(at, &["SELECT"])));
        is_plain.then_some(all)
    }

    fn arm(&self, set: &Set, all: &Set, items: &[Span]) -> Option<String> {
        let words = self.words;
        let mut arm = Arm::new(words, set, all);
        let columns: Option<Vec<String>> = items.iter().map(|&item| arm.item(item)).collect();
        let mut text =
            format!("SELECT {} {}", columns?.join(", "), words.text(self.from, self.group).trim_end());
        if !set.is_empty() {
            let terms: Vec<String> = set.iter().map(|&(from, to)| words.text(from, to)).collect();
            text = format!("{text} GROUP BY {}", terms.join(", "));
        }
        if self.groups_end < self.end {
            text = format!("{text} HAVING {}", arm.expression((self.groups_end + 1, self.end))?);
        }
        (!set.is_empty() || arm.has_aggregate).then_some(text)
    }
}

/// Writes expressions as they are where the rows are grouped by one set.
struct Arm<'w, 'a> {
    words: &'w Words<'a>,
    /// Grouping expressions by their words, the longest first, and whether they are in the set.
    expressions: Vec<(Vec<String>, bool)>,
    null: &'static str,
    has_aggregate: bool,
}

impl<'w, 'a> Arm<'w, 'a> {
    fn new(words: &'w Words<'a>, set: &Set, all: &Set) -> Self {
        let key = |&(from, to): &Span| (from..to).map(|at| plain(words.at(at))).collect::<Vec<String>>();
        let present: Vec<Vec<String>> = set.iter().map(key).collect();
        let mut expressions: Vec<(Vec<String>, bool)> =
            all.iter().map(key).map(|key| (key.clone(), present.contains(&key))).collect();
        expressions.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        expressions.dedup();
        let null = if set.is_empty() { "MAX(NULL)" } else { "NULL" };
        Self { words, expressions, null, has_aggregate: false }
    }

    /// A selected expression, with the name of its column.
    fn item(&mut self, (from, to): Span) -> Option<String> {
        let words = self.words;
        let is_star = words.at(to - 1) == "*" && (to == from + 1 || words.at(to - 2) == ".");
        let has_alias = to - from >= 3 && words.is(to - 2, &["AS"]) && is_name(words.at(to - 1));
        if is_star {
            return None;
        }
        if has_alias {
            let expression = self.expression((from, to - 2))?;
            return Some(format!("{expression} AS {}", words.at(to - 1)));
        }
        let expression = self.expression((from, to))?;
        let is_column =
            is_name(words.at(from)) && (to == from + 1 || (to == from + 3 && words.at(from + 1) == "."));
        Some(if is_column { format!("{expression} AS {}", words.at(to - 1)) } else { expression })
    }

    fn expression(&mut self, (from, to): Span) -> Option<String> {
        let words = self.words;
        let mut text = String::new();
        let mut at = from;
        while at < to {
            let next = match words.closing(at + 1) {
                Some(close) if words.is(at, &["GROUPING"]) => {
                    text.push_str(&self.grouping(at + 2, close)?.to_string());
                    close + 1
                }
                Some(close) if self.is_aggregate(at, close) || words.is(at, &["FILTER"]) => {
                    self.has_aggregate = true;
                    text.push_str(&words.text(at, close + 1));
                    close + 1
                }
                _ => self.word(at, to, &mut text)?,
            };
            at = next;
            if at < to {
                text.push(' ');
            }
        }
        Some(text)
    }

    /// Writes what stands there, a grouping expression or a word; the number of the word after it.
    fn word(&mut self, at: usize, to: usize, text: &mut String) -> Option<usize> {
        let words = self.words;
        let stands = |key: &Vec<String>| {
            let end = at + key.len();
            end <= to
                && (at..end).zip(key).all(|(at, word)| plain(words.at(at)) == *word)
                && !words.follows(at, &["."])
                && words.at(end) != "."
        };
        if let Some((key, is_present)) = self.expressions.iter().find(|(key, _)| stands(key)) {
            let end = at + key.len();
            if *is_present {
                text.push_str(&words.text(at, end));
            } else {
                text.push_str(self.null);
                self.has_aggregate |= self.null != "NULL";
            }
            return Some(end);
        }
        let word = plain(words.at(at));
        let last = |key: &[String]| key.len() <= 3 && key.last() == Some(&word);
        let may_be_column = self.expressions.iter().any(|(key, is_present)| !is_present && last(key));
        let is_beyond = words.is(at, &["SELECT", "OVER"]);
        if may_be_column || is_beyond {
            return None;
        }
        text.push_str(words.at(at));
        Some(at + 1)
    }

    fn is_aggregate(&self, at: usize, close: usize) -> bool {
        let count = self.words.parts(at + 2, close).len();
        self.words.at(at + 1) == "("
            && Function::from_name(&self.words.at(at).to_ascii_lowercase()).aggregates(count)
    }

    /// The bits of the arguments that are not in the set.
    fn grouping(&self, from: usize, to: usize) -> Option<u64> {
        let parts = self.words.parts(from, to);
        if parts.len() > 63 {
            return None;
        }
        parts.iter().try_fold(0, |bits, &(from, to)| {
            let key: Vec<String> = (from..to).map(|at| plain(self.words.at(at))).collect();
            let (_, is_present) = self.expressions.iter().find(|(other, _)| *other == key)?;
            Some(bits << 1 | u64::from(!is_present))
        })
    }
}

/// A word as names are compared: without quotes, in lower case.
fn plain(word: &str) -> String {
    word.trim_matches(['"', '`', '[', ']']).to_ascii_lowercase()
}
