//! Crash reports of jobs: what is said, and kept, where LLVM ends the process on one.

use kernelmill_llvm::crash::{self, Report};

use super::session::Tools;
use crate::job::Job;

/// Runs a job; where LLVM crashes on it, its source, target and kernels are named, and its bitcode is kept
/// in the scratch folder with its configuration.
pub(super) fn with_report<T>(tools: &Tools<'_>, job: &Job<'_>, run: impl FnOnce() -> T) -> T {
    let (source, config) = (&job.source, job.config);
    let kernels = source.signatures.iter().map(|kernel| format!("`{}`", kernel.name));
    let kernels = kernels.collect::<Vec<_>>().join(", ");
    let (file, target) = (job.file(), &config.target);
    let text = format!("  source: {file}\n  target: {target}\n  kernels: {kernels}\n");
    let configuration = format!("{text}\n{config:#?}\n");
    let modules = (0..).zip(&source.lowered.modules);
    let mut files: Vec<_> =
        modules.map(|(index, bitcode): (u32, _)| (format!("{index}.bc"), &**bitcode)).collect();
    files.push(("job.txt".to_owned(), configuration.as_bytes()));
    let folder = tools.toolchain.scratch.join(format!("crash-{}-{target}", source.unit));
    crash::during(&Report::new(&text, &folder, &files), run)
}
