//! Differences between two queries, token by token.
//!
//! Names and keywords are compared without case and operators by meaning (`!=` is `<>`), so that only what
//! SQL tells apart is marked. An alias counts as its table, and the table before a column not at all where the query reads one only.
//! It is a comparison of text: equal queries can differ here, and it proves nothing.

use std::collections::{HashMap, HashSet};

use unicode_width::UnicodeWidthChar;

use sqlgauge_base::visible;

use crate::layout::lines;
use crate::style::Painter;
pub use crate::token::{DisplayToken, DisplayTokenKind, tokens};

/// The tokens of two queries with the ones that the other has not marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff<'a> {
    /// The gold query's tokens; `true` where the prediction does not have it.
    pub gold: Vec<(DisplayToken<'a>, bool)>,
    /// The prediction's tokens; `true` where the gold does not have it.
    pub prediction: Vec<(DisplayToken<'a>, bool)>,
}

/// Above this many cells the table of the longest common subsequence is not filled (time and memory); what
/// lies between the common beginning and the common end is then marked as a whole.
const MAX_CELLS: usize = 4_000_000;

/// Marks the tokens in which two queries differ.
pub(crate) fn diff<'a>(gold: &'a str, prediction: &'a str) -> Diff<'a> {
    let (left, right) = (tokens(gold), tokens(prediction));
    let (left_solid, right_solid) = (solid(&left), solid(&right));
    let common = common(
        &left_solid.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>(),
        &right_solid.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>(),
    );
    let mark = |tokens: Vec<DisplayToken<'a>>, solid: &[(usize, String)], common: Vec<usize>| {
        let mut marks = vec![false; tokens.len()];
        for (index, _) in solid {
            marks[*index] = true;
        }
        for position in common {
            marks[solid[position].0] = false;
        }
        tokens.into_iter().zip(marks).collect::<Vec<_>>()
    };
    let (kept_left, kept_right) = common.into_iter().unzip();
    Diff { gold: mark(left, &left_solid, kept_left), prediction: mark(right, &right_solid, kept_right) }
}

/// The tokens that are compared, each with its place and key.
fn solid(tokens: &[DisplayToken<'_>]) -> Vec<(usize, String)> {
    let mut counted: Vec<_> =
        tokens.iter().enumerate().filter(|(_, t)| t.kind != DisplayTokenKind::Space).collect();
    // A final semicolon ends the query and is no part of it.
    counted.pop_if(|(_, token)| token.text == ";");
    let plain: Vec<&DisplayToken<'_>> = counted.iter().map(|(_, token)| *token).collect();
    let Names { tables, aliases, declarations } = Names::of(&plain);
    let is_before_column = |at: usize| {
        let next = |ahead: usize| plain.get(at + ahead);
        is_name(plain[at]) && next(1).is_some_and(|dot| dot.text == ".") && next(2).is_some()
    };
    let mut solid = Vec::with_capacity(counted.len());
    let mut at = 0;
    while let Some((index, token)) = counted.get(at) {
        let key = token.key();
        let table = aliases.get(&key).and_then(Option::as_ref).filter(|_| is_before_column(at));
        if is_before_column(at) && tables.len() == 1 && (table.is_some() || tables.contains(&key)) {
            at += 2;
            continue;
        }
        if !declarations.contains(&at) {
            solid.push((*index, table.cloned().unwrap_or(key)));
        }
        at += 1;
    }
    solid
}

fn is_name(token: &DisplayToken<'_>) -> bool {
    matches!(token.kind, DisplayTokenKind::Word | DisplayTokenKind::Quoted)
}

/// What FROM and JOIN name.
#[derive(Default)]
struct Names {
    tables: HashSet<String>,
    /// The table of an alias; `None` if it stands for several.
    aliases: HashMap<String, Option<String>>,
    /// Places of the tokens that declare aliases of one table.
    declarations: HashSet<usize>,
}

impl Names {
    fn of(tokens: &[&DisplayToken<'_>]) -> Self {
        let mut names = Self::default();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for at in 1..tokens.len() {
            if !is_name(tokens[at]) || !["FROM", "JOIN"].iter().any(|word| tokens[at - 1].is(word)) {
                continue;
            }
            let table = tokens[at].key();
            names.tables.insert(table.clone());
            let has_as = tokens.get(at + 1).is_some_and(|token| token.is("AS"));
            let alias_at = at + 1 + usize::from(has_as);
            let Some(alias) = tokens.get(alias_at).filter(|token| is_name(token)).map(|token| token.key())
            else {
                continue;
            };
            let target = names.aliases.entry(alias.clone()).or_insert_with(|| Some(table.clone()));
            if target.as_ref() != Some(&table) {
                *target = None;
            }
            places.entry(alias).or_default().extend(at + 1..=alias_at);
        }
        for (alias, declared) in places {
            if names.aliases.get(&alias).is_some_and(Option::is_some) {
                names.declarations.extend(declared);
            }
        }
        names
    }
}

/// Pairs of positions of a longest common subsequence.
fn common(left: &[&str], right: &[&str]) -> Vec<(usize, usize)> {
    let prefix = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left_rest, right_rest) = (&left[prefix..], &right[prefix..]);
    let suffix = left_rest.iter().rev().zip(right_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle_left = &left_rest[..left_rest.len() - suffix];
    let middle_right = &right_rest[..right_rest.len() - suffix];
    let mut pairs: Vec<_> = (0..prefix).map(|i| (i, i)).collect();
    pairs
        .extend(longest_common(middle_left, middle_right).into_iter().map(|(i, j)| (i + prefix, j + prefix)));
    pairs.extend((0..suffix).map(|i| (left.len() - suffix + i, right.len() - suffix + i)));
    pairs
}

fn longest_common(left: &[&str], right: &[&str]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    if left.is_empty() || right.is_empty() || (left.len() + 1).saturating_mul(width) > MAX_CELLS {
        return Vec::new();
    }
    let mut table = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            table[i * width + j] = if left[i] == right[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Two queries beside each other for a terminal of that width, laid out by clause, differences marked: in
/// colour, or as `[-gold only-]` and `{+prediction only+}` where `colour` is off. Below 60 columns one stands
/// under the other. Ends with a line feed.
pub fn side_by_side(gold: &str, prediction: &str, width: usize, colour: bool) -> String {
    let diff = diff(gold, prediction);
    let painter = Painter { colour };
    let is_wide = width >= 60;
    let column = if is_wide { (width - 3) / 2 } else { width.max(20) };
    let left = column_lines(&diff.gold, column, painter, Side::Gold);
    let right = column_lines(&diff.prediction, column, painter, Side::Prediction);
    let mut text = String::new();
    if !is_wide {
        for (title, lines) in [("gold", left), ("prediction", right)] {
            text.push_str(&painter.bold(title));
            text.push('\n');
            for line in lines {
                text.push_str(&line.text);
                text.push('\n');
            }
        }
        return text;
    }
    let title = |name: &str| ColumnLine { width: name.len(), text: painter.bold(name) };
    let rule = || ColumnLine { width: column, text: painter.dim(&"─".repeat(column)) };
    let rows = left.len().max(right.len()) + 2;
    let mut left = [title("gold"), rule()].into_iter().chain(left);
    let mut right = [title("prediction"), rule()].into_iter().chain(right);
    for _ in 0..rows {
        let (l, r) = (left.next().unwrap_or_default(), right.next().unwrap_or_default());
        let row = format!(
            "{}{} {} {}",
            l.text,
            " ".repeat(column.saturating_sub(l.width)),
            painter.dim("│"),
            r.text
        );
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Gold,
    Prediction,
}

/// A line of one column with the number of terminal cells that it takes.
#[derive(Debug, Default)]
struct ColumnLine {
    text: String,
    width: usize,
}

fn column_lines(
    tokens: &[(DisplayToken<'_>, bool)],
    column: usize,
    painter: Painter,
    side: Side,
) -> Vec<ColumnLine> {
    let plain: Vec<DisplayToken<'_>> = tokens.iter().map(|(token, _)| *token).collect();
    let mut done = Vec::new();
    for line in lines(&plain) {
        let indent = (line.indent * 2).min(column / 2);
        let mut wrapper = Wrapper::new(indent, column);
        for (run, marked) in runs(&line.tokens, tokens) {
            wrapper.put(&run, marked, painter, side);
        }
        done.append(&mut wrapper.finish());
    }
    done
}

/// The line cut into stretches that are all marked or all plain; the space between two marked tokens is marked.
fn runs(line: &[(usize, bool)], tokens: &[(DisplayToken<'_>, bool)]) -> Vec<(String, bool)> {
    let mut runs: Vec<(String, bool)> = Vec::new();
    for &(index, space) in line {
        let (token, marked) = tokens[index];
        let text: String = token.text.chars().map(visible).collect();
        match runs.last_mut() {
            Some((run, last)) if *last == marked => {
                run.push_str(if space { " " } else { "" });
                run.push_str(&text);
            }
            _ => {
                if space && !runs.is_empty() {
                    runs.push((" ".to_owned(), false));
                }
                runs.push((text, marked));
            }
        }
    }
    runs
}

/// Fills lines up to a width, breaking at spaces where it can and inside words where it must.
struct Wrapper {
    done: Vec<ColumnLine>,
    current: ColumnLine,
    hanging: usize,
    column: usize,
}

impl Wrapper {
    fn new(indent: usize, column: usize) -> Self {
        let current = ColumnLine { text: " ".repeat(indent), width: indent };
        Self { done: Vec::new(), current, hanging: (indent + 4).min(column / 2), column }
    }

    fn put(&mut self, run: &str, marked: bool, painter: Painter, side: Side) {
        let (open, close) = match (marked && !painter.colour, side) {
            (false, _) => ("", ""),
            (true, Side::Gold) => ("[-", "-]"),
            (true, Side::Prediction) => ("{+", "+}"),
        };
        let text = format!("{open}{run}{close}");
        for word in text.split_inclusive(' ') {
            self.word(word, marked, painter, side);
        }
    }

    fn word(&mut self, word: &str, marked: bool, painter: Painter, side: Side) {
        let cells = |c: char| c.width().unwrap_or(0);
        let visible_width: usize = word.trim_end().chars().map(cells).sum();
        if self.current.width + visible_width > self.column && self.current.width > self.hanging {
            self.turn();
        }
        let mut piece = String::new();
        for c in word.chars() {
            if self.current.width + cells(c) > self.column {
                if c == ' ' {
                    continue;
                }
                self.push(&piece, marked, painter, side);
                piece.clear();
                self.turn();
            }
            self.current.width += cells(c);
            piece.push(c);
        }
        self.push(&piece, marked, painter, side);
    }

    fn push(&mut self, piece: &str, marked: bool, painter: Painter, side: Side) {
        let coloured = match (marked && !piece.is_empty(), side) {
            (false, _) => piece.to_owned(),
            (true, Side::Gold) => painter.good(piece),
            (true, Side::Prediction) => painter.bad(piece),
        };
        self.current.text.push_str(&coloured);
    }

    fn turn(&mut self) {
        let next = ColumnLine { text: " ".repeat(self.hanging), width: self.hanging };
        self.done.push(std::mem::replace(&mut self.current, next));
    }

    fn finish(mut self) -> Vec<ColumnLine> {
        self.done.push(self.current);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(tokens: &[(DisplayToken<'_>, bool)]) -> Vec<String> {
        tokens.iter().filter(|(_, marked)| *marked).map(|(t, _)| t.text.to_owned()).collect()
    }

    #[test]
    fn only_what_sql_tells_apart_is_marked() {
        let cases: [(&str, &str, &[&str], &[&str]); 10] = [
            ("SELECT a FROM t", "select  A from T", &[], &[]),
            ("SELECT a FROM t WHERE b != 1", "SELECT a FROM t WHERE b <> 1", &[], &[]),
            ("SELECT a FROM t WHERE b = 'X'", "SELECT a FROM t WHERE b = 'x'", &["'X'"], &["'x'"]),
            ("SELECT a FROM t", "SELECT DISTINCT a FROM t", &[], &["DISTINCT"]),
            ("SELECT a", "", &["SELECT", "a"], &[]),
            ("SELECT a FROM t", "SELECT a FROM t ; ", &[], &[]),
            ("SELECT T1.a FROM t AS T1", "SELECT a FROM t", &[], &[]),
            (
                "SELECT T1.a FROM t AS T1 JOIN u T2 ON T1.b = T2.b",
                "SELECT t.a FROM t JOIN u ON t.b = u.c",
                &["b"],
                &["c"],
            ),
            (
                "SELECT x.a FROM t x JOIN u y ON x.a = y.a",
                "SELECT a FROM t JOIN u ON t.a = u.a",
                &["x", "."],
                &[],
            ),
            (
                "SELECT x.a FROM t x WHERE x.b IN (SELECT x.b FROM u x)",
                "SELECT t.a FROM t WHERE t.b IN (SELECT u.b FROM u)",
                &["x", "x", "x", "x", "x"],
                &["t", "t", "u"],
            ),
        ];
        for (gold, prediction, gold_only, prediction_only) in cases {
            let marks = diff(gold, prediction);
            assert_eq!(marked(&marks.gold), gold_only, "{gold}");
            assert_eq!(marked(&marks.prediction), prediction_only, "{prediction}");
        }
    }

    #[test]
    fn a_huge_query_is_marked_as_a_whole_in_little_memory() {
        let gold = format!("SELECT {} FROM t", "a,".repeat(20_000));
        let prediction = format!("SELECT {} FROM t", "b,".repeat(20_000));
        let marks = diff(&gold, &prediction);
        assert!(marked(&marks.gold).len() >= 20_000);
        assert_eq!(marks.prediction.first().map(|(t, m)| (t.text, *m)), Some(("SELECT", false)));
    }

    #[test]
    fn differences_are_marked_without_colour() {
        let gold = "SELECT name FROM boat WHERE length_m > 12 ORDER BY name";
        let prediction = "SELECT name, length_m FROM boat WHERE length_m >= 12";
        insta::assert_snapshot!(side_by_side(gold, prediction, 70, false), @r"
        gold                              │ prediction
        ───────────────────────────────── │ ─────────────────────────────────
        SELECT name                       │ SELECT name{+, length_m+}
        FROM boat                         │ FROM boat
        WHERE length_m [->-] 12           │ WHERE length_m {+>=+} 12
        [-ORDER BY name-]                 │
        ");
    }

    #[test]
    fn a_narrow_terminal_stacks_the_queries() {
        insta::assert_snapshot!(side_by_side("SELECT a FROM t", "SELECT b FROM t", 40, false), @r"
        gold
        SELECT [-a-]
        FROM t
        prediction
        SELECT {+b+}
        FROM t
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let gold = "SELECT 'a very long text literal that does not fit into any column of a narrow terminal at all' FROM t";
        for width in [20, 41, 60, 61, 80] {
            for line in
                side_by_side(gold, "SELECT 日本語日本語日本語日本語日本語日本語日本語 FROM t", width, false)
                    .lines()
            {
                let cells: usize = line.chars().map(|c| c.width().unwrap_or(0)).sum();
                assert!(cells <= width, "{cells} > {width}: {line}");
            }
        }
    }
}
