//! Numbers as Python's `float()` reads them.

/// First digit (zero) of every run of ten decimal digits beyond ASCII (Unicode category Nd).
const ZEROS: &[u32] = &[
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6,
    0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0,
    0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30,
    0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0,
    0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC,
    0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// The value of a decimal digit of any script, `None` for other characters.
pub(super) fn decimal_digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = u32::from(c);
    let run = ZEROS.partition_point(|&zero| zero <= code).checked_sub(1)?;
    let value = code - ZEROS.get(run)?;
    (value < 10).then_some(value)
}

/// The value of a token by the rules of Python's `float()`: decimal digits of any script, `_` between two
/// digits, `inf`, `infinity` and `nan` in any case.
pub(super) fn python_float(token: &str) -> Option<f64> {
    if token.is_ascii() && !token.contains('_') {
        return token.parse().ok();
    }
    let mut plain = String::with_capacity(token.len());
    let mut chars = token.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = chars.next() {
        if let Some(digit) = decimal_digit(c).and_then(|d| char::from_digit(d, 10)) {
            plain.push(digit);
            after_digit = true;
        } else if c == '_' {
            let before_digit = chars.peek().is_some_and(|&next| decimal_digit(next).is_some());
            if !(after_digit && before_digit) {
                return None;
            }
            after_digit = false;
        } else {
            plain.push(c);
            after_digit = false;
        }
    }
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_texts_are_numbers_as_in_python() {
        for (token, value) in [
            ("1", Some(1.0)),
            ("-1.5", Some(-1.5)),
            ("5.", Some(5.0)),
            (".5", Some(0.5)),
            ("1e5", Some(1e5)),
            ("1e999", Some(f64::INFINITY)),
            ("1_000", Some(1000.0)),
            ("1_0.0_1", Some(10.01)),
            ("infinity", Some(f64::INFINITY)),
            ("-inf", Some(f64::NEG_INFINITY)),
            ("\u{0663}", Some(3.0)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1_.5", None),
            ("0x10", None),
            ("1,000", None),
            (".", None),
            ("e5", None),
            ("", None),
            ("singer", None),
        ] {
            assert_eq!(python_float(token), value, "{token:?}");
        }
        assert!(python_float("NaN").is_some_and(f64::is_nan));
    }
}
