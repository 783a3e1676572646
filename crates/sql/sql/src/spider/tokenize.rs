//! Tokens as the official `tokenize` of `process_sql.py` makes them.

use super::ParseFailure;
use super::words::split_words;

/// What a token means to the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the word that it is named after")]
pub enum Word {
    Select,
    From,
    Where,
    Group,
    Order,
    Limit,
    Intersect,
    Union,
    Except,
    Join,
    On,
    As,
    Not,
    Between,
    Equal,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    NotEqual,
    In,
    Like,
    Is,
    Exists,
    None,
    Minus,
    Plus,
    Star,
    Slash,
    Max,
    Min,
    Count,
    Sum,
    Avg,
    And,
    Or,
    Desc,
    Asc,
    By,
    Having,
    Distinct,
    Open,
    Close,
    Comma,
    Semicolon,
    /// Any other token: a name, a number, a quoted text, or something that the grammar does not know.
    Other,
}

impl Word {
    fn of(text: &str) -> Self {
        match text {
            "select" => Self::Select,
            "from" => Self::From,
            "where" => Self::Where,
            "group" => Self::Group,
            "order" => Self::Order,
            "limit" => Self::Limit,
            "intersect" => Self::Intersect,
            "union" => Self::Union,
            "except" => Self::Except,
            "join" => Self::Join,
            "on" => Self::On,
            "as" => Self::As,
            "not" => Self::Not,
            "between" => Self::Between,
            "=" => Self::Equal,
            ">" => Self::Greater,
            "<" => Self::Less,
            "in" => Self::In,
            "like" => Self::Like,
            "is" => Self::Is,
            "exists" => Self::Exists,
            "none" => Self::None,
            "-" => Self::Minus,
            "+" => Self::Plus,
            "*" => Self::Star,
            "/" => Self::Slash,
            "max" => Self::Max,
            "min" => Self::Min,
            "count" => Self::Count,
            "sum" => Self::Sum,
            "avg" => Self::Avg,
            "and" => Self::And,
            "or" => Self::Or,
            "desc" => Self::Desc,
            "asc" => Self::Asc,
            "by" => Self::By,
            "having" => Self::Having,
            "distinct" => Self::Distinct,
            "(" => Self::Open,
            ")" => Self::Close,
            "," => Self::Comma,
            ";" => Self::Semicolon,
            _ => Self::Other,
        }
    }

    /// Whether the token starts a clause.
    pub(crate) fn is_clause(self) -> bool {
        matches!(
            self,
            Self::Select
                | Self::From
                | Self::Where
                | Self::Group
                | Self::Order
                | Self::Limit
                | Self::Intersect
                | Self::Union
                | Self::Except
        )
    }

    /// `join`, `on`, `as`.
    pub(crate) fn is_join(self) -> bool {
        matches!(self, Self::Join | Self::On | Self::As)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token {
    start: u32,
    end: u32,
    word: Word,
}

/// The tokens of a text, lower-cased except for quoted values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    text: String,
    tokens: Vec<Token>,
}

impl Tokens {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The text of the token at a position.
    pub fn text(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at)?;
        self.text.get(token.start as usize..token.end as usize)
    }

    /// The meaning of the token at a position.
    pub fn word(&self, at: usize) -> Option<Word> {
        self.tokens.get(at).map(|token| token.word)
    }

    /// All meanings in order.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        self.tokens.iter().map(|token| token.word)
    }

    /// All texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|at| self.text(at))
    }

    fn push(&mut self, text: &str, word: Word) {
        let start = self.position();
        self.text.push_str(text);
        self.tokens.push(Token { start, end: self.position(), word });
    }

    fn push_lower(&mut self, text: &str) {
        let start = self.text.len();
        if text.is_ascii() {
            self.text.push_str(text);
            self.text[start..].make_ascii_lowercase();
        } else {
            self.text.push_str(&text.to_lowercase());
        }
        let word = Word::of(&self.text[start..]);
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        self.tokens.push(Token { start, end: self.position(), word });
    }

    fn position(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }

    /// Joins `!`, `>` or `<` with a following `=`.
    fn join_comparisons(&mut self) {
        let mut tokens: Vec<Token> = Vec::with_capacity(self.tokens.len());
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            let joined = if token.word == Word::Equal && at > 0 { self.comparison(at - 1) } else { None };
            if joined.is_some() {
                tokens.pop();
            }
            tokens.push(joined.unwrap_or(token));
        }
        self.tokens = tokens;
        self.join_first_to_last();
    }

    /// The comparison that the token at a position makes with an `=`, its text appended.
    fn comparison(&mut self, at: usize) -> Option<Token> {
        let (text, word) = match self.text(at)? {
            "!" => ("!=", Word::NotEqual),
            ">" => (">=", Word::GreaterOrEqual),
            "<" => ("<=", Word::LessOrEqual),
            _ => return None,
        };
        let start = self.position();
        self.text.push_str(text);
        Some(Token { start, end: self.position(), word })
    }

    /// A text that starts with `=` and ends with `!`, `>` or `<`: Python's index -1 makes the last token the
    /// one before the first, and the official list is doubled around the pair.
    fn join_first_to_last(&mut self) {
        let last = self.tokens.len().saturating_sub(1);
        if last == 0 || self.word(0) != Some(Word::Equal) {
            return;
        }
        if let Some(joined) = self.comparison(last) {
            let rest = self.tokens[1..].to_vec();
            self.tokens.truncate(last);
            self.tokens.push(joined);
            self.tokens.extend(rest);
        }
    }
}

/// A quoted value: positions of its quotes in characters (they name its mask) and in bytes.
struct Quoted {
    first: usize,
    last: usize,
    start: usize,
    end: usize,
}

/// Splits a text into tokens.
///
/// Both quote characters are the same character, and quotes pair up in the order in which they stand, so an
/// apostrophe inside a double-quoted value breaks it.
///
/// # Errors
/// [`ParseFailure::UnbalancedQuotes`] for an odd number of quotes, [`ParseFailure::TooLong`] beyond 1 GiB.
pub fn tokenize(sql: &str) -> Result<Tokens, ParseFailure> {
    // Masks and joined comparisons make the text of the tokens longer than the input, but not fourfold.
    if sql.len() >= 1 << 30 {
        return Err(ParseFailure::TooLong);
    }
    let quoted = find_quoted(sql)?;
    let masked = mask(sql, &quoted);
    let mut tokens = Tokens { text: String::with_capacity(sql.len() + 16), tokens: Vec::new() };
    split_words(&masked, &mut |word| match unmask(word, &quoted) {
        Some(value) => {
            let inner = sql.get(value.start + 1..value.end - 1).unwrap_or_default();
            tokens.push(&format!("\"{inner}\""), Word::Other);
        }
        None => tokens.push_lower(word),
    });
    tokens.join_comparisons();
    Ok(tokens)
}

fn find_quoted(sql: &str) -> Result<Vec<Quoted>, ParseFailure> {
    let mut quoted = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (position, (byte, c)) in sql.char_indices().enumerate() {
        if c == '\'' || c == '"' {
            open = match open {
                None => Some((position, byte)),
                Some((first, start)) => {
                    quoted.push(Quoted { first, last: position, start, end: byte + 1 });
                    None
                }
            };
        }
    }
    if open.is_some() { Err(ParseFailure::UnbalancedQuotes) } else { Ok(quoted) }
}

/// The text with every quoted value replaced by a word that names its positions.
fn mask(sql: &str, quoted: &[Quoted]) -> String {
    let mut masked = String::with_capacity(sql.len() + 8 * quoted.len());
    let mut from = 0;
    for value in quoted {
        masked.push_str(sql.get(from..value.start).unwrap_or_default());
        masked.push_str(&mask_name(value));
        from = value.end;
    }
    masked.push_str(sql.get(from..).unwrap_or_default());
    masked
}

fn mask_name(value: &Quoted) -> String {
    format!("__val_{}_{}__", value.first, value.last)
}

/// The value whose mask the word is (masks are compared after lower-casing).
fn unmask<'q>(word: &str, quoted: &'q [Quoted]) -> Option<&'q Quoted> {
    if quoted.is_empty() || !word.get(..6)?.eq_ignore_ascii_case("__val_") {
        return None;
    }
    let (first, _) = word.get(6..)?.split_once('_')?;
    let first: usize = first.parse().ok()?;
    let at = quoted.binary_search_by_key(&first, |value| value.first).ok()?;
    let value = quoted.get(at)?;
    word.eq_ignore_ascii_case(&mask_name(value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<String> {
        tokenize(sql).unwrap().texts().map(str::to_owned).collect()
    }

    #[test]
    fn quoted_values_are_one_token_in_their_own_case() {
        for (sql, expected) in [
            ("A = 'New York'", vec!["a", "=", "\"New York\""]),
            ("A = \"it' s", vec!["a", "=", "\"it\"", "s"]),
            // Values without a blank around them are glued to their neighbours and stay masked.
            ("a='x'", vec!["a=__val_2_4__"]),
            ("a = 'x''y'", vec!["a", "=", "__val_4_6____val_7_9__"]),
            ("('x', \"é\")", vec!["(", "\"x\"", ",", "\"é\"", ")"]),
            ("é = 'x'", vec!["é", "=", "\"x\""]),
        ] {
            assert_eq!(texts(sql), expected, "{sql}");
        }
        assert_eq!(tokenize("it's"), Err(ParseFailure::UnbalancedQuotes));
    }

    #[test]
    fn comparisons_are_joined_even_over_blanks() {
        for (sql, expected) in [
            ("a >= 5", vec!["a", ">=", "5"]),
            ("a ! = 5", vec!["a", "!=", "5"]),
            ("a > = > = 5", vec!["a", ">=", ">=", "5"]),
            ("a >=5", vec!["a", ">", "=5"]),
            ("= a >", vec!["=", "a", ">=", "a", ">"]),
            ("=", vec!["="]),
        ] {
            assert_eq!(texts(sql), expected, "{sql}");
        }
    }
}
