//! The dates and times of a column: whether the day or the month comes first, and whether all say as much.

use super::class::Class;
use super::date::{Days, Moment};
use super::{ColumnType, Doubt, Reason};

/// What comes first in `05/01/2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// It is the 5th of January.
    DayFirst,
    /// It is the 1st of May.
    MonthFirst,
}

/// What is known of the dates and times that have passed by.
#[derive(Debug, Clone, Default)]
pub(super) struct Moments {
    pub(super) all: Class,
    pub(super) times: Class,
    dates: Class,
    datetimes: Class,
    utc: Class,
    without_utc: Class,
    /// Values that only make sense with the day first.
    day_first: Class,
    /// Values that only make sense with the month first.
    month_first: Class,
    /// Values that make sense with both, and differently.
    either: Class,
}

impl Moments {
    pub(super) fn take(&mut self, text: &str, moment: &Moment<'_>) {
        self.all.take(text);
        let Some(days) = moment.days else {
            self.times.take(text);
            return;
        };
        if moment.time.is_some() {
            self.datetimes.take(text);
            if moment.utc { &mut self.utc } else { &mut self.without_utc }.take(text);
        } else {
            self.dates.take(text);
        }
        match days {
            Days::One(_) => {}
            Days::Either { month_first: None, .. } => self.day_first.take(text),
            Days::Either { day_first: None, .. } => self.month_first.take(text),
            Days::Either { .. } => self.either.take(text),
        }
    }

    /// What the column is if all of its values have a day, with what comes first in those that leave it open.
    pub(super) fn days(&self, told: Option<DateOrder>) -> Result<(ColumnType, DateOrder), Reason> {
        let kind = if self.dates.is_empty() { ColumnType::Datetime } else { ColumnType::Date };
        let contradictions = [
            (Doubt::DatePrecisionMixed, &self.dates, &self.datetimes),
            (Doubt::DatePrecisionMixed, &self.utc, &self.without_utc),
            (Doubt::DateOrderMixed, &self.day_first, &self.month_first),
        ];
        for (doubt, one, other) in contradictions {
            if !one.is_empty() && !other.is_empty() {
                return Err(Reason::new(doubt, [one, other]));
            }
        }
        let order = match (self.day_first.is_empty(), self.month_first.is_empty()) {
            (_, false) => DateOrder::MonthFirst,
            (false, true) => DateOrder::DayFirst,
            (true, true) if self.either.is_empty() => DateOrder::DayFirst,
            (true, true) => told.ok_or_else(|| Reason::new(Doubt::DateOrderUnknown, [&self.either]))?,
        };
        Ok((kind, order))
    }
}
