//! Texts that a database may well hold, made of those that the queries name.

use std::collections::BTreeSet;

use sqlgauge_sql::tree::{Expr, Literal, Query};
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

/// Texts on which functions of texts are tried: the constants of the queries, what they are patterns of, dates around them.
pub fn likely_texts(queries: [&Query; 2]) -> BTreeSet<Box<str>> {
    struct Texts(BTreeSet<String>);
    impl Visitor for Texts {
        fn expr(&mut self, expr: &Expr) {
            if let Expr::Literal(Literal::Text(text)) = expr {
                self.0.insert(text.clone());
            }
        }
    }
    let mut named = Texts(BTreeSet::new());
    queries.into_iter().for_each(|query| walk_query(&mut named, query));
    let mut texts: Vec<String> = COMMON.map(str::to_owned).to_vec();
    texts.extend(named.0.iter().flat_map(|text| near(text)));
    texts.truncate(MAX_TEXTS);
    texts.into_iter().map(String::into_boxed_str).collect()
}

/// The text without wildcards, and dates that it is a part of.
fn near(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, '%' | '*')).collect();
    let shape: String = plain.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let mut found = match shape.as_str() {
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
    found.push(plain);
    found
}
