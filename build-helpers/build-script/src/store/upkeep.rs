//! Upkeep of the store: what is in it, what of that is whole, and what can go. For programs like
//! `cargo kernelmill store`; builds keep the store within its limit by themselves.

use super::location;
use crate::base::{environment::BuildEnvironment, error::Error};
use kernelmill_store::{Store, is_abandoned, versions};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The store of the user, as the builds of this environment see it.
///
/// ```no_run
/// use kernelmill_build::Upkeep;
/// let store = Upkeep::of_user()?;
/// let stats = store.stats();
/// println!("{} entries, {} bytes in {}", stats.entries, stats.bytes, store.folder().display());
/// # Ok::<(), kernelmill_build::Error>(())
/// ```
pub struct Upkeep {
    folder: PathBuf,
    store: Store,
}

/// What is in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Entries that this version can read.
    pub entries: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The number and bytes of them by kind: `artifact`, `front`, `lowered` and so on.
    pub kinds: BTreeMap<String, (usize, u64)>,
    /// Files of other versions' formats, and their bytes.
    pub other_formats: (usize, u64),
    /// Temporary files of builds that run or have died, and their bytes.
    pub temporary: (usize, u64),
    /// How many bytes the store may hold.
    pub limit: u64,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// Files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// A file of the store.
struct Found {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    kind: Kind,
}

enum Kind {
    /// An entry of this version.
    Entry(String),
    OtherFormat,
    Temporary,
}

impl Upkeep {
    /// The store that the environment's variables name.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] where they name none, and where others can write to it.
    pub fn of_user() -> Result<Self, Error> {
        Self::of(&BuildEnvironment::outside(BTreeMap::new()))
    }

    pub(crate) fn of(environment: &BuildEnvironment) -> Result<Self, Error> {
        let folder = location::user_folder(environment)?;
        let store = Store::in_folder(folder.clone(), location::limit(environment)?)?;
        Ok(Self { folder, store })
    }

    /// The folder of the store; tools that are installed for kernelmill lie there too.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Counts what is in the store.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let mut stats = StoreStats { limit: self.store.limit(), ..StoreStats::default() };
        for Found { bytes, kind, .. } in self.files() {
            let (files, sum) = match kind {
                Kind::Entry(kind) => {
                    stats.entries += 1;
                    stats.bytes += bytes;
                    let counts = stats.kinds.entry(kind).or_default();
                    (&mut counts.0, &mut counts.1)
                }
                Kind::OtherFormat => (&mut stats.other_formats.0, &mut stats.other_formats.1),
                Kind::Temporary => (&mut stats.temporary.0, &mut stats.temporary.1),
            };
            *files += 1;
            *sum += bytes;
        }
        stats
    }

    /// Reads every entry, and removes those that are damaged or under another's name; gives their paths.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where such an entry cannot be removed.
    pub fn verify(&self) -> Result<Vec<PathBuf>, Error> {
        let is_bad =
            |file: &Found| matches!(file.kind, Kind::Entry(_)) && !self.store.is_whole(&file.path);
        let bad: Vec<_> = self.files().into_iter().filter(is_bad).map(|file| file.path).collect();
        bad.iter().try_for_each(|path| remove(path))?;
        Ok(bad)
    }

    /// Removes every entry, those of other versions' formats, and temporary files. A build that runs makes
    /// again what it misses, and writes again what it was about to write.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where a file cannot be removed.
    pub fn clear(&self) -> Result<Removed, Error> {
        self.remove_files(|_| true)
    }

    /// Removes entries of other versions' formats, temporary files of builds that have died, and then the entries
    /// that were not used for longest, until the rest is within the limit. What builds are writing is left alone.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where a file cannot be removed.
    pub fn collect_garbage(&self) -> Result<Removed, Error> {
        let mut removed = self.remove_files(|file| match file.kind {
            Kind::Entry(_) => false,
            Kind::OtherFormat => true,
            Kind::Temporary => is_abandoned(file.used),
        })?;
        let mut rest = self.files();
        rest.sort_by_key(|file| file.used);
        let mut total: u64 = rest.iter().map(|file| file.bytes).sum();
        for file in rest.into_iter().filter(|file| !matches!(file.kind, Kind::Temporary)) {
            if total <= self.store.limit() {
                break;
            }
            remove(&file.path)?;
            total -= file.bytes;
            removed.files += 1;
            removed.bytes += file.bytes;
        }
        Ok(removed)
    }

    fn remove_files(&self, wanted: impl Fn(&Found) -> bool) -> Result<Removed, Error> {
        let mut removed = Removed::default();
        for file in self.files().into_iter().filter(wanted) {
            remove(&file.path)?;
            removed.files += 1;
            removed.bytes += file.bytes;
        }
        for version in versions(&self.folder) {
            remove_empty(&version);
        }
        Ok(removed)
    }

    fn files(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for version in versions(&self.folder) {
            let is_own = self.store.folder() == Some(&version);
            // A link is one file, and what it leads to is not the store's.
            let files = walkdir::WalkDir::new(&version).follow_root_links(false);
            let files = files.into_iter().filter_map(Result::ok);
            for file in files.filter(|file| !file.file_type().is_dir()) {
                let Ok(data) = file.metadata() else { continue };
                let kind = file.path().extension().unwrap_or_default().to_string_lossy();
                let kind = match &*kind {
                    "tmp" => Kind::Temporary,
                    kind if is_own => Kind::Entry(kind.to_owned()),
                    _ => Kind::OtherFormat,
                };
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(Found { path: file.into_path(), bytes: data.len(), used, kind });
            }
        }
        found
    }
}

/// Removes a file; one that another program has removed meanwhile is as good.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes the folders in which nothing is left.
fn remove_empty(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_empty(&entry.path());
    }
    // Where something is left it stays.
    let _ = fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, SAXPY, Shared, files};
    use std::time::Duration;

    fn built() -> (Project, Upkeep) {
        let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
        assert_eq!(project.counts(), (2, 0));
        let upkeep = Upkeep::of(&project.environment(&Shared::default())).unwrap();
        (project, upkeep)
    }

    /// Files of an older version, temporary files, and tools, which are not the store's.
    fn add_others(project: &Project) {
        project.write("cache/kernelmill/v2/ab/cd.artifact", "old format");
        project.write("cache/kernelmill/v3/ab/.cd.artifact.1.0.tmp", "half");
        project.write("cache/kernelmill/toolchains/cuda-13.5/bin/nvcc", "tool");
    }

    #[test]
    fn entries_other_formats_and_temporary_files_are_counted_apart() {
        let (project, upkeep) = built();
        add_others(&project);
        let stats = upkeep.stats();
        assert_eq!(stats.entries, 5);
        let kinds: Vec<_> =
            stats.kinds.iter().map(|(kind, counts)| (kind.as_str(), counts.0)).collect();
        assert_eq!(kinds, [("artifact", 2), ("front", 1), ("lowered", 1), ("symbols", 1)]);
        assert_eq!(stats.bytes, stats.kinds.values().map(|counts| counts.1).sum::<u64>());
        assert_eq!((stats.other_formats, stats.temporary), ((1, 10), (1, 4)));
        assert_eq!(stats.limit, 2 << 30);
    }

    #[test]
    fn what_is_damaged_or_under_anothers_name_is_found_and_removed() {
        let (project, upkeep) = built();
        assert_eq!(upkeep.verify().unwrap(), [] as [PathBuf; 0]);
        let entries = files(upkeep.folder());
        let first = fs::read(&entries[0]).unwrap();
        fs::write(&entries[1], first).unwrap();
        fs::write(&entries[2], "").unwrap();
        fs::rename(&entries[3], entries[3].with_file_name("no-key.artifact")).unwrap();
        assert_eq!(upkeep.verify().unwrap().len(), 3);
        assert_eq!(files(upkeep.folder()).len(), 2);
        let (compiled, cached) = project.counts();
        assert_eq!(compiled + cached, 2);
        assert_eq!(upkeep.verify().unwrap().len(), 0);
    }

    #[test]
    fn clearing_leaves_tools_alone() {
        let (project, upkeep) = built();
        add_others(&project);
        let removed = upkeep.clear().unwrap();
        assert_eq!(removed.files, 7);
        assert_eq!(files(upkeep.folder()), [upkeep.folder().join("toolchains/cuda-13.5/bin/nvcc")]);
        assert_eq!(upkeep.stats(), StoreStats { limit: 2 << 30, ..StoreStats::default() });
        assert_eq!(project.counts(), (2, 0));
    }

    #[test]
    fn garbage_is_older_formats_dead_temporary_files_and_what_is_over_the_limit() {
        let (mut project, upkeep) = built();
        add_others(&project);
        assert_eq!(upkeep.collect_garbage().unwrap().files, 1, "the build may still run");
        let temporary = upkeep.folder().join("v3/ab/.cd.artifact.1.0.tmp");
        let file = fs::File::options().append(true).open(temporary).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(200_000)).unwrap();
        assert_eq!(upkeep.collect_garbage().unwrap().files, 1);
        assert_eq!(upkeep.collect_garbage().unwrap(), Removed::default());
        assert_eq!(project.counts(), (0, 2));
        let bytes = upkeep.stats().bytes;
        project.set("KERNELMILL_CACHE_SIZE", &(bytes - 1).to_string());
        let upkeep = Upkeep::of(&project.environment(&Shared::default())).unwrap();
        assert_eq!(upkeep.collect_garbage().unwrap().files, 1);
        assert_eq!(upkeep.stats().entries, 4);
        // A build is writing an entry.
        project.write("cache/kernelmill/v3/ab/.cd.artifact.1.0.tmp", "half");
        project.set("KERNELMILL_CACHE_SIZE", "1");
        let upkeep = Upkeep::of(&project.environment(&Shared::default())).unwrap();
        assert_eq!(upkeep.collect_garbage().unwrap().files, 4);
        assert_eq!((upkeep.stats().entries, upkeep.stats().temporary.0), (0, 1));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_in_the_store_are_counted_and_removed() {
        let (project, upkeep) = built();
        let entries = files(upkeep.folder());
        let pipe = entries[0].with_file_name("pipe.front");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let target = project.folder.path().join("precious");
        fs::write(&target, "kept").unwrap();
        for name in ["link.artifact", ".link.artifact.1.0.tmp"] {
            std::os::unix::fs::symlink(&target, entries[1].with_file_name(name)).unwrap();
        }
        let stats = upkeep.stats();
        assert_eq!((stats.entries, stats.temporary.0), (7, 1));
        assert_eq!(upkeep.verify().unwrap().len(), 2);
        assert_eq!(upkeep.clear().unwrap().files, 6);
        assert_eq!(upkeep.stats().entries, 0);
        assert_eq!(fs::read_to_string(target).unwrap(), "kept");
    }

    /// It is removed, with nothing of what it leads to.
    #[cfg(unix)]
    #[test]
    fn a_link_with_the_name_of_a_version_is_one_file() {
        let (project, upkeep) = built();
        project.write("mine/a.unit", "kept");
        let (mine, link) = (project.folder.path().join("mine"), upkeep.folder().join("v1"));
        std::os::unix::fs::symlink(&mine, &link).unwrap();
        assert_eq!(upkeep.collect_garbage().unwrap().files, 1);
        assert!(!link.is_symlink());
        assert_eq!(fs::read_to_string(mine.join("a.unit")).unwrap(), "kept");
    }
}
