//! A dialogue: what is shown first, then a clause in each turn.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::MultiTurn,
    name: "multi-turn",
    description: "A dialogue: what is shown first, then a clause in each turn.",
    leaves_tables_out: false,
    groups_first: 0,
    share: 1,
};
