//! Regression trees as arrays: small on disk, quick to read.

use serde::Deserialize;

use crate::blob::{Blob, BlobValues, Blobs};
use crate::error::EvaluatorError;
use crate::meta_set::Rows;

use super::Model;

/// The mean of one or more trees. A node goes left where its descriptor is at most the threshold; a leaf is a node
/// that has itself on both sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FlatTrees {
    /// First node of each tree.
    roots: Vec<u32>,
    feature: Vec<u32>,
    threshold: Vec<f64>,
    left: Vec<u32>,
    right: Vec<u32>,
    output: Vec<f64>,
}

/// What smartcore writes of a tree.
#[derive(Deserialize)]
pub(super) struct GrownTree {
    nodes: Vec<GrownNode>,
}

#[derive(Deserialize)]
struct GrownNode {
    output: f64,
    split_feature: usize,
    split_value: Option<f64>,
    true_child: Option<usize>,
    false_child: Option<usize>,
}

impl FlatTrees {
    /// Lays grown trees out one after the other; none if one is too large for 32-bit indices.
    pub(crate) fn new(trees: &[GrownTree]) -> Option<Self> {
        let mut flat = Self::default();
        for tree in trees {
            let root = flat.output.len();
            flat.roots.push(u32::try_from(root).ok()?);
            for (place, node) in tree.nodes.iter().enumerate() {
                let child = |child: Option<usize>| u32::try_from(root + child.unwrap_or(place)).ok();
                flat.feature.push(u32::try_from(node.split_feature).ok()?);
                flat.threshold.push(node.split_value.unwrap_or(0.0));
                flat.left.push(child(node.true_child)?);
                flat.right.push(child(node.false_child)?);
                flat.output.push(node.output);
            }
        }
        Some(flat)
    }

    /// What [`Model::blobs`] gave. Children must come after their parent, so that every walk ends.
    pub(crate) fn load(blobs: &Blobs<'_>, width: usize) -> Result<Self, String> {
        let flat = Self {
            roots: blobs.u32s("roots")?.to_vec(),
            feature: blobs.u32s("feature")?.to_vec(),
            threshold: blobs.f64s("threshold")?.1.to_vec(),
            left: blobs.u32s("left")?.to_vec(),
            right: blobs.u32s("right")?.to_vec(),
            output: blobs.f64s("output")?.1.to_vec(),
        };
        let nodes = flat.output.len();
        let lengths = [flat.feature.len(), flat.threshold.len(), flat.left.len(), flat.right.len()];
        let after = |node: usize, child: u32| (node..nodes).contains(&(child as usize));
        let sound = lengths == [nodes; 4]
            && !flat.roots.is_empty()
            && flat.roots.iter().all(|&root| (root as usize) < nodes)
            && flat.feature.iter().all(|&feature| (feature as usize) < width)
            && (0..nodes).all(|node| {
                let [left, right] = [flat.left[node], flat.right[node]];
                let leaf = [left, right].map(|child| child as usize == node);
                after(node, left) && after(node, right) && leaf[0] == leaf[1]
            });
        if sound { Ok(flat) } else { Err("its trees do not hold together".to_owned()) }
    }

    fn value(&self, root: u32, row: &[f64]) -> f64 {
        let mut node = root as usize;
        loop {
            let below = row[self.feature[node] as usize] <= self.threshold[node];
            let next = if below { self.left[node] } else { self.right[node] } as usize;
            if next == node {
                return self.output[node];
            }
            node = next;
        }
    }
}

impl Model for FlatTrees {
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        let mean = |row: &[f64]| {
            self.roots.iter().map(|&root| self.value(root, row)).sum::<f64>() / self.roots.len() as f64
        };
        Ok(rows.iter().map(mean).collect())
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        let whole =
            |name, values: &[u32]| Blob::new(name, vec![values.len()], BlobValues::U32(values.to_vec()));
        let real =
            |name, values: &[f64]| Blob::new(name, vec![values.len()], BlobValues::F64(values.to_vec()));
        Ok(vec![
            whole("roots", &self.roots),
            whole("feature", &self.feature),
            real("threshold", &self.threshold),
            whole("left", &self.left),
            whole("right", &self.right),
            real("output", &self.output),
        ])
    }
}
