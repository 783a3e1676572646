//! Which part of an answer holds the query that counts: the final one, and no draft.

use std::borrow::Cow;
use std::ops::Range;

use super::begin::clear_start;
use super::call::sql_of_json;
use super::half_width::trim_ends;
use super::markers::MarkerRule;
use super::other::is_other_statement;
use super::parts::{Part, PartKind};
use super::{Removed, is_abstention};

/// The part of a text that holds the query.
pub(super) struct Answer<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) removed: Vec<Removed>,
}

/// The part of a text that has the answer; `None` where that is the whole text.
pub(super) fn answer<'a>(text: &'a str, parts: &[Part]) -> Option<Answer<'a>> {
    let first = clear_start(text);
    // Where the model goes on with another question.
    let is_next = |part: &&Part| {
        part.kind.rule() == MarkerRule::Question && first.is_some_and(|first| first < part.start)
    };
    let body = parts.iter().find(is_next).map_or(text.len(), |part| part.start);
    let mut removed = Vec::new();
    let (range, kind) = if let Some((range, kind)) = final_part(text, parts, body) {
        removed.push(Removed::Marker);
        (range, Some(kind))
    } else {
        (last_query(text, parts, body, &mut removed), None)
    };
    if range == (0..text.len()) {
        return None;
    }
    removed.extend(first.is_some_and(|first| first < range.start).then_some(Removed::Draft));
    let inside = &text[range];
    let text = if kind == Some(PartKind::Boxed) { without_latex(inside) } else { Cow::Borrowed(inside) };
    Some(Answer { text, removed })
}

/// The last final part that holds an answer: before `body` ends, or else behind.
fn final_part(text: &str, parts: &[Part], body: usize) -> Option<(Range<usize>, PartKind)> {
    let mut next = text.len();
    let mut behind = None;
    for part in parts.iter().rev().filter(|part| part.kind.rule() == MarkerRule::Final) {
        let is_label = matches!(part.kind, PartKind::Labelled(_));
        // What follows a label goes on to the next final part.
        let end = if is_label { next } else { part.inside.end };
        let end = if is_label && part.start < body { end.min(body) } else { end };
        let range = part.inside.start..end.max(part.inside.start);
        next = part.start;
        let is_before = part.start < body;
        if (is_before || behind.is_none()) && holds_answer(&text[range.clone()], !is_label) {
            if is_before {
                return Some((range, part.kind));
            }
            behind = Some((range, part.kind));
        }
    }
    behind
}

/// Whether a final part holds a statement, or says that there is no answer.
fn holds_answer(inside: &str, may_abstain: bool) -> bool {
    let inside = trim_ends(inside);
    clear_start(inside).is_some()
        || sql_of_json(inside).is_some()
        || is_other_statement(inside)
        || (may_abstain && !inside.is_empty() && is_abstention(inside))
}

/// Where the last query stands without a final answer.
fn last_query(text: &str, parts: &[Part], body: usize, removed: &mut Vec<Removed>) -> Range<usize> {
    let piece = last_piece(text, parts, body);
    let labelled = last_labelled(text, parts, &piece);
    removed.extend(labelled.is_some().then_some(Removed::Label));
    let range = labelled.unwrap_or(piece);
    removed.extend(text[range.end..].contains(char::is_alphanumeric).then_some(Removed::Explanation));
    range
}

/// Between which results the last query stands; the whole text if none does.
fn last_piece(text: &str, parts: &[Part], body: usize) -> Range<usize> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for result in parts.iter().filter(|part| part.kind.rule() == MarkerRule::Result && part.start < body) {
        pieces.push(start..result.start);
        start = result.end.min(body);
    }
    pieces.push(start..body);
    match pieces.as_slice() {
        [all] => all.clone(),
        pieces => pieces.iter().rfind(|piece| holds(text, piece)).cloned().unwrap_or(0..text.len()),
    }
}

/// What follows the last label of a query in that piece.
fn last_labelled(text: &str, parts: &[Part], piece: &Range<usize>) -> Option<Range<usize>> {
    let mut end = piece.end;
    let is_label =
        |part: &&Part| part.kind == PartKind::Labelled(MarkerRule::Query) && piece.contains(&part.start);
    for label in parts.iter().rev().filter(is_label) {
        let range = label.inside.start..end.max(label.inside.start);
        if holds(text, &range) {
            return Some(range);
        }
        end = label.start;
    }
    None
}

fn holds(text: &str, range: &Range<usize>) -> bool {
    clear_start(&text[range.clone()]).is_some()
}

/// The text in LaTeX's commands for text, with what LaTeX escapes as it is.
fn without_latex(text: &str) -> Cow<'_, str> {
    let mut text = text.trim();
    for command in ["\\text{", "\\texttt{", "\\mathrm{", "\\mathtt{", "\\mbox{"] {
        if let Some(inside) = text.strip_prefix(command) {
            text = inside.strip_suffix('}').unwrap_or(inside);
        }
    }
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let escapes = sign == '\\' && signs.peek().is_some_and(|next| "_%&#${} ".contains(*next));
        if !escapes {
            out.push(sign);
        }
    }
    Cow::Owned(out)
}
