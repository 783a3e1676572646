//! A command: show, list, find.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Imperative,
    name: "imperative",
    description: "A command: show, list, find.",
    leaves_tables_out: false,
    groups_first: 30,
    share: 4,
};
