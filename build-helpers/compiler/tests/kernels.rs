//! What kernels in Rust compile to, as facts about the emitted code.

mod common;

use std::collections::BTreeSet;

use common::{compile, compile_with, compiler, job, lower, ptx};
use kernelmill_artifact::ArtifactKind;
use kernelmill_compiler::{Config, Params};

const SAXPY: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += a * x[i.get()];
    }
}
";

/// The number of lines of `text` that contain `part`.
fn count(text: &str, part: &str) -> usize {
    text.lines().filter(|line| line.contains(part)).count()
}

#[test]
fn a_slice_is_an_address_and_a_length_and_reads_go_through_the_read_only_cache() {
    let ptx = ptx("abi", SAXPY);
    let entry: String = ptx.split(".entry saxpy(").nth(1).unwrap().split(')').take(1).collect();
    let types: Vec<_> = entry.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    // The last one is the address of the record of panics.
    assert_eq!(types, [".f32", ".u64", ".u64", ".u64", ".u64", ".u64"], "{entry}");
    assert_eq!(count(&ptx, "ld.global.nc.b32"), 1, "{ptx}");
    assert_eq!(count(&ptx, "call"), 0, "{ptx}");
}

#[test]
fn multiplication_and_addition_fuse_unless_that_is_switched_off() {
    assert_eq!(count(&ptx("fused", SAXPY), "fma.rn.f32"), 1);
    let params = Params { contract: false, ..Params::default() };
    let apart = compile_with("apart", SAXPY, "compute_75", params).unwrap();
    let apart = String::from_utf8(apart.bytes).unwrap();
    assert_eq!((count(&apart, "fma.rn.f32"), count(&apart, "mul.rn.f32")), (0, 1), "{apart}");
}

/// rustc's jump threading makes two barriers of the one here when it optimises, and the threads
/// of a block then wait at different ones.
#[test]
fn one_barrier_in_the_source_is_one_barrier_in_the_code() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn conv(c: u32, mut x: DisjointSlice<f32>) {
    let t = thread::thread_idx().x;
    let mut v = 0.0;
    if c > t {
        v = unsafe { *x.get_unchecked_mut(t as usize) };
        unsafe { *x.get_unchecked_mut(0) = v };
    }
    thread::sync_threads();
    if c > t {
        unsafe { *x.get_unchecked_mut(9) = v + 1.0 };
    } else {
        unsafe { *x.get_unchecked_mut(8) = 3.0 };
    }
}
";
    let ptx = ptx("barriers", text);
    assert_eq!(count(&ptx, "bar.sync") + count(&ptx, "barrier.sync"), 1, "{ptx}");
}

const REDUCE: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn reduce(x: &[f32], mut out: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    let i = thread::index_1d().get();
    unsafe { TILE[t] = if i < x.len() { x[i] } else { 0.0 } };
    thread::sync_threads();
    let mut s = 128;
    while s > 0 {
        if t < s {
            unsafe { TILE[t] += TILE[t + s] };
        }
        thread::sync_threads();
        s /= 2;
    }
    if t == 0 {
        unsafe { *out.get_unchecked_mut(thread::block_idx().x as usize) = TILE[0] };
    }
}

#[kernel]
pub fn copy(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (out.get_mut(i), x.get(i.get())) {
        *out = *x;
    }
}
";

#[test]
fn shared_arrays_are_shared_memory_of_the_kernels_that_use_them() {
    let ptx = ptx("shared", REDUCE);
    assert_eq!(count(&ptx, ".shared .align 16 .b8"), 1, "{ptx}");
    assert!(ptx.contains("[1024]"), "the tag is dropped: {ptx}");
    assert!(ptx.contains("st.shared.b32") && ptx.contains("ld.shared.b32"), "{ptx}");
    for target in ["compute_75", "gfx1100", "cpu"] {
        let artifact = compile("shared", REDUCE, target).unwrap();
        let bytes: Vec<_> =
            artifact.kernels.iter().map(|kernel| kernel.static_shared_bytes).collect();
        assert_eq!(bytes, [1024, 0], "{target}");
    }
}

#[test]
fn only_modules_that_can_panic_have_a_record_and_only_used_locations_are_listed() {
    let quiet = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn fill(value: f32, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}
";
    let artifact = compile("quiet", quiet, "compute_75").unwrap();
    assert!(!artifact.kernels[0].panics && artifact.locations.is_empty(), "{artifact:?}");
    assert!(!String::from_utf8(artifact.bytes).unwrap().contains("panic"));

    let artifact = compile("loud", SAXPY, "compute_75").unwrap();
    assert!(artifact.kernels[0].panics);
    let places: Vec<_> = artifact
        .locations
        .iter()
        .map(|place| format!("{}:{}:{}", place.file, place.line, place.column))
        .collect();
    assert_eq!(places, ["kernels/loud.rs:8:21"]);
    let ptx = String::from_utf8(artifact.bytes).unwrap();
    assert!(ptx.contains("[saxpy_param_5]") && ptx.contains("%gridid"), "{ptx}");
    assert_eq!(count(&ptx, "trap;"), 0, "a panic does not end the context: {ptx}");
}

/// `s_endpgm` ends all lanes of a wave, so a lane that panics must leave by returning: its kernel
/// has the one `s_endpgm` at its end, and no other.
#[test]
fn a_panic_on_amd_does_not_end_the_other_threads_of_its_wave() {
    let artifact = compile("wave", SAXPY, "gfx1100").unwrap();
    // s_endpgm, little-endian. The code is padded with s_code_end, which is another instruction.
    let ends = artifact.bytes.chunks(4).filter(|word| *word == [0x00, 0x00, 0xb0, 0xbf]).count();
    assert_eq!(ends, 1);
}

/// Acceptance: S0.6.
#[test]
fn by_value_structs_are_bytes_of_the_parameter_space() {
    let text = "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    scale: f32,
    weights: [f32; 6],
    count: u64,
}

#[kernel]
pub fn weigh(params: Params, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = params.scale * params.weights[i.get() % 6] + params.count as f32;
    }
}
";
    let ptx = ptx("structs", text);
    assert!(ptx.contains(".param .align 8 .b8 weigh_param_0[40]"), "{ptx}");
    for target in ["gfx90a", "gfx1100", "cpu"] {
        compile("structs", text, target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}

/// Everything of the language at once, on every kind of target: what is not linked, not lowered
/// or not selectable shows as an error.
#[test]
fn the_language_compiles_everywhere() {
    let text = include_str!("language.txt");
    for target in ["compute_75", "compute_90", "gfx90a", "gfx942", "gfx1100", "cpu"] {
        let artifact =
            compile("language", text, target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), 9, "{target}");
    }
}

#[test]
fn ptxas_takes_the_code_of_every_architecture() {
    let Some(_) = test_support::tool::nvidia("ptxas") else { return };
    for target in ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120f"] {
        let artifact =
            compile("reduce", REDUCE, target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kind, ArtifactKind::Cubin);
        assert!(artifact.bytes.starts_with(b"\x7fELF"), "{target}");
    }
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    let (source, lowered) = lower("same", REDUCE);
    for target in ["compute_75", "gfx1100", "cpu"] {
        let config = Config::new(target.parse().unwrap());
        let job = job("same", &source, &lowered, &config);
        let [first, second] = [(); 2].map(|()| compiler().compile(&job).unwrap());
        assert_eq!(first, second, "{target}");
    }
    let again = compiler().lower_rust(&source).unwrap();
    assert_eq!(lowered.modules, again.modules);
}

/// Everything that can change the bytes besides the source is in the version, kernelmill's own
/// sources among it: a store outlives many states of a checkout.
#[test]
fn the_version_names_the_tools_and_the_compilers_own_state() {
    let version = compiler().version();
    for part in [env!("CARGO_PKG_VERSION"), "rustc 1.", "LLVM 2", "device ", "host: "] {
        assert!(version.contains(part), "{part} is not in {version}");
    }
    let digest = version.split(['(', ')']).nth(1).unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
}

#[test]
fn no_path_of_the_machine_is_in_the_code() {
    for target in ["compute_75", "gfx1100", "cpu"] {
        let artifact = compile("paths", SAXPY, target).unwrap();
        assert!(!test_support::has_path_of_the_machine(&artifact.bytes), "{target}");
    }
}

#[test]
fn the_files_that_were_read_are_known() {
    let scale = ("scale.rs", "pub fn scale(x: f32) -> f32 { 2.0 * x }");
    let text = SAXPY.replace("a * x[", "scale::scale(a) * x[")
        + "mod scale;\npub const SIZE: Option<&str> = option_env!(\"KERNELMILL_TEST_SIZE\");\n";
    let source = common::source_with("inputs", &text, &[scale]);
    let lowered = common::compiler().lower_rust(&source).unwrap();
    let names: BTreeSet<_> =
        lowered.inputs.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["inputs.rs", "scale.rs"]));
    assert_eq!(lowered.variables, ["KERNELMILL_TEST_SIZE"]);
}

/// rustc's own temporary files are named after the crate, and lay in the current folder.
#[test]
fn files_of_one_name_are_compiled_at_once() {
    let text = "use kernelmill_device::prelude::*;\n#[kernel] pub fn twin(mut y: DisjointSlice<f32>) \
                { if let Some(y) = y.get_mut(thread::index_1d()) { *y += 1.0; } }";
    let source = common::source("twins", text);
    let lower = || {
        for _ in 0..4 {
            common::compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(lower))));
}
