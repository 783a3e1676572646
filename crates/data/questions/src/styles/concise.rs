//! As few words as possible, with signs for comparisons.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Concise,
    name: "concise",
    description: "As few words as possible, with signs for comparisons.",
    leaves_tables_out: false,
    groups_first: 0,
};
