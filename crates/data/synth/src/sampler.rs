//! Chooses the next column: a small registry, so that the choice can be ablated.
//!
//! # Contract
//! A sampler gives each column of the schema a weight by how many joins lie between its table and the tables that the query
//! reads already. A table to which no join leads has no distance.

/// Chooses columns by weight.
#[derive(Debug)]
pub struct Sampler {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The weight of a column at that many joins from the query; `None` where no join leads.
    pub weight: fn(Option<u32>) -> f64,
}

/// The weight of a column to which no join leads, where distance counts: such a query is possible, and seldom meant.
const UNREACHABLE: f64 = 0.01;

/// The registry, the default first.
pub const SAMPLERS: &[Sampler] = &[
    Sampler {
        name: "schema-distance",
        summary: "the more joins a column needs, the less likely it is: 1 / (1 + joins)²",
        weight: |distance| distance.map_or(UNREACHABLE, |steps| 1.0 / f64::from(1 + steps.min(1000)).powi(2)),
    },
    Sampler {
        name: "uniform",
        summary: "every column of the schema is as likely as any other",
        weight: |_| 1.0,
    },
];

pub fn sampler(name: &str) -> Option<&'static Sampler> {
    SAMPLERS.iter().find(|sampler| sampler.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_columns_weigh_more_where_distance_counts() {
        let [distance, uniform] = ["schema-distance", "uniform"].map(|name| sampler(name).unwrap());
        let weights = |sampler: &Sampler| [Some(0), Some(1), Some(5), None].map(sampler.weight);
        assert!(weights(distance).is_sorted_by(|a, b| a > b));
        assert!(weights(uniform).iter().all(|weight| (weight - 1.0).abs() < f64::EPSILON));
        assert!(sampler("nothing").is_none());
    }
}
