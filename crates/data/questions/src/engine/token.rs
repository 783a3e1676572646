//! Texts as tokens: words, numbers, marks, and what stands in quotes.
//!
//! Values stand in single quotes, names that are not plain words in double quotes; a quote inside is doubled. The
//! article "the" is no token, nor is the mark at the end of a text or turn.

use sqlgauge_sql::tree::{Literal, Real};

use crate::grammar::{Grammar, WordId};

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// In lower case; of a quoted one what stands inside, as it is.
    pub text: String,
    /// Which word of the grammar it is.
    pub word: Option<WordId>,
    /// As it is written, if it begins with a capital.
    pub capital: Option<String>,
    /// What sort.
    pub kind: Kind,
}

/// What sort of token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A word or a mark.
    Word,
    Number(Literal),
    /// In single quotes: a value.
    Value,
    /// In double quotes: a name.
    Name,
}

pub(crate) fn tokens(text: &str, grammar: &Grammar) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' if !before.is_alphanumeric() => quoted(rest, '\'', Kind::Value),
            '"' => quoted(rest, '"', Kind::Name),
            '\n' => (Some(plain("|", grammar)), 1),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if starts_number(rest, before) => number(rest),
            _ if first.is_alphanumeric() => {
                let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                (Some(plain(&rest[..length], grammar)), length)
            }
            _ => {
                let two = ["<=", ">=", "!="].into_iter().find(|sign| rest.starts_with(sign));
                let sign = two.unwrap_or(&rest[..first.len_utf8()]);
                (Some(plain(sign, grammar)), sign.len())
            }
        };
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
        let Some(token) = token else { continue };
        let is_article = token.kind == Kind::Word && token.text == "the";
        if token.text == "|" && token.kind == Kind::Word {
            drop_end_mark(&mut tokens);
        }
        if !is_article {
            tokens.push(token);
        }
    }
    drop_end_mark(&mut tokens);
    tokens
}

fn drop_end_mark(tokens: &mut Vec<Token>) {
    let is_end =
        |token: &mut Token| token.kind == Kind::Word && matches!(token.text.as_str(), "." | "?" | "!");
    tokens.pop_if(is_end);
}

fn plain(text: &str, grammar: &Grammar) -> Token {
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase()).then(|| text.to_owned());
    let text = text.to_lowercase();
    let word = grammar.word(&text);
    Token { text, word, capital, kind: Kind::Word }
}

/// What stands in quotes, and how many bytes it takes; a quote that is not closed goes to the end.
fn quoted(rest: &str, quote: char, kind: Kind) -> (Option<Token>, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|&(_, next)| next == quote).is_some() {
            text.push(quote);
        } else {
            return (Some(Token { text, word: None, capital: None, kind }), at + 1);
        }
    }
    (Some(Token { text, word: None, capital: None, kind }), rest.len())
}

/// Whether a number begins here: a digit, or a minus and a digit where no word ends.
fn starts_number(rest: &str, before: char) -> bool {
    let digits = rest.strip_prefix('-').filter(|_| !before.is_alphanumeric()).unwrap_or(rest);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// A number, or a word that begins with digits.
fn number(rest: &str) -> (Option<Token>, usize) {
    let sign = usize::from(rest.starts_with('-'));
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut end = sign + digits(&rest[sign..]);
    let mut is_real = false;
    if let Some(after) =
        rest[end..].strip_prefix('.').filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))
    {
        end += 1 + digits(after);
        is_real = true;
    }
    if let Some(after) = rest[end..].strip_prefix('e') {
        let sign = usize::from(after.starts_with(['-', '+']));
        let exponent = digits(&after[sign..]);
        let ends = !after[sign + exponent..].starts_with(char::is_alphanumeric);
        if exponent > 0 && ends {
            end += 1 + sign + exponent;
            is_real = true;
        }
    }
    if rest[end..].starts_with(char::is_alphabetic) && !is_real && sign == 0 {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let word = Token { text: rest[..end].to_lowercase(), word: None, capital: None, kind: Kind::Word };
        return (Some(word), end);
    }
    let text = &rest[..end];
    let literal = match text.parse::<i64>() {
        Ok(value) if !is_real => Literal::Integer(value),
        _ => Literal::Real(Real::new(text.parse().unwrap_or(f64::INFINITY))),
    };
    (Some(Token { text: text.to_owned(), word: None, capital: None, kind: Kind::Number(literal) }), end)
}

/// A text in quotes, those inside doubled.
pub(crate) fn in_quotes(text: &str, quote: char) -> String {
    let doubled: String = [quote, quote].iter().collect();
    format!("{quote}{}{quote}", text.replace(quote, &doubled))
}

/// Small numbers as words, from two on.
const NUMBERS: &[&str] =
    &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// How many words a value without quotes may have.
const MOST_WORDS: usize = 4;

/// The constant that the tokens begin with, and how many they are: a number, a text in quotes, a small number as a word,
/// or the longest row of words with capitals, which are a text.
pub(crate) fn value_at(tokens: &[Token]) -> Option<(usize, Literal)> {
    let token = tokens.first()?;
    let value = match &token.kind {
        Kind::Number(literal) => literal.clone(),
        Kind::Value => Literal::Text(token.text.clone()),
        Kind::Name => return None,
        Kind::Word => match token.text.as_str() {
            "null" => Literal::Null,
            "true" => Literal::Boolean(true),
            "false" => Literal::Boolean(false),
            word => {
                let Some((number, _)) = (2..).zip(NUMBERS).find(|(_, name)| **name == word) else {
                    let row: Vec<&str> = tokens.iter().map_while(|token| token.capital.as_deref()).collect();
                    return (!row.is_empty()).then(|| (row.len(), Literal::Text(row.join(" "))));
                };
                Literal::Integer(number)
            }
        },
    };
    Some((1, value))
}

/// A constant as people say it who leave quotes and digits out; `None` where that would not be read as it is meant.
pub(crate) fn plainly(value: &Literal) -> Option<String> {
    match value {
        Literal::Integer(number) => {
            let place = usize::try_from(number.checked_sub(2)?).ok()?;
            NUMBERS.get(place).map(|word| (*word).to_owned())
        }
        Literal::Text(text) => {
            let is_plain = |word: &str| {
                let (first, rest) = word.split_at_checked(1).unwrap_or_default();
                let letters = rest.chars().all(|c| c.is_ascii_alphabetic()) && !rest.is_empty();
                let lower = word.to_ascii_lowercase();
                let is_reserved =
                    ["the", "null", "true", "false"].contains(&lower.as_str()) || NUMBERS.contains(&&*lower);
                first.chars().all(|c| c.is_ascii_uppercase()) && letters && !is_reserved
            };
            let words: Vec<&str> = text.split(' ').collect();
            (words.len() <= MOST_WORDS && words.into_iter().all(is_plain)).then(|| text.clone())
        }
        _ => None,
    }
}

/// A constant as it is said, `None` where there are no words for it.
pub(crate) fn literal(value: &Literal) -> Option<String> {
    Some(match value {
        Literal::Null => "null".to_owned(),
        Literal::Boolean(value) => value.to_string(),
        Literal::Integer(value) => value.to_string(),
        Literal::Real(real) if real.get().is_finite() => {
            let text = format!("{:?}", real.get());
            if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
        }
        // A line break would end a turn.
        Literal::Text(text) if !text.contains('\0') => in_quotes(text, '\''),
        Literal::Real(_) | Literal::Text(_) | Literal::Blob(_) => return None,
    })
}
