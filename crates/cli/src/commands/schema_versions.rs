//! The databases of `synth --schema-versions`: later schemas of those that were given, and what leads to them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use sqlgauge_base::file::write_atomically;
use sqlgauge_dataset::Databases;
use sqlgauge_engine::Engine;
use sqlgauge_evolve::versions::{Steps, Version, versions};
use sqlgauge_synth::Source;
use tempfile::TempDir;

/// What leads to the databases, a line each.
const FILE: &str = "schemas.jsonl";

/// Databases under later schemas, in a folder that goes with the command: the corpus has copies of them.
pub struct Later {
    _folder: TempDir,
    /// One for each of the folders and files that were given.
    roots: Vec<PathBuf>,
    versions: Vec<Version>,
}

impl Later {
    /// Those versions of every database of the folders and files; none where none is asked for.
    pub fn of(roots: &[PathBuf], engine: &dyn Engine, steps: &Steps) -> Result<Option<Self>> {
        if steps.count == 0 {
            return Ok(None);
        }
        let folder = tempfile::tempdir().context("no folder for the databases can be made; set TMPDIR")?;
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for (number, root) in
            roots.iter().enumerate().filter(|(number, root)| !roots[..*number].contains(root))
        {
            let place = folder.path().join(number.to_string());
            let made = versions(&Databases::open(root)?, engine, steps, &place)
                .with_context(|| format!("no later schemas can be made of {}", root.display()))?;
            if !made.is_empty() {
                all.extend(made);
                places.push(place);
            }
        }
        ensure!(
            !all.is_empty(),
            "no kind of change applies to any of the databases; leave --schema-versions out"
        );
        Ok(Some(Self { _folder: folder, roots: places, versions: all }))
    }

    /// Where they are.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Writes which database of the corpus is a version of which, and by which changes.
    pub fn write(&self, sources: &[Source], out: &Path) -> Result<()> {
        let named =
            |path: &Path| sources.iter().find(|source| source.path == path).map(|source| &source.db_id);
        let path = out.join(FILE);
        write_atomically(&path, |file| {
            for Version { of, path, changes, .. } in &self.versions {
                serde_json::to_writer(
                    &mut *file,
                    &json!({"db_id": named(path), "of": of, "changes": changes}),
                )?;
                file.write_all(b"\n")?;
            }
            Ok::<(), std::io::Error>(())
        })
        .with_context(|| format!("{} cannot be written", path.display()))
    }
}
