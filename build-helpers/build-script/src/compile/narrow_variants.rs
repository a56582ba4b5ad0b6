//! Checks of variants with indices of 32 bits that nvcc compiles: their sources choose the type of their indices, and have the
//! same kernels with either.

use super::{
    compilation::Compilation,
    diagnostics::report_failure,
    index_width::{INDEX_WIDTH, is_used_in, narrowed},
    nvcc::Kernels,
};
use crate::{
    base::{error::Error, jobs, report::Report},
    discovery::source::Source,
    plan::units::{Unit, UnitCompiler},
    settings::variants::VariantSettings,
};
use kernelmill_artifact::Signature;
use kernelmill_compiler::{diagnostic::Code, frontend::cuda::is_same_symbol};
use std::path::Path;

/// A variant with indices of 32 bits of a kernel that nvcc compiles.
struct NarrowVariant<'s> {
    /// The place of its source among all.
    source: usize,
    kernel: &'s Signature,
    variant: &'s VariantSettings,
}

impl Compilation<'_> {
    /// Reports variants with indices of 32 bits of kernels that nvcc compiles whose source does not choose the type of its
    /// indices, or has other kernels with it.
    pub(super) fn check_index_width(
        &self,
        sources: &[Source],
        units: &[Unit],
    ) -> Result<(), Error> {
        let Some(cuda) = &self.cuda else { return Ok(()) };
        let narrow = self.narrow_variants(sources, units);
        let defined = |it: &NarrowVariant<'_>| {
            sources[it.source].with_defines(Some(&it.variant.parameters.defines))
        };
        let mut tasks: Vec<&Source> = Vec::new();
        for source in narrow.iter().map(defined) {
            if !tasks.iter().any(|known| std::ptr::eq(*known, source)) {
                tasks.push(source);
            }
        }
        let made = jobs::run(&tasks, |source| cuda.read(&narrowed(source), self.environment));
        let mut report = Report::default();
        for (source, made) in tasks.into_iter().zip(made) {
            let read = match made {
                Ok(read) => read,
                Err(error) => {
                    let with = (self.package, self.settings);
                    report_failure(&error, source, with, &mut report);
                    let name = INDEX_WIDTH;
                    let what = format!(
                        "{} is compiled with `{name}=32` for variants, and that fails",
                        source.display
                    );
                    let help = "correct the source for this macro, or remove `index-width` from the variants";
                    report.plain(Code::Variants, what, help);
                    continue;
                }
            };
            read.inputs.iter().for_each(|it| self.package.watch(self.environment, it));
            let of_source = narrow.iter().filter(|it| std::ptr::eq(defined(it), source));
            self.check_narrow(source, &read, of_source, &mut report);
        }
        report.into_result(Error::Sources)
    }

    /// The variants with indices of 32 bits that nvcc compiles, each once.
    fn narrow_variants<'s>(
        &'s self,
        sources: &'s [Source],
        units: &[Unit],
    ) -> Vec<NarrowVariant<'s>> {
        let mut narrow: Vec<NarrowVariant<'s>> = Vec::new();
        for unit in units.iter().filter(|unit| unit.compiler == UnitCompiler::Nvcc) {
            let target = &unit.config.target;
            let kernels = sources[unit.source].kernels().iter();
            for kernel in kernels.filter(|it| self.settings.wants(it, target)) {
                for variant in self.settings.listed_variants(kernel) {
                    let is_narrow = variant.parameters.limits.has_narrow_indices();
                    let is_known = narrow.iter().any(|it| {
                        it.source == unit.source
                            && std::ptr::eq(it.kernel, kernel)
                            && std::ptr::eq(it.variant, variant)
                    });
                    if is_narrow && variant.is_for(target) && !is_known {
                        narrow.push(NarrowVariant { source: unit.source, kernel, variant });
                    }
                }
            }
        }
        narrow
    }

    /// Reports what is wrong with variants of a source that was read with indices of 32 bits.
    fn check_narrow<'s>(
        &self,
        source: &Source,
        read: &Kernels,
        variants: impl Iterator<Item = &'s NarrowVariant<'s>>,
        report: &mut Report,
    ) {
        let is_own = |path: &Path| {
            *path == *source.path || self.is_of_the_user(&source.path, &path.display().to_string())
        };
        let own = read.inputs.iter().filter(|it| is_own(it));
        let is_used = own
            .filter_map(|it| std::fs::read(it).ok())
            .any(|text| is_used_in(&String::from_utf8_lossy(&text)));
        for NarrowVariant { kernel, variant, .. } in variants {
            let is_it = |it: &&Signature| is_same_symbol(&it.symbol, &kernel.symbol);
            let wide = source.kernels().iter().find(is_it).unwrap_or(kernel);
            let found = read.kernels.iter().map(|it| &it.signature).find(is_it);
            let is_same = found
                .is_some_and(|it| it.parameters == wide.parameters && it.limits == wide.limits);
            if !is_used {
                variant.without_index_type(kernel, report);
            } else if !is_same {
                let what =
                    format!("has other parameters or launch bounds with `{}=32`", INDEX_WIDTH);
                variant.report_kernel(kernel, &what, report);
            }
        }
    }
}
