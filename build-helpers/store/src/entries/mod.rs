//! The store of results: content-addressed, one for all packages of a user.
//!
//! An entry is a file named after its key. It is written to a temporary file and renamed, so that
//! builds that run at once never see half of one; it carries a digest of its content and its name, so that a
//! damaged one, and one under another's name, is a miss. Only the user can read and write it. A store that cannot be written is no reason to fail: the build goes on
//! without it, and says so once.

use crate::{
    files::{Access, close_to_others, is_disturbance, make_folder, write},
    location::{self, StoreError, Variables},
    trust::who_else_can_change,
};
use frame::Name;
use kernelmill_artifact::Fingerprint;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

mod frame;

/// The version of the form that entries have. Those of other versions lie in other folders.
pub const FORMAT_VERSION: u32 = frame::VERSION;

/// An entry's time of last use is only renewed when it is older than this.
const RENEW_AFTER: Duration = Duration::from_secs(60 * 60);
/// Temporary files older than this are of processes that have died.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The part of the limit that is kept when old entries are removed, in percent.
const KEPT_PERCENT: u64 = 80;
/// The entries are only measured again after this, for there are tens of thousands of them in a store that is used much,
/// or by a build that has written more than this part of the limit, in percent.
const MEASURED_AGAIN_AFTER: Duration = Duration::from_secs(10 * 60);
const MEASURED_AGAIN_PERCENT: u64 = 1;

/// The store.
///
/// ```
/// use kernelmill_store::{KeyBuilder, Store};
/// # let folder = std::env::temp_dir().join(format!("kernelmill-store-doc-{}", std::process::id()));
/// let store = Store::in_folder(folder.clone(), 1 << 20)?;
/// let key = KeyBuilder::new("program").part("text", "a").finish();
/// store.put("program", &key, b"content");
/// assert_eq!(store.get("program", &key).as_deref(), Some(&b"content"[..]));
/// # let _ = std::fs::remove_dir_all(folder);
/// # Ok::<(), kernelmill_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Store {
    /// `None`: nothing is stored and nothing found.
    folder: Option<PathBuf>,
    limit: u64,
    /// The bytes of the entries that were written.
    written: AtomicU64,
    /// Why the first write failed; after it no other is tried.
    failure: OnceLock<WriteError>,
    /// Why the first write failed that only a clearing of the store disturbed. Others are tried after it.
    disturbance: OnceLock<WriteError>,
}

/// Why an entry could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct WriteError {
    /// The entry.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

impl Store {
    /// The store of the user that the environment's variables name: `KERNELMILL_CACHE_DIR`, `$XDG_CACHE_HOME/kernelmill`,
    /// or the platform's folder. `KERNELMILL_CACHE=off` turns it off.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where there is no such folder, where anybody else can write to it, and where
    /// `KERNELMILL_CACHE_SIZE` is no size or `KERNELMILL_CACHE` no switch.
    pub fn of_user(variables: Variables<'_>) -> Result<Self, StoreError> {
        let limit = location::limit(variables)?;
        if location::is_off(variables)? {
            return Ok(Self::new(None, limit));
        }
        let folder = location::user_folder(variables)?;
        // Made before it is checked: nobody else can make it after that. A store that cannot be made says so
        // when it is written.
        let _ = make_folder(&folder, Access::UserAlone);
        Self::in_folder(folder, limit)
    }

    /// The store in a folder.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where anybody else can write to it.
    pub fn in_folder(folder: PathBuf, limit: u64) -> Result<Self, StoreError> {
        location::check_rights(&folder)?;
        let store = Self::new(Some(folder), limit);
        store.folder.iter().try_for_each(|folder| location::check_rights(folder))?;
        Ok(store)
    }

    /// A store in a folder whose rights are not looked at, of at most `limit` bytes; without a folder nothing is stored
    /// and nothing found.
    #[must_use]
    pub fn new(folder: Option<PathBuf>, limit: u64) -> Self {
        let folder = folder.map(|folder| folder.join(format!("v{}", frame::VERSION)));
        Self {
            folder,
            limit,
            written: AtomicU64::new(0),
            failure: OnceLock::new(),
            disturbance: OnceLock::new(),
        }
    }

    /// The content stored under a key. An entry that is damaged is removed.
    #[must_use]
    pub fn get(&self, kind: &str, key: &Fingerprint) -> Option<Vec<u8>> {
        let path = self.path(kind, key)?;
        let bytes = read(&path)?;
        let Some(content) = frame::open(Name { kind, key }, &bytes) else {
            // Where it cannot be removed, it is a miss again the next time.
            let _ = fs::remove_file(&path);
            return None;
        };
        renew(&path);
        Some(content.to_vec())
    }

    /// The folder of this version's entries; `None` where nothing is stored.
    #[must_use]
    pub fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    /// How many bytes the store may hold.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a file is an entry as it was written under its name.
    #[must_use]
    pub fn is_whole(&self, path: &Path) -> bool {
        let first = path.parent().and_then(Path::file_name).unwrap_or_default();
        let rest = path.file_stem().unwrap_or_default();
        let key = format!("{}{}", first.to_string_lossy(), rest.to_string_lossy()).parse();
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        let (Ok(key), Some(bytes)) = (key, read(path)) else { return false };
        frame::open(Name { kind: &kind, key: &key }, &bytes).is_some()
    }

    /// Stores content under a key. After a write that failed no other is tried, except where the failure was only
    /// that somebody cleared the store meanwhile: an entry that is lost so is as good as one that was cleared.
    pub fn put(&self, kind: &str, key: &Fingerprint, content: &[u8]) {
        let Some(path) = self.path(kind, key) else { return };
        if self.failure.get().is_some() {
            return;
        }
        let content = frame::close(Name { kind, key }, content);
        let folder = path.parent().unwrap_or(Path::new("."));
        let closed = close_to_others(folder);
        match closed.and_then(|()| write(&path, &content, Access::UserAlone)) {
            Ok(()) => {
                self.written.fetch_add(content.len() as u64, Ordering::Relaxed);
            }
            Err(error) => {
                let is_lasting = !is_disturbance(&path, &error);
                let place = if is_lasting { &self.failure } else { &self.disturbance };
                place.get_or_init(|| WriteError { path, error });
            }
        }
    }

    /// Removes what was not used for longest where there is too much, if anything was written. What is there is measured
    /// by a build that wrote much, and else every ten minutes: the time of the folder of entries says when.
    pub fn shrink(&self) {
        let written = self.written.load(Ordering::Relaxed);
        let Some(entries) = self.folder.as_deref().filter(|_| written > 0) else { return };
        let time = fs::metadata(entries).and_then(|data| data.modified());
        let is_old = time.map_or(true, |time| distance(time) > MEASURED_AGAIN_AFTER);
        if is_old || written > self.limit / 100 * MEASURED_AGAIN_PERCENT {
            shrink(entries.parent().unwrap_or(entries), self.limit);
            // Where a system sets no time of a folder, the next build measures again.
            let folder = fs::File::open(entries);
            let _ = folder.and_then(|folder| folder.set_modified(SystemTime::now()));
        }
    }

    /// Why the store cannot be written; `None` where it can. Writes that only a clearing of the store disturbed count
    /// where no other write succeeded.
    #[must_use]
    pub fn failure(&self) -> Option<&WriteError> {
        let has_written = self.written.load(Ordering::Relaxed) > 0;
        self.failure.get().or_else(|| self.disturbance.get().filter(|_| !has_written))
    }

    fn path(&self, kind: &str, key: &Fingerprint) -> Option<PathBuf> {
        let name = key.to_string();
        let (first, rest) = name.split_at(2);
        Some(self.folder.as_ref()?.join(first).join(format!("{rest}.{kind}")))
    }
}

/// The bytes of a file. What is there in place of one is removed: a folder or a link would be in the way of the
/// entry, and a pipe would be waited for without end. So is what others can write or have written, for a digest
/// proves nothing of who made an entry.
fn read(path: &Path) -> Option<Vec<u8>> {
    let found = path.symlink_metadata().ok()?;
    if found.is_file() {
        let others = |place: &Path| who_else_can_change(place).map_or(true, |why| why.is_some());
        if !others(path) && !path.parent().is_some_and(others) {
            return fs::read(path).ok();
        }
        let _ = fs::remove_file(path);
        return None;
    }
    // Where it cannot be removed, the store says that it cannot be written.
    let _ = if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    None
}

/// Notes that an entry was used. A file system that keeps no such time only makes the choice of
/// what to remove worse.
fn renew(path: &Path) {
    let used = fs::metadata(path).and_then(|data| data.modified());
    if used.is_ok_and(|used| distance(used) > RENEW_AFTER)
        && let Ok(file) = fs::File::options().append(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// How far a time is from now, in the past or in a future that some clock has been in.
fn distance(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_else(|ahead| ahead.duration())
}

/// Whether a temporary file that was last written then is of a process that has died.
#[must_use]
pub fn is_abandoned(written: SystemTime) -> bool {
    distance(written) > ABANDONED_AFTER
}

/// Removes the entries, of other versions too, that were not used for longest until the rest is well under the limit.
/// Two builds that do this at once at worst remove an entry that has to be made again.
fn shrink(folder: &Path, limit: u64) {
    let (mut entries, mut total) = (Vec::new(), 0);
    let versions = location::versions(folder).into_iter();
    // What a link leads to is not the store's.
    let walk = |version| walkdir::WalkDir::new(version).follow_root_links(false).min_depth(2);
    let files = versions.flat_map(walk);
    for file in files.filter_map(Result::ok) {
        let Ok(data) = file.metadata() else { continue };
        let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let is_ahead = used > SystemTime::now() + RENEW_AFTER;
        let is_temporary = file.file_name().to_string_lossy().ends_with(".tmp");
        if is_temporary && is_abandoned(used) {
            let _ = fs::remove_file(file.path());
        } else if data.is_file() && !is_temporary {
            total += data.len();
            // A time that is still to come says nothing of the last use.
            let used = if is_ahead { SystemTime::UNIX_EPOCH } else { used };
            entries.push((used, data.len(), file.into_path()));
        }
    }
    if total <= limit {
        return;
    }
    entries.sort();
    for (_, size, path) in entries {
        if total <= limit / 100 * KEPT_PERCENT {
            break;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests;
