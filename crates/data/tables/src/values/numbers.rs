//! The numbers of a column: which decimal mark they have, and which unit.
//!
//! # Contract
//! All values of a column have one mark and one unit, or it is not a column of numbers:
//! - Some values show the mark (`1,234.50`, `3,5`). Those that could be read either way (`1,234`) follow them.
//! - If no value shows it, [`crate::TablesOptions::decimal_mark`] says it; without it the column stays text. `1.234` alone is a
//!   number with a point, as programs write it, unless a unit shows that a person wrote it.

use super::amount::{Amount, DecimalMark, is_bracketed};
use super::class::Class;
use super::{Doubt, Reason, number};

/// What is known of the numbers that have passed by.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    /// All, those in brackets among them.
    pub(super) all: Class,
    /// Those that are not whole, with a point and with a comma.
    fractions: [u64; 2],
    only_point: Class,
    only_comma: Class,
    /// Whether one of those has a comma or a unit: `1.234.567` may be a code.
    shows_comma: bool,
    /// Another number with the other mark.
    open: Class,
    brackets: Class,
    unit: Option<Box<str>>,
    with_unit: Class,
    with_other_unit: Class,
    without_unit: Class,
}

impl Numbers {
    /// Takes a value; whether it is a number.
    pub(super) fn take(&mut self, text: &str) -> bool {
        if number::is_integer(text) {
            self.without_unit.take(text);
        } else if is_bracketed(text) {
            self.brackets.take(text);
        } else {
            let readings = Readings::of(text);
            let [point, comma] = [&readings.point, &readings.comma].map(Option::is_some);
            if !point && !comma {
                return false;
            }
            self.unit(text, readings.unit);
            self.mark(text, &readings);
        }
        self.all.take(text);
        true
    }

    fn unit(&mut self, text: &str, unit: Option<&str>) {
        match (unit, &self.unit) {
            (None, _) => self.without_unit.take(text),
            (Some(unit), Some(first)) if **first != *unit => self.with_other_unit.take(text),
            (Some(unit), _) => {
                self.unit = Some(unit.into());
                self.with_unit.take(text);
            }
        }
    }

    fn mark(&mut self, text: &str, readings: &Readings<'_>) {
        let has_unit = readings.unit.is_some();
        for (count, plain) in self.fractions.iter_mut().zip([&readings.point, &readings.comma]) {
            let Some(plain) = plain else { continue };
            // `5.0` is how programs write an integer beside missing values; `$5.00` is not one.
            let is_whole = number::is_integer(plain) || !has_unit && number::is_integer_with_point(plain);
            *count += u64::from(!is_whole);
        }
        match (&readings.point, &readings.comma) {
            (Some(_), None) => self.only_point.take(text),
            (None, Some(_)) => {
                self.only_comma.take(text);
                self.shows_comma |= readings.has_comma || has_unit;
            }
            (Some(point), Some(comma)) if point != comma && (readings.has_comma || has_unit) => {
                self.open.take(text);
            }
            _ => {}
        }
    }

    /// The mark of all values, or why it is not known.
    pub(super) fn decimal_mark(&self, setting: Option<DecimalMark>) -> Result<DecimalMark, Reason> {
        if !self.brackets.is_empty() {
            return Err(Reason::new(Doubt::Brackets, [&self.brackets]));
        }
        if !self.with_other_unit.is_empty() {
            return Err(Reason::new(Doubt::UnitMixed, [&self.with_unit, &self.with_other_unit]));
        }
        if !self.with_unit.is_empty() && !self.without_unit.is_empty() {
            return Err(Reason::new(Doubt::UnitMixed, [&self.with_unit, &self.without_unit]));
        }
        let unknown = |class: &Class| setting.ok_or_else(|| Reason::new(Doubt::DecimalMarkUnknown, [class]));
        let [point, comma] = [&self.only_point, &self.only_comma].map(|class| !class.is_empty());
        let mark = match (point, comma) {
            (true, true) => {
                return Err(Reason::new(Doubt::DecimalMarkMixed, [&self.only_point, &self.only_comma]));
            }
            (true, false) => DecimalMark::Point,
            (false, true) if self.shows_comma => DecimalMark::Comma,
            (false, true) => unknown(&self.only_comma)?,
            (false, false) if self.open.is_empty() => DecimalMark::Point,
            (false, false) => unknown(&self.open)?,
        };
        if mark == DecimalMark::Point && comma {
            return Err(Reason::new(Doubt::DecimalMarkUnknown, [&self.only_comma]));
        }
        Ok(mark)
    }

    /// Whether all of them are whole.
    pub(super) fn are_whole(&self, mark: DecimalMark) -> bool {
        self.fractions[usize::from(mark == DecimalMark::Comma)] == 0
    }

    /// The currency or `%` that all of them have.
    pub(super) fn common_unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

/// A number as programs write it; none if the text is not one with that mark.
pub(super) fn plain(text: &str, mark: DecimalMark) -> Option<String> {
    if number::is_integer(text) || mark == DecimalMark::Point && number::is_real(text) {
        return Some(text.to_owned());
    }
    Amount::read(text)?.plain(mark)
}

/// What a text is with a decimal point and with a decimal comma.
struct Readings<'a> {
    point: Option<String>,
    comma: Option<String>,
    unit: Option<&'a str>,
    has_comma: bool,
}

impl<'a> Readings<'a> {
    fn of(text: &'a str) -> Self {
        let amount = Amount::read(text);
        Self {
            point: plain(text, DecimalMark::Point),
            comma: plain(text, DecimalMark::Comma),
            unit: amount.and_then(|amount| amount.unit),
            has_comma: amount.is_some_and(|amount| amount.has_comma()),
        }
    }
}
