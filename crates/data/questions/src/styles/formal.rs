//! Full and polite sentences with precise words.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Formal,
    name: "formal",
    description: "Full and polite sentences with precise words.",
    leaves_tables_out: false,
    groups_first: 30,
    share: 2,
};
