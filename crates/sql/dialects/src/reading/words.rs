//! What stands between names and calls: casts, brackets, operators, clauses.

use super::tokens::{Kind, Quotes, Token};
use super::{begins_query, closings};

/// Keywords behind which an operand begins, or a clause: none of them is an operand.
const KEYWORDS: [&str; 46] = [
    "ALL",
    "AND",
    "ANY",
    "AS",
    "BETWEEN",
    "BY",
    "CASE",
    "COLLATE",
    "DISTINCT",
    "DIV",
    "ELSE",
    "ESCAPE",
    "EXCEPT",
    "EXISTS",
    "FILTER",
    "FROM",
    "GLOB",
    "GROUP",
    "GROUPS",
    "HAVING",
    "ILIKE",
    "IN",
    "INTERSECT",
    "INTERVAL",
    "IS",
    "JOIN",
    "LIKE",
    "LIMIT",
    "MATERIALIZED",
    "NOT",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "RANGE",
    "RECURSIVE",
    "ROWS",
    "SELECT",
    "SOME",
    "THEN",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
];

/// Whether a word is a keyword behind which an operand begins.
pub(super) fn is_keyword(token: &Token) -> bool {
    token.is(&KEYWORDS) || token.is(&["WITH", "WINDOW", "PARTITION", "XOR", "RLIKE", "REGEXP", "LATERAL"])
}

/// Whether an operand ends with a token.
fn ends_operand(token: Option<&Token>) -> bool {
    token.is_some_and(|token| match token.kind {
        Kind::Name | Kind::Text | Kind::Number => true,
        Kind::Word => !is_keyword(token),
        Kind::Sign => matches!(token.text.as_str(), ")" | "]" | "}" | "?"),
    })
}

/// Without `::type`.
pub(super) fn casts(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is_sign("::") {
            at = end_of_type(tokens, at + 1);
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// Behind a type that begins there.
fn end_of_type(tokens: &[Token], from: usize) -> usize {
    let is = |at: usize, words: &[&str]| tokens.get(at).is_some_and(|token| token.is(words));
    let is_sign = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is_sign(sign));
    let group = |at: usize| {
        let end = tokens.get(at..)?.iter().position(|token| token.is_sign(")"))?;
        is_sign(at, "(").then_some(at + end + 1)
    };
    let mut at = from + 1;
    while is_sign(at, ".") {
        at += 2;
    }
    if (is(from, &["DOUBLE"]) && is(at, &["PRECISION"]))
        || (is(from, &["CHARACTER", "CHAR", "BIT"]) && is(at, &["VARYING"]))
    {
        at += 1;
    }
    at = group(at).unwrap_or(at);
    if is(from, &["TIME", "TIMESTAMP"]) && is(at, &["WITH", "WITHOUT"]) && is(at + 1, &["TIME"]) {
        at += 3;
    }
    while is_sign(at, "[") {
        at += if is_sign(at + 1, "]") { 2 } else { 3 };
    }
    at
}

/// Names without the schema that a table is in: `public.t`, `s.t.a`, and what is read as `s.t` in FROM.
pub(super) fn qualifiers(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let is_name =
        |at: usize| tokens.get(at).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Name));
    let is_point = |at: usize| tokens.get(at).is_some_and(|token| token.is_sign("."));
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begins = is_name(at) && is_point(at + 1) && is_name(at + 2);
        let is_read = match out.as_slice() {
            [.., before, last] if before.is(&["DISTINCT"]) && last.is(&["FROM"]) => false,
            [.., last] => last.is(&["FROM", "JOIN"]),
            [] => false,
        };
        let is_schema = ["public", "main"].iter().any(|schema| tokens[at].text.eq_ignore_ascii_case(schema));
        if begins
            && !out.last().is_some_and(|last| last.is_sign("."))
            && (is_read || is_schema || is_point(at + 3))
        {
            at += 2;
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// `ARRAY[a, b]` as a call, `a[1]` as `a -> (1)`, `{'k': v}` as a call.
pub(super) fn brackets(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = out.last();
        let is_array = before.is_some_and(|token| token.is(&["ARRAY"]));
        match (token.kind, token.text.as_str()) {
            (Kind::Sign, "[") if is_array => out.push(Token::sign("(")),
            (Kind::Sign, "[") if ends_operand(before) => {
                open.push("[");
                out.extend([Token::sign("->"), Token::sign("(")]);
                continue;
            }
            (Kind::Sign, "[" | "{") => out.extend([Token::word("array"), Token::sign("(")]),
            (Kind::Sign, "]" | "}") => {
                open.pop();
                out.push(Token::sign(")"));
                continue;
            }
            (Kind::Sign, ":") if open.last() == Some(&"[") => {
                out.extend([Token::sign("+")]);
                continue;
            }
            (Kind::Sign, ":") if !open.is_empty() => {
                out.push(Token::sign(","));
                continue;
            }
            // A subquery as an array is one as a value.
            (Kind::Sign, "(") if is_array && begins_query(tokens.get(at + 1)) => {
                out.pop();
                out.push(token.clone());
            }
            _ => out.push(token.clone()),
        }
        if matches!(token.text.as_str(), "[" | "{") && token.kind == Kind::Sign {
            open.push("{");
        }
    }
    out
}

/// Operators that SQLite lacks as operators of the same kind.
pub(super) fn operators(tokens: &[Token], quotes: Quotes) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let next = tokens.get(at + 1);
        let is_infix = ends_operand(out.last());
        at += 1;
        if token.kind == Kind::Sign {
            out.extend(spelled_sign(&token.text, quotes, is_infix).iter().map(|text| Token {
                kind: if text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                    Kind::Word
                } else {
                    Kind::Sign
                },
                text: (*text).to_owned(),
            }));
        } else if token.is(&["ILIKE", "RLIKE", "REGEXP"]) {
            out.push(Token::word("LIKE"));
        } else if token.is(&["SIMILAR"]) && next.is_some_and(|next| next.is(&["TO"])) {
            out.push(Token::word("LIKE"));
            at += 1;
        } else if quotes.is_mysql && is_infix && token.is(&["DIV", "MOD"]) {
            out.push(Token::sign("/"));
        } else if quotes.is_mysql && is_infix && token.is(&["XOR"]) {
            out.push(Token::sign("<>"));
        } else if is_infix && token.is(&["OVERLAPS"]) {
            out.push(Token::sign("="));
        } else if token.is(&["ANY", "ALL", "SOME"]) && out.last().is_some_and(compares) {
            // The operand behind it is compared.
        } else if token.is(&["SYMMETRIC", "ASYMMETRIC"])
            && out.last().is_some_and(|last| last.is(&["BETWEEN"]))
        {
        } else if token.is(&["UNKNOWN"]) && out.last().is_some_and(|last| last.is(&["IS", "NOT"])) {
            out.push(Token::word("NULL"));
        } else if is_infix && token.is(&["AT"]) && next.is_some_and(|next| next.is(&["TIME"])) {
            out.push(Token::sign("||"));
            at += 2;
        } else {
            out.push(token.clone());
        }
    }
    out
}

fn compares(token: &Token) -> bool {
    token.kind == Kind::Sign
        && matches!(token.text.as_str(), "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "==")
        || token.is(&["LIKE"])
}

/// What an operator becomes.
fn spelled_sign(sign: &str, quotes: Quotes, is_infix: bool) -> Vec<&str> {
    match sign {
        "~" if !is_infix => vec!["~"],
        "~" | "~*" | "~~" | "~~*" => vec!["LIKE"],
        "!~" | "!~*" | "!~~" | "!~~*" => vec!["NOT", "LIKE"],
        "<=>" => vec!["IS"],
        "?" if is_infix => vec!["="],
        "&&" if quotes.is_mysql => vec!["AND"],
        "||" if quotes.is_mysql => vec!["OR"],
        "@>" | "<@" | "@@" | "?|" | "?&" | ":=" | "&&" => vec!["="],
        "#>" | "#>>" => vec!["->"],
        "#" | "^" if is_infix => vec!["|"],
        "//" | "**" => vec!["/"],
        "!" => vec!["NOT"],
        "@" | "#" => vec![],
        other => vec![other],
    }
}

/// What clauses have that SQLite's have not.
pub(super) fn clauses(tokens: &[Token], quotes: Quotes) -> Vec<Token> {
    let closing = closings(tokens);
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((spelled, length)) = clause(tokens, at, &closing, &out, quotes) {
            out.extend(spelled);
            at += length;
            continue;
        }
        let token = &tokens[at];
        let is_named =
            token.kind == Kind::Word && out.last().is_some_and(|last| last.is_sign(".") || last.is(&["AS"]));
        out.push(if is_named { Token::new(Kind::Name, token.text.clone()) } else { token.clone() });
        at += 1;
    }
    out
}

/// What stands in the place of the words that begin there, and how many they are.
fn clause(
    tokens: &[Token],
    at: usize,
    closing: &[Option<usize>],
    out: &[Token],
    quotes: Quotes,
) -> Option<(Vec<Token>, usize)> {
    let token = &tokens[at];
    let is = |by: usize, words: &[&str]| tokens.get(at + by).is_some_and(|token| token.is(words));
    let kind = |by: usize| tokens.get(at + by).map(|token| token.kind);
    let group = |by: usize| closing.get(at + by).copied().flatten().map(|end| end + 1 - at);
    let follows = |words: &[&str]| out.last().is_some_and(|last| last.is(words));
    let gone = |length: usize| Some((Vec::new(), length));
    if token.kind != Kind::Word || out.last().is_some_and(|last| last.is_sign(".")) {
        return None;
    }
    match token.text.to_ascii_uppercase().as_str() {
        "INTERVAL" if begins_interval(tokens, at, closing) => {
            Some((interval(tokens, at, closing)?, end_of_interval(tokens, at, closing)))
        }
        "DATE" | "TIME" | "TIMESTAMP" | "TIMESTAMPTZ" | "DATETIME" if kind(1) == Some(Kind::Text) => gone(1),
        "TIMESTAMP" | "TIME" if is(1, &["WITH", "WITHOUT"]) && is(2, &["TIME"]) => gone(4),
        "LATERAL" => gone(1),
        "ONLY" if follows(&["FROM", "JOIN"]) => gone(1),
        "STRAIGHT_JOIN" if follows(&["SELECT"]) => gone(1),
        "STRAIGHT_JOIN" => Some((vec![Token::word("JOIN")], 1)),
        "SQL_NO_CACHE" | "SQL_CACHE" | "SQL_CALC_FOUND_ROWS" | "HIGH_PRIORITY" | "DISTINCTROW"
            if follows(&["SELECT"]) =>
        {
            gone(1)
        }
        "USE" | "FORCE" | "IGNORE" if is(1, &["INDEX", "KEY"]) => gone(group(2)?),
        "SEPARATOR" if quotes.is_mysql && kind(1) == Some(Kind::Text) => gone(2),
        "BINARY" if quotes.is_mysql && !ends_operand(out.last()) => gone(1),
        "MATERIALIZED" if follows(&["AS"]) => gone(1),
        "NOT" if follows(&["AS"]) && is(1, &["MATERIALIZED"]) => gone(2),
        "LIMIT" if is(1, &["ALL"]) => gone(2),
        "OFFSET" if matches!(kind(1), Some(Kind::Number)) => gone(2 + usize::from(is(2, &["ROW", "ROWS"]))),
        "OFFSET" if tokens.get(at + 1).is_some_and(|next| next.is_sign("(") || next.is_sign("?")) => {
            gone(group(1).unwrap_or(2))
        }
        "FETCH" if is(1, &["FIRST", "NEXT"]) => Some(fetch(tokens, at)),
        "FROM" if is(1, &["DUAL"]) => gone(2),
        "DISTINCT" if is(1, &["ON"]) => {
            let length = group(2)?;
            let keys = tokens.get(at + 2..at + length)?;
            Some(([std::slice::from_ref(token), keys, &[Token::sign(",")]].concat(), length))
        }
        "GROUPING" if is(1, &["SETS"]) => Some((vec![Token::new(Kind::Name, "grouping_sets")], 2)),
        "WITH" if is(1, &["ROLLUP"]) => gone(2),
        "ALL" if follows(&["BY"]) => Some((vec![Token::word("NULL")], 1)),
        "TABLESAMPLE" => gone(group(2)?),
        "EXCLUDE" | "REPLACE" if is_star(out) => gone(group(1).unwrap_or(2)),
        "TABLE" if out.is_empty() => Some((["SELECT", "*", "FROM"].map(Token::word).to_vec(), 1)),
        // The columns of a relation, named behind it.
        "AS" if matches!(kind(1), Some(Kind::Word | Kind::Name))
            && !is(1, &["NOT", "MATERIALIZED"])
            && group(2).is_some() =>
        {
            let name = Token::new(Kind::Name, tokens.get(at + 1)?.text.clone());
            Some((vec![token.clone(), name], group(2)?))
        }
        _ => None,
    }
}

/// `(SELECT …) UNION …`: operands of set operations in parentheses, as subqueries in FROM.
pub(super) fn operands(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let closing = closings(tokens);
    let is_set =
        |token: Option<&Token>| token.is_some_and(|token| token.is(&["UNION", "INTERSECT", "EXCEPT"]));
    let is_operand = |at: usize| {
        let Some(close) = closing[at] else { return false };
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_later = is_set(before)
            || before.is_some_and(|token| token.is(&["ALL", "DISTINCT"]))
                && is_set(tokens.get(at.wrapping_sub(2)));
        let begins = before.is_none_or(|token| token.is_sign("(") || token.is(&["AS"]));
        begins_query(tokens.get(at + 1)) && (is_later || begins && is_set(tokens.get(close + 1)))
    };
    let spelled = |(at, token): (usize, &Token)| {
        let from =
            if is_operand(at) { ["SELECT", "*", "FROM"].map(Token::word).to_vec() } else { Vec::new() };
        [from, vec![token.clone()]].concat()
    };
    tokens.iter().enumerate().flat_map(spelled).collect()
}

/// Whether `*` or `t.*` stands there, and no product.
fn is_star(out: &[Token]) -> bool {
    let [.., before, star] = out else { return false };
    star.is_sign("*") && (before.is(&["SELECT", "DISTINCT"]) || before.is_sign(",") || before.is_sign("."))
}

const UNITS: [&str; 24] = [
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "SECONDS",
    "MINUTES",
    "HOURS",
    "DAYS",
    "WEEKS",
    "MONTHS",
    "YEARS",
    "DAY_HOUR",
    "DAY_MINUTE",
    "DAY_SECOND",
    "HOUR_MINUTE",
    "HOUR_SECOND",
    "MINUTE_SECOND",
    "YEAR_MONTH",
    "DECADE",
];

/// Whether the word is no name: an operand follows, and behind one in parentheses a unit.
fn begins_interval(tokens: &[Token], at: usize, closing: &[Option<usize>]) -> bool {
    let Some(next) = tokens.get(at + 1) else { return false };
    let close = closing.get(at + 1).copied().flatten();
    let is_group = || close.and_then(|close| tokens.get(close + 1)).is_some_and(|next| next.is(&UNITS));
    match next.kind {
        Kind::Sign => matches!(next.text.as_str(), "-" | "?") || is_group(),
        _ => !is_keyword(next),
    }
}

/// Where the unit of an interval stands: the next unit in no parentheses of its own, before what ends an operand. A text may hold
/// its units.
fn unit_of(tokens: &[Token], at: usize, closing: &[Option<usize>]) -> Option<usize> {
    let ends = |place: usize| {
        let token = &tokens[place];
        token.is_sign(",") || token.is_sign(")") || is_keyword(token)
    };
    super::level(closing, at + 1, tokens.len()).take_while(|&place| !ends(place)).find(|&place| {
        place > at + 1
            && tokens[place].is(&UNITS)
            && !tokens.get(place + 1).is_some_and(|next| next.is_sign("("))
    })
}

/// The operand of an interval.
fn interval(tokens: &[Token], at: usize, closing: &[Option<usize>]) -> Option<Vec<Token>> {
    let end = unit_of(tokens, at, closing).unwrap_or(at + 2);
    let operand = tokens.get(at + 1..end)?;
    Some([&[Token::sign("(")], operand, &[Token::sign(")")]].concat())
}

fn end_of_interval(tokens: &[Token], at: usize, closing: &[Option<usize>]) -> usize {
    let Some(unit) = unit_of(tokens, at, closing) else { return 2 };
    let is_range = tokens.get(unit + 1).is_some_and(|next| next.is(&["TO"]));
    unit + 1 - at + if is_range { 2 } else { 0 }
}

/// `FETCH FIRST n ROWS ONLY`.
fn fetch(tokens: &[Token], at: usize) -> (Vec<Token>, usize) {
    let number = tokens.get(at + 2).filter(|token| token.kind == Kind::Number);
    let words = tokens[at + 2..].iter().skip(usize::from(number.is_some()));
    let rest = words.take_while(|token| token.is(&["ROW", "ROWS", "ONLY", "WITH", "TIES"])).count();
    let one = Token::new(Kind::Number, "1");
    let length = 2 + usize::from(number.is_some()) + rest;
    (vec![Token::word("LIMIT"), number.cloned().unwrap_or(one)], length)
}
