//! Numbers as tools write them.

/// Digits with or without a minus, at most 18, no zero before others.
pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain && (digits == "0" && digits == text || !digits.starts_with('0'))
}

/// A number with a point or an exponent, of at most 17 digits.
pub(super) fn is_real(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_sign = exponent.is_some() || mantissa.contains('.');
    let exponent_is_number = exponent.is_none_or(|exponent| {
        let plain = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !plain.is_empty() && plain.len() <= 3 && digits(plain)
    });
    let is_code = whole.len() > 1 && whole.starts_with('0');
    let length = whole.len() + fraction.len();
    let written = has_sign && exponent_is_number && digits(whole) && digits(fraction) && !is_code;
    written && (1..=17).contains(&length) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A whole number that is written with `.0`.
pub(super) fn is_integer_with_point(text: &str) -> bool {
    text.split_once('.').is_some_and(|(whole, rest)| {
        is_integer(whole) && whole.len() <= 15 && !rest.is_empty() && rest.bytes().all(|byte| byte == b'0')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_codes() {
        for text in ["0", "7", "-12", "123456789012345678"] {
            assert!(is_integer(text) && !is_real(text), "{text}");
        }
        for text in ["0.5", "-1.25", "1e10", "3.0E-5", ".5", "5."] {
            assert!(is_real(text) && !is_integer(text), "{text}");
        }
        for text in [
            "",
            "-",
            "007",
            "-0",
            "00.5",
            "1234567890123456789",
            "1,000",
            "+5",
            "0x1F",
            "1e",
            "inf",
            "nan",
            ".",
            "1e999",
        ] {
            assert!(!is_integer(text) && !is_real(text), "{text}");
        }
        assert!(is_integer_with_point("5.0") && is_integer_with_point("0.00"));
        assert!(!is_integer_with_point("5.") && !is_integer_with_point("5.5"));
    }
}
