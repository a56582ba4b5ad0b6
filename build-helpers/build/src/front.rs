//! The front end with its memory: a source is lowered once, for all its targets, and not at all
//! where the store knows what came of the same text and the same included files.

use crate::{
    compile::{Compile, Failure},
    env::World,
    kernel_package,
    key::{KeyBuilder, digest},
    manifest::Package,
    record::{Inputs, Record},
    settings::Settings,
    source::{Source, SourceKind},
    store::Store,
};
use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::{Lowered, RustSource};
use std::{
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
    pub(crate) inputs: &'a Inputs<'a>,
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

impl FrontEnd<'_> {
    /// Lowers a source, or finds out that it was lowered before.
    pub(crate) fn run(&self, source: &Source) -> Result<Front, Failure> {
        let key = self.key(source);
        if let Some(record) = self.inputs.find(self.store, "front", &key) {
            return Ok(self.front(key, record, None));
        }
        let lowered = self.lower(source)?;
        let bytes = lowered.to_bytes();
        let stored = digest(&bytes);
        self.store.put("lowered", &stored, &bytes);
        let read = (&*lowered.inputs, &*lowered.variables);
        let record = self.inputs.record(stored, read, lowered.warnings.clone());
        let record = self.inputs.remember(self.store, ("front", &key), record);
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
            SourceKind::Cuda => "cuda",
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
        let fingerprint = record.add_to(KeyBuilder::new("lowered").part("front", key.0));
        Front {
            fingerprint: fingerprint.finish(),
            inputs: self.inputs.files(&record),
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
