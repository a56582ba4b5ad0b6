//! What a build without binaries (`KERNELMILL_SKIP_BUILD`, `DOCS_RS`) reads of sources in C and C++: signatures, by the compilers
//! that are there. Nothing that they lack is an error.

use super::{compilation::Compilation, cpp::Task, front_end::FrontEnd};
use crate::{
    discovery::source::{Source, SourceKind},
    settings::choices::CudaCompiler,
};
use std::sync::PoisonError;

impl Compilation<'_> {
    /// Adds the front ends that read signatures in a build without binaries, as far as there are compilers for them; warns of
    /// the sources that nothing reads.
    pub(super) fn fronts_without_units(
        &self,
        sources: &[Source],
        cpp: &[usize],
        tasks: &mut Vec<Task<'_>>,
    ) -> Option<FrontEnd<'_>> {
        let is_read = |index: &usize| {
            tasks.iter().any(|task| matches!(task, Task::Read(read) if read == index))
                || matches!(sources[*index].kind, SourceKind::Ptx | SourceKind::Wgsl)
        };
        let unread: Vec<_> = cpp.iter().copied().filter(|index| !is_read(index)).collect();
        if unread.is_empty() {
            return None;
        }
        let front_end = self.front_end();
        let opened = front_end.as_ref().map_err(|error| format!("{error}"));
        for index in unread {
            let source = &sources[index];
            let clang = "clang, which reads their signatures, was not found";
            let nvcc = "nvcc, which reads their signatures because `cuda-compiler` is `nvcc`, was not found";
            let is_for_nvcc = source.kind == SourceKind::Cuda
                && self.settings.cuda_compiler == CudaCompiler::Nvcc;
            match &opened {
                _ if is_for_nvcc => self.has_no_wrappers(source, nvcc),
                Ok(_) if source.kind.is_for_clang() && self.clang.is_none() => {
                    self.has_no_wrappers(source, clang);
                }
                Ok(_) => tasks.push(Task::Front(index)),
                Err(reason) => self.has_no_wrappers(source, reason),
            }
        }
        front_end.ok()
    }

    /// The sources that nothing has read, each with the reason, once.
    pub(crate) fn take_unread(&self) -> Vec<String> {
        std::mem::take(&mut *self.unread.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Warns of a source whose kernels have no wrappers in a build without binaries, and keeps it for the bindings, which
    /// say so too: on docs.rs nobody sees warnings.
    pub(super) fn has_no_wrappers(&self, source: &Source, reason: &str) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.push(format!("{}: {reason}", source.display));
        self.environment.cargo.warn(&format_args!(
            "{}: its kernels have no wrappers in this build without binaries: {reason}",
            source.display
        ));
    }
}
