//! A sanitizer for kernels in debug builds, as a plugin of kernelmill's compiler: out-of-bounds accesses,
//! and data races in shared memory, end the launch with an error that has the file and the line.
//!
//! Kernels are not changed by hand. `docs/src/guide/sanitize.md` lists what is checked and what is not. The model
//! is AddressSanitizer (Serebryany et al., "AddressSanitizer: A Fast Address Sanity Checker", USENIX ATC
//! 2012) and the tools `memcheck` and `racecheck` of NVIDIA's [compute-sanitizer][cs].
//!
//! Stages, for each kernel: find all accesses and the objects of their pointers (`access`, `memory`),
//! allocate shadow memory (`shadow`), add bounds checks (`bounds`) and race checks (`races`).
//!
//! [cs]: https://docs.nvidia.com/compute-sanitizer/

mod access;
mod bounds;
mod intrinsics;
mod kernel;
mod memory;
mod names;
mod options;
mod races;
mod shadow;

use std::collections::HashMap;

use kernelmill_compiler::plugin::{Plugin, Scope, Stage, Task};
use memory::RootedAccess;
use options::Options;
use shadow::Shadows;

/// The plugin that adds the checks to kernels.
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
        // The digest of the sources invalidates artifacts of other states of this crate.
        concat!(env!("CARGO_PKG_VERSION"), " ", env!("KERNELMILL_SANITIZE_DIGEST"))
    }

    fn marker(&self) -> &str {
        "__kernelmill_sanitize"
    }

    fn stages(&self) -> &[Stage] {
        // At this stage accesses are those of the source, without any of a library.
        &[Stage::FrontEnd]
    }

    fn priority(&self) -> i32 {
        // After other plugins, to check the code that they add.
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

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let options = Options::read(task.meta())?;
        task.inline_all()?;
        task.run_passes("function(sroa,instsimplify)")?;
        let kernels = task.kernels();
        let mut accesses: HashMap<_, _> =
            kernels.iter().map(|it| (it.name.clone(), RootedAccess::all(task, it))).collect();
        let shadows = Shadows::plan(task, options, &kernels, &accesses)?;
        for kernel in &kernels {
            let accesses = accesses.remove(&kernel.name).unwrap_or_default();
            kernel::instrument(task, options, kernel, accesses, &shadows);
        }
        // The counters of barriers become values.
        task.run_passes("function(sroa)")?;
        Ok(true)
    }
}
