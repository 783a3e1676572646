//! Whether a target is like the labelled data: one judgement per system and target, the same for every method.

use sqlgauge_base::counted;

use crate::case::{Standing, TargetCase};
use crate::errors::distance_of;
use crate::items::ItemModel;
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sets::cut_sets;
use crate::sums::{Sums, by_database, databases, is_elsewhere, shift, squared, sums_over, total};

/// A feature that is the same in every labelled item and another one in this share of the target's is new.
const NEW_SHARE: f64 = 0.25;

/// A feature counts as new only if chance, in which databases are labelled, would hide it less often than this.
const BY_CHANCE: f64 = 0.1;

/// Names of features that are the same for all questions of a database begin so.
const OF_DATABASES: &str = "schema.";

/// The feature that says whether a question comes with evidence.
const EVIDENCE: &str = "evidence.present";

/// Databases of one benchmark resemble each other: the mean of more than these lies no nearer to the others.
const MOST_DATABASES: usize = 4;

/// A set of fewer groups can lie far away by chance.
const FEWEST_FAR_GROUPS: usize = 3;

impl TargetCase<'_> {
    /// Whether the target lies outside what is labelled: one judgement for all methods.
    pub fn standing(&self) -> &Standing {
        self.standing.get_or_init(|| Standing::of(self))
    }
}

impl Standing {
    /// Compares the target's questions and answers with the labelled ones of its system, or of all systems where it has
    /// none. Outside is a target that
    ///
    /// - has a feature which never varied where labels are, in more databases than chance in which ones are labelled would make,
    /// - has a mean item that lies farther from the labelled ones than any labelled database from the others, more than
    ///   the choice of so few questions alone would make it, or
    /// - moved farther in the share of answers that run and in agreement than any set cut out of the known runs.
    fn of(case: &TargetCase<'_>) -> Self {
        let novelty = Novelty::of(case);
        let is_other_kind = novelty.as_ref().is_some_and(Novelty::is_other_kind);
        let reasons = novelty.map(|novelty| novelty.reasons()).unwrap_or_default();
        let reasons = reasons.into_iter().chain(moved_farther(case)).collect();
        Self { reasons, is_other_kind }
    }
}

/// Whether the signals moved farther than in any set of as many groups.
fn moved_farther(case: &TargetCase<'_>) -> Option<String> {
    let (labelled, sets) = cut_sets(case, &ItemModel::default());
    let source = labelled.iter().find(|of| of.system == case.target && total(&of.groups).runs > 0.0);
    let home: Vec<Sums> = match source {
        Some(source) => vec![total(&source.groups)],
        None => labelled.iter().map(|of| total(&of.groups)).filter(|sums| sums.runs > 0.0).collect(),
    };
    let questions = &case.evidence.questions;
    let target = sums_over(case, case.target, questions);
    let fewest = databases(case, questions).min(FEWEST_FAR_GROUPS);
    let farthest =
        sets.iter().filter(|set| set.groups[1].len() >= fewest).map(distance_of).reduce(f64::max)?;
    let count = home.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Sums) -> f64| home.iter().map(of).sum::<f64>() / count;
    let chance = target.noise()[0] + target.noise()[1] + mean(&|from| from.noise()[0] + from.noise()[1]);
    let distance = mean(&|from| squared(shift(from, &target))) - chance;
    if distance <= farthest {
        return None;
    }
    let [runs, agreement] = [0, 1].map(|part| mean(&|from| shift(from, &target)[part].powi(2)));
    let share = |part: f64, all: f64| 100.0 * part / all.max(1.0);
    let what = if runs >= agreement {
        let before = mean(&|from| share(from.runs, from.answers));
        format!(
            "the share of predictions that run went from {before:.1} % to {:.1} %",
            share(target.runs, target.answers)
        )
    } else {
        let before = mean(&|from| share(from.agreement, from.compared));
        let after = share(target.agreement, target.compared);
        format!("the agreement with other systems went from {before:.1} % to {after:.1} %")
    };
    Some(format!("{what}, farther than between any parts of the known runs"))
}

/// What is new in a target's items.
struct Novelty {
    /// Features that never varied where labels are, and differ on the target.
    new_features: Vec<String>,
    /// Squared distance of the target's mean item from the labelled mean item, in standard deviations per feature, less
    /// what the choice of the questions alone makes.
    distance: f64,
    /// The largest that as many labelled databases as the target has would have from the rest of the labelled items:
    /// that of a single one, over their number (four at most).
    largest_known: f64,
    /// Whether the labelled questions have evidence; `None` where the target is like them in that.
    labelled_evidence: Option<bool>,
    /// The target's questions have texts, the labelled ones none.
    lacks_texts: bool,
    /// All labels are of one database, so that nothing tells how far databases lie from each other.
    has_one: bool,
    /// The target has a database without labels.
    is_elsewhere: bool,
}

impl Novelty {
    fn of(case: &TargetCase<'_>) -> Option<Self> {
        let home_questions = case.labelled(case.target);
        let (system, labelled) = if home_questions.is_empty() {
            let sources = case.evidence.sources.iter().map(|&system| (system, case.labelled(system)));
            sources.max_by_key(|(_, questions)| questions.len())?
        } else {
            (case.target, home_questions)
        };
        let vectors = |system: SystemIndex, questions: &[QuestionIndex]| -> Vec<&[f32]> {
            let observations = questions.iter().filter_map(|&q| case.observed(system, q));
            observations.map(|seen| seen.features.as_slice()).collect()
        };
        let home = vectors(system, &labelled);
        let abroad = vectors(case.target, &case.evidence.questions);
        let scale = Scale::of(&home)?;
        let names = &case.evidence.table.feature_names;
        let home_databases = by_database(case, &labelled);
        let target_databases = by_database(case, &case.evidence.questions);
        let of_asked: Vec<Vec<&[f32]>> =
            target_databases.values().map(|group| vectors(case.target, group)).collect();
        // Databases differ in many features, each of which chance may hide.
        let many = names.iter().filter(|name| name.starts_with(OF_DATABASES)).count();
        let new_features = (0..scale.deviation.len())
            .filter(|&at| scale.deviation[at] < 1e-6)
            .filter(|&at| {
                let differs = |row: &&&[f32]| (f64::from(row[at]) - scale.mean[at]).abs() > 1e-6;
                let other = abroad.iter().filter(differs).count();
                let databases = of_asked.iter().filter(|rows| rows.iter().any(|row| differs(&row))).count();
                let alike =
                    if names.get(at).is_some_and(|name| name.starts_with(OF_DATABASES)) { many } else { 1 };
                other as f64 > NEW_SHARE * abroad.len() as f64
                    && !is_by_chance(home_databases.len(), of_asked.len(), databases, alike)
            })
            .filter_map(|at| names.get(at).cloned())
            .collect::<Vec<String>>();
        let evidence = names
            .iter()
            .position(|name| name == EVIDENCE)
            .filter(|_| new_features.iter().any(|name| name == EVIDENCE));
        let have_texts = |questions: &[QuestionIndex]| {
            questions.iter().any(|&question| !case.pool()[question].text.trim().is_empty())
        };
        let whole = Sum::of(&home);
        let largest_known = home_databases
            .values()
            .map(|group| {
                let part = Sum::of(&vectors(system, group));
                scale.distance(&part, &whole.without(&part))
            })
            .fold(0.0, f64::max);
        let distance = scale.distance(&Sum::of(&abroad), &whole);
        let databases = target_databases.len().clamp(1, MOST_DATABASES);
        Some(Self {
            new_features,
            labelled_evidence: evidence.map(|at| scale.mean[at] > 0.5),
            lacks_texts: have_texts(&case.evidence.questions) && !have_texts(&labelled),
            distance,
            // The choice of so few questions moves a mean by as much once more.
            largest_known: (largest_known / databases as f64).max(1.0 / abroad.len().max(1) as f64),
            has_one: home_databases.len() == 1,
            is_elsewhere: is_elsewhere(case, &labelled),
        })
    }

    fn is_other_kind(&self) -> bool {
        !self.new_features.is_empty() || (self.has_one && self.is_elsewhere)
    }

    /// What every labelled question has alike, and the target's have not.
    fn novel(&self) -> Option<String> {
        let words = match self.labelled_evidence {
            _ if self.new_features.is_empty() => return None,
            _ if self.lacks_texts => {
                "the known runs have no question texts, so the questions cannot be compared: score them again with --questions"
                    .to_owned()
            }
            Some(false) => "the new questions have evidence, the labelled ones have none".to_owned(),
            // The one thing that a file of questions may leave out although the systems had it.
            Some(true) => {
                "the labelled questions have evidence, the new ones have none; if the systems were given it, give it with the \
                 questions too"
                    .to_owned()
            }
            None => format!(
                "the labelled questions are all alike in {} of schema, question or answer, the new ones are not",
                counted(self.new_features.len(), "feature")
            ),
        };
        Some(words)
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        reasons.extend(self.novel());
        if self.has_one {
            if self.is_elsewhere {
                reasons
                    .push("all labels are of one database, and the target's is a different one".to_owned());
            }
        } else if self.distance > self.largest_known {
            let times = (self.distance / self.largest_known).sqrt();
            let how_much = if times < 1.1 { "slightly".to_owned() } else { format!("{times:.1} times") };
            reasons.push(format!(
                "the target lies {how_much} further away than any labelled database lies from the others"
            ));
        }
        reasons
    }
}

/// Whether as many databases that differ would all lie among the target's with [`BY_CHANCE`], if all databases were of one
/// kind and chance had chosen the labelled ones; in one of `alike` features, each of which is looked at (Bonferroni). Of too few
/// databases nothing can be put down to chance.
fn is_by_chance(labelled: usize, target: usize, differing: usize, alike: usize) -> bool {
    let all_asked = |count: usize| -> f64 {
        let drawn = (0..count).map(|at| target.saturating_sub(at) as f64 / (labelled + target - at) as f64);
        drawn.product()
    };
    all_asked(target) < BY_CHANCE && all_asked(differing.min(target)) >= BY_CHANCE / alike.max(1) as f64
}

struct Scale {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Scale {
    fn of(rows: &[&[f32]]) -> Option<Self> {
        let sum = Sum::of(rows);
        if rows.is_empty() {
            return None;
        }
        let mean = sum.mean();
        let deviation = (0..mean.len())
            .map(|at| {
                let square: f64 = rows.iter().map(|row| (f64::from(row[at]) - mean[at]).powi(2)).sum();
                (square / rows.len() as f64).sqrt()
            })
            .collect();
        Some(Self { mean, deviation })
    }

    /// Mean square of the standardised differences of two means over features that vary, less what it is between two
    /// random samples of these sizes.
    fn distance(&self, a: &Sum, b: &Sum) -> f64 {
        let (means, others) = (a.mean(), b.mean());
        let parts =
            means.iter().zip(&others).zip(&self.deviation).filter(|(_, deviation)| **deviation > 1e-6);
        let squares: Vec<f64> = parts.map(|((a, b), deviation)| ((a - b) / deviation).powi(2)).collect();
        let chance = 1.0 / a.count.max(1.0) + 1.0 / b.count.max(1.0);
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64 - chance).max(0.0)
    }
}

#[derive(Default)]
struct Sum {
    values: Vec<f64>,
    count: f64,
}

impl Sum {
    fn of(rows: &[&[f32]]) -> Self {
        let mut sum =
            Self { values: vec![0.0; rows.first().map_or(0, |row| row.len())], count: rows.len() as f64 };
        for row in rows {
            sum.values.iter_mut().zip(*row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        sum
    }

    fn mean(&self) -> Vec<f64> {
        self.values.iter().map(|value| value / self.count.max(1.0)).collect()
    }

    fn without(&self, part: &Self) -> Self {
        let mut rest = Self { values: self.values.clone(), count: self.count - part.count };
        rest.values.iter_mut().zip(&part.values).for_each(|(all, part)| *all -= part);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_named_and_evidence_that_is_not_there_has_a_remedy() {
        let reasons = |names: &[&str], labelled_evidence| {
            let new_features = names.iter().map(|&name| name.to_owned()).collect();
            let (distance, largest_known) = (0.0, 1.0);
            let (has_one, is_elsewhere, lacks_texts) = (false, false, names.contains(&"question.words"));
            Novelty {
                new_features,
                distance,
                largest_known,
                labelled_evidence,
                lacks_texts,
                has_one,
                is_elsewhere,
            }
            .reasons()
            .join("; ")
        };
        let sentence = "the labelled questions are all alike in 1 feature of schema, question or answer, the new ones are not";
        assert_eq!(reasons(&["schema.tables"], None), sentence);
        assert!(reasons(&["a", "b", "c", "d"], None).contains("in 4 features of schema"));
        let new = "the new questions have evidence, the labelled ones have none";
        assert_eq!(reasons(&["evidence.present", "evidence.words"], Some(false)), new);
        assert!(reasons(&["evidence.present"], Some(true)).ends_with("give it with the questions too"));
        let texts = reasons(&["question.words", "evidence.present"], Some(false));
        assert!(texts.ends_with("score them again with --questions"), "{texts}");
        assert!(reasons(&[], None).is_empty());
    }

    #[test]
    fn what_differs_in_few_of_many_databases_may_be_chance() {
        for (labelled, target, differing, alike, expected) in [
            (18, 2, 1, 1, true),
            (18, 2, 2, 1, false),
            (10, 10, 3, 1, true),
            (10, 10, 4, 1, false),
            (20, 11, 11, 1, false),
            (20, 1, 1, 1, false),
            // Of many features, some differ in these databases alone.
            (18, 2, 2, 20, true),
            (10, 10, 4, 20, true),
            (10, 10, 8, 20, false),
            (20, 11, 11, 20, false),
            (20, 1, 1, 20, true),
            // Of two databases and one nobody can tell.
            (2, 1, 1, 20, false),
        ] {
            let by_chance = is_by_chance(labelled, target, differing, alike);
            assert_eq!(by_chance, expected, "{labelled} {target} {differing} {alike}");
        }
    }
}
