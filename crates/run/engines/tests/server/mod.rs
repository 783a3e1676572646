//! A PostgreSQL server for one test: in a temporary folder, on a free port of the loopback, as a user without rights. It is stopped when
//! the test ends, however that is.

#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlgauge_engines::{Kind, Setup};
use tempfile::TempDir;

/// The password of the roles.
pub const PASSWORD: &str = "p'w \\ é";

pub struct Server {
    folder: TempDir,
    programs: PathBuf,
    pub port: u16,
    process: Option<Child>,
}

impl Server {
    /// `None`, and says so, where the programs of a server are missing.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: no PostgreSQL server (Debian: apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut server = Self { folder, programs, port, process: None };
        let data = server.data();
        std::fs::create_dir(&data).unwrap();
        if is_root() {
            let owned =
                Command::new("chown").args(["-R", "nobody"]).arg(server.folder.path()).status().unwrap();
            assert!(owned.success());
        }
        let mut initdb = server.program("initdb");
        initdb
            .args(["--username=owner", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data);
        let made = initdb.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let rules = "host all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
        server.run();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of the server, run by a user without rights.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir(self.folder.path());
        command
    }

    /// Starts the server, also again after [`Server::kill`].
    pub fn run(&mut self) {
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
        postgres.arg("-k").arg(self.folder.path()).args(["-c", "fsync=off"]);
        self.process = Some(postgres.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let deadline = Instant::now() + Duration::from_mins(1);
        while self.try_sql("postgres", "SELECT 1").is_none() {
            assert!(Instant::now() < deadline, "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the server at once, as a crash does.
    pub fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let stopped =
            self.program("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(self.data()).output();
        if !stopped.is_ok_and(|stopped| stopped.status.success()) {
            let _ = process.kill();
        }
        let _ = process.wait();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn try_sql(&self, database: &str, sql: &str) -> Option<String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "owner"]);
        psql.args(["-p", &self.port.to_string(), "-d", database, "-c", sql]);
        let output = psql.output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// What the owner of the server gets for SQL.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.try_sql(database, sql).unwrap_or_else(|| panic!("the owner cannot run {sql}"))
    }

    /// A database of that DDL, and the address at which the role with the locks reads it.
    pub fn database(&self, name: &str, ddl: &str) -> PathBuf {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.sql(name, ddl);
        let setup = Setup { database: name.to_owned(), ..Setup::default() };
        self.sql(name, &Kind::find("postgresql").unwrap().setup(&setup));
        self.sql(name, &format!("ALTER ROLE sqlgauge PASSWORD '{}'", PASSWORD.replace('\'', "''")));
        self.address("sqlgauge", name)
    }

    pub fn address(&self, user: &str, database: &str) -> PathBuf {
        PathBuf::from(format!("postgresql://{user}@127.0.0.1:{}/{database}", self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The folder with the newest server.
fn programs() -> Option<PathBuf> {
    let of_version = |path: PathBuf| -> Option<(u32, PathBuf)> {
        Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin")))
    };
    let versions = std::fs::read_dir(Path::new("/usr/lib/postgresql")).ok()?;
    let versions = versions.filter_map(|entry| of_version(entry.ok()?.path()));
    versions.filter(|(_, bin)| bin.join("postgres").is_file()).max().map(|(_, bin)| bin)
}
