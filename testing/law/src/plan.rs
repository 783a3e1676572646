//! Which rules keep SQLite's plan: for single applications, the plan (EXPLAIN QUERY PLAN) and the order in which the
//! rows come, before and after.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sqlgauge_etm::law::{RewriteChange, Stepper};
use sqlgauge_sql::resolve;

use crate::compare::{same_bag, same_sequence};
use crate::database::{Database, Outcome};
use crate::dice::Dice;
use crate::generate::{Generator, text};
use crate::world::{World, shapes};

/// What was seen of one rule.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Single applications times databases.
    pub seen: u64,
    /// Of these, with another plan.
    pub other_plan: u64,
    /// Of these, with the same rows in another order.
    pub other_order: u64,
    /// Of these, with another order under the same plan.
    pub other_order_same_plan: u64,
    /// The first application with another plan and another order: before, after, both plans.
    pub example: Option<[String; 4]>,
}

/// Looks at so many rounds of queries.
pub fn evidence(seed: u64, rounds: u64) -> BTreeMap<&'static str, Evidence> {
    let mut found: BTreeMap<&'static str, Evidence> = BTreeMap::new();
    let generator = Generator::default();
    let shapes = shapes();
    for round in 0..rounds {
        let mut dice = Dice::new(seed, round);
        let Ok(world) = World::draw(&shapes, &mut dice) else { continue };
        let stepper = Stepper::new(&world.schema);
        for _ in 0..200 {
            let sql = generator.draw(&world, &mut dice);
            let Ok(query) = resolve(&sql, &world.schema) else { continue };
            let start = Stepper::start(&query);
            if !Stepper::has_normal_form(&start) {
                continue;
            }
            let Some(mut before) = text(&start, &world.schema) else { continue };
            for step in stepper.steps(&start).steps {
                let Some(after) = text(&step.query, &world.schema) else { break };
                if let RewriteChange::Rule(rule) = step.change
                    && rule.keeps_plan
                    && before != after
                {
                    let entry = found.entry(rule.id).or_default();
                    world.databases.iter().for_each(|database| look(entry, &before, &after, database));
                }
                before = after;
            }
            world.databases.iter().for_each(Database::forget);
        }
    }
    found
}

fn look(entry: &mut Evidence, before: &str, after: &str, database: &Database) {
    let (left, right) = (database.run(before), database.run(after));
    let (Outcome::Rows(left), Outcome::Rows(right)) = (&*left, &*right) else { return };
    let (Some(old), Some(new)) = (database.plan(before), database.plan(after)) else { return };
    let other_plan = unnamed(&old) != unnamed(&new);
    let other_order = same_bag(left, right) && !same_sequence(left, right);
    entry.seen += 1;
    entry.other_plan += u64::from(other_plan);
    entry.other_order += u64::from(other_order);
    entry.other_order_same_plan += u64::from(other_order && !other_plan);
    let is_shorter = entry.example.as_ref().is_none_or(|example| before.len() < example[0].len());
    if other_plan && is_shorter {
        entry.example = Some([before.to_owned(), after.to_owned(), old.join(" / "), new.join(" / ")]);
    }
}

/// A plan without the names of table instances, which differ where their number does.
fn unnamed(plan: &[String]) -> Vec<String> {
    let is_instance = |word: &&str| {
        word.strip_prefix('T')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let line = |line: &String| {
        line.split(' ').map(|word| if is_instance(&word) { "T" } else { word }).collect::<Vec<_>>().join(" ")
    };
    plan.iter().map(line).collect()
}

/// The evidence as a table in Markdown.
pub fn markdown(found: &BTreeMap<&'static str, Evidence>) -> String {
    let mut out =
        "| rule | applications × databases | other plan | other row order | other order, same plan |\n\
                   |---|---|---|---|---|\n"
            .to_owned();
    for (rule, entry) in found {
        let Evidence { seen, other_plan, other_order, other_order_same_plan, .. } = entry;
        let _ = writeln!(out, "| {rule} | {seen} | {other_plan} | {other_order} | {other_order_same_plan} |");
    }
    for (rule, entry) in found {
        if let Some([before, after, old, new]) = &entry.example {
            let _ = writeln!(out, "\n**{rule}**\n```\n{before}\n  {old}\n{after}\n  {new}\n```");
        }
    }
    out
}
