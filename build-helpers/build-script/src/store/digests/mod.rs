//! Digests of files. Those outside of the checkout, of which compilers read a thousand, are read once:
//! the store remembers each with what the file system says of it, and a file of which that is the same
//! is not read again.

use kernelmill_artifact::Fingerprint;
use kernelmill_store::Store;
use kernelmill_store::{KeyBuilder, digest};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

/// A file that was written later than this before it is read may be written again within the
/// resolution of the file system's clock.
const SETTLED_AFTER: Duration = Duration::from_secs(2);
/// The kind of the entry in the store.
const KIND: &str = "digests";

/// The digests of a build, each made once.
pub(crate) struct Digests<'a> {
    store: &'a Store,
    /// The name of the entry in the store.
    key: Fingerprint,
    /// Files below it are read in every build.
    checkout: &'a Path,
    made: Mutex<HashMap<PathBuf, Option<Fingerprint>>>,
    /// From earlier builds, with what this one adds.
    known: OnceLock<Mutex<Known>>,
}

/// By path, what the file system says of a file and the digest of its content.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    files: BTreeMap<String, (State, Fingerprint)>,
    has_grown: bool,
}

/// What the file system says of a file, as text without spaces.
pub(crate) type State = String;

impl<'a> Digests<'a> {
    /// No digest yet; `name` says whose they are, so that packages that are built at once do not
    /// take each other's away.
    pub(crate) fn new(store: &'a Store, name: &str, checkout: &'a Path) -> Self {
        let key = KeyBuilder::new(KIND).part("package", name).finish();
        Self { store, key, checkout, made: Mutex::default(), known: OnceLock::new() }
    }

    /// Whether there is a store, so that a later build can compare digests with those of this one.
    pub(crate) fn are_kept(&self) -> bool {
        self.store.folder().is_some()
    }

    /// The digest of a file's content; `None` where it cannot be read.
    pub(crate) fn of(&self, path: &Path) -> Option<Fingerprint> {
        if let Some(made) = lock(&self.made).get(path) {
            return *made;
        }
        let found =
            if path.starts_with(self.checkout) { read(path) } else { self.remembered(path) };
        lock(&self.made).insert(path.to_owned(), found);
        found
    }

    /// Puts what this build has added into the store.
    pub(crate) fn finish(&self) {
        if let Some(known) = self.known.get().map(lock)
            && known.has_grown
        {
            self.store.put(KIND, &self.key, known.write().as_bytes());
        }
    }

    fn remembered(&self, path: &Path) -> Option<Fingerprint> {
        let (Some(state), Some(name)) = (settled_state(path), path.to_str()) else {
            return read(path);
        };
        let known = self.known.get_or_init(|| {
            let entry = self.store.get(KIND, &self.key);
            let known = entry.and_then(|bytes| Known::read(std::str::from_utf8(&bytes).ok()?));
            Mutex::new(known.unwrap_or_default())
        });
        if let Some((same, content)) = lock(known).files.get(name)
            && *same == state
        {
            return Some(*content);
        }
        let content = read(path)?;
        // What was written while it was read is not known.
        if settled_state(path).as_ref() == Some(&state) {
            let mut known = lock(known);
            known.files.insert(name.to_owned(), (state, content));
            known.has_grown = true;
        }
        Some(content)
    }
}

impl Known {
    fn write(&self) -> String {
        let mut text = String::new();
        for (path, (state, content)) in self.files.iter().filter(|(path, _)| !path.contains('\n')) {
            let _ = writeln!(text, "{content} {state} {path}");
        }
        text
    }

    fn read(text: &str) -> Option<Self> {
        let entry = |line: &str| {
            let (content, rest) = line.split_once(' ')?;
            let (state, path) = rest.split_once(' ')?;
            Some((path.to_owned(), (state.to_owned(), content.parse().ok()?)))
        };
        Some(Self { files: text.lines().map(entry).collect::<Option<_>>()?, has_grown: false })
    }
}

fn read(path: &Path) -> Option<Fingerprint> {
    fs::read(path).ok().map(|content| digest(&content))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the file system says of a file that is not being written just now.
pub(crate) fn settled_state(path: &Path) -> Option<State> {
    let data = fs::metadata(path).ok()?;
    let modified = data.modified().ok()?;
    let age = SystemTime::now().duration_since(modified).ok()?;
    (age > SETTLED_AFTER).then(|| state(&data, modified))
}

/// Its length, when it was last written, and where there are such: its number in the file system, and
/// when anything about it was last changed, which no program can set back.
fn state(data: &fs::Metadata, modified: SystemTime) -> State {
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    #[cfg(unix)]
    let more = {
        use std::os::unix::fs::MetadataExt as _;
        format!("{}:{}:{}.{}", data.dev(), data.ino(), data.ctime(), data.ctime_nsec())
    };
    #[cfg(not(unix))]
    let more = String::new();
    format!("{}:{since}:{more}", data.len())
}

#[cfg(test)]
mod tests;
