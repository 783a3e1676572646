//! A command: show, list, find.

use crate::style::{Style, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: Style::Imperative,
    name: "imperative",
    description: "A command: show, list, find.",
    leaves_tables_out: false,
    groups_first: 30,
};
