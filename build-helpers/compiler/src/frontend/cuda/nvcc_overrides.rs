//! Override files of kernels that nvcc compiles: the source becomes PTX, their entries are put in place of its own, and a
//! cubin is assembled of that.

use kernelmill_artifact::{ArtifactKind, Target};

use super::{
    binary::{entries, is_same_symbol},
    nvcc::{Nvcc, Trace},
    nvcc_arguments::option_arguments,
    ptx_grid,
    source::CudaSource,
};
use crate::{
    Error,
    base::demangle::demangle,
    job::Config,
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

impl Nvcc {
    /// What [`Nvcc::run`] gives with override files.
    pub(super) fn run_with(
        &self,
        source: &CudaSource,
        arguments: &[String],
        config: &Config,
        overrides: &[KernelOverrideFile],
    ) -> Result<(Vec<u8>, Trace), Error> {
        let target = &config.target;
        let (Target::Ptx(arch) | Target::Cubin(arch)) = target else {
            let (file, target) = (source.display.clone(), target.clone());
            return Err(Error::Unsupported { file, target });
        };
        let mut to_ptx = vec!["-ptx".to_owned(), format!("-arch=compute_{arch}")];
        to_ptx.extend(option_arguments(&config.params, &config.options));
        to_ptx.extend(arguments.iter().filter(|it| it.starts_with("-rdc")).cloned());
        let (ptx, mut trace) = self.run(source, &to_ptx, &target.to_string())?;
        let mut ptx = String::from_utf8_lossy(&ptx).into_owned();
        for it in overrides {
            let text = match &it.code {
                KernelOverrideCode::Ptx(text) => text.clone(),
                KernelOverrideCode::Source(file) => {
                    let (text, read) = self.run(file, &to_ptx, &target.to_string())?;
                    trace.inputs.extend(read.inputs);
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let symbol = it.symbol_in(&text)?;
                    with_name(&text, &symbol, &it.kernel)
                }
            };
            let edited = replace_entry(&ptx, &text, &it.kernel);
            ptx = edited.map_err(|message| it.refuse(message))?;
        }
        trace.inputs.sort();
        trace.inputs.dedup();
        if matches!(target, Target::Ptx(_)) {
            trace.cooperative = ptx_grid::cooperative_kernels(&ptx);
            return Ok((ptx.into_bytes(), trace));
        }
        let (cubin, assembled) = self.assemble(source, &ptx, arguments, &target.to_string())?;
        trace.warnings.extend(assembled.warnings);
        let inputs = trace.inputs;
        Ok((cubin, Trace { inputs, warnings: trace.warnings, ..assembled }))
    }
}
