//! The pairs of one database.
//!
//! # Contract
//! What is made follows from the options, the name and file of the database, and the places of its pairs in the corpus.
//! Queries are drawn in parallel, many at a time, each from random numbers of its own; that no two are the same is decided
//! afterwards in the order of their places. A wish that cannot be met gives up, in this order, its operator, its depth and,
//! if it has a demand, its tier; what is still not met is left to the next database ([`Unmet`]).

use std::collections::{HashSet, VecDeque};

use rayon::prelude::*;
use sqlgauge_base::{Random, seed_of};
use sqlgauge_questions::Speech;

use crate::ambiguity::separating_databases;
use crate::asking::{Asking, QuestionOutcome};
use crate::budget::{Allowance, Caps};
use crate::check::{CheckedQuery, Checker, RejectionReason};
use crate::dialects::Translation;
use crate::effort::{EASY, effort_of};
use crate::grammar::Grammar;
use crate::pair::SynthPair;
use crate::polish::{Polish, WriterError};
use crate::related::{Related, RelatedQueries, Shares, related_queries};
use crate::sampler::Sampler;
use crate::shape::QueryMeasures;
use crate::tally::CorpusTally;
use crate::tier::Tier;
use crate::wish::{DEEPEST, Demand, TierShares, Wish};
use crate::world::GrammarDatabase;

/// How many pairs are drawn at a time.
const BATCH: usize = 512;
/// Tries up to which the wished-for operator, the depth, a depth that is not great, and the tier are held to.
const TRIES: [u32; 4] = [32, 64, 800, 1600];
/// Tries up to which a rare operator is held to, which comes only where it is wished for.
const RARE_TRIES: u32 = 256;
/// Tries in all: what has a demand may have another tier in the end.
const LAST_TRY: u32 = 1648;
/// Of how many queries that meet a wish the one is kept that is asked with the least effort, and in how many more tries they
/// are looked for.
const CHOICE: usize = 5;
const MORE_TRIES: u32 = 24;
/// After how many queries without a question a pair goes without.
const MOST_UNSAID: usize = 6;
/// The first of the streams of random numbers from which styles come, apart from those of the tries.
const STYLE: u64 = 1 << 40;
/// How often a pair is drawn again that another pair of its database equals.
const ROUNDS: u64 = 6;
/// In how many of these rounds one of several queries is chosen.
const CHOOSY_ROUNDS: u64 = 2;

/// How many pairs of each tier a database could not give.
pub type Unmet = [u64; 4];

/// The order for one database.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseTask<'a> {
    /// The seed of the corpus.
    pub seed: u64,
    /// The shares of the tiers.
    pub shares: TierShares,
    /// How columns are chosen.
    pub sampler: &'static Sampler,
    /// The place of the first pair in the corpus.
    pub first: u64,
    /// How many pairs.
    pub pairs: u64,
    /// How many more, by tier, that other databases could not give.
    pub carried: Unmet,
    /// What the first pairs are to use, one each.
    pub demands: &'a [Demand],
    /// How questions are asked.
    pub asking: &'a Asking,
    /// Into which other dialects the pairs are translated.
    pub translation: Option<Translation<'a>>,
    /// What rewords the questions of some pairs.
    pub polish: Option<&'a Polish>,
    /// Share of the pairs that get related queries.
    pub shares_beside: Shares,
    /// The most that may be spent on the database.
    pub caps: Caps,
}

/// One pair to make.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The place within the database.
    number: u64,
    wish: Wish,
    round: u64,
}

/// What became of a slot before it was compared with others.
struct Drawn {
    query: Option<Found>,
    tally: CorpusTally,
}

/// Makes the pairs of a database; each is handed over as soon as it is certain, in an order that does not depend on threads.
///
/// # Errors
/// What `keep` says, and what rewords questions.
pub fn make<E: From<WriterError>>(
    task: &DatabaseTask<'_>,
    world: &GrammarDatabase,
    checker: &Checker<'_>,
    mut keep: impl FnMut(SynthPair, Vec<Related>) -> Result<(), E>,
) -> Result<(CorpusTally, Unmet), E> {
    let (mut tally, mut unmet): (CorpusTally, Unmet) = Default::default();
    let mut pending: VecDeque<Slot> = slots(task, world).into();
    if world.tables.is_empty() {
        pending.iter().for_each(|slot| unmet[slot.wish.tier.index()] += 1);
        return Ok((tally, unmet));
    }
    let speech = Speech::of(&world.schema);
    let mut seen = HashSet::new();
    while !pending.is_empty() {
        let most = BATCH.min(pending.len());
        let Some((size, allowance)) = task.caps.batch(&tally.spending, most as u64) else {
            pending.iter().for_each(|slot| unmet[slot.wish.tier.index()] += 1);
            break;
        };
        let size = usize::try_from(size).unwrap_or(most);
        let batch: Vec<Slot> = pending.drain(..size.min(most)).collect();
        let drawn: Vec<Drawn> =
            batch.par_iter().map(|slot| draw(task, (world, checker, &speech), slot, allowance)).collect();
        let mut pairs = Vec::new();
        for (slot, Drawn { query, tally: part }) in batch.into_iter().zip(drawn) {
            tally.add(part);
            match query {
                Some((passed, shape, question)) if seen.insert(passed.digest) => {
                    pairs
                        .push((SynthPair::new(&world.db_id, slot.number, &passed, &shape, question), passed));
                }
                Some(_) if slot.round < ROUNDS => {
                    tally.drop(RejectionReason::Duplicate);
                    pending.push_back(Slot { round: slot.round + 1, ..slot });
                }
                Some(_) => {
                    tally.drop(RejectionReason::Duplicate);
                    unmet[slot.wish.tier.index()] += 1;
                }
                None => unmet[slot.wish.tier.index()] += 1,
            }
        }
        let texts = |query| task.translation.map_or_else(|| checker.in_sqlite(query), |to| to.of(query));
        pairs.par_iter_mut().for_each(|(pair, passed)| pair.dialects = texts(&passed.query));
        pairs.iter().for_each(|(pair, _)| tally.keep_dialects(pair));
        if let Some(polish) = task.polish {
            polish.reword(task.seed, (&world.schema, checker), &mut pairs)?;
        }
        for Completed { pair, again, related } in completed(task, world, (checker, &speech), pairs) {
            tally.keep(&pair);
            tally.keep_related(&related);
            keep(pair, related.related)?;
            if let Some(again) = again {
                tally.keep(&again);
                tally.again += 1;
                keep(again, Vec::new())?;
            }
        }
    }
    Ok((tally, unmet))
}

/// A pair with what goes with it.
struct Completed {
    pair: SynthPair,
    /// The same query, asked again.
    again: Option<SynthPair>,
    related: RelatedQueries,
}

/// Adds to the pairs what is found by searching: databases that separate readings, related queries, and second questions.
fn completed(
    task: &DatabaseTask<'_>,
    world: &GrammarDatabase,
    (checker, speech): (&Checker<'_>, &Speech<'_>),
    pairs: Vec<(SynthPair, CheckedQuery)>,
) -> Vec<Completed> {
    let complete = |(mut pair, passed): (SynthPair, CheckedQuery)| {
        // Databases are made for SQLite's texts only.
        let separated = |pair: &SynthPair| {
            if checker.is_sqlite() {
                separating_databases(world, &pair.sql, &pair.other_readings)
            } else {
                vec![None; pair.other_readings.len()]
            }
        };
        pair.separating_databases = separated(&pair);
        let mut again = asked_again(task, (checker, speech), &pair, &passed);
        if let Some(again) = &mut again {
            again.separating_databases = separated(again);
        }
        let related = related_queries(world, checker, task.shares_beside, task.seed, (&pair.id, &passed));
        Completed { pair, again, related }
    };
    pairs.into_par_iter().map(complete).collect()
}

/// The pair's query with a second question, where one is wanted.
fn asked_again(
    task: &DatabaseTask<'_>,
    (checker, speech): (&Checker<'_>, &Speech<'_>),
    pair: &SynthPair,
    passed: &CheckedQuery,
) -> Option<SynthPair> {
    let first = (pair.question.as_deref()?, pair.style.as_deref()?.parse().ok()?);
    let mut random = Random::new([task.seed, seed_of(&pair.id)]);
    let outcome = task.asking.ask_again(first, &passed.query, (checker, speech), &mut random)?;
    Some(pair.asked_again(outcome))
}

/// The pairs that are asked for.
fn slots(task: &DatabaseTask<'_>, world: &GrammarDatabase) -> Vec<Slot> {
    let mut slots = Vec::new();
    let name = seed_of(&world.db_id);
    for number in 0..task.pairs {
        let mut random = Random::new([task.seed, name, number]);
        let mut wish = Wish::at(task.first + number, task.shares, &mut random);
        let demand = usize::try_from(number).ok().and_then(|number| task.demands.get(number));
        wish.demand = demand.copied();
        slots.push(Slot { number, wish, round: 0 });
    }
    let mut number = task.pairs;
    for tier in Tier::ALL {
        for _ in 0..task.carried[tier.index()] {
            let mut random = Random::new([task.seed, name, number]);
            slots.push(Slot { number, wish: Wish::of_tier(tier, &mut random), round: 0 });
            number += 1;
        }
    }
    slots
}

/// Draws queries until one is as wished for and passes all checks.
fn draw(
    task: &DatabaseTask<'_>,
    (world, checker, speech): (&GrammarDatabase, &Checker<'_>, &Speech<'_>),
    slot: &Slot,
    allowance: Allowance,
) -> Drawn {
    let mut tally = CorpusTally::default();
    let mut without_question = None;
    let mut choice: Choice<Found> = Choice::default();
    let mut unsaid = 0;
    let name = seed_of(&world.db_id);
    let style = task.asking.style(&mut Random::new([task.seed, name, slot.number, STYLE + slot.round]));
    for attempt in 0..LAST_TRY {
        let Some(parts) =
            WishParts::at(attempt, &slot.wish).filter(|_| !tally.spending.has_reached(&allowance))
        else {
            break;
        };
        // What was there already is drawn again, and then the first that is new will do.
        let most = if slot.round < CHOOSY_ROUNDS { CHOICE } else { 1 };
        if choice.is_made(attempt, parts, most) {
            break;
        }
        let stream = slot.round * u64::from(LAST_TRY) + u64::from(attempt);
        let mut random = Random::new([task.seed, name, slot.number, stream]);
        let grammar_random = Random::new([task.seed, name, slot.number, u64::MAX - stream]);
        let wish = parts.of(slot.wish, &mut random);
        tally.spending.queries += 1;
        let Some(query) = Grammar::new(world, task.sampler, wish, grammar_random).query() else { continue };
        let shape = QueryMeasures::of(&query, &world.schema);
        if !parts.is_met_by(&shape, &wish, world) {
            continue;
        }
        tally.spending.checked += 1;
        match checker.check(&query, &mut random) {
            Ok(passed) => {
                tally.spending.executed += 1;
                let outcome = task.asking.ask(&passed.query, style, (checker, speech), &mut random);
                if style.is_none() {
                    return Drawn { query: Some((passed, shape, outcome)), tally };
                }
                if let Some(question) = &outcome.question {
                    choice.add((attempt, parts), effort_of(question), (passed, shape, outcome));
                    continue;
                }
                tally.drop(RejectionReason::Unsayable);
                without_question.get_or_insert((passed, shape, outcome));
                unsaid += 1;
                if unsaid == MOST_UNSAID {
                    break;
                }
            }
            Err(reason) => {
                let ran = !matches!(
                    reason,
                    RejectionReason::Unprintable | RejectionReason::Unresolved | RejectionReason::OtherTree
                );
                tally.spending.executed += u64::from(ran);
                tally.drop(reason);
            }
        }
    }
    Drawn { query: choice.best.map(|(_, item)| item).or(without_question), tally }
}

/// A query that passed all checks, with its shape and its question.
type Found = (CheckedQuery, QueryMeasures, QuestionOutcome);

/// Chooses among what meets a wish: what takes the least effort.
struct Choice<T> {
    /// The try of the first one, and what was held to.
    first: Option<(u32, WishParts)>,
    count: usize,
    best: Option<(u64, T)>,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        Self { first: None, count: 0, best: None }
    }
}

impl<T> Choice<T> {
    /// Whether the best of those that were added is taken, at that try, with `most` to choose from.
    fn is_made(&self, attempt: u32, parts: WishParts, most: usize) -> bool {
        let is_late = |(first, earlier): (u32, WishParts)| earlier != parts || attempt > first + MORE_TRIES;
        let is_easy = self.best.as_ref().is_some_and(|(effort, _)| *effort <= EASY);
        is_easy || self.count >= most || self.first.is_some_and(is_late)
    }

    fn add(&mut self, at: (u32, WishParts), effort: u64, item: T) {
        self.first.get_or_insert(at);
        self.count += 1;
        if self.best.as_ref().is_none_or(|(least, _)| effort < *least) {
            self.best = Some((effort, item));
        }
    }
}

/// Which parts of a wish are still held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of the wish that is held to or not")]
struct WishParts {
    operator: bool,
    depth: bool,
    tier: bool,
    /// Whether another depth is not a great one.
    shallow: bool,
}

impl WishParts {
    /// Those of that attempt; `None` if there is no further attempt.
    fn at(attempt: u32, wish: &Wish) -> Option<Self> {
        let [operator, depth, shallow, tier] = TRIES.map(|last| attempt < last);
        let operator = operator || attempt < RARE_TRIES && wish.operator.is_rare();
        (tier || wish.demand.is_some()).then_some(Self { operator, depth, tier, shallow })
    }

    /// The wish with another operator, and then another depth, in place of those that are given up.
    fn of(self, wish: Wish, random: &mut Random) -> Wish {
        let other = Wish::common(wish.tier, random);
        let operator = if self.operator { wish.operator } else { other.operator };
        // Deep queries would pass for complex ones where nothing else does.
        let deepest =
            if self.shallow || wish.tier < Tier::HighlyComplex { wish.depth.max(2) } else { DEEPEST };
        let depth = if self.depth { wish.depth } else { other.depth.min(deepest) };
        Wish { depth, operator, ..wish }
    }

    fn is_met_by(self, shape: &QueryMeasures, wish: &Wish, world: &GrammarDatabase) -> bool {
        (!self.tier || Tier::of(shape) == wish.tier)
            && (!self.depth || shape.features.depth == wish.depth)
            && (!self.operator || (wish.operator.get().is_in)(shape))
            && wish.demand.is_none_or(|demand| uses(shape, demand, world))
    }
}

/// Whether a query of that shape uses what is demanded.
pub fn uses(shape: &QueryMeasures, demand: Demand, world: &GrammarDatabase) -> bool {
    let has = |table: usize, column: u32| {
        let declared = world.schema.table(world.tables[table].id);
        declared.and_then(|table| Some((table, table.column(column)?))).is_some_and(|(table, column)| {
            shape
                .features
                .columns
                .contains(&(table.name.to_ascii_lowercase(), column.name.to_ascii_lowercase()))
        })
    };
    match demand {
        Demand::Column(table, column) => has(table, column),
        Demand::Link(link) => {
            let link = &world.links[link];
            let all = |table: usize, columns: &[u32]| columns.iter().all(|&column| has(table, column));
            shape.features.joins > 0
                && all(link.child, &link.child_columns)
                && all(link.parent, &link.parent_columns)
        }
    }
}

/// All columns and links of a database, each so many times.
pub(crate) fn all_demands(world: &GrammarDatabase, times: usize) -> Vec<Demand> {
    let columns = (0..).zip(&world.tables).flat_map(|(table, profile)| {
        (0..).take(profile.columns.len()).map(move |column| Demand::Column(table, column))
    });
    let once: Vec<Demand> = columns.chain((0..world.links.len()).map(Demand::Link)).collect();
    std::iter::repeat_n(once, times).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_easiest_of_five_is_chosen_as_long_as_the_same_is_held_to() {
        let parts = |operator| WishParts { operator, depth: true, tier: true, shallow: true };
        let mut choice = Choice::default();
        assert!(!choice.is_made(900, parts(true), CHOICE));
        for (place, effort) in [(3, 30), (5, 22), (9, 22), (11, 40)] {
            choice.add((place, parts(true)), effort, place);
        }
        assert_eq!(choice.best, Some((22, 5)));
        assert!(!choice.is_made(12, parts(true), CHOICE));
        assert!(choice.is_made(12, parts(false), CHOICE), "another wish");
        assert!(choice.is_made(4 + MORE_TRIES, parts(true), CHOICE), "late");
        choice.add((12, parts(true)), 50, 12);
        assert!(choice.is_made(12, parts(true), CHOICE), "five");
        let mut easy = Choice::default();
        easy.add((0, parts(true)), EASY, ());
        assert!(easy.is_made(1, parts(true), CHOICE), "easy");
    }
}
