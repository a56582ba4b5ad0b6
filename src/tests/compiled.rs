//! Compiled kernels on the processor, as applications see them.

use super::generated::Kernels;
use crate::{ArtifactKind, CompiledKernel, Device, Resources};

/// Acceptance: S3.1.
#[test]
fn a_compiled_kernel_has_an_identity_and_resources_of_its_own() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let fill = kernels.compiled().fill().unwrap();
    assert_eq!((fill.name(), fill.source(), fill.target()), ("fill", "kernels/fill.rs", "cpu"));
    assert_eq!((fill.kind(), fill.entry()), (ArtifactKind::Object, "fill"));
    assert_eq!(fill.fingerprint(), "03".repeat(32));
    assert_eq!((fill.signature().line, fill.device()), (7, &device));
    let expected =
        Resources { stack_bytes: Some(64), max_threads: Some(1024), ..Resources::UNKNOWN };
    assert_eq!(fill.resources().unwrap(), expected);
    let strategy = "thread loop: no barriers, vector widths 8, 16";
    assert_eq!(fill.lowering_strategy(), Some(strategy));
    assert_eq!(fill.occupancy(256, 0).unwrap(), None);
    assert_eq!(fill.suggested_block_size(0).unwrap(), 256);
    let text = format!("{fill:?}");
    assert!(
        text.starts_with("CompiledKernel { name: \"fill\", source: \"kernels/fill.rs\""),
        "{text}"
    );
    let scale = kernels.compiled().scale().unwrap();
    assert_eq!((scale.name(), scale.entry()), ("scale", "_Z5scalePfPKfi"));
}

/// Acceptance: S3.1.
#[test]
fn a_compiled_kernel_outlives_the_kernels_it_is_from() {
    let saxpy: CompiledKernel = {
        let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
        kernels.compiled().saxpy().unwrap()
    };
    assert_eq!(saxpy.resources().unwrap().stack_bytes, Some(64));
}
