//! Images in the place of plain verbs.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Metaphorical,
    name: "metaphorical",
    description: "Images in the place of plain verbs.",
    leaves_tables_out: false,
    groups_first: 20,
    share: 1,
};
