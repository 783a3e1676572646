//! Lays a query out by clause, one per line, subqueries indented, so that two queries line up for the eye.

use crate::token::{DisplayToken, DisplayTokenKind};

/// One line of a laid out query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutLine {
    /// Steps of indentation.
    pub indent: usize,
    /// Positions of the tokens on the line, and whether a space stands before each.
    pub tokens: Vec<(usize, bool)>,
}

/// Clauses that begin a line of their own.
const CLAUSES: [&str; 10] =
    ["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "WINDOW"];
/// Words that may begin a join.
const JOINS: [&str; 7] = ["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL"];

/// The lines of a query, given its tokens (spaces included).
pub fn lines(tokens: &[DisplayToken<'_>]) -> Vec<LayoutLine> {
    let mut writer = Writer::default();
    let solid: Vec<usize> =
        (0..tokens.len()).filter(|i| tokens[*i].kind != DisplayTokenKind::Space).collect();
    for (position, &index) in solid.iter().enumerate() {
        let before = position.checked_sub(1).map(|p| &tokens[solid[p]]);
        let after = solid.get(position + 1).map(|&i| &tokens[i]);
        let spaced = index > 0 && tokens[index - 1].kind == DisplayTokenKind::Space;
        writer.put(index, &tokens[index], before, after, spaced);
    }
    writer.finish()
}

#[derive(Default)]
struct Writer {
    lines: Vec<LayoutLine>,
    current: Vec<(usize, bool)>,
    /// Indentation of the line being written, which is set by the token that begins it.
    indent: usize,
    /// One entry per open parenthesis: whether it holds a query.
    open: Vec<bool>,
    /// An open BETWEEN, whose AND joins no conditions.
    between: bool,
}

impl Writer {
    fn put(
        &mut self,
        index: usize,
        token: &DisplayToken<'_>,
        before: Option<&DisplayToken<'_>>,
        after: Option<&DisplayToken<'_>>,
        spaced: bool,
    ) {
        let begins_query = |t: &DisplayToken<'_>| t.is("SELECT") || t.is("WITH") || t.is("VALUES");
        let in_query = self.open.last().copied().unwrap_or(true);
        if token.text == ")" {
            if self.open.pop() == Some(true) {
                self.break_line(0);
            }
        } else if in_query && self.starts_line(token, before) {
            self.break_line(usize::from(is_any(token, &["AND", "OR"]) || is_any(token, &JOINS)));
        }
        if token.is("BETWEEN") {
            self.between = true;
        } else if token.is("AND") {
            self.between = false;
        }
        let space = spaced && !self.current.is_empty() && !matches!(token.text, "," | ";");
        self.current.push((index, space));
        if token.text == "(" {
            let query = after.is_some_and(begins_query);
            self.open.push(query);
            if query {
                self.break_line(0);
            }
        } else if token.kind == DisplayTokenKind::Comment && token.text.starts_with("--") {
            self.break_line(0);
        }
    }

    fn starts_line(&self, token: &DisplayToken<'_>, before: Option<&DisplayToken<'_>>) -> bool {
        let after_set_operator =
            before.is_some_and(|b| is_any(b, &["UNION", "INTERSECT", "EXCEPT", "ALL"])) && token.is("SELECT");
        let join = is_any(token, &JOINS) && !before.is_some_and(|b| is_any(b, &JOINS) || b.is("OUTER"));
        let condition = token.is("OR") || (token.is("AND") && !self.between);
        is_any(token, &CLAUSES) || after_set_operator || join || condition
    }

    fn break_line(&mut self, extra: usize) {
        if !self.current.is_empty() {
            self.lines.push(LayoutLine { indent: self.indent, tokens: std::mem::take(&mut self.current) });
        }
        self.indent = self.open.iter().filter(|query| **query).count() + extra;
    }

    fn finish(mut self) -> Vec<LayoutLine> {
        self.break_line(0);
        self.lines
    }
}

fn is_any(token: &DisplayToken<'_>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| token.is(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

    fn laid_out(sql: &str) -> String {
        let tokens = tokens(sql);
        let text = |line: &LayoutLine| {
            let indent = "  ".repeat(line.indent);
            line.tokens
                .iter()
                .fold(indent, |text, (i, space)| text + if *space { " " } else { "" } + tokens[*i].text)
        };
        lines(&tokens).iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_clause_begins_a_line() {
        let sql = "SELECT a ,  b FROM t AS x LEFT OUTER JOIN u ON x.i = u.i WHERE c BETWEEN 1 AND 2 AND d = 3 ORDER BY a";
        insta::assert_snapshot!(laid_out(sql), @r"
        SELECT a, b
        FROM t AS x
          LEFT OUTER JOIN u ON x.i = u.i
        WHERE c BETWEEN 1 AND 2
          AND d = 3
        ORDER BY a
        ");
    }

    #[test]
    fn a_subquery_is_indented_and_a_function_is_not() {
        let sql = "SELECT count(*), max(x) OVER (ORDER BY y) FROM t WHERE i IN (SELECT j FROM u WHERE k = 1) UNION SELECT 2";
        insta::assert_snapshot!(laid_out(sql), @r"
        SELECT count(*), max(x) OVER (ORDER BY y)
        FROM t
        WHERE i IN (
          SELECT j
          FROM u
          WHERE k = 1
        )
        UNION
        SELECT 2
        ");
    }
}
