//! Whether a target is of another kind than what is labelled, by its questions and schemas.

use crate::case::Case;
use crate::sets::groups;

/// A feature that is the same in every labelled item and another one in this share of the target's is new.
const NEW_SHARE: f64 = 0.25;

/// Databases of one benchmark resemble each other: the mean of more than these lies no nearer to the others.
const MOST_DATABASES: usize = 4;

/// What is new in a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Novelty {
    /// Features that never varied where labels are, and differ on the target.
    pub new_features: Vec<String>,
    /// Distance of the target's mean item from the labelled mean item, in standard deviations per feature.
    pub distance: f64,
    /// The largest distance that as many labelled databases as the target has would have from the rest of the labelled
    /// items: that of a single one, over the square root of their number (of four at most).
    pub largest_known: f64,
}

impl Novelty {
    /// Compares the target's items with the labelled ones of its system, or of all systems where it has none.
    pub fn of(case: &Case<'_>) -> Option<Self> {
        let own = case.labelled(case.target);
        let (system, labelled) = if own.is_empty() {
            let known = case.evidence.known.iter().map(|&system| (system, case.labelled(system)));
            known.max_by_key(|(_, questions)| questions.len())?
        } else {
            (case.target, own)
        };
        let vectors = |system: usize, questions: &[usize]| -> Vec<&[f32]> {
            let found = questions.iter().filter_map(|&q| case.signals(system, q));
            found.map(|signals| signals.features.as_slice()).collect()
        };
        let home = vectors(system, &labelled);
        let abroad = vectors(case.target, &case.evidence.questions);
        let scale = Scale::of(&home)?;
        let names = &case.evidence.table.feature_names;
        let new_features = (0..scale.deviation.len())
            .filter(|&at| scale.deviation[at] < 1e-6)
            .filter(|&at| {
                let other =
                    abroad.iter().filter(|row| (f64::from(row[at]) - scale.mean[at]).abs() > 1e-6).count();
                other as f64 > NEW_SHARE * abroad.len() as f64
            })
            .filter_map(|at| names.get(at).cloned())
            .collect();
        let whole = Sum::of(&home);
        let largest_known = groups(case, &labelled)
            .iter()
            .map(|group| {
                let part = Sum::of(&vectors(system, group));
                scale.distance(&part.mean(), &whole.without(&part).mean())
            })
            .fold(0.0, f64::max);
        let distance = scale.distance(&Sum::of(&abroad).mean(), &whole.mean());
        let databases = groups(case, &case.evidence.questions).len().clamp(1, MOST_DATABASES);
        Some(Self { new_features, distance, largest_known: largest_known / (databases as f64).sqrt() })
    }

    /// In words.
    pub fn describe(&self) -> String {
        let distance = format!(
            "distance {:.2} in standard deviations per feature, as many labelled databases at most {:.2}",
            self.distance, self.largest_known
        );
        if self.new_features.is_empty() {
            return distance;
        }
        format!("{distance}; new: {}", self.new_features.join(", "))
    }

    /// Whether the target lies outside: it has a feature that never varied, or lies farther than labelled
    /// databases lie from the others.
    pub fn is_outside(&self) -> bool {
        !self.new_features.is_empty() || self.distance > self.largest_known
    }
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

    /// Root mean square of the standardised differences, over features that vary.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let parts = a.iter().zip(b).zip(&self.deviation).filter(|(_, deviation)| **deviation > 1e-6);
        let squares: Vec<f64> = parts.map(|((a, b), deviation)| ((a - b) / deviation).powi(2)).collect();
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
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
