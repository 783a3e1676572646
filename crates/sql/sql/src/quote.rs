//! Names and literals as SQLite writes them: into quotes and out of them.

use std::borrow::Cow;

use crate::lex;
use crate::syntax::Quote;
use crate::tree::{Literal, Real};

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

/// A numeric token as SQLite reads it: hexadecimal, integer, or real where it is no 64-bit integer.
pub(crate) fn number(token: &str) -> Literal {
    let digits: String = token.chars().filter(|&c| c != '_').collect();
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16)
            .map_or(Literal::Real(Real::new(f64::INFINITY)), |bits| Literal::Integer(bits.cast_signed()));
    }
    if let Ok(integer) = digits.parse::<i64>() {
        return Literal::Integer(integer);
    }
    Literal::Real(Real::new(digits.parse::<f64>().unwrap_or(f64::INFINITY)))
}

/// The negation of a numeric token; the most negative integer has no positive counterpart.
pub(crate) fn negative_number(token: &str) -> Literal {
    match number(token) {
        Literal::Integer(value) => Literal::Integer(value.wrapping_neg()),
        _ => number(&format!("-{token}")),
    }
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

/// A type name as text, unquoted, with single spaces, and with its size as it is written.
pub(crate) fn type_text(name: &str, size: Option<&str>) -> String {
    let name = lex::words(name).map(|word| word.unquoted()).collect::<Vec<_>>().join(" ");
    match size {
        None => name,
        Some(size) => format!("{name}({size})"),
    }
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
    fn the_words_of_a_type_are_what_sqlite_takes_for_words() {
        for (name, text) in [
            ("unsigned  big\tint", "unsigned big int"),
            ("\"a\"\"b\" [c d]", "a\"b c d"),
            ("a\u{a0}b\u{3000}c", "a\u{a0}b\u{3000}c"),
        ] {
            assert_eq!(type_text(name, None), text);
        }
        assert_eq!(type_text("VARCHAR", Some("20")), "VARCHAR(20)");
    }

    #[test]
    fn numbers_are_read_as_sqlite_reads_them() {
        assert_eq!(number("0x10"), Literal::Integer(16));
        assert_eq!(number("0xFFFFFFFFFFFFFFFF"), Literal::Integer(-1));
        assert_eq!(number("1_000"), Literal::Integer(1000));
        assert_eq!(number("9223372036854775808"), Literal::Real(Real::new(9.223_372_036_854_776e18)));
        assert_eq!(number("1e999"), Literal::Real(Real::new(f64::INFINITY)));
        assert_eq!(negative_number("9223372036854775808"), Literal::Integer(i64::MIN));
        assert_eq!(negative_number("0x10"), Literal::Integer(-16));
        assert_eq!(number(".5"), Literal::Real(Real::new(0.5)));
        assert_eq!(blob("X'4a4B'"), vec![0x4a, 0x4b]);
    }
}
