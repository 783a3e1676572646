//! Calls: those whose arguments words separate, and functions that SQLite lacks.

use sqlgauge_sql::functions::{Function, FunctionKind};

use super::tokens::{Kind, Quotes, Token};
use super::words::is_keyword;
use super::{begins_query, closings, level};

/// Tokens by their place, and what stands there instead.
type Edits = Vec<(std::ops::Range<usize>, Vec<Token>)>;

/// Calls with words between their arguments, as calls with commas.
pub(super) fn special(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let closing = closings(tokens);
    let mut edits = Edits::new();
    for at in 0..tokens.len() {
        let Some(close) = closing.get(at + 1).copied().flatten() else { continue };
        if tokens[at].kind == Kind::Word {
            separate(tokens, at, close, &closing, &mut edits);
        }
    }
    edited(tokens, edits)
}

fn separate(tokens: &[Token], at: usize, close: usize, closing: &[Option<usize>], edits: &mut Edits) {
    let inside = || level(closing, at + 2, close);
    let find = |words: &[&str]| inside().find(|&place| tokens[place].is(words));
    let comma = |place: usize| (place..place + 1, vec![Token::sign(",")]);
    match tokens[at].text.to_ascii_uppercase().as_str() {
        "EXTRACT" => edits.extend(find(&["FROM"]).map(|from| (at + 2..from + 1, Vec::new()))),
        "POSITION" => edits.extend(find(&["IN"]).map(comma)),
        "SUBSTRING" | "SUBSTR" | "OVERLAY" => {
            edits.extend(inside().filter(|&place| tokens[place].is(&["FROM", "FOR", "PLACING"])).map(comma));
        }
        "TRIM" => {
            let begin = at + 2 + usize::from(tokens[at + 2].is(&["BOTH", "LEADING", "TRAILING"]));
            if begin > at + 2 {
                edits.push((at + 2..begin, Vec::new()));
            }
            edits.extend(
                find(&["FROM"])
                    .map(|from| if from == begin { (from..from + 1, Vec::new()) } else { comma(from) }),
            );
        }
        "CAST" | "TRY_CAST" => {
            if let Some(of) = inside().filter(|&place| tokens[place].is(&["AS"])).last() {
                edits.push((at..at + 1, vec![Token::word("CAST")]));
                edits.push((of..close, ["AS", "TEXT"].map(Token::word).to_vec()));
            }
        }
        "CONVERT" => {
            let end = inside().find(|&place| tokens[place].is_sign(",") || tokens[place].is(&["USING"]));
            edits.extend(end.map(|end| (end..close, Vec::new())));
        }
        // Their first argument is a unit of time.
        "TIMESTAMPDIFF" | "TIMESTAMPADD" => {
            edits.push((at + 2..at + 3, vec![Token::new(Kind::Text, tokens[at + 2].text.clone())]));
        }
        // `f(x) WITHIN GROUP (ORDER BY y)` is a call with an order inside.
        "GROUP" if at >= 2 && tokens[at - 1].is(&["WITHIN"]) && tokens[at - 2].is_sign(")") => {
            edits.push((at - 2..at + 2, Vec::new()));
        }
        "LEFT" | "RIGHT" | "IF" | "GROUPING" => {
            edits.push((at..at + 1, vec![Token::new(Kind::Name, tokens[at].text.to_ascii_lowercase())]));
        }
        // An alias of several columns counts as one value.
        "CURRENT_DATE" | "CURRENT_TIME" | "CURRENT_TIMESTAMP" => edits.push((at + 1..close + 1, Vec::new())),
        _ => {}
    }
}

/// The tokens with others in the place of some. Of two edits that overlap the first counts.
fn edited(tokens: &[Token], mut edits: Edits) -> Vec<Token> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (Vec::new(), 0);
    for (range, spelled) in edits {
        if range.start >= at {
            out.extend_from_slice(&tokens[at..range.start]);
            out.extend(spelled);
            at = range.end;
        }
    }
    out.extend_from_slice(&tokens[at..]);
    out
}

/// Aggregates of the three dialects that SQLite lacks.
const AGGREGATES: [&str; 16] = [
    "any_value",
    "every",
    "favg",
    "first",
    "fsum",
    "histogram",
    "kurtosis",
    "last",
    "list",
    "listagg",
    "max_by",
    "min_by",
    "mode",
    "product",
    "skewness",
    "corr",
];
/// How the names of others begin.
const FAMILIES: [&str; 19] = [
    "approx_",
    "arg_m",
    "argm",
    "array_agg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_",
    "covar",
    "json_agg",
    "json_arrayagg",
    "json_object_agg",
    "json_objectagg",
    "jsonb_agg",
    "jsonb_object_agg",
    "percentile",
    "quantile",
    "regr_",
    "std",
];

fn is_aggregate(name: &str) -> bool {
    let is_variance = matches!(name, "variance" | "var_pop" | "var_samp");
    is_variance || AGGREGATES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Words without parentheses that are calls.
const BARE: [&str; 6] =
    ["LOCALTIMESTAMP", "LOCALTIME", "CURRENT_USER", "SESSION_USER", "CURRENT_SCHEMA", "CURRENT_CATALOG"];

/// Functions that SQLite lacks, or with another number of arguments, as functions that it has.
pub(super) fn calls(tokens: &[Token], _: Quotes) -> Vec<Token> {
    let closing = closings(tokens);
    let mut edits = Edits::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        let close = closing.get(at + 1).copied().flatten();
        // The empty set of a GROUPING SETS.
        let begins = before.is_some_and(|before| before.is_sign(",") || before.is_sign("("));
        if begins && closing[at] == Some(at + 1) {
            edits.push((at..at + 2, vec![Token::word("NULL")]));
        }
        if token.is(&BARE) && close.is_none() && before.is_none_or(|before| !before.is_sign(".")) {
            edits.push((at..at + 1, vec![Token::new(Kind::Text, "")]));
        }
        let Some(close) = close.filter(|_| is_call(tokens, at, close)) else { continue };
        // Behind the arguments of an aggregate may stand their order.
        let order = level(&closing, at + 2, close).find(|&place| tokens[place].is(&["ORDER"]));
        let commas: Vec<usize> = level(&closing, at + 2, order.unwrap_or(close))
            .filter(|&place| tokens[place].is_sign(","))
            .collect();
        let count = if at + 2 == close { 0 } else { commas.len() + 1 };
        let is_distinct = tokens[at + 2].is(&["DISTINCT"]);
        let name = token.text.to_ascii_lowercase();
        let function = Function::from_name(&name);
        let is_known = !matches!(function, Function::Unknown(_));
        let aggregates =
            is_aggregate(&name) || is_known && matches!(function.properties().kind, FunctionKind::Aggregate);
        if is_known
            && (tokens[at + 2].is_sign("*") || function.properties().takes(count))
            && !(is_distinct && count > 1)
        {
            continue;
        }
        let spelled = match count {
            0 => "pi",
            _ if aggregates => "max",
            _ => "concat",
        };
        edits.push((at..at + 1, vec![Token::word(spelled)]));
        if aggregates {
            edits.extend(commas.into_iter().map(|place| (place..place + 1, vec![Token::sign("||")])));
        }
    }
    edited(tokens, edits)
}

/// Whether a name before parentheses is that of a function, and not of a relation or a clause.
fn is_call(tokens: &[Token], at: usize, close: Option<usize>) -> bool {
    let Some(close) = close else { return false };
    let token = &tokens[at];
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let names_relation = before.is_some_and(|before| before.is(&["FROM", "JOIN", "WITH", "RECURSIVE", "AS"]));
    // A common table expression with its columns.
    let is_cte = tokens.get(close + 1).is_some_and(|next| next.is(&["AS"]))
        && tokens.get(close + 2).is_some_and(|next| next.is_sign("("))
        && begins_query(tokens.get(close + 3));
    let is_name = matches!(token.kind, Kind::Word | Kind::Name) && !is_keyword(token);
    is_name && !names_relation && !is_cte && !token.is(&["CAST"])
}
