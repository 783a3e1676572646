//! A text as its words, so that some of them can be replaced.

use std::collections::BTreeMap;

use sqlgauge_sql::lex;

/// The words of a text: names, numbers, quoted texts and single signs, each with the space and the comments before it.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// What stands before each, and the word itself.
    list: Vec<(&'a str, &'a str)>,
    /// Space and comments at the end.
    tail: &'a str,
    /// For an opening parenthesis its closing one.
    closing: Vec<Option<usize>>,
    /// The opening parenthesis around a word.
    around: Vec<Option<usize>>,
    /// Whether a query begins at a word, or behind the parentheses that follow each other from there.
    queries: Vec<bool>,
}

/// Words by their number, and what stands in their place.
pub(super) type Edits = BTreeMap<usize, String>;

impl<'a> Words<'a> {
    /// Reads a text in one pass; whatever it is, the words with their spaces are the text.
    pub(super) fn of(sql: &'a str) -> Self {
        let (mut words, mut end) = (Vec::new(), 0);
        for token in lex::words(sql) {
            words.push((&sql[end..token.start], token.text));
            end = token.range().end;
        }
        let (closing, around) = parentheses(&words);
        let mut queries = vec![false; words.len() + 1];
        for (at, (_, word)) in words.iter().enumerate().rev() {
            let begins =
                ["SELECT", "VALUES", "WITH"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
            queries[at] = begins || (*word == "(" && queries[at + 1]);
        }
        Self { list: words, tail: &sql[end..], closing, around, queries }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The word of that number; the empty text where there is none.
    pub(super) fn at(&self, at: usize) -> &'a str {
        self.list.get(at).map_or("", |(_, word)| word)
    }

    /// Whether a word is one of those, whatever its case.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.at(at).eq_ignore_ascii_case(word))
    }

    /// The word before is one of those.
    pub(super) fn follows(&self, at: usize, words: &[&str]) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is(before, words))
    }

    /// The closing parenthesis of an opening one.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        self.closing.get(at).copied().flatten()
    }

    /// The opening parenthesis around a word.
    pub(super) fn around(&self, at: usize) -> Option<usize> {
        self.around.get(at).copied().flatten()
    }

    /// Whether a query begins there, or behind the parentheses that follow each other from there.
    pub(super) fn is_query(&self, at: usize) -> bool {
        self.queries.get(at).copied().unwrap_or(false)
    }

    /// The words from one to before another, as they are written.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        let words = self.list.get(from..to).unwrap_or_default().iter().enumerate();
        words.flat_map(|(at, (space, word))| [if at == 0 { "" } else { space }, word]).collect()
    }

    /// The words between two places but for what stands in parentheses.
    pub(super) fn level(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let after = move |at: usize| self.closing(at).unwrap_or(at) + 1;
        std::iter::successors(Some(from), move |&at| Some(after(at))).take_while(move |&at| at < to)
    }

    /// What the commas between two places separate.
    pub(super) fn parts(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let (mut parts, mut begin) = (Vec::new(), from);
        for at in self.level(from, to).filter(|&at| self.at(at) == ",") {
            parts.push((begin, at));
            begin = at + 1;
        }
        if begin < to {
            parts.push((begin, to));
        }
        parts
    }

    /// The text with other words in the place of some.
    pub(super) fn edited(&self, edits: &Edits) -> String {
        let words = self
            .list
            .iter()
            .enumerate()
            .flat_map(|(at, (space, word))| [*space, edits.get(&at).map_or(*word, String::as_str)]);
        words.chain([self.tail]).collect()
    }
}

/// Whether a word is a name or a keyword.
pub(super) fn is_name(word: &str) -> bool {
    let is_quoted = word.starts_with(['"', '`', '[']);
    is_quoted
        || word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$') || !c.is_ascii())
}

type Places = Vec<Option<usize>>;

fn parentheses(words: &[(&str, &str)]) -> (Places, Places) {
    let (mut open, mut closing, mut around) = (Vec::new(), vec![None; words.len()], Vec::new());
    for (at, (_, word)) in words.iter().enumerate() {
        if *word == ")"
            && let Some(from) = open.pop()
        {
            closing[from] = Some(at);
        }
        around.push(open.last().copied());
        if *word == "(" {
            open.push(at);
        }
    }
    (closing, around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_its_words_with_their_spaces() {
        for sql in [
            "",
            "'",
            "\"",
            "[",
            "((",
            "))",
            "/*",
            "/*/",
            "--",
            "é$ ",
            "\u{a0}\u{b} \u{b}\u{3000}$a(1)",
            "SELECT 'it''s', \"a\"\"b\" -- x\n/* y */ FROM t",
        ] {
            assert_eq!(Words::of(sql).edited(&Edits::new()), sql);
        }
    }

    #[test]
    fn words_know_their_parentheses() {
        let words = Words::of("f(a, (b, c)), d");
        assert_eq!(words.closing(1), Some(9));
        assert_eq!((words.around(2), words.around(5), words.around(9)), (Some(1), Some(4), None));
        assert_eq!(words.parts(2, 9), [(2, 3), (4, 9)]);
        assert_eq!(words.text(4, 9), "(b, c)");
    }
}
