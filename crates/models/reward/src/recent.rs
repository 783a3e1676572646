//! A memory of bounded size.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Remembers what was asked for lately. Entries live in two generations; when the younger one holds half of the bound, the
/// older one is forgotten.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    bytes: usize,
    generations: Mutex<Generations<K, V>>,
}

#[derive(Debug)]
struct Generations<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    young_bytes: usize,
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// A memory of at most so many bytes, as they are said to be.
    pub(crate) fn new(bytes: usize) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 };
        Self { bytes, generations: Mutex::new(generations) }
    }

    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of that key. `bytes` says how large it is, in case it becomes young again.
    pub(crate) fn get(&self, key: &K, bytes: impl Fn(&V) -> usize) -> Option<V> {
        let mut generations = self.lock();
        if let Some(value) = generations.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = generations.old.remove_entry(key)?;
        let size = bytes(&value);
        generations.insert(key, value.clone(), size, self.bytes);
        Some(value)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let mut generations = self.lock();
        *generations = Generations { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 };
    }

    /// Remembers a value of that many bytes.
    pub(crate) fn insert(&self, key: K, value: V, bytes: usize) {
        self.lock().insert(key, value, bytes, self.bytes);
    }
}

impl<K: Eq + Hash, V> Generations<K, V> {
    fn insert(&mut self, key: K, value: V, bytes: usize, most: usize) {
        self.young_bytes += bytes + size_of::<K>() + size_of::<V>();
        self.young.insert(key, value);
        if self.young_bytes > most / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let memory = Recent::new(10 * 100);
        let size = |_: &usize| 50;
        for number in 0..200 {
            memory.insert(number, number, 50);
            assert_eq!(memory.get(&0, size), Some(0), "{number}");
        }
        let count = (0..200).filter(|number| memory.get(number, size).is_some()).count();
        assert!((5..20).contains(&count), "{count}");
        assert_eq!(memory.get(&199, size), Some(199));
    }
}
