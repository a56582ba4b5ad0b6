//! Compilations that are in the user's store, where builds keep theirs. A test is a process of its own, and most tests of
//! a file run the same kernels.
//!
//! As in builds, the key is of everything that can change the bytes, the compiler's own sources among it.

use std::{fs::File, sync::LazyLock};

use kernelmill_artifact::Target;
use kernelmill_compiler::{Artifact, Error, Job};
use kernelmill_store::{KeyBuilder, Store};
use test_support::shared_folder;

use crate::compiler;

static STORE: LazyLock<Store> =
    LazyLock::new(|| Store::of_user(&|name| std::env::var_os(name)).expect("a store"));

/// Compiles a job with [`compiler`], or takes what came of it before.
///
/// # Errors
///
/// Those of the compiler.
///
/// # Panics
///
/// Where the store has no folder.
pub fn compile(job: &Job<'_>) -> Result<Artifact, Error> {
    let lowered = job.source.lowered;
    let is_whole = lowered.children.is_empty()
        && lowered.functions.is_empty()
        && lowered.overrides.is_empty()
        // What NVIDIA's assembler makes depends on its version.
        && !matches!(job.config.target, Target::Cubin(_));
    if !is_whole {
        return compiler().compile(job);
    }
    let key = KeyBuilder::new("artifact of a test")
        .part("lowered", lowered.to_bytes())
        .part("config", job.config.key())
        .part("machine", compiler().resolved(&job.config.target)?)
        .part("version", compiler().version())
        .part("unit", job.source.unit)
        .parts("kernel", job.source.signatures.iter().map(|it| format!("{it:?}")))
        .finish();
    let stored = || Artifact::from_bytes(&STORE.get("test", &key)?);
    if let Some(artifact) = stored() {
        return Ok(artifact);
    }
    // Two tests that begin at once compile once.
    let lock = File::create(shared_folder("cuda-cpp").join(format!("{key}.lock")))
        .expect("a file that one test locks");
    lock.lock().expect("files can be locked");
    if let Some(artifact) = stored() {
        return Ok(artifact);
    }
    let artifact = compiler().compile(job)?;
    STORE.put("test", &key, &artifact.to_bytes());
    Ok(artifact)
}
