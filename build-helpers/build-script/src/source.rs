//! A kernel source: one file, or one package of kernels.

use crate::{
    includes::Headers, kernel_package, language::Language, report::Report, settings::Settings,
};
use kernelmill_artifact::{DeviceFunction, Signature, Target};
use kernelmill_compiler::frontend::rust::signature::{Reading, SourceText, read_crate};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A source with at least one kernel, or one that only its compiler can say something about.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file, or the package's folder; absolute.
    pub(crate) path: PathBuf,
    /// The path relative to the package, as messages and keys have it.
    pub(crate) display: String,
    pub(crate) kind: SourceKind,
    /// Its kernels; `None` where the text is not Rust, which rustc will say better, and for CUDA
    /// C++ until it has been compiled.
    pub(crate) signatures: Option<Vec<Signature>>,
    /// The functions that kernels can be given; those of CUDA C++ once it has been compiled.
    pub(crate) functions: Vec<DeviceFunction>,
    /// How long compiling it takes next to others, where that is known.
    pub(crate) weight: u64,
    /// The text of its files, by how messages name them.
    pub(crate) texts: Vec<(String, Arc<str>)>,
}

/// How a source is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    /// By rustc, in place.
    File,
    /// By cargo.
    Package,
    /// By nvcc or clang; its signatures are known once it has been compiled.
    Cuda,
}

/// A path that may be a source.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) display: String,
    pub(crate) kind: SourceKind,
    /// Whether the user named this very file.
    pub(crate) is_named: bool,
}

impl Source {
    /// The kernels that could be read.
    pub(crate) fn kernels(&self) -> &[Signature] {
        self.signatures.as_deref().unwrap_or_default()
    }

    /// Whether there is a kernel, as far as is known.
    pub(crate) fn is_any(&self) -> bool {
        self.signatures.as_ref().is_none_or(|signatures| !signatures.is_empty())
    }

    /// Whether it has no kernel, and is there for the functions it has for other sources.
    pub(crate) fn is_for_others(&self) -> bool {
        self.signatures.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether it has functions for kernels and no kernel, and its compiler has not to say so.
    pub(crate) fn has_functions(&self) -> bool {
        let is_known = self.kind != SourceKind::Cuda || !self.functions.is_empty();
        self.is_for_others() && is_known
    }

    /// Whether there is something to compile for a target, as far as is known.
    pub(crate) fn is_for(&self, target: &Target, settings: &Settings) -> bool {
        let wanted = |signatures: &Vec<Signature>| {
            signatures.iter().any(|signature| settings.wants(signature, target))
        };
        self.signatures.as_ref().is_none_or(wanted)
    }

    /// Reads a candidate; `None` where it is no source, or where the report says why not.
    pub(crate) fn read(
        candidate: Candidate,
        headers: &Headers,
        watched: &mut Vec<PathBuf>,
        report: &mut Report,
    ) -> Option<Self> {
        if candidate.kind == SourceKind::File {
            match Language::of(&candidate.path) {
                Some(Language::Rust) | None => {}
                Some(language) => {
                    return Self::read_other(candidate, language, headers, watched, report);
                }
            }
        }
        let texts = match candidate.kind {
            SourceKind::Package => kernel_package::texts(&candidate, report)?,
            SourceKind::File | SourceKind::Cuda => {
                vec![(Vec::new(), read_file(&candidate, report)?)]
            }
        };
        let files: Vec<_> = texts
            .iter()
            .map(|(module, (display, text))| SourceText { module, text, display })
            .collect();
        let (signatures, functions) = match read_crate(&files) {
            Reading::Kernels(kernels, _)
                if kernels.is_empty() && !files.iter().any(|file| exports(file.text)) =>
            {
                without_kernels(&candidate, report);
                return None;
            }
            Reading::Kernels(kernels, functions) => (Some(kernels), functions),
            Reading::NotRust => {
                let has_marker =
                    |text: &str| text.contains("#[kernel") || text.contains("::kernel");
                if !files.iter().any(|file| has_marker(file.text)) {
                    without_kernels(&candidate, report);
                    return None;
                }
                (None, Vec::new())
            }
            Reading::Rejected(diagnostics) => {
                for (display, text) in texts.into_iter().map(|(_, text)| text) {
                    report.add_text(&display, text);
                }
                for diagnostic in diagnostics {
                    report.diagnostic(diagnostic);
                }
                return None;
            }
        };
        let Candidate { path, display, kind, .. } = candidate;
        let texts = texts.into_iter().map(|(_, text)| text).collect();
        Some(Self { path, display, kind, signatures, functions, weight: 0, texts })
    }
}

impl Source {
    /// Reads a file in a language other than Rust.
    fn read_other(
        candidate: Candidate,
        language: Language,
        headers: &Headers,
        watched: &mut Vec<PathBuf>,
        report: &mut Report,
    ) -> Option<Self> {
        let Candidate { path, display, .. } = &candidate;
        let bytes = read_bytes(path, display, report)?;
        let text = String::from_utf8_lossy(&bytes);
        let is_source = language.may_hold_kernel(&text)
            || language == Language::Cuda
                && headers.may_bring_kernel(language, path, &text, watched);
        if !is_source {
            without_kernels(&candidate, report);
            return None;
        }
        if language != Language::Cuda {
            report.plain(
                format!(
                    "`{display}` is {}, which this version cannot compile yet",
                    language.name()
                ),
                "write the kernel in Rust or CUDA C++, or leave the file out with `exclude`",
            );
            return None;
        }
        let texts = vec![(display.clone(), text.into())];
        let Candidate { path, display, .. } = candidate;
        let kind = SourceKind::Cuda;
        let functions = Vec::new();
        Some(Self { path, display, kind, signatures: None, functions, weight: 0, texts })
    }
}

/// Whether a text in Rust may have functions that kernels of other sources can name.
fn exports(text: &str) -> bool {
    text.contains("no_mangle") && text.contains("extern \"C\" fn") || text.contains("device_fn")
}

/// The text of a Rust file that may hold a kernel, or functions for others.
fn read_file(candidate: &Candidate, report: &mut Report) -> Option<(String, Arc<str>)> {
    let display = &candidate.display;
    let Some(language) = Language::of(&candidate.path) else {
        report.plain(
            format!("`{display}` is no kernel source"),
            "name files that end in .rs, .cu, .hip, .cl, .ll, .bc, .ptx or .wgsl",
        );
        return None;
    };
    let bytes = read_bytes(&candidate.path, display, report)?;
    let text = String::from_utf8_lossy(&bytes);
    if !language.may_hold_kernel(&text) && !exports(&text) {
        without_kernels(candidate, report);
        return None;
    }
    if let Ok(text) = String::from_utf8(bytes) {
        Some((display.clone(), text.into()))
    } else {
        report.plain(format!("`{display}` is not UTF-8"), "save it as UTF-8");
        None
    }
}

/// A file without kernels is there for others to include, unless it was named as a source.
fn without_kernels(candidate: &Candidate, report: &mut Report) {
    if candidate.is_named {
        report.plain(
            format!("`{}` is named as a source and has no kernel", candidate.display),
            "mark a function with `#[kernel]`, or leave the file out",
        );
    }
}

pub(crate) fn read_bytes(path: &Path, display: &str, report: &mut Report) -> Option<Vec<u8>> {
    match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            report.plain(format!("cannot read `{display}`: {error}"), "check its name and rights");
            None
        }
    }
}
