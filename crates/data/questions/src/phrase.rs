//! Parts of a query in words, for a sentence of somebody else.

use sqlgauge_base::Random;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{Expr, RelationId};

use crate::engine::tree::Tree;
use crate::engine::write::Writer;
use crate::grammar::grammar;
use crate::question::Speech;
use crate::speech::{Care, Say};
use crate::style::QuestionStyle;
use crate::unsayable::Unsayable;

/// The tables that the queries around a part read, the outermost query first.
pub type Around = Vec<Vec<(RelationId, TableId)>>;

impl Speech<'_> {
    /// A condition as a clause: `the age of the singer is greater than 20`. `None` where the grammar has no words for it.
    pub fn condition(&self, expr: &Expr, around: &Around) -> Option<String> {
        self.phrase(around, |say| say.condition(expr))
    }

    /// A value as a noun: `the average age of the singer`. `None` where the grammar has no words for it.
    pub fn value(&self, expr: &Expr, around: &Around) -> Option<String> {
        self.phrase(around, |say| say.operand(expr))
    }

    /// A table in the singular or the plural; `None` for a table of another schema.
    pub fn table(&self, id: TableId, many: bool) -> Option<String> {
        self.phrase(&Vec::new(), |say| say.table(id, many))
    }

    fn phrase(
        &self,
        around: &Around,
        tree_of: impl FnOnce(&mut Say<'_>) -> Result<Tree, Unsayable>,
    ) -> Option<String> {
        let mut random = Random::new([0]);
        let style = QuestionStyle::Interrogative;
        let mut say =
            Say::new(self.schema, &self.vocabulary, style, Care::Careful, &mut random).inside(around);
        let tree = tree_of(&mut say).ok()?;
        Writer::new(grammar(), &self.vocabulary, style, false, &mut random).phrase(&tree)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;
    use sqlgauge_sql::tree::RelationSource;

    use super::*;
    use crate::canonical;

    #[test]
    fn parts_of_a_query_have_the_words_of_its_question() {
        let schema = Schema::from_ddl(
            "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
             CREATE TABLE concert (id INT, singer_id INT REFERENCES singer (id), year INT);",
        )
        .unwrap();
        let speech = Speech::of(&schema);
        let text = "SELECT count(DISTINCT s.name), max(c.year), count(*) FROM singer s JOIN concert c ON s.id = c.singer_id \
                    WHERE s.age > 20 AND c.year IN (SELECT year FROM concert)";
        let query = canonical(&resolve(text, &schema).unwrap(), &schema);
        let select = query.as_select().unwrap();
        let tables = select.from.as_ref().unwrap().relations().into_iter().map(|relation| {
            let RelationSource::Table(id) = relation.source else { panic!("a table") };
            (relation.id, id)
        });
        let around = vec![tables.collect()];
        let values: Vec<_> =
            select.outputs.iter().map(|output| speech.value(&output.expr, &around).unwrap()).collect();
        assert_eq!(
            values,
            [
                "the number of different names of the singer",
                "the latest year of the concert",
                "the number of records",
            ]
        );
        let Some(Expr::And(conditions)) = &select.filter else { panic!("two conditions") };
        let phrases: Vec<_> =
            conditions.iter().map(|expr| speech.condition(expr, &around).unwrap()).collect();
        assert_eq!(
            phrases,
            [
                "the age of the singer is greater than 20",
                "the year of the concert is among (the years of concerts)",
            ]
        );
        assert_eq!(speech.table(around[0][1].1, true).as_deref(), Some("concerts"));
    }
}
