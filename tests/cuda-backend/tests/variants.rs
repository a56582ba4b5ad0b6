//! Variants of a kernel on the fake driver: which one a launch gets, what is loaded for it, and what the driver is told.

use cuda_backend::clean_child;
use kernelmill::{
    __codegen as cg, Buffer, CompiledKernel, Device, Error, Explanation, Launch, Outcome, Result,
    Stream, module_cache,
    select::Architecture,
    tuning::{Output, Tuner},
};
use kernelmill_artifact::FORMAT_VERSION;
use std::collections::BTreeMap;

/// A kernel that stores a number, the least of a build's dynamic shared memory, and the length that it was given.
macro_rules! ptx {
    ($number:literal, $bounds:literal) => {
        concat!(
            ".version 7.0
.target sm_75
.address_size 64
.visible .entry which(.param .u64 which_param_0, .param .u64 which_param_1, .param .u64 which_param_2)
",
            $bounds,
            "
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [which_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %dynamic_smem_size;
  mul.lo.u32 %r2, %r1, 16;
  add.u32 %r3, %r2, ",
            $number,
            ";
  st.global.u32 [%rd2], %r3;
  ret;
}
\0"
        )
        .as_bytes()
    };
}

const LIMITS: cg::LaunchLimits = cg::LaunchLimits::NONE;
const SMALL: cg::LaunchLimits = cg::LaunchLimits { max_block_threads: 64, ..LIMITS };
const SMALL_NARROW: cg::LaunchLimits = cg::LaunchLimits { index_width: 32, ..SMALL };
const NARROW: cg::LaunchLimits = cg::LaunchLimits { max_block_threads: 256, ..SMALL_NARROW };
const PLAIN: cg::LaunchLimits = cg::LaunchLimits { max_block_threads: 256, ..LIMITS };
const FEW: cg::LaunchLimits = cg::LaunchLimits { max_registers: 32, ..PLAIN };
const LARGE: cg::LaunchLimits = cg::LaunchLimits { max_block_threads: 512, ..LIMITS };

/// A binary with one build of the kernel, or of a variant.
const fn artifact(
    fingerprint: &'static str,
    (target, bytes): (&'static str, &'static [u8]),
    kernels: &'static [cg::EmbeddedKernel],
) -> cg::EmbeddedArtifact {
    let is_text = matches!(target.as_bytes(), [b'c', ..]);
    cg::EmbeddedArtifact {
        fingerprint,
        target,
        // All of them are PTX, whatever their targets say: drivers find out what a binary is.
        kind: if is_text { cg::ArtifactKind::Ptx } else { cg::ArtifactKind::Cubin },
        source: "kernels/which.rs",
        bytes,
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

const PLAIN_KERNEL: cg::EmbeddedKernel =
    cg::EmbeddedKernel::loaded(0, "which", 0, false, cg::Resources::UNKNOWN);

const fn variant(name: &'static str, limits: cg::LaunchLimits) -> cg::EmbeddedKernel {
    PLAIN_KERNEL.as_variant(cg::EmbeddedVariant { name, limits, defines: &[] })
}

static PARAMETERS: [cg::Parameter; 2] = [
    cg::Parameter::borrowed(
        "out",
        cg::ParameterKind::Slice {
            element: cg::ValueType::Scalar(cg::Scalar::U32),
            access: cg::Access::Write,
        },
    ),
    cg::Parameter::borrowed(
        "size",
        cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::Usize)),
    ),
];

/// Without its variants the kernel is made for blocks of 256 threads.
static SIGNATURES: [cg::Signature; 1] = [cg::signature(
    "which",
    "which",
    cg::Dimension::One,
    cg::Safety::Safe,
    PLAIN,
    &PARAMETERS,
    ("kernels/which.rs", 3),
)];

static SET: cg::KernelSet = cg::KernelSet {
    format_version: FORMAT_VERSION,
    package: "variants",
    signatures: &SIGNATURES,
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[
        artifact("plain", ("compute_80", ptx!("1", ".maxntid 256")), &[PLAIN_KERNEL]),
        // Two variants with the same code: it is there once.
        artifact(
            "small",
            ("compute_80", ptx!("2", ".maxntid 64")),
            &[variant("threads64", SMALL), variant("threads64_index32", SMALL_NARROW)],
        ),
        artifact(
            "narrow",
            ("compute_80", ptx!("3", ".maxntid 256")),
            &[variant("index32", NARROW)],
        ),
        artifact(
            "few",
            ("compute_80", ptx!("4", ".maxntid 256 .maxnreg 32")),
            &[variant("registers32", FEW)],
        ),
        artifact(
            "large",
            ("compute_75", ptx!("5", ".maxntid 512")),
            &[variant("threads512", LARGE)],
        ),
        artifact(
            "other",
            ("sm_120", ptx!("6", "")),
            &[variant("registers40", cg::LaunchLimits { max_registers: 40, ..PLAIN })],
        ),
    ],
};

/// The same kernel with indices of 32 bits, and nothing else.
static NARROW_SET: cg::KernelSet = cg::KernelSet {
    signatures: &[cg::signature(
        "which",
        "which",
        cg::Dimension::One,
        cg::Safety::Safe,
        NARROW,
        &PARAMETERS,
        ("kernels/which.rs", 3),
    )],
    artifacts: &[artifact(
        "only narrow",
        ("compute_80", ptx!("7", ".maxntid 256")),
        &[PLAIN_KERNEL],
    )],
    ..SET
};

/// The number of the build that a launch has run, and its bytes of dynamic shared memory.
fn launch(loaded: &cg::Loaded, launch: Launch<1>, size: usize) -> Result<(u32, u32)> {
    let device = loaded.device();
    let mut out = device.zeros::<u32>(1)?;
    let arguments = (cg::write_slice(&mut out), cg::Value(size));
    // SAFETY: these are the arguments of the kernel.
    unsafe { cg::launch_with(loaded, 0, &device.stream(), launch, arguments)? };
    let found = out.download()?[0];
    Ok((found % 16, found / 16))
}

fn number(loaded: &cg::Loaded, shape: Launch<1>, size: usize) -> u32 {
    launch(loaded, shape, size).unwrap_or_else(|error| panic!("{error}")).0
}

fn block(threads: u32) -> Launch<1> {
    Launch::grid([1], [threads])
}

/// A process with a device of compute capability 8.0; on the machine's driver with its device.
fn on_8_0(name: &str, body: impl FnOnce()) {
    clean_child(name, &[("FAKE_CUDA_ARCH", "80")], body);
}

/// What is said of each build, in the order in which they are tried.
fn outcomes(explanation: &Explanation) -> Vec<(&str, &Outcome)> {
    let builds = explanation.builds.iter();
    builds.map(|build| (build.variant.unwrap_or("plain"), &build.outcome)).collect()
}

/// The set with tuned launches for its kernel.
fn tuned(name: &'static str) -> &'static cg::KernelSet {
    let of = |class: u32, block: u32, max_registers| cg::TunedLaunch {
        group: "",
        signature: 0,
        device: name,
        size_class: vec![class].leak(),
        block: vec![block].leak(),
        max_registers,
    };
    let elsewhere = cg::TunedLaunch { device: "another device", ..of(10, 128, 0) };
    let flat = |size_class, block, max_registers| cg::TunedLaunch {
        size_class,
        block,
        ..of(0, 0, max_registers)
    };
    let tuned = [
        elsewhere,
        of(10, 64, 0),
        of(20, 128, 32),
        of(24, 513, 0),
        of(28, 64, 31),
        flat(&[6, 6], &[16, 4], 0),
        flat(&[10, 4], &[64, 2], 32),
        flat(&[4, 10], &[64, 16], 0),
        cg::TunedLaunch { group: "pair", ..flat(&[6, 6], &[], 0) },
        cg::TunedLaunch { group: "pair", signature: 9, ..flat(&[9, 9], &[], 0) },
    ];
    Box::leak(Box::new(cg::KernelSet { tuned: Box::leak(Box::new(tuned)), ..SET }))
}

#[test]
fn tuned_launches_have_their_blocks_and_builds_and_others_are_linear() {
    on_8_0("tuned_launches_have_their_blocks_and_builds_and_others_are_linear", || {
        let device = Device::cuda(0).unwrap();
        let name: &str = device.name();
        let loaded = cg::Loaded::new(&device, tuned(name.to_owned().leak())).unwrap();
        let kernel = loaded.compiled(0).unwrap();
        let small = kernel.tuned_launch(1000);
        assert_eq!((small.grid_size(), small.block_size(), small.registers()), ([16], [64], None));
        assert_eq!(number(&loaded, small, 0), 2);
        let large = kernel.tuned_launch(1 << 20);
        assert_eq!((large.block_size(), large.registers()), ([128], Some(32)));
        assert_eq!(number(&loaded, large, 0), 4);
        // No build is for such blocks, or for so few registers: the file is older than the kernel.
        for n in [1 << 24, 1 << 28] {
            assert_eq!(kernel.tuned_launch(n), Launch::linear(n), "{n}");
        }
        let untuned = cg::Loaded::new(&device, &SET).unwrap().compiled(0).unwrap();
        assert_eq!(untuned.tuned_launch(1000), Launch::linear(1000));
    });
}

#[test]
fn tuned_covers_have_their_shapes_in_their_number_of_dimensions() {
    on_8_0("tuned_covers_have_their_shapes_in_their_number_of_dimensions", || {
        let device = Device::cuda(0).unwrap();
        let name: &str = device.name();
        let loaded = cg::Loaded::new(&device, tuned(name.to_owned().leak())).unwrap();
        let kernel = loaded.compiled(0).unwrap();
        assert_eq!(kernel.tuned_cover([65, 64]), Launch::cover([65, 64], [16, 4]));
        assert_eq!(kernel.suggested_block_shape([65, 64]), [16, 4]);
        let wide = kernel.tuned_cover([1024, 16]);
        assert_eq!((wide.block_size(), wide.registers()), ([64, 2], Some(32)));
        // No build is for 1024 threads.
        assert_eq!(kernel.tuned_cover([16, 1024]), Launch::cover([16, 1024], [32, 8]));
        // Nothing is tuned in three dimensions.
        assert_eq!(kernel.suggested_block_shape([64, 64, 64]), [32, 4, 2]);
        assert_eq!(kernel.suggested_block_shape([1000]), [64]);
    });
}

/// A set with two kernels that are the same, and groups of them that were tuned on the device of a name.
fn groups(device: &'static str) -> &'static cg::KernelSet {
    let kernels = [0, 1]
        .map(|place| cg::EmbeddedKernel::loaded(place, "which", 0, false, cg::Resources::UNKNOWN));
    let artifacts =
        [artifact("twice", ("compute_80", ptx!("1", ".maxntid 256")), kernels_of(kernels))];
    let of = |group, signature, size_class| cg::TunedLaunch {
        group,
        signature,
        device,
        size_class,
        block: &[],
        max_registers: 0,
    };
    let tuned = [of("pair", 0, &[6, 6]), of("pair", 1, &[9, 9]), of("line", 1, &[6])];
    Box::leak(Box::new(cg::KernelSet {
        signatures: vec![SIGNATURES[0].clone(), SIGNATURES[0].clone()].leak(),
        artifacts: Box::leak(Box::new(artifacts)),
        tuned: Box::leak(Box::new(tuned)),
        ..SET
    }))
}

fn kernels_of(kernels: [cg::EmbeddedKernel; 2]) -> &'static [cg::EmbeddedKernel] {
    Box::leak(Box::new(kernels))
}

#[test]
fn the_kernel_of_a_group_is_the_one_that_was_found() {
    on_8_0("the_kernel_of_a_group_is_the_one_that_was_found", || {
        let device = Device::cuda(0).unwrap();
        let name: &str = device.name();
        let set = groups(name.to_owned().leak());
        let loaded = cg::Loaded::new(&device, set).unwrap();
        let pair = [0, 1].map(|place| loaded.compiled(place).unwrap());
        assert_eq!(CompiledKernel::fastest("pair", &pair, [64, 64]), 0);
        assert_eq!(CompiledKernel::fastest("pair", &pair, [700, 600]), 1);
        assert_eq!(CompiledKernel::fastest("line", &pair, [1]), 1);
        // Not tuned, or in no such number of dimensions.
        assert_eq!(CompiledKernel::fastest("line", &pair, [64, 64]), 0);
        assert_eq!(CompiledKernel::fastest("other", &pair, [64, 64]), 0);
        // The kernel that was found is none of these, one of which has its place in another package.
        let foreign = cg::Loaded::new(&device, groups("elsewhere")).unwrap();
        let [first, _] = pair;
        let others = [first, foreign.compiled(1).unwrap()];
        assert_eq!(CompiledKernel::fastest("pair", &others, [700, 600]), 0);
        assert_eq!(CompiledKernel::fastest("pair", &[], [700, 600]), 0);
    });
}

#[test]
fn the_tuner_tries_each_build_in_each_block_that_it_fits_once() {
    let name = "the_tuner_tries_each_build_in_each_block_that_it_fits_once";
    let variables = [
        ("FAKE_CUDA_ARCH", "80"),
        ("KERNELMILL_DEVICE", "cuda:0"),
        ("KERNELMILL_TUNE", "which"),
        ("KERNELMILL_TUNE_SIZES", "100"),
        ("KERNELMILL_TUNE_ROUNDS", "3"),
    ];
    clean_child(name, &variables, || {
        let mut tuner = Tuner::from_environment().unwrap();
        let devices = tuner.devices().unwrap();
        assert_eq!(devices, [Device::cuda(0).unwrap()]);
        let loaded = cg::Loaded::new(&devices[0], &SET).unwrap();
        let mut tried = BTreeMap::new();
        let arguments = |_| devices[0].zeros::<u32>(1);
        let launch = |out: &mut Buffer<u32>, stream: &Stream, launch: Launch<1>| {
            let arguments = (cg::write_slice(&mut *out), cg::Value(0_usize));
            // SAFETY: these are the arguments of the kernel.
            unsafe { cg::launch_with(&loaded, 0, stream, launch, arguments)? };
            let [block] = launch.block_size();
            tried.insert((block, launch.registers()), out.download()?[0] % 16);
            Ok(())
        };
        // The kernel says which build it is, so that its outputs differ.
        let output = |_: &mut Buffer<u32>| Ok(Output::exact(&[0_u8]));
        tuner.tune(&loaded.compiled(0).unwrap(), arguments, launch, output).unwrap();
        // No build is for 1024 threads, and that for 512 has more than 32 registers.
        let few = [32, 64, 128, 256].map(|block| ((block, Some(32)), 4));
        let any = [(32, 2), (64, 2), (128, 3), (256, 3), (512, 5)];
        let any = any.map(|(block, number)| ((block, None), number));
        assert_eq!(tried, BTreeMap::from_iter(few.into_iter().chain(any)));
    });
}

/// Acceptance: S3.3, S3.5.
#[test]
fn a_launch_gets_the_build_for_the_smallest_blocks_that_hold_its_own() {
    on_8_0("a_launch_gets_the_build_for_the_smallest_blocks_that_hold_its_own", || {
        let device = Device::cuda(0).unwrap();
        let loaded = cg::Loaded::new(&device, &SET).unwrap();
        // The two with the number 2 share their code.
        for (threads, expected) in [(1, 2), (64, 2), (65, 3), (256, 3), (257, 5), (512, 5)] {
            assert_eq!(number(&loaded, block(threads), 0), expected, "{threads} threads");
        }
        let error = launch(&loaded, block(513), 0).unwrap_err();
        let Error::NoVariant(explanation) = &error else { panic!("{error}") };
        assert_eq!(explanation.chosen(), None);
        let expected = "\
no build fits a launch of kernel `which`
  threads64_index32 for compute_80: compiled for at most 64 threads per block, the launch has 513
  threads64 for compute_80: compiled for at most 64 threads per block, the launch has 513
  index32 for compute_80: compiled for at most 256 threads per block, the launch has 513
  without variant for compute_80: compiled for at most 256 threads per block, the launch has 513
  registers32 for compute_80: compiled for at most 256 threads per block, the launch has 513
  threads512 for compute_75: compiled for at most 512 threads per block, the launch has 513
  registers40: sm_120 runs on compute capability 12.0 and later ones of generation 12 only, the device has ";
        let Architecture::Nvidia { major, minor } = *device.architecture() else {
            panic!("it is NVIDIA's")
        };
        assert_eq!(error.to_string(), format!("{expected}{major}.{minor}"));
    });
}

/// Acceptance: S3.3.
#[test]
fn a_launch_with_large_sizes_never_gets_indices_of_32_bits() {
    on_8_0("a_launch_with_large_sizes_never_gets_indices_of_32_bits", || {
        let device = Device::cuda(0).unwrap();
        let loaded = cg::Loaded::new(&device, &SET).unwrap();
        let most = (1 << 31) - 1;
        assert_eq!(number(&loaded, block(256), most), 3);
        assert_eq!(number(&loaded, block(256), most + 1), 1);
        assert_eq!(number(&loaded, block(256), usize::MAX), 1, "a negative `isize`");
        // The threads of a launch count too; no driver need run so many.
        let compiled = loaded.compiled(0).unwrap();
        let chosen = |blocks, largest| {
            let shape = Launch::<1>::grid([blocks], [256]).into();
            compiled.explain(&shape, largest).chosen().map(|build| build.variant)
        };
        let blocks = 1 << 23;
        assert_eq!(chosen(blocks - 1, 0), Some(Some("index32")));
        assert_eq!(chosen(blocks, 0), Some(None));
        assert_eq!(chosen(1, 1 << 31), Some(None));

        let narrow = cg::Loaded::new(&device, &NARROW_SET).unwrap();
        assert_eq!(number(&narrow, block(256), most), 7);
        let error = launch(&narrow, block(256), most + 1).unwrap_err();
        let expected = "kernel `which`: the launch asks for 2147483648 as the value of an argument, the limit of its \
                        32-bit indices is 2147483647";
        assert_eq!(error.to_string(), expected);
        let prepare = |size| {
            let mut out = device.zeros::<u32>(1).unwrap();
            let arguments = (cg::write_slice(&mut out), cg::Value(size));
            // SAFETY: the buffer outlives the launch, which is never made, and the arguments are those of the kernel.
            let prepared = unsafe {
                cg::prepare(&device, |stream| {
                    cg::launch_with(&narrow, 0, stream, block(256), arguments)
                })
            };
            let Ok(mut prepared) = prepared else { return (false, false) };
            // SAFETY: the kernel has one slice.
            let set = unsafe {
                cg::set_scalars(&mut prepared, &narrow, 0, |stream, launch: Launch<1>, slices| {
                    let arguments = (cg::write_slice::<u32, _>(slices.take()), cg::Value(size + 1));
                    cg::launch_with(&narrow, 0, stream, launch, arguments)
                })
            };
            (true, set.is_ok())
        };
        let found = [most - 1, most, most + 1].map(prepare);
        assert_eq!(found, [(true, true), (true, false), (false, false)]);
    });
}

/// Acceptance: S3.6.
#[test]
fn alternating_launches_load_nothing_again() {
    on_8_0("alternating_launches_load_nothing_again", || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        let loads = module_cache().statistics().loads;
        assert_eq!(loads, 5, "each binary that runs here, and the code of two variants once");
        for _ in 0..3 {
            for (shape, expected) in [
                (block(256), 3),
                (block(256).max_registers(32), 4),
                (block(64), 2),
                (block(512), 5),
                (block(32).max_registers(32), 4),
            ] {
                assert_eq!(number(&loaded, shape, 0), expected, "{shape:?}");
            }
            assert_eq!(number(&loaded, block(256), 1 << 31), 1);
        }
        assert_eq!(module_cache().statistics().loads, loads);
        let error = launch(&loaded, block(256).max_registers(31), 0).unwrap_err();
        assert!(error.to_string().contains("compiled for more than the 31 registers"), "{error}");
    });
}

/// The driver refuses launches with more than 48 KiB of dynamic shared memory of functions that were not allowed them.
///
/// Acceptance: S3.7.
#[test]
fn each_build_is_allowed_the_dynamic_shared_memory_of_its_launches() {
    on_8_0("each_build_is_allowed_the_dynamic_shared_memory_of_its_launches", || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        for bytes in [100_000, 60_000, 120_000] {
            for (threads, size, expected) in
                [(256, 0, 3), (64, 0, 2), (512, 0, 5), (256, 1 << 31, 1)]
            {
                let shape = block(threads).shared_bytes(bytes);
                assert_eq!(launch(&loaded, shape, size).unwrap(), (expected, bytes as u32));
            }
        }
    });
}

#[test]
fn a_compiled_kernel_has_all_its_builds_and_explains_each_choice() {
    on_8_0("a_compiled_kernel_has_all_its_builds_and_explains_each_choice", || {
        let loaded = cg::Loaded::new(&Device::cuda(0).unwrap(), &SET).unwrap();
        let compiled = loaded.compiled(0).unwrap();
        assert_eq!((compiled.variant(), compiled.limits()), (None, PLAIN));
        let builds = compiled.builds();
        let names: Vec<_> = builds.iter().map(CompiledKernel::variant).collect();
        let expected = [
            Some("threads64_index32"),
            Some("threads64"),
            Some("index32"),
            None,
            Some("registers32"),
            Some("threads512"),
        ];
        assert_eq!(names, expected);
        assert_eq!((builds[5].target(), builds[5].limits()), ("compute_75", LARGE));
        assert_eq!(builds[0].fingerprint(), builds[1].fingerprint(), "the same code");
        assert_eq!(builds[1].resources().unwrap().max_threads, Some(64));

        let explanation = compiled.explain(&block(100).into(), 1 << 31);
        let small = Outcome::LargerBlock { threads: 100, limit: 64 };
        let wide = Outcome::LargerSize { what: "sizes of up to", size: 1 << 31 };
        let found = outcomes(&explanation);
        assert_eq!(found[..2], [("threads64_index32", &small), ("threads64", &small)]);
        let rest = [
            ("index32", &wide),
            ("plain", &Outcome::Chosen),
            ("registers32", &Outcome::Outranked),
            ("threads512", &Outcome::Outranked),
        ];
        assert_eq!(found[2..6], rest);
        assert!(matches!(found[6], ("registers40", Outcome::OtherDevice { .. })));
    });
}
