//! Windows: writes out named ones, and refuses what SQLite refuses.

use sqlgauge_base::budget;

use super::{ErrorKind, ResolveError, Resolver};
use crate::syntax;
use crate::tree::{Frame, FrameBound, FrameMode, Window};

impl<'a> Resolver<'a> {
    pub(super) fn named_window(&mut self, name: &str) -> Result<Window, ResolveError> {
        let defined = self.windows.last().copied().unwrap_or_default();
        budget::spend(16 * defined.len());
        let definition = defined.iter().find(|window| window.name.text.eq_ignore_ascii_case(name));
        match definition {
            Some(definition) => self.nested(|this| this.window(&definition.window)),
            None => Err(ErrorKind::Window(format!("no such window: {name}")).into()),
        }
    }

    pub(super) fn window(&mut self, ast: &'a syntax::Window<'a>) -> Result<Window, ResolveError> {
        let mut window = match &ast.base {
            Some(base) => {
                let window = self.named_window(base.text)?;
                check_override(base.text, &window, ast)?;
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
        if let Some(frame) = &ast.frame {
            window.frame = Some(Frame {
                mode: frame.mode,
                start: self.bound(&frame.start)?,
                end: frame.end.as_ref().map(|end| self.bound(end)).transpose()?,
                exclude: frame.exclude,
            });
        }
        Ok(window)
    }

    fn bound(&mut self, ast: &'a syntax::FrameBound<'a>) -> Result<FrameBound, ResolveError> {
        Ok(match ast {
            syntax::FrameBound::CurrentRow => FrameBound::CurrentRow,
            syntax::FrameBound::Following(expr) => FrameBound::Following(self.boxed(expr)?),
            syntax::FrameBound::Preceding(expr) => FrameBound::Preceding(self.boxed(expr)?),
            syntax::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
            syntax::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
        })
    }
}

/// What a window that builds on a named one may not say again.
fn check_override(name: &str, base: &Window, ast: &syntax::Window<'_>) -> Result<(), ResolveError> {
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

/// RANGE with a distance needs one key to measure it by.
pub(super) fn check_frame(window: &Window) -> Result<(), ResolveError> {
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
