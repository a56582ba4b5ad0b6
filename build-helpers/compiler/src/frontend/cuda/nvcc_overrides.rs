//! Override files of kernels that nvcc compiles: the source becomes PTX, their entries are put in place of its own, and a
//! cubin is assembled of that.

use kernelmill_artifact::ArtifactKind;

use super::{
    binary::{entries, is_same_symbol},
    source::CudaSource,
};
use crate::{
    Error,
    base::demangle::demangle,
    target::{replace_entry, with_name},
};

/// An override file: its kernel is taken in place of one of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOverrideFile {
    /// The kernel's symbol in the source.
    pub kernel: String,
    /// The name of its wrapper.
    pub name: String,
    /// The file as people know it.
    pub file: String,
    /// What is in it.
    pub code: KernelOverrideCode,
}

/// What is in a [`KernelOverrideFile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelOverrideCode {
    /// PTX with the kernel's entry, under its symbol.
    Ptx(String),
    /// CUDA C++ with one kernel, or one of its name.
    Source(CudaSource),
}

impl KernelOverrideFile {
    /// Puts the kernel in place of one of some PTX; `compile` makes PTX of a source.
    pub(super) fn replace_in(
        &self,
        ptx: &str,
        compile: impl FnOnce(&CudaSource) -> Result<String, Error>,
    ) -> Result<String, Error> {
        let text = match &self.code {
            KernelOverrideCode::Ptx(text) => text.clone(),
            KernelOverrideCode::Source(file) => {
                let text = compile(file)?;
                let symbol = self.symbol_in(&text)?;
                with_name(&text, &symbol, &self.kernel)
            }
        };
        replace_entry(ptx, &text, &self.kernel, false).map_err(|message| self.refuse(message))
    }

    /// The symbol of the kernel in what nvcc has made of the file.
    fn symbol_in(&self, ptx: &str) -> Result<String, Error> {
        let entries = entries(ArtifactKind::Ptx, ptx.as_bytes());
        let is_it = |symbol: &&String| {
            is_same_symbol(symbol, &self.kernel) || function_name(&demangle(symbol)) == self.name
        };
        let found = match &*entries {
            [one] => Some(one),
            all => all.iter().find(is_it),
        };
        found.cloned().ok_or_else(|| self.refuse(format!("it has no kernel `{}`", self.name)))
    }

    fn refuse(&self, message: String) -> Error {
        Error::Override { file: self.file.clone(), kernel: self.name.clone(), message }
    }
}

/// The name of a function in its demangled symbol: of `math::scale(float*)` `scale`.
fn function_name(demangled: &str) -> &str {
    let path = demangled.split(['(', '<']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default()
}
