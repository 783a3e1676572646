//! Groups tables into databases.
//!
//! # Contract
//! Tables of one folder come together by declared foreign keys first, those of the highest score before others; then by
//! similarity, the highest first, from [`crate::TablesOptions::similarity`] on. A database has at most [`crate::TablesOptions::max_tables`] tables,
//! those of splits not counted; what would make it larger is left out, and a foreign key that is left out so is told as `apart`.
//!
//! The similarity of two tables is the mean of two weighted Jaccard coefficients: of the names of their columns (schema), and of the
//! words of their own names (topic). What many tables of the folder have weighs little: ln(tables / tables that have it).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlgauge_names::spoken_words;

use crate::analyse::Analysed;
use crate::foreign::Inclusion;
use crate::options::TablesOptions;
use crate::report::ForeignKeyOutcome;

/// Most tables that a name may be common to for it to bring two of them together.
const COMMON: usize = 40;

/// The tables of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The files, rising.
    pub(crate) files: Vec<usize>,
    /// What brought them together.
    pub(crate) by: BTreeSet<&'static str>,
}

/// The databases in the order of their first files. Foreign keys between two of them are marked.
pub(crate) fn cluster(tables: &[Analysed], keys: &mut [Inclusion], options: &TablesOptions) -> Vec<Cluster> {
    let mut sets = Sets::new(tables.len(), options.max_tables.max(1));
    let mut order: Vec<usize> =
        (0..keys.len()).filter(|&at| keys[at].outcome == ForeignKeyOutcome::Declared).collect();
    order.sort_by(|&one, &other| {
        keys[other].scores.total.total_cmp(&keys[one].scores.total).then(one.cmp(&other))
    });
    for at in order {
        let (from, to) = (keys[at].from.0, keys[at].to.0);
        if from != to && !sets.join(from, to, "foreign-keys") {
            keys[at].outcome = ForeignKeyOutcome::Apart;
        }
    }
    for (_, one, other) in similar(tables, options.similarity) {
        sets.join(one, other, "similar");
    }
    sets.clusters()
}

/// Pairs of tables of one folder from a similarity on, the most similar first.
fn similar(tables: &[Analysed], least: f64) -> Vec<(f64, usize, usize)> {
    let mut folders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, table) in tables.iter().enumerate() {
        folders.entry(table.source.folder()).or_default().push(at);
    }
    let mut similarities: Vec<(f64, usize, usize)> = Vec::new();
    for files in folders.values() {
        let schema = |at: usize| tables[at].names.iter().map(|(name, _)| name.to_lowercase()).collect();
        let topic = |at: usize| spoken_words(&tables[at].source.stem()).into_iter().collect();
        let schemas = Features::new(files, schema);
        let topics = Features::new(files, topic);
        let pairs: BTreeSet<(usize, usize)> = schemas.pairs().chain(topics.pairs()).collect();
        for (one, other) in pairs {
            let score = f64::midpoint(schemas.jaccard(one, other), topics.jaccard(one, other));
            if score >= least {
                similarities.push((score, files[one], files[other]));
            }
        }
    }
    similarities
        .sort_by(|one, other| other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    similarities
}

/// What tables have, with its weights.
struct Features {
    of: Vec<BTreeSet<String>>,
    holders: HashMap<String, Vec<usize>>,
}

impl Features {
    fn new(files: &[usize], of: impl Fn(usize) -> BTreeSet<String>) -> Self {
        let of: Vec<BTreeSet<String>> = files.iter().map(|&file| of(file)).collect();
        let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, features) in of.iter().enumerate() {
            features.iter().for_each(|feature| holders.entry(feature.clone()).or_default().push(at));
        }
        Self { of, holders }
    }

    /// The pairs that have something in common that not all have.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let shared = self.holders.values().filter(|holders| (2..=COMMON).contains(&holders.len()));
        shared.flat_map(|holders| {
            holders
                .iter()
                .enumerate()
                .flat_map(|(at, &one)| holders[at + 1..].iter().map(move |&other| (one, other)))
        })
    }

    fn weight(&self, feature: &str) -> f64 {
        let holders = self.holders.get(feature).map_or(1, Vec::len);
        // With one more table than there are, so that what all have still weighs a little.
        ((self.of.len() + 1) as f64 / holders as f64).ln()
    }

    fn jaccard(&self, one: usize, other: usize) -> f64 {
        let sum = |features: &mut dyn Iterator<Item = &String>| {
            features.map(|feature| self.weight(feature)).sum::<f64>()
        };
        let both = sum(&mut self.of[one].intersection(&self.of[other]));
        let all = sum(&mut self.of[one].union(&self.of[other]));
        if all > 0.0 { both / all } else { 0.0 }
    }
}

/// Disjoint sets of limited size.
struct Sets {
    parent: Vec<usize>,
    size: Vec<usize>,
    by: Vec<BTreeSet<&'static str>>,
    most: usize,
}

impl Sets {
    fn new(count: usize, most: usize) -> Self {
        Self { parent: (0..count).collect(), size: vec![1; count], by: vec![BTreeSet::new(); count], most }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Brings two together; whether they are.
    fn join(&mut self, one: usize, other: usize, by: &'static str) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        let (first, second) = (one.min(other), one.max(other));
        if first == second {
            return true;
        }
        if self.size[first] + self.size[second] > self.most {
            return false;
        }
        self.parent[second] = first;
        self.size[first] += self.size[second];
        let others = std::mem::take(&mut self.by[second]);
        self.by[first].extend(others);
        self.by[first].insert(by);
        true
    }

    fn clusters(mut self) -> Vec<Cluster> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.parent.len() {
            let root = self.root(at);
            members.entry(root).or_default().push(at);
        }
        let cluster = |(root, files): (usize, Vec<usize>)| {
            let mut by = std::mem::take(&mut self.by[root]);
            if files.len() == 1 {
                by.insert("one-table");
            }
            Cluster { files, by }
        };
        members.into_iter().map(cluster).collect()
    }
}
