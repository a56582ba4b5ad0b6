//! Symbols whose values a binary is given when it is loaded.

use std::error::Error as _;

use cuda_backend::{clean_child, is_left_out};
use kernelmill::{__codegen as cg, Device, Error, Launch, Result, define_symbol, module_cache};
use kernelmill_artifact::FORMAT_VERSION;

/// `out[0] = offset + scale`, of two symbols of the program.
const PTX: &[u8] = b"
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 __kernelmill_relocation_offset;
.visible .global .align 8 .u64 __kernelmill_relocation_scale;
.visible .entry add(.param .u64 add_param_0)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [add_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u64 %rd3, [__kernelmill_relocation_scale];
  ld.global.u32 %r1, [__kernelmill_relocation_offset];
  cvt.u64.u32 %rd4, %r1;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u64 [%rd2], %rd5;
  ret;
}
\0";

static SET: cg::KernelSet = cg::KernelSet {
    format_version: FORMAT_VERSION,
    package: "relocations",
    signatures: &[cg::Signature::borrowed("add", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "relocations",
        target: "compute_75",
        kind: cg::ArtifactKind::Ptx,
        source: "kernels/add.rs",
        bytes: PTX,
        kernels: &[cg::EmbeddedKernel::loaded(0, "add", 0, false, cg::Resources::UNKNOWN)],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[
            cg::Relocation { symbol: "offset", bytes: 4 },
            cg::Relocation { symbol: "scale", bytes: 8 },
        ],
        variables: &[],
    }],
};

/// What a kernel with the values of its symbols computes, loaded now or before.
fn sum(device: &Device) -> Result<u64> {
    let kernels = cg::Loaded::new(device, &SET)?;
    let mut out = device.zeros::<u64>(1)?;
    let launch = Launch::<1>::grid([1], [1]);
    let arguments = (cg::write_pointer(&mut out),);
    // SAFETY: this is the argument of the kernel.
    unsafe { cg::launch_with(&kernels, 0, &device.stream(), launch, arguments)? };
    Ok(out.download()?[0])
}

/// Acceptance: S2.9.
#[test]
fn symbols_have_the_values_that_the_program_gives_before_modules_are_loaded() {
    clean_child(
        "symbols_have_the_values_that_the_program_gives_before_modules_are_loaded",
        &[],
        || {
            let device = Device::cuda(0).unwrap();
            define_symbol("offset", &7_u32.to_ne_bytes());
            let error = sum(&device).unwrap_err();
            assert!(
                matches!(error, Error::UndefinedSymbol { symbol: "scale", bytes: 8, .. }),
                "{error}"
            );
            let text = error.to_string();
            assert!(
                text.contains("kernels/add.rs") && text.contains("the symbol `scale` (8 bytes)"),
                "{text}"
            );
            assert!(error.source().is_none());
            assert_eq!(
                module_cache().statistics().loads,
                0,
                "nothing is loaded without its symbols"
            );
            define_symbol("scale", &1_u32.to_ne_bytes());
            let text = sum(&device).unwrap_err().to_string();
            assert!(
                text.contains("expects 8 bytes for the symbol `scale`") && text.contains("given 4"),
                "{text}"
            );
            define_symbol("scale", &(1_u64 << 40).to_ne_bytes());
            assert_eq!(sum(&device).unwrap(), (1 << 40) + 7);
            // What is loaded keeps its values; what is loaded again has the new ones.
            define_symbol("offset", &9_u32.to_ne_bytes());
            assert_eq!(sum(&device).unwrap(), (1 << 40) + 7);
            module_cache().clear();
            assert_eq!(sum(&device).unwrap(), (1 << 40) + 9);
        },
    );
}

/// All errors of the driver but `NOT_FOUND`, which says that a module does not have the variable.
const ERRORS: [&str; 53] = [
    "INVALID_VALUE",
    "OUT_OF_MEMORY",
    "NOT_INITIALIZED",
    "DEINITIALIZED",
    "STUB_LIBRARY",
    "NO_DEVICE",
    "INVALID_DEVICE",
    "INVALID_IMAGE",
    "INVALID_CONTEXT",
    "MAP_FAILED",
    "NO_BINARY_FOR_GPU",
    "ECC_UNCORRECTABLE",
    "UNSUPPORTED_LIMIT",
    "PEER_ACCESS_UNSUPPORTED",
    "INVALID_PTX",
    "JIT_COMPILER_NOT_FOUND",
    "UNSUPPORTED_PTX_VERSION",
    "INVALID_SOURCE",
    "FILE_NOT_FOUND",
    "OPERATING_SYSTEM",
    "INVALID_HANDLE",
    "ILLEGAL_STATE",
    "NOT_READY",
    "ILLEGAL_ADDRESS",
    "LAUNCH_OUT_OF_RESOURCES",
    "LAUNCH_TIMEOUT",
    "PEER_ACCESS_ALREADY_ENABLED",
    "PEER_ACCESS_NOT_ENABLED",
    "PRIMARY_CONTEXT_ACTIVE",
    "CONTEXT_IS_DESTROYED",
    "ASSERT",
    "HOST_MEMORY_ALREADY_REGISTERED",
    "HOST_MEMORY_NOT_REGISTERED",
    "HARDWARE_STACK_ERROR",
    "ILLEGAL_INSTRUCTION",
    "MISALIGNED_ADDRESS",
    "INVALID_ADDRESS_SPACE",
    "INVALID_PC",
    "LAUNCH_FAILED",
    "COOPERATIVE_LAUNCH_TOO_LARGE",
    "NOT_PERMITTED",
    "NOT_SUPPORTED",
    "SYSTEM_NOT_READY",
    "STREAM_CAPTURE_UNSUPPORTED",
    "STREAM_CAPTURE_INVALIDATED",
    "STREAM_CAPTURE_MERGE",
    "STREAM_CAPTURE_UNMATCHED",
    "STREAM_CAPTURE_UNJOINED",
    "STREAM_CAPTURE_ISOLATION",
    "STREAM_CAPTURE_IMPLICIT",
    "CAPTURED_EVENT",
    "STREAM_CAPTURE_WRONG_THREAD",
    "UNKNOWN",
];

/// What the driver refuses while values are given names its function, and leaves no module behind.
#[test]
fn a_failure_while_values_are_given_is_told_and_leaves_nothing_loaded() {
    let name = "a_failure_while_values_are_given_is_told_and_leaves_nothing_loaded";
    if is_left_out(name) {
        return;
    }
    for error in ERRORS {
        let rule = format!("cuModuleGetGlobal_v2 at call 2 with {error}");
        clean_child(name, &[("FAKE_CUDA_FAIL", &rule)], || {
            let device = Device::cuda(0).unwrap();
            define_symbol("offset", &7_u32.to_ne_bytes());
            define_symbol("scale", &5_u64.to_ne_bytes());
            let error = sum(&device).unwrap_err();
            let Error::Cuda { function, subject, .. } = &error else { panic!("{error}") };
            assert_eq!(
                (*function, &**subject),
                ("cuModuleGetGlobal", "__kernelmill_relocation_scale")
            );
            assert_eq!(module_cache().statistics().loaded, 0);
            assert_eq!(sum(&device).unwrap(), 12);
        });
    }
}
