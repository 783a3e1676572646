//! Where the permitted results of two executed queries differ.
//!
//! # Contract
//! The term that comes out holds wherever some result is permitted to one query and not to the other. A limit without
//! an order that decides permits several: each content has a least and a most number of rows, and two queries permit
//! the same bags if and only if these and the number of rows agree (a bag within the bounds of the one is within those
//! of the other, and either bound is reached). Asked the one way, it holds wherever some result is permitted to the right query and
//! not to the left one: a bag of the right one is one of the left one if its bounds lie within the left one's.

use super::exec::{Executed, LimitClause, Ranked, SortDirection};
use super::ir::{Sort, Term, Terms};
use super::world::{Stop, SymbolicWorld};
use super::{Permitted, ResultSemantics};

/// How often a content is among the rows that a query takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Often {
    least: Term,
    most: Term,
}

/// The rows that a query takes: surely, or perhaps.
struct RowsTaken {
    rows: Vec<Ranked>,
    sure: Vec<Term>,
    /// Those whose keys tie where the limit cuts.
    tied: Vec<Term>,
    /// How many of the tied rows are taken.
    of_tied: Term,
    all_tied: Term,
    total: Term,
    is_cut: bool,
}

/// Whether the permitted results differ.
///
/// # Errors
/// [`Stop::Size`].
pub(crate) fn differ(
    world: &mut SymbolicWorld<'_>,
    left: &Executed,
    right: &Executed,
    semantics: ResultSemantics,
    permitted: Permitted,
) -> Result<Term, Stop> {
    let width = |executed: &Executed| executed.rows.first().map(|row| row.values.len());
    if let (Some(left), Some(right)) = (width(left), width(right))
        && left != right
    {
        return Ok(Terms::TRUE);
    }
    let (lefts, rights) = (rows_of(world, left.clone())?, rows_of(world, right.clone())?);
    if semantics == ResultSemantics::Set {
        let one = missing(world, &lefts, &rights)?;
        let other = missing(world, &rights, &lefts)?;
        return Ok(world.terms.or(one, other));
    }
    let contents = bags_differ(world, &lefts, &rights, permitted)?;
    let mut differences = vec![contents];
    let (first, second) = ((&lefts, left), (&rights, right));
    let counted: &[_] = match semantics {
        ResultSemantics::Set | ResultSemantics::Bag => &[],
        ResultSemantics::List => &[(first, second)],
        ResultSemantics::Lists => &[(first, second), (second, first)],
    };
    for &((first, by), (second, by_other)) in counted {
        let is_single = by.cut.is_some_and(|cut| takes_one(world, cut));
        if !by.directions.is_empty() && !is_single {
            differences.push(orders_differ(world, (first, &by.directions), (second, &by_other.directions))?);
        }
    }
    Ok(world.terms.any(differences))
}

fn takes_one(world: &mut SymbolicWorld<'_>, cut: LimitClause) -> bool {
    let one = world.terms.integer(1);
    cut.limit == Some(one)
}

/// Which rows are taken. The cut leaves nothing out before.
fn rows_of(world: &mut SymbolicWorld<'_>, executed: Executed) -> Result<RowsTaken, Stop> {
    let Executed { mut rows, directions, cut } = executed;
    rows.retain(|row| row.present != Terms::FALSE);
    let presents: Vec<Term> = rows.iter().map(|row| row.present).collect();
    let total = world.terms.count(presents.iter().copied());
    let zero = world.terms.zero(Sort::Integer);
    let Some(limit) = cut.and_then(|cut| cut.limit) else {
        let tied = vec![Terms::FALSE; rows.len()];
        let (of_tied, all_tied, is_cut) = (zero, zero, false);
        return Ok(RowsTaken { rows, sure: presents, tied, of_tied, all_tied, total, is_cut });
    };
    let places = places(world, &rows, &directions)?;
    let (mut sure, mut tied, mut of_tied) = (Vec::new(), Vec::new(), zero);
    for (at, &(before, end)) in places.iter().enumerate() {
        let terms = &mut world.terms;
        let fits = terms.at_most(end, limit);
        sure.push(terms.and(presents[at], fits));
        let begins = terms.less(before, limit);
        let not_fits = terms.not(fits);
        let is_tied = terms.all([presents[at], begins, not_fits]);
        let minus = terms.negate(before);
        let left = terms.add(Sort::Integer, [limit, minus]);
        of_tied = terms.choose(is_tied, left, of_tied);
        tied.push(is_tied);
    }
    for one in 0..rows.len() {
        for other in one + 1..rows.len() {
            let same = world.terms.same_rows(&rows[one].values, &rows[other].values);
            let both = world.terms.and(tied[one], tied[other]);
            let settled = world.terms.implies(both, same);
            world.settle(settled);
        }
    }
    let terms = &mut world.terms;
    let all_tied = terms.count(tied.iter().copied());
    let is_less = terms.less(limit, total);
    let total = terms.choose(is_less, limit, total);
    Ok(RowsTaken { rows, sure, tied, of_tied, all_tied, total, is_cut: true })
}

/// For each row how many come before it by their keys, and how many come before it or tie with it.
fn places(
    world: &mut SymbolicWorld<'_>,
    rows: &[Ranked],
    directions: &[SortDirection],
) -> Result<Vec<(Term, Term)>, Stop> {
    world.check_size(rows.len())?;
    let mut counts = Vec::new();
    for row in rows {
        let (mut before, mut not_after) = (Vec::new(), Vec::new());
        for other in rows {
            let is_before = world.terms.sorts_before(&other.keys, &row.keys, directions);
            let is_after = world.terms.sorts_before(&row.keys, &other.keys, directions);
            let terms = &mut world.terms;
            let is_not_after = terms.not(is_after);
            before.push(terms.and(other.present, is_before));
            not_after.push(terms.and(other.present, is_not_after));
        }
        counts.push((world.terms.count(before), world.terms.count(not_after)));
    }
    Ok(counts)
}

/// Whether a row of the first is not among the second.
fn missing(world: &mut SymbolicWorld<'_>, side: &RowsTaken, other_side: &RowsTaken) -> Result<Term, Stop> {
    world.check_size(side.rows.len().max(other_side.rows.len()))?;
    let mut absences = Vec::new();
    for (row, &present) in side.rows.iter().zip(&side.sure) {
        let mut alike = Vec::new();
        for (other, &there) in other_side.rows.iter().zip(&other_side.sure) {
            let same = world.terms.same_rows(&row.values, &other.values);
            alike.push(world.terms.and(there, same));
        }
        let terms = &mut world.terms;
        let is_there = terms.any(alike);
        let is_missing = terms.not(is_there);
        absences.push(terms.and(present, is_missing));
    }
    Ok(world.terms.any(absences))
}

fn bags_differ(
    world: &mut SymbolicWorld<'_>,
    left: &RowsTaken,
    right: &RowsTaken,
    permitted: Permitted,
) -> Result<Term, Stop> {
    world.check_size(left.rows.len().max(right.rows.len()))?;
    let totals = world.terms.equal(left.total, right.total);
    let mut differences = vec![world.terms.not(totals)];
    let is_cut = left.is_cut || right.is_cut;
    let (lefts, rights) = if is_cut { (all(left), all(right)) } else { unlike(left, right) };
    // Without a limit the numbers of rows and of each content of the one are enough.
    let rows: Vec<(&RowsTaken, usize)> = lefts
        .iter()
        .map(|&at| (left, at))
        .chain(rights.iter().filter(|_| is_cut).map(|&at| (right, at)))
        .collect();
    for (side, at) in rows {
        let ours = often(world, side, at, left, &lefts)?;
        let theirs = often(world, side, at, right, &rights)?;
        let terms = &mut world.terms;
        let (least, most) = match permitted {
            Permitted::Same => (terms.equal(ours.least, theirs.least), terms.equal(ours.most, theirs.most)),
            Permitted::NoMore => {
                (terms.at_most(ours.least, theirs.least), terms.at_most(theirs.most, ours.most))
            }
        };
        let same = terms.and(least, most);
        let differs = terms.not(same);
        differences.push(terms.and(side.rows[at].present, differs));
    }
    Ok(world.terms.any(differences))
}

fn all(side: &RowsTaken) -> Vec<usize> {
    (0..side.rows.len()).collect()
}

/// The places of the rows that are not term by term in both.
fn unlike(left: &RowsTaken, right: &RowsTaken) -> (Vec<usize>, Vec<usize>) {
    let mut rights = all(right);
    let is_alike = |at: usize, other: &usize| {
        let (row, other) = (&left.rows[at], &right.rows[*other]);
        row.present == other.present && row.values == other.values
    };
    let lefts =
        (0..left.rows.len()).filter(|&at| match rights.iter().position(|other| is_alike(at, other)) {
            Some(place) => {
                rights.swap_remove(place);
                false
            }
            None => true,
        });
    (lefts.collect(), rights)
}

/// How often the content of that row is among those rows.
fn often(
    world: &mut SymbolicWorld<'_>,
    side: &RowsTaken,
    at: usize,
    among: &RowsTaken,
    places: &[usize],
) -> Result<Often, Stop> {
    world.check_size(0)?;
    let (mut sure, mut tied) = (Vec::new(), Vec::new());
    for &place in places {
        let same = world.terms.same_rows(&side.rows[at].values, &among.rows[place].values);
        let terms = &mut world.terms;
        sure.push(terms.and(among.sure[place], same));
        tied.push(terms.and(among.tied[place], same));
    }
    let terms = &mut world.terms;
    let sure = terms.count(sure);
    if !among.is_cut {
        return Ok(Often { least: sure, most: sure });
    }
    let zero = terms.zero(Sort::Integer);
    let tied = terms.count(tied);
    let minus = terms.negate(among.all_tied);
    let others_left = terms.add(Sort::Integer, [among.of_tied, tied, minus]);
    let is_forced = terms.less(zero, others_left);
    let forced = terms.choose(is_forced, others_left, zero);
    let is_enough = terms.less(tied, among.of_tied);
    let possible = terms.choose(is_enough, tied, among.of_tied);
    Ok(Often {
        least: terms.add(Sort::Integer, [sure, forced]),
        most: terms.add(Sort::Integer, [sure, possible]),
    })
}

/// Of two equal bags, whether some permitted order of the right one leaves the runs of equal keys of the left one.
fn orders_differ(
    world: &mut SymbolicWorld<'_>,
    (left, left_directions): (&RowsTaken, &[SortDirection]),
    (right, right_directions): (&RowsTaken, &[SortDirection]),
) -> Result<Term, Stop> {
    let ours = places(world, &left.rows, left_directions)?;
    let theirs = places(world, &right.rows, right_directions)?;
    let mut differences = Vec::new();
    for (at, row) in left.rows.iter().enumerate() {
        let (begin, end) = ours[at];
        let mut of_ours = Vec::new();
        for (other, place) in left.rows.iter().zip(&ours) {
            let same = world.terms.same_rows(&row.values, &other.values);
            let in_run = world.terms.equal(place.0, begin);
            of_ours.push(world.terms.all([other.present, same, in_run]));
        }
        let (mut of_theirs, mut straddles) = (Vec::new(), Vec::new());
        for (place_of_other, (other, &(before, last))) in right.rows.iter().zip(&theirs).enumerate() {
            let same = world.terms.same_rows(&row.values, &other.values);
            let terms = &mut world.terms;
            let (not_before, is_before_end) = (terms.at_most(begin, before), terms.less(before, end));
            let in_run = terms.all([other.present, not_before, is_before_end]);
            of_theirs.push(terms.and(in_run, same));
            let ends_later = terms.less(end, last);
            let is_across = terms.and(in_run, ends_later);
            let is_free = shows_order(world, right, &theirs, place_of_other);
            straddles.push(world.terms.and(is_across, is_free));
        }
        let terms = &mut world.terms;
        let (of_ours, of_theirs) = (terms.count(of_ours), terms.count(of_theirs));
        let same = terms.equal(of_ours, of_theirs);
        let differs = terms.not(same);
        let differs = terms.and(left.sure[at], differs);
        let straddles = terms.any(straddles);
        let straddles = terms.and(row.present, straddles);
        differences.extend([differs, straddles]);
    }
    Ok(world.terms.any(differences))
}

/// Whether a row ties with one of another content.
fn shows_order(world: &mut SymbolicWorld<'_>, side: &RowsTaken, places: &[(Term, Term)], at: usize) -> Term {
    let mut witnesses = Vec::new();
    for (other, place) in side.rows.iter().zip(places) {
        let same = world.terms.same_rows(&side.rows[at].values, &other.values);
        let terms = &mut world.terms;
        let differs = terms.not(same);
        let ties = terms.equal(place.0, places[at].0);
        witnesses.push(terms.all([other.present, ties, differs]));
    }
    world.terms.any(witnesses)
}
