//! Servers for one test: each in a temporary folder, on a free port of the loopback, as a user without rights. They are stopped when the
//! test ends, however that is.

#![allow(clippy::unwrap_used, reason = "a test fails by panic")]
#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod mariadb;
pub(crate) mod postgresql;

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The password of the roles.
pub(crate) const PASSWORD: &str = "p'w \\ é";

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Gives a folder to the user that runs the server.
fn give_away(folder: &Path) {
    if is_root() {
        assert!(Command::new("chown").args(["-R", "nobody"]).arg(folder).status().unwrap().success());
    }
}

/// A program of the server, run by a user without rights.
fn program(path: &Path, folder: &Path) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
        command
    } else {
        Command::new(path)
    };
    // MariaDB removes the temporary files of others in a folder that it shares with them.
    command.current_dir(folder).env("TMPDIR", folder);
    command
}

/// Writes the certificate and the key of a server into its folder.
fn write_identity(folder: &Path, certificate: &str, key: &str) {
    for (name, text) in [("server.crt", certificate), ("server.key", key)] {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        assert!(Command::new("chmod").arg("600").arg(&path).status().unwrap().success());
        give_away(&path);
    }
}

/// A session that ends when it is dropped.
pub(crate) struct Session(Child);

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Processes that are stopped and go on when this is dropped.
pub(crate) struct Frozen(Vec<String>);

impl Frozen {
    pub(crate) fn of(process: u32) -> Self {
        Self::new(process, false)
    }

    fn new(process: u32, with_children: bool) -> Self {
        let mut all = vec![process.to_string()];
        if with_children {
            let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
            all.extend(children.unwrap().split_whitespace().map(str::to_owned));
        }
        signal("-STOP", &all);
        Self(all)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        signal("-CONT", &self.0);
    }
}

fn signal(name: &str, processes: &[String]) {
    let _ = Command::new("kill").arg(name).args(processes).status();
}

/// Waits until the server answers.
fn wait_for(mut answers: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !answers() {
        assert!(Instant::now() < deadline, "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
}
