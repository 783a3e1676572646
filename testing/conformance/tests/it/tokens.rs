//! The law of `sql::lex`: it cuts a text where SQLite does.
//!
//! Between two tokens a comment changes nothing, and inside of one it does. So SQLite prepares a text with a comment between
//! every two tokens exactly if it prepares the text, as long as all of them are legal; and a text with one that is not, it
//! refuses.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rusqlite::{Connection, OpenFlags};
use sqlgauge_base::Random;
use sqlgauge_conformance::{Statement, data, statements};
use sqlgauge_sql::lex::{tokens, words};

/// Whether SQLite prepares the first statement of a text; where it does not, what it says but for the place.
fn prepared(sqlite: &Connection, sql: &str) -> Result<(), String> {
    sqlite.prepare(sql).map(drop).map_err(|error| match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        other => other.to_string(),
    })
}

/// The tokens of a text with a comment between every two.
fn token_by_token(sql: &str) -> String {
    words(sql).map(|token| token.text).collect::<Vec<_>>().join("/**/")
}

/// The text with a character or two put in, taken out, or written over.
fn mutated(sql: &str, random: &mut Random) -> String {
    const PIECES: [&str; 28] = [
        " ", "\n", "\t", "\u{b}", "\u{c}", "\u{a0}", "\u{3000}", "\u{feff}", "'", "\"", "`", "[", "]", "/*",
        "*/", "--", "-", ".", "_", "1", "e", "x'", "$", ":", "(", "|", ">", "é",
    ];
    let mut characters: Vec<String> = sql.chars().map(String::from).collect();
    for _ in 0..=random.below(2) {
        let at = random.below(characters.len());
        let piece = random.pick(&PIECES).copied().unwrap_or_default().to_owned();
        match random.below(3) {
            _ if characters.is_empty() => characters.push(piece),
            0 => characters.insert(at, piece),
            1 => characters[at] = piece,
            _ => _ = characters.remove(at),
        }
    }
    characters.concat()
}

/// What SQLite thinks otherwise of.
fn wrong(sqlite: &Connection, sql: &str) -> Option<String> {
    assert_eq!(tokens(sql).map(|token| token.text).collect::<String>(), sql);
    let original = prepared(sqlite, sql);
    // What is put behind a token that is not legal may mend it, so that only the text itself is asked about.
    if !words(sql).all(|token| token.is_legal) {
        return original.is_ok().then(|| format!("a token that is not legal: {sql:?}"));
    }
    // Of a text that is refused the message may quote from it, with its spaces.
    let again = prepared(sqlite, &token_by_token(sql));
    (original.is_ok() != again.is_ok()).then(|| format!("{sql:?}: {original:?}, {again:?}"))
}

#[test]
#[ignore = "long: cargo xtask long"]
fn sqlite_prepares_the_tokens_of_what_it_prepares() {
    let Some(root) = data() else { return };
    let mut by_database: BTreeMap<_, Vec<Statement>> = BTreeMap::new();
    for statement in statements(&root) {
        by_database.entry(statement.database.clone()).or_default().push(statement);
    }
    let groups: Vec<_> = by_database.into_iter().enumerate().collect();
    let counts: Vec<(usize, usize, Vec<String>)> = groups
        .par_iter()
        .map(|(seed, (database, statements))| {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let sqlite = Connection::open_with_flags(database, flags).unwrap();
            let mut random = Random::new([*seed as u64]);
            let mut texts: Vec<String> = Vec::new();
            for statement in statements.iter().filter(|statement| !statement.sql.contains('\0')) {
                texts.extend((0..4).map(|_| mutated(&statement.sql, &mut random)));
                texts.push(statement.sql.clone());
            }
            let accepted = texts.iter().filter(|sql| prepared(&sqlite, sql).is_ok()).count();
            (texts.len(), accepted, texts.iter().filter_map(|sql| wrong(&sqlite, sql)).collect())
        })
        .collect();
    let texts: usize = counts.iter().map(|(texts, ..)| texts).sum();
    let accepted: usize = counts.iter().map(|(_, accepted, _)| accepted).sum();
    let wrong: Vec<&String> = counts.iter().flat_map(|(.., wrong)| wrong).collect();
    println!("{texts} texts, of which SQLite prepares {accepted}; {} it sees otherwise", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(accepted > 10_000 && texts - accepted > 10_000);
}

/// What separates two words for SQLite is what separates them here.
#[test]
fn sqlite_takes_the_same_for_white_space() {
    let sqlite = Connection::open_in_memory().unwrap();
    for code in (1..0x3100_u32).chain(0xfe00..0xff10) {
        let Some(character) = char::from_u32(code) else { continue };
        for between in [character.to_string(), format!(" {character}"), format!("\u{b}{character}")] {
            let sql = format!("SELECT 1{between}AS a");
            let separates = sqlite.prepare(&sql).is_ok_and(|statement| statement.column_name(0) == Ok("a"));
            let apart = words(&sql).map(|token| token.text).eq(["SELECT", "1", "AS", "a"]);
            assert_eq!(apart, separates, "{sql:?}");
        }
    }
}
