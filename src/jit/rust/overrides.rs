//! Files that `KERNELMILL_OVERRIDE_<kernel>` puts in the place of kernels in Rust when a program compiles them: PTX, and
//! LLVM's IR as the stages `linked` and `opt` of [dumps](super::super::dumps) have it.
//!
//! What stands for a kernel is a binary of its own, beside that of its source, which has the kernel no more.

use std::{collections::BTreeMap, fs, path::Path};

use kernelmill_artifact::{
    ArtifactKind, CPU_KERNEL_PREFIX, PtxEntry, Signature, Target, ptx_entries,
};

use super::sources::{Form, Source};
use crate::{
    embedded::EmbeddedKernel,
    error::{Error, Result},
    jit::{
        overrides::{PREFIX, named, say},
        program::Binary,
    },
};

/// What a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Ptx,
    Ir,
}

/// A file that stands for a kernel.
pub(super) struct KernelFile {
    /// The name of the kernel's wrapper.
    pub(super) name: String,
    /// Its path, for messages.
    pub(super) display: String,
    pub(super) code: Code,
    pub(super) text: String,
    pub(super) kernel: &'static EmbeddedKernel,
    symbol: String,
}

/// The files for kernels of a source. Those that cannot stand for one here are told, and the kernel is compiled as always.
pub(super) fn of(source: &Source, signatures: &[Signature], target: &Target) -> Vec<KernelFile> {
    let mut found = Vec::new();
    for (name, path) in named() {
        let mut plain = source.artifact.kernels.iter().filter(|it| it.variant.is_none());
        let Some(kernel) = plain.find(|it| signatures[it.signature].name() == name) else {
            continue;
        };
        let (variable, display) = (format!("{PREFIX}{name}"), path.display().to_string());
        let origin = format!("the kernel `{name}` of {}", source.artifact.source);
        match read(source.form, kernel.entry, &path) {
            Ok((code, text)) => {
                let stage = if code == Code::Ptx { "PTX" } else { "IR" };
                let line = format!(
                    "this program has overridden code: `{display}` stands for {origin}, for its {stage} for {target}, because \
                     {variable} is set"
                );
                say(&mut String::new(), line);
                let symbol = signatures[kernel.signature].symbol.to_string();
                found.push(KernelFile { name, display, code, text, kernel, symbol });
            }
            Err(None) => {}
            Err(Some(reason)) => {
                let line = format!(
                    "{variable} is `{display}`, which {reason}: {origin} is not overridden for {target} at run time"
                );
                say(&mut String::new(), line);
            }
        }
    }
    found
}

/// The code in a file; why it cannot stand for a kernel, and nothing of a file that is for other targets.
fn read(form: Form, entry: &str, path: &Path) -> Result<(Code, String), Option<String>> {
    let code = match path.extension().and_then(|ending| ending.to_str()) {
        Some("ptx") if form == Form::Cpu => return Err(None),
        Some("ptx") => Code::Ptx,
        Some("ll") => Code::Ir,
        _ => return Err(Some("is no file that ends in `.ll` or `.ptx`".to_owned())),
    };
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| Some(format!("cannot be read ({error})")))?;
    if code == Code::Ir {
        let is_nvidia = text.contains("target triple = \"nvptx");
        let has_kernel = match form {
            Form::Nvidia(_) => is_nvidia && text.contains(&format!("@{entry}(")),
            Form::Cpu => !is_nvidia && text.contains(&format!("@{CPU_KERNEL_PREFIX}{entry} =")),
        };
        if !has_kernel {
            let reason =
                "does not have the kernel as `KERNELMILL_DUMP=linked` of this program writes it";
            return Err(Some(reason.to_owned()));
        }
    }
    Ok((code, text))
}

impl KernelFile {
    /// The PTX in the file.
    pub(super) fn ptx(&self) -> Binary {
        Binary::new(ArtifactKind::Ptx, self.text.clone().into_bytes(), &self.text)
    }

    /// What stands for the kernel in a binary of the file: the kernel of its name, or the only one. `parameters` are the sizes
    /// of those of the kernel itself. The last may be missing where it is the address of the record of panics.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernel`], and [`Error::Arguments`] for parameters of other sizes.
    pub(super) fn kernel_in(&self, ptx: &str, parameters: &[u64]) -> Result<EmbeddedKernel> {
        let all: BTreeMap<_, _> = ptx_entries(ptx).into_iter().map(|it| (it.name, it)).collect();
        let by_name = [self.kernel.entry, &self.symbol, &self.name].into_iter();
        let mut by_name = by_name.filter_map(|name| all.get(name));
        let only = || all.values().next().filter(|_| all.len() == 1);
        let Some(entry) = by_name.next().or_else(only) else {
            let names: Vec<_> = all.keys().map(|name| format!("`{name}`")).collect();
            return Err(Error::NoKernel {
                source_file: self.display.clone(),
                kernel: self.name.clone(),
                known: format!("it has {}", names.join(", ")),
            });
        };
        let sizes = sizes(entry);
        let without_record = parameters.split_last().map(|(_, rest)| rest);
        let panics = match &*sizes {
            same if same == parameters => self.kernel.panics,
            shorter if self.kernel.panics && Some(shorter) == without_record => false,
            other => {
                let list =
                    |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                let reason = format!(
                    "`{}` cannot override the kernel: the sizes of its parameters are ({}) bytes, those of the kernel are \
                     ({})",
                    self.display,
                    list(other),
                    list(parameters)
                );
                return Err(Error::Arguments { kernel: self.name.clone(), reason });
            }
        };
        Ok(EmbeddedKernel { entry: entry.name.to_owned().leak(), panics, ..*self.kernel })
    }
}

fn sizes(entry: &PtxEntry<'_>) -> Vec<u64> {
    entry.parameters.iter().map(|it| it.bytes().unwrap_or(0)).collect()
}
