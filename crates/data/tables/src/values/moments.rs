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
    /// Dates in figures, by what separates these.
    by_separator: [InFigures; SEPARATORS.len()],
}

/// What separates the figures of a date.
const SEPARATORS: [char; 3] = ['/', '.', '-'];

/// Dates in figures with the year at the end.
#[derive(Debug, Clone, Default)]
struct InFigures {
    /// Values that only make sense with the day first.
    day_first: Class,
    /// Values that only make sense with the month first.
    month_first: Class,
    /// Values that make sense with both, and differently.
    either: Class,
}

impl InFigures {
    fn take(&mut self, text: &str, days: Days) {
        match days {
            Days::One(_) => {}
            Days::Either { month_first: None, .. } => self.day_first.take(text),
            Days::Either { day_first: None, .. } => self.month_first.take(text),
            Days::Either { .. } => self.either.take(text),
        }
    }

    /// Whether nothing tells what comes first. `31.12.2023` says nothing of `05/01/2024`: who writes otherwise may mean
    /// otherwise.
    fn is_open(&self) -> bool {
        self.day_first.is_empty() && self.month_first.is_empty() && !self.either.is_empty()
    }
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
        if let Some(at) = text
            .find(SEPARATORS)
            .and_then(|at| SEPARATORS.iter().position(|one| text[at..].starts_with(*one)))
        {
            self.by_separator[at].take(text, days);
        }
    }

    /// What the column is if all of its values have a day, with what comes first in those that leave it open.
    pub(super) fn days(&self, setting: Option<DateOrder>) -> Result<(ColumnType, DateOrder), Reason> {
        let kind = if self.dates.is_empty() { ColumnType::Datetime } else { ColumnType::Date };
        let contradictions = [
            (Doubt::DatePrecisionMixed, &self.dates, &self.datetimes),
            (Doubt::DatePrecisionMixed, &self.utc, &self.without_utc),
        ];
        for (doubt, one, other) in contradictions {
            if !one.is_empty() && !other.is_empty() {
                return Err(Reason::new(doubt, [one, other]));
            }
        }
        Ok((kind, self.order(setting)?))
    }

    fn order(&self, setting: Option<DateOrder>) -> Result<DateOrder, Reason> {
        let first = |class: fn(&InFigures) -> &Class| {
            self.by_separator.iter().map(class).find(|class| !class.is_empty())
        };
        let decided = match (first(|dates| &dates.day_first), first(|dates| &dates.month_first)) {
            (Some(day), Some(month)) => return Err(Reason::new(Doubt::DateOrderMixed, [day, month])),
            (Some(day), None) => Some((DateOrder::DayFirst, day)),
            (None, Some(month)) => Some((DateOrder::MonthFirst, month)),
            (None, None) => None,
        };
        let open = self.by_separator.iter().find(|dates| dates.is_open()).map(|dates| &dates.either);
        match (open, setting, decided) {
            (None, _, decided) => Ok(decided.map_or(DateOrder::DayFirst, |(order, _)| order)),
            (Some(open), None, _) => Err(Reason::new(Doubt::DateOrderUnknown, [open])),
            (Some(open), Some(setting), Some((order, other))) if setting != order => {
                let both = if order == DateOrder::DayFirst { [other, open] } else { [open, other] };
                Err(Reason::new(Doubt::DateOrderMixed, both))
            }
            (Some(_), Some(setting), _) => Ok(setting),
        }
    }
}
