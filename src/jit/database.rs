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
        Self::in_folder_of_at_most(folder, LIMIT)
    }

    /// One in a folder, of at most so many bytes: where there are more, the programs are removed that were not used for
    /// longest.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] where others can write to the folder.
    pub fn in_folder_of_at_most(folder: impl Into<PathBuf>, bytes: u64) -> Result<Self> {
        Store::in_folder(folder.into(), bytes)
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

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::Path,
        process::{self, Command, Stdio},
        time::{Duration, Instant},
    };

    use super::*;

    /// Says to a child process where the database is.
    const FOLDER: &str = "KERNELMILL_TEST_DATABASE";

    /// The programs that both processes use: 72 KiB in all, so that some are always removed.
    const PROGRAMS: u64 = 8;
    const BYTES: u64 = 40 << 10;

    fn key(program: u64) -> Fingerprint {
        kernelmill_store::digest(&program.to_le_bytes())
    }

    /// What belongs to a key: up to 16 KiB, another text for each.
    fn content(program: u64) -> Vec<u8> {
        let text = format!("program {program}\n").into_bytes();
        text.into_iter().cycle().take((program as usize + 1) * 2048).collect()
    }

    /// Puts programs and looks for them; how many were there and how many were not.
    fn hammer(folder: &Path) -> (u64, u64) {
        let (begun, mut random) = (Instant::now(), u64::from(process::id()));
        let (mut found, mut missed) = (0, 0);
        while begun.elapsed() < Duration::from_millis(500) {
            let database = Database::in_folder_of_at_most(folder, BYTES).unwrap();
            for _ in 0..20 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                let (written, other) = ((random >> 33) % PROGRAMS, (random >> 20) % PROGRAMS);
                database.put(&key(written), &content(written));
                for program in [written, other] {
                    match database.get(&key(program)) {
                        Some(bytes) => {
                            assert_eq!(bytes, content(program), "of program {program}");
                            found += 1;
                        }
                        None => missed += 1,
                    }
                }
            }
            assert_eq!(database.warning(), None);
        }
        (found, missed)
    }

    /// The sizes of the files below a folder.
    fn sizes(folder: &Path) -> Vec<u64> {
        let walk = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        walk.flat_map(|path| {
            if path.is_dir() { sizes(&path) } else { vec![path.metadata().unwrap().len()] }
        })
        .collect()
    }

    /// What one process removes while another reads or writes it is a miss, and never something else.
    #[test]
    fn processes_that_remove_programs_of_each_other_read_whole_ones() {
        if let Some(folder) = env::var_os(FOLDER) {
            let (found, missed) = hammer(Path::new(&folder));
            println!("{found} found, {missed} missed");
            assert!(found > 0 && missed > 0, "{found} {missed}");
            return;
        }
        let folder = env::temp_dir().join(format!("kernelmill-database-{}", process::id()));
        let name =
            "jit::database::tests::processes_that_remove_programs_of_each_other_read_whole_ones";
        let start = || {
            Command::new(env::current_exe().unwrap())
                .args([name, "--exact", "--nocapture"])
                .env(FOLDER, &folder)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        for process in [start(), start()] {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains(" missed\n"), "{said}");
        }
        let database = Database::in_folder_of_at_most(&folder, BYTES).unwrap();
        database.put(&key(0), &content(0));
        let sizes = sizes(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert!(!sizes.is_empty() && sizes.iter().sum::<u64>() <= BYTES, "{sizes:?}");
    }
}
