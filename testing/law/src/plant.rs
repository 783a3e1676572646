//! Rules broken on purpose: the law must find each of them.
//!
//! Most defects are lies: the rule alone is told something of the schema or of the place in the query that is not so
//! ("no column may be NULL"), and rewrites where it must not. Rules that ask for nothing cannot be lied to; what they
//! wrote is damaged instead.

use std::time::{Duration, Instant};

use sqlgauge_etm::law::{Lies, RewriteChange, Stepper};
use sqlgauge_etm::{Position, Profile, Rule, rules};
use sqlgauge_sql::schema::{Affinity, Collation, ForeignKey, Schema, Table};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{resolve, schema::TableKind};

use crate::check::{Violation, differ};
use crate::damage::Damage;
use crate::dice::Dice;
use crate::generate::{Generator, text};
use crate::report::breaks_law;
use crate::world::{World, shapes};

/// A defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    /// No column may be NULL.
    NothingIsNull,
    /// Every column is a key.
    EverythingIsUnique,
    /// All text is compared byte by byte.
    NothingIsCollated,
    /// All columns have one affinity.
    OneAffinity,
    /// Every column refers to every key.
    EverythingRefers,
    /// A reference has the affinity and the collation of its key.
    ReferencesCompare,
    /// All of these lies about the schema.
    EverythingHolds,
    /// The order in which rows are read never shows.
    NoPlanShows,
    /// Every expression only decides whether a row passes.
    EverythingIsCondition,
    /// Every query stands where repeated rows do not count.
    EverythingIsSet,
    /// Every query stands in EXISTS.
    EverythingIsExists,
    /// Every aggregate belongs to the query that it stands in.
    EveryAggregateIsOwn,
    /// What the rule wrote is damaged.
    Damaged(Damage),
}

impl Plant {
    /// All lies, those about the schema first.
    pub(crate) const LIES: [Self; 12] = [
        Self::NothingIsNull,
        Self::EverythingIsUnique,
        Self::NothingIsCollated,
        Self::OneAffinity,
        Self::EverythingRefers,
        Self::ReferencesCompare,
        Self::EverythingHolds,
        Self::NoPlanShows,
        Self::EverythingIsCondition,
        Self::EverythingIsSet,
        Self::EverythingIsExists,
        Self::EveryAggregateIsOwn,
    ];

    /// All defects that suit any rule.
    pub fn all() -> Vec<Self> {
        Self::LIES.into_iter().chain(Damage::OF_RULES.map(Self::Damaged)).collect()
    }

    /// What the rule is told about its place in the query.
    pub(crate) fn lies(self) -> Lies {
        Lies {
            no_plan_shows: self == Self::NoPlanShows,
            is_condition: self == Self::EverythingIsCondition,
            position: match self {
                Self::EverythingIsSet => Some(Position::In),
                Self::EverythingIsExists => Some(Position::Exists),
                _ => None,
            },
            owns_aggregates: self == Self::EveryAggregateIsOwn,
        }
    }

    /// What the rule takes the schema for.
    pub(crate) fn schema(self, schema: &Schema) -> Schema {
        let all = self == Self::EverythingHolds;
        let keys: Vec<(String, String)> = schema
            .tables()
            .iter()
            .flat_map(|table| table.columns.iter().map(|column| (table.name.clone(), column.name.clone())))
            .collect();
        let mut tables = schema.tables().to_vec();
        if self == Self::ReferencesCompare {
            take_over_keys(schema, &mut tables);
        }
        for table in tables.iter_mut().filter(|table| table.kind == TableKind::Table) {
            let count = u32::try_from(table.columns.len()).unwrap_or(0);
            for column in &mut table.columns {
                if all || self == Self::NothingIsNull {
                    column.not_null = true;
                }
                if all || self == Self::NothingIsCollated {
                    column.collation = Collation::Binary;
                }
                if all || self == Self::OneAffinity {
                    column.affinity = Affinity::Text;
                }
            }
            if all || self == Self::EverythingIsUnique {
                table.unique = (0..count).map(|column| vec![column]).collect();
            }
            if all || self == Self::EverythingRefers {
                for column in 0..count {
                    table.foreign_keys.extend(keys.iter().map(|(parent, target)| ForeignKey {
                        columns: vec![column],
                        referenced_table: parent.clone(),
                        referenced_columns: vec![target.clone()],
                        ..ForeignKey::default()
                    }));
                }
            }
        }
        Schema::new(tables)
    }
}

/// Gives every reference the type and the collation of its key.
fn take_over_keys(schema: &Schema, tables: &mut [Table]) {
    for table in tables {
        for key in &table.foreign_keys {
            let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
            let Some(parent) = schema.table(target) else { continue };
            for (&from, &to) in key.columns.iter().zip(&columns) {
                if let (Some(column), Some(key)) = (table.columns.get_mut(from as usize), parent.column(to)) {
                    column.affinity = key.affinity;
                    column.collation.clone_from(&key.collation);
                }
            }
        }
    }
}

/// How a defect was found.
#[derive(Debug, Clone)]
pub struct Detection {
    /// The pair that shows it.
    pub violation: Violation,
    /// After how long.
    pub time: Duration,
    /// After how many queries.
    pub queries: usize,
}

/// Looks for a defect in a rule; `None` if `limit` passes without a find.
pub fn find(rule: &'static Rule, plant: Plant, seed: u64, limit: Duration) -> Option<Detection> {
    let started = Instant::now();
    let generator = Generator::default();
    let shapes = shapes();
    let mut queries = 0;
    for round in 0.. {
        let mut dice = Dice::new(seed, round);
        let Ok(world) = World::draw(&shapes, &mut dice) else { continue };
        let broken = Broken::new(rule, plant, &world);
        for _ in 0..60 {
            if started.elapsed() > limit {
                return None;
            }
            let drawn = generator.draw_for(rule.id, &world, &mut dice);
            let sql = drawn.filter(|_| dice.chance(90)).unwrap_or_else(|| generator.draw(&world, &mut dice));
            queries += 1;
            if let Some(violation) = broken.applications(&sql).find_map(|pair| broken.judge(pair)) {
                return Some(Detection { violation, time: started.elapsed(), queries });
            }
            world.databases.iter().for_each(crate::database::Database::forget);
        }
    }
    None
}

/// A rule with a defect, over one world.
pub struct Broken<'w> {
    rule: &'static Rule,
    plant: Plant,
    world: &'w World,
    /// The schema that the rule believes in.
    believed: Schema,
}

/// A query and what a rule makes of it, as texts.
type Application = (String, String);

/// From how many forms of one query the rule begins.
const MOST_STARTS: usize = 8;

impl<'w> Broken<'w> {
    /// The rule with that defect.
    pub fn new(rule: &'static Rule, plant: Plant, world: &'w World) -> Self {
        let believed = match plant {
            Plant::Damaged(_) => world.schema.as_ref().clone(),
            lie => lie.schema(&world.schema),
        };
        Self { rule, plant, world, believed }
    }

    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// What the rule makes of the query, and of what all rules make of it, before and after; only where it makes
    /// something else than it would without the defect.
    pub fn applications<'a>(&'a self, sql: &'a str) -> Box<dyn Iterator<Item = Application> + 'a> {
        let query = resolve(sql, &self.world.schema).ok().filter(Stepper::has_normal_form);
        let Some(query) = query else { return Box::new(std::iter::empty()) };
        let start = Stepper::start(&query);
        match self.plant {
            Plant::Damaged(damage) => Box::new(self.damaged(damage, sql, start).into_iter()),
            _ => Box::new(self.forms(sql, &start).into_iter().flat_map(|sql| self.misled(&sql))),
        }
    }

    fn text(&self, query: &Query) -> Option<String> {
        text(query, &self.world.schema)
    }

    fn damaged(&self, damage: Damage, sql: &str, start: Query) -> Vec<Application> {
        if damage.is_of_resolution() {
            let damaged = damage.of(None, &start).and_then(|damaged| self.text(&damaged));
            return damaged.map(|damaged| (sql.to_owned(), damaged)).into_iter().collect();
        }
        let mut before = start;
        let mut all = Vec::new();
        for step in Stepper::new(&self.world.schema).steps(&before).steps {
            let is_meant = match step.change {
                RewriteChange::Rule(rule) => rule.id == self.rule.id,
                RewriteChange::CanonicalOrder => damage.is_of_order(),
                RewriteChange::Unreported => false,
            };
            if is_meant && let Some(damaged) = damage.of(Some(&before), &step.query) {
                all.extend(self.text(&before).zip(self.text(&damaged)));
            }
            before = step.query;
        }
        all
    }

    /// The query and what the rules make of it, as texts.
    fn forms(&self, sql: &str, start: &Query) -> Vec<String> {
        let steps = Stepper::new(&self.world.schema).steps(start).steps;
        let mut forms = vec![sql.to_owned()];
        forms.extend(steps.iter().filter_map(|step| self.text(&step.query)));
        forms.dedup();
        forms.truncate(MOST_STARTS);
        forms
    }

    /// What the rule alone does because it believes a lie.
    fn misled(&self, sql: &str) -> Vec<Application> {
        let honest = Stepper::only(self.rule, Lies::default(), &self.world.schema);
        let liar = Stepper::only(self.rule, self.plant.lies(), &self.believed);
        let right = applied(&honest, sql, &self.world.schema);
        let mut all = applied(&liar, sql, &self.believed);
        all.retain(|application| !right.contains(application));
        all
    }

    fn judge(&self, (before, after): Application) -> Option<Violation> {
        let query = resolve(&before, &self.world.schema).ok()?;
        let (kind, database, note) = differ(&before, &query, &after, &self.world.databases)?;
        let rule = self.rule.id.to_owned();
        breaks_law(kind).then_some(Violation { rule, kind, before, after, database: Some(database), note })
    }
}

/// A text before and after each application.
fn applied(stepper: &Stepper<'_>, sql: &str, schema: &Schema) -> Vec<Application> {
    let Ok(query) = resolve(sql, schema) else { return Vec::new() };
    let start = Stepper::start(&query);
    let steps = stepper.steps(&start).steps;
    let texts: Vec<String> = std::iter::once(&start)
        .chain(steps.iter().map(|step| &step.query))
        .map_while(|query| text(query, schema))
        .collect();
    let pairs = texts.windows(2).filter(|pair| pair[0] != pair[1]);
    pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// The registry: for each rule of the sound profile the defects that the law is known to find in it.
pub const PLANTS: &[(&str, &[Plant])] = {
    use Damage as D;
    use Plant as P;
    &[
        ("P0", &[P::Damaged(D::LetterCase)]),
        ("P1", &[P::Damaged(D::Prefix)]),
        ("P3", &[P::Damaged(D::Alias)]),
        ("P4", &[P::Damaged(D::SidesOfJoin)]),
        ("P5", &[P::Damaged(D::SidesOfOperator)]),
        ("P6", &[P::Damaged(D::OutputAlias)]),
        ("P7", &[P::Damaged(D::Parentheses)]),
        ("P8", &[P::Damaged(D::Quotes)]),
        ("1", &[P::EverythingHolds, P::NothingIsNull]),
        ("2", &[P::EverythingIsUnique]),
        ("3", &[P::Damaged(D::Turned), P::Damaged(D::Distinct)]),
        ("4", &[P::EverythingIsUnique]),
        ("5", &[P::NothingIsNull, P::OneAffinity]),
        ("6", &[P::NothingIsNull]),
        ("7", &[P::NothingIsNull]),
        ("8", &[P::NothingIsNull]),
        ("9", &[P::NothingIsNull]),
        ("10", &[P::NothingIsNull]),
        ("11", &[P::Damaged(D::Star)]),
        ("12", &[P::OneAffinity]),
        ("13", &[P::EverythingIsUnique]),
        ("14", &[P::EverythingHolds, P::EverythingIsUnique, P::ReferencesCompare]),
        ("18", &[P::Damaged(D::Dropped)]),
        ("19", &[P::OneAffinity, P::Damaged(D::Joined)]),
        ("20", &[P::EverythingHolds, P::EverythingIsUnique]),
        ("21", &[P::NoPlanShows, P::Damaged(D::Distinct)]),
        ("22", &[P::Damaged(D::Dropped)]),
        ("23", &[P::Damaged(D::Turned)]),
        ("24", &[P::Damaged(D::Unwrapped)]),
        ("25", &[P::NothingIsNull]),
        ("26", &[P::Damaged(D::Filter)]),
        ("S1", &[P::EverythingIsCondition]),
        ("S2", &[P::Damaged(D::Dropped)]),
        ("S3", &[P::NoPlanShows, P::Damaged(D::Joined)]),
        ("S4", &[P::EverythingRefers, P::ReferencesCompare]),
        ("S5", &[P::EverythingIsUnique]),
        ("S6", &[P::Damaged(D::Distinct), P::Damaged(D::Turned)]),
        ("S7", &[P::NoPlanShows, P::EverythingIsUnique]),
        ("S8", &[P::EverythingIsCondition]),
        ("S9", &[P::NothingIsNull]),
        ("S10", &[P::EverythingIsExists]),
        ("S11", &[P::EverythingIsSet]),
        ("S12", &[P::NothingIsCollated, P::NoPlanShows]),
        ("S13", &[P::Damaged(D::Filter)]),
        ("S14", &[P::Damaged(D::Filter), P::Damaged(D::Turned), P::Damaged(D::Distinct)]),
        ("S15", &[P::Damaged(D::Turned), P::Damaged(D::Filter)]),
        ("S16", &[P::Damaged(D::Turned)]),
        ("S17", &[P::Damaged(D::Unwrapped)]),
        ("S18", &[P::EverythingIsUnique]),
        ("S19", &[P::EverythingHolds, P::Damaged(D::Turned), P::Damaged(D::Filter)]),
        ("S20", &[P::NothingIsNull]),
        ("S21", &[P::EverythingIsUnique]),
        ("S22", &[P::Damaged(D::Turned), P::Damaged(D::Filter)]),
        ("S23", &[P::Damaged(D::Constant), P::Damaged(D::Turned)]),
        ("S24", &[P::Damaged(D::Constant)]),
        ("S25", &[P::Damaged(D::Filter), P::EverythingHolds]),
        ("S26", &[P::Damaged(D::Turned)]),
        ("S27", &[P::Damaged(D::Filter), P::Damaged(D::Turned)]),
        ("S28", &[P::EverythingRefers, P::EverythingHolds, P::ReferencesCompare]),
        ("S29", &[P::Damaged(D::Turned)]),
        ("S30", &[P::NoPlanShows]),
        ("S31", &[P::Damaged(D::Constant)]),
        ("S32", &[P::Damaged(D::Constant)]),
    ]
};

/// The defects registered for a rule; none for a rule that the registry does not have.
pub fn plants(rule: &Rule) -> &'static [Plant] {
    PLANTS.iter().find(|(id, _)| *id == rule.id).map_or(&[], |(_, plants)| plants)
}

pub fn sound_rules() -> impl Iterator<Item = &'static Rule> {
    rules().iter().copied().filter(|rule| rule.profiles.contains(Profile::Sound))
}
