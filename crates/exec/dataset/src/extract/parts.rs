//! The parts of what a model wrote: its tags, fences and labels, in one pass over the text.
//!
//! What is closed is not looked into: a label in a fence says nothing about the text around the fence.

use std::collections::HashMap;
use std::ops::Range;

use super::begin::after_keyword;
use super::markers::{MarkerRule, label, pairs, tag};

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// Between marks that open and close.
    Enclosed(MarkerRule),
    /// LaTeX's `\boxed{…}`.
    Boxed,
    /// Behind a label.
    Labelled(MarkerRule),
}

impl PartKind {
    pub(crate) fn rule(self) -> MarkerRule {
        match self {
            Self::Enclosed(rule) | Self::Labelled(rule) => rule,
            Self::Boxed => MarkerRule::Final,
        }
    }
}

/// A part of a text. What it holds ends where it is closed. What is never closed, and what follows a label, ends before the next
/// part that is not a fence; the result behind a label also ends with its line.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    /// Where its mark begins.
    pub(crate) start: usize,
    /// What it holds.
    pub(crate) inside: Range<usize>,
    /// Where the text goes on behind it.
    pub(crate) end: usize,
    pub(crate) is_closed: bool,
}

/// All parts, in their order.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut walk = Walk { text, closers: HashMap::new(), is_boxed: true };
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(offset) = text[at..].find(BEGINS) {
        let position = at + offset;
        let part = walk.part_at(position);
        at = match &part {
            Some(part) if part.is_closed => part.end,
            Some(part) => part.inside.start,
            None => position + text[position..].chars().next().map_or(1, char::len_utf8),
        };
        all.extend(part);
    }
    end_open_parts(text, &mut all);
    all
}

const BEGINS: [char; 12] = ['<', '[', '`', '~', '\'', '"', '\\', ':', '\u{ff1a}', '\u{25c1}', '#', '*'];

fn end_open_parts(text: &str, all: &mut [Part]) {
    let mut next = usize::MAX;
    for part in all.iter_mut().rev() {
        if !part.is_closed {
            part.inside.end = part.inside.end.min(next).max(part.inside.start);
            if part.kind == PartKind::Labelled(MarkerRule::Result)
                && let Some(length) = text[part.inside.clone()].find(['\n', '\r'])
            {
                part.inside.end = part.inside.start + length;
            }
            part.end = part.inside.end;
        }
        if part.kind.rule() != MarkerRule::Fence {
            next = part.start;
        }
    }
}

struct Walk<'a> {
    text: &'a str,
    /// Where a closing mark stands next; `None` where it does not occur any more.
    closers: HashMap<&'static str, Option<usize>>,
    /// Whether the braces of `\boxed{` are still looked for: one that is never closed ends that.
    is_boxed: bool,
}

impl Walk<'_> {
    fn part_at(&mut self, at: usize) -> Option<Part> {
        let rest = &self.text[at..];
        if rest.starts_with([':', '\u{ff1a}']) {
            return self.label_at(at);
        }
        if rest.starts_with('#') || rest.starts_with("**") {
            return self.heading_at(at);
        }
        if let Some((rule, name, open)) = tag_at(rest) {
            return Some(self.enclosed(rule, at, at + open, name, Close::Tag));
        }
        let (rule, open, close) = pairs().find(|(_, open, _)| rest.starts_with(open))?;
        let inside = at + open.len();
        if rule == MarkerRule::Final && close == "}" {
            return Some(self.boxed(at, inside));
        }
        if matches!(open, "'''" | "\"\"\"") && !self.begins_quoted_fence(at, inside) {
            return None;
        }
        Some(self.enclosed(rule, at, inside, close, Close::Text))
    }

    /// Three apostrophes or quotes are a fence where a query follows at once; in SQL they are part of a text.
    fn begins_quoted_fence(&self, at: usize, inside: usize) -> bool {
        let stands_free =
            self.text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "(=:".contains(c));
        let code = self.text[inside..].trim_start();
        let code = ["sqlite", "sql"].iter().find_map(|tag| after_keyword(code, tag)).unwrap_or(code);
        stands_free && ["select", "with"].iter().any(|word| after_keyword(code, word).is_some())
    }

    fn enclosed(
        &mut self,
        rule: MarkerRule,
        start: usize,
        inside: usize,
        close: &'static str,
        kind: Close,
    ) -> Part {
        let closes = self.next_close(close, kind, inside);
        let end = closes.map_or(self.text.len(), |at| match kind {
            Close::Text => at + close.len(),
            Close::Tag => self.text[at..].find('>').map_or(self.text.len(), |length| at + length + 1),
        });
        let inside = inside..closes.unwrap_or(self.text.len());
        Part { kind: PartKind::Enclosed(rule), start, inside, end, is_closed: closes.is_some() }
    }

    /// Looks for each closing mark once: the text up to the place that is kept has none.
    fn next_close(&mut self, close: &'static str, kind: Close, from: usize) -> Option<usize> {
        let next = self.closers.entry(close).or_insert(Some(0));
        if next.is_some_and(|at| at < from) {
            let offset = match kind {
                Close::Text => {
                    self.text[from..].find(close).map(|at| at + beyond(&self.text[from + at..], close))
                }
                Close::Tag => closing_tag(&self.text[from..], close),
            };
            *next = offset.map(|at| from + at);
        }
        *next
    }

    fn boxed(&mut self, start: usize, inside: usize) -> Part {
        let closes = if self.is_boxed { closing_brace(&self.text[inside..]) } else { None };
        let closes = closes.map(|length| inside + length);
        self.is_boxed &= closes.is_some();
        let end = closes.unwrap_or(self.text.len());
        Part {
            kind: PartKind::Boxed,
            start,
            inside: inside..end,
            end: (end + 1).min(self.text.len()),
            is_closed: closes.is_some(),
        }
    }

    /// A heading, or a line in bold, of nothing but the label of a final answer.
    fn heading_at(&self, at: usize) -> Option<Part> {
        let rest = &self.text[at..];
        if !self.text[..at].chars().next_back().is_none_or(|c| matches!(c, '\n' | '\r')) {
            return None;
        }
        let line = rest.char_indices().take(MAX_LABEL).find(|(_, c)| matches!(c, '\n' | '\r'));
        let (length, _) = line?;
        let words = last_words(rest[..length].trim_end_matches([':', '\u{ff1a}', '*', ' ']), 0);
        let plain: Vec<&str> = words.iter().map(|&(_, word)| word).collect();
        let (rule, count) = label(&plain).filter(|(rule, _)| *rule == MarkerRule::Final)?;
        let is_alone = plain[count..]
            .iter()
            .all(|word| word.eq_ignore_ascii_case("the") || word.bytes().all(|byte| byte.is_ascii_digit()));
        let inside = at + length..self.text.len();
        let end = inside.end;
        is_alone.then_some(Part { kind: PartKind::Labelled(rule), start: at, inside, end, is_closed: false })
    }

    fn label_at(&self, colon: usize) -> Option<Part> {
        let after = colon + self.text[colon..].chars().next().map_or(1, char::len_utf8);
        if self.text[after..].starts_with([':', '=', '/']) {
            return None;
        }
        let mut from = colon.saturating_sub(MAX_LABEL);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let line_start = self.text[from..colon].rfind(['\n', '\r']).map(|at| from + at + 1);
        let line_start = line_start.or((from == 0).then_some(0));
        let words = last_words(&self.text[..colon], line_start.unwrap_or(from));
        let plain: Vec<&str> = words.iter().map(|&(_, word)| word).collect();
        let (rule, count) = label(&plain)?;
        let &(start, word) = words.get(count - 1)?;
        let is_decoration = |c: char| "*#_>- ".contains(c);
        let begins_line = line_start.is_some_and(|line| self.text[line..start].chars().all(is_decoration));
        let is_name = rule == MarkerRule::Result && count == 1 && word.starts_with(char::is_uppercase);
        if rule != MarkerRule::Final && !begins_line && !is_name {
            return None;
        }
        let end = self.text.len();
        Some(Part { kind: PartKind::Labelled(rule), start, inside: after..end, end, is_closed: false })
    }
}

/// How far the last of the quotes in a row are the mark that closes; those before end a literal.
fn beyond(text: &str, close: &str) -> usize {
    let quote = if matches!(close, "'''" | "\"\"\"") { &close[..1] } else { return 0 };
    let run = text.len() - text.trim_start_matches(quote).len();
    run.saturating_sub(close.len())
}

/// Where the brace closes that stands before a text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

#[derive(Clone, Copy)]
enum Close {
    Text,
    /// `</name>`
    Tag,
}

/// The longest tag that is read, with its attributes.
const MAX_TAG: usize = 200;

/// The rule and name of the tag that opens at the beginning of a text, and its length.
pub(super) fn tag_at(text: &str) -> Option<(MarkerRule, &'static str, usize)> {
    let inside = text.strip_prefix('<')?;
    let name_end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (rule, name) = tag(&inside[..name_end])?;
    let rest = &inside[name_end..];
    let (end, sign) = rest.char_indices().take(MAX_TAG).find(|(_, c)| matches!(c, '>' | '<'))?;
    // `a <answer AND b> c` is SQL.
    let is_tag = end == 0 || rest[..end].trim().is_empty() || rest[..end].contains('=');
    (sign == '>' && is_tag).then_some((rule, name, 1 + name_end + end + 1))
}

fn closing_tag(text: &str, name: &str) -> Option<usize> {
    text.match_indices("</").map(|(at, _)| at).find(|&at| {
        text[at + 2..].get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
            && text[at + 2 + name.len()..].starts_with(['>', ' ', '\n'])
    })
}

/// How much of a line before a colon is read.
const MAX_LABEL: usize = 80;

/// The last four words before a colon from `start` on with their places, the last one first; `is`, `would be` and the like do not
/// count.
fn last_words(line: &str, start: usize) -> Vec<(usize, &str)> {
    const FILLERS: [&str; 8] = ["is", "are", "be", "would", "should", "here", "below", "follows"];
    let is_decoration = |c: char| c.is_whitespace() || "*_#`".contains(c);
    let mut rest = line[start..].trim_end_matches(is_decoration);
    let mut words = Vec::new();
    while words.len() < 4 && rest.ends_with(|c: char| c.is_alphanumeric()) {
        let begins = rest
            .rfind(|c: char| !c.is_alphanumeric())
            .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        let word = &rest[begins..];
        let is_filler = words.is_empty() && FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler));
        if !is_filler {
            words.push((start + begins, word));
        }
        rest = rest[..begins].trim_end_matches(is_decoration);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(MarkerRule, &str, bool)> {
        parts(text).into_iter().map(|part| (part.kind.rule(), &text[part.inside], part.is_closed)).collect()
    }

    #[test]
    fn tags_fences_and_labels_are_cut_where_they_end() {
        use MarkerRule::{Fence, Final, Query, Result};
        for (text, expected) in [
            (
                "<SQL>a</sql ><observation id=\"1\">b</observation>",
                vec![(Query, "a", true), (Result, "b", true)],
            ),
            ("<sql>a<observation>b</observation>", vec![(Query, "a", false), (Result, "b", true)]),
            (
                "<answer>```sql\na\n``` Final SQL: b</answer>",
                vec![(Final, "```sql\na\n``` Final SQL: b", true)],
            ),
            ("~~~sql\na\n~~~ '''\nSELECT b'''", vec![(Fence, "sql\na\n", true), (Fence, "\nSELECT b", true)]),
            ("\\boxed{f{x}} \\boxed{open", vec![(Final, "f{x}", true), (Final, "open", false)]),
            ("**Final SQL query**: a", vec![(Final, " a", false)]),
            ("The corrected query would be:\na", vec![(Final, "\na", false)]),
            ("a SQLResult: b\nc", vec![(Result, " b", false)]),
            ("Tool output: b\nc", vec![(Result, " b", false)]),
            ("### Final SQL query\na", vec![(Final, "\na", false)]),
            ("b\n**The final answer:**\na", vec![(Final, "\na", false)]),
            ("# How the final query came about\na", vec![]),
            ("the tool output: b", vec![]),
            ("x::final_answer WHERE a = '''' AND b <answers", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_walked_once() {
        for part in [
            "<sql>",
            "</sql>",
            "\\boxed{",
            "```",
            "'''select ",
            "Final SQL: ",
            "<answer",
            "~~~x",
            "\n# Final SQL\n",
            "[",
            "\u{ff1a}",
        ] {
            parts(&part.repeat(200_000));
        }
    }
}
