//! Numbers as pandas reads them from text.
//!
//! # Contract
//! White space around a number is skipped. An integer has digits and at most a sign. A real may have a fraction and an exponent, or
//! is an infinity, which has no space around it. A real is computed as pandas computes it by default: the first 17 digits as an
//! integer, times or divided by one power of ten. That is a last digit off now and then, which decides about the order in which
//! texts of numbers sort.

/// What a text is as an integer.
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

/// The text as an integer.
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

/// The text as a real number.
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

/// Digits that are read; further ones count for their place only.
const MOST_DIGITS: usize = 17;

fn finite(text: &str) -> Option<f64> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], exponent_of(&text[at + 1..])?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut value = 0.0;
    let add = |value: f64, digit: u8| value * 10.0 + f64::from(digit - b'0');
    let whole = whole.trim_start_matches('0').as_bytes();
    let read = whole.len().min(MOST_DIGITS);
    value = whole[..read].iter().fold(value, |value, digit| add(value, *digit));
    let fraction = &fraction.as_bytes()[..fraction.len().min(MOST_DIGITS - read)];
    value = fraction.iter().fold(value, |value, digit| add(value, *digit));
    let place = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let exponent = exponent + place(whole.len() - read) - place(fraction.len());
    let value = scaled(value, exponent);
    Some(if is_negative { -value } else { value })
}

/// The exponent behind an `e`: a sign and digits, of which 17 are read.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || digits.len() > MOST_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: i64 = digits.parse().ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

/// Times a power of ten, which is taken from a table of correctly rounded powers.
fn scaled(value: f64, exponent: i64) -> f64 {
    let power = |exponent: i64| format!("1e{exponent}").parse::<f64>().unwrap_or(f64::INFINITY);
    match exponent {
        309.. => f64::INFINITY,
        1..=308 => value * power(exponent),
        -308..=0 => value / power(-exponent),
        _ => value / power((-308 - exponent).min(400)) / 1e308,
    }
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
