//! Recognises the parts of a column's values.

use sqlgauge_engine::Value;

use super::composition::{Composition, Content, End, Field};
use super::{ColumnSplit, CompositeKind, Subject, ValuesRefusal, date, in_message};
use crate::change::SplitPart;
use sqlgauge_names::{Domain, domains_of_words, full_words, like};
use sqlgauge_sql::PrintDialect;

/// Of 100 names, how many must have a blank for the column to be split: the others have no last name.
const WITH_LAST_NAME: usize = 60;
const ADDRESS_PARTS: usize = 4;
/// Longest prefix of a code.
const PREFIX_LETTERS: usize = 6;

/// What a person is to something else. As names of tables the words mean other things, so that no domain has them.
const OFFICES: [&str; 4] = ["chair", "contact", "head", "lead"];
/// Words of columns that only persons and animals have.
const OF_PERSONS: [&str; 9] =
    ["born", "birth", "birthday", "birthdate", "birthplace", "gender", "sex", "nationality", "hometown"];

/// A form of values, with the words by which the new columns are called in place of the last words of the old one.
struct Form {
    kind: CompositeKind,
    composition: Composition,
    names: Vec<Vec<String>>,
}

/// How a column is split, if all these values allow it.
///
/// # Errors
/// Why not, as [`ValuesRefusal`] lists.
pub fn split(subject: &Subject<'_>, values: &[Value]) -> Result<ColumnSplit, ValuesRefusal> {
    let present = || values.iter().filter(|value| **value != Value::Null);
    let texts: Vec<&str> =
        present().map(Value::as_str).collect::<Option<_>>().ok_or(ValuesRefusal::NotText)?;
    if texts.is_empty() {
        return Err(ValuesRefusal::NoValues);
    }
    let words = full_words(subject.column);
    let form = recognise(subject, &words, &texts).ok_or(ValuesRefusal::Unrecognised)?;
    if let Some(value) = present().find(|value| !form.composition.round_trips(value)) {
        return Err(ValuesRefusal::NoRoundTrip(in_message(value)));
    }
    let nullable = texts.len() < values.len();
    let column = PrintDialect::Sqlite.identifier(subject.column);
    let names = free_names(subject, &words, &form.names)?;
    let quoted: Vec<String> = names.iter().map(|name| PrintDialect::Sqlite.identifier(name)).collect();
    let whole = form.composition.sql_whole(&quoted, nullable);
    let fields = form.composition.fields.iter().zip(form.composition.sql_parts(&column));
    let parts = names.into_iter().zip(fields).enumerate().map(|(place, (name, (field, value)))| SplitPart {
        name,
        declared_type: Some(field.content.declared_type().to_owned()),
        not_null: !nullable && !form.composition.is_optional(place),
        value,
    });
    Ok(ColumnSplit { kind: form.kind, parts: parts.collect(), whole })
}

/// The names of the new columns: where one is taken, all begin with the words of the old name.
fn free_names(
    subject: &Subject<'_>,
    words: &[String],
    names: &[Vec<String>],
) -> Result<Vec<String>, ValuesRefusal> {
    let written = |words: &[String]| like(subject.column, subject.convention, words);
    let short: Vec<String> = names.iter().map(|words| written(words)).collect();
    let long: Vec<String> = names.iter().map(|name| written(&[words, name].concat())).collect();
    let conflict = |names: &[String]| names.iter().find(|name| subject.in_use.contains(name)).cloned();
    match (conflict(&short), conflict(&long)) {
        (None, _) => Ok(short),
        (Some(_), None) => Ok(long),
        (Some(name), Some(_)) => Err(ValuesRefusal::NameTaken(name)),
    }
}

fn recognise(subject: &Subject<'_>, words: &[String], texts: &[&str]) -> Option<Form> {
    dates(words, texts)
        .or_else(|| telephone(words, texts))
        .or_else(|| address(words, texts))
        .or_else(|| full_name(subject, words, texts))
        .or_else(|| code(words, texts))
}

fn dates(words: &[String], texts: &[&str]) -> Option<Form> {
    let (composition, units) = date::recognise(texts)?;
    let names = units.iter().map(|unit| of_date(words, unit.name())).collect();
    Some(Form { kind: CompositeKind::Date, composition, names })
}

/// `birth_date` has a `birth_year`, `date_of_birth` a `year_of_birth`, `created` a `created_year`.
fn of_date(words: &[String], unit: &str) -> Vec<String> {
    let dated = |word: &String| matches!(word.as_str(), "date" | "datetime" | "timestamp" | "day" | "time");
    let mut named = words.to_vec();
    if let Some(place) = named.iter().position(dated) {
        unit.clone_into(&mut named[place]);
        return named;
    }
    // `birthday` and `birthdate` are one word.
    let stem = named.last().and_then(|last| last.strip_suffix("date").or_else(|| last.strip_suffix("day")));
    if let Some(stem) = stem.filter(|stem| !stem.is_empty()).map(str::to_owned) {
        named.pop();
        named.push(stem);
    }
    named.push(unit.to_owned());
    named
}

fn full_name(subject: &Subject<'_>, words: &[String], texts: &[&str]) -> Option<Form> {
    let (last, before) = words.split_last()?;
    let qualifier = before
        .iter()
        .filter(|word| !matches!(word.as_str(), "full" | "complete"))
        .cloned()
        .collect::<Vec<_>>();
    let stem = match last.as_str() {
        "name" if qualifier.is_empty() => holds_persons(subject).then_some(qualifier)?,
        "name" => (is_person(&qualifier) || is_office(&qualifier)).then_some(qualifier)?,
        _ => is_person(words).then(|| words.to_vec())?,
    };
    let with_blank = texts.iter().filter(|text| text.trim().contains(' ')).count();
    if with_blank * 100 < texts.len() * WITH_LAST_NAME {
        return None;
    }
    let all = texts.iter().all(|text| text.contains(' '));
    let end = if all { End::At(" ".to_owned()) } else { End::AtIfAny(" ".to_owned()) };
    let named = |which: &str| [stem.clone(), vec![which.to_owned(), "name".to_owned()]].concat();
    let composition = Composition { fields: vec![text(end), text(End::Value)] };
    Some(Form { kind: CompositeKind::FullName, composition, names: vec![named("first"), named("last")] })
}

fn is_person(words: &[String]) -> bool {
    domains_of_words(words).contains(&Domain::named("person"))
}

fn is_office(words: &[String]) -> bool {
    words.last().is_some_and(|word| OFFICES.contains(&word.as_str()))
}

/// Whether the rows of the table are persons: by its name or, where that tells nothing, by its columns.
fn holds_persons(subject: &Subject<'_>) -> bool {
    let table = full_words(subject.table);
    let of_persons =
        |column: &&str| full_words(column).iter().any(|word| OF_PERSONS.contains(&word.as_str()));
    is_person(&table) || domains_of_words(&table).is_empty() && subject.columns.iter().any(of_persons)
}

fn address(words: &[String], texts: &[&str]) -> Option<Form> {
    // `line_1` is that of an address.
    let numbered = words.first().is_some_and(|word| word == "line") && words.len() == 2;
    let streets =
        numbered || words.iter().any(|word| matches!(word.as_str(), "address" | "street" | "residence"));
    let place = |word: &String| {
        matches!(
            word.as_str(),
            "location" | "place" | "hometown" | "venue" | "headquarters" | "birthplace" | "site"
        )
    };
    if !streets && !words.iter().any(place) {
        return None;
    }
    let stem: Vec<String> = words
        .iter()
        .filter(|word| !place(word) && *word != "address" && *word != "street")
        .cloned()
        .collect();
    let (separators, names): (Vec<&str>, &[&str]) = if streets {
        (separators(texts), &["street line", "city", "state", "country"])
    } else {
        (separators(texts), &["city", "region", "country"])
    };
    if separators.is_empty() {
        return if streets { numbered_street(&stem, texts) } else { None };
    }
    let ends = separators.iter().map(|separator| End::At((*separator).to_owned())).chain([End::Value]);
    let fields: Vec<Field> = ends.take(ADDRESS_PARTS).map(text).collect();
    let with_stem = |name: &&str| [stem.clone(), name.split(' ').map(str::to_owned).collect()].concat();
    let names: Vec<Vec<String>> = names.iter().take(fields.len()).map(with_stem).collect();
    (names.len() == fields.len()).then_some(Form {
        kind: CompositeKind::Address,
        composition: Composition { fields },
        names,
    })
}

/// What stands between the parts of all texts: a line's end, then commas.
fn separators(texts: &[&str]) -> Vec<&'static str> {
    let mut rests = texts.to_vec();
    let mut separators = Vec::new();
    for separator in ["\n", ", ", ", "] {
        let cut: Option<Vec<&str>> =
            rests.iter().map(|rest| rest.split_once(separator).map(|(_, rest)| rest)).collect();
        if let Some(cut) = cut {
            separators.push(separator);
            rests = cut;
        }
    }
    separators
}

fn numbered_street(stem: &[String], texts: &[&str]) -> Option<Form> {
    let numbered = |text: &&str| {
        text.split_once(' ')
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let named = |name: &str| [stem.to_vec(), vec!["street".to_owned(), name.to_owned()]].concat();
    texts.iter().all(numbered).then(|| Form {
        kind: CompositeKind::Address,
        // Numbers of houses keep their zeros.
        composition: Composition { fields: vec![text(End::At(" ".to_owned())), text(End::Value)] },
        names: vec![named("number"), named("name")],
    })
}

fn telephone(words: &[String], texts: &[&str]) -> Option<Form> {
    let telephone =
        |word: &String| matches!(word.as_str(), "phone" | "telephone" | "fax" | "mobile" | "cell");
    words.iter().any(telephone).then_some(())?;
    let area = |text: &&str| {
        text.split_once('-').is_some_and(|(area, rest)| area.len() == 3 && rest.len() >= 6)
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let stem: Vec<String> = words.iter().filter(|word| *word != "number").cloned().collect();
    let named = |names: &[&str]| [stem.clone(), names.iter().map(|&name| name.to_owned()).collect()].concat();
    texts.iter().all(area).then(|| Form {
        kind: CompositeKind::Telephone,
        composition: Composition { fields: vec![text(End::At("-".to_owned())), text(End::Value)] },
        names: vec![named(&["area", "code"]), named(&["local", "number"])],
    })
}

fn code(words: &[String], texts: &[&str]) -> Option<Form> {
    let coded = |word: &String| {
        matches!(
            word.as_str(),
            "code"
                | "number"
                | "id"
                | "identifier"
                | "symbol"
                | "sku"
                | "serial"
                | "series"
                | "room"
                | "plate"
        )
    };
    let mut stem = words.to_vec();
    stem.last().filter(|word| coded(word))?;
    let cuts: Vec<(&str, &str, &str)> = texts.iter().map(|text| prefix(text)).collect::<Option<_>>()?;
    let (_, between, _) = *cuts.first()?;
    if !cuts.iter().all(|(_, other, _)| *other == between) {
        return None;
    }
    let canonical = cuts.iter().all(|(_, _, digits)| !digits.starts_with('0') || *digits == "0");
    let content = if canonical { Content::Integer } else { Content::Text };
    let end = if between.is_empty() { End::Digits } else { End::At(between.to_owned()) };
    if stem.len() > 1 {
        stem.pop();
    }
    let named = |name: &str| [stem.clone(), vec![name.to_owned()]].concat();
    let composition = Composition { fields: vec![text(end), Field { content, end: End::Value }] };
    Some(Form { kind: CompositeKind::Code, composition, names: vec![named("prefix"), named("serial")] })
}

/// Letters, or digits that a sign ends, what stands between, and digits.
fn prefix(text: &str) -> Option<(&str, &str, &str)> {
    let is_letter = char::is_alphabetic;
    let of_prefix = |c: char| if text.starts_with(is_letter) { is_letter(c) } else { c.is_ascii_digit() };
    let (prefix, rest) = text.split_at(text.find(|c| !of_prefix(c))?);
    let digits = rest.find(|c: char| c.is_ascii_digit())?;
    let (between, digits) = rest.split_at(digits);
    let fits = (1..=PREFIX_LETTERS).contains(&prefix.chars().count())
        && ["", "-", "_", "/", ".", " "].contains(&between)
        // Digits with a point between them are a number.
        && !(prefix.starts_with(|c: char| c.is_ascii_digit()) && between == ".")
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some((prefix, between, digits))
}

fn text(end: End) -> Field {
    Field { content: Content::Text, end }
}
