//! Dependency records: the files and variables that a step read, which only the step itself can name, as
//! a compiler that includes files. A record is found by what is known before the step runs, and is
//! valid while every file and variable in it is the same.

use super::digests::Digests;
use crate::{
    base::{environment::BuildEnvironment, paths},
    settings::package::Package,
};
use kernelmill_artifact::Fingerprint;
use kernelmill_store::Store;
use kernelmill_store::{KeyBuilder, digest};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// The runs that are remembered for one key: a header that is edited back and forth.
const REMEMBERED: usize = 8;

/// What one run of a step read, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DependencyRecord {
    /// The key of its result in the store.
    pub(crate) stored: Fingerprint,
    /// Paths as [`Inputs`] writes them, with the digests of the contents.
    inputs: Vec<(Fingerprint, String)>,
    /// Names of environment variables, with the digests of their values.
    variables: Vec<(Fingerprint, String)>,
    /// What was printed although it succeeded.
    pub(crate) warnings: String,
}

/// The files and variables that steps read, each digested once in a build.
pub(crate) struct Inputs<'a> {
    environment: &'a BuildEnvironment,
    package: &'a Package,
    /// The folder that is moved as a whole when a checkout is: the uppermost one with a
    /// `Cargo.toml`.
    checkout: &'a Path,
    digests: Digests<'a>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(
        environment: &'a BuildEnvironment,
        package: &'a Package,
        store: &'a Store,
    ) -> Self {
        let is_cargos = |folder: &&Path| folder.join("Cargo.toml").is_file();
        let checkout = package.root.ancestors().filter(is_cargos).last().unwrap_or(&package.root);
        Self {
            environment,
            package,
            checkout,
            digests: Digests::new(store, &package.name, checkout),
        }
    }

    /// Ends the use of files in this build.
    pub(crate) fn finish(&self) {
        self.digests.finish();
    }

    /// The run with this key whose inputs are what they were.
    pub(crate) fn find(
        &self,
        store: &Store,
        kind: &str,
        key: &Fingerprint,
    ) -> Option<DependencyRecord> {
        let records = read_all(&store.get(kind, key)?)?;
        records.into_iter().find(|record| self.is_current(record))
    }

    /// Remembers a run that read these files and variables, and whose result is called `stored`.
    pub(crate) fn remember(
        &self,
        store: &Store,
        (kind, key): (&str, &Fingerprint),
        record: DependencyRecord,
    ) -> DependencyRecord {
        let old = store.get(kind, key).and_then(|bytes| read_all(&bytes)).unwrap_or_default();
        let mut records = vec![record.clone()];
        records.extend(old.into_iter().filter(|old| old.inputs != record.inputs));
        records.truncate(REMEMBERED);
        store.put(kind, key, &write_all(&records));
        record
    }

    /// The digest of a file's content; `None` where it cannot be read.
    pub(crate) fn digest(&self, path: &Path) -> Option<Fingerprint> {
        self.digests.of(path)
    }

    /// A run whose result has a key of its own. Without a store nobody finds it again, and no file is read for it.
    pub(crate) fn record(
        &self,
        stored: Fingerprint,
        read: (&[PathBuf], &[String]),
        warnings: String,
    ) -> DependencyRecord {
        let are_kept = self.digests.are_kept();
        let of = |path: &Path| if are_kept { self.digests.of(path) } else { None };
        self.record_with(stored, read, warnings, &of)
    }

    /// A run whose result is named by a key and by what it read.
    pub(crate) fn record_by_inputs(
        &self,
        key: KeyBuilder,
        read: (&[PathBuf], &[String]),
        warnings: String,
    ) -> DependencyRecord {
        let stored = Fingerprint([0; 32]);
        let record = self.record_with(stored, read, warnings, &|path| self.digests.of(path));
        DependencyRecord { stored: record.add_to(key).finish(), ..record }
    }

    fn record_with(
        &self,
        stored: Fingerprint,
        (inputs, variables): (&[PathBuf], &[String]),
        warnings: String,
        of: &dyn Fn(&Path) -> Option<Fingerprint>,
    ) -> DependencyRecord {
        let nothing = digest(b"");
        let file = |path: &PathBuf| (of(path).unwrap_or(nothing), self.written(path));
        let variable = |name: &String| (self.value(name), name.clone());
        DependencyRecord {
            stored,
            inputs: inputs.iter().map(file).collect(),
            variables: variables.iter().map(variable).collect(),
            warnings,
        }
    }

    /// The files of a run, absolute.
    pub(crate) fn files(&self, record: &DependencyRecord) -> Vec<PathBuf> {
        record.inputs.iter().map(|(_, path)| self.absolute(path)).collect()
    }

    /// Whether every file and variable is still what it was.
    fn is_current(&self, record: &DependencyRecord) -> bool {
        let is_same =
            |(content, path): &(_, String)| self.digests.of(&self.absolute(path)) == Some(*content);
        let files = record.inputs.iter().all(is_same);
        // All of them are asked for, so that Cargo watches all.
        let values = record.variables.iter();
        let changed = values.filter(|(value, name)| self.value(name) != *value).count();
        files && changed == 0
    }

    /// The digest of a variable's value; one that is not set has another than an empty one.
    fn value(&self, name: &str) -> Fingerprint {
        let value = self.environment.raw(name);
        let text = value.map(|value| value.to_string_lossy().into_owned());
        digest(format!("{text:?}").as_bytes())
    }

    /// A path as a record has it: relative to the package where it lies in the same checkout, so
    /// that a second checkout finds it, absolute elsewhere.
    fn written(&self, path: &Path) -> String {
        let root = &self.package.root;
        if path.starts_with(self.checkout) {
            paths::relative(root, path)
        } else {
            path.to_string_lossy().into_owned()
        }
    }

    /// Writes the path of a file so that nothing of this checkout gets into the store.
    pub(crate) fn hide_checkout(&self, file: &mut Cow<'static, str>) {
        let path = self.package.root.join(&**file);
        *file = self.written(&paths::normal(&path)).into();
    }

    fn absolute(&self, written: &str) -> PathBuf {
        paths::normal(&self.package.root.join(written))
    }
}

impl DependencyRecord {
    /// Adds all that the run read to a key.
    fn add_to(&self, mut key: KeyBuilder) -> KeyBuilder {
        for (content, path) in &self.inputs {
            key = key.part("input", path).part("content", content.0);
        }
        for (value, name) in &self.variables {
            key = key.part("variable", name).part("value", value.0);
        }
        key
    }

    fn write(&self) -> String {
        let mut text = format!("{}\n", self.stored);
        for (kind, entries) in [("file", &self.inputs), ("variable", &self.variables)] {
            for (content, name) in entries {
                for part in [kind, " ", &content.to_string(), " ", name, "\n"] {
                    text.push_str(part);
                }
            }
        }
        text.push('\n');
        text.push_str(&self.warnings);
        text
    }

    fn read(text: &str) -> Option<Self> {
        let (head, warnings) = text.split_once("\n\n")?;
        let mut lines = head.lines();
        let stored = lines.next()?.parse().ok()?;
        let (mut inputs, mut variables) = (Vec::new(), Vec::new());
        for line in lines {
            let (kind, entry) = line.split_once(' ')?;
            let (content, name) = entry.split_once(' ')?;
            let entries = match kind {
                "file" => &mut inputs,
                "variable" => &mut variables,
                _ => return None,
            };
            entries.push((content.parse().ok()?, name.to_owned()));
        }
        Some(Self { stored, inputs, variables, warnings: warnings.to_owned() })
    }
}

/// Each record after the number of its bytes and a newline.
fn write_all(records: &[DependencyRecord]) -> Vec<u8> {
    let mut text = String::new();
    for record in records {
        let record = record.write();
        text.push_str(&format!("{}\n{record}", record.len()));
    }
    text.into_bytes()
}

fn read_all(bytes: &[u8]) -> Option<Vec<DependencyRecord>> {
    let mut text = std::str::from_utf8(bytes).ok()?;
    let mut records = Vec::new();
    while !text.is_empty() {
        let (length, rest) = text.split_once('\n')?;
        let length = length.parse().ok()?;
        records.push(DependencyRecord::read(rest.get(..length)?)?);
        text = &rest[length..];
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, SAXPY, Shared};
    use std::fs;

    #[test]
    fn records_read_back() {
        let first = DependencyRecord {
            stored: digest(b"bitcode"),
            inputs: vec![
                (digest(b"a"), "kernels/a b.rs".to_owned()),
                (digest(b"b"), "../shared/b.rs".to_owned()),
            ],
            variables: vec![(digest(b"4"), "SIZE".to_owned())],
            warnings: "warning: unused\n\n  note".to_owned(),
        };
        let second = DependencyRecord { warnings: String::new(), ..first.clone() };
        let records = vec![first, second];
        let bytes = write_all(&records);
        assert_eq!(read_all(&bytes), Some(records));
        assert_eq!(read_all(&bytes[..bytes.len() - 1]), None);
        assert_eq!(read_all(b"nothing"), None);
    }

    /// Reading all that a compiler includes takes as long as half of a small kernel.
    #[test]
    fn without_a_store_only_keys_of_results_read_what_was_included() {
        let project = Project::new("targets = [\"cpu\"]\n", &[("kernels/saxpy.rs", SAXPY)]);
        let environment = project.environment(&Shared::default());
        let package = Package::read(&environment).unwrap();
        let header = project.folder.path().join("header.h");
        fs::write(&header, "one").unwrap();
        let read = [header];
        let folder = project.folder.path().join("store");
        for (folder, content) in [(Some(folder), &b"one"[..]), (None, b"")] {
            let store = Store::new(folder, 1 << 20);
            let inputs = Inputs::new(&environment, &package, &store);
            let record = inputs.record(digest(b"result"), (&read, &[]), String::new());
            assert_eq!(record.inputs[0].0, digest(content));
            // The name of a result follows from what was read, with a store and without.
            let record =
                inputs.record_by_inputs(KeyBuilder::new("artifact"), (&read, &[]), String::new());
            assert_eq!(record.inputs[0].0, digest(b"one"));
        }
    }
}
