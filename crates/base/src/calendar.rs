//! Years, months and days as people write them.

/// The English names of the months; their first three letters are the abbreviation.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The month, from 1, of that English name or abbreviation, in whatever letter case.
pub fn month_named(text: &str) -> Option<u32> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(text) || name[..3].eq_ignore_ascii_case(text);
    (1..).zip(MONTHS).find(|(_, name)| is_it(name)).map(|(month, _)| month)
}

/// The year that four digits are, from 1000 to 2999: other numbers of four digits are seldom meant as one.
pub fn year(text: &str) -> Option<u32> {
    number(text, 4..=4).filter(|year| (1000..=2999).contains(year))
}

/// The day or the month that one or two digits may be.
pub fn day_or_month(text: &str) -> Option<u32> {
    number(text, 1..=2)
}

/// The number that so many digits are.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let is_number = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// How many days a month, from 1, has in that year of the Gregorian calendar.
pub fn days_of_month(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_named_in_full_or_by_three_letters() {
        for (text, expected) in [
            ("January", Some(1)),
            ("MAY", Some(5)),
            ("sep", Some(9)),
            ("Sept", None),
            ("Ju", None),
            ("é", None),
        ] {
            assert_eq!(month_named(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_have_the_digits_of_what_they_are() {
        assert_eq!(
            [year("2013"), year("0999"), year("3000"), year("+201"), year("213")],
            [Some(2013), None, None, None, None]
        );
        assert_eq!(
            [day_or_month("7"), day_or_month("07"), day_or_month("007"), day_or_month("")],
            [Some(7), Some(7), None, None]
        );
    }

    #[test]
    fn february_is_longer_in_a_leap_year() {
        let days = [(2012, 2), (1900, 2), (2000, 2), (2013, 4), (2013, 12)];
        assert_eq!(days.map(|(year, month)| days_of_month(year, month)), [29, 28, 29, 30, 31]);
    }
}
