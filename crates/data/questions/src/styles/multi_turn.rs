//! A dialogue: what is shown first, then a clause in each turn.

use crate::style::{Style, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: Style::MultiTurn,
    name: "multi-turn",
    description: "A dialogue: what is shown first, then a clause in each turn.",
    leaves_tables_out: false,
    groups_first: 0,
};
