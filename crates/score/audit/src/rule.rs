//! What a rule is.

use crate::finding::Findings;
use crate::item::{AuditItem, AuditSubject};

/// The headings that every rule's page has, in this order.
pub const HEADINGS: [&str; 4] = ["What it finds", "Why it matters", "Example", "When it is no defect"];

/// How a rule looks at a gold.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    look: Look,
    /// The dialects in which what it finds is a defect, and can be seen; `None` for all.
    dialects: Option<&'static [&'static str]>,
}

#[derive(Debug, Clone, Copy)]
enum Look {
    Item(fn(&AuditItem<'_>, &mut Findings)),
    Query(fn(&AuditSubject<'_>, &mut Findings)),
}

impl Check {
    /// Looks at a gold as text and as it ran; called for every gold, also for one that cannot be resolved.
    pub(crate) const fn of_item(look: fn(&AuditItem<'_>, &mut Findings)) -> Self {
        Self { look: Look::Item(look), dialects: None }
    }

    /// Looks at a gold that could be resolved.
    pub(crate) const fn of_query(look: fn(&AuditSubject<'_>, &mut Findings)) -> Self {
        Self { look: Look::Query(look), dialects: None }
    }

    /// The same, but only in those of `sqlite`, `postgres`, `mysql` and `duckdb`.
    pub(crate) const fn only_in(self, dialects: &'static [&'static str]) -> Self {
        Self { dialects: Some(dialects), ..self }
    }

    /// Whether what the rule finds is a defect in that dialect, and can be seen there.
    pub(crate) fn holds_in(&self, dialect: &str) -> bool {
        self.dialects.is_none_or(|dialects| dialects.contains(&dialect))
    }

    pub(crate) fn item(&self, item: &AuditItem<'_>, findings: &mut Findings) {
        if let Look::Item(look) = self.look {
            look(item, findings);
        }
    }

    pub(crate) fn query(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        if let Look::Query(look) = self.look {
            look(subject, findings);
        }
    }
}

sqlgauge_base::named! {
    /// What a rule reads besides the query and the schema. A rule that lacks it says so, see
    /// [`Unchecked`](crate::Unchecked).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Needs by name {
        /// Nothing else; where rows are at hand they confirm or withdraw what it finds.
        Schema = "schema",
        /// The rows of the database.
        Rows = "rows",
        Question = "question",
        /// What the benchmark says besides the question.
        Evidence = "evidence",
        /// Answers of other systems, and the rows.
        Peers = "rows, answers of systems",
    }
}

sqlgauge_base::named! {
    /// How much a finding of a rule says. `research/audit/README.md` has the measured precision of each rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RuleStanding by name {
        /// The gold has the defect, whatever the question means.
        Certain = "certain",
        /// A person should look.
        Likely = "likely",
        /// Off by default: most of its findings are not defects, or only style.
        Hint = "hint",
    }
}

impl RuleStanding {
    /// What a finding adds to the log odds that a gold is wrong, where no judged gold says more.
    pub fn prior(self) -> f64 {
        match self {
            Self::Certain => 2.0,
            Self::Likely => 0.7,
            Self::Hint => 0.0,
        }
    }
}

/// A rule that looks for one kind of defect in a gold.
#[derive(Debug)]
pub struct AuditRule {
    /// The defect, in kebab case.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What it reads besides query and schema.
    pub needs: Needs,
    /// How much its findings say.
    pub standing: RuleStanding,
    /// How it looks.
    pub check: Check,
    /// Golds on which it must and must not report something.
    pub cases: &'static [AuditCase],
    /// The source text of the rule's file; its page is the leading comment.
    pub source: &'static str,
}

impl AuditRule {
    /// The rule's page in Markdown: the leading comment of its file.
    pub fn page(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// Whether it runs unless somebody says otherwise.
    pub fn is_on(&self) -> bool {
        self.standing != RuleStanding::Hint
    }
}

/// The schema of most cases, with rows.
pub(crate) const CLUBS: &str = "CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, founded TEXT);
CREATE TABLE player (id INTEGER PRIMARY KEY, club_id INTEGER REFERENCES club(id), name TEXT NOT NULL, goals INTEGER, wage TEXT, born DATE);
CREATE TABLE award (id INTEGER PRIMARY KEY, player_id INTEGER NOT NULL REFERENCES player(id), title TEXT, year INTEGER);
INSERT INTO club VALUES (1, 'Harbour', 'Lisbon', '1902-05-01'), (2, 'Forest', 'Porto', '1911-03-09'), (3, 'Meadow', 'Lisbon', NULL);
INSERT INTO player VALUES (1, 1, 'Ana', 10, '900', '1990-01-02'), (2, 1, 'Bea', 10, '1200', '1991-02-03'),
 (3, 2, 'Cai', 7, '1100', '1989-07-08'), (4, 2, 'Dua', NULL, '80', NULL);
INSERT INTO award VALUES (1, 1, 'Boot', 2010), (2, 1, 'Cup', 2011), (3, 3, 'Cup', 2010);";

/// The same without rows.
pub(crate) const EMPTY: &str = "CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, founded TEXT);
CREATE TABLE player (id INTEGER PRIMARY KEY, club_id INTEGER REFERENCES club(id), name TEXT NOT NULL, goals INTEGER, wage TEXT, born DATE);";

/// A gold of which it is known whether the rule must report it.
#[derive(Debug, Clone, Copy)]
pub struct AuditCase {
    /// CREATE TABLE and INSERT statements.
    pub database: &'static str,
    /// The question; empty for none.
    pub question: &'static str,
    /// What the benchmark says besides; empty for nothing.
    pub evidence: &'static str,
    /// The gold.
    pub sql: &'static str,
    /// Answers of other systems.
    pub peers: &'static [&'static str],
    /// Whether the rule must report something.
    pub fires: bool,
    /// Whether it has the shape of a gold that people found wrong in a published benchmark.
    pub from_benchmark: bool,
}

impl AuditCase {
    /// A gold that must be reported.
    pub const fn fires(database: &'static str, sql: &'static str) -> Self {
        Self { database, question: "", evidence: "", sql, peers: &[], fires: true, from_benchmark: false }
    }

    /// A gold that looks alike and must not be reported.
    pub const fn silent(database: &'static str, sql: &'static str) -> Self {
        Self { fires: false, ..Self::fires(database, sql) }
    }

    /// The same as the answer to that question.
    #[must_use]
    pub const fn asked(self, question: &'static str) -> Self {
        Self { question, ..self }
    }

    /// The same where the benchmark says that besides the question.
    #[must_use]
    pub const fn hinted(self, evidence: &'static str) -> Self {
        Self { evidence, ..self }
    }

    /// The same with answers of other systems.
    #[must_use]
    pub const fn peers(self, peers: &'static [&'static str]) -> Self {
        Self { peers, ..self }
    }

    /// The same, shaped like a gold that people found wrong.
    #[must_use]
    pub(crate) const fn of_benchmark(self) -> Self {
        Self { from_benchmark: true, ..self }
    }
}
