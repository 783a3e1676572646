//! The code fences and query tags of a language model's answer, and which of them is the answer. The contract is that of
//! [`extract_sql`](crate::extract_sql).

use crate::extract::{
    MarkerRule, Part, PartKind, after_keyword, is_other_statement, sql_of_json, statement_start, words,
};
use crate::text::strip;

/// How many fences are looked at, the last ones; each is compared with the one that is taken so far.
const MAX_FENCES: usize = 100;

/// What opens and closes a fence.
pub(crate) const FENCE: &str = "```";

/// The statement of a text whose SELECT, the end of the prompt, stands before a code fence with the rest.
pub(crate) fn fence_after_select(text: &str) -> Option<String> {
    let inside = after_keyword(text, "select")?.strip_prefix(FENCE)?;
    let end = inside.find(FENCE).unwrap_or(inside.len());
    Some(format!("SELECT {}", strip(split_tag(&inside[..end]).1)))
}

/// A fence or a query tag that holds a statement.
struct Fence<'a> {
    /// The text between the fence before it and this one.
    lead: &'a str,
    inside: &'a str,
    is_marked: bool,
    is_closed: bool,
    /// Whether it is a tag, which takes the place of what stands before it.
    is_tag: bool,
}

/// The inside of the code fence or query tag that has the answer.
pub(crate) fn fenced<'a>(text: &'a str, parts: &[Part]) -> Option<&'a str> {
    let fences = fences(text, parts);
    let any_marked = fences.iter().any(|fence| fence.is_marked);
    let any_query = fences.iter().any(|fence| !is_other_statement(fence.inside));
    let counts = |fence: &&Fence<'_>| {
        (fence.is_marked || !any_marked) && (!any_query || !is_other_statement(fence.inside))
    };
    let candidates: Vec<&Fence<'_>> = fences.iter().filter(counts).collect();
    let mut candidates = candidates[candidates.len().saturating_sub(MAX_FENCES)..].iter();
    let mut answer = candidates.next()?;
    let mut whole = plain(answer.inside);
    for fence in candidates.filter(|fence| fence.is_tag || fence.is_closed && !is_beside(fence.lead)) {
        let part = plain(fence.inside);
        // A fence that is quoted from the one that is taken says nothing new.
        if fence.is_tag || !whole.contains(&part) {
            (answer, whole) = (fence, part);
        }
    }
    Some(answer.inside)
}

fn fences<'a>(text: &'a str, parts: &[Part]) -> Vec<Fence<'a>> {
    let mut fences = Vec::new();
    let mut lead_start = 0;
    for part in parts {
        let is_tag = match part.kind {
            PartKind::Enclosed(MarkerRule::Fence) => false,
            PartKind::Enclosed(MarkerRule::Query) => true,
            _ => continue,
        };
        let code = &text[part.inside.clone()];
        let (tag, inside) = if is_tag { ("sql", code) } else { split_tag(code) };
        if statement_start(inside).is_some() || sql_of_json(strip(inside)).is_some() {
            fences.push(Fence {
                lead: &text[lead_start.min(part.start)..part.start],
                inside,
                is_marked: tag.to_ascii_lowercase().contains("sql"),
                is_closed: part.is_closed,
                is_tag,
            });
        }
        // A tag that is never closed has the fences behind it inside.
        lead_start = lead_start.max(part.end);
    }
    fences
}

/// Splits the language off a fence's inside.
fn split_tag(inside: &str) -> (&str, &str) {
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
    let (tag, rest) = inside.split_at(end);
    let is_sql = ["select", "with"].iter().any(|keyword| tag.eq_ignore_ascii_case(keyword));
    if is_sql || !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        ("", inside)
    } else {
        (tag, rest)
    }
}

/// Words that offer what follows beside the answer.
const BESIDE: [&str; 28] = [
    "alternative",
    "alternatively",
    "alternate",
    "another way",
    "another approach",
    "another option",
    "another version",
    "other way",
    "other option",
    "can also",
    "could also",
    "might also",
    "may also",
    "equivalent",
    "equivalently",
    "variation",
    "variant",
    "optional",
    "optionally",
    "similarly",
    "for example",
    "for instance",
    "to verify",
    "to check",
    "to test",
    "bonus",
    "in other databases",
    "in other dialects",
];

/// Words that do so in the paragraph right before the fence.
const BESIDE_IN_LAST_PARAGRAPH: [&str; 10] = [
    "if you",
    "if the",
    "if there",
    "if your",
    "in case",
    "or simply",
    "part of the query",
    "subquery",
    "inner query",
    "outer query",
];

/// Words that announce what replaces the fence before.
const INSTEAD: [&str; 27] = [
    "corrected",
    "correction",
    "correct query",
    "correct sql",
    "correct version",
    "correct answer",
    "right query",
    "incorrect",
    "wrong",
    "mistake",
    "error",
    "oops",
    "sorry",
    "apologize",
    "apologies",
    "wait",
    "actually",
    "revised",
    "revise",
    "fixed",
    "fix",
    "should be",
    "should have",
    "final",
    "finally",
    "updated",
    "rewritten",
];

/// Whether a fence that follows those words is offered beside the one before: the words that stand closest decide.
fn is_beside(lead: &str) -> bool {
    let last_paragraph = lead.trim_end().rfind("\n\n").unwrap_or(0);
    let spoken: Vec<(usize, String)> = words(lead).map(|(at, word)| (at, word.to_lowercase())).collect();
    let closest = |phrases: &[&str], from: usize| {
        let starts = (0..spoken.len()).rev().filter(|&at| spoken[at].0 >= from);
        starts.into_iter().find(|&at| phrases.iter().any(|phrase| begins_with(&spoken[at..], phrase)))
    };
    closest(&BESIDE, 0).max(closest(&BESIDE_IN_LAST_PARAGRAPH, last_paragraph)) > closest(&INSTEAD, 0)
}

fn begins_with(spoken: &[(usize, String)], phrase: &str) -> bool {
    let mut words = phrase.split(' ');
    let mut spoken = spoken.iter();
    words.all(|word| spoken.next().is_some_and(|(_, text)| text == word))
}

/// A statement as far as it counts for whether it is quoted in another.
fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches([';', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::extract_sql;

    const FIRST: &str = "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)";
    const SECOND: &str = "SELECT t1.name FROM singer AS t1";

    /// The answer with `between` between two fences, and whether the second is taken.
    #[test]
    fn of_several_fences_the_last_is_taken_that_is_not_offered_beside_another() {
        for (between, second) in [
            ("", true),
            ("Wait, that is wrong: the column is called `name`. Corrected query:", true),
            ("Hmm, the question asks for something else.\n\nThe final answer is:", true),
            ("Now put both together:", true),
            ("This query is correct. Alternatively, you could use a join:", false),
            ("Alternatively, a join. Actually, that is the right way; the corrected query:", true),
            ("### Another approach\n\nWith an alias:", false),
            ("Explanation:\n- it filters\n- it returns names\n\nIf you also want the ages, use:", false),
            ("If a singer has no age, the filter drops him.\n\nSo the query is:", true),
            ("You can also write it as", false),
            ("To verify the result, run:", false),
            ("I apologize for the error. Here is the updated query:", true),
            ("For example:", false),
        ] {
            let answer =
                format!("Here it is:\n```sql\n{FIRST};\n```\n{between}\n```sql\n{SECOND}\n```\nDone.");
            let expected = if second { SECOND } else { FIRST };
            assert_eq!(extract_sql(&answer).sql, expected, "{between}");
        }
    }

    #[test]
    fn parts_and_unmarked_or_unfinished_fences_are_passed_over() {
        let one = format!("```sql\n{FIRST}\n```\n");
        for (answer, expected) in [
            (format!("{one}The mean is found by\n```sql\nSELECT AVG(age)\n  FROM singer\n```"), FIRST),
            (format!("{one}It prints\n```\nSELECT of two rows FROM\n```"), FIRST),
            (format!("{one}Better:\n```sql\nSELECT t1.na"), FIRST),
            (format!("First\n```\n{FIRST}\n```\nthen\n```\n{SECOND}\n```"), SECOND),
            (format!("```sql\nCREATE TABLE singer (name)\n```\n{one}"), FIRST),
            (format!("Step 1:\n```sql\nSELECT avg(age) FROM singer\n```\nStep 2:\n{one}"), FIRST),
            (format!("{one}```json\n{{\"sql\": \"{SECOND}\"}}\n```"), FIRST),
            (format!("{one}Wrong.\n```sql\n{SECOND}\n```\nAlternatively\n```sql\nSELECT 3\n```"), SECOND),
        ] {
            assert_eq!(extract_sql(&answer).sql, expected, "{answer}");
        }
    }
}
