//! Where `sqlparse` sees the first statement end: its count of blocks and parentheses, token by token.

use super::lexer::{Kind, is_space};

/// The state that decides where the first statement ends.
#[derive(Default)]
pub(super) struct Splitter {
    blocks: Vec<&'static str>,
    /// FOR or WHILE seen, LOOP or DO not yet.
    unconfirmed: Option<&'static str>,
    is_create: bool,
    seen_begin: bool,
    level: i64,
    complete: bool,
}

impl Splitter {
    /// Whether a terminator has been seen, so that anything but blanks and line comments starts the next
    /// statement.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn advance(&mut self, kind: Kind, value: &str) {
        self.level += self.level_change(kind, value);
        let is_begin = kind == Kind::Keyword && value.eq_ignore_ascii_case("BEGIN");
        if kind == Kind::Punctuation && value == ";" {
            self.seen_begin = false;
            if self.level <= 0 && !self.blocks.contains(&"BEGIN") {
                self.complete = true;
            }
        } else if kind == Kind::Keyword && value.split(is_space).next() == Some("GO") {
            self.complete = true;
        } else if !is_begin
            && !matches!(kind, Kind::Whitespace | Kind::Newline | Kind::LineComment | Kind::BlockComment)
        {
            self.seen_begin = false;
        }
    }

    fn level_change(&mut self, kind: Kind, value: &str) -> i64 {
        match (kind, value) {
            (Kind::Punctuation, ";") => {
                self.unconfirmed = None;
                let standalone_begin = std::mem::take(&mut self.seen_begin);
                return if standalone_begin { self.close(&["BEGIN"]) } else { 0 };
            }
            (Kind::Punctuation, "(") => return 1,
            (Kind::Punctuation, ")") => return -1,
            (Kind::Keyword | Kind::Subkeyword, _) => {}
            _ => return 0,
        }
        let word = value.to_uppercase();
        if kind == Kind::Subkeyword {
            self.is_create |= word.starts_with("CREATE");
            return 0;
        }
        if word == "DECLARE" && self.is_create && self.blocks.is_empty() {
            self.blocks.push("DECLARE");
            return 1;
        }
        if word == "BEGIN" {
            return self.begin();
        }
        let transaction = ["TRANSACTION", "WORK", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"];
        if self.seen_begin && transaction.contains(&word.as_str()) {
            self.seen_begin = false;
            return self.close(&["BEGIN"]);
        }
        if self.blocks.contains(&"BEGIN")
            && let Some(change) = self.open_nested(&word)
        {
            return change;
        }
        self.close_nested(&word)
    }

    fn begin(&mut self) -> i64 {
        self.seen_begin = true;
        let declared = self.blocks.last() == Some(&"DECLARE");
        if declared {
            self.blocks.pop();
        }
        self.blocks.push("BEGIN");
        i64::from(!declared)
    }

    /// Closes the innermost block if it is one of those.
    fn close(&mut self, kinds: &[&str]) -> i64 {
        let closes = self.blocks.last().is_some_and(|block| kinds.contains(block));
        if closes {
            self.blocks.pop();
        }
        -i64::from(closes)
    }

    fn open_nested(&mut self, word: &str) -> Option<i64> {
        match word {
            "FOR" => self.unconfirmed = Some("FOR"),
            "WHILE" => self.unconfirmed = Some("WHILE"),
            "LOOP" | "DO" => {
                let loop_kind = if word == "LOOP" { Some("LOOP") } else { None };
                self.blocks.push(self.unconfirmed.take().or(loop_kind)?);
                return Some(1);
            }
            "IF" => {
                self.blocks.push("IF");
                return Some(1);
            }
            "CASE" => {
                self.blocks.push("CASE");
                return Some(1);
            }
            _ => return None,
        }
        Some(0)
    }

    fn close_nested(&mut self, word: &str) -> i64 {
        match word {
            "END IF" => self.close(&["IF"]),
            "END FOR" => self.close(&["FOR"]),
            "END WHILE" => self.close(&["WHILE"]),
            "END LOOP" => self.close(&["LOOP", "FOR", "WHILE"]),
            "END CASE" => self.close(&["CASE"]),
            "END" => {
                self.blocks.pop();
                -1
            }
            _ => 0,
        }
    }
}
