//! Cooperative launches on the fake driver: kernels whose blocks wait for each other by the memory that the driver gives
//! them, as those of nvcc do.

use cuda_backend::{clean_child, fake_child};
use cudarc::driver::{CudaContext, sys::CUdevice_attribute as Attribute};
use kernelmill::{__codegen as cg, Capability, CompiledKernel, Device, Error, Launch, Result};
use kernelmill_artifact::FORMAT_VERSION;

/// A kernel whose first threads add to a number, wait until all blocks have done so, and store what they see then: the
/// blocks of the grid, plus 256 times the build's number, plus 4096 times the bytes of dynamic shared memory.
///
/// They wait as those of nvcc do, for the highest bit of the driver's number to change: what was there before stays.
macro_rules! ptx {
    ($number:literal, $bounds:literal) => {
        concat!(
            ".version 7.0
.target sm_75
.address_size 64
.visible .entry meet(.param .u64 meet_param_0, .param .u64 meet_param_1)
",
            $bounds,
            "
{
  .reg .pred %p<4>;
  .reg .b64 %rd<8>;
  .reg .b32 %r<16>;
  ld.param.u64 %rd1, [meet_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r2, %envreg2;
  cvt.u64.u32 %rd3, %r2;
  mov.u32 %r3, %envreg1;
  cvt.u64.u32 %rd4, %r3;
  shl.b64 %rd5, %rd4, 32;
  or.b64 %rd6, %rd3, %rd5;
  mov.u32 %r4, %nctaid.x;
  sub.u32 %r5, 0x80000001, %r4;
  mov.u32 %r6, %ctaid.x;
  setp.eq.u32 %p2, %r6, 0;
  selp.b32 %r7, %r5, 1, %p2;
  atom.global.add.u32 %r8, [%rd2+4], 1;
  membar.gl;
  atom.add.release.gpu.u32 %r9, [%rd6+4], %r7;
WAIT:
  ld.acquire.gpu.u32 %r10, [%rd6+4];
  xor.b32 %r11, %r9, %r10;
  setp.ge.s32 %p3, %r11, 0;
  @%p3 bra WAIT;
  ld.relaxed.gpu.global.u32 %r12, [%rd2+4];
  mov.u32 %r13, %dynamic_smem_size;
  shl.b32 %r14, %r13, 4;
  add.u32 %r14, %r14, ",
            $number,
            ";
  shl.b32 %r14, %r14, 8;
  add.u32 %r14, %r14, %r12;
  atom.global.max.u32 %r15, [%rd2], %r14;
DONE:
  ret;
}
\0"
        )
        .as_bytes()
    };
}

const PLAIN: cg::LaunchLimits =
    cg::LaunchLimits { max_block_threads: 256, ..cg::LaunchLimits::NONE };
const LARGE: cg::LaunchLimits = cg::LaunchLimits { max_block_threads: 1024, ..PLAIN };

const MEETS: cg::EmbeddedKernel =
    cg::EmbeddedKernel::loaded(0, "meet", 0, false, cg::Resources::UNKNOWN).as_cooperative();

const fn artifact(
    fingerprint: &'static str,
    bytes: &'static [u8],
    kernels: &'static [cg::EmbeddedKernel],
) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint,
        target: "compute_75",
        kind: cg::ArtifactKind::Ptx,
        source: "kernels/meet.rs",
        bytes,
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

static PARAMETERS: [cg::Parameter; 1] = [cg::Parameter::borrowed(
    "out",
    cg::ParameterKind::Slice {
        element: cg::ValueType::Scalar(cg::Scalar::U32),
        access: cg::Access::Write,
    },
)];

static SIGNATURES: [cg::Signature; 1] = [cg::signature(
    "meet",
    "meet",
    cg::Dimension::One,
    cg::Safety::Safe,
    PLAIN,
    &PARAMETERS,
    ("kernels/meet.rs", 3),
)];

static SET: cg::KernelSet = cg::KernelSet {
    format_version: FORMAT_VERSION,
    package: "cooperative",
    signatures: &SIGNATURES,
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[
        artifact("plain", ptx!("1", ".maxntid 256"), &[MEETS]),
        artifact(
            "large",
            ptx!("2", ".maxntid 1024"),
            &[MEETS.as_variant(cg::EmbeddedVariant {
                name: "threads1024",
                limits: LARGE,
                defines: &[],
            })],
        ),
    ],
};

/// What a launch has seen: blocks, the number of its build, and bytes of dynamic shared memory.
fn launch(loaded: &cg::Loaded, shape: Launch<1>) -> Result<(u32, u32, u32)> {
    let device = loaded.device();
    let mut out = device.zeros::<u32>(2)?;
    // SAFETY: these are the arguments of the kernel.
    unsafe {
        cg::launch_with(loaded, 0, &device.stream(), shape, (cg::write_slice(&mut out),))?;
    }
    let found = out.download()?[0];
    Ok((found % 256, found / 256 % 16, found >> 12))
}

/// A process with a device of compute capability 8.0; on the machine's driver with its device.
fn on_8_0(name: &str, body: impl FnOnce()) {
    clean_child(name, &[("FAKE_CUDA_ARCH", "80")], body);
}

fn most(kernel: &CompiledKernel, threads: u32, bytes: u32) -> Option<u64> {
    kernel.max_cooperative_blocks([threads, 1, 1], bytes).unwrap()
}

#[test]
fn blocks_wait_for_each_other_by_the_memory_of_the_driver() {
    on_8_0("blocks_wait_for_each_other_by_the_memory_of_the_driver", || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        for blocks in [1, 5, 200] {
            let found = launch(&loaded, Launch::grid([blocks], [64])).unwrap();
            assert_eq!(found, (blocks, 1, 0));
        }
    });
}

/// Acceptance: S3.7.
#[test]
fn a_variant_is_allowed_its_shared_memory_before_its_blocks_are_counted() {
    on_8_0("a_variant_is_allowed_its_shared_memory_before_its_blocks_are_counted", || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        let kernel = loaded.compiled(0).unwrap();
        assert!(kernel.is_cooperative());
        // A multiprocessor has room for one such block, and for less than nine.
        let every = multiprocessors();
        for (round, bytes) in [60_000_u32, 100_000, 50_000].into_iter().enumerate() {
            for (threads, build) in [(256, 1), (1024, 2), (64, 1)] {
                let shape = |blocks| Launch::grid([blocks], [threads]).shared_bytes(bytes as usize);
                let found = launch(&loaded, shape(every)).unwrap();
                assert_eq!(found, (every, build, bytes), "{round}: {threads} threads");
                let error = launch(&loaded, shape(9 * every)).unwrap_err();
                let Error::Limit { quantity, requested, limit, .. } = error else {
                    panic!("{error}")
                };
                assert_eq!(quantity, "blocks of a cooperative launch");
                let every = u64::from(every);
                assert_eq!((requested, limit % every), (9 * every, 0));
                assert!((every..9 * every).contains(&limit), "{limit}");
            }
            for build in kernel.builds() {
                let most = most(&build, 256, bytes).unwrap();
                assert_eq!(most % u64::from(every), 0);
                assert!(most >= u64::from(every), "{build:?}");
            }
        }
    });
}

/// The multiprocessors of the device.
fn multiprocessors() -> u32 {
    let count = Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    CudaContext::new(0).unwrap().attribute(count).unwrap() as u32
}

#[test]
fn more_blocks_than_the_device_holds_are_refused_before_any_call() {
    let name = "more_blocks_than_the_device_holds_are_refused_before_any_call";
    let none =
        [("FAKE_CUDA_ARCH", "80"), ("FAKE_CUDA_FAIL", "cuLaunchCooperativeKernel at call 2")];
    fake_child(name, &none, || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        let kernel = loaded.compiled(0).unwrap();
        let blocks = most(&kernel, 256, 0).unwrap() as u32;
        let error = launch(&loaded, Launch::grid([blocks + 1], [256])).unwrap_err();
        let expected = format!(
            "kernel `meet`: the launch asks for {} blocks of a cooperative launch, the limit of {} is {blocks}",
            blocks + 1,
            loaded.device().name(),
        );
        assert_eq!(error.to_string(), expected);
        // The driver was not called: this is the first call, and the next one fails.
        assert_eq!(launch(&loaded, Launch::grid([3], [256])).unwrap(), (3, 1, 0));
        let error = launch(&loaded, Launch::grid([3], [256])).unwrap_err().to_string();
        assert!(error.contains("cuLaunchCooperativeKernel"), "{error}");
    });
}

#[test]
fn a_device_without_cooperative_launches_refuses_such_kernels() {
    let name = "a_device_without_cooperative_launches_refuses_such_kernels";
    let without = [("FAKE_CUDA_ARCH", "80"), ("FAKE_CUDA_COOPERATIVE", "0")];
    fake_child(name, &without, || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        let error = launch(&loaded, Launch::grid([1], [64])).unwrap_err();
        let Error::Unsupported { capability, .. } = &error else { panic!("{error}") };
        assert_eq!(*capability, Capability::CooperativeLaunches);
        let text = error.to_string();
        assert!(
            text.starts_with("the kernel `meet`, whose blocks wait for each other, needs"),
            "{text}"
        );
        assert_eq!(most(&loaded.compiled(0).unwrap(), 64, 0), None);
    });
}

/// Their workspaces are made ready for each launch, so that the launches are put on the stream one by one.
#[test]
fn a_graph_has_cooperative_launches() {
    on_8_0("a_graph_has_cooperative_launches", || {
        let device = Device::cuda(0).unwrap();
        let loaded = cg::Loaded::new(&device, &SET).unwrap();
        let builder = device.graph();
        let mut out = builder.add(device.zeros::<u32>(2).unwrap()).unwrap();
        let (shape, arguments) = (Launch::grid([5], [64]), (cg::write_slice(&mut out),));
        // SAFETY: these are the arguments of the kernel.
        unsafe { cg::launch_with(&loaded, 0, &builder, shape, arguments) }.unwrap();
        let mut graph = builder.instantiate().unwrap();
        for stream in [device.stream(), device.new_stream().unwrap()] {
            graph.slice_mut(&out).unwrap().copy_from(&[0; 2]).unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!(graph.slice(&out).unwrap().download().unwrap()[0] % 256, 5);
        }
    });
}
