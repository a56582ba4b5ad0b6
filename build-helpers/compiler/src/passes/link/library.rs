//! Bitcode libraries: `kernelmill_device`, `core`, `alloc` and `compiler_builtins`, of which a kernel gets
//! the functions it calls and no others.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use object::{
    Object, ObjectSection, ObjectSymbol,
    read::archive::{ArchiveFile, ArchiveMember},
};

use crate::{
    Error,
    ir::{names_std, path_of},
};

/// The libraries, indexed by the symbols that they define.
#[derive(Debug)]
pub(crate) struct Libraries {
    device: Vec<u8>,
    standard: PathBuf,
    /// Filled when a kernel first calls something that `kernelmill_device` does not define; most
    /// never do.
    archives: OnceLock<Archives>,
    /// The other rlibs of the toolchain, for instances of generic functions of `core` and `alloc`:
    /// rustc makes none where another crate has it.
    others: OnceLock<Archives>,
}

#[derive(Debug, Default)]
struct Archives {
    members: Vec<Member>,
    by_symbol: HashMap<String, usize>,
}

/// A module of a library.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its name, for messages.
    pub(crate) name: String,
    /// Its bitcode.
    pub(crate) bitcode: Vec<u8>,
}

/// The crates of the standard library that kernels can call. `std` is not among them: what it
/// does needs an operating system.
const CRATES: [&str; 3] = ["libcore-", "libcompiler_builtins-", "liballoc-"];

impl Libraries {
    /// Libraries of a device crate's bitcode and the folder of a toolchain's rlibs.
    pub(crate) fn open(device: &[u8], standard: &Path) -> Result<Self, Error> {
        let standard = standard.to_owned();
        let (archives, others) = (OnceLock::new(), OnceLock::new());
        Ok(Self { device: device.to_vec(), standard, archives, others })
    }

    /// The bitcode of `kernelmill_device`.
    pub(crate) fn device(&self) -> &[u8] {
        &self.device
    }

    /// The modules that define any of these symbols, without symbols asked for before. A module
    /// that was linked for one symbol is needed again for another, as only what is referred to
    /// comes along.
    pub(crate) fn defining(
        &self,
        symbols: &[String],
        asked: &mut HashSet<String>,
    ) -> Result<Vec<&Member>, Error> {
        let archives = self.archives()?;
        let (mut found, mut generic) = (Vec::new(), Vec::new());
        for symbol in symbols.iter().filter(|symbol| asked.insert((*symbol).clone())) {
            match archives.by_symbol.get(symbol) {
                Some(index) => found.push(*index),
                None if is_of_library(symbol) => generic.push(symbol),
                None => {}
            }
        }
        let mut members = archives.members_at(found);
        if !generic.is_empty() {
            let others = self.others()?;
            let found = generic.iter().filter_map(|symbol| others.by_symbol.get(*symbol).copied());
            members.extend(others.members_at(found.collect()));
        }
        Ok(members)
    }

    fn archives(&self) -> Result<&Archives, Error> {
        if let Some(archives) = self.archives.get() {
            return Ok(archives);
        }
        let mut archives = Archives::default();
        for prefix in CRATES {
            let path = find(&self.standard, prefix)?;
            archives.add(&path)?;
        }
        Ok(self.archives.get_or_init(|| archives))
    }

    fn others(&self) -> Result<&Archives, Error> {
        if let Some(others) = self.others.get() {
            return Ok(others);
        }
        let mut others = Archives::default();
        for path in rlibs(&self.standard)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !CRATES.iter().any(|prefix| name.starts_with(prefix)) {
                others.add(&path)?;
            }
        }
        Ok(self.others.get_or_init(|| others))
    }
}

/// Whether a symbol is one of `core` or `alloc`, or of an implementation of their traits, as
/// `<&str as core::fmt::Display>::fmt` is. One with a type of `std`, as `<std::env::Args as
/// core::iter::Iterator>::next`, is `std`'s: its own code would bring the operating system along.
pub(super) fn is_of_library(symbol: &str) -> bool {
    let path = path_of(symbol);
    let own = path.trim_start_matches('<');
    let is_of =
        |library: &&str| own.starts_with(*library) || path.contains(&format!(" as {library}"));
    !names_std(&path) && ["core::", "alloc::"].iter().any(is_of)
}

impl Archives {
    /// The members of these indices, each once.
    fn members_at(&self, mut indices: Vec<usize>) -> Vec<&Member> {
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| &self.members[index]).collect()
    }

    /// Adds the members of an rlib that carry bitcode.
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        let damaged = |reason: object::read::Error| {
            Error::Internal(format!("{} cannot be read: {reason}", path.display()))
        };
        let data = crate::toolchain::read(path)?;
        let archive = ArchiveFile::parse(&*data).map_err(damaged)?;
        for member in archive.members() {
            let member = member.map_err(damaged)?;
            self.add_member(&member, &data);
        }
        Ok(())
    }

    /// Adds one member; those that are no objects or carry no bitcode are passed over.
    fn add_member(&mut self, member: &ArchiveMember<'_>, archive: &[u8]) {
        let Ok(data) = member.data(archive) else { return };
        let Ok(object) = object::File::parse(data) else { return };
        let names = [".llvmbc", "__bitcode"];
        let Some(section) = names.iter().find_map(|name| object.section_by_name(name)) else {
            return;
        };
        let Ok(bitcode) = section.data() else { return };
        if bitcode.is_empty() {
            return;
        }
        let index = self.members.len();
        let defined =
            object.symbols().filter(|symbol| symbol.is_definition() && !symbol.is_local());
        for symbol in defined {
            if let Ok(name) = symbol.name() {
                // Mach-O puts an underscore before the name that bitcode has.
                let name = match object.format() {
                    object::BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
                    _ => name,
                };
                self.by_symbol.entry(name.to_owned()).or_insert(index);
            }
        }
        self.members.push(Member {
            name: String::from_utf8_lossy(member.name()).into_owned(),
            bitcode: bitcode.to_vec(),
        });
    }
}

/// The rlibs in a folder, by name.
fn rlibs(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::Io {
        action: "read",
        path: folder.to_owned(),
        source,
    })?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "rlib")).collect();
    found.sort();
    Ok(found)
}

/// The rlib in `folder` whose name starts so.
fn find(folder: &Path, prefix: &str) -> Result<PathBuf, Error> {
    let starts = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    rlibs(folder)?.into_iter().rfind(starts).ok_or_else(|| {
        let missing = std::io::Error::new(
            std::io::ErrorKind::NotFound,
            format!("it has no {prefix}*.rlib; install the standard library of its target with `rustup target add`"),
        );
        Error::Io { action: "read", path: folder.to_owned(), source: missing }
    })
}
