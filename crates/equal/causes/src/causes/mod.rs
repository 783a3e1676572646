//! The causes, one file each. A cause takes out of the rest what it explains, so the order is from the special to the general.

mod connective;
mod distinct;
mod extra_condition;
mod extra_table;
mod grouping;
mod join_key;
mod join_kind;
pub(crate) mod letter_case;
mod limit;
mod missing_condition;
mod missing_table;
mod null_handling;
mod order;
mod other_column;
mod other_comparison;
mod other_condition;
mod other_constant;
mod other_outputs;
mod other_tables;
pub(crate) mod output_order;
mod same_name;
pub(crate) mod set_operation;
pub(crate) mod subquery;
mod wrong_aggregate;

use crate::cause::Cause;

static CAUSES: [&Cause; 24] = [
    &missing_table::CAUSE,
    &extra_table::CAUSE,
    &other_tables::CAUSE,
    &join_kind::CAUSE,
    &join_key::CAUSE,
    &connective::CAUSE,
    &output_order::CAUSE,
    &null_handling::CAUSE,
    &letter_case::CAUSE,
    &other_constant::CAUSE,
    &other_comparison::CAUSE,
    &same_name::CAUSE,
    &other_column::CAUSE,
    &subquery::CAUSE,
    &missing_condition::CAUSE,
    &extra_condition::CAUSE,
    &other_condition::CAUSE,
    &wrong_aggregate::CAUSE,
    &distinct::CAUSE,
    &other_outputs::CAUSE,
    &grouping::CAUSE,
    &order::CAUSE,
    &limit::CAUSE,
    &set_operation::CAUSE,
];

/// All causes, in the order in which they are looked for.
pub fn causes() -> &'static [&'static Cause] {
    &CAUSES
}

pub fn find(id: &str) -> Option<&'static Cause> {
    causes().iter().copied().find(|cause| cause.id == id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use sqlgauge_sql::schema::Schema;

    use super::causes;
    use crate::{Explainer, Proofs};

    const SCHEMA: &str = "
        CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT, height INT, country TEXT);
        CREATE TABLE concert (id INTEGER PRIMARY KEY, name TEXT, year INT, singer_id INT REFERENCES singer (id));
        CREATE TABLE fan (id INTEGER PRIMARY KEY, singer_id INT REFERENCES singer (id));";

    #[test]
    fn every_cause_has_an_id_of_its_own_and_an_example_that_it_explains() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let explainer = Explainer::of(schema.clone());
        let (mut ids, mut wrong) = (BTreeSet::new(), Vec::new());
        for cause in causes() {
            assert!(ids.insert(cause.id), "{} twice", cause.id);
            assert!(!cause.title.is_empty() && cause.about.ends_with('.'), "{}", cause.id);
            let [gold, prediction, sentence] = cause.example;
            let difference = explainer.explain(gold, prediction, &Proofs::over(&schema)).unwrap();
            if difference.sentence() != sentence || difference.cause().map(|cause| cause.id) != Some(cause.id)
            {
                wrong.push(format!("{}: {difference:?}", cause.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_join_on_the_wrong_columns_is_named_whatever_the_shape() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let explainer = Explainer::of(schema.clone());
        let say = |gold: &str, prediction: &str| {
            explainer
                .explain(gold, prediction, &Proofs::over(&schema))
                .map(|difference| difference.sentence())
        };
        for (gold, prediction, sentence) in [
            (
                "SELECT DISTINCT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id WHERE year = 2014",
                "SELECT DISTINCT name FROM singer WHERE id IN (SELECT id FROM concert WHERE year = 2014)",
                "The prediction joins on `singer.id = concert.id`, the gold on `singer.id = concert.singer_id`.",
            ),
            (
                "SELECT fan.id FROM fan JOIN singer ON fan.singer_id = singer.id JOIN concert ON concert.singer_id = singer.id",
                "SELECT fan.id FROM fan JOIN concert ON fan.id = concert.id",
                "The prediction joins on `fan.id = concert.id`, the gold joins `singer` on `fan.singer_id = singer.id AND \
                 singer.id = concert.singer_id`.",
            ),
            // The join follows from those of the gold.
            (
                "SELECT fan.id FROM fan JOIN concert ON fan.id = concert.year JOIN singer ON singer.age = concert.year",
                "SELECT fan.id FROM fan JOIN singer ON fan.id = singer.age",
                "Only the gold joins `concert`.",
            ),
        ] {
            assert_eq!(say(gold, prediction).as_deref(), Ok(sentence), "{gold}; {prediction}");
        }
    }

    #[test]
    fn a_table_that_only_one_joins_is_not_missing_where_the_other_reads_it_in_a_subquery() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let explainer = Explainer::of(schema.clone());
        let cause = |gold: &str, prediction: &str| {
            let difference = explainer.explain(gold, prediction, &Proofs::over(&schema)).unwrap();
            difference.cause().map(|cause| cause.id)
        };
        let join = "SELECT year FROM concert JOIN singer ON singer_id = singer.id WHERE singer.name = 'a'";
        let inside = "SELECT year FROM concert WHERE singer_id = (SELECT id FROM singer WHERE name = 'a')";
        let without = "SELECT year FROM concert";
        let twice = "SELECT a.year FROM concert AS a JOIN concert AS b ON a.singer_id = b.id";
        assert_eq!(
            [cause(twice, without), cause(without, twice)].map(|one| one == Some("subquery")),
            [false; 2]
        );
        assert_eq!([cause(join, inside), cause(inside, join)], [Some("subquery"); 2]);
        assert_eq!(
            [cause(join, without), cause(without, join)],
            [Some("missing-table"), Some("extra-table")]
        );
    }

    #[test]
    fn columns_in_a_different_order_are_said_after_what_changes_the_rows() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let difference = Explainer::of(schema.clone())
            .explain(
                "SELECT name, country FROM singer WHERE age > 20",
                "SELECT country, name FROM singer",
                &Proofs::over(&schema),
            )
            .unwrap();
        let causes: Vec<_> = difference.slips.iter().map(|slip| slip.cause.id).collect();
        assert_eq!(causes, ["missing-condition", "output-order"]);
    }

    /// What stands at another place is not said to be missing there.
    #[test]
    fn outputs_that_are_moved_and_changed_are_shown_together() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let difference = Explainer::of(schema.clone()).explain(
            "SELECT sum(age), country FROM singer GROUP BY country",
            "SELECT country, count(age) FROM singer GROUP BY country",
            &Proofs::over(&schema),
        );
        assert_eq!(
            difference.unwrap().sentence(),
            "The prediction shows `country, count(age)`, the gold `sum(age), country`."
        );
    }
}
