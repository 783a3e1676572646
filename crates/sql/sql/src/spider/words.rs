//! Splits text into words as NLTK's `word_tokenize` does, on text without ASCII quotes.
//!
//! NLTK first splits sentences (Punkt), then pads punctuation with blanks in a row of regular expressions,
//! then splits at white space. Since the padding only inserts blanks, every word is a piece of the text,
//! and one pass that knows the rules finds the same pieces. Sentences matter in one respect: a period that
//! ends one is a word of its own, any other single period belongs to its word (`T1.name`, `3.5`).
//!
//! Punkt's English model is data. What is used of it here are its abbreviations; its statistics about the
//! case of following words are not. They could only matter for a number, an initial or an abbreviation
//! before a period that is followed by white space, which no readable query contains.

use super::number::decimal_digit;

/// English abbreviations after which a period ends no sentence, sorted.
const ABBREVIATIONS: &[&str] = &[
    "adm", "ariz", "ark", "aug", "bros", "c", "calif", "capt", "chg", "co", "col", "colo", "conn", "corp",
    "d", "dec", "dr", "e", "f", "feb", "fla", "fri", "ft", "gen", "gov", "h", "hon", "ill", "inc", "ind",
    "j", "jan", "jr", "k", "l", "ltd", "m", "maj", "mass", "messrs", "mich", "minn", "mr", "mrs", "ms", "n",
    "nev", "nov", "o", "oct", "okla", "ont", "p", "p.m", "ph.d", "prof", "r", "rep", "reps", "s", "sen",
    "sens", "sep", "sept", "st", "t", "tenn", "tex", "u.k", "u.n", "u.s", "v", "va", "vs", "w", "wash",
    "wed", "wis", "yr",
];

/// Words that NLTK splits in two, with the place of the cut.
const CONTRACTIONS: &[(&str, usize)] =
    &[("cannot", 3), ("gimme", 3), ("gonna", 3), ("gotta", 3), ("lemme", 3), ("wanna", 3)];

/// White space as Python's `str.split` and `\s` understand it.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Characters that are always words of their own.
fn is_separate(c: char) -> bool {
    matches!(
        c,
        ';' | '@'
            | '#'
            | '$'
            | '%'
            | '&'
            | '?'
            | '!'
            | '*'
            | '['
            | ']'
            | '('
            | ')'
            | '{'
            | '}'
            | '<'
            | '>'
            | '«'
            | '»'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '„'
            | '\u{2012}'..='\u{2015}'
    )
}

/// Calls `emit` with each word of the text in order. The text has no `'` and no `"`.
pub(super) fn split_words<'t>(text: &'t str, emit: &mut impl FnMut(&'t str)) {
    let periods = sentence_periods(text);
    let mut splitter = Splitter { text, start: None, periods: &periods, emit };
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        at = splitter.step(at, c);
    }
    splitter.flush(text.len());
}

struct Splitter<'t, 'p, F> {
    text: &'t str,
    /// Where the word that is being read starts.
    start: Option<usize>,
    /// Positions of the periods that end a sentence, ascending; those passed are dropped.
    periods: &'p [usize],
    emit: &'p mut F,
}

impl<'t, F: FnMut(&'t str)> Splitter<'t, '_, F> {
    /// Handles the character at a position and says where the next one to handle is.
    fn step(&mut self, at: usize, c: char) -> usize {
        let next = at + c.len_utf8();
        match c {
            '.' => self.period(at),
            ',' | ':' => self.comma(at),
            '-' if self.byte(next) == Some(b'-') => self.separate(at, next + 1),
            '`' if self.byte(next) == Some(b'`') => self.separate(at, next + 1),
            '`' => self.separate(at, next),
            _ if is_space(c) => {
                self.flush(at);
                next
            }
            _ if is_separate(c) => self.separate(at, next),
            _ => {
                self.start.get_or_insert(at);
                next
            }
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Ends the word being read and makes one word of the range.
    fn separate(&mut self, from: usize, to: usize) -> usize {
        self.flush(from);
        if let Some(word) = self.text.get(from..to) {
            (self.emit)(word);
        }
        to
    }

    /// Two or more periods are one word; a single one is a word only where it ends a sentence.
    fn period(&mut self, at: usize) -> usize {
        let run = self.text.as_bytes().iter().skip(at).take_while(|&&b| b == b'.').count();
        if run > 1 {
            return self.separate(at, at + run);
        }
        while let Some((&first, rest)) = self.periods.split_first().filter(|&(&first, _)| first <= at) {
            self.periods = rest;
            if first == at {
                return self.separate(at, at + 1);
            }
        }
        self.start.get_or_insert(at);
        at + 1
    }

    /// A comma or colon is a word unless a digit follows. NLTK's pattern consumes the following character,
    /// so a second comma or colon is not looked at and starts the next word.
    fn comma(&mut self, at: usize) -> usize {
        let next = self.text.get(at + 1..).and_then(|rest| rest.chars().next());
        if next.is_some_and(|c| decimal_digit(c).is_some()) {
            self.start.get_or_insert(at);
            return at + 1;
        }
        self.separate(at, at + 1);
        if matches!(next, Some(',' | ':')) {
            self.start = Some(at + 1);
            return at + 2;
        }
        at + 1
    }

    /// Emits the word being read, if there is one, with contractions split.
    fn flush(&mut self, end: usize) {
        let Some(word) = self.start.take().and_then(|start| self.text.get(start..end)) else { return };
        // The shortest contraction has five letters; few words of a query are that long.
        if word.len() < 5 { (self.emit)(word) } else { split_contractions(word, self.emit) }
    }
}

fn split_contractions<'t>(mut word: &'t str, emit: &mut impl FnMut(&'t str)) {
    let mut from = 0;
    while let Some(run) = next_run(word, from) {
        let Some(cut) = contraction(&word[run.clone()], run.end == word.len()) else {
            from = run.end;
            continue;
        };
        let parts = [&word[..run.start], &word[run.start..run.start + cut], &word[run.start + cut..run.end]];
        parts.into_iter().filter(|part| !part.is_empty()).for_each(&mut *emit);
        word = &word[run.end..];
        from = 0;
    }
    if !word.is_empty() {
        emit(word);
    }
}

/// The next run of word characters (letters, digits, `_`) from a position.
fn next_run(word: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = from + word[from..].find(is_word)?;
    let end = word[start..].find(|c| !is_word(c)).map_or(word.len(), |length| start + length);
    Some(start..end)
}

/// Where a run of word characters is cut; `wanna` only before white space.
fn contraction(run: &str, at_end: bool) -> Option<usize> {
    let (word, cut) = CONTRACTIONS.iter().find(|(word, _)| run.eq_ignore_ascii_case(word))?;
    (at_end || *word != "wanna").then_some(*cut)
}

/// Positions of the single periods that end a sentence, ascending.
fn sentence_periods(text: &str) -> Vec<usize> {
    let mut periods = Vec::new();
    if !text.contains('.') {
        return periods;
    }
    let mut chunks = text.split(is_space).filter(|chunk| !chunk.is_empty()).peekable();
    while let Some(chunk) = chunks.next() {
        let offset = chunk.as_ptr() as usize - text.as_ptr() as usize;
        let end = chunk_break(chunk, chunks.peek().copied());
        periods.extend(end.map(|at| offset + at));
    }
    // The last period of the text ends it when only closing punctuation follows.
    if let Some(last) = text.rfind('.') {
        let rest = text[last + 1..].trim_end_matches(is_space);
        let closes = rest.chars().all(|c| matches!(c, ']' | ')' | '}' | '>' | '»' | '”' | '’' | ' '));
        if closes && last > 0 && periods.last() != Some(&last) {
            periods.push(last);
        }
    }
    periods
}

/// Characters that Punkt takes for words of their own, so that a period before them may end a sentence.
fn is_non_word(c: char) -> bool {
    matches!(
        c,
        ')' | ';'
            | '}'
            | ']'
            | '*'
            | ':'
            | '@'
            | '('
            | '{'
            | '['
            | '!'
            | '?'
            | '‘'
            | '’'
            | '“'
            | '”'
            | '«'
            | '»'
    )
}

/// The period within a piece of text without white space that ends a sentence. Punkt decides once per
/// piece, at its last `.`, `?` or `!` that something separate follows.
fn chunk_break(chunk: &str, following: Option<&str>) -> Option<usize> {
    let (last, next) = chunk.char_indices().rev().find_map(|(at, c)| {
        let after = chunk[at + c.len_utf8()..].chars().next();
        let candidate = matches!(c, '.' | '?' | '!') && after.map_or(following.is_some(), is_non_word);
        candidate.then_some((at, after))
    })?;
    let before = &chunk[..last];
    if chunk.as_bytes().get(last) != Some(&b'.') || before.ends_with('.') {
        return None;
    }
    let mut pieces = before.split(is_non_word).rev();
    let word = pieces.next().unwrap_or_default();
    let earlier = before.contains(['?', '!'])
        || pieces.any(|piece| piece.strip_suffix('.').is_some_and(|w| ends_sentence(w, Some('('), false)));
    let alone = following.is_some_and(|chunk| chunk.len() == 1);
    let (next, alone) = match next {
        Some(c) => (Some(c), true),
        None => (following.and_then(|chunk| chunk.chars().next()), alone),
    };
    (earlier || ends_sentence(word, next, alone)).then_some(last)
}

/// Whether a period after `word` ends a sentence; `next` is the first character of the following word, which
/// may be that character alone.
fn ends_sentence(word: &str, next: Option<char>, next_alone: bool) -> bool {
    if word.ends_with('.') {
        return false;
    }
    let lower = word.to_lowercase();
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.next().is_none();
    let is_abbreviation = |w: &str| ABBREVIATIONS.binary_search(&w).is_ok();
    if is_abbreviation(&lower) || lower.rsplit('-').next().is_some_and(is_abbreviation) {
        return false;
    }
    if !initial && !is_number(word) {
        return true;
    }
    let Some(next) = next else { return true };
    let punctuation = matches!(next, ';' | ':' | ',') || (next_alone && matches!(next, '.' | '!' | '?'));
    !(punctuation || next.is_lowercase() || (initial && next.is_uppercase()))
}

/// Punkt's pattern of a number: digits with `,`, `.` and `-` between them.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let word = word.strip_prefix(['.', ',']).unwrap_or(word);
    word.starts_with(|c| decimal_digit(c).is_some())
        && word.chars().all(|c| decimal_digit(c).is_some() || matches!(c, ',' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        split_words(text, &mut |word| words.push(word));
        words
    }

    #[test]
    fn words_are_split_as_nltk_splits_them() {
        for (text, expected) in [
            ("SELECT count(*) FROM t;", vec!["SELECT", "count", "(", "*", ")", "FROM", "t", ";"]),
            ("T1.name, T2.age", vec!["T1.name", ",", "T2.age"]),
            ("a>=5 b!=c d<>e", vec!["a", ">", "=5", "b", "!", "=c", "d", "<", ">", "e"]),
            ("a=b+c/d", vec!["a=b+c/d"]),
            ("1,000 a,b 12:30 a:b", vec!["1,000", "a", ",", "b", "12:30", "a", ":", "b"]),
            ("a,,b ,:5", vec!["a", ",", ",b", ",", ":5"]),
            ("a -- b a---b ...c", vec!["a", "--", "b", "a", "--", "-b", "...", "c"]),
            ("```sql `a` ", vec!["``", "`", "sql", "`", "a", "`"]),
            (
                "cannot x.gimme-Gonna wanna wanna.x",
                vec!["can", "not", "x.", "gim", "me", "-", "Gon", "na", "wan", "na", "wanna.x"],
            ),
            ("100% a&b #c", vec!["100", "%", "a", "&", "b", "#", "c"]),
            ("a\u{a0}b\u{1f}c", vec!["a", "b", "c"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn abbreviations_are_sorted() {
        assert!(ABBREVIATIONS.is_sorted());
    }

    #[test]
    fn a_period_is_a_word_only_where_it_ends_a_sentence() {
        for (text, expected) in [
            ("from t.", vec!["from", "t", "."]),
            ("from t. ", vec!["from", "t", "."]),
            ("(from t.)", vec!["(", "from", "t", ".", ")"]),
            ("from t. Where a", vec!["from", "t.", "Where", "a"]),
            ("from tab. Where a", vec!["from", "tab", ".", "Where", "a"]),
            ("c.* x", vec!["c.", "*", "x"]),
            ("T1.* x", vec!["T1", ".", "*", "x"]),
            ("a > 5. and b", vec!["a", ">", "5.", "and", "b"]),
            ("Mr. Smith", vec!["Mr.", "Smith"]),
            (".", vec!["."]),
            ("a.. b", vec!["a", "..", "b"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
