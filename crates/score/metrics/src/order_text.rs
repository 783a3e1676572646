//! The order that a gold asks for, read off its text, where no parser of ours knows its dialect.
//!
//! The keys of the top-level ORDER BY that name no column of the result are fetched by running the gold with them as further
//! columns. If it then returns other rows, the order is not known. So a misreading costs the comparison of the order, never a
//! wrong one.

use std::sync::Arc;

use sqlgauge_engine::ResultSet;
use sqlgauge_engine::compare::GoldOrder;
use sqlgauge_sql::lex::{Token, words};

/// The order of a gold, given its rows. `run` returns the rows of a text on the gold's database.
pub(crate) fn order_of_text(
    sql: &str,
    gold: &ResultSet,
    run: impl Fn(&str) -> Option<Arc<ResultSet>>,
) -> GoldOrder {
    let top = top_level(sql);
    let Some(order) = top.windows(2).rposition(|pair| is(&pair[0], "ORDER") && is(&pair[1], "BY")) else {
        return GoldOrder::Unordered;
    };
    let Some(keys) = keys(sql, &top[order + 2..]) else {
        return GoldOrder::Unknown("the gold's sort keys cannot be read".to_owned());
    };
    let columns: Vec<Option<usize>> = keys.iter().map(|key| column_of(key, gold)).collect();
    if let Some(columns) = columns.iter().copied().collect::<Option<Vec<usize>>>() {
        return GoldOrder::from_keys(gold, &columns);
    }
    let Some(from) = place_of_columns(&top[..order]) else {
        return GoldOrder::Unknown("the gold's sort keys cannot be added to its columns".to_owned());
    };
    let added: Vec<&str> =
        keys.iter().zip(&columns).filter(|(_, at)| at.is_none()).map(|(key, _)| *key).collect();
    let (before, after) = sql.split_at(from);
    let text = format!("{before}, {} {after}", added.join(", "));
    let Some(wide) = run(&text) else {
        return GoldOrder::Unknown("the gold does not run with its sort keys added".to_owned());
    };
    if wide.len() != gold.len() || !gold.rows().zip(wide.rows()).all(|(row, wide)| wide.starts_with(row)) {
        return GoldOrder::Unknown("the gold returns other rows when its sort keys are added".to_owned());
    }
    let mut next = gold.width();
    let place = |at: Option<usize>| {
        at.unwrap_or_else(|| {
            next += 1;
            next - 1
        })
    };
    let places: Vec<usize> = columns.into_iter().map(place).collect();
    GoldOrder::from_keys(&wide, &places)
}

fn is(token: &Token<'_>, word: &str) -> bool {
    token.text.eq_ignore_ascii_case(word)
}

/// The tokens outside of parentheses; a pair of parentheses is its first token.
fn top_level(sql: &str) -> Vec<Token<'_>> {
    let mut depth = 0_usize;
    let mut top = Vec::new();
    for token in words(sql) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ if depth > 0 => continue,
            _ => {}
        }
        if depth <= 1 {
            top.push(token);
        }
    }
    top
}

/// The keys behind ORDER BY, without their directions.
fn keys<'a>(sql: &'a str, tokens: &[Token<'a>]) -> Option<Vec<&'a str>> {
    const ENDS: [&str; 5] = ["LIMIT", "OFFSET", "FETCH", "FOR", ";"];
    const DIRECTIONS: [&str; 5] = ["ASC", "DESC", "NULLS", "FIRST", "LAST"];
    let end = tokens.iter().position(|token| ENDS.iter().any(|word| is(token, word)));
    let stop = end.map_or(sql.len(), |at| tokens[at].range().start);
    let mut keys = Vec::new();
    for key in tokens[..end.unwrap_or(tokens.len())].split(|token| token.text == ",") {
        let first = key.first()?.range().start;
        if key.iter().any(|token| is(token, "USING")) {
            return None;
        }
        let direction = key.iter().position(|token| DIRECTIONS.iter().any(|word| is(token, word)));
        let behind = tokens
            .iter()
            .map(|token| token.range().start)
            .find(|start| *start > key[key.len() - 1].range().start);
        let last = direction.map_or(behind.unwrap_or(stop).min(stop), |at| key[at].range().start);
        keys.push(sql.get(first..last)?.trim());
    }
    Some(keys)
}

/// The column of the result that a key names or numbers.
fn column_of(key: &str, gold: &ResultSet) -> Option<usize> {
    if let Ok(number) = key.parse::<usize>() {
        return number.checked_sub(1).filter(|at| *at < gold.width());
    }
    let mut tokens = words(key);
    let name = tokens.next().filter(Token::is_name)?;
    if tokens.next().is_some() {
        return None;
    }
    let name = name.unquoted();
    let mut named = gold.columns.iter().enumerate().filter(|(_, column)| column.eq_ignore_ascii_case(&name));
    named.next().filter(|_| named.next().is_none()).map(|(at, _)| at)
}

/// Where further columns may be written: before the FROM of the only SELECT.
fn place_of_columns(top: &[Token<'_>]) -> Option<usize> {
    let is_set = |token: &Token<'_>| ["UNION", "INTERSECT", "EXCEPT"].iter().any(|word| is(token, word));
    let select = top.iter().rposition(|token| is(token, "SELECT"))?;
    if top.iter().any(is_set) {
        return None;
    }
    top[select..].iter().find(|token| is(token, "FROM")).map(|token| token.range().start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_engine::Value;

    fn rows(columns: &[&str], values: &[i64]) -> ResultSet {
        let columns = columns.iter().map(ToString::to_string).collect();
        ResultSet::new(columns, values.iter().map(|&value| Value::Integer(value)).collect())
    }

    #[test]
    fn keys_are_columns_numbers_or_fetched() {
        let gold = rows(&["a"], &[1, 1, 2]);
        let wide = rows(&["a", "b"], &[1, 5, 1, 6, 2, 6]);
        for (sql, sort_text, expected) in [
            ("SELECT a FROM t", None, GoldOrder::Unordered),
            ("SELECT a FROM (SELECT a FROM t ORDER BY a) x", None, GoldOrder::Unordered),
            ("SELECT a FROM t ORDER BY a DESC NULLS LAST LIMIT 3", None, GoldOrder::Runs(vec![2, 1])),
            ("SELECT a FROM t ORDER BY 1;", None, GoldOrder::Runs(vec![2, 1])),
            (
                "SELECT a FROM t ORDER BY t.b::int + (1), a",
                Some("SELECT a , t.b::int + (1) FROM t ORDER BY t.b::int + (1), a"),
                GoldOrder::Runs(vec![1, 1, 1]),
            ),
        ] {
            let run = |text: &str| {
                assert_eq!(Some(text), sort_text, "{sql}");
                Some(Arc::new(wide.clone()))
            };
            assert_eq!(order_of_text(sql, &gold, run), expected, "{sql}");
        }
        let other = |_: &str| Some(Arc::new(rows(&["a", "b"], &[2, 5, 1, 6, 1, 6])));
        assert!(matches!(order_of_text("SELECT a FROM t ORDER BY b", &gold, other), GoldOrder::Unknown(_)));
        let union = "SELECT a FROM t UNION SELECT b FROM u ORDER BY c";
        assert!(matches!(order_of_text(union, &gold, |_| None), GoldOrder::Unknown(_)));
    }
}
