//! Overrides: files that `KERNELMILL_OVERRIDE_<kernel>` puts in place of one stage of a kernel.

use super::source::{Source, SourceKind};
use crate::{
    base::{environment::BuildEnvironment, error::Error, paths, report::Report},
    settings::{overrides::PREFIX, package::Package, resolved::Settings},
};
use kernelmill_artifact::{Target, target::nearest};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file that stands for one stage of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelOverride {
    /// The symbol of the kernel in its source.
    pub(crate) symbol: String,
    /// The name of its wrapper.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The file as messages have it.
    pub(crate) display: String,
    pub(crate) form: Form,
    pub(crate) text: Arc<str>,
}

/// What is in such a file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.ll`: LLVM's IR, as the stage `ir` has it.
    Ir,
    /// `.cu`: another source, in CUDA C++.
    Cuda,
    /// `.ptx`.
    Ptx,
}

impl Form {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ll" => Some(Self::Ir),
            "cu" => Some(Self::Cuda),
            "ptx" => Some(Self::Ptx),
            _ => None,
        }
    }

    /// Whether code for a target goes through this form.
    pub(crate) fn is_for(self, target: &Target) -> bool {
        match target {
            Target::Ptx(_) | Target::Cubin(_) => true,
            Target::Cpu | Target::Amd(_) => self != Self::Ptx,
            _ => false,
        }
    }

    /// What it stands for, for messages.
    fn subject(self) -> &'static str {
        match self {
            Self::Ir => "its code from the front end",
            Self::Cuda => "its source",
            Self::Ptx => "its PTX",
        }
    }
}

impl KernelOverride {
    /// The file as a source, where it is one.
    pub(crate) fn source(&self) -> Source {
        Source {
            path: self.path.clone(),
            display: self.display.clone(),
            kind: SourceKind::Cuda,
            signatures: None,
            functions: Vec::new(),
            weight: 0,
            texts: vec![(self.display.clone(), Arc::clone(&self.text))],
            overrides: Vec::new(),
        }
    }
}

/// Gives the package's own sources the files that stand for their kernels, and warns of each. A file that is not there is a
/// warning too, and the kernel is compiled from its source.
///
/// # Errors
///
/// [`Error::Settings`] with every file of a kind that is not known.
pub(crate) fn attach(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
    sources: &mut [Source],
) -> Result<(), Error> {
    let (mut report, mut names) = (Report::default(), Vec::new());
    for source in sources.iter_mut() {
        let mut found = Vec::new();
        for kernel in source.kernels() {
            names.push(kernel.name.to_string());
            let variable = format!("{PREFIX}{}", kernel.name);
            let Some(written) = environment.path(&variable) else { continue };
            let path = paths::normal(&package.root.join(&written));
            let display = written.display().to_string();
            let Some(form) = Form::of(&path) else {
                report.plain(
                    format!("{variable} is `{display}`, which stands for no stage of a kernel"),
                    "name a file that ends in `.ll`, `.cu` or `.ptx`",
                );
                continue;
            };
            package.watch(environment, &path);
            let Ok(text) = fs::read_to_string(&path) else {
                environment.cargo.warn(&format!(
                    "{variable} is `{display}`, which cannot be read: the kernel `{}` is compiled from {}",
                    kernel.name, kernel.file
                ));
                continue;
            };
            environment.cargo.warn(&format!(
                "this build has overridden code: `{display}` stands for the kernel `{}` of {}, for {}, because \
                 {variable} is set",
                kernel.name,
                kernel.file,
                form.subject()
            ));
            let (symbol, name) = (kernel.symbol.to_string(), kernel.name.to_string());
            let text = text.into();
            found.push(KernelOverride { symbol, name, path, display, form, text });
        }
        source.overrides = found;
    }
    let unknown = settings.overrides.keys().filter(|name| !names.contains(name));
    for name in unknown {
        let nearest = nearest(name, names.clone()).unwrap_or_default();
        environment.cargo.warn(&format!(
            "{PREFIX}{name} is set, and the package `{}` has no kernel `{name}`; the nearest is `{nearest}`",
            package.name
        ));
    }
    report.into_result(Error::Settings)
}
