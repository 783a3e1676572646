//! Recognises dates as people write them: with year, month and day in any order, in numbers or with the month's name.

use sqlgauge_base::calendar::{day_or_month, month_named, year};

use super::composition::{Composition, Content, End, Field};

/// A part of a date, by which its column is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Day,
    Time,
}

impl Unit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
            Self::Time => "time",
        }
    }
}

/// A run of digits or letters, with what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    behind: &'a str,
}

/// The form that all texts have, with the units of its fields; none where they differ or are no dates.
pub(super) fn recognise(texts: &[&str]) -> Option<(Composition, Vec<Unit>)> {
    let tokens: Vec<Vec<Token<'_>>> = texts.iter().map(|text| tokens(text)).collect::<Option<_>>()?;
    let (first, others) = tokens.split_first()?;
    // Three tokens are the date; what follows a blank or a `T` is a time of day.
    let dated = first.len().min(3);
    let alike = |other: &Vec<Token<'_>>| {
        other.len().min(3) == dated
            && (other.len() > 3) == (first.len() > 3)
            && other.iter().zip(first).take(dated).all(|(one, two)| one.behind == two.behind)
    };
    if !others.iter().all(alike) || first.len() > 3 && !matches!(first[2].behind, " " | "T") {
        return None;
    }
    let columns: Vec<Vec<&str>> =
        (0..dated).map(|place| tokens.iter().map(|tokens| tokens[place].text).collect()).collect();
    let mut units = units(&columns, first[0].behind)?;
    let has_time = first.len() > 3;
    let last = dated - 1;
    let mut fields = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        fields.push(field(column, first[place].behind, place == last && !has_time)?);
    }
    if has_time {
        fields.push(Field { content: Content::Text, end: End::Value });
        units.push(Unit::Time);
    }
    Some((Composition { fields }, units))
}

/// The runs of a text; none where it does not begin with one, ends with something else, or has too many.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let first = rest.chars().next()?;
        let same = |c: char| {
            c.is_ascii_digit() && first.is_ascii_digit() || c.is_alphabetic() && first.is_alphabetic()
        };
        let end = rest.find(|c| !same(c)).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        // The third token may be followed by the `T` before a time.
        let behind = match after.strip_prefix('T') {
            Some(_) if tokens.len() == 2 => 1,
            _ => after.find(char::is_alphanumeric).unwrap_or(after.len()),
        };
        if text.is_empty() || tokens.len() > 12 {
            return None;
        }
        tokens.push(Token { text, behind: &after[..behind] });
        rest = &after[behind..];
    }
    let closed = tokens.last().is_some_and(|last| last.behind.is_empty());
    (closed && tokens.len() > 1).then_some(tokens)
}

/// Which unit each column of tokens is.
fn units(columns: &[Vec<&str>], between: &str) -> Option<Vec<Unit>> {
    let all = |column: &[&str], holds: &dyn Fn(&str) -> bool| column.iter().all(|text| holds(text));
    let mut units: Vec<Option<Unit>> = columns
        .iter()
        .map(|column| {
            if all(column, &|text| year(text).is_some()) {
                Some(Unit::Year)
            } else {
                all(column, &|text| month_named(text).is_some()).then_some(Unit::Month)
            }
        })
        .collect();
    let open: Vec<usize> = (0..units.len()).filter(|&place| units[place].is_none()).collect();
    let up_to =
        |most: u32| move |text: &str| day_or_month(text).is_some_and(|number| (1..=most).contains(&number));
    let days = |place: usize| all(&columns[place], &up_to(31));
    let months = |place: usize| all(&columns[place], &up_to(12));
    match *open.as_slice() {
        [] => {}
        [only] if units.contains(&Some(Unit::Month)) && days(only) => units[only] = Some(Unit::Day),
        [only] if units.len() == 2 && months(only) => units[only] = Some(Unit::Month),
        [one, two] if units.contains(&Some(Unit::Year)) => {
            // After the year comes the month; before it, where numbers do not tell, a slash does.
            let month_first = units[0] == Some(Unit::Year) || months(one) && (!months(two) || between == "/");
            let (month, day) = if month_first { (one, two) } else { (two, one) };
            (months(month) && days(day)).then_some(())?;
            units[month] = Some(Unit::Month);
            units[day] = Some(Unit::Day);
        }
        [one, two] if units.contains(&Some(Unit::Month)) => {
            // Beside a month's name a year may have two digits. Where numbers do not tell, the day comes first.
            let short_year = |place: usize| all(&columns[place], &|text| text.len() == 2);
            let (day, year) = if days(one) && short_year(two) { (one, two) } else { (two, one) };
            (days(day) && short_year(year)).then_some(())?;
            units[day] = Some(Unit::Day);
            units[year] = Some(Unit::Year);
        }
        _ => return None,
    }
    let units: Vec<Unit> = units.into_iter().collect::<Option<_>>()?;
    let distinct = units.iter().enumerate().all(|(place, unit)| !units[..place].contains(unit));
    (distinct && units.len() > 1).then_some(units)
}

fn field(texts: &[&str], behind: &str, last: bool) -> Option<Field> {
    let width = texts.first()?.len();
    let fixed = texts.iter().all(|text| text.len() == width);
    let digits = texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    // A number that is written with a zero before it keeps it: what composes the date is then as plain as the date.
    let is_number = digits && !texts.iter().any(|text| text.starts_with('0'));
    let content = if is_number { Content::Integer } else { Content::Text };
    let end = if fixed && digits {
        End::Width(width, behind.to_owned())
    } else if last {
        End::Value
    } else if behind.is_empty() {
        return None;
    } else {
        End::At(behind.to_owned())
    };
    Some(Field { content, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_recognised_in_every_order() {
        use Unit::{Day, Month, Time, Year};
        for (texts, expected) in [
            (vec!["2008-05-19", "1999-12-31"], vec![Year, Month, Day]),
            (vec!["2008-05-19 15:54:49"], vec![Year, Month, Day, Time]),
            (vec!["2008-05-19T15:54:49Z"], vec![Year, Month, Day, Time]),
            (vec!["19.05.2008", "01.02.2003"], vec![Day, Month, Year]),
            (vec!["5/19/2008", "12/1/2008"], vec![Month, Day, Year]),
            (vec!["5/1/2008"], vec![Month, Day, Year]),
            (vec!["5-1-2008"], vec![Day, Month, Year]),
            (vec!["19/5/2008", "1/5/2008"], vec![Day, Month, Year]),
            (vec!["December 10, 2007", "May 1, 2007"], vec![Month, Day, Year]),
            (vec!["14 April 1205"], vec![Day, Month, Year]),
            (vec!["10 May", "7 May"], vec![Day, Month]),
            (vec!["2008-05", "2008-11"], vec![Year, Month]),
            (vec!["23-OCT-10", "02-FEB-09"], vec![Day, Month, Year]),
            (vec!["99-Jan-31", "10-Feb-2"], vec![Year, Month, Day]),
        ] {
            let (composition, units) = recognise(&texts).unwrap_or_else(|| panic!("{texts:?}"));
            assert_eq!(units, expected, "{texts:?}");
            for text in texts {
                let value = sqlgauge_engine::Value::text(text);
                assert!(composition.round_trips(&value), "{text}: {composition:?}");
            }
        }
    }

    #[test]
    fn what_is_no_date_is_not_taken_for_one() {
        for texts in [
            vec!["1235", "14 April 1205"],
            vec!["10 June", "2007"],
            vec!["2-1", "1-0"],
            vec!["Joe Sharp"],
            vec!["2008-13-40"],
            vec!["10.0.0.1"],
            vec!["December12,2008"],
            vec!["2008-05-19", "2008/05/19"],
            vec!["2008-05-19 "],
            vec!["May 32, 99"],
            vec!["1 May 5"],
            vec![""],
            vec![],
        ] {
            assert_eq!(recognise(&texts), None, "{texts:?}");
        }
    }
}
