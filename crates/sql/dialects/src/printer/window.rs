//! Window functions.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Expr, Frame, FrameBound, FrameExclude, FrameMode, Literal, Window, WindowCall};

use super::{Piece, Printed, Printer};
use crate::refused::{Construct, Refused};

impl Printer<'_> {
    pub(super) fn window_call(&mut self, call: &WindowCall) -> Printed {
        let args = call.args.as_slice();
        let function = match (&call.function, args) {
            (
                Function::RowNumber
                | Function::Rank
                | Function::DenseRank
                | Function::PercentRank
                | Function::CumeDist,
                [],
            )
            | (Function::Ntile | Function::FirstValue | Function::LastValue, [_])
            | (Function::NthValue, [_, _])
            | (Function::Lag | Function::Lead, [_, ..]) => {
                if call.filter.is_some() {
                    return Err(self.refuse(Construct::Window, "FILTER of a window function"));
                }
                self.check_places(&call.function, args)?;
                let values = self.values(args)?;
                format!("{}({})", call.function.name().to_ascii_uppercase(), values.join(", "))
            }
            (
                Function::Sum
                | Function::Avg
                | Function::Total
                | Function::Count
                | Function::Min
                | Function::Max,
                _,
            ) => {
                let window = self.window(&call.window)?;
                return self.aggregated(
                    &call.function,
                    &call.args,
                    false,
                    &[],
                    call.filter.as_ref(),
                    Some(&window),
                );
            }
            (other, _) => {
                return Err(self.refuse(Construct::Window, format!("the function {}", other.name())));
            }
        };
        let window = self.window(&call.window)?;
        Ok(Piece::atom(format!("{function} OVER ({window})")))
    }

    /// Offsets and defaults: a constant, and a value of the column's type.
    fn check_places(&self, function: &Function, args: &[Expr]) -> Result<(), Refused> {
        let is_constant = |arg: &Expr| matches!(arg, Expr::Literal(Literal::Integer(value)) if *value >= 0);
        let is_sayable = match (function, args) {
            (Function::Ntile, [count]) => is_constant(count),
            (Function::NthValue, [_, place]) => is_constant(place),
            (Function::Lag | Function::Lead, [_, offset, ..]) => is_constant(offset),
            _ => true,
        };
        if !is_sayable {
            return Err(self.refuse(Construct::Window, "an offset that is not a constant"));
        }
        match (function, args) {
            (Function::Lag | Function::Lead, [value, _, default]) => self.check_one_type(&[value, default]),
            _ => Ok(()),
        }
    }

    fn window(&mut self, window: &Window) -> Result<String, Refused> {
        let mut parts = Vec::new();
        if !window.partition_by.is_empty() {
            for expr in &window.partition_by {
                self.check_bytes(expr)?;
            }
            parts.push(format!("PARTITION BY {}", self.values(&window.partition_by)?.join(", ")));
        }
        let order = self.order_terms(&window.order_by)?;
        if !order.is_empty() {
            parts.push(format!("ORDER BY {order}"));
        }
        if let Some(frame) = &window.frame {
            parts.push(self.frame(frame)?);
        }
        Ok(parts.join(" "))
    }

    fn frame(&self, frame: &Frame) -> Result<String, Refused> {
        let mode = match frame.mode {
            FrameMode::Rows => "ROWS",
            FrameMode::Range => "RANGE",
            FrameMode::Groups if self.dialect.has_groups => "GROUPS",
            FrameMode::Groups => return Err(self.refuse(Construct::Window, "GROUPS")),
        };
        let start = self.bound(&frame.start, frame.mode)?;
        let end = match &frame.end {
            Some(end) => self.bound(end, frame.mode)?,
            None => "CURRENT ROW".to_owned(),
        };
        let exclude = match frame.exclude {
            None | Some(FrameExclude::NoOthers) => "",
            Some(_) if !self.dialect.has_exclude => return Err(self.refuse(Construct::Window, "EXCLUDE")),
            Some(FrameExclude::CurrentRow) => " EXCLUDE CURRENT ROW",
            Some(FrameExclude::Group) => " EXCLUDE GROUP",
            Some(FrameExclude::Ties) => " EXCLUDE TIES",
        };
        Ok(format!("{mode} BETWEEN {start} AND {end}{exclude}"))
    }

    fn bound(&self, bound: &FrameBound, mode: FrameMode) -> Result<String, Refused> {
        let offset = |expr: &Expr, word: &str| match expr {
            Expr::Literal(Literal::Integer(value)) if *value >= 0 => {
                if mode == FrameMode::Range && !self.dialect.has_range_offset {
                    return Err(self.refuse(Construct::Window, "RANGE with an offset"));
                }
                Ok(format!("{value} {word}"))
            }
            _ => Err(self.refuse(Construct::Window, "a frame whose offset is no constant integer")),
        };
        match bound {
            FrameBound::CurrentRow => Ok("CURRENT ROW".to_owned()),
            FrameBound::UnboundedPreceding => Ok("UNBOUNDED PRECEDING".to_owned()),
            FrameBound::UnboundedFollowing => Ok("UNBOUNDED FOLLOWING".to_owned()),
            FrameBound::Preceding(expr) => offset(expr, "PRECEDING"),
            FrameBound::Following(expr) => offset(expr, "FOLLOWING"),
        }
    }
}
