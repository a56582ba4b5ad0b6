//! Launch state of plugins, from the build script to launches on every back end: a seed by value, and a buffer that a
//! plugin counts in. Symbols of plugins, which kernels are given when they are loaded.

use std::fs;

use end_to_end::Project;
use test_support::{
    driver::{fake_driver, fake_hip},
    root,
    tool::clang,
};

const BUILD: &str = "\
#[path = \"plugins/counts.rs\"]
mod counts;
#[path = \"plugins/scale.rs\"]
mod scale;
#[path = \"plugins/seed.rs\"]
mod seed;

fn main() {
    let build = kernelmill_build::Build::new().plugin(counts::Counts).plugin(seed::Seed);
    build.plugin(scale::Scale).compile();
}
";

/// Replaces `__count(x)` by an addition to element `x` of the launch's counters.
const COUNTS: &str = "\
use kernelmill_compiler::plugin::{
    Access, Plugin, Scalar, Stage, State, Task, ValueType,
    ir::{AtomicOperation, AtomicOrdering, Type},
};

#[derive(Debug)]
pub struct Counts;

impl Plugin for Counts {
    fn name(&self) -> &str {
        \"counts\"
    }

    fn version(&self) -> &str {
        \"1\"
    }

    fn marker(&self) -> &str {
        \"__kernelmill_count\"
    }

    fn stages(&self) -> &[Stage] {
        &[Stage::Finalize]
    }

    fn state(&self) -> Option<State> {
        let element = ValueType::Scalar(Scalar::U32);
        Some(State::memory(\"counters\", \"__kernelmill_counters\", element, Access::Write))
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let int = Type::int(task.context(), 32);
        for call in task.calls() {
            let counters = task.state(call).expect(\"it is early enough\");
            let build = task.before(call);
            let counter = build.element(int, counters, call.arguments()[0]);
            build.atomic(AtomicOperation::Add, counter, int.constant(1), AtomicOrdering::Monotonic);
            call.erase();
        }
        Ok(true)
    }
}
";

const KERNELS: &str = "\
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_seed() -> u64;
    safe fn __kernelmill_mixed_seed(x: u64) -> u64;
    fn __kernelmill_count(x: u64);
    fn __kernelmill_counters() -> *mut u32;
    safe fn __kernelmill_scale() -> f32;
}

#[inline(never)]
fn random(i: usize) -> u64 {
    (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ __kernelmill_seed()
}

#[kernel]
pub fn draw(mut out: DisjointSlice<u64>, scale: u64) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = random(i.get()).wrapping_mul(scale).wrapping_add(__kernelmill_mixed_seed(5));
    }
}

/// Barriers keep the state alive between regions.
#[kernel]
pub fn classify(x: &[u32], mut out: DisjointSlice<u64>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (i, lane) = (thread::index_1d(), thread::thread_idx().x as usize);
    let value = x.get(i.get()).copied().unwrap_or(0);
    unsafe { TILE[lane] = value };
    thread::sync_threads();
    let left = unsafe { TILE[(lane + 1) % 64] };
    if let Some(out) = out.get_mut(i) {
        unsafe { __kernelmill_count(u64::from(value % 4)) };
        *out = u64::from(left) ^ random(0);
    }
}

#[kernel]
pub fn plain(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

#[kernel]
pub fn scaled(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = *out * __kernelmill_scale() + 1.0;
    }
}

#[kernel]
pub fn read_counters(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = unsafe { *__kernelmill_counters().add(i.get()) };
    }
}
";

const PROGRAM: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
mod register;

use kernelmill::{Device, Launch};

fn random(i: u64, seed: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed
}

/// The symbol of the plugin on the processor.
#[unsafe(no_mangle)]
extern \"C\" fn scale() -> f32 {
    2.5
}

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    if device.backend() == kernelmill::Backend::Hip {
        // The fake HIP run time runs the processor's code.
        register::register(kernels::Kernels::embedded(), kernels::Kernels::signatures());
    }
    if matches!(device.backend().to_string().as_str(), \"CUDA\" | \"HIP\") {
        let error = kernels::Kernels::load(&device).unwrap_err().to_string();
        assert!(error.contains(\"needs the symbol `scale` (4 bytes)\"), \"{error}\");
    }
    kernelmill::define_symbol(\"scale\", &2.5_f32.to_ne_bytes());
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();
    let mut y = device.zeros::<u64>(300)?;
    for seed in [7, u64::MAX - 1] {
        kernels.draw(&stream, Launch::linear(300), &mut y, 3, seed)?;
        let expected: Vec<u64> = (0..300)
            .map(|i| random(i, seed).wrapping_mul(3).wrapping_add(seed.wrapping_mul(5)))
            .collect();
        assert_eq!(y.download()?, expected);
    }
    let x: Vec<u32> = (0..300).map(|i| i * i).collect();
    let on_device = device.upload(&x)?;
    let mut counters = device.zeros::<u32>(4)?;
    let launch = Launch::<1>::grid([5], [64]);
    for _ in 0..2 {
        kernels.classify(&stream, launch, &on_device, &mut y, &mut counters, 11)?;
    }
    let next = |i: usize| if i % 64 == 63 { x[i - 63] } else { x.get(i + 1).copied().unwrap_or(0) };
    let expected: Vec<_> = (0..300).map(|i| u64::from(next(i)) ^ 11).collect();
    assert_eq!(y.download()?, expected);
    let mut expected = [0; 4];
    x.iter().for_each(|x| expected[*x as usize % 4] += 2);
    assert_eq!(counters.download()?, expected);
    let mut copy = device.zeros::<u32>(4)?;
    kernels.read_counters(&stream, Launch::linear(4), &mut copy, &mut counters)?;
    assert_eq!(copy.download()?, expected);
    kernels.plain(&stream, Launch::linear(300), &mut y)?;
    stream.synchronize()?;
    let mut z = device.upload(&[2.0_f32; 10])?;
    kernels.scaled(&stream, Launch::linear(10), &mut z)?;
    assert_eq!(z.download()?, [6.0; 10]);
    for signature in kernels::Kernels::signatures() {
        println!(\"{} {signature}\", device.backend());
    }
    Ok(())
}
";

/// Acceptance: S0.6, S2.9, C10.
#[test]
fn kernels_get_the_state_that_their_launch_gives() {
    let settings = "targets = [\"cpu\", \"compute_75\", \"gfx1100\"]";
    let project = Project::new("launch-state").manifest("2024", settings);
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("the manifest was written");
    let compiler = format!(
        "[build-dependencies]\nkernelmill-compiler = {{ path = \"{}/build-helpers/compiler\" }}",
        root().display()
    );
    let text = text
        .replacen("[dependencies]", "[dependencies]\nlibloading = \"0.9\"", 1)
        .replacen("kernelmill = { ", "kernelmill = { features = [\"cuda\", \"hip\"], ", 1)
        .replacen("[build-dependencies]", &compiler, 1);
    let register = include_str!("../../hip-backend/src/register.rs");
    let scale = include_str!("../../../build-helpers/compiler/tests/plugins/scale.rs");
    let seed = include_str!("../../../build-helpers/compiler/tests/plugins/seed.rs");
    let project = project
        .file("Cargo.toml", &text)
        .file("build.rs", BUILD)
        .file("plugins/seed.rs", seed)
        .file("plugins/scale.rs", scale)
        .file("src/register.rs", register)
        .file("plugins/counts.rs", COUNTS)
        .file("kernels/random.rs", KERNELS)
        .file("src/main.rs", PROGRAM);
    let drivers = [fake_driver(), fake_hip()].map(|it| it.display().to_string()).join(":");
    let mut project = project.environment("LD_LIBRARY_PATH", &drivers);
    for backend in ["cpu", "cuda", "hip"] {
        project = project.environment("KERNELMILL_DEVICE", backend);
        let run = project.cargo(&["run"]).succeeds();
        let printed = run.stdout.to_lowercase();
        for signature in [
            "fn draw(out: disjointslice<u64>, scale: u64, launch.seed: u64)",
            "fn classify(x: &[u32], out: disjointslice<u64>, launch.counters: *mut u32, launch.seed: u64)",
            "fn plain(out: disjointslice<u64>)",
            "fn read_counters(out: disjointslice<u32>, launch.counters: *mut u32)",
        ] {
            let expected = format!("{backend} {signature}");
            assert!(printed.contains(&expected), "{expected}: {}", run.stdout);
        }
    }
}

/// clang makes SPIR-V, and the text that devices of OpenCL compile: no plugin sees either.
///
/// Acceptance: S0.6.
#[test]
fn state_is_refused_for_targets_whose_compiler_runs_no_plugin() {
    let Some(_) = clang() else { return };
    const KERNELS: &str = "ulong __kernelmill_seed(void);\n\
        __kernel void draw(__global ulong *out) { out[get_global_id(0)] = __kernelmill_seed(); }\n\
        __kernel void plain(__global ulong *out) { out[get_global_id(0)] = 1; }\n";
    const BUILD: &str = "#[path = \"plugins/seed.rs\"]\nmod seed;\n\n\
        fn main() {\n    kernelmill_build::Build::new().plugin(seed::Seed).compile();\n}\n";
    let settings = |targets: &str| {
        format!(
            "targets = [\"cpu\", \"spirv64\", \"opencl-c\"]\n[package.metadata.kernelmill.kernels.draw]\ntargets = {targets}\n"
        )
    };
    let project = Project::new("state-on-opencl")
        .manifest("2024", &settings("[\"cpu\", \"spirv64\", \"opencl-c\"]"));
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("the manifest was written");
    let compiler = format!(
        "[build-dependencies]\nkernelmill-compiler = {{ path = \"{}/build-helpers/compiler\" }}",
        root().display()
    );
    let text = text.replacen("[build-dependencies]", &compiler, 1);
    let seed = include_str!("../../../build-helpers/compiler/tests/plugins/seed.rs");
    let project = project
        .file("Cargo.toml", &text)
        .file("build.rs", BUILD)
        .file("plugins/seed.rs", seed)
        .file("kernels/random.cl", KERNELS)
        .file("src/lib.rs", "kernelmill::include_kernels!();\n");
    let error = project.cargo(&["check"]).build_script_error();
    for target in ["spirv64", "opencl-c"] {
        let expected = format!(
            "error[KM0088]: kernels/random.cl:2: kernel `draw` asks for the launch state `seed`, and for the target {target} its compiler runs no plugin that provides it\n  help: remove the target for this kernel: `kernels.NAME.targets`"
        );
        assert!(error.contains(&expected), "{expected}\nin\n{error}");
    }
    assert_eq!(error.matches("asks for the launch state").count(), 2, "{error}");
    // The other kernel is for all of them.
    let narrowed =
        text.replace(&settings("[\"cpu\", \"spirv64\", \"opencl-c\"]"), &settings("\"cpu\""));
    assert_ne!(narrowed, text);
    let _ = project.file("Cargo.toml", &narrowed).cargo(&["check"]).succeeds();
}
