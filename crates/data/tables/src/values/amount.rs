//! Numbers as people write them: with a currency, with digits in groups, with a decimal comma, with a sign of their own.

use std::borrow::Cow;

use super::number;

/// What stands before the fraction of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalMark {
    /// `1,234.50`
    Point,
    /// `1.234,50`
    Comma,
}

/// Currencies that are written as three letters. Others are not taken, because three letters before a number are
/// mostly a code (`BMW 320`).
const CURRENCIES: [&str; 22] = [
    "USD", "EUR", "GBP", "JPY", "CNY", "CHF", "CAD", "AUD", "NZD", "INR", "KRW", "SEK", "NOK", "DKK", "PLN",
    "CZK", "HUF", "BRL", "MXN", "ZAR", "SGD", "HKD",
];

/// A number and what is written around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount<'a> {
    /// A currency, or `%`.
    pub(super) unit: Option<&'a str>,
    is_negative: bool,
    /// Digits with marks between them.
    digits: &'a str,
}

impl<'a> Amount<'a> {
    /// Takes a text apart; none if it has not one number and at most one unit. In brackets a number with a unit is a
    /// negative one, as accounts have it; without a unit brackets may mean anything ([`is_bracketed`]).
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let inner = in_brackets(text);
        let (rest, before) = unsigned(inner.unwrap_or(text));
        let (rest, unit_before) = without_first_unit(rest);
        let (rest, behind) = unsigned(rest);
        let (digits, unit_behind) = without_last_unit(rest);
        let signs = usize::from(before) + usize::from(behind) + usize::from(inner.is_some());
        if unit_before.is_some() && unit_behind.is_some() || signs > 1 {
            return None;
        }
        let unit = unit_before.or(unit_behind);
        let is_number = digits.chars().all(|c| c.is_ascii_digit() || is_mark(c))
            && digits.ends_with(|c: char| c.is_ascii_digit())
            && digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        (is_number && (inner.is_none() || unit.is_some())).then_some(Self {
            unit,
            is_negative: signs == 1,
            digits,
        })
    }

    /// The number as programs write it; none if it is not a number with that mark.
    pub(super) fn plain(&self, mark: DecimalMark) -> Option<String> {
        let (point, group) = match mark {
            DecimalMark::Point => ('.', ','),
            DecimalMark::Comma => (',', '.'),
        };
        let (whole, fraction) = match self.digits.split_once(point) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (self.digits, None),
        };
        let whole = ungrouped(whole, group, self.unit.is_some() || fraction.is_some())?;
        let sign = if self.is_negative && !(whole == "0" && fraction.is_none()) { "-" } else { "" };
        let plain = match fraction {
            Some(fraction) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{whole}"),
        };
        (number::is_integer(&plain) || number::is_real(&plain)).then_some(plain)
    }

    /// Whether a comma stands in it.
    pub(super) fn has_comma(&self) -> bool {
        self.digits.contains(',')
    }
}

/// Whether a text is a number in brackets: a negative one, or a remark.
pub(super) fn is_bracketed(text: &str) -> bool {
    in_brackets(text).and_then(Amount::read).is_some_and(|amount| amount.unit.is_none())
}

fn in_brackets(text: &str) -> Option<&str> {
    Some(text.strip_prefix('(')?.strip_suffix(')')?.trim())
}

/// The digits of a whole number without what groups them by three. A blank groups only where a unit or a fraction shows
/// that this is a number: `555 123 456` may be a telephone number.
fn ungrouped(whole: &str, group: char, shows_number: bool) -> Option<Cow<'_, str>> {
    let Some(separator) = whole.chars().find(|c| !c.is_ascii_digit()) else { return Some(whole.into()) };
    let is_known = separator == group
        || matches!(separator, '\'' | '’' | '\u{a0}' | '\u{202f}')
        || separator == ' ' && shows_number;
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let goes_on = |part: &str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_known && begins && groups.all(goes_on)).then(|| whole.replace(separator, "").into())
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}')
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '¢' | '£' | '¥' | '฿' | '\u{20a0}'..='\u{20cf}')
}

fn unsigned(text: &str) -> (&str, bool) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (rest.trim_start(), true),
        None => (text, false),
    }
}

fn without_first_unit(text: &str) -> (&str, Option<&str>) {
    let currency = text.chars().next().filter(|c| is_currency(*c)).map(char::len_utf8);
    let length = currency.or_else(|| CURRENCIES.iter().any(|name| text.starts_with(name)).then_some(3));
    length.map_or((text, None), |length| (text[length..].trim_start(), Some(&text[..length])))
}

fn without_last_unit(text: &str) -> (&str, Option<&str>) {
    let sign = text.chars().next_back().filter(|c| is_currency(*c) || *c == '%').map(char::len_utf8);
    let length = sign.or_else(|| CURRENCIES.iter().any(|name| text.ends_with(name)).then_some(3));
    length.map_or((text, None), |length| {
        let (rest, unit) = text.split_at(text.len() - length);
        (rest.trim_end(), Some(unit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a decimal point, with a decimal comma, and the unit.
    fn reading(text: &str) -> String {
        let Some(amount) = Amount::read(text) else { return "-".to_owned() };
        let plain = |mark| amount.plain(mark).unwrap_or_else(|| "-".to_owned());
        let unit = amount.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
        format!("{} | {}{unit}", plain(DecimalMark::Point), plain(DecimalMark::Comma))
    }

    #[test]
    fn a_number_is_read_with_both_marks() {
        for (text, expected) in [
            ("12", "12 | 12"),
            ("1,234", "1234 | 1.234"),
            ("1.234", "1.234 | 1234"),
            ("1,234.50", "1234.50 | -"),
            ("1.234,50", "- | 1234.50"),
            ("3,5", "- | 3.5"),
            ("0,123", "- | 0.123"),
            ("1,234,567", "1234567 | -"),
            ("1.234.567", "- | 1234567"),
            ("1 234,5", "- | 1234.5"),
            ("1'234.5", "1234.5 | -"),
            ("1\u{202f}234", "1234 | 1234"),
            ("$1,234.50", "1234.50 | - $"),
            ("€ 5", "5 | 5 €"),
            ("5 €", "5 | 5 €"),
            ("-$5", "-5 | -5 $"),
            ("$-5", "-5 | -5 $"),
            ("($300)", "-300 | -300 $"),
            ("−5", "-5 | -5"),
            ("EUR 1 200", "1200 | 1200 EUR"),
            ("12.5%", "12.5 | - %"),
        ] {
            assert_eq!(reading(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_a_code_or_a_remark_is_not_a_number() {
        for text in [
            "", "$", "-", "%", "BMW 320", "5 kg", "$5 €", "--5", "(-$5)", "(300)", "1-2", "12,", "$ 5 each",
            "a",
        ] {
            assert_eq!(reading(text), "-", "{text}");
        }
        for text in ["555 123 456", "007", "1,23,456", "12,34.5", "1,2,3", "192.168.1.10", "0.1.2", "1 2"] {
            assert_eq!(reading(text), "- | -", "{text}");
        }
        assert!(is_bracketed("(300)") && is_bracketed("(1,200)"));
        assert!(!is_bracketed("($300)") && !is_bracketed("(see below)") && !is_bracketed("300"));
    }
}
