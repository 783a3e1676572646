//! Whether answers were given with the chat around their SQL, so that a note can say what to do.

use sqlgauge_base::counted;

use super::{Removed, extract_sql};

/// One in so many answers is enough for a note.
const ONE_IN: usize = 20;

/// A note, where a twentieth or more of the answers of a system have chat around their SQL.
pub fn chat_note<'t>(answers: impl Iterator<Item = &'t str>) -> Option<String> {
    let (mut all, mut chat) = (0_usize, 0_usize);
    for answer in answers.filter(|answer| !answer.trim().is_empty()) {
        all += 1;
        chat += usize::from(looks_like_chat(answer));
    }
    (chat > 0 && chat * ONE_IN >= all).then(|| {
        let verb = if all == 1 { "looks" } else { "look" };
        format!(
            "{chat} of {} {verb} like chat: `--extract-sql` takes the query out of them",
            counted(all, "answer")
        )
    })
}

fn looks_like_chat(text: &str) -> bool {
    let is_form = |removed: &Removed| matches!(removed, Removed::Quotes | Removed::Punctuation);
    extract_sql(text).removed.iter().any(|removed| !is_form(removed))
}
