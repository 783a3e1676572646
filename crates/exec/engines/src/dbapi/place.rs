//! The address of a database behind a driver.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sqlgauge_base::without_secrets;

use super::dialect::{DIALECTS, Dialect};
use crate::address::{pairs, private_file};

/// `dbapi:MODULE?connect=FILE&dialect=NAME&tables=NAME,NAME&OPTION=VALUE`, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) module: String,
    pub(super) dialect: &'static Dialect,
    /// The file of a person's own with the arguments of `connect()`. This program does not read it: the driver's process does.
    pub(super) file: Option<PathBuf>,
    /// The tables, for a database that does not tell them.
    pub(super) tables: Vec<String>,
    /// Further arguments. They must be public: the record of a run has the address.
    pub(super) options: BTreeMap<String, String>,
}

impl Place {
    /// Takes an address apart, or says what is wrong with it.
    pub(super) fn parse(address: &Path) -> Result<Self, String> {
        let text = address.to_str().and_then(|text| text.strip_prefix("dbapi:"));
        let text = text.ok_or("the address names no module of Python")?;
        let (module, query) = text.split_once('?').unwrap_or((text, ""));
        if !is_module(module) {
            return Err(format!("`{}` is not the name of a module of Python", without_secrets(module)));
        }
        let mut options = pairs(query)?;
        let dialect = match options.remove("dialect") {
            Some(name) => Dialect::named(&name).ok_or_else(|| {
                let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
                format!("unknown dialect `{name}`: choose from {}", names.join(", "))
            })?,
            None => Dialect::of_module(module),
        };
        let tables = options.remove("tables").unwrap_or_default();
        let tables = tables.split(',').map(str::to_owned).filter(|name| !name.is_empty()).collect();
        let file = options.remove("connect").map(|name| private_file(Path::new(&name))).transpose()?;
        // The process runs in a different folder.
        if let Some(path) =
            dialect.file.and_then(|name| options.get_mut(name)).filter(|path| *path != ":memory:")
        {
            let place = std::path::absolute(&*path).map_err(|error| error.to_string())?;
            if !place.is_file() {
                return Err(format!("there is no file {path}"));
            }
            *path = place.to_string_lossy().into_owned();
        }
        Ok(Self { module: module.to_owned(), dialect, file, tables, options })
    }
}

fn is_module(name: &str) -> bool {
    let is_word = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && part.starts_with(|first: char| !first.is_ascii_digit())
    };
    name.split('.').all(is_word)
}
