//! The same columns in another order.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "output-order",
    title: "columns in another order",
    about: "Both show the same columns, but not in the same order.",
    example: [
        "SELECT name, age FROM singer",
        "SELECT age, name FROM singer",
        "Yours gives the age and the name, in this order, the gold gives the name and the age.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let at = rest.outputs.clone();
    let mut left: Vec<usize> = at.clone();
    for &own in &at {
        let place =
            left.iter().position(|&other| pair.same(&pair.gold.outputs[own], &pair.yours.outputs[other]));
        let Some(place) = place else { return Ok(Vec::new()) };
        left.remove(place);
    }
    if at.is_empty() {
        return Ok(Vec::new());
    }
    rest.outputs.clear();
    let [yours, gold] = pair.both(
        |say| say.values(Side::Yours, &pair.yours.outputs),
        |say| say.values(Side::Gold, &pair.gold.outputs),
    )?;
    let both = pair.exchange(|clauses, other, _| clauses.outputs.clone_from(&other.outputs));
    let said = [format!("gives {yours}, in this order"), format!("gives {gold}")];
    Ok(vec![Slip::new(&CAUSE, said, both)])
}
