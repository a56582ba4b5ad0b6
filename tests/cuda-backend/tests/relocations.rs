//! Symbols whose values a binary is given when it is loaded.

use std::error::Error as _;

use cuda_backend::clean_child;
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
                text.contains("kernels/add.rs") && text.contains("the symbol `scale`, 8 bytes"),
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
                text.contains("has 8 bytes for the symbol `scale`") && text.contains("given 4"),
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

/// What the driver refuses while values are given names its function, and leaves no module behind.
#[test]
fn a_failure_while_values_are_given_is_told_and_leaves_nothing_loaded() {
    let rule = "cuModuleGetGlobal_v2 at call 2 with OUT_OF_MEMORY";
    let name = "a_failure_while_values_are_given_is_told_and_leaves_nothing_loaded";
    clean_child(name, &[("FAKE_CUDA_FAIL", rule)], || {
        let device = Device::cuda(0).unwrap();
        define_symbol("offset", &7_u32.to_ne_bytes());
        define_symbol("scale", &5_u64.to_ne_bytes());
        let error = sum(&device).unwrap_err();
        let Error::Cuda { function, subject, .. } = &error else { panic!("{error}") };
        assert_eq!((*function, &**subject), ("cuModuleGetGlobal", "__kernelmill_relocation_scale"));
        assert_eq!(module_cache().statistics().loaded, 0);
        assert_eq!(sum(&device).unwrap(), 12);
    });
}
