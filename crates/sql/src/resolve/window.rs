//! Windows: named ones written out, and what SQLite does not let one say.

use sqlgauge_base::budget;
use sqlite3_parser::ast;

use super::{Error, ErrorKind, Resolver};
use crate::ident::name_of;
use crate::tree::{Frame, FrameBound, FrameExclude, FrameMode, Window};

impl<'a> Resolver<'a> {
    pub(super) fn named_window(&mut self, name: &str) -> Result<Window, Error> {
        let defined = self.windows.last().copied().unwrap_or_default();
        budget::spend(16 * defined.len());
        let found = defined.iter().find(|window| name_of(window.name.0).eq_ignore_ascii_case(name));
        match found {
            Some(found) => self.nested(|this| this.window(&found.window)),
            None => Err(ErrorKind::Window(format!("no such window: {name}")).into()),
        }
    }

    pub(super) fn window(&mut self, ast: &'a ast::Window<'a>) -> Result<Window, Error> {
        let mut window = match &ast.base {
            Some(base) => {
                let name = name_of(base.0);
                let window = self.named_window(&name)?;
                check_override(&name, &window, ast)?;
                window
            }
            None => Window { partition_by: Vec::new(), order_by: Vec::new(), frame: None },
        };
        if let Some(partition) = ast.partition_by {
            window.partition_by = self.list(partition)?;
        }
        if let Some(order) = ast.order_by {
            window.order_by = self.plain_order(order)?;
        }
        if !self.lenient {
            check_direction(ast)?;
        }
        if let Some(frame) = &ast.frame_clause {
            window.frame = Some(Frame {
                mode: match frame.mode {
                    ast::FrameMode::Groups => FrameMode::Groups,
                    ast::FrameMode::Range => FrameMode::Range,
                    ast::FrameMode::Rows => FrameMode::Rows,
                },
                start: self.bound(&frame.start)?,
                end: frame.end.as_ref().map(|end| self.bound(end)).transpose()?,
                exclude: frame.exclude.as_ref().map(|exclude| match exclude {
                    ast::FrameExclude::NoOthers => FrameExclude::NoOthers,
                    ast::FrameExclude::CurrentRow => FrameExclude::CurrentRow,
                    ast::FrameExclude::Group => FrameExclude::Group,
                    ast::FrameExclude::Ties => FrameExclude::Ties,
                }),
            });
        }
        Ok(window)
    }

    fn bound(&mut self, ast: &'a ast::FrameBound<'a>) -> Result<FrameBound, Error> {
        Ok(match ast {
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::Following(expr) => FrameBound::Following(self.boxed(expr)?),
            ast::FrameBound::Preceding(expr) => FrameBound::Preceding(self.boxed(expr)?),
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
        })
    }
}

/// What a window that builds on a named one may not say again.
fn check_override(name: &str, base: &Window, ast: &ast::Window<'_>) -> Result<(), Error> {
    let what = if ast.partition_by.is_some() {
        "PARTITION clause"
    } else if ast.order_by.is_some() && !base.order_by.is_empty() {
        "ORDER BY clause"
    } else if base.frame.is_some() {
        "frame specification"
    } else {
        return Ok(());
    };
    Err(ErrorKind::Window(format!("cannot override {what} of window: {name}")).into())
}

/// A frame starts before it ends, be the window used or not.
pub(super) fn check_direction(ast: &ast::Window<'_>) -> Result<(), Error> {
    let Some(frame) = &ast.frame_clause else { return Ok(()) };
    let rank = |bound: &ast::FrameBound<'_>| match bound {
        ast::FrameBound::UnboundedPreceding => 0,
        ast::FrameBound::Preceding(_) => 1,
        ast::FrameBound::CurrentRow => 2,
        ast::FrameBound::Following(_) => 3,
        ast::FrameBound::UnboundedFollowing => 4,
    };
    let (start, end) = (rank(&frame.start), frame.end.as_ref().map_or(2, rank));
    if start > end || start == 4 || end == 0 {
        return Err(ErrorKind::Window("unsupported frame specification".to_owned()).into());
    }
    Ok(())
}

/// RANGE with a distance needs one key to measure it by.
pub(super) fn check_frame(window: &Window) -> Result<(), Error> {
    let Some(frame) = &window.frame else { return Ok(()) };
    let end = frame.end.as_ref().unwrap_or(&FrameBound::CurrentRow);
    let measures = |bound: &FrameBound| matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_));
    if frame.mode == FrameMode::Range
        && (measures(&frame.start) || measures(end))
        && window.order_by.len() != 1
    {
        let message = "RANGE with offset PRECEDING/FOLLOWING requires one ORDER BY expression";
        return Err(ErrorKind::Window(message.to_owned()).into());
    }
    Ok(())
}
