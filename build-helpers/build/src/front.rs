//! The front end with its memory: a source is lowered once, for all its targets, and not at all
//! where the store knows what came of the same text and the same included files.

use crate::{
    compile::{Compile, Failure},
    env::World,
    kernel_package,
    key::{KeyBuilder, digest},
    manifest::Package,
    paths,
    settings::Settings,
    source::{Source, SourceKind},
    store::Store,
};
use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::{Lowered, RustSource};
use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Everything that lowering needs besides the source.
pub(crate) struct FrontEnd<'a> {
    pub(crate) world: &'a World,
    pub(crate) package: &'a Package,
    pub(crate) settings: &'a Settings,
    pub(crate) compiler: &'a dyn Compile,
    pub(crate) store: &'a Store,
    /// What the compiler says of its version.
    pub(crate) version: String,
}

/// A source that has been lowered, now or in an earlier build.
pub(crate) struct Front {
    /// The digest of the source, of all it includes, and of the tools.
    pub(crate) fingerprint: Fingerprint,
    /// Every file that was read, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// What the front end printed although it succeeded.
    pub(crate) warnings: String,
    /// The key of the bitcode in the store.
    stored: Fingerprint,
    /// The bitcode, once somebody needed it.
    lowered: Mutex<Option<Arc<Lowered>>>,
}

/// What the store keeps of an earlier run of the front end: which files it read, and what came
/// out.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    stored: Fingerprint,
    /// Paths relative to the package, with the digests of the contents.
    inputs: Vec<(Fingerprint, String)>,
    /// Names of environment variables, with the digests of their values.
    variables: Vec<(Fingerprint, String)>,
    warnings: String,
}

impl FrontEnd<'_> {
    /// Lowers a source, or finds out that it was lowered before.
    pub(crate) fn run(&self, source: &Source) -> Result<Front, Failure> {
        let key = self.key(source);
        let record = self.store.get("front", &key).and_then(|bytes| Record::read(&bytes));
        if let Some(record) = record.filter(|record| self.is_current(record)) {
            return Ok(self.front(key, record, None));
        }
        let lowered = self.lower(source)?;
        let inputs = lowered.inputs.iter().map(|path| {
            let content = fs::read(path).unwrap_or_default();
            (digest(&content), paths::relative(&self.package.root, path))
        });
        let variables =
            lowered.variables.iter().map(|name| (self.value(name), name.clone())).collect();
        let bytes = lowered.to_bytes();
        let record = Record {
            stored: digest(&bytes),
            inputs: inputs.collect(),
            variables,
            warnings: lowered.warnings.clone(),
        };
        self.store.put("lowered", &record.stored, &bytes);
        self.store.put("front", &key, &record.write());
        Ok(self.front(key, record, Some(lowered)))
    }

    /// The bitcode of a source: at hand, in the store, or made again.
    pub(crate) fn lowered(&self, source: &Source, front: &Front) -> Result<Arc<Lowered>, Failure> {
        let mut slot = front.lowered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lowered) = &*slot {
            return Ok(Arc::clone(lowered));
        }
        let stored = self.store.get("lowered", &front.stored);
        let lowered = match stored.and_then(|bytes| Lowered::from_bytes(&bytes)) {
            Some(lowered) => lowered,
            None => self.lower(source)?,
        };
        let lowered = Arc::new(lowered);
        *slot = Some(Arc::clone(&lowered));
        Ok(lowered)
    }

    /// The digest of what is known before the front end runs.
    fn key(&self, source: &Source) -> Fingerprint {
        let kind = match source.kind {
            SourceKind::File => "rust file",
            SourceKind::Package => "rust package",
        };
        let texts =
            source.texts.iter().flat_map(|(display, text)| [display.as_bytes(), text.as_bytes()]);
        KeyBuilder::new("front")
            .part("version", &self.version)
            .part("language", kind)
            .part("host", &self.package.target)
            .part("edition", &self.package.edition)
            .part("path", &source.display)
            .parts("cfg", self.cfgs())
            .parts("argument", &self.settings.arguments)
            .parts("text", texts)
            .finish()
    }

    fn front(&self, key: Fingerprint, record: Record, lowered: Option<Lowered>) -> Front {
        let mut fingerprint = KeyBuilder::new("lowered").part("front", key.0);
        for (content, path) in &record.inputs {
            fingerprint = fingerprint.part("input", path).part("content", content.0);
        }
        for (value, name) in &record.variables {
            fingerprint = fingerprint.part("variable", name).part("value", value.0);
        }
        let absolute = |(_, path): &(_, String)| paths::normal(&self.package.root.join(path));
        Front {
            fingerprint: fingerprint.finish(),
            inputs: record.inputs.iter().map(absolute).collect(),
            warnings: record.warnings,
            stored: record.stored,
            lowered: Mutex::new(lowered.map(Arc::new)),
        }
    }

    fn lower(&self, source: &Source) -> Result<Lowered, Failure> {
        if source.kind == SourceKind::Package {
            let lowered = kernel_package::lower(self.world, self.package, source)?;
            self.compiler.check_layouts(&lowered, source.kernels())?;
            return Ok(lowered);
        }
        let mut arguments = Vec::new();
        for name in self.settings.defines.keys() {
            let known = format!("cfg({name}, values(none(), any()))");
            arguments.extend(["--check-cfg".to_owned(), known]);
        }
        arguments.extend_from_slice(&self.settings.arguments);
        self.compiler.lower_rust(&RustSource {
            path: source.path.clone(),
            display: source.display.clone(),
            package_root: self.package.root.clone(),
            edition: self.package.edition.clone(),
            cfgs: self.cfgs(),
            arguments,
            signatures: source.kernels().to_vec(),
        })
    }

    /// Whether every file and variable is still what it was.
    fn is_current(&self, record: &Record) -> bool {
        let files = record.inputs.iter().all(|(content, path)| {
            let path = self.package.root.join(path);
            fs::read(path).is_ok_and(|bytes| digest(&bytes) == *content)
        });
        // All of them are asked for, so that Cargo watches all.
        let values = record.variables.iter();
        let changed = values.filter(|(value, name)| self.value(name) != *value).count();
        files && changed == 0
    }

    /// The digest of a variable's value; one that is not set has another than an empty one.
    fn value(&self, name: &str) -> Fingerprint {
        let value = self.world.raw(name);
        let text = value.map(|value| value.to_string_lossy().into_owned());
        digest(format!("{text:?}").as_bytes())
    }

    /// What is defined, as `--cfg` takes it: the name and, where it has one, its value.
    fn cfgs(&self) -> Vec<String> {
        let mut cfgs = Vec::new();
        for (name, value) in &self.settings.defines {
            cfgs.push(name.clone());
            if !value.is_empty() {
                cfgs.push(format!("{name}={value:?}"));
            }
        }
        cfgs
    }
}

impl Record {
    fn write(&self) -> Vec<u8> {
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
        text.into_bytes()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, warnings) = std::str::from_utf8(bytes).ok()?.split_once("\n\n")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back() {
        let record = Record {
            stored: digest(b"bitcode"),
            inputs: vec![
                (digest(b"a"), "kernels/a b.rs".to_owned()),
                (digest(b"b"), "../shared/b.rs".to_owned()),
            ],
            variables: vec![(digest(b"4"), "SIZE".to_owned())],
            warnings: "warning: unused\n\n  note".to_owned(),
        };
        assert_eq!(Record::read(&record.write()), Some(record));
        assert_eq!(Record::read(b"nothing"), None);
    }
}
