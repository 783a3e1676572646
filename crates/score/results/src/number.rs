//! Numbers as pandas reads them from text.
//!
//! # Contract
//! White space around a number is skipped. An integer has digits and at most a sign. A real may have a fraction and an exponent, or
//! is an infinity, which has no space around it. A real is the nearest number of 64 bits, as in pandas 3; pandas 2 is a last digit off
//! now and then.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integer {
    /// An integer of 128 bits.
    Fits(i128),
    /// A larger one.
    Huge,
    /// Something else.
    No,
}

impl Integer {
    /// Whether 64 bits with a sign hold it.
    pub(crate) fn is_signed_64(self) -> bool {
        matches!(self, Self::Fits(value) if i64::try_from(value).is_ok())
    }

    /// Whether 64 bits without a sign hold it.
    pub(crate) fn is_unsigned_64(self) -> bool {
        matches!(self, Self::Fits(value) if u64::try_from(value).is_ok())
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r'])
}

pub(crate) fn integer(text: &str) -> Integer {
    let text = trimmed(text);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Integer::No;
    }
    text.strip_prefix('+').unwrap_or(text).parse().map_or(Integer::Huge, Integer::Fits)
}

/// The digits of an integer as Python writes it.
pub(crate) fn canonical_digits(text: &str) -> String {
    let text = trimmed(text);
    let (sign, digits) =
        text.strip_prefix('-').map_or(("", text.trim_start_matches('+')), |digits| ("-", digits));
    format!("{sign}{}", digits.trim_start_matches('0'))
}

pub(crate) fn real(text: &str) -> Option<f64> {
    infinity(text).or_else(|| finite(trimmed(text)))
}

fn infinity(text: &str) -> Option<f64> {
    let (sign, word) = match text.strip_prefix('-') {
        Some(word) => (-1.0, word),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_word = word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity");
    is_word.then_some(sign * f64::INFINITY)
}

fn finite(text: &str) -> Option<f64> {
    let (mantissa, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let mantissa = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = whole.len() + fraction.len() > 0 && all_digits(whole) && all_digits(fraction);
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && all_digits(digits)
    };
    if has_digits && exponent.is_none_or(is_exponent) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: `pandas.read_csv` 3.1.
    #[test]
    fn numbers_are_read_as_pandas_reads_them() {
        for (text, expected) in [
            ("1.", 1.0),
            (" .5\t", 0.5),
            ("1E5", 1e5),
            ("1.0e+05", 1e5),
            ("123456789.123456789123", 123_456_789.123_456_79),
            ("1e400", f64::INFINITY),
            ("1e-400", 0.0),
            ("+Infinity", f64::INFINITY),
            ("-INF", f64::NEG_INFINITY),
        ] {
            assert_eq!(real(text).map(f64::to_bits), Some(expected.to_bits()), "{text}");
        }
        for text in [
            "", ".", "-", "+", "1_0", "0x10", "1e", "e5", "1e5.5", " inf", "inf ", "1d", "1 2", "1e+", "--1",
            "nan",
        ] {
            assert_eq!(real(text), None, "{text}");
        }
        assert_eq!(integer(" +007 "), Integer::Fits(7));
        assert_eq!(integer("1.0"), Integer::No);
        assert_eq!(integer(&"9".repeat(60)), Integer::Huge);
        assert_eq!(canonical_digits("-0012"), "-12");
    }
}
