//! A question: what, which.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Interrogative,
    name: "interrogative",
    description: "A question: what, which.",
    leaves_tables_out: false,
    groups_first: 50,
    share: 4,
};
