//! Prints a resolved query for a dialect.
//!
//! One walk for all dialects. Whatever it prints, it has looked at the types first: a number beside a number, a text beside
//! a text, a condition where a condition is wanted. What it has no words for ends the walk with [`Refused`]; nothing is
//! left out and nothing similar is written instead. Conditions ([`condition`](self::condition)) and values
//! ([`value`](self::value)) are two things, since only some engines take the one for the other.

mod bare;
mod call;
mod compare;
mod condition;
mod from;
mod hidden_keys;
mod like;
mod limit;
mod literal;
mod look_ahead;
mod order;
mod query;
mod select;
mod shape;
mod value;
mod window;

use std::collections::HashMap;

use sqlgauge_base::budget;
use sqlgauge_sql::aggregates::{is_entangled, owners_hold};
use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{Expr, Query};
use sqlgauge_sql::visit::{Visitor, any_expr, walk_query};
use sqlgauge_sql::{Names, PrintError};

use crate::dialect::{Dialect, Template};
use crate::refused::{Construct, Refused};
use crate::types::{Type, TypedSchema, Types};

/// A query as one line of a dialect.
///
/// # Errors
/// [`Refused`] with the first construct that the dialect cannot say with SQLite's meaning.
pub fn translate(
    query: &Query,
    typed: &TypedSchema<'_>,
    dialect: &'static Dialect,
) -> Result<String, Refused> {
    struct Nodes;
    impl Visitor for Nodes {}
    let walk = || {
        // What is too large to be printed is not copied first.
        let ((), nodes) = budget::measure(|| walk_query(&mut Nodes, query));
        budget::copy(usize::try_from(nodes).unwrap_or(usize::MAX));
        let query = look_ahead::moved(query);
        Printer::new(&query, typed, dialect).whole(&query)
    };
    budget::within(budget::TRANSLATION, walk).unwrap_or_else(|error| {
        Err(Refused { dialect: dialect.name, construct: Construct::TooComplex, reason: error.to_string() })
    })
}

/// How tightly what is printed holds together, loosest first. All dialects agree on these, and what they do not agree on
/// gets parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Comparison,
    Other,
    Sum,
    Product,
    Atom,
}

#[derive(Debug, Clone)]
struct Piece {
    text: String,
    level: Level,
}

impl Piece {
    fn new(text: impl Into<String>, level: Level) -> Self {
        let text = text.into();
        // Texts are put together of texts, and a template may hold one twice.
        budget::spend(budget::COPY + text.len() / 4);
        Self { text, level }
    }

    fn atom(text: impl Into<String>) -> Self {
        Self::new(text, Level::Atom)
    }

    /// The text, in parentheses if it holds together less than is needed.
    fn at(&self, needed: Level) -> String {
        if self.level < needed { format!("({})", self.text) } else { self.text.clone() }
    }
}

struct Printer<'a> {
    dialect: &'static Dialect,
    names: Names<'a>,
    facts: Facts<'a>,
    typed: &'a TypedSchema<'a>,
    types: Types<'a>,
    /// Nothing in the schema and the query compares texts otherwise than byte by byte.
    compares_bytes_only: bool,
    /// In how many clauses besides WHERE and HAVING what is printed stands.
    place: shape::Place,
    /// What is printed stands in no subquery.
    is_outermost: bool,
    in_results: bool,
    /// Columns that stand for a group by their value in one row of it.
    of_extremum: bare::OfExtremum,
    /// Operands that are compared several times, with what they are printed as: printing them anew each time would double with
    /// every level of such comparisons.
    compared: HashMap<*const Expr, Option<Piece>>,
}

type Printed = Result<Piece, Refused>;

impl<'a> Printer<'a> {
    fn new(query: &Query, typed: &'a TypedSchema<'a>, dialect: &'static Dialect) -> Self {
        let schema = typed.schema();
        let is_binary = schema
            .tables()
            .iter()
            .all(|table| table.columns.iter().all(|column| column.collation == Collation::Binary));
        Self {
            dialect,
            names: Names::of(query, schema),
            facts: Facts::of(query, schema),
            typed,
            types: Types::of_query(query, typed),
            compares_bytes_only: is_binary && !collates(query),
            place: shape::Place::default(),
            is_outermost: false,
            in_results: false,
            of_extremum: bare::OfExtremum::default(),
            compared: HashMap::new(),
        }
    }

    fn whole(mut self, query: &Query) -> Result<String, Refused> {
        if is_entangled(query) || !owners_hold(query) {
            return Err(
                self.refuse(Construct::OuterAggregate, "an aggregate over the rows of an outer query")
            );
        }
        let text = self.query(query, &query::Wanted { is_whole: true, ..query::Wanted::default() })?;
        if text.contains('\0') {
            return Err(self.refuse(Construct::Nul, "a text or name"));
        }
        Ok(text)
    }

    fn refuse(&self, construct: Construct, reason: impl Into<String>) -> Refused {
        Refused { dialect: self.dialect.name, construct, reason: reason.into() }
    }

    /// The template, or why there is none.
    fn template(
        &self,
        template: Template,
        construct: Construct,
        what: &str,
    ) -> Result<&'static str, Refused> {
        template.ok_or_else(|| self.refuse(construct, what))
    }

    fn name(&self, name: Result<String, PrintError>) -> Result<String, Refused> {
        let name = name.map_err(|error| self.refuse(Construct::Tree, error.to_string()))?;
        self.quoted(&name)
    }

    fn quoted(&self, name: &str) -> Result<String, Refused> {
        let quoted = self.dialect.identifier(name);
        quoted.ok_or_else(|| self.refuse(Construct::Identifier, format!("the name {name:?}")))
    }

    /// That texts of the expression are compared byte by byte, where they are grouped, sorted or told apart.
    fn check_bytes(&self, expr: &Expr) -> Result<(), Refused> {
        let is_text = matches!(self.types.of(expr), Type::Text | Type::Mixed);
        if !is_text || self.compares_bytes_only || self.facts.collation(expr).is(&Collation::Binary) {
            return Ok(());
        }
        Err(self.refuse(Construct::Collation, "texts that are grouped or sorted"))
    }
}

/// The template with its operands, each in parentheses unless the template keeps it apart by a comma or parentheses.
fn fill(template: &str, operands: &[&Piece]) -> Piece {
    if let ("{0}", [operand]) = (template, operands) {
        return (*operand).clone();
    }
    let mut text = template.to_owned();
    for (at, operand) in operands.iter().enumerate().rev() {
        let mark = format!("{{{at}}}");
        let kept_apart = |place: usize| {
            let (before, after) = (&template[..place], &template[place + mark.len()..]);
            (before.ends_with('(') || before.ends_with(", "))
                && (after.starts_with(')') || after.starts_with(',') || after.starts_with(" AS "))
        };
        let is_apart = template.match_indices(&mark).all(|(place, _)| kept_apart(place));
        let replacement = if is_apart { operand.text.clone() } else { operand.at(Level::Atom) };
        text = replaced(&text, &mark, &replacement, template);
    }
    Piece::new(text, if is_call(template) { Level::Atom } else { Level::Other })
}

/// The marks are those of the template; an operand may hold the same characters.
fn replaced(text: &str, mark: &str, replacement: &str, template: &str) -> String {
    // Operands are filled in from the last to the first, so that what stands before a mark is still the template's.
    let count = template.matches(mark).count();
    let mut pieces = text.splitn(count + 1, mark);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str(replacement);
        out.push_str(piece);
    }
    out
}

/// Whether the whole template is one call, or one CASE.
fn is_call(template: &str) -> bool {
    if template.starts_with("CASE ") {
        return template.ends_with(" END");
    }
    let Some(open) = template.find('(') else { return false };
    let is_word = template[..open].chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut depth = 0_usize;
    for (at, c) in template.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return is_word && at + 1 == template.len();
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a COLLATE stands in the query.
fn collates(query: &Query) -> bool {
    any_expr(query, |expr| matches!(expr, Expr::Collate { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_get_parentheses_where_they_are_not_kept_apart() {
        let sum = Piece::new("a + b", Level::Sum);
        let one = Piece::atom("1");
        for (template, expected) in [
            ("F({0}, {1})", "F(a + b, 1)"),
            ("{0} / {1}", "(a + b) / 1"),
            ("CAST({0} AS BIGINT)", "CAST(a + b AS BIGINT)"),
            ("F({0} COLLATE \"C\")", "F((a + b) COLLATE \"C\")"),
        ] {
            assert_eq!(fill(template, &[&sum, &one]).text, expected);
        }
        let text = Piece::atom("'{0}'");
        assert_eq!(fill("F({0}, {1})", &[&one, &text]).text, "F(1, '{0}')");
    }

    #[test]
    fn a_call_is_an_atom() {
        assert!(is_call("F({0})") && is_call("CAST(F({0}) AS T)") && is_call("CASE WHEN {0} THEN 1 END"));
        assert!(!is_call("F({0}) + G({1})") && !is_call("{0} || {1}"));
    }
}
