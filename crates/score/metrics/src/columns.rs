//! Whether two results are equal up to a permutation of the columns.
//!
//! The official Spider script tries every permutation of the columns, which takes factorial time in their
//! number. The answer here is the same; only the way to it differs.
//!
//! - *Rows in order*: a permutation exists exactly if both results have the same bag of columns, each column
//!   taken as a sequence. Expected time is linear in the number of cells.
//! - *Rows as a bag*: both orders are free, which makes the question one of isomorphism between two coloured
//!   structures of rows and columns. Rows and columns are coloured by each other's colours until nothing more
//!   separates (colour refinement); where several columns still share a colour, one of them is paired with
//!   each candidate in turn, and refinement goes on. A colouring alone never decides that results are equal:
//!   a complete permutation is checked row by row. A round costs one look at every cell; on real results two
//!   or three rounds settle every column, so time is linear in cells. No polynomial algorithm is known for
//!   the worst case (hypergraph isomorphism), so highly symmetric results that differ in no local way may
//!   need exponentially many pairings: the search gives up after [`WORK_LIMIT`] cells and says so.

use std::collections::HashMap;

use sqlgauge_engine::compare::pyeq::{FoldMap, Grid};

/// Cells that the search may look at before it gives up; less than a second of work. Three rounds over the largest results
/// that a run keeps take no more.
pub(crate) const WORK_LIMIT: u64 = 200_000_000;

/// Outcome of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matching {
    /// Equal: column `i` of the first result is column `permutation[i]` of the second.
    Equal {
        /// One such permutation.
        permutation: Vec<usize>,
    },
    /// Different under every permutation.
    Different,
    /// Not found within [`WORK_LIMIT`].
    Undecided,
}

/// Matches columns so that the rows are equal in their order.
pub(crate) fn match_ordered(first: &Grid, second: &Grid) -> Matching {
    if first.width != second.width || first.cells.len() != second.cells.len() {
        return Matching::Different;
    }
    if first.cells == second.cells {
        return Matching::Equal { permutation: (0..first.width).collect() };
    }
    let mut free: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
    for index in (0..second.width).rev() {
        free.entry(second.column(index).collect()).or_default().push(index);
    }
    let take = |index| free.get_mut(&first.column(index).collect::<Vec<_>>()).and_then(Vec::pop);
    match (0..first.width).map(take).collect() {
        Some(permutation) => Matching::Equal { permutation },
        None => Matching::Different,
    }
}

/// Matches columns so that the bags of rows are equal.
pub(crate) fn match_unordered(first: &Grid, second: &Grid) -> Matching {
    if first.width != second.width || first.cells.len() != second.cells.len() {
        return Matching::Different;
    }
    if first.cells == second.cells || bag(first) == bag(second) {
        return Matching::Equal { permutation: (0..first.width).collect() };
    }
    let (first, second) = (Side::new(first), Side::new(second));
    if first.columns.len() != second.columns.len() || first.rows != second.rows {
        return Matching::Different;
    }
    let mut search = Search { first: &first, second: &second, work_left: WORK_LIMIT };
    match search.extend(first.initial_colours(), second.initial_colours()) {
        Step::Found(columns) => Matching::Equal { permutation: expand(&first, &second, &columns) },
        Step::Refuted => Matching::Different,
        Step::OutOfWork => Matching::Undecided,
    }
}

/// How often each row occurs.
fn bag(grid: &Grid) -> FoldMap<&[u32], u64> {
    let mut counts = FoldMap::default();
    for row in grid.rows() {
        *counts.entry(row).or_insert(0) += 1;
    }
    counts
}

/// A result without repetition: equal rows and equal columns are one each, with their number. Equal columns
/// can only be matched to equal columns, so this loses nothing, and it takes away most of the symmetry.
struct Side {
    rows: usize,
    /// How often each different row occurs.
    row_counts: Vec<u64>,
    /// The different columns.
    columns: Vec<Vec<u32>>,
    /// For each different column, the columns of the result that it stands for.
    members: Vec<Vec<usize>>,
}

impl Side {
    fn new(grid: &Grid) -> Self {
        let counts = bag(grid);
        let rows: Vec<&[u32]> = counts.keys().copied().collect();
        let mut by_content: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for index in 0..grid.width {
            by_content.entry(rows.iter().map(|row| row[index]).collect()).or_default().push(index);
        }
        let (columns, members) = by_content.into_iter().unzip();
        Self { rows: rows.len(), row_counts: counts.into_values().collect(), columns, members }
    }

    fn initial_colours(&self) -> Vec<u64> {
        self.members.iter().map(|members| members.len() as u64).collect()
    }

    /// One round: rows by the columns' colours and their values, then columns by the rows'. Returns a
    /// fingerprint of all row colours.
    fn refine(&self, colours: &mut [u64]) -> u64 {
        let mut row_colours: Vec<u64> = self.row_counts.clone();
        for (column, &colour) in self.columns.iter().zip(&*colours) {
            for (row, &cell) in row_colours.iter_mut().zip(column) {
                *row = row.wrapping_add(mix(colour, u64::from(cell)));
            }
        }
        for (row, &count) in row_colours.iter_mut().zip(&self.row_counts) {
            *row = mix(*row, count);
        }
        for (column, colour) in self.columns.iter().zip(colours) {
            let sum = column
                .iter()
                .zip(&row_colours)
                .fold(0_u64, |sum, (&cell, &row)| sum.wrapping_add(mix(row, u64::from(cell))));
            *colour = mix(*colour, sum);
        }
        row_colours.iter().fold(0, |sum, &row| sum.wrapping_add(mix(row, 1)))
    }

    /// The bag of rows with the columns in that order.
    fn bag_in_order(&self, order: &[usize]) -> HashMap<Vec<u32>, u64> {
        let row = |index: usize| order.iter().map(|&c| self.columns[c][index]).collect();
        (0..self.rows).map(|index| (row(index), self.row_counts[index])).collect()
    }
}

/// Mixes two numbers into one; a round of splitmix64's finaliser.
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_add(0x632b_e59b_d9b4_e019);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

enum Step {
    /// For each different column of the first side, one of the second.
    Found(Vec<usize>),
    Refuted,
    OutOfWork,
}

struct Search<'a> {
    first: &'a Side,
    second: &'a Side,
    work_left: u64,
}

impl Search<'_> {
    /// Looks for a permutation that respects the colours.
    fn extend(&mut self, mut first: Vec<u64>, mut second: Vec<u64>) -> Step {
        let mut classes = 0;
        loop {
            let cells = 2 * (self.first.rows * self.first.columns.len()).max(1) as u64;
            let Some(left) = self.work_left.checked_sub(cells) else { return Step::OutOfWork };
            self.work_left = left;
            if self.first.refine(&mut first) != self.second.refine(&mut second) {
                return Step::Refuted;
            }
            let (ours, theirs) = (by_colour(&first), by_colour(&second));
            let same = ours.iter().map(|&(colour, _)| colour).eq(theirs.iter().map(|&(colour, _)| colour));
            if !same {
                return Step::Refuted;
            }
            let parts = ours.chunk_by(|a, b| a.0 == b.0).count();
            if parts == ours.len() {
                return self.check(&ours, &theirs);
            }
            if parts == classes {
                return self.branch(&first, &second, &ours, &theirs);
            }
            classes = parts;
        }
    }

    /// All colours differ, so the permutation is settled: it counts only if the rows agree.
    fn check(&self, ours: &[(u64, usize)], theirs: &[(u64, usize)]) -> Step {
        let order = |side: &[(u64, usize)]| side.iter().map(|&(_, column)| column).collect::<Vec<_>>();
        let (ours, theirs) = (order(ours), order(theirs));
        if self.first.bag_in_order(&ours) != self.second.bag_in_order(&theirs) {
            return Step::Refuted;
        }
        let mut columns = vec![0; ours.len()];
        for (&our, &their) in ours.iter().zip(&theirs) {
            columns[our] = their;
        }
        Step::Found(columns)
    }

    /// Pairs one column of the smallest ambiguous class with each candidate in turn.
    fn branch(
        &mut self,
        first: &[u64],
        second: &[u64],
        ours: &[(u64, usize)],
        theirs: &[(u64, usize)],
    ) -> Step {
        let classes = ours.chunk_by(|a, b| a.0 == b.0).filter(|class| class.len() > 1);
        let Some(&(colour, column)) = classes.min_by_key(|class| class.len()).and_then(|c| c.first()) else {
            return Step::Refuted;
        };
        let chosen = mix(colour, u64::MAX);
        let mut ours = first.to_vec();
        ours[column] = chosen;
        for &(_, candidate) in theirs.iter().filter(|&&(their, _)| their == colour) {
            let mut theirs = second.to_vec();
            theirs[candidate] = chosen;
            match self.extend(ours.clone(), theirs) {
                Step::Refuted => {}
                decided => return decided,
            }
        }
        Step::Refuted
    }
}

/// Colour and column, sorted by colour.
fn by_colour(colours: &[u64]) -> Vec<(u64, usize)> {
    let mut sorted: Vec<(u64, usize)> = colours.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    sorted
}

/// A permutation of all columns from one of the different columns.
fn expand(first: &Side, second: &Side, columns: &[usize]) -> Vec<usize> {
    let width = first.members.iter().map(Vec::len).sum();
    let mut permutation = vec![0; width];
    for (ours, &column) in first.members.iter().zip(columns) {
        for (&our, &their) in ours.iter().zip(&second.members[column]) {
            permutation[our] = their;
        }
    }
    permutation
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permuted(grid: &Grid, permutation: &[usize]) -> Vec<Vec<u32>> {
        grid.rows().map(|row| permutation.iter().map(|&c| row[c]).collect()).collect()
    }

    fn equal_under(first: &Grid, second: &Grid, permutation: &[usize], ordered: bool) -> bool {
        let mut ours: Vec<Vec<u32>> = first.rows().map(<[u32]>::to_vec).collect();
        let mut theirs = permuted(second, permutation);
        if !ordered {
            ours.sort();
            theirs.sort();
        }
        ours == theirs
    }

    /// The official search: every permutation.
    fn brute_force(first: &Grid, second: &Grid, ordered: bool) -> bool {
        fn search(first: &Grid, second: &Grid, ordered: bool, chosen: &mut Vec<usize>) -> bool {
            if chosen.len() == first.width {
                return equal_under(first, second, chosen, ordered);
            }
            for column in 0..first.width {
                if !chosen.contains(&column) {
                    chosen.push(column);
                    if search(first, second, ordered, chosen) {
                        return true;
                    }
                    chosen.pop();
                }
            }
            false
        }
        search(first, second, ordered, &mut Vec::new())
    }

    fn verify(first: &Grid, second: &Grid) {
        for ordered in [true, false] {
            let matching =
                if ordered { match_ordered(first, second) } else { match_unordered(first, second) };
            let expected = brute_force(first, second, ordered);
            match matching {
                Matching::Equal { permutation } => {
                    assert!(expected && equal_under(first, second, &permutation, ordered));
                }
                Matching::Different => assert!(!expected, "missed a match: {first:?} {second:?}"),
                Matching::Undecided => panic!("gave up on a tiny case"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Few values make symmetric, ambiguous grids; unrelated grids are mostly different.
        #[test]
        fn agrees_with_brute_force_on_unrelated_grids(
            width in 1_usize..5,
            height in 1_usize..5,
            cells in prop::collection::vec(0_u32..2, 50),
        ) {
            let size = width * height;
            let first = Grid { width, cells: cells[..size].to_vec() };
            let second = Grid { width, cells: cells[25..25 + size].to_vec() };
            verify(&first, &second);
        }

        /// A shuffled copy, in half of the cases with one cell changed.
        #[test]
        fn agrees_with_brute_force_on_near_copies(
            (width, order) in (1_usize..6).prop_flat_map(|width| {
                (Just(width), Just((0..width).collect::<Vec<_>>()).prop_shuffle())
            }),
            height in 1_usize..7,
            cells in prop::collection::vec(0_u32..3, 36),
            change in prop::option::of((0_usize..36, 0_u32..3)),
            reverse in any::<bool>(),
        ) {
            let first = Grid { width, cells: cells[..width * height].to_vec() };
            let mut rows = permuted(&first, &order);
            if reverse {
                rows.reverse();
            }
            let mut second = Grid { width, cells: rows.concat() };
            if let Some((at, value)) = change {
                let at = at % second.cells.len();
                second.cells[at] = value;
            }
            verify(&first, &second);
        }
    }

    /// Deterministic numbers for large grids.
    fn numbers(count: usize, modulus: u64) -> Vec<u32> {
        (0..count as u64).map(|i| u32::try_from(mix(i, 7) % modulus).unwrap()).collect()
    }

    #[test]
    fn wide_and_long_results_with_few_values_are_matched() {
        let (width, height) = (60, 5000);
        let first = Grid { width, cells: numbers(width * height, 3) };
        let order: Vec<usize> = (0..width).map(|i| (i * 7 + 3) % width).collect();
        let mut rows = permuted(&first, &order);
        rows.reverse();
        let mut second = Grid { width, cells: rows.concat() };
        assert!(matches!(match_unordered(&first, &second), Matching::Equal { .. }));
        second.cells.swap(0, 1);
        second.cells[width] = 9;
        assert_eq!(match_unordered(&first, &second), Matching::Different);
    }

    #[test]
    fn a_fully_symmetric_result_is_matched() {
        let width = 40;
        let one_hot = |shift: usize| Grid {
            width,
            cells: (0..width * width).map(|i| u32::from(i % width == (i / width + shift) % width)).collect(),
        };
        assert!(matches!(match_unordered(&one_hot(0), &one_hot(11)), Matching::Equal { .. }));
    }

    /// A graph as a result: a row for each edge, a column for each vertex. Rings of `length` vertices, `vertices` in all.
    fn rings(length: usize, vertices: usize) -> Grid {
        let next = |v: usize| if v % length == length - 1 { v + 1 - length } else { v + 1 };
        let row = |v| (0..vertices).map(move |at| u32::from(at == v || at == next(v)));
        Grid { width: vertices, cells: (0..vertices).flat_map(row).collect() }
    }

    /// A pairing of any two columns is refuted soon, but each of them has to be.
    #[test]
    fn a_search_that_takes_too_long_is_given_up() {
        assert_eq!(match_unordered(&rings(3, 60), &rings(6, 60)), Matching::Different);
        assert_eq!(match_unordered(&rings(3, 900), &rings(6, 900)), Matching::Undecided);
    }

    /// Rows are the edges of a graph and columns its vertices: two triangles and one hexagon look alike to
    /// refinement, so only the search can tell them apart.
    #[test]
    fn two_triangles_are_no_hexagon() {
        let edges = |edges: [(usize, usize); 6]| {
            let row = |(a, b)| (0..6).map(move |v| u32::from(v == a || v == b));
            Grid { width: 6, cells: edges.into_iter().flat_map(row).collect() }
        };
        let triangles = edges([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]);
        let hexagon = edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]);
        assert_eq!(match_unordered(&triangles, &hexagon), Matching::Different);
        let renamed = edges([(5, 1), (1, 3), (5, 3), (0, 4), (4, 2), (0, 2)]);
        assert!(matches!(match_unordered(&triangles, &renamed), Matching::Equal { .. }));
    }
}
