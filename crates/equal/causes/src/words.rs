//! Parts of the two queries as SQL.

use sqlgauge_base::listed;
use sqlgauge_sql::canonical::CanonicalText;
use sqlgauge_sql::tree::{Expr, OrderTerm, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::rewrite_expr;
use sqlgauge_sql::{Numbering, print_part, reads};

use crate::align::number_before;
use crate::cause::Unclear;
use crate::pair::{Pair, Side};

/// What both do. Where that reads the same, there are no words.
pub(crate) fn both(prediction: String, gold: String) -> Result<[String; 2], Unclear> {
    if prediction == gold { Err(Unclear::NoWords) } else { Ok([prediction, gold]) }
}

impl Pair<'_> {
    fn text(&self, side: Side) -> &CanonicalText {
        match side {
            Side::Gold => self.scene.gold,
            Side::Prediction => self.scene.prediction,
        }
    }

    fn number(&self, side: Side, relation: RelationId) -> RelationId {
        match side {
            Side::Gold => relation,
            Side::Prediction => {
                self.numbers.get(&relation).copied().unwrap_or_else(|| number_before(relation))
            }
        }
    }

    /// A part of a query, as SQL.
    pub(crate) fn sql(&self, side: Side, expr: &Expr) -> Result<String, Unclear> {
        let text = self.text(side);
        let mut expr = expr.clone();
        if side == Side::Prediction {
            let all = reads::relations(&expr)
                .into_iter()
                .chain(reads::columns(&expr).into_iter().map(|column| column.relation));
            let relations = all.map(|relation| (relation, self.number(side, relation))).collect();
            let mut back = Numbering { relations, ..Numbering::default() };
            rewrite_expr(&mut back, &mut expr);
        }
        let only = match self.clauses(side).reads.relations().as_slice() {
            [only] => Some(self.number(side, only.id)),
            _ => None,
        };
        print_part(&expr, &text.named, self.scene.schema, &text.aliases, only).map_err(|_| Unclear::NoWords)
    }

    /// Conditions that all are asked.
    pub(crate) fn conditions(&self, side: Side, all: &[Expr]) -> Result<String, Unclear> {
        match all {
            [one] => self.code(side, one),
            several => self.code(side, &Expr::And(several.to_vec())),
        }
    }

    /// A part of a query, marked as SQL.
    pub(crate) fn code(&self, side: Side, expr: &Expr) -> Result<String, Unclear> {
        Ok(format!("`{}`", self.sql(side, expr)?))
    }

    /// Values, one after the other, marked as SQL.
    pub(crate) fn values<'e>(
        &self,
        side: Side,
        all: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<String, Unclear> {
        let texts: Result<Vec<String>, Unclear> = all.into_iter().map(|expr| self.sql(side, expr)).collect();
        Ok(format!("`{}`", texts?.join(", ")))
    }

    /// The keys of an order, marked as SQL.
    pub(crate) fn order(&self, side: Side, terms: &[OrderTerm]) -> Result<String, Unclear> {
        let outputs = &self.clauses(side).outputs;
        let term = |term: &OrderTerm| {
            let key = match &term.expr {
                Expr::Output(place) => outputs.get(*place as usize).ok_or(Unclear::NoWords)?,
                other => other,
            };
            let way = if term.descending { " DESC" } else { "" };
            let nulls = match term.nulls_first {
                Some(true) => " NULLS FIRST",
                Some(false) => " NULLS LAST",
                None => "",
            };
            Ok(format!("{}{way}{nulls}", self.sql(side, key)?))
        };
        let texts: Result<Vec<String>, Unclear> = terms.iter().map(term).collect();
        Ok(format!("`{}`", texts?.join(", ")))
    }

    /// The tables of relations, each once with how often.
    pub(crate) fn tables(&self, relations: &[&Relation]) -> Result<String, Unclear> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for relation in relations {
            let name = self.table(relation)?;
            match counts.iter_mut().find(|(other, _)| *other == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        let names: Vec<String> = counts
            .into_iter()
            .map(|(name, count)| match count {
                1 => name,
                2 => format!("{name} twice"),
                _ => format!("{name} {count} times"),
            })
            .collect();
        Ok(if names.is_empty() { "no table".to_owned() } else { listed(&names) })
    }

    fn table(&self, relation: &Relation) -> Result<String, Unclear> {
        Ok(match &relation.source {
            RelationSource::Table(id) => {
                format!("`{}`", self.scene.schema.table(*id).ok_or(Unclear::NoWords)?.name)
            }
            RelationSource::Derived(_) => "a subquery".to_owned(),
            RelationSource::Cte(_) => "a common table expression".to_owned(),
            RelationSource::Function { name, .. } => format!("`{name}`"),
            RelationSource::Catalog => "`sqlite_master`".to_owned(),
        })
    }
}
