//! The database of compiled programs: a store on disk, which outlives the process.

use std::{env, path::PathBuf, sync::Arc};

use kernelmill_artifact::Fingerprint;
use kernelmill_store::Store;

use crate::error::{Error, Result};

/// What entries are called.
const KIND: &str = "program";

/// How much a database holds that has a folder of its own, in bytes.
const LIMIT: u64 = 1 << 30;

/// Programs that were compiled at run time, on disk under the key of all that went into them.
///
/// An entry that is damaged, or under another key's name, is a miss and is replaced. A database that cannot be written
/// only makes the next process compile again; [`Database::warning`] says why. Several processes may use one at once.
///
/// `cargo kernelmill store` shows and clears that of the user, which is the store of builds too.
#[derive(Clone, Debug)]
pub struct Database {
    store: Arc<Store>,
}

impl Database {
    /// The user's: `KERNELMILL_CACHE_DIR`, `$XDG_CACHE_HOME/kernelmill`, or the platform's folder.
    /// `KERNELMILL_CACHE=off` gives one that holds nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] where there is no such folder, or others can write to it.
    pub fn of_user() -> Result<Self> {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        Store::of_user(&variable).map(Self::new).map_err(|error| Error::Database(error.0))
    }

    /// One in a folder, of at most 1 GiB. The folder is made where it is not there, for the user alone.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] where others can write to the folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self> {
        Store::in_folder(folder.into(), LIMIT)
            .map(Self::new)
            .map_err(|error| Error::Database(error.0))
    }

    fn new(store: Store) -> Self {
        Self { store: Arc::new(store) }
    }

    /// Why what was compiled could not be kept; `None` where all of it was.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.store.failure().map(|why| {
            format!("the database of compiled programs cannot be written ({why}); programs are compiled again by the next process")
        })
    }

    pub(super) fn get(&self, key: &Fingerprint) -> Option<Vec<u8>> {
        self.store.get(KIND, key)
    }

    pub(super) fn put(&self, key: &Fingerprint, content: &[u8]) {
        self.store.put(KIND, key, content);
        self.store.shrink();
    }
}
