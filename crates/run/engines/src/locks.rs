//! What every engine says of its locks.

/// For whom a role is made.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The role.
    pub role: String,
    /// The database.
    pub database: String,
    /// What the role may read.
    pub schemas: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { role: "sqlgauge".into(), database: "DATABASE".into(), schemas: vec!["public".into()] }
    }
}

/// What became of the attempt to break a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockResult {
    /// What was tried.
    pub name: &'static str,
    /// Whether the lock held.
    pub holds: bool,
    /// What the server said.
    pub message: String,
}
