//! The engines of servers: `sqlgauge engines`.

#[cfg(feature = "engines")]
mod servers;

#[cfg(feature = "engines")]
pub(crate) use servers::open;
#[cfg(feature = "engines")]
pub use servers::{check, setup};
#[cfg(feature = "engines")]
pub use sqlgauge_engines::{LockResult, Setup};

/// One engine, and whether this build has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineRow {
    /// Its name.
    pub name: String,
    /// What an address of it looks like.
    pub address: String,
    /// Its version, or what is missing.
    pub state: String,
}

/// All engines.
///
/// ```
/// let engines = sqlgauge_core::engines::all();
/// assert!(engines.iter().any(|engine| engine.name == "sqlite" && engine.state.starts_with("SQLite 3")));
/// for name in ["postgresql", "duckdb", "mysql", "dbapi"] {
///     assert!(engines.iter().any(|engine| engine.name == name), "{name}");
/// }
/// ```
pub fn all() -> Vec<EngineRow> {
    let row = |name: &str, address: &str, state: String| EngineRow {
        name: name.to_owned(),
        address: address.to_owned(),
        state,
    };
    let state = if cfg!(feature = "engines") {
        "built in; `sqlgauge engines check ADDRESS` tries its locks".to_owned()
    } else {
        "left out of this build; build it with --features engines".to_owned()
    };
    vec![
        row("sqlite", "FOLDER or FILE", format!("SQLite {}", rusqlite::version())),
        row("postgresql", "postgresql://USER@HOST:PORT/{db_id}", state.clone()),
        row("mysql", "mysql://USER@HOST:PORT/{db_id}", state.clone()),
        row("duckdb", "duckdb:FOLDER/{db_id}.duckdb", state.clone()),
        row("dbapi", "dbapi:MODULE?connect=FILE", state),
    ]
}

/// Refuses the address of a server: this build leaves its engines out.
#[cfg(not(feature = "engines"))]
pub(crate) fn open(
    _: &std::path::Path,
    _: sqlgauge_engine::Limits,
    _: usize,
    _: &crate::context::Context<'_>,
) -> Result<std::sync::Arc<dyn sqlgauge_engine::Engine>, crate::error::Error> {
    Err(sqlgauge_base::NotBuiltIn { what: "--db with the address of a server", feature: "engines" }.into())
}
