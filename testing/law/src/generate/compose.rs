//! Queries put around, beside and into other queries, as text.

use sqlgauge_sql::lex::{self, TokenKind};
use sqlgauge_sql::resolve;

use super::free;
use crate::data::any_value;
use crate::dice::Dice;
use crate::shape::quoted;
use crate::world::World;

/// The query as a part of another.
pub(super) fn around(sql: &str, world: &World, dice: &mut Dice) -> String {
    let Ok(query) = resolve(sql, &world.schema) else { return sql.to_owned() };
    let width = query.width().max(1);
    let names: Vec<String> = (0..width).map(|n| format!("c{n}")).collect();
    let list = names.join(", ");
    let Some(table) = dice.pick_any(world.schema.tables()) else { return sql.to_owned() };
    let Some(column) = dice.pick_any(&table.columns) else { return sql.to_owned() };
    let (table, column) = (quoted(&table.name), quoted(&column.name));
    let cte = format!("WITH cq({list}) AS ({sql})");
    let operator = *dice.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
    let not = *dice.pick(&["", "", "NOT "]);
    match dice.below(12) {
        0 => format!("SELECT o.{column} FROM {table} AS o WHERE {not}EXISTS ({sql})"),
        1 => format!("{cte} SELECT {list} FROM cq WHERE c0 = {}", any_value(dice)),
        2 => {
            format!("{cte} SELECT o.{column} FROM {table} AS o WHERE o.{column} {not}IN (SELECT c0 FROM cq)")
        }
        3 => format!("{cte} SELECT o.{column}, (SELECT c0 FROM cq) FROM {table} AS o"),
        4 => format!(
            "{cte} SELECT {list} FROM cq {operator} SELECT {list} FROM cq WHERE c0 > {}",
            any_value(dice)
        ),
        5 => format!("{cte} SELECT c0, COUNT(*) FROM cq GROUP BY c0"),
        6 => format!("{cte} SELECT o.{column}, cq.c0 FROM {table} AS o LEFT JOIN cq ON cq.c0 = o.{column}"),
        7 => format!("SELECT COUNT(*) FROM ({sql})"),
        8 => format!("SELECT * FROM ({sql}) LIMIT {}", 1 + dice.below(2)),
        9 => format!("{cte} SELECT DISTINCT {list} FROM cq ORDER BY {}", 1 + dice.below(width)),
        10 => format!("SELECT o.{column} FROM {table} AS o WHERE o.{column} = ({sql})"),
        _ => {
            let other = free::query(&world.schema, dice);
            match resolve(&other, &world.schema) {
                Ok(query) if query.width() == width => {
                    format!("{cte} SELECT {list} FROM cq {operator} SELECT * FROM ({other})")
                }
                _ => format!("{cte} SELECT a.c0 FROM cq AS a JOIN cq AS b ON a.c0 = b.c0"),
            }
        }
    }
}

/// The same text with other letter case of its names and other quotes around them.
pub fn respelled(sql: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut tokens = lex::tokens(sql).peekable();
    while let Some(token) = tokens.next() {
        let is_word = token.kind == TokenKind::Word && token.text.is_ascii();
        let is_qualifier = is_word && tokens.peek().is_some_and(|next| next.text == ".");
        let spelled = match dice.below(4) {
            0 if is_word => token.text.to_ascii_uppercase(),
            1 if is_word => token.text.to_ascii_lowercase(),
            2 if is_qualifier => format!("`{}`", token.text),
            3 if is_qualifier => format!("[{}]", token.text),
            _ => token.text.to_owned(),
        };
        out.push_str(&spelled);
    }
    out
}
