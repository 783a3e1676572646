//! A question: what, which.

use crate::style::{Style, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: Style::Interrogative,
    name: "interrogative",
    description: "A question: what, which.",
    leaves_tables_out: false,
    groups_first: 50,
};
