//! Texts that a database may well hold, made of those that the queries name.

use std::collections::BTreeSet;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query};
use sqlgauge_sql::visit::{Visitor, walk_query};

/// What databases hold, whatever is asked.
const COMMON: [&str; 13] = [
    "a",
    "b",
    "B",
    "1",
    "2",
    "10",
    "1.5",
    "2000-01-01",
    "2000-01-02",
    "2001-06-15",
    "2000-01-01 10:00:00",
    "10:30:00",
    "1:27.452",
];
/// Most texts.
const MAX_TEXTS: usize = 80;

/// Most characters of a text that is made of pieces.
const MAX_LENGTH: usize = 40;

/// A constant at a place of a text: the number of its first character, from 0.
type Piece = (usize, String);

/// Texts on which functions of texts are tried: the constants of the queries, what they are patterns of, dates around them,
/// and texts with constants where SUBSTR looks for them.
pub(crate) fn likely_texts(queries: [&Query; 2]) -> BTreeSet<Box<str>> {
    let mut texts: Vec<String> = COMMON.map(str::to_owned).to_vec();
    let mut named = BTreeSet::new();
    for query in queries {
        let mut collector = NamedTexts::default();
        walk_query(&mut collector, query);
        texts.extend(['x', '-', '0'].into_iter().filter_map(|filler| overlaid(&collector.pieces, filler)));
        named.extend(collector.texts);
    }
    texts.extend(named.iter().flat_map(|text| near(text)));
    texts.truncate(MAX_TEXTS);
    texts.into_iter().map(String::into_boxed_str).collect()
}

/// The texts that a query names, and those that SUBSTR is compared with.
#[derive(Default)]
struct NamedTexts {
    texts: BTreeSet<String>,
    pieces: BTreeSet<Piece>,
}

impl Visitor for NamedTexts {
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(Literal::Text(text)) => {
                self.texts.insert(text.clone());
            }
            Expr::Binary(BinaryOperator::Equal, left, right) => {
                self.pieces.extend(piece(left, right).or_else(|| piece(right, left)));
            }
            _ => {}
        }
    }
}

/// The constant at its place, of `SUBSTR(x, place, …) = 'constant'`.
fn piece(call: &Expr, other: &Expr) -> Option<Piece> {
    let Expr::Function { function: Function::Substr | Function::Substring, args } = call else { return None };
    let (Some(Expr::Literal(Literal::Integer(place))), Expr::Literal(literal)) =
        (args.as_slice().get(1), other)
    else {
        return None;
    };
    let text = match literal {
        Literal::Text(text) => text.clone(),
        Literal::Integer(number) => number.to_string(),
        _ => return None,
    };
    let place = usize::try_from(place.checked_sub(1)?).ok()?;
    (place + text.chars().count() <= MAX_LENGTH).then_some((place, text))
}

/// A text with all of the pieces, as far as they fit together, and the filler between them.
fn overlaid(pieces: &BTreeSet<Piece>, filler: char) -> Option<String> {
    let mut whole: Vec<char> = Vec::new();
    for (place, text) in pieces {
        let needed = place + text.chars().count();
        whole.resize(whole.len().max(needed), filler);
        whole.iter_mut().skip(*place).zip(text.chars()).for_each(|(letter, char)| *letter = char);
    }
    (!whole.is_empty()).then(|| whole.into_iter().collect())
}

/// The text without wildcards, and dates that it is a part of.
fn near(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, '%' | '*')).collect();
    let shape: String = plain.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let mut texts = match shape.as_str() {
        "0000" => {
            let year: i32 = plain.parse().unwrap_or(2000);
            (year - 1..=year + 1)
                .flat_map(|year| [format!("{year:04}-01-01"), format!("{year:04}-12-31")])
                .collect()
        }
        "0000-" | "0000-00" | "0000-00-" => {
            let begin = plain.trim_end_matches('-');
            let rest = if begin.len() == 4 { "-06-15" } else { "-15" };
            vec![format!("{begin}{rest}")]
        }
        "0000-00-00" => vec![format!("{plain} 10:00:00")],
        _ if plain.len() < text.len() => vec![format!("{plain}x"), format!("x{plain}")],
        _ => Vec::new(),
    };
    texts.push(plain);
    texts
}
