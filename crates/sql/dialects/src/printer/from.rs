//! FROM.

use sqlgauge_sql::schema::TableKind;
use sqlgauge_sql::tree::{BinaryOperator, Expr, From, Join, JoinKind, Relation, RelationSource};

use super::Printer;
use super::query::Wanted;
use super::shape::Place;
use crate::dialect::FullJoins;
use crate::refused::{Construct, Refused};

impl Printer<'_> {
    pub(super) fn from(&mut self, from: &From) -> Result<String, Refused> {
        stacker::maybe_grow(1 << 18, 4 << 20, || match from {
            From::Relation(relation) => self.relation(relation),
            From::Join(join) => self.join(join),
        })
    }

    fn join(&mut self, join: &Join) -> Result<String, Refused> {
        let left = self.from(&join.left)?;
        let right = match &join.right {
            From::Join(_) => format!("({})", self.from(&join.right)?),
            From::Relation(relation) => self.relation(relation)?,
        };
        let is_inner = matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
        let Some(on) = &join.on else {
            if is_inner {
                return Ok(format!("{left} CROSS JOIN {right}"));
            }
            let word = self.join_word(join)?;
            return Ok(format!("{left} {word} {right} ON 1 = 1"));
        };
        let word = self.join_word(join)?;
        let around = std::mem::replace(&mut self.place, Place::On);
        let condition = self.condition(on);
        self.place = around;
        Ok(format!("{left} {word} {right} ON {}", condition?.text))
    }

    fn join_word(&self, join: &Join) -> Result<&'static str, Refused> {
        let is_on_equality = join.on.as_ref().is_some_and(is_on_equality);
        let is_outer = !matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
        if is_outer && !is_on_equality && !self.dialect.any_join_condition {
            return Err(
                self.refuse(Construct::JoinCondition, "an outer join on what is no equality of columns")
            );
        }
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => Ok("JOIN"),
            JoinKind::Left => Ok("LEFT JOIN"),
            JoinKind::Right => Ok("RIGHT JOIN"),
            JoinKind::Full => match self.dialect.full_joins {
                FullJoins::Any => Ok("FULL JOIN"),
                FullJoins::OnEquality if is_on_equality => Ok("FULL JOIN"),
                FullJoins::OnEquality | FullJoins::No => {
                    Err(self.refuse(Construct::FullJoin, "FULL JOIN, or one on such a condition"))
                }
            },
        }
    }

    fn relation(&mut self, relation: &Relation) -> Result<String, Refused> {
        let alias = self.name(self.names.relation(relation.id))?;
        let source = match &relation.source {
            RelationSource::Table(id) => {
                let table = self.typed.schema().table(*id);
                let table = table.ok_or_else(|| self.refuse(Construct::Tree, "a table of another schema"))?;
                match table.kind {
                    TableKind::Table => {}
                    TableKind::View => return Err(self.refuse(Construct::View, table.name.clone())),
                    TableKind::Virtual | TableKind::Shadow => {
                        return Err(self.refuse(Construct::TableFunction, table.name.clone()));
                    }
                }
                self.quoted(&table.name)?
            }
            RelationSource::Cte(id) => self.name(self.names.cte(*id))?,
            RelationSource::Derived(query) => {
                let columns = self.names.derived_columns(relation.id).to_vec();
                let text = self.query(query, &Wanted { columns: Some(&columns), ..Wanted::default() })?;
                return Ok(format!("({text}){}{alias}", self.dialect.alias));
            }
            RelationSource::Catalog => {
                return Err(self.refuse(Construct::TableFunction, "the catalog of SQLite"));
            }
            RelationSource::Function { name, .. } => {
                return Err(self.refuse(Construct::TableFunction, name.clone()));
            }
        };
        Ok(if source == alias { source } else { format!("{source}{}{alias}", self.dialect.alias) })
    }
}

/// Whether a condition is one or more equalities of columns of two relations.
fn is_on_equality(on: &Expr) -> bool {
    match on {
        Expr::And(list) => list.iter().all(is_on_equality),
        Expr::Binary(BinaryOperator::Equal, left, right) => match (left.as_ref(), right.as_ref()) {
            (Expr::Column(left), Expr::Column(right)) => left.relation != right.relation,
            _ => false,
        },
        _ => false,
    }
}
