//! Exact decimal numbers, as servers return them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// A decimal number that is no 64-bit integer, by its digits: no sign of zero, no zeros at the ends.
///
/// Two decimals are equal exactly if their texts are. SQLite has none: they come from `NUMERIC` and `DECIMAL` of servers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Decimal(Box<str>);

impl Decimal {
    /// The digits: `-0.5`, `12345678901234567890`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The nearest float.
    pub fn to_float(&self) -> f64 {
        self.0.parse().unwrap_or(f64::INFINITY)
    }

    /// The float that equals the number exactly, if there is one.
    pub(crate) fn exact_float(&self) -> Option<f64> {
        // The last digit of a binary fraction is 5; most decimals are told by it.
        if self.0.contains('.') && !self.0.ends_with('5') {
            return None;
        }
        let float = self.to_float();
        let expansion = format!("{float:.1074}");
        let exact = expansion.trim_end_matches('0').trim_end_matches('.');
        (float.is_finite() && exact == &*self.0).then_some(float)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Value {
    /// The exact number that is written there: an [`Value::Integer`] where it is whole and has 64 bits, else a
    /// [`Value::Decimal`]. `None` for what is not digits with a sign and a point.
    pub fn decimal(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let whole = if whole.is_empty() { "0" } else { whole };
        if fraction.is_empty() {
            let text = format!("{sign}{whole}");
            return Some(text.parse().map_or_else(|_| Self::Decimal(Decimal(text.into())), Self::Integer));
        }
        Some(Self::Decimal(Decimal(format!("{sign}{whole}.{fraction}").into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_its_digits() {
        for (text, same) in [("0.10", "0.1"), ("-00.500", "-0.5"), ("+.5", "0.5"), ("1.", "1"), ("-0.0", "0")]
        {
            assert_eq!(Value::decimal(text), Value::decimal(same), "{text}");
        }
        assert_eq!(Value::decimal("2.00"), Some(Value::Integer(2)));
        assert!(matches!(Value::decimal("9223372036854775808"), Some(Value::Decimal(_))));
        assert_ne!(Value::decimal("0.10000000000000001"), Value::decimal("0.1"));
        for text in ["", ".", "-", "NaN", "Infinity", "1e5", "1.2.3", "0x1"] {
            assert_eq!(Value::decimal(text), None, "{text}");
        }
    }

    #[test]
    fn few_decimals_are_floats() {
        let float = |text: &str| match Value::decimal(text) {
            Some(Value::Decimal(decimal)) => decimal.exact_float(),
            _ => None,
        };
        assert_eq!(
            (float("0.5"), float("-2.375"), float("0.1"), float("0.15")),
            (Some(0.5), Some(-2.375), None, None)
        );
        assert_eq!(float("18446744073709551616"), Some(18_446_744_073_709_551_616.0));
    }
}
