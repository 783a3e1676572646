//! As few words as possible, with signs for comparisons.

use crate::style::{Style, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: Style::Concise,
    name: "concise",
    description: "As few words as possible, with signs for comparisons.",
    leaves_tables_out: false,
    groups_first: 0,
};
