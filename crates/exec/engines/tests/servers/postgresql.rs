//! A PostgreSQL server.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlgauge_engines::{Kind, Setup};
use tempfile::TempDir;

use super::{Frozen, PASSWORD, Session, free_port, give_away, program, wait_for, write_identity};

pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    pub port: u16,
    process: Option<Child>,
}

impl Server {
    /// `None`, and says so, where the programs of a server are missing.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: no PostgreSQL server (Debian: apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { folder, programs, port: free_port(), process: None };
        let data = server.data();
        std::fs::create_dir(&data).unwrap();
        give_away(server.folder.path());
        let mut initdb = server.program("initdb");
        initdb
            .args(["--username=owner", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data);
        let output = initdb.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rules = "host all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
        server.run();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        program(&self.programs.join(name), self.folder.path())
    }

    /// Starts the server, also again after [`Server::kill`].
    pub(crate) fn run(&mut self) {
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
        postgres.arg("-k").arg(self.folder.path()).args(["-c", "fsync=off"]);
        self.process = Some(postgres.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        wait_for(|| self.try_sql("postgres", "SELECT 1").is_some());
    }

    /// Ends the server at once, as a crash does.
    pub(crate) fn kill(&mut self) {
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

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "owner"]);
        psql.args(["-p", &self.port.to_string(), "-d", database, "-c", sql]);
        psql
    }

    /// Whether psql logs in with the passwords of that file.
    pub(crate) fn can_log_in(&self, role: &str, database: &str, passwords: &Path) -> bool {
        let mut psql = self.psql(database, "SELECT 1");
        psql.args(["-w", "-U", role]).env("PGPASSFILE", passwords).env_remove("PGPASSWORD");
        psql.output().unwrap().status.success()
    }

    fn try_sql(&self, database: &str, sql: &str) -> Option<String> {
        let output = self.psql(database, sql).output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// What the owner of the server gets for SQL.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        self.try_sql(database, sql).unwrap_or_else(|| panic!("the owner cannot run {sql}"))
    }

    /// A database of that DDL, and the address at which the role with the locks reads it.
    pub(crate) fn database(&self, name: &str, ddl: &str) -> PathBuf {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.sql(name, ddl);
        let setup = Setup { database: name.to_owned(), ..Setup::default() };
        self.sql(name, &Kind::find("postgresql").unwrap().setup(&setup));
        self.sql(name, &format!("ALTER ROLE sqlgauge PASSWORD '{}'", PASSWORD.replace('\'', "''")));
        self.address("sqlgauge", name)
    }

    /// Lets roles log in by that method of `pg_hba.conf`, the owner always.
    pub(crate) fn log_in_by(&self, method: &str) {
        let rules = format!("host all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 {method}\n");
        std::fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
        self.sql("postgres", "SELECT pg_reload_conf()");
    }

    /// Has the server speak TLS with that certificate and key, in PEM.
    pub(crate) fn identify(&self, certificate: &str, key: &str) {
        write_identity(&self.data(), certificate, key);
        self.sql("postgres", "ALTER SYSTEM SET ssl = on");
        let before = self.sql("postgres", "SELECT pg_conf_load_time()");
        self.sql("postgres", "SELECT pg_reload_conf()");
        wait_for(|| self.sql("postgres", "SELECT pg_conf_load_time()") != before);
    }

    /// Stops all processes of the server without ending them, until they go on.
    pub(crate) fn freeze(&self) -> Frozen {
        Frozen::new(self.process.as_ref().unwrap().id(), true)
    }

    /// Runs SQL as the owner until the session is dropped.
    pub(crate) fn session(&self, database: &str, sql: &str) -> Session {
        let mut psql = self.psql(database, sql);
        Session(psql.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Has the server log every query from its next start, which is now.
    pub(crate) fn log_queries(&mut self) {
        for setting in ["logging_collector = on", "log_min_duration_statement = 0", "log_directory = 'log'"] {
            self.sql("postgres", &format!("ALTER SYSTEM SET {setting}"));
        }
        self.kill();
        self.run();
    }

    /// Ends the server; what it has logged.
    pub(crate) fn stop_and_read_log(&mut self) -> String {
        self.kill();
        let files = std::fs::read_dir(self.data().join("log")).unwrap();
        files
            .map(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).into_owned())
            .collect()
    }

    pub(crate) fn address(&self, user: &str, database: &str) -> PathBuf {
        PathBuf::from(format!("postgresql://{user}@127.0.0.1:{}/{database}", self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn programs() -> Option<PathBuf> {
    let of_version = |path: PathBuf| -> Option<(u32, PathBuf)> {
        Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin")))
    };
    let versions = std::fs::read_dir(Path::new("/usr/lib/postgresql")).ok()?;
    let versions = versions.filter_map(|entry| of_version(entry.ok()?.path()));
    versions.filter(|(_, bin)| bin.join("postgres").is_file()).max().map(|(_, bin)| bin)
}
