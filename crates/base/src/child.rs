//! Ends a child process together with everything it started.
//!
//! On Unix each gets a process group of its own, and the group is what is ended: a script around a program does not leave the
//! program running. Elsewhere only the child itself is ended. What leaves the group by itself, as a daemon does, is not
//! followed.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The processes whose groups are to be ended.
static LIVING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn living() -> MutexGuard<'static, Vec<u32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child process with its descendants. Dropping it ends them.
#[derive(Debug)]
pub struct Family {
    child: Child,
    is_reaped: bool,
}

impl Family {
    /// Starts a program.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // Held while it starts, so that `end_all` leaves none out.
        let mut living = living();
        let child = command.spawn()?;
        living.push(child.id());
        Ok(Self { child, is_reaped: false })
    }

    /// The child, for its standard input and output.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the child has ended. It stays unreaped until this is dropped, so that nobody else gets its number meanwhile.
    pub fn has_ended(&mut self) -> bool {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), options), Ok(None))
        }
        #[cfg(not(unix))]
        {
            !matches!(self.child.try_wait(), Ok(None))
        }
    }

    /// Ends the child and all that it started, and says how the child ended: by itself, if it had done so before.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            // What has ended already cannot be ended again.
            end_group(self.child.id());
            let _ = self.child.kill();
        }
        let mut living = living();
        let status = self.child.wait();
        self.is_reaped = true;
        living.retain(|id| *id != self.child.id());
        status
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = self.end();
        }
    }
}

/// Ends the children of this process with all that they started, for a process that is about to end; from then on none is
/// started any more.
pub fn end_all() {
    let living = living();
    living.iter().for_each(|id| end_group(*id));
    std::mem::forget(living);
}

/// Ends a process group that [`Family::start`] made, and whose first process nobody has reaped.
#[cfg(unix)]
fn end_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: u32) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    #[test]
    fn what_a_child_started_ends_with_it() {
        // The descendant holds the pipe open as long as it lives, and lives longer than its parent.
        for parent in ["wait", "exit 0"] {
            let script = format!("sleep 600 & echo started; {parent}");
            let mut command = Command::new("sh");
            command.args(["-c", &script]).stdout(Stdio::piped());
            let mut family = Family::start(&mut command).unwrap();
            let mut output = BufReader::new(family.child().stdout.take().unwrap());
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "started\n");
            while parent != "wait" && !family.has_ended() {
                std::thread::yield_now();
            }
            assert_eq!(family.has_ended(), parent != "wait");
            drop(family);
            assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0, "{parent}");
        }
    }

    #[test]
    fn a_child_that_ended_by_itself_keeps_its_status() {
        for (script, code) in [("exit 3", Some(3)), ("sleep 600", None)] {
            let mut family = Family::start(Command::new("sh").args(["-c", script])).unwrap();
            while code.is_some() && !family.has_ended() {
                std::thread::yield_now();
            }
            assert_eq!(family.end().unwrap().code(), code, "{script}");
            assert_eq!(family.end().unwrap().code(), code, "{script}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        assert!(Family::start(&mut Command::new("/no/such/program")).is_err());
    }
}
