//! More or fewer rows are kept.

use sqlgauge_sql::tree::Expr;

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clauses;
use crate::pair::{Pair, Rest, Side};
use crate::words::Words;

pub(super) static CAUSE: Cause = Cause {
    id: "limit",
    title: "another limit",
    about: "The queries keep another number of rows (LIMIT, OFFSET), or one of them keeps all.",
    example: [
        "SELECT name FROM singer ORDER BY age LIMIT 3",
        "SELECT name FROM singer ORDER BY age",
        "Yours keeps all rows, the gold keeps at most 3 rows.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.limit) {
        return Ok(Vec::new());
    }
    let said = pair.both(|say| kept(say, pair, Side::Yours), |say| kept(say, pair, Side::Gold))?;
    let both = pair.exchange(|clauses, other, _| {
        clauses.limit.clone_from(&other.limit);
        clauses.offset.clone_from(&other.offset);
    });
    Ok(vec![Slip::new(&CAUSE, said.map(|rows| format!("keeps {rows}")), both)])
}

fn kept(say: &Words<'_, '_>, pair: &Pair<'_>, side: Side) -> Option<String> {
    let Clauses { limit, offset, .. } = pair.clauses(side);
    let number = |expr: &Expr| say.value(side, expr);
    let rows = match limit {
        None => "all rows".to_owned(),
        Some(limit) => match number(limit)?.as_str() {
            "1" => "at most 1 row".to_owned(),
            count => format!("at most {count} rows"),
        },
    };
    Some(match offset {
        None => rows,
        Some(offset) => format!("{rows} after the first {}", number(offset)?),
    })
}
