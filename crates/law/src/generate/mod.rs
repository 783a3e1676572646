//! Random queries: free ones, mutants of the rules' own cases, and compositions of both.

mod compose;
mod free;
mod mutate;
mod seeds;
mod templates;

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{Dialect, print, resolve};

pub use self::mutate::mutant;
pub use self::seeds::{Seed, seeds};
use crate::dice::Dice;
use crate::world::World;

/// The query as SQL; `None` where SQL has no words for it.
pub fn text(query: &Query, schema: &Schema) -> Option<String> {
    Some(print(query, schema, Dialect::Sqlite))
}

/// Draws queries over one world after the other.
pub struct Generator {
    seeds: Vec<Seed>,
}

impl Default for Generator {
    fn default() -> Self {
        Self { seeds: seeds() }
    }
}

impl Generator {
    /// One more query over a world.
    pub fn draw(&self, world: &World, dice: &mut Dice) -> String {
        if dice.chance(22) {
            let sql = free::query(&world.schema, dice);
            return if dice.chance(20) { compose::around(&sql, world, dice) } else { sql };
        }
        let seed = dice.pick(&self.seeds);
        Self::from_seed(seed, world, dice).unwrap_or_else(|| free::query(&world.schema, dice))
    }

    /// One more query of the shape that a rule looks for.
    pub fn draw_for(&self, rule: &str, world: &World, dice: &mut Dice) -> Option<String> {
        let own: Vec<&Seed> = self.seeds.iter().filter(|seed| seed.rule == rule).collect();
        let seed = dice.pick_any(&own)?;
        Self::from_seed(seed, world, dice)
    }

    fn from_seed(seed: &Seed, world: &World, dice: &mut Dice) -> Option<String> {
        let own = resolve(seed.sql, &world.plain).ok();
        let mut query = match own {
            Some(query) if dice.chance(85) => query,
            _ => mutate::retarget(&seed.query, &seed.schema, &world.schema, dice)?,
        };
        for _ in 0..*dice.pick(&[0, 0, 1, 1, 2, 3]) {
            query = mutate::mutant(&query, &world.schema, dice);
        }
        let sql = text(&query, &world.schema)?;
        Some(if dice.chance(18) { compose::around(&sql, world, dice) } else { sql })
    }
}

/// The same query spelled in another way: letter case, quotes, parentheses.
pub fn respelled(sql: &str, dice: &mut Dice) -> String {
    compose::respelled(sql, dice)
}
