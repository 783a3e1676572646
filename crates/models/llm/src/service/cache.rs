//! Answers on disk, by the content of their request.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlgauge_base::file::{AtomicFile, write_atomically};
use sqlgauge_base::regular;

use super::error::LlmError;
use super::options::CacheOptions;
use super::secret::Secret;
use crate::digest::digest;

/// Raised when the files change their meaning; older ones are then asked again.
const FORMAT: u64 = 1;

/// A folder of `ab/abcdef….json`, each with its request and its answer. A file appears whole or not at all.
pub(crate) struct Cache {
    folder: PathBuf,
    namespace: String,
    secret: Option<Secret>,
}

/// What an answer is kept under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    digest: String,
    request: Value,
}

impl Cache {
    /// Opens or makes the folder, and writes a file into it to be sure that it can.
    pub(crate) fn open(options: &CacheOptions, secret: Option<Secret>) -> Result<Self, LlmError> {
        let cache = Self { folder: options.folder.clone(), namespace: options.namespace.clone(), secret };
        // Dropped, it leaves nothing.
        let tried = fs::create_dir_all(&cache.folder)
            .and_then(|()| AtomicFile::create(&cache.folder.join("probe")).map(drop));
        match tried {
            Ok(()) => Ok(cache),
            Err(error) => {
                Err(LlmError::Cache { folder: cache.folder.display().to_string(), reason: error.to_string() })
            }
        }
    }

    /// The key of a request: its path and everything in its body, not the server and not the API key.
    pub(crate) fn key(&self, path: &str, body: &Value) -> Key {
        let mut request = json!({ "path": path, "namespace": self.namespace, "body": body });
        // Equal requests have equal text.
        request.sort_all_objects();
        if let Some(secret) = &self.secret {
            secret.hide_in(&mut request);
        }
        Key { digest: digest(request.to_string().as_bytes()), request }
    }

    /// The answer to the request, if there is one; a file that is torn or of another request counts as none.
    pub(crate) fn read(&self, key: &Key) -> Option<Value> {
        let text = regular::read_to_string(self.file(key)).ok()?;
        let mut entry: Value = serde_json::from_str(&text).ok()?;
        let same = entry["format"] == FORMAT && entry["request"] == key.request;
        same.then(|| entry["answer"].take())
    }

    /// Keeps the answer.
    pub(crate) fn write(&self, key: &Key, answer: &Value) -> io::Result<()> {
        let file = self.file(key);
        let folder = file.parent().unwrap_or(&self.folder);
        let mut answer = answer.clone();
        if let Some(secret) = &self.secret {
            secret.hide_in(&mut answer);
        }
        let entry = json!({ "format": FORMAT, "request": key.request, "answer": answer });
        fs::create_dir_all(folder)?;
        write_atomically(&file, |out| out.write_all(entry.to_string().as_bytes()))
    }

    fn file(&self, key: &Key) -> PathBuf {
        Path::new(&self.folder).join(&key.digest[..2]).join(format!("{}.json", key.digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path, namespace: &str) -> Cache {
        let options = CacheOptions { folder: folder.to_owned(), namespace: namespace.to_owned() };
        Cache::open(&options, Some(Secret::new("sk-0123456789abcdef"))).unwrap()
    }

    #[test]
    fn an_answer_is_found_under_the_whole_request_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = cache(folder.path(), "");
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "q"}], "temperature": 0.0});
        let key = store.key("chat/completions", &body);
        store.write(&key, &json!({"text": "a"})).unwrap();
        assert_eq!(store.read(&key), Some(json!({"text": "a"})));
        let reordered =
            json!({"temperature": 0.0, "messages": [{"content": "q", "role": "user"}], "model": "m"});
        assert_eq!(store.key("chat/completions", &reordered), key);
        let others = [
            (
                json!({"model": "n", "messages": [{"role": "user", "content": "q"}], "temperature": 0.0}),
                "chat/completions",
            ),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": "r"}], "temperature": 0.0}),
                "chat/completions",
            ),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": "q"}], "temperature": 0.5}),
                "chat/completions",
            ),
            (body.clone(), "embeddings"),
        ];
        for (body, path) in others {
            assert_eq!(store.read(&store.key(path, &body)), None, "{path} {body}");
        }
        let elsewhere = cache(folder.path(), "other");
        assert_eq!(elsewhere.read(&elsewhere.key("chat/completions", &body)), None);
    }

    #[test]
    fn a_torn_or_swapped_file_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), "");
        let (one, two) = (cache.key("p", &json!(1)), cache.key("p", &json!(2)));
        cache.write(&one, &json!("answer")).unwrap();
        cache.write(&two, &json!("other")).unwrap();
        fs::copy(cache.file(&two), cache.file(&one)).unwrap();
        assert_eq!(cache.read(&one), None);
        fs::write(cache.file(&two), "{\"format\": 1, \"req").unwrap();
        assert_eq!(cache.read(&two), None);
        cache.write(&two, &json!("again")).unwrap();
        assert_eq!(cache.read(&two), Some(json!("again")));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = CacheOptions { folder: file.path().to_owned(), namespace: String::new() };
        assert!(matches!(Cache::open(&options, None), Err(LlmError::Cache { .. })));
    }
}
