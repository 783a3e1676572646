//! The items of a run one by one, from its log or from memory.
//!
//! | | |
//! |---|---|
//! | order | canonical: system by system as the manifest has them; of a system, an example counts once, by its first line |
//! | left out | a torn last line, lines of systems that the run does not have, lines behind those of a later system |
//! | memory | one batch of lines, and a few bytes per example and per distinct line, whatever the texts |
//!
//! Systems often agree to the letter, and a line then repeats an earlier one but for the system's name. A reader
//! that keeps what it took from the earlier one asks for [`Entry`]s: repeated lines are recognised by their hash and
//! never decoded.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use serde_json::Value;
use sqlgauge_base::regular;

use crate::error::RunError;
use crate::index::{Identity, Index, Reader, identity};
use crate::log::{Batch, corrupt, for_each_batch, for_each_raw_line};
use crate::raw::RawItem;
use crate::record::{Item, LINE_START, Manifest};

#[derive(Debug, Clone)]
pub struct Items(Source);

#[derive(Debug, Clone)]
enum Source {
    Memory(Vec<Item>),
    Log {
        path: PathBuf,
        systems: Vec<String>,
        examples: usize,
        identity: Identity,
        index: Arc<OnceLock<Option<Arc<Index>>>>,
    },
}

/// One item, as [`Items::for_each_entry`] meets it.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a, N = &'a Item> {
    /// An item that is met for the first time.
    New(N),
    /// The item of one system that is, but for the system's name, the earlier one of another.
    Same {
        /// The system whose item it is.
        system: &'a str,
        /// The system whose item it repeats.
        like: &'a str,
        /// The example of both.
        id: &'a str,
    },
}

/// What was made of a [`RawItem`].
#[derive(Debug)]
pub struct Prepared<T> {
    pub system: String,
    /// Id of the example.
    pub id: String,
    /// What was made of it.
    pub content: T,
}

/// What a walk must know of what it decodes.
trait Named {
    fn system(&self) -> &str;
    fn id(&self) -> &str;
}

impl Named for Item {
    fn system(&self) -> &str {
        &self.system
    }

    fn id(&self) -> &str {
        &self.id
    }
}

impl<T> Named for Prepared<T> {
    fn system(&self) -> &str {
        &self.system
    }

    fn id(&self) -> &str {
        &self.id
    }
}

impl From<Vec<Item>> for Items {
    fn from(items: Vec<Item>) -> Self {
        Self(Source::Memory(items))
    }
}

impl Items {
    /// The items in the log of that run directory, with its index if that is known.
    pub(crate) fn in_log(path: &Path, manifest: &Manifest, index: Option<Arc<Index>>) -> Self {
        Self(Source::Log {
            path: path.to_owned(),
            systems: manifest.systems.clone(),
            examples: manifest.examples,
            identity: identity(manifest),
            index: Arc::new(index.map_or_else(OnceLock::new, |index| OnceLock::from(Some(index)))),
        })
    }

    /// The index of their log, if they are of that run and the index is of all lines of the log. Looked for once: to
    /// compare it with the log takes reading the log.
    pub(crate) fn index_of(&self, manifest: &Manifest) -> Option<Arc<Index>> {
        match &self.0 {
            Source::Log { identity: other, .. } if *other == identity(manifest) => self.index(),
            _ => None,
        }
    }

    fn index(&self) -> Option<Arc<Index>> {
        let Source::Log { path, examples, identity, index, systems } = &self.0 else { return None };
        let read = || {
            let index = Index::of(path, *identity, *examples).map(Arc::new);
            index.filter(|index| index.lines.len() <= examples.saturating_mul(systems.len()))
        };
        index.get_or_init(read).clone()
    }

    /// What the bytes of their log are known by; `None` where there is no log, or no index of all of its lines.
    pub fn fingerprint(&self) -> Option<String> {
        self.index().map(|index| index.fingerprint())
    }

    /// Visits every item in canonical order.
    ///
    /// # Errors
    /// [`RunError`] when the log cannot be read, and whatever `visit` says: the walk ends there.
    pub fn for_each<E: From<RunError>>(
        &self,
        mut visit: impl FnMut(&Item) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk(false, |entry| if let Entry::New(item) = entry { visit(item) } else { Ok(()) })
    }

    /// Visits every item in canonical order; one that repeats an earlier one may come as [`Entry::Same`].
    ///
    /// # Errors
    /// As [`Items::for_each`].
    pub fn for_each_entry<E: From<RunError>>(
        &self,
        visit: impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk(true, visit)
    }

    /// Visits every item in canonical order, its details not decoded, as what `prepare` makes of it; one that repeats an
    /// earlier one may come as [`Entry::Same`]. Many items are prepared at once, on all cores.
    ///
    /// # Errors
    /// As [`Items::for_each`].
    pub fn for_each_raw<T: Send, E: From<RunError>>(
        &self,
        prepare: impl Fn(&RawItem<'_>) -> T + Sync,
        visit: impl FnMut(Entry<'_, Prepared<T>>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_raw(true, |item| Ok(prepare(item)), visit)
    }

    /// Visits every item of those systems in canonical order, as what `prepare` makes of it. Many items are prepared at once, on
    /// all cores.
    ///
    /// # Errors
    /// As [`Items::for_each`], and where `prepare` cannot read a detail.
    pub fn for_each_raw_of<T: Send, E: From<RunError>>(
        &self,
        systems: &[&str],
        prepare: impl Fn(&RawItem<'_>) -> serde_json::Result<T> + Sync,
        mut visit: impl FnMut(Prepared<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let of_systems =
            |item: &RawItem<'_>| systems.contains(&item.system.as_ref()).then(|| prepare(item)).transpose();
        self.walk_raw(false, of_systems, |entry| match entry {
            Entry::New(Prepared { system, id, content: Some(content) }) => {
                visit(Prepared { system, id, content })
            }
            Entry::New(_) | Entry::Same { .. } => Ok(()),
        })
    }

    fn walk_raw<T: Send, E: From<RunError>>(
        &self,
        sharing: bool,
        prepare: impl Fn(&RawItem<'_>) -> serde_json::Result<T> + Sync,
        mut visit: impl FnMut(Entry<'_, Prepared<T>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let decode = |line: &[u8]| {
            let item: RawItem<'_> = serde_json::from_slice(line)?;
            let content = prepare(&item)?;
            Ok(Prepared { system: item.system.into_owned(), id: item.id.into_owned(), content })
        };
        match &self.0 {
            Source::Memory(items) => items.iter().zip(1..).try_for_each(|(item, number)| {
                let prepared = serde_json::to_vec(item).and_then(|line| decode(&line));
                let of_memory = |error| corrupt(Path::new("the list of items"), number, &error);
                visit(Entry::New(prepared.map_err(of_memory)?))
            }),
            Source::Log { .. } => self.walk_log(sharing, decode, visit),
        }
    }

    /// All items at once.
    ///
    /// # Errors
    /// [`RunError`] when the log cannot be read.
    pub fn to_vec(&self) -> Result<Vec<Item>, RunError> {
        let mut items = Vec::new();
        self.for_each(|item| {
            items.push(item.clone());
            Ok::<(), RunError>(())
        })?;
        Ok(items)
    }

    /// The item of a system on an example, if it is there.
    ///
    /// # Errors
    /// [`RunError`] when the log cannot be read.
    pub fn find(&self, system: &str, id: &str) -> Result<Option<Item>, RunError> {
        match &self.0 {
            Source::Memory(items) => {
                Ok(items.iter().find(|item| item.system == system && item.id == id).cloned())
            }
            Source::Log { path, systems, .. } => {
                let place = systems.iter().position(|name| name == system);
                let begins =
                    place.and_then(|place| Reader::open(path)?.begins(place, id)).unwrap_or_default();
                for begin in begins {
                    if let Some(item) =
                        item_at(path, begin).filter(|item| item.system == system && item.id == id)
                    {
                        return Ok(Some(item));
                    }
                }
                find_line(path, system, id)
            }
        }
    }

    /// A line of the log by its number in canonical order, from 0. `None` if the log has no such line, or no index of all its lines.
    pub fn line(&self, number: usize) -> Option<Vec<u8>> {
        let (Source::Log { path, .. }, index) = (&self.0, self.index()?) else { return None };
        let end = index.lines.get(number)?.end;
        let begin = index.end_of(number);
        let mut line = vec![0; usize::try_from(end.checked_sub(begin)?).ok()?];
        let mut file = regular::open_unlinked(path).ok()?;
        file.seek(SeekFrom::Start(begin)).ok()?;
        file.read_exact(&mut line).ok()?;
        Some(line)
    }

    fn walk<E: From<RunError>>(
        &self,
        sharing: bool,
        mut visit: impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Source::Memory(items) = &self.0 {
            return items.iter().try_for_each(|item| visit(Entry::New(item)));
        }
        let decode = |line: &[u8]| serde_json::from_slice::<Item>(line);
        self.walk_log(sharing, decode, |entry| match entry {
            Entry::New(item) => visit(Entry::New(&item)),
            Entry::Same { system, like, id } => visit(Entry::Same { system, like, id }),
        })
    }

    fn walk_log<T: Named + Send, E: From<RunError>>(
        &self,
        sharing: bool,
        decode: impl Fn(&[u8]) -> serde_json::Result<T> + Sync,
        mut visit: impl FnMut(Entry<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Source::Log { path, systems, examples, .. } = &self.0 else { return Ok(()) };
        // A line of the only system repeats none.
        let sharing = sharing && systems.len() > 1;
        let mut walker = Walker {
            path,
            seen: ItemsMet::new(systems, *examples),
            first_seen: sharing.then(FirstSeen::default),
            decode: &decode,
            visit: &mut visit,
        };
        for_each_batch(path, (0, 0), |batch| walker.visit(batch)).map(drop)
    }
}

struct ItemsMet<'a> {
    systems: &'a [String],
    system_of_name: HashMap<&'a str, usize>,
    row_of_id: HashMap<String, usize>,
    ids: Vec<String>,
    /// By system, then by row.
    met: Vec<Vec<bool>>,
    latest: usize,
}

impl<'a> ItemsMet<'a> {
    fn new(systems: &'a [String], examples: usize) -> Self {
        Self {
            systems,
            system_of_name: systems.iter().map(String::as_str).zip(0..).collect(),
            row_of_id: HashMap::with_capacity(examples.min(1 << 20)),
            ids: Vec::new(),
            met: vec![Vec::new(); systems.len()],
            latest: 0,
        }
    }

    fn row(&mut self, id: &str) -> usize {
        if let Some(row) = self.row_of_id.get(id) {
            return *row;
        }
        self.row_of_id.insert(id.to_owned(), self.ids.len());
        self.ids.push(id.to_owned());
        self.ids.len() - 1
    }

    /// Whether that item counts: it has its place and was not met before.
    fn admit(&mut self, system: usize, row: usize) -> bool {
        if system < self.latest {
            return false;
        }
        self.latest = system;
        let met = &mut self.met[system];
        if met.len() <= row {
            met.resize(row + 1, false);
        }
        !std::mem::replace(&mut met[row], true)
    }
}

/// Lines that were decoded, by the hash of what follows the system's name: system and row of the first.
///
/// Two hashes of 64 bits with keys that nobody can know beforehand: two texts do not meet by chance, nor on
/// purpose.
#[derive(Default)]
struct FirstSeen {
    keys: [RandomState; 2],
    first: HashMap<[u64; 2], (usize, usize)>,
}

struct Walker<'a, D, V> {
    path: &'a Path,
    seen: ItemsMet<'a>,
    first_seen: Option<FirstSeen>,
    decode: D,
    visit: V,
}

/// What is known of a line before it is decoded.
struct Glance<'a> {
    line: &'a [u8],
    /// System and hash of the rest, where the line is written as the log writes it.
    head: Option<(usize, [u64; 2])>,
}

impl<'a> Glance<'a> {
    fn at(line: &'a [u8], first_seen: Option<&FirstSeen>, systems: &HashMap<&str, usize>) -> Self {
        let head = first_seen.and_then(|first_seen| {
            let (name, rest) = split_system(line)?;
            let system = *systems.get(name.as_str())?;
            Some((system, first_seen.keys.each_ref().map(|key| key.hash_one(rest))))
        });
        Self { line, head }
    }

    fn is_known(&self, first_seen: Option<&FirstSeen>) -> bool {
        self.head.zip(first_seen).is_some_and(|((_, hash), first_seen)| first_seen.first.contains_key(&hash))
    }
}

impl<D, V, T, E> Walker<'_, &D, &mut V>
where
    D: Fn(&[u8]) -> serde_json::Result<T> + Sync,
    V: FnMut(Entry<'_, T>) -> Result<(), E>,
    T: Named + Send,
    E: From<RunError>,
{
    fn visit(&mut self, batch: &Batch) -> Result<(), E> {
        let lines = batch.lines();
        let (first_seen, systems) = (self.first_seen.as_ref(), &self.seen.system_of_name);
        let glances: Vec<Glance<'_>> =
            lines.par_iter().map(|line| Glance::at(line.bytes, first_seen, systems)).collect();
        let decode = self.decode;
        let decoded: Vec<Option<serde_json::Result<T>>> = glances
            .par_iter()
            .map(|glance| (!glance.is_known(first_seen)).then(|| decode(glance.line)))
            .collect();
        for ((line, glance), item) in lines.iter().zip(&glances).zip(decoded) {
            match item {
                Some(Ok(item)) => self.first_time(glance, item)?,
                Some(Err(error)) => return Err(corrupt(self.path, line.number, &error).into()),
                None => self.again(glance)?,
            }
        }
        Ok(())
    }

    fn first_time(&mut self, glance: &Glance<'_>, item: T) -> Result<(), E> {
        let Some(&system) = self.seen.system_of_name.get(item.system()) else { return Ok(()) };
        let row = self.seen.row(item.id());
        if !self.seen.admit(system, row) {
            return Ok(());
        }
        if let (Some((_, hash)), Some(first_seen)) = (glance.head, &mut self.first_seen) {
            first_seen.first.entry(hash).or_insert((system, row));
        }
        (self.visit)(Entry::New(item))
    }

    fn again(&mut self, glance: &Glance<'_>) -> Result<(), E> {
        let Some(((system, hash), first_seen)) = glance.head.zip(self.first_seen.as_ref()) else {
            return Ok(());
        };
        let Some(&(like, row)) = first_seen.first.get(&hash) else { return Ok(()) };
        if !self.seen.admit(system, row) {
            return Ok(());
        }
        let (system, like) = (&self.seen.systems[system], &self.seen.systems[like]);
        (self.visit)(Entry::Same { system, like, id: &self.seen.ids[row] })
    }
}

/// The item whose line begins there, if one does.
fn item_at(path: &Path, begin: u64) -> Option<Item> {
    let mut file = BufReader::new(regular::open_unlinked(path).ok()?);
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// Reads lines until one is that item's; of the others only the beginning is looked at.
fn find_line(path: &Path, system: &str, id: &str) -> Result<Option<Item>, RunError> {
    let start = format!("{LINE_START}{},\"id\":{},", Value::from(system), Value::from(id));
    let mut result = None;
    for_each_raw_line(path, |line, _, bytes| {
        let is_ours = bytes.starts_with(LINE_START.as_bytes());
        if result.is_none() && (bytes.starts_with(start.as_bytes()) || !is_ours) {
            let item: Item = serde_json::from_slice(bytes).map_err(|error| corrupt(path, line, &error))?;
            result = (item.system == system && item.id == id).then_some(item);
        }
        Ok::<(), RunError>(())
    })?;
    Ok(result)
}

/// The system's name and what follows it, if the line begins as the log's lines do.
pub(crate) fn split_system(line: &[u8]) -> Option<(String, &[u8])> {
    let rest = line.strip_prefix(LINE_START.as_bytes())?;
    let mut names = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
    let name = names.next()?.ok()?;
    Some((name, &rest[names.byte_offset()..]))
}
