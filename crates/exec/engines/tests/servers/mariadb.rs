//! A MariaDB server.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sqlgauge_engines::{Kind, Setup};
use tempfile::TempDir;

use super::{Frozen, PASSWORD, Session, free_port, give_away, program, wait_for, write_identity};

pub(crate) struct MariaDb {
    folder: TempDir,
    pub port: u16,
    process: Option<Child>,
}

impl MariaDb {
    /// `None`, and says so, where the programs of a server are missing.
    pub(crate) fn start() -> Option<Self> {
        let Some(install) = find("mariadb-install-db").filter(|_| find("mariadbd").is_some()) else {
            println!("skipped: no MariaDB server (Debian: apt-get install mariadb-server)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        give_away(folder.path());
        let mut server = Self { folder, port: free_port(), process: None };
        let mut install = program(&install, server.folder.path());
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.args(["--innodb-log-file-size=4M", "--innodb-flush-method=nosync"]);
        let output = install.arg(format!("--datadir={}", server.data().display())).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        server.run();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Starts the server, also again after [`MariaDb::kill`].
    pub(crate) fn run(&mut self) {
        let mut server = program(&find("mariadbd").unwrap(), self.folder.path());
        server.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin"]);
        server.args(["--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=2"]);
        server.arg(format!("--datadir={}", self.data().display()));
        server.arg(format!("--socket={}", self.socket().display())).arg(format!("--port={}", self.port));
        if self.data().join("server.crt").exists() {
            server.args(["--ssl-cert=server.crt", "--ssl-key=server.key"]);
        }
        self.process = Some(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        wait_for(|| self.try_sql("", "SELECT 1").is_some());
    }

    /// Has the server speak TLS with that certificate and key, in PEM.
    pub(crate) fn identify(&mut self, certificate: &str, key: &str) {
        let has_tls = self.sql("", "SELECT @@have_ssl") == "YES";
        write_identity(&self.data(), certificate, key);
        if has_tls {
            self.sql("", "FLUSH SSL");
        } else {
            self.kill();
            self.run();
        }
    }

    /// Ends the server at once, as a crash does.
    pub(crate) fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let _ = process.kill();
        let _ = process.wait();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Stops the server without ending it, until it goes on.
    pub(crate) fn freeze(&self) -> Frozen {
        Frozen::new(self.process.as_ref().unwrap().id(), false)
    }

    /// Runs SQL as the owner until the session is dropped.
    pub(crate) fn session(&self, database: &str, sql: &str) -> Session {
        let mut client = self.client(database, sql).unwrap();
        Session(client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn client(&self, database: &str, sql: &str) -> Option<Command> {
        let mut client = Command::new(find("mariadb")?);
        client.args(["--no-defaults", "-N", "-B", "-u", "root", "--default-character-set=utf8mb4"]);
        client.arg(format!("--socket={}", self.socket().display())).args(["-e", sql]);
        if !database.is_empty() {
            client.arg(database);
        }
        Some(client)
    }

    fn try_sql(&self, database: &str, sql: &str) -> Option<String> {
        let output = self.client(database, sql)?.output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// What the owner of the server gets for SQL.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        self.try_sql(database, sql).unwrap_or_else(|| panic!("the owner cannot run {sql}"))
    }

    /// A database of that DDL, and the address at which the account with the locks reads it.
    pub(crate) fn database(&self, name: &str, ddl: &str) -> PathBuf {
        self.sql("", &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
        self.sql(name, ddl);
        let setup = Setup { database: name.to_owned(), ..Setup::default() };
        self.sql("", &Kind::find("mysql").unwrap().setup(&setup));
        let password = PASSWORD.replace('\\', "\\\\").replace('\'', "''");
        self.sql("", &format!("ALTER USER sqlgauge@'%' IDENTIFIED BY '{password}' ACCOUNT UNLOCK"));
        self.address("sqlgauge", name)
    }

    pub(crate) fn address(&self, user: &str, database: &str) -> PathBuf {
        PathBuf::from(format!("mysql://{user}@127.0.0.1:{}/{database}", self.port))
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        self.kill();
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
    folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}
