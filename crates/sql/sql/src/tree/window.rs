//! Windows and their frames.

use super::OrderTerm;
use super::expr::{Args, Expr};
use crate::functions::Function;

/// A call with OVER.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WindowCall {
    /// Which function.
    pub function: Function,
    /// The arguments.
    pub args: Args,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// OVER.
    pub window: Window,
}

/// A window; named windows are written out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderTerm>,
    /// The frame; `None` for SQLite's default.
    pub frame: Option<Frame>,
}

/// A window frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub mode: FrameMode,
    /// Where it starts.
    pub start: FrameBound,
    /// Where it ends; `None` when the text has no BETWEEN (then: the current row).
    pub end: Option<FrameBound>,
    /// EXCLUDE.
    pub exclude: Option<FrameExclude>,
}

/// The unit of a window frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameMode {
    /// ROWS.
    Rows,
    /// RANGE.
    Range,
    /// GROUPS.
    Groups,
}

/// One end of a window frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FrameBound {
    /// CURRENT ROW.
    CurrentRow,
    /// n PRECEDING.
    Preceding(Box<Expr>),
    /// n FOLLOWING.
    Following(Box<Expr>),
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// What a window frame leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameExclude {
    /// EXCLUDE NO OTHERS.
    NoOthers,
    /// EXCLUDE CURRENT ROW.
    CurrentRow,
    /// EXCLUDE GROUP.
    Group,
    /// EXCLUDE TIES.
    Ties,
}
