//! Random queries: free ones, mutants of the rules' own cases, and compositions of both.

mod compose;
mod free;
mod mutate;
mod seeds;
mod templates;

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, print, resolve};

pub use self::compose::respelled;
pub use self::mutate::mutant;
pub use self::seeds::{Seed, seeds};
use crate::dice::Dice;
use crate::world::World;

/// The query as SQL; `None` where SQL has no words for it.
pub fn text(query: &Query, schema: &Schema) -> Option<String> {
    print(query, schema, PrintDialect::Sqlite).ok()
}

/// Draws queries over one world after the other.
pub struct Generator {
    seeds: Vec<Seed>,
    /// The places of the seeds of each rule; rules that are seldom applied stand here more than once.
    by_rule: Vec<Vec<usize>>,
}

/// Rules that few queries give a chance.
const RARE: [&str; 16] =
    ["1", "10", "14", "20", "21", "25", "3", "5", "8", "S18", "S20", "S21", "S25", "S26", "S27", "S28"];

impl Default for Generator {
    fn default() -> Self {
        let seeds = seeds();
        let mut by_rule = Vec::new();
        for rule in sqlgauge_etm::rules() {
            let id = rule.id;
            let places: Vec<usize> = (0..seeds.len()).filter(|place| seeds[*place].rule == id).collect();
            let weight = if RARE.contains(&id) { 6 } else { 1 };
            by_rule.extend(std::iter::repeat_n(places.clone(), if places.is_empty() { 0 } else { weight }));
        }
        Self { seeds, by_rule }
    }
}

impl Generator {
    /// One more query over a world.
    pub fn draw(&self, world: &World, dice: &mut Dice) -> String {
        if dice.chance(22) {
            let sql = free::query(&world.schema, dice);
            return if dice.chance(20) { compose::around(&sql, world, dice) } else { sql };
        }
        let Some(places) = dice.pick_any(&self.by_rule) else { return free::query(&world.schema, dice) };
        let seed = &self.seeds[*dice.pick(places)];
        Self::from_seed(seed, world, dice).unwrap_or_else(|| free::query(&world.schema, dice))
    }

    /// One more query of the shape that a rule looks for.
    pub(crate) fn draw_for(&self, rule: &str, world: &World, dice: &mut Dice) -> Option<String> {
        let seeds: Vec<&Seed> = self.seeds.iter().filter(|seed| seed.rule == rule).collect();
        let seed = dice.pick_any(&seeds)?;
        Self::from_seed(seed, world, dice)
    }

    fn from_seed(seed: &Seed, world: &World, dice: &mut Dice) -> Option<String> {
        let query = resolve(seed.sql, &world.plain).ok();
        let mut query = match query {
            Some(query) if dice.chance(85) => query,
            _ => mutate::retarget(&seed.query, &seed.schema, &world.schema, dice)?,
        };
        for _ in 0..*dice.pick(&[0, 0, 1, 1, 2, 3]) {
            query = mutant(&query, &world.schema, dice);
        }
        let sql = text(&query, &world.schema)?;
        Some(if dice.chance(18) { compose::around(&sql, world, dice) } else { sql })
    }
}
