//! Sets whose kernels are not all compiled for all targets.

use super::objects::{kernelmill_cpu_demo_fill, kernelmill_cpu_demo_saxpy};
use crate::{
    __codegen::{CpuEntry, CpuKernel, EmbeddedArtifact, EmbeddedKernel, KernelSet, Loaded},
    ArtifactKind, Device, Signature,
};

static SIGNATURES: [Signature; 3] = [
    Signature::borrowed("first", &[]),
    Signature::borrowed("second", &[]),
    Signature::borrowed("third", &[]),
];

/// A kernel of a binary for the CPU.
const fn on_cpu(signature: usize, kernel: *const CpuKernel) -> EmbeddedKernel {
    // SAFETY: the callers give statics that nobody writes.
    let cpu = Some(unsafe { CpuEntry::new(kernel) });
    EmbeddedKernel {
        signature,
        entry: "entry",
        static_shared_bytes: 0,
        panics: false,
        cooperative: false,
        resources: kernelmill::artifact::Resources::UNKNOWN,
        variant: None,
        cpu,
    }
}

/// A kernel of a binary for GPUs.
const fn on_gpu(signature: usize) -> EmbeddedKernel {
    EmbeddedKernel {
        signature,
        entry: "entry",
        static_shared_bytes: 0,
        panics: false,
        cooperative: false,
        resources: kernelmill::artifact::Resources::UNKNOWN,
        variant: None,
        cpu: None,
    }
}

const fn artifact(
    fingerprint: &'static str,
    target: &'static str,
    source: &'static str,
    kernels: &'static [EmbeddedKernel],
) -> EmbeddedArtifact {
    let kind = ArtifactKind::Object;
    EmbeddedArtifact {
        fingerprint,
        target,
        kind,
        source,
        bytes: &[],
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

const fn set(artifacts: &'static [EmbeddedArtifact]) -> KernelSet {
    KernelSet {
        format_version: kernelmill_artifact::FORMAT_VERSION,
        package: "narrowed",
        signatures: &SIGNATURES,
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts,
    }
}

static FIRST: [EmbeddedKernel; 1] = [on_cpu(0, &raw const kernelmill_cpu_demo_saxpy)];
static SECOND: [EmbeddedKernel; 2] = [
    on_cpu(0, &raw const kernelmill_cpu_demo_saxpy),
    on_cpu(1, &raw const kernelmill_cpu_demo_fill),
];
static FIRST_ON_GPU: [EmbeddedKernel; 1] = [on_gpu(0)];
static SECOND_ON_GPU: [EmbeddedKernel; 1] = [on_gpu(1)];
static ALL_ON_GPU: [EmbeddedKernel; 3] = [on_gpu(0), on_gpu(1), on_gpu(2)];
static THIRD_ON_GPU: [EmbeddedKernel; 1] = [on_gpu(2)];

fn error<T: std::fmt::Debug>(loaded: Result<T, crate::Error>) -> String {
    loaded.map(|kernel| format!("{kernel:?}")).unwrap_err().to_string()
}

#[test]
fn what_the_best_binary_lacks_comes_from_the_next_best() {
    static ARTIFACTS: [EmbeddedArtifact; 3] = [
        artifact("narrowed-0", "cpu", "a.cu", &FIRST),
        artifact("narrowed-1", "cpu", "a.cu", &SECOND),
        artifact("narrowed-2", "compute_75", "a.cu", &ALL_ON_GPU),
    ];
    static SET: KernelSet = set(&ARTIFACTS);
    let device = Device::cpu().unwrap();
    let loaded = Loaded::new(&device, &SET).unwrap();
    assert!(loaded.kernel(0).is_ok() && loaded.kernel(1).is_ok());
    let chosen: Vec<_> = loaded.choices().iter().map(|it| it.artifact.fingerprint).collect();
    assert_eq!(chosen, ["narrowed-0", "narrowed-1"]);
    let expected = format!(
        "the kernel `third` of : no embedded binary runs on {device}\n  compute_75: is for NVIDIA \
         GPUs, the device is the CPU"
    );
    let error = error(loaded.kernel(2));
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_source_for_other_targets_is_in_nobodys_way_unless_all_are() {
    static ARTIFACTS: [EmbeddedArtifact; 2] = [
        artifact("narrowed-3", "cpu", "a.cu", &SECOND),
        artifact("narrowed-4", "compute_75", "b.cu", &THIRD_ON_GPU),
    ];
    static SET: KernelSet = set(&ARTIFACTS);
    let device = Device::cpu().unwrap();
    let loaded = Loaded::new(&device, &SET).unwrap();
    assert!(loaded.kernel(0).is_ok() && loaded.kernel(1).is_ok() && loaded.kernel(2).is_err());

    static NONE: [EmbeddedArtifact; 1] = [artifact("narrowed-5", "compute_75", "a", &ALL_ON_GPU)];
    static SET_OF_NONE: KernelSet = set(&NONE);
    let refused = Loaded::new(&device, &SET_OF_NONE).unwrap_err().to_string();
    assert!(refused.starts_with("a: no embedded binary runs on"), "{refused}");
    static EMPTY: KernelSet = set(&[]);
    let refused = Loaded::new(&device, &EMPTY).unwrap_err().to_string();
    assert!(refused.contains("the program has none for this source"), "{refused}");
}

/// Each source is for targets of its own, and none of those is the device.
#[test]
fn a_device_that_no_source_is_for_is_refused_with_all_reasons() {
    static ARTIFACTS: [EmbeddedArtifact; 3] = [
        artifact("narrowed-6", "compute_75", "a.cu", &FIRST_ON_GPU),
        artifact("narrowed-7", "gfx90a", "b.ll", &SECOND_ON_GPU),
        artifact("narrowed-8", "compute_75", "b.ll", &SECOND_ON_GPU),
    ];
    static TWO: [Signature; 2] =
        [Signature::borrowed("first", &[]), Signature::borrowed("second", &[])];
    static SET: KernelSet = KernelSet { signatures: &TWO, ..set(&ARTIFACTS) };
    static OTHERS: [EmbeddedArtifact; 2] = [
        artifact("narrowed-9", "compute_75", "a.cu", &FIRST_ON_GPU),
        artifact("narrowed-10", "gfx90a", "b.ll", &SECOND_ON_GPU),
    ];
    static SET_OF_OTHERS: KernelSet = KernelSet { signatures: &TWO, ..set(&OTHERS) };
    let device = Device::cpu().unwrap();
    let refused = error(Loaded::new(&device, &SET));
    assert!(refused.starts_with("b.ll: no embedded binary runs on"), "for all targets: {refused}");
    let refused = error(Loaded::new(&device, &SET_OF_OTHERS));
    for expected in [
        format!(
            "the kernels of package `narrowed`: no embedded binary runs on {device}\n  compute_75: "
        ),
        "\n  gfx90a: is for AMD GPUs, the device is the CPU".to_owned(),
    ] {
        assert!(refused.contains(&expected), "{refused}");
    }
}

/// As a build with other targets leaves it: the kernel has a wrapper, and no binary.
#[test]
fn a_kernel_without_any_binary_is_in_nobodys_way() {
    static ARTIFACTS: [EmbeddedArtifact; 1] = [artifact("narrowed-11", "cpu", "a.rs", &FIRST)];
    static TWO: [Signature; 2] =
        [Signature::borrowed("first", &[]), Signature::borrowed("second", &[])];
    static SET: KernelSet = KernelSet { signatures: &TWO, ..set(&ARTIFACTS) };
    let device = Device::cpu().unwrap();
    let loaded = Loaded::new(&device, &SET).unwrap();
    assert!(loaded.kernel(0).is_ok());
    let expected = format!(
        "the kernel `second` of : no embedded binary runs on {device}: the program has none for this source; build it \
         again without KERNELMILL_SKIP_BUILD, KERNELMILL_TARGETS and DOCS_RS"
    );
    assert_eq!(error(loaded.kernel(1)), expected);
}
