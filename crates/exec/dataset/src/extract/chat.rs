//! Whether answers were given with the chat around their SQL, so that a note can say what to do.

use sqlgauge_base::counted;

use super::{Removed, extract_sql};
use crate::model::PredictionSet;

/// What only chat has around SQL. Words and statements behind a query may be a query that is wrong.
const CHAT: [Removed; 7] = [
    Removed::Thinking,
    Removed::Draft,
    Removed::Marker,
    Removed::CodeFence,
    Removed::Json,
    Removed::Label,
    Removed::Preamble,
];

/// A note, where a third or more of the answers of a system have chat around their SQL.
pub fn chat_note(set: &PredictionSet) -> Option<String> {
    let answers = set.predictions.iter().flatten().filter(|answer| !answer.sql.trim().is_empty());
    let (mut all, mut chat) = (0_usize, 0_usize);
    for answer in answers {
        all += 1;
        chat += usize::from(looks_like_chat(&answer.sql));
    }
    (chat > 0 && chat * 3 >= all).then(|| {
        let verb = if all == 1 { "looks" } else { "look" };
        format!(
            "{chat} of {} {verb} like chat: `--extract-sql` takes the query out of them",
            counted(all, "answer")
        )
    })
}

fn looks_like_chat(text: &str) -> bool {
    extract_sql(text).removed.iter().any(|removed| CHAT.contains(removed))
}
