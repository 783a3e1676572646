//! Looks at the golds of one database with the rules that are on.

use std::cell::OnceCell;
use std::sync::Arc;

use sqlgauge_base::{budget, closest};
use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

use crate::data::AuditData;
use crate::finding::{Finding, Findings, Unchecked};
use crate::item::{AuditItem, AuditSubject, Peer};
use crate::report::ItemAudit;
use crate::rule::AuditRule;
use crate::rules::rules;

/// The rules that run.
#[derive(Clone)]
pub struct RuleSelection(Vec<&'static AuditRule>);

impl Default for RuleSelection {
    /// The rules that are on by default.
    fn default() -> Self {
        Self(rules().iter().copied().filter(|rule| rule.is_on()).collect())
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "unknown audit rule {name:?}{near}; `sqlgauge rules list --audit` lists them, and `all` and `default` take many"
)]
pub struct UnknownRule {
    name: String,
    near: String,
}

impl UnknownRule {
    fn of(name: &str) -> Self {
        let near = closest(name, rules().iter().map(|rule| rule.name));
        let near = if near.is_empty() { String::new() } else { format!(" (close: {})", near.join(", ")) };
        Self { name: name.to_owned(), near }
    }
}

impl RuleSelection {
    /// The rules of those names, in the order of the registry; `all` and `default` stand for many, `-NAME` takes one away.
    ///
    /// # Errors
    /// When there is no rule of a name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, UnknownRule> {
        let mut is_on = vec![false; rules().len()];
        for name in names {
            let (name, value) = name.strip_prefix('-').map_or((name, true), |rest| (rest, false));
            let mut is_known = matches!(name, "all" | "default");
            for (on, rule) in is_on.iter_mut().zip(rules()) {
                if name == "all" || (name == "default" && rule.is_on()) || name == rule.name {
                    *on = value;
                    is_known = true;
                }
            }
            if !is_known {
                return Err(UnknownRule::of(name));
            }
        }
        Ok(Self(rules().iter().copied().zip(is_on).filter(|(_, on)| *on).map(|(rule, _)| rule).collect()))
    }

    /// The rules, in the order of the registry.
    pub fn rules(&self) -> &[&'static AuditRule] {
        &self.0
    }
}

/// Looks at the golds of one database; all threads share it.
pub struct Auditor<'a> {
    schema: Arc<Schema>,
    data: AuditData<'a>,
    selection: RuleSelection,
}

impl<'a> Auditor<'a> {
    /// An auditor of the golds of that database.
    pub fn new(engine: &'a dyn Engine, database: Arc<Database>, selection: RuleSelection) -> Self {
        let data = AuditData::new(engine, database);
        let schema = Arc::clone(data.database().schema());
        // Rows show what holds; without them the schema's word is taken.
        let schema = if data.has_rows() { schema } else { Arc::new(intended(&schema)) };
        Self { schema, data, selection }
    }

    pub fn database(&self) -> &Arc<Database> {
        self.data.database()
    }

    /// What runs the golds.
    pub fn engine(&self) -> &'a dyn Engine {
        self.data.engine()
    }

    /// What the rules say of a gold.
    pub fn audit(
        &self,
        sql: &str,
        question: Option<&str>,
        evidence: Option<&str>,
        peers: &[Peer<'_>],
    ) -> ItemAudit {
        let gold = self.data.run(sql);
        let retold = OnceCell::new();
        let item =
            AuditItem { sql, question, evidence, peers, gold: &gold, data: &self.data, retold: &retold };
        let mut audit = ItemAudit::default();
        let dialect = self.data.engine().dialect();
        let (holding, others): (Vec<_>, Vec<_>) =
            self.selection.rules().iter().copied().partition(|rule| rule.check.holds_in(dialect));
        for rule in others {
            let mut findings = Findings::of(rule);
            findings.unchecked(format!("no defect of a query in {dialect}, or not to be seen there"));
            audit.take(findings);
        }
        for rule in &holding {
            let mut findings = Findings::of(rule);
            rule.check.item(&item, &mut findings);
            audit.take(findings);
        }
        let resolved = budget::analyse(sql.len(), || resolve(sql, &self.schema));
        match resolved {
            Ok(Ok(query)) => {
                for rule in &holding {
                    let mut findings = Findings::of(rule);
                    let checked = budget::analyse(sql.len(), || {
                        let facts = Facts::of(&query, &self.schema);
                        let subject = AuditSubject { item, query: &query, schema: &self.schema, facts };
                        rule.check.query(&subject, &mut findings);
                    });
                    if let Err(error) = checked {
                        findings.unchecked(error.to_string());
                    }
                    audit.take(findings);
                }
            }
            Ok(Err(error)) => audit.unresolved = Some(error.to_string()),
            Err(error) => audit.unresolved = Some(error.to_string()),
        }
        audit
    }
}

/// A schema as its authors mean it: a primary key is not NULL, and what a foreign key refers to is unique. SQLite asks for neither.
fn intended(schema: &Schema) -> Schema {
    let mut tables = schema.tables().to_vec();
    for table in &mut tables {
        for at in &table.primary_key {
            if let Some(column) = table.columns.get_mut(*at as usize) {
                column.not_null = true;
            }
        }
    }
    for key in schema.tables().iter().flat_map(|table| &table.foreign_keys) {
        let Some((id, columns)) = schema.resolve_foreign_key(key) else { continue };
        if let Some(table) = tables.get_mut(id.index()).filter(|table| !table.is_unique(&columns)) {
            table.unique.push(columns);
        }
    }
    Schema::new(tables)
}

impl ItemAudit {
    fn take(&mut self, findings: Findings) {
        let Findings { list, unchecked, .. } = findings;
        self.findings.extend(list);
        self.unchecked.extend(unchecked);
        self.findings.sort_by_key(|finding: &Finding| finding.standing);
        self.unchecked.dedup_by(|one: &mut Unchecked, other| one == other);
    }
}
