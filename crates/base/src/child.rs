//! Ends a child process together with everything it started.
//!
//! On Unix each gets a process group of its own, and the group is what is ended: a script around a program does not leave the
//! program running. Elsewhere only the child itself is ended. What leaves the group by itself, as a daemon does, is not
//! followed.

use std::io;
use std::process::{Child, Command};
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
        Ok(Self { child })
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
}

impl Drop for Family {
    fn drop(&mut self) {
        // What has ended already cannot be ended again.
        end_group(self.child.id());
        let _ = self.child.kill();
        let mut living = living();
        let _ = self.child.wait();
        living.retain(|id| *id != self.child.id());
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
    fn a_program_that_is_not_there_is_an_error() {
        assert!(Family::start(&mut Command::new("/no/such/program")).is_err());
    }
}
