//! The parts of a CREATE TABLE text that no pragma tells, or that none tells cheaply.
//!
//! Only tokens are looked at: strings, quoted names, comments, parentheses, words. That is enough because CHECK
//! is a reserved word: outside of quotes and of deeper parentheses it can only begin a constraint.

/// What the text of a CREATE statement says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TableText {
    /// CREATE VIRTUAL TABLE.
    pub(super) is_virtual: bool,
    /// The module of a virtual table.
    pub(super) module: Option<String>,
    /// WITHOUT ROWID.
    pub(super) without_rowid: bool,
    /// STRICT.
    pub(super) strict: bool,
    /// The texts of the CHECK constraints, without `CHECK` and its parentheses, in their order.
    pub(super) checks: Vec<String>,
}

impl TableText {
    /// Reads a statement that SQLite has accepted into its catalog.
    pub(super) fn read(sql: &str) -> Self {
        let mut text = Self::default();
        let mut depth = 0_usize;
        let mut check_at = None;
        let mut before = "";
        for (at, (start, token)) in tokens(sql).enumerate() {
            let is = |word: &str| token.eq_ignore_ascii_case(word);
            match (token, depth) {
                ("(", _) => {
                    depth += 1;
                    if depth == 2 && before.eq_ignore_ascii_case("CHECK") {
                        check_at = Some(start + 1);
                    }
                }
                (")", _) => {
                    if let Some(start_of_check) = check_at.take_if(|_| depth == 2) {
                        text.checks.push(sql[start_of_check..start].trim().to_owned());
                    }
                    depth = depth.saturating_sub(1);
                }
                // Behind the parentheses stand the options of the table, before them its name.
                (_, 0) if before == ")" || before == "," || before.eq_ignore_ascii_case("WITHOUT") => {
                    text.strict |= is("STRICT");
                    text.without_rowid |= is("ROWID");
                }
                (_, 0)
                    if text.is_virtual && text.module.is_none() && before.eq_ignore_ascii_case("USING") =>
                {
                    text.module = Some(token.trim_matches(['"', '`', '[', ']', '\'']).to_owned());
                }
                (_, 0) => text.is_virtual |= at == 1 && is("VIRTUAL"),
                _ => {}
            }
            before = token;
        }
        text
    }
}

/// The tokens of an SQL text with their byte positions, without space and comments.
fn tokens(sql: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = sql.get(at..).filter(|rest| !rest.is_empty())?;
            let start = at;
            let (is_token, length) = token(rest);
            at += length;
            if is_token {
                return Some((start, &rest[..length]));
            }
        }
    })
}

/// Whether `rest`, which is not empty, begins with a token rather than space or a comment; and its length.
fn token(rest: &str) -> (bool, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    let through = |end: Option<usize>, length: usize| end.map_or(rest.len(), |end| end + length);
    if rest.starts_with("--") {
        return (false, through(rest.find('\n'), 1));
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        return (false, inside.find("*/").map_or(rest.len(), |end| end + 4));
    }
    match first {
        '\'' | '"' | '`' => (true, through(rest[1..].find(first), 2)),
        '[' => (true, through(rest.find(']'), 1)),
        _ if first.is_ascii_whitespace() => (false, 1),
        _ if is_word(first) => (true, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
        _ => (true, first.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::TableText;

    #[test]
    fn checks_are_found_among_columns_and_constraints_only() {
        for (sql, expected) in [
            ("CREATE TABLE t(a)", vec![]),
            ("CREATE TABLE t(a CHECK (a > 0), b)", vec!["a > 0"]),
            ("CREATE TABLE t(a, CONSTRAINT c check( a IN (1, (2)) ), CHECK(b))", vec!["a IN (1, (2))", "b"]),
            ("CREATE TABLE t(\"check\" (1), [check] TEXT, `check`)", vec![]),
            ("CREATE TABLE t(a DEFAULT 'CHECK (x)', b -- CHECK (y)\n, c /* CHECK (z) */)", vec![]),
            ("CREATE TABLE t(a CHECK (a <> ')' AND a <> 'it''s (') )", vec!["a <> ')' AND a <> 'it''s ('"]),
            ("CREATE TABLE t(a CHECK /* why */ (a > 0 -- )\n))", vec!["a > 0 -- )"]),
            ("CREATE TABLE t(a AS (CHECK (1)))", vec![]),
            ("CREATE TABLE \"é(\"(a CHECK(length(a) < 3))", vec!["length(a) < 3"]),
            ("CREATE TABLE t(a CHECK (a", vec![]),
        ] {
            assert_eq!(TableText::read(sql).checks, expected, "{sql}");
        }
    }

    #[test]
    fn options_stand_behind_the_columns() {
        for (sql, without_rowid, strict) in [
            ("CREATE TABLE t(a)", false, false),
            ("CREATE TABLE strict(rowid)", false, false),
            ("CREATE TABLE t(a) STRICT", false, true),
            ("CREATE TABLE t(a) -- STRICT", false, false),
            ("CREATE TABLE t(a)without\nrowid", true, false),
            ("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID, STRICT", true, true),
            ("CREATE TABLE t(a PRIMARY KEY)strict,WITHOUT rowid", true, true),
        ] {
            let text = TableText::read(sql);
            assert_eq!((text.without_rowid, text.strict), (without_rowid, strict), "{sql}");
        }
    }

    #[test]
    fn virtual_tables_say_so() {
        assert!(TableText::read("create virtual TABLE t USING fts5(a)").is_virtual);
        assert!(!TableText::read("CREATE TABLE virtual(a)").is_virtual);
        for (sql, module) in [
            ("create virtual TABLE t USING fts5(a)", Some("fts5")),
            (
                "CREATE VIRTUAL TABLE IF NOT EXISTS \"using\" /* USING x */ using \"RTree\"(id,a,b)",
                Some("RTree"),
            ),
            ("CREATE VIRTUAL TABLE t USING dbstat", Some("dbstat")),
            ("CREATE TABLE t(using fts5)", None),
        ] {
            assert_eq!(TableText::read(sql).module.as_deref(), module, "{sql}");
        }
    }
}
