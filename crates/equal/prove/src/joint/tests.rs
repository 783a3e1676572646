//! What machines say of texts, alone and together, against a real SQLite.

use num_bigint::BigInt;
use sqlgauge_engine::Value as Stored;

use super::*;
use crate::oracle::{Function, Oracle, part_of};

/// A condition as the encoder has it: a call on the text `?1`, and what its value is compared with.
struct Case {
    template: &'static str,
    constant: Constant,
    machine: Machine,
}

fn case(template: &'static str, constant: &str) -> Case {
    let reading = Reading::of_sql(template).unwrap_or_else(|| panic!("{template} is not read"));
    let number = || Constant::Integer(BigInt::from(constant.parse::<i64>().unwrap()));
    let (constant, machine) = match reading {
        Reading::Text(stages) => {
            (Constant::Text(constant.into()), Machine::new(stages, Test::Order(constant.chars().collect())))
        }
        Reading::Number(measure) => (number(), Machine::new(Vec::new(), measure.test(&number()).unwrap())),
        Reading::Moment(stage) => {
            let mut oracle = Oracle::new();
            let days =
                oracle.function(Function { call: Call::Sql("julianday(?1)".into()), params: Vec::new() });
            let days = oracle.value(days, &[Constant::Text(constant.into())]).unwrap();
            let days = part_of(&days, FunctionPart::Real).unwrap();
            let Constant::Real(real) = &days else { panic!("{days:?}") };
            let text = calendar::text_of_days(real).unwrap();
            (days, Machine::new(vec![stage], Test::Order(text.chars().collect())))
        }
        Reading::Joined | Reading::Shown(_) => panic!("{template} is taken apart"),
    };
    Case { template, constant, machine }
}

/// How SQLite's value of the call compares with the constant; `None` for NULL.
fn by_sqlite(oracle: &mut Oracle, case: &Case, text: &str) -> Option<Ordering> {
    let function = Function { call: Call::Sql(case.template.into()), params: vec![Sort::Text] };
    let function = oracle.function(function);
    let value = oracle.value(function, &[Constant::Text(text.into())]).unwrap();
    let part = match (&value, &case.constant) {
        (Stored::Null, _) | (Stored::Real(_), Constant::Integer(_)) => return None,
        (_, Constant::Text(_)) => FunctionPart::Text,
        (_, Constant::Integer(_)) => FunctionPart::Integer,
        _ => FunctionPart::Real,
    };
    Some(part_of(&value, part).unwrap_or_else(|| panic!("{} {value:?}", case.template)).cmp(&case.constant))
}

fn by_machine(machine: &Machine, text: &str, all_times: bool) -> Answer {
    let mut state = vec![0; machine.size()];
    machine.begin(&mut state);
    text.chars().for_each(|char| machine.read(&mut state, char));
    machine.answer(&state, all_times)
}

fn of_texts() -> Vec<Case> {
    let conditions = [
        ("?1 LIKE 'a%B_'", "1"),
        ("?1 LIKE '%ab'", "0"),
        ("?1 LIKE 'a!%%' ESCAPE '!'", "1"),
        ("?1 LIKE ''", "1"),
        ("?1 GLOB 'a*[^a-y]'", "1"),
        ("?1 GLOB '[]x]?'", "1"),
        ("?1 GLOB '[a'", "1"),
        ("length(?1)", "2"),
        ("substr(?1, 2, 2)", "ab"),
        ("substr(?1, 0, 2)", "a"),
        ("substr(?1, 3)", "x"),
        ("upper(?1)", "ABX"),
        ("lower(?1)", "a b"),
        ("trim(?1)", "a"),
        ("ltrim(?1, 'ax')", "b"),
        ("rtrim(?1)", "a b"),
        ("substr(?1, -2)", "ab"),
        ("substr(?1, -3, 2)", "ax"),
        ("substr(?1, -2, 9)", "b"),
        ("substr(?1, -1, 0)", ""),
        ("replace(?1, 'aa', 'b')", "bab"),
        ("replace(?1, 'ab', '')", "xa"),
        ("replace(?1, '', 'x')", "aa"),
        ("replace(?1, 'aab', 'aa')", "aaa"),
        ("?1 || 'ab'", "xab"),
        ("'a' || ?1", "aab"),
        ("instr(?1, 'aab')", "2"),
        ("instr(?1, 'a')", "0"),
        ("CAST(?1 AS INTEGER)", "12"),
        ("CAST(?1 AS INTEGER)", "-1"),
        ("CAST(?1 AS INTEGER)", "0"),
        ("?1 + 0", "12"),
        ("CAST(?1 AS NUMERIC)", "-1"),
    ];
    conditions.map(|(template, constant)| case(template, constant)).into()
}

fn of_times() -> Vec<Case> {
    let conditions = [
        ("strftime('%Y', ?1)", "2020"),
        ("strftime('%Y', ?1)", "-0044"),
        ("strftime('%m', ?1)", "02"),
        ("strftime('%d', ?1)", "29"),
        ("strftime('%Y-%m', ?1)", "2020-03"),
        ("strftime('%m-%d', ?1)", "03-01"),
        ("strftime('%j', ?1)", "060"),
        ("strftime('%w', ?1)", "6"),
        ("strftime('%Y %w', ?1)", "2020 0"),
        ("date(?1, 'start of month')", "2020-03-01"),
        ("datetime(?1, 'start of year')", "2020-01-01 00:00:00"),
        ("date(?1, 'start of day')", "2020-02-29"),
        ("strftime('%H:%M', ?1)", "10:30"),
        ("strftime('%S', ?1)", "59"),
        ("strftime('%Y%%%d', ?1)", "2020%01"),
        ("date(?1)", "2020-02-29"),
        ("time(?1)", "10:30:00"),
        ("datetime(?1)", "2020-03-01 10:30:00"),
        ("julianday(?1)", "2020-03-01"),
        ("julianday(?1)", "2020-02-29 10:30:00.125"),
    ];
    conditions.map(|(template, constant)| case(template, constant)).into()
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    fn text(&mut self) -> String {
        let letters: Vec<char> = "aaabBxX yé%_-+]012é\t".chars().collect();
        (0..self.below(7)).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// What SQLite mostly reads as a time.
    fn time(&mut self) -> String {
        let year = self.of(&["2020", "2019", "2000", "1900", "0000", "0044", "9999", "202"]);
        let month = self.of(&["01", "02", "02", "03", "12", "13", "2"]);
        let day = self.of(&["01", "28", "29", "30", "31", "32"]);
        let date = format!("{}{year}-{month}-{day}", self.of(&["", "", "", "", "-", " "]));
        let hours = self.of(&["00", "10", "23", "24", "25"]);
        let time = format!(
            "{hours}:{}{}{}",
            self.of(&["00", "30", "59", "60"]),
            self.of(&["", "", ":00", ":59", ":59.9", ":59.999", ":59.9996", ":30.125"]),
            self.of(&["", "", "", "", "Z", "+05:00", " -14:00"]),
        );
        match self.below(8) {
            0 => time,
            1 => self.of(&["2458908.5", "2458909.0", "0", "1.25", "-1", "5373484.4", "x", ""]).to_owned(),
            2 | 3 => date,
            _ => format!("{date}{}{time}", self.of(&[" ", " ", "T", "  ", "", "x"])),
        }
    }
}

fn texts(count: usize, of: fn(&mut Dice) -> String) -> Vec<String> {
    let mut dice = Dice(7);
    (0..count).map(|_| of(&mut dice)).collect()
}

#[test]
fn a_machine_says_what_sqlite_does() {
    let mut oracle = Oracle::new();
    for (cases, texts) in [(of_texts(), texts(1_500, Dice::text)), (of_times(), texts(1_500, Dice::time))] {
        for case in &cases {
            let mut decided = 0;
            for text in &texts {
                let answer = by_machine(&case.machine, text, false);
                let expected = by_sqlite(&mut oracle, case, text);
                if let Answer::Is(ordering) = answer {
                    decided += 1;
                    assert_eq!(Some(ordering), expected, "{} of {text:?}", case.template);
                }
            }
            assert!(decided > 10, "{}: {decided} decided", case.template);
        }
    }
}

/// Each way has a text, and each text its way.
#[test]
fn the_ways_are_those_of_texts() {
    let mut oracle = Oracle::new();
    for (cases, texts) in [(of_texts(), texts(400, Dice::text)), (of_times(), texts(400, Dice::time))] {
        for pair in cases.windows(3).chain(cases.windows(2)) {
            let mut machines: Vec<Machine> = pair.iter().map(|case| case.machine.clone()).collect();
            machines.sort();
            machines.dedup();
            let case_of = |machine: &Machine| pair.iter().find(|case| case.machine == *machine).unwrap();
            let ways = ways_of(&machines, false).unwrap();
            for way in &ways {
                for (machine, answer) in machines.iter().zip(&way.answers) {
                    let case = case_of(machine);
                    if let Answer::Is(ordering) = answer {
                        let by_sqlite = by_sqlite(&mut oracle, case, &way.text);
                        assert_eq!(by_sqlite, Some(*ordering), "{} of {:?}", case.template, way.text);
                    }
                }
            }
            for text in &texts {
                let is_of = |way: &Way| {
                    machines.iter().zip(&way.answers).all(|(machine, answer)| match answer {
                        Answer::Is(ordering) => by_machine(machine, text, false) == Answer::Is(*ordering),
                        other => by_machine(machine, text, false) == *other,
                    })
                };
                assert!(ways.iter().any(is_of), "{text:?}");
            }
        }
    }
}

/// Whatever SQLite reads as a time, its functions show a day of a calendar and a time of day.
#[test]
fn all_times_show_what_a_calendar_has() {
    let mut oracle = Oracle::new();
    let texts = texts(600, Dice::time);
    let cases = of_times();
    let fields: Vec<&Case> = cases
        .iter()
        .filter(|case| {
            let stages = case.machine.stages();
            matches!(stages, [Stage::Date(rendering)] if rendering.is_of_fields())
        })
        .collect();
    let mut beyond = 0;
    for together in fields.windows(2) {
        let mut machines: Vec<Machine> = together.iter().map(|case| case.machine.clone()).collect();
        machines.sort();
        let case_of = |machine: &Machine| together.iter().find(|case| case.machine == *machine).unwrap();
        let ways = ways_of(&machines, true).unwrap();
        for text in &texts {
            let answers: Option<Vec<Answer>> = machines
                .iter()
                .map(|machine| by_sqlite(&mut oracle, case_of(machine), text).map(Answer::Is))
                .collect();
            let Some(answers) = answers else { continue };
            beyond += usize::from(by_machine(&machines[0], text, false) == Answer::NoTime);
            assert!(ways.iter().any(|way| way.answers == answers), "{text:?} {answers:?}");
        }
    }
    assert!(beyond > 500, "{beyond} of times that do not stand as they are read");
}

/// Years before the first, too, and days that are computed, each alone.
#[test]
fn a_time_that_does_not_stand_as_it_is_read_shows_some_day() {
    let mut oracle = Oracle::new();
    for case in of_times() {
        let ways = ways_of(std::slice::from_ref(&case.machine), true).unwrap();
        for text in texts(800, Dice::time) {
            if let Some(ordering) = by_sqlite(&mut oracle, &case, &text) {
                let is_known = ways.iter().any(|way| way.answers == [Answer::Is(ordering)]);
                assert!(is_known, "{} of {text:?}", case.template);
            }
        }
    }
}

/// Of a text that is not a time as it is read, all functions but starts are NULL, or none: the encoder rests on it.
#[test]
fn functions_of_times_are_null_together() {
    let mut oracle = Oracle::new();
    let is_start = |case: &&Case| case.template.contains("start of");
    let (starts, others): (Vec<Case>, Vec<Case>) = of_times().into_iter().partition(|case| is_start(&case));
    let mut early = 0;
    for text in texts(1_500, Dice::time).iter().map(String::as_str).chain(["1.5", "0.3"]) {
        let mut nulls = |cases: &[Case]| -> BTreeSet<bool> {
            cases.iter().map(|case| by_sqlite(&mut oracle, case, text).is_none()).collect()
        };
        assert_eq!(nulls(&others).len(), 1, "{text:?}");
        early += usize::from(nulls(&starts).contains(&true) && !nulls(&others).contains(&true));
    }
    assert!(early > 0, "no start is too early");
}

#[test]
fn the_weekday_of_every_year_is_that_of_sqlite() {
    let mut oracle = Oracle::new();
    let case = case("strftime('%w', ?1)", "3");
    for year in 0..=9_999 {
        let text = format!("{year:04}-03-01");
        let answer = by_machine(&case.machine, &text, false);
        assert_eq!(Answer::Is(by_sqlite(&mut oracle, &case, &text).unwrap()), answer, "{text}");
    }
}

/// The language of columns of dates is one in the search and here.
#[test]
fn a_column_of_dates_declares_the_same_everywhere() {
    let machine = Machine::new(Vec::new(), Test::Declared);
    for text in texts(4_000, Dice::time) {
        let is_declared = by_machine(&machine, &text, false) == Answer::Is(Ordering::Equal);
        assert_eq!(is_declared, sqlgauge_search::is_time_text(&text), "{text:?}");
    }
}
