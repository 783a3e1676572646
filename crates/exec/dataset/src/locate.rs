//! Where the database files are.

use std::path::{Path, PathBuf};

use crate::error::DatasetError;
use sqlgauge_base::{closest, counted, server};

/// Extensions of database files, in order of preference.
const EXTENSIONS: [&str; 3] = ["sqlite", "sqlite3", "db"];

/// A folder of databases, one database for all examples, or the databases of a server ([`sqlgauge_base::server`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Databases {
    root: PathBuf,
    is_file: bool,
    is_server: bool,
}

/// The files of one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The database itself.
    pub main: PathBuf,
    /// Every database with the same schema, `main` among them, sorted by path: the `.sqlite` files of its folder
    /// (test-suite accuracy runs on all of them).
    pub suite: Vec<PathBuf>,
}

impl Databases {
    /// The databases under a folder, or in one file.
    ///
    /// # Errors
    /// When there is nothing at that path.
    pub fn open(root: &Path) -> Result<Self, DatasetError> {
        if server::is_address(root) {
            return Ok(Self { root: root.to_owned(), is_file: false, is_server: true });
        }
        let metadata =
            std::fs::metadata(root).map_err(|source| DatasetError::Read { path: root.to_owned(), source })?;
        Ok(Self { root: root.to_owned(), is_file: !metadata.is_dir(), is_server: false })
    }

    /// All databases, as name and file, in the order of their names; one that [`Databases::locate`] does not find is none.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn all(&self) -> Result<Vec<(String, PathBuf)>, DatasetError> {
        if self.is_server {
            return Ok(vec![(self.only()?, self.root.clone())]);
        }
        if self.is_file {
            let stem = self.root.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            return Ok(vec![(stem.unwrap_or_default(), self.root.clone())]);
        }
        std::fs::read_dir(&self.root)
            .map_err(|source| DatasetError::Read { path: self.root.clone(), source })?;
        let mut names = self.names();
        names.sort_unstable();
        names.dedup();
        let located = names.into_iter().filter_map(|name| Some((self.locate(&name).ok()?.main, name)));
        Ok(located.map(|(path, name)| (name, path)).collect())
    }

    /// The name of the database, if there is only one: of the file, the one in the folder, or the one that an address names.
    ///
    /// # Errors
    /// When there are several or none to choose from.
    pub fn only(&self) -> Result<String, DatasetError> {
        if self.is_server {
            return server::named_database(&self.root).ok_or_else(|| self.unknown(""));
        }
        match self.all()?.as_slice() {
            [(name, _)] => Ok(name.clone()),
            _ => Err(self.unknown("")),
        }
    }

    /// The files of a database.
    ///
    /// Looks for `<db_id>/<db_id>.sqlite`, then the same with `.sqlite3` and `.db`, then those directly in the
    /// folder. A database directly in the folder has no suite but itself.
    ///
    /// # Errors
    /// When there is none; the error names the folder and the closest names in it.
    pub fn locate(&self, db_id: &str) -> Result<Location, DatasetError> {
        if self.is_server {
            let main = server::of_database(&self.root, db_id);
            return Ok(Location { suite: vec![main.clone()], main });
        }
        if self.is_file {
            return Ok(Location { main: self.root.clone(), suite: vec![self.root.clone()] });
        }
        if !is_plain_name(db_id) {
            return Err(self.unknown(db_id));
        }
        let folder = self.root.join(db_id);
        if let Some(main) = database_in(&folder, db_id) {
            let suite = suite(&folder, &main)?;
            return Ok(Location { main, suite });
        }
        match database_in(&self.root, db_id) {
            Some(main) => Ok(Location { suite: vec![main.clone()], main }),
            None => Err(self.unknown(db_id)),
        }
    }

    fn unknown(&self, db_id: &str) -> DatasetError {
        let names = self.names();
        if db_id.is_empty() {
            let databases =
                if self.is_server { "any of them".to_owned() } else { counted(names.len(), "database") };
            return DatasetError::NoDatabaseNamed { folder: self.root.clone(), databases };
        }
        let near = closest(db_id, names.iter().map(String::as_str));
        let closest = if near.is_empty() {
            "; check the folder of the databases".to_owned()
        } else {
            format!("; the closest names there are {}", near.join(", "))
        };
        DatasetError::UnknownDatabase {
            db_id: db_id.to_owned(),
            looked_for: format!("{db_id}/{db_id}.sqlite and {db_id}.sqlite (or .sqlite3, .db)"),
            folder: self.root.clone(),
            closest,
        }
    }

    /// What may be the names of databases in the folder; an unreadable folder has none.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().filter_map(Result::ok);
        let name = |path: PathBuf| {
            let is_database = path.is_dir() || has_database_extension(&path);
            let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
            name.filter(|_| is_database).map(|name| name.to_string_lossy().into_owned())
        };
        entries.filter_map(|entry| name(entry.path())).collect()
    }
}

/// A `db_id` comes from a file that a stranger wrote: it must not lead out of the folder.
fn is_plain_name(db_id: &str) -> bool {
    !db_id.is_empty() && db_id != "." && db_id != ".." && !db_id.contains(['/', '\\', '\0'])
}

fn database_in(folder: &Path, db_id: &str) -> Option<PathBuf> {
    EXTENSIONS.iter().map(|extension| folder.join(format!("{db_id}.{extension}"))).find(|path| path.is_file())
}

fn has_database_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|name| extension == *name))
}

fn suite(folder: &Path, main: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let refused = |source| DatasetError::Read { path: folder.to_owned(), source };
    let mut files = vec![main.to_owned()];
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path != main && path.extension().is_some_and(|e| e == EXTENSIONS[0]) && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> (tempfile::TempDir, Databases) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let databases = Databases::open(folder.path()).unwrap();
        (folder, databases)
    }

    #[test]
    fn every_layout_is_found_and_the_nearest_wins() {
        let (folder, databases) = folder(&[
            "a/a.sqlite",
            "a/a_v2.sqlite",
            "a/a_v1.sqlite",
            "a/schema.sql",
            "a/a.sqlite-journal",
            "b/b.db",
            "c.sqlite3",
            "a.sqlite",
        ]);
        for (db_id, main, suite) in [
            ("a", "a/a.sqlite", vec!["a/a.sqlite", "a/a_v1.sqlite", "a/a_v2.sqlite"]),
            ("b", "b/b.db", vec!["b/b.db"]),
            ("c", "c.sqlite3", vec!["c.sqlite3"]),
        ] {
            let location = databases.locate(db_id).unwrap();
            assert_eq!(location.main, folder.path().join(main));
            assert_eq!(location.suite, suite.iter().map(|s| folder.path().join(s)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_databases_come_in_the_order_of_their_names() {
        let (folder, databases) = folder(&["b/b.sqlite", "a.db", "c/other.sqlite", "notes.txt"]);
        let at = |name: &str, path: &str| (name.to_owned(), folder.path().join(path));
        assert_eq!(databases.all().unwrap(), [at("a", "a.db"), at("b", "b/b.sqlite")]);
        let one = Databases::open(&folder.path().join("a.db")).unwrap();
        assert_eq!(one.all().unwrap(), [at("a", "a.db")]);
    }

    #[test]
    fn one_file_serves_every_example() {
        let (folder, _) = folder(&["only.sqlite"]);
        let file = folder.path().join("only.sqlite");
        let databases = Databases::open(&file).unwrap();
        assert_eq!(databases.locate("anything").unwrap(), Location { main: file.clone(), suite: vec![file] });
    }

    #[test]
    fn an_unknown_database_is_named_with_the_folder_and_the_closest_names() {
        let (folder, databases) = folder(&["concert_singer/concert_singer.sqlite", "pets_1.sqlite"]);
        let message = databases.locate("concert_singr").unwrap_err().to_string();
        assert!(message.contains("concert_singr\""), "{message}");
        assert!(message.contains(&folder.path().display().to_string()), "{message}");
        assert!(message.ends_with("the closest names there are concert_singer"), "{message}");
    }

    #[test]
    fn where_no_database_is_named_the_error_says_that_one_must_be() {
        let (several, databases) = folder(&["concert_singer/concert_singer.sqlite", "pets_1.sqlite"]);
        for message in
            [databases.locate("").unwrap_err(), databases.only().unwrap_err()].map(|e| e.to_string())
        {
            assert!(message.contains("no db_id") && message.contains("holds 2"), "{message}");
        }
        let only = |root: &Path| Databases::open(root).unwrap().only();
        assert_eq!(only(&several.path().join("concert_singer")).unwrap(), "concert_singer");
        assert_eq!(only(&several.path().join("pets_1.sqlite")).unwrap(), "pets_1");
        assert_eq!(only(Path::new("postgresql://me@host:5432/shop?sslmode=disable")).unwrap(), "shop");
        assert_eq!(only(Path::new("duckdb:data/shop.duckdb")).unwrap(), "shop");
        assert!(only(Path::new("mysql://host/{db_id}")).is_err());
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let (folder, _) = folder(&["x.sqlite", "inner/y.sqlite"]);
        let databases = Databases::open(&folder.path().join("inner")).unwrap();
        for db_id in ["../x", "..", ".", "a/b", "a\\b", "y\0"] {
            assert!(
                matches!(databases.locate(db_id), Err(DatasetError::UnknownDatabase { .. })),
                "{db_id:?}"
            );
        }
        assert!(databases.locate("y").is_ok());
        assert!(Databases::open(&folder.path().join("none")).is_err());
    }
}
