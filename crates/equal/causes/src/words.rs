//! Parts of the two queries in words.

use sqlgauge_questions::Around;
use sqlgauge_sql::tree::{Expr, OrderTerm, Relation, RelationSource};
use sqlgauge_sql::{PrintDialect, print_expr};

use crate::cause::Unclear;
use crate::pair::{Pair, Side};

/// How parts are said: by the grammar of questions where it has words, or as SQL.
#[derive(Clone, Copy)]
pub(crate) struct Words<'p, 's> {
    pair: &'p Pair<'s>,
    is_spelled: bool,
}

impl<'s> Pair<'s> {
    /// What both do. If the words are the same, the SQL is taken; if that is the same too, there are no words.
    pub(crate) fn both(
        &self,
        yours: impl Fn(&Words<'_, 's>) -> Option<String>,
        gold: impl Fn(&Words<'_, 's>) -> Option<String>,
    ) -> Result<[String; 2], Unclear> {
        for is_spelled in [false, true] {
            let words = Words { pair: self, is_spelled };
            let said = [yours(&words), gold(&words)];
            if let [Some(yours), Some(gold)] = said
                && yours != gold
            {
                return Ok([yours, gold]);
            }
        }
        Err(Unclear::NoWords)
    }

    /// What one of them does.
    pub(crate) fn one<T>(&self, said: impl Fn(&Words<'_, 's>) -> Option<T>) -> Result<T, Unclear> {
        let spelled = |is_spelled| said(&Words { pair: self, is_spelled });
        spelled(false).or_else(|| spelled(true)).ok_or(Unclear::NoWords)
    }
}

impl Words<'_, '_> {
    fn around(&self, side: Side) -> &Around {
        match side {
            Side::Gold => &self.pair.around.gold,
            Side::Yours => &self.pair.around.yours,
        }
    }

    fn sql(&self, side: Side, expr: &Expr) -> Option<String> {
        let query = self.pair.clauses(side).query(self.pair.ctes);
        let text = print_expr(expr, &query, self.pair.scene.schema, PrintDialect::Sqlite).ok()?;
        Some(format!("`{text}`"))
    }

    pub(crate) fn condition(&self, side: Side, expr: &Expr) -> Option<String> {
        let said = || self.pair.scene.speech.condition(expr, self.around(side));
        if self.is_spelled { self.sql(side, expr) } else { said().or_else(|| self.sql(side, expr)) }
    }

    /// Conditions as clauses: `… and that …`.
    pub(crate) fn conditions(&self, side: Side, all: &[Expr]) -> Option<String> {
        let said: Option<Vec<String>> = all.iter().map(|expr| self.condition(side, expr)).collect();
        Some(said?.join(" and that "))
    }

    pub(crate) fn value(&self, side: Side, expr: &Expr) -> Option<String> {
        let said = || self.pair.scene.speech.value(expr, self.around(side));
        if self.is_spelled { self.sql(side, expr) } else { said().or_else(|| self.sql(side, expr)) }
    }

    /// Values, one after the other.
    pub(crate) fn values<'e>(&self, side: Side, all: impl IntoIterator<Item = &'e Expr>) -> Option<String> {
        let said: Option<Vec<String>> = all.into_iter().map(|expr| self.value(side, expr)).collect();
        Some(listed(&said?))
    }

    pub(crate) fn order(&self, side: Side, terms: &[OrderTerm]) -> Option<String> {
        let said = terms.iter().map(|term| {
            let way = if term.descending { "from the largest" } else { "from the smallest" };
            let nulls = match term.nulls_first {
                Some(true) => ", NULLs first",
                Some(false) => ", NULLs last",
                None => "",
            };
            Some(format!("{} {way}{nulls}", self.value(side, &term.expr)?))
        });
        Some(said.collect::<Option<Vec<String>>>()?.join(", then by "))
    }

    /// The tables of relations, each once with how often.
    pub(crate) fn tables(&self, relations: &[&Relation]) -> Option<String> {
        let mut counted: Vec<(String, usize)> = Vec::new();
        for relation in relations {
            let name = self.table(relation)?;
            match counted.iter_mut().find(|(own, _)| *own == name) {
                Some((_, count)) => *count += 1,
                None => counted.push((name, 1)),
            }
        }
        let said: Vec<String> = counted
            .into_iter()
            .map(|(name, count)| match count {
                1 => name,
                2 => format!("{name} twice"),
                _ => format!("{name} {count} times"),
            })
            .collect();
        Some(if said.is_empty() { "no table".to_owned() } else { listed(&said) })
    }

    fn table(&self, relation: &Relation) -> Option<String> {
        match &relation.source {
            RelationSource::Table(id) => {
                let name = || Some(format!("`{}`", self.pair.scene.schema.table(*id)?.name));
                let said = || self.pair.scene.speech.table(*id, true);
                if self.is_spelled { name() } else { said().or_else(name) }
            }
            RelationSource::Derived(_) => Some("a subquery".to_owned()),
            RelationSource::Cte(_) => Some("a common table expression".to_owned()),
            RelationSource::Function { name, .. } => Some(format!("`{name}`")),
            RelationSource::Catalog => Some("`sqlite_master`".to_owned()),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
