//! The possible results of a query with LIMIT.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::schema::{Collation, Schema};
use sqlgauge_sql::tree::{Expr, OrderTerm, Query};
use sqlgauge_sql::{PrintDialect, PrintError, ordered, ordered_under_distinct, print};

use crate::values::{from_number, number, same_key};

/// The LIMIT of an outermost query.
#[derive(Debug, Clone)]
pub(crate) struct OutermostLimit {
    /// The query without its limit, with its sort keys appended.
    pub(crate) text: String,
    keys: Vec<usize>,
    width: usize,
    /// Whether the rows are those before DISTINCT, which is sorted by more than it returns.
    is_before_distinct: bool,
    start: usize,
    end: usize,
}

/// The possible results of a query with LIMIT: the certain rows, and that many of the open ones.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Possible {
    certain: Vec<Vec<Value>>,
    open: Vec<Vec<Value>>,
    chosen: usize,
    /// How many different rows every possible result has at least, columns that were left out included.
    different: usize,
}

impl Possible {
    /// The one possible result of a query without freedom.
    pub(crate) fn only(rows: &ResultSet) -> Self {
        Self { certain: rows.rows().map(<[Value]>::to_vec).collect(), ..Self::default() }.counted()
    }

    /// With the number of its different rows.
    fn counted(self) -> Self {
        Self { different: near(&self.certain).len(), ..self }
    }

    /// Whether there is a choice.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The rows among which the choice is.
    pub(crate) fn open(&self) -> &[Vec<Value>] {
        &self.open
    }

    /// The possible results without those columns.
    pub(crate) fn without(&self, columns: &BTreeSet<usize>) -> Self {
        let keep = |row: &Vec<Value>| -> Vec<Value> {
            row.iter()
                .enumerate()
                .filter(|(at, _)| !columns.contains(at))
                .map(|(_, value)| value.clone())
                .collect()
        };
        Self {
            certain: self.certain.iter().map(keep).collect(),
            open: self.open.iter().map(keep).collect(),
            chosen: self.chosen,
            different: self.different,
        }
    }

    /// The possible results where any of the columns may hold anything: of the rows only their number is sure.
    pub(crate) fn with_open_columns(self) -> Self {
        Self { different: 0, ..self }
    }

    /// The number of rows of every possible result.
    pub(crate) fn len(&self) -> usize {
        self.certain.len() + self.chosen
    }

    /// Whether no bag of rows is a possible result of both. A common one has at least the certain rows of both, at
    /// most the certain and open rows of each, and the right number of rows.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return true;
        }
        let counts = self.counts(other);
        let bounds = counts.values().map(|[ours, theirs]| (ours[0].max(theirs[0]), ours[1].min(theirs[1])));
        let (mut least, mut most) = (0, 0);
        for (low, high) in bounds {
            if low > high {
                return true;
            }
            least += low;
            most += high;
        }
        !(least..=most).contains(&self.len())
    }

    /// Whether both permit the same bags of rows.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.counts(other).values().all(|[ours, theirs]| ours == theirs)
    }

    /// How often each row is certain, and certain or open, in either.
    fn counts(&self, other: &Self) -> HashMap<Vec<Near>, [[usize; 2]; 2]> {
        let mut counts: HashMap<Vec<Near>, [[usize; 2]; 2]> = HashMap::new();
        for (side, possible) in [self, other].into_iter().enumerate() {
            for (rows, is_certain) in [(&possible.certain, true), (&possible.open, false)] {
                for row in rows {
                    let count = &mut counts.entry(row.iter().map(Near::of).collect()).or_default()[side];
                    count[0] += usize::from(is_certain);
                    count[1] += 1;
                }
            }
        }
        counts
    }

    /// Whether surely no set of rows is a possible result of both: one must have a row that the other cannot, or more
    /// different rows than the other.
    pub(crate) fn is_disjoint_as_sets(&self, other: &Self) -> bool {
        let lacks = |must: &Self, may: &Self| {
            let (certain, open) = (near(&may.certain), near(&may.open));
            let needed: Vec<Vec<Near>> =
                near(&must.certain).into_iter().filter(|row| !certain.contains(row)).collect();
            needed.len() > may.chosen
                || needed.iter().any(|row| !open.contains(row))
                || must.different > may.len()
        };
        lacks(self, other) || lacks(other, self)
    }
}

/// The different rows.
fn near(rows: &[Vec<Value>]) -> HashSet<Vec<Near>> {
    rows.iter().map(|row| row.iter().map(Near::of).collect()).collect()
}

/// A value up to the equality of the contract, near enough: fractions to nine digits.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Near {
    Number(String),
    Other(Value),
}

impl Near {
    fn of(value: &Value) -> Self {
        match value {
            Value::Integer(integer) => Self::Number(integer.to_string()),
            Value::Real(real) if real.fract() == 0.0 && real.abs() < 1e15 => {
                Self::Number(format!("{:.0}", real + 0.0))
            }
            Value::Real(real) => Self::Number(format!("{real:.8e}")),
            other => Self::Other(other.clone()),
        }
    }
}

impl OutermostLimit {
    /// The cut of a query with that LIMIT and OFFSET.
    pub(super) fn new(query: &Query, limit: i64, offset: i64, schema: &Schema) -> Result<Self, PrintError> {
        let unlimited = Query { limit: None, offset: None, ..query.clone() };
        let width = unlimited.width();
        let before_distinct = ordered_under_distinct(&unlimited);
        let is_before_distinct = before_distinct.is_some();
        let (query, keys) = match before_distinct {
            Some(rows) => {
                let terms = query.order_by.iter().zip(&rows.keys);
                let order_by = terms.map(|(term, &key)| OrderTerm { expr: place(key), ..term.clone() });
                (Query { order_by: order_by.collect(), ..rows.every }, rows.keys)
            }
            None => {
                ordered(&unlimited).map_or((unlimited, Vec::new()), |ordered| (ordered.query, ordered.keys))
            }
        };
        let bound = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self {
            text: print(&query, schema, PrintDialect::Sqlite)?,
            keys,
            width,
            is_before_distinct,
            start: bound(offset),
            end: bound(offset.saturating_add(limit)),
        })
    }

    /// The possible results, given all rows with their keys.
    pub(crate) fn possible(&self, all: &ResultSet) -> Possible {
        self.possible_as(all, |row| row[..self.width].to_vec())
    }

    /// The same, each row with its keys behind it.
    pub(crate) fn possible_with_keys(&self, all: &ResultSet) -> Possible {
        let keys = |row: &[Value]| self.keys.iter().filter_map(|&key| row.get(key).cloned()).collect();
        self.possible_as(all, |row| [row[..self.width].to_vec(), keys(row)].concat())
    }

    fn possible_as(&self, all: &ResultSet, cells: impl Fn(&[Value]) -> Vec<Value>) -> Possible {
        let mut rows: Vec<&[Value]> = all.rows().collect();
        let is_sorted = !self.is_before_distinct || self.make_distinct(&mut rows);
        let mut possible = Possible::default();
        let mut from = 0;
        let is_tie = |a: &&[Value], b: &&[Value]| {
            !is_sorted || self.keys.iter().all(|&key| is_same_key(a.get(key), b.get(key)))
        };
        for run in rows.chunk_by(is_tie) {
            let to = from + run.len();
            let count = to.min(self.end).saturating_sub(from.max(self.start));
            let cells = |row: &&[Value]| cells(row);
            if count == run.len() || run.iter().all(|row| row[..self.width] == run[0][..self.width]) {
                possible.certain.extend(run.iter().take(count).map(cells));
            } else if count > 0 {
                possible.open.extend(run.iter().map(cells));
                possible.chosen += count;
            }
            from = to;
        }
        possible.counted()
    }

    /// Keeps the first of equal rows. False if some of them have other keys than the first, so that their place is open.
    fn make_distinct(&self, rows: &mut Vec<&[Value]>) -> bool {
        let mut first: HashMap<Vec<Value>, &[Value]> = HashMap::new();
        let mut is_sorted = true;
        rows.retain(|&row| match first.entry(row[..self.width].iter().map(as_distinct).collect()) {
            Entry::Vacant(entry) => {
                entry.insert(row);
                true
            }
            Entry::Occupied(entry) => {
                let first = entry.get();
                is_sorted &= self.keys.iter().all(|&key| is_same_key(first.get(key), row.get(key)));
                false
            }
        });
        is_sorted
    }
}

/// The value up to the equality of DISTINCT, but for collations.
fn as_distinct(value: &Value) -> Value {
    match value {
        Value::Real(real) => from_number(*real),
        other => other.clone(),
    }
}

fn place(key: usize) -> Expr {
    Expr::Output(u32::try_from(key).unwrap_or(u32::MAX))
}

/// Whether two sort keys may count as equal in the order; texts without case and trailing space, for any collation.
pub(super) fn is_same_key(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Integer(_) | Value::Real(_)), Some(Value::Integer(_) | Value::Real(_))) => {
            left.and_then(number) == right.and_then(number)
        }
        (Some(l), Some(r)) => {
            l == r || same_key(l, r, &Collation::NoCase) || same_key(l, r, &Collation::RTrim)
        }
        _ => left == right,
    }
}
