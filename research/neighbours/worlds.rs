//! The engines, each with one database of the table `items`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sqlgauge_engine::{Engine, Limits, SqliteEngine, WorkerCommand};
use sqlgauge_engines::{Access, Kind, Secret};
use tempfile::TempDir;

use crate::families::Family;
use crate::servers::mariadb::MariaDb;
use crate::servers::postgresql::Server;
use crate::{families, hostile, servers};

/// The argument by which the program serves queries for `SQLite`'s engine.
pub(crate) const WORKER: &str = "--serve-queries";
/// The database on the servers.
pub(crate) const DATABASE: &str = "shop";
/// Rows of `items`.
const ROWS: usize = 100;
/// Rows that a result may have: fewer than the products of three tables.
const MOST_ROWS: usize = 20_000;

/// One engine.
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// The database as the engine opens it.
    pub(crate) path: PathBuf,
    /// Families that only this engine has.
    pub(crate) families: &'static [Family],
    pub(crate) hostile: &'static [&'static str],
    pub(crate) source: Source,
}

/// Where the database is; dropped with the world.
pub(crate) enum Source {
    Folder { _folder: TempDir },
    PostgreSql(Server),
    MariaDb(MariaDb),
}

/// Starts an engine; `None`, with a line on the output, where it is not installed.
type Start = fn() -> Result<Option<World>>;

/// All engines.
pub(crate) const ALL: [(&str, Start); 4] =
    [("SQLite", sqlite), ("PostgreSQL", postgresql), ("MariaDB", mariadb), ("DuckDB", duckdb)];

impl World {
    /// A new engine with so many connections.
    pub(crate) fn engine(&self, timeout: Duration, connections: usize) -> Result<Arc<dyn Engine>> {
        let limits = Limits { timeout, max_rows: MOST_ROWS, ..Limits::default() };
        let kind = match self.source {
            Source::PostgreSql(_) => "postgresql",
            Source::MariaDb(_) => "mysql",
            Source::Folder { .. } if self.path.is_absolute() => {
                let command = WorkerCommand::new(std::env::current_exe()?).argument(WORKER);
                return Ok(Arc::new(SqliteEngine::with_workers(limits, command)?));
            }
            Source::Folder { .. } => "duckdb",
        };
        let access =
            Access { password: Some(Secret(servers::PASSWORD.into())), connections, ..Access::default() };
        Ok(Kind::find(kind).context("the engine is not in this build")?.engine(limits, access))
    }

    /// What the owner of the server gets for SQL; `None` on an engine of files.
    pub(crate) fn owner(&self, sql: &str) -> Option<String> {
        match &self.source {
            Source::PostgreSql(server) => Some(server.sql(DATABASE, sql)),
            Source::MariaDb(server) => Some(server.sql(DATABASE, sql)),
            Source::Folder { .. } => None,
        }
    }
}

/// The statements that make the database.
fn ddl(text: &str) -> String {
    let rows: Vec<String> = (1..=ROWS).map(|id| format!("({id}, 'item {id}', {id}.25)")).collect();
    format!(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name {text} NOT NULL, price DECIMAL(10, 2)); \
         INSERT INTO items VALUES {}",
        rows.join(", ")
    )
}

fn sqlite() -> Result<Option<World>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.sqlite");
    rusqlite::Connection::open(&path)?.execute_batch(&ddl("TEXT"))?;
    let (families, hostile) = (families::SQLITE, hostile::SQLITE);
    Ok(Some(World { name: "SQLite", path, families, hostile, source: Source::Folder { _folder: folder } }))
}

#[expect(clippy::unnecessary_wraps, reason = "one type of function starts every engine")]
fn postgresql() -> Result<Option<World>> {
    let Some(server) = Server::start() else { return Ok(None) };
    let path = server.database(DATABASE, &ddl("TEXT"));
    let (families, hostile) = (families::POSTGRESQL, hostile::POSTGRESQL);
    Ok(Some(World { name: "PostgreSQL", path, families, hostile, source: Source::PostgreSql(server) }))
}

#[expect(clippy::unnecessary_wraps, reason = "one type of function starts every engine")]
fn mariadb() -> Result<Option<World>> {
    let Some(server) = MariaDb::start() else { return Ok(None) };
    let path = server.database(DATABASE, &ddl("VARCHAR(40)"));
    let (families, hostile) = (families::MARIADB, hostile::MARIADB);
    Ok(Some(World { name: "MariaDB", path, families, hostile, source: Source::MariaDb(server) }))
}

fn duckdb() -> Result<Option<World>> {
    let python = std::env::var_os("SQLGAUGE_PYTHON").unwrap_or_else(|| "python3".into());
    let has_package = Command::new(&python).args(["-I", "-c", "import duckdb"]).output();
    if !has_package.is_ok_and(|output| output.status.success()) {
        println!("skipped: no Python with duckdb (pip install duckdb, SQLGAUGE_PYTHON)");
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shop.duckdb");
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";
    let output = Command::new(&python).args(["-I", "-c", script]).arg(&file).arg(ddl("VARCHAR")).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = Path::new(&format!("duckdb:{}", file.display())).to_owned();
    let (families, hostile) = (families::DUCKDB, hostile::DUCKDB);
    Ok(Some(World { name: "DuckDB", path, families, hostile, source: Source::Folder { _folder: folder } }))
}
