//! Names and literals as SQLite writes them: into quotes and out of them.

use std::borrow::Cow;

/// How an identifier was quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    None,
    /// `"x"`: a string, where no such column exists.
    Double,
    /// `` `x` `` or `[x]`.
    Other,
    /// `'x'`: SQLite takes a string for a name where only a name can stand.
    Single,
}

/// A name in double quotes, whatever it is; [`crate::PrintDialect::identifier`] leaves them out where SQL
/// does without.
pub fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as a literal.
pub fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An identifier token without its quotes.
pub(crate) fn unquote(token: &str) -> (Cow<'_, str>, Quote) {
    let (quote, kind) = match token.as_bytes().first() {
        Some(b'"') => ('"', Quote::Double),
        Some(b'`') => ('`', Quote::Other),
        Some(b'\'') => ('\'', Quote::Single),
        Some(b'[') => {
            let inner = token[1..].strip_suffix(']').unwrap_or(&token[1..]);
            return (inner.into(), Quote::Other);
        }
        _ => return (token.into(), Quote::None),
    };
    let inner = token[1..].strip_suffix(quote).unwrap_or(&token[1..]);
    if !inner.contains(quote) {
        return (inner.into(), kind);
    }
    let doubled: String = [quote, quote].iter().collect();
    (inner.replace(&doubled, quote.encode_utf8(&mut [0; 4])).into(), kind)
}

/// The bytes of an `x'…'` token or of its digits.
pub(crate) fn blob(token: &str) -> Vec<u8> {
    let digits: Vec<u8> = token
        .trim_start_matches(['x', 'X'])
        .trim_matches('\'')
        .bytes()
        .filter_map(|b| char::from(b).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_every_kind_come_off() {
        for (token, name, quote) in [
            ("a", "a", Quote::None),
            ("\"a b\"", "a b", Quote::Double),
            ("\"a\"\"b\"", "a\"b", Quote::Double),
            ("`a``b`", "a`b", Quote::Other),
            ("[a]", "a", Quote::Other),
            ("'it''s'", "it's", Quote::Single),
            ("\"\"", "", Quote::Double),
        ] {
            assert_eq!(unquote(token), (name.into(), quote), "{token}");
        }
    }

    #[test]
    fn what_is_put_into_quotes_comes_out_again() {
        for text in ["", "a", "it's", "''", "a \"b\"", "ü\u{a0}"] {
            assert_eq!(unquote(&name(text)), (text.into(), Quote::Double));
            assert_eq!(unquote(&super::text(text)), (text.into(), Quote::Single));
        }
    }

    #[test]
    fn digits_of_bytes_are_read_in_pairs() {
        assert_eq!(blob("X'4a4B'"), vec![0x4a, 0x4b]);
    }
}
