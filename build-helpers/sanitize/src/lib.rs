//! Checks of memory accesses for debug builds, as a plugin of kernelmill's compiler: what reads or
//! writes beyond its memory, and threads of a block that use a place of shared memory without a
//! barrier between, end the launch with an error that has the file and the line.
//!
//! Nothing in a kernel has to change. `docs/src/guide/sanitize.md` says what is checked and what is not.

mod access;
mod bounds;
mod kernel;
mod memory;
mod options;
mod races;
mod shadow;

use std::collections::HashMap;

use kernelmill_compiler::plugin::{Plugin, Scope, Stage, Task};
use options::Options;
use shadow::Shadows;

/// The plugin that puts the checks into kernels.
///
/// ```no_run
/// # struct Build;
/// # impl Build {
/// #     fn new() -> Self { Self }
/// #     fn plugin(self, _: impl kernelmill_compiler::plugin::Plugin) -> Self { self }
/// #     fn compile(self) {}
/// # }
/// // In a build script, with `kernelmill_build::Build`:
/// let mut build = Build::new();
/// if std::env::var("PROFILE").as_deref() == Ok("debug") {
///     build = build.plugin(kernelmill_sanitize::plugin());
/// }
/// build.compile();
/// ```
#[must_use]
pub fn plugin() -> Sanitize {
    Sanitize(())
}

/// See [`plugin`].
#[derive(Debug)]
pub struct Sanitize(());

impl Plugin for Sanitize {
    fn name(&self) -> &str {
        "sanitize"
    }

    fn version(&self) -> &str {
        // With the digest of the sources, that changes with the code that is made.
        concat!(env!("CARGO_PKG_VERSION"), " ", env!("KERNELMILL_SANITIZE_DIGEST"))
    }

    fn marker(&self) -> &str {
        "__kernelmill_sanitize"
    }

    fn stages(&self) -> &[Stage] {
        // The accesses are those of the source, and no library's are among them.
        &[Stage::FrontEnd]
    }

    fn priority(&self) -> i32 {
        // After what other plugins make.
        1000
    }

    fn scope(&self, meta: &str) -> Scope {
        match Options::read(meta) {
            Ok(Options { bounds: false, races: false }) => Scope::Marked,
            _ => Scope::Everything,
        }
    }

    fn needs_lengths(&self, meta: &str) -> bool {
        Options::read(meta).is_ok_and(|options| options.bounds)
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<(), String> {
        let options = Options::read(task.meta())?;
        task.inline_all()?;
        task.run_passes("function(sroa,instsimplify)")?;
        let kernels = task.kernels();
        let mut accesses: HashMap<_, _> =
            kernels.iter().map(|it| (it.name.clone(), kernel::accesses(task, it))).collect();
        let shadows = Shadows::plan(task, options, &kernels, &accesses)?;
        for kernel in &kernels {
            let accesses = accesses.remove(&kernel.name).unwrap_or_default();
            kernel::instrument(task, options, kernel, accesses, &shadows);
        }
        // The counters of barriers become values.
        task.run_passes("function(sroa)")
    }
}
