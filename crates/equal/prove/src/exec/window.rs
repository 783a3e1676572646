//! Window functions.
//!
//! # Contract
//! A window is evaluated over the rows that WHERE and HAVING let pass. Rows that tie in its order may stand in any; that
//! order is decided by priorities as under LIMIT, one for each window, and shows in `row_number`, lag, lead, `first_value`,
//! `last_value`, `nth_value` and frames that count rows. A sum over a frame whose start moves may be a real number where all
//! that is in the frame is integers: SQLite takes off the sum what leaves the frame.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{
    Args, ColumnRef, Expr, FrameBound, FrameExclude, FrameMode, Literal, OrderTerm, Select, Window,
    WindowCall,
};
use sqlgauge_sql::visit::children;

use super::{Env, Ranked, Run, SortDirection};
use crate::ir::{Sort, Term, Terms};
use crate::value::SymbolicValue;
use crate::world::Stop;

/// The rows of a SELECT in one window.
struct Placed {
    envs: Vec<Env>,
    /// For every two rows whether the second is there and in the partition of the first.
    together: Vec<Vec<Term>>,
    /// For every two rows of one partition whether the first comes before the second by the keys.
    before: Vec<Vec<Term>>,
    /// The same with ties broken, and the rows of its partition before each row; only where it shows.
    order: Option<(Vec<Vec<Term>>, Vec<Term>)>,
}

impl Placed {
    fn len(&self) -> usize {
        self.envs.len()
    }

    fn order(&self) -> Result<(&[Vec<Term>], &[Term]), Stop> {
        let order = self.order.as_ref().ok_or_else(|| Stop::unsupported("window without an order"))?;
        Ok((&order.0, &order.1))
    }
}

/// Where a frame begins and ends: so many rows or groups after the row at hand.
#[derive(Clone, Copy)]
struct Ends {
    start: Option<i64>,
    end: Option<i64>,
}

impl Run<'_, '_> {
    /// Adds the values of window functions to each row.
    pub(super) fn add_windows(
        &mut self,
        select: &Select,
        order_by: &[OrderTerm],
        rows: &mut [(Term, Env)],
    ) -> Result<(), Stop> {
        self.world.check_size(rows.len())?;
        let mut collector = Calls::default();
        let outputs = select.outputs.iter().map(|output| &output.expr);
        for expr in outputs.chain(order_by.iter().map(|term| &term.expr)) {
            collector.add_calls(expr);
            collector.columns.extend(reads::columns(expr));
        }
        if collector.calls.is_empty() {
            return Ok(());
        }
        let contents = self.contents(select, &collector.columns, rows)?;
        let mut results: Vec<HashMap<WindowCall, SymbolicValue>> = vec![HashMap::new(); rows.len()];
        let mut windows: Vec<&Window> = Vec::new();
        for call in &collector.calls {
            let site = windows.iter().position(|window| **window == call.window).unwrap_or(windows.len());
            if site == windows.len() {
                windows.push(&call.window);
            }
            let placed = self.placed(call, site, rows, &contents)?;
            let values = self.window_values(call, &placed)?;
            results.iter_mut().zip(values).for_each(|(result, value)| {
                result.insert(call.clone(), value);
            });
        }
        for ((_, env), result) in rows.iter_mut().zip(results) {
            env.windows = Some(Rc::new(result));
        }
        Ok(())
    }

    /// What tells the rows of a SELECT apart as far as its results show.
    fn contents(
        &mut self,
        select: &Select,
        columns: &BTreeSet<ColumnRef>,
        rows: &[(Term, Env)],
    ) -> Result<Vec<Vec<SymbolicValue>>, Stop> {
        let mut contents = Vec::new();
        for (_, env) in rows {
            let mut content: Vec<SymbolicValue> =
                columns.iter().filter_map(|column| env.column(*column)).collect();
            content.extend(self.values(&select.group_by, env)?);
            contents.push(content);
        }
        Ok(contents)
    }

    fn placed(
        &mut self,
        call: &WindowCall,
        site: usize,
        rows: &[(Term, Env)],
        contents: &[Vec<SymbolicValue>],
    ) -> Result<Placed, Stop> {
        let (mut partitions, mut keys) = (Vec::new(), Vec::new());
        for (_, env) in rows {
            let mut partition = Vec::new();
            for expr in &call.window.partition_by {
                let value = self.value(expr, env)?;
                partition.push(self.key(expr, value)?);
            }
            let mut key = Vec::new();
            for term in &call.window.order_by {
                let value = self.value(&term.expr, env)?;
                key.push(self.key(&term.expr, value)?);
            }
            partitions.push(partition);
            keys.push(key);
        }
        let directions: Vec<SortDirection> = call.window.order_by.iter().map(SortDirection::of).collect();
        let count = rows.len();
        let mut together = vec![vec![Terms::FALSE; count]; count];
        let mut before = together.clone();
        for one in 0..count {
            self.world.check_size(0)?;
            for other in 0..count {
                let terms = &mut self.world.terms;
                let same = terms.same_rows(&partitions[one], &partitions[other]);
                together[one][other] = terms.and(rows[other].0, same);
                before[one][other] = terms.sorts_before(&keys[one], &keys[other], &directions);
            }
        }
        let envs = rows.iter().map(|row| row.1.clone()).collect();
        let mut placed = Placed { envs, together, before, order: None };
        if breaks_ties(call) {
            let precedes = self.window_order(site, rows, contents, (&partitions, &keys), directions)?;
            let terms = &mut self.world.terms;
            let positions = (0..count).map(|row| count_where(terms, &placed, row, |at| precedes[at][row]));
            placed.order = Some((precedes.clone(), positions.collect()));
        }
        Ok(placed)
    }

    /// For every two rows whether the first is there and stands before the second, partition after partition.
    fn window_order(
        &mut self,
        site: usize,
        rows: &[(Term, Env)],
        contents: &[Vec<SymbolicValue>],
        (partitions, keys): (&[Vec<SymbolicValue>], &[Vec<SymbolicValue>]),
        directions: Vec<SortDirection>,
    ) -> Result<Vec<Vec<Term>>, Stop> {
        let width = partitions.first().map_or(0, Vec::len);
        let mut all = vec![SortDirection { descending: false, nulls_first: true }; width];
        all.extend(directions);
        let ranked: Vec<Ranked> = (0..rows.len())
            .map(|at| Ranked {
                present: rows[at].0,
                values: contents[at].clone().into(),
                keys: [partitions[at].as_slice(), &keys[at]].concat(),
            })
            .collect();
        self.precedence(format!("window {site}"), &ranked, &all)
    }

    /// The values of a window function, one of each row.
    fn window_values(&mut self, call: &WindowCall, placed: &Placed) -> Result<Vec<SymbolicValue>, Stop> {
        use Function as F;
        (0..placed.len())
            .map(|row| {
                self.world.check_size(0)?;
                match &call.function {
                    F::RowNumber => Ok(self.one_more(placed.order()?.1[row])),
                    F::Rank => {
                        let before = |at: usize| placed.before[at][row];
                        let first = count_where(&mut self.world.terms, placed, row, before);
                        Ok(self.one_more(first))
                    }
                    F::DenseRank => {
                        let group = group_number(&mut self.world.terms, placed, row);
                        Ok(self.one_more(group))
                    }
                    F::PercentRank | F::CumeDist => Ok(self.distribution(&call.function, placed, row)),
                    F::Lag => self.shifted(call, placed, row, -1),
                    F::Lead => self.shifted(call, placed, row, 1),
                    F::FirstValue | F::LastValue | F::NthValue => self.nth_of_frame(call, placed, row),
                    F::Ntile => self.tile(call, placed, row),
                    _ => self.over_frame(call, placed, row),
                }
            })
            .collect()
    }

    fn one_more(&mut self, number: Term) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let one = terms.integer(1);
        let number = terms.add(Sort::Integer, [number, one]);
        terms.integer_value(number, Terms::FALSE)
    }

    /// NTILE: the rows of the partition in so many parts, the larger ones first.
    fn tile(&mut self, call: &WindowCall, placed: &Placed, row: usize) -> Result<SymbolicValue, Stop> {
        let [Expr::Literal(Literal::Integer(parts @ 1..))] = call.args.as_slice() else {
            return Err(Stop::unsupported("ntile of what is no constant"));
        };
        let position = placed.order()?.1[row];
        let terms = &mut self.world.terms;
        let size = terms.count(placed.together[row].iter().copied());
        let mut tile = terms.integer(1);
        for rows in (1..).take(placed.len()) {
            let (least, larger) = (rows / parts, rows % parts);
            let is_size = {
                let rows = terms.integer(rows);
                terms.equal(size, rows)
            };
            for at in 0..rows {
                let in_larger = larger * (least + 1);
                let number =
                    if at < in_larger { at / (least + 1) } else { larger + (at - in_larger) / least };
                let (at, number) = (terms.integer(at), terms.integer(number + 1));
                let is_at = terms.equal(position, at);
                let holds = terms.and(is_size, is_at);
                tile = terms.choose(holds, number, tile);
            }
        }
        Ok(terms.integer_value(tile, Terms::FALSE))
    }

    fn distribution(&mut self, function: &Function, placed: &Placed, row: usize) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let first = count_where(terms, placed, row, |at| placed.before[at][row]);
        let (one, minus_one) = (terms.integer(1), terms.integer(-1));
        let size = terms.count(placed.together[row].iter().copied());
        let real = if *function == Function::PercentRank {
            let others = terms.add(Sort::Integer, [size, minus_one]);
            let is_alone = terms.equal(size, one);
            let divisor = terms.choose(is_alone, one, others);
            let (first, divisor) = (terms.real_of(first), terms.real_of(divisor));
            terms.divide(first, divisor)
        } else {
            let not_after: Vec<Term> = (0..placed.len())
                .map(|at| {
                    let is_not_after = terms.not(placed.before[row][at]);
                    terms.and(placed.together[row][at], is_not_after)
                })
                .collect();
            let count = terms.count(not_after);
            // A row that is not there may be alone in its partition.
            let zero = terms.zero(Sort::Integer);
            let is_empty = terms.equal(size, zero);
            let divisor = terms.choose(is_empty, one, size);
            let (count, divisor) = (terms.real_of(count), terms.real_of(divisor));
            terms.divide(count, divisor)
        };
        terms.real_value(real, Terms::FALSE)
    }

    /// LAG and LEAD.
    fn shifted(
        &mut self,
        call: &WindowCall,
        placed: &Placed,
        row: usize,
        sign: i64,
    ) -> Result<SymbolicValue, Stop> {
        let list = call.args.as_slice();
        let Some(arg) = list.first() else { return Err(Stop::unsupported(call.function.name())) };
        let distance = match list.get(1) {
            None => 1,
            Some(Expr::Literal(Literal::Integer(distance))) if *distance >= 0 => *distance,
            Some(_) => return Err(Stop::unsupported("offset that is no constant")),
        };
        let mut value = match list.get(2) {
            Some(default) => self.value(default, &placed.envs[row])?,
            None => self.world.terms.null(),
        };
        let positions = placed.order()?.1;
        let distance = self.world.terms.integer(sign.saturating_mul(distance));
        let wanted = self.world.terms.add(Sort::Integer, [positions[row], distance]);
        for (at, &position) in positions.iter().enumerate() {
            let other = self.value(arg, &placed.envs[at])?;
            let terms = &mut self.world.terms;
            let is_there = terms.equal(position, wanted);
            let is_wanted = terms.and(placed.together[row][at], is_there);
            value = terms.choose_value(is_wanted, other, value);
        }
        Ok(value)
    }

    /// `FIRST_VALUE`, `LAST_VALUE` and `NTH_VALUE`.
    fn nth_of_frame(
        &mut self,
        call: &WindowCall,
        placed: &Placed,
        row: usize,
    ) -> Result<SymbolicValue, Stop> {
        let list = call.args.as_slice();
        let Some(arg) = list.first() else { return Err(Stop::unsupported(call.function.name())) };
        let place = match (&call.function, list.get(1)) {
            (Function::NthValue, Some(Expr::Literal(Literal::Integer(place)))) if *place > 0 => place - 1,
            (Function::NthValue, _) => return Err(Stop::unsupported("place that is no constant")),
            _ => 0,
        };
        let frame = self.frame(&call.window, placed, row)?;
        let precedes = placed.order()?.0;
        let mut value = self.world.terms.null();
        for at in 0..placed.len() {
            let other = self.value(arg, &placed.envs[at])?;
            let terms = &mut self.world.terms;
            let nearer: Vec<Term> = (0..placed.len())
                .map(|next| {
                    let is_nearer = if call.function == Function::LastValue {
                        precedes[at][next]
                    } else {
                        precedes[next][at]
                    };
                    terms.and(frame[next], is_nearer)
                })
                .filter(|&nearer| nearer != Terms::FALSE)
                .collect();
            let count = terms.count(nearer);
            let wanted = terms.integer(place);
            let is_there = terms.equal(count, wanted);
            let is_wanted = terms.and(frame[at], is_there);
            value = terms.choose_value(is_wanted, other, value);
        }
        Ok(value)
    }

    fn over_frame(&mut self, call: &WindowCall, placed: &Placed, row: usize) -> Result<SymbolicValue, Stop> {
        let mut frame = self.frame(&call.window, placed, row)?;
        if let Some(filter) = &call.filter {
            for (env, is_in) in placed.envs.iter().zip(&mut frame) {
                let holds = self.truth(filter, env)?.is_true;
                *is_in = self.world.terms.and(*is_in, holds);
            }
        }
        let [arg] = call.args.as_slice() else {
            return match (&call.function, &call.args) {
                (Function::Count, Args::Star | Args::List(_)) => {
                    let terms = &mut self.world.terms;
                    let count = terms.count(frame);
                    Ok(terms.integer_value(count, Terms::FALSE))
                }
                _ => Err(Stop::unsupported(call.function.name())),
            };
        };
        let mut members = Vec::new();
        let mut outside = Vec::new();
        for (at, (env, is_in)) in placed.envs.iter().zip(frame).enumerate() {
            let value = self.value(arg, env)?;
            let terms = &mut self.world.terms;
            let not_null = terms.not(value.is_null);
            let is_in = terms.and(is_in, not_null);
            let is_out = terms.not(is_in);
            outside.push((terms.all([placed.together[row][at], not_null, is_out]), value));
            if is_in != Terms::FALSE {
                members.push((is_in, value));
            }
        }
        let value = self.folded(&call.function, arg, &members)?;
        if call.function == Function::Sum && ends(&call.window)?.start.is_some() {
            return self.once_real(value, &outside);
        }
        Ok(value)
    }

    /// Where rows leave a frame SQLite takes them off its sum, which stays a real number once one of them was none of the
    /// integers: whether those outside have been in it is left open.
    fn once_real(
        &mut self,
        sum: SymbolicValue,
        outside: &[(Term, SymbolicValue)],
    ) -> Result<SymbolicValue, Stop> {
        let mut reals = Vec::new();
        for &(present, value) in outside {
            let is_real = self.summand(value)?.is_real;
            reals.push(self.world.terms.and(present, is_real));
        }
        let terms = &mut self.world.terms;
        let may_be_real = terms.any(reals);
        let is_open = terms.and(may_be_real, sum.is_integer);
        if is_open == Terms::FALSE {
            return Ok(sum);
        }
        let was_real = terms.unknown(Sort::Truth);
        let is_real = terms.and(is_open, was_real);
        let number = terms.number_as_real(sum);
        let real = terms.real_value(number, Terms::FALSE);
        let value = terms.choose_value(is_real, real, sum);
        let settled = terms.not(is_open);
        self.world.settle(settled);
        Ok(value)
    }

    /// Which rows are there and in the frame of the row.
    fn frame(&mut self, window: &Window, placed: &Placed, row: usize) -> Result<Vec<Term>, Stop> {
        let mode = window.frame.as_ref().map_or(FrameMode::Range, |frame| frame.mode);
        let ends = ends(window)?;
        let terms = &mut self.world.terms;
        let numbers = match mode {
            FrameMode::Range => Vec::new(),
            FrameMode::Rows => placed.order()?.1.to_vec(),
            FrameMode::Groups => (0..placed.len()).map(|at| group_number(terms, placed, at)).collect(),
        };
        let mut frame = Vec::new();
        for at in 0..placed.len() {
            let (starts, stops) = match mode {
                FrameMode::Range => range_ends(terms, placed, (row, at), ends)?,
                FrameMode::Rows | FrameMode::Groups => counted_ends(terms, (numbers[row], numbers[at]), ends),
            };
            let is_left = match window.frame.as_ref().and_then(|frame| frame.exclude) {
                Some(FrameExclude::CurrentRow) if at == row => Terms::FALSE,
                None | Some(FrameExclude::NoOthers | FrameExclude::CurrentRow) => Terms::TRUE,
                Some(FrameExclude::Ties) if at == row => Terms::TRUE,
                Some(FrameExclude::Ties | FrameExclude::Group) => {
                    let ties = ties(terms, placed, row, at);
                    terms.not(ties)
                }
            };
            frame.push(terms.all([placed.together[row][at], starts, stops, is_left]));
        }
        Ok(frame)
    }
}

/// How many rows of its partition are so.
fn count_where(terms: &mut Terms, placed: &Placed, row: usize, is_so: impl Fn(usize) -> Term) -> Term {
    let counted: Vec<Term> =
        (0..placed.len()).map(|at| terms.and(placed.together[row][at], is_so(at))).collect();
    terms.count(counted)
}

/// How many groups of peers of its partition come before the row.
fn group_number(terms: &mut Terms, placed: &Placed, row: usize) -> Term {
    let mut firsts = Vec::new();
    for at in 0..placed.len() {
        let earlier: Vec<Term> = (0..at)
            .map(|other| {
                let ties = ties(terms, placed, at, other);
                terms.and(placed.together[at][other], ties)
            })
            .collect();
        let is_repeated = terms.any(earlier);
        let is_first = terms.not(is_repeated);
        firsts.push(terms.all([placed.together[row][at], placed.before[at][row], is_first]));
    }
    terms.count(firsts)
}

/// Whether two rows of one partition tie.
fn ties(terms: &mut Terms, placed: &Placed, one: usize, other: usize) -> Term {
    let differs = terms.or(placed.before[one][other], placed.before[other][one]);
    terms.not(differs)
}

/// Whether the order of rows that tie shows in the call.
fn breaks_ties(call: &WindowCall) -> bool {
    use Function as F;
    let counts_rows = call.window.frame.as_ref().is_some_and(|frame| frame.mode == FrameMode::Rows);
    match call.function {
        F::Rank | F::DenseRank | F::PercentRank | F::CumeDist => false,
        F::RowNumber | F::Lag | F::Lead | F::FirstValue | F::LastValue | F::NthValue | F::Ntile => true,
        _ => counts_rows,
    }
}

fn ends(window: &Window) -> Result<Ends, Stop> {
    let Some(frame) = &window.frame else { return Ok(Ends { start: None, end: Some(0) }) };
    let distance = |expr: &Expr| match expr {
        Expr::Literal(Literal::Integer(distance)) if *distance >= 0 => Ok(*distance),
        _ => Err(Stop::unsupported("frame that is no constant")),
    };
    let place = |bound: &FrameBound| {
        Ok(match bound {
            FrameBound::CurrentRow => Some(0),
            FrameBound::Preceding(expr) => Some(-distance(expr)?),
            FrameBound::Following(expr) => Some(distance(expr)?),
            FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => None,
        })
    };
    let end = frame.end.as_ref().map_or(Ok(Some(0)), place)?;
    Ok(Ends { start: place(&frame.start)?, end })
}

/// Whether a row is not before the start and not after the end of a frame, by its number and that of the row at hand.
fn counted_ends(terms: &mut Terms, (row, other): (Term, Term), ends: Ends) -> (Term, Term) {
    let mut at = |distance: i64| {
        let distance = terms.integer(distance);
        terms.add(Sort::Integer, [row, distance])
    };
    let (first, last) = (ends.start.map(&mut at), ends.end.map(&mut at));
    let starts = first.map_or(Terms::TRUE, |first| terms.at_most(first, other));
    let stops = last.map_or(Terms::TRUE, |last| terms.at_most(other, last));
    (starts, stops)
}

/// The same for RANGE, which ends at peers of the row at hand.
fn range_ends(
    terms: &mut Terms,
    placed: &Placed,
    (row, at): (usize, usize),
    ends: Ends,
) -> Result<(Term, Term), Stop> {
    if [ends.start, ends.end].iter().flatten().any(|&distance| distance != 0) {
        return Err(Stop::unsupported("RANGE with a distance"));
    }
    let starts = ends.start.map_or(Terms::TRUE, |_| terms.not(placed.before[at][row]));
    let stops = ends.end.map_or(Terms::TRUE, |_| terms.not(placed.before[row][at]));
    Ok((starts, stops))
}

/// The window functions of expressions, and the columns that these read.
#[derive(Default)]
struct Calls {
    calls: Vec<WindowCall>,
    columns: BTreeSet<ColumnRef>,
}

impl Calls {
    /// Adds the calls of the SELECT that the expression stands in; subqueries have their own.
    fn add_calls(&mut self, expr: &Expr) {
        if let Expr::Window(call) = expr
            && !self.calls.contains(call)
        {
            self.calls.push((**call).clone());
        }
        children(expr, &mut |child| self.add_calls(child));
    }
}
