//! A description of what is wanted.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Descriptive,
    name: "descriptive",
    description: "A description of what is wanted.",
    leaves_tables_out: false,
    groups_first: 20,
    share: 2,
};
