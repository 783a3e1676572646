//! As few words as possible.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Concise,
    name: "concise",
    description: "As few words as possible.",
    leaves_tables_out: false,
    groups_first: 0,
    share: 2,
};
