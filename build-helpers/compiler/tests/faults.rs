//! What the compiler refuses, as the user sees it.

mod common;

use common::{compile, compiler, source};

fn refused(name: &str, text: &str, target: &str) -> String {
    match compile(name, text, target) {
        Ok(_) => panic!("{name} compiled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_of_rustc_is_passed_on_with_the_users_file_and_line() {
    let text = "use kernelmill_device::prelude::*;\n\n#[kernel]\npub fn bad(mut y: DisjointSlice<f32>) {\n    let wrong: u32 = 1.5;\n}\n";
    let message = compiler().lower_rust(&source("bad", text)).unwrap_err().to_string();
    assert!(message.contains("error[E0308]: mismatched types"), "{message}");
    assert!(message.contains("--> kernels/bad.rs:5:22"), "{message}");
    assert!(message.contains("let wrong: u32 = 1.5;"), "{message}");
}

/// Acceptance: S0.11.
#[test]
fn the_heap_and_the_operating_system_are_refused_with_all_their_places() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn heap(n: u32, mut y: DisjointSlice<f32>) {
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = values[n as usize / 2];
    }
}

#[kernel]
pub fn system(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = std::process::id();
    }
}
";
    for target in ["compute_75", "gfx1100", "cpu"] {
        let message = refused("host", text, target);
        assert!(
            message.starts_with(&format!("a kernel cannot be compiled for {target}:")),
            "{message}"
        );
        assert_eq!(message.contains("allocates on the heap"), target == "gfx1100", "{message}");
        assert!(message.contains("calls `std::process::id`"), "{message}");
    }
}

#[test]
fn a_barrier_that_cannot_be_part_of_the_kernel_is_refused_on_the_cpu() {
    let text = "
use kernelmill_device::prelude::*;

fn descend(n: u32) -> u32 {
    thread::sync_threads();
    if n == 0 { 0 } else { 1 + descend(n - 1) * 3 + descend(n / 2) }
}

#[kernel]
pub fn recursive(n: u32, mut y: DisjointSlice<u32>) {
    let depth = descend(n);
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = depth;
    }
}
";
    let message = refused("recursive", text, "cpu");
    assert!(message.contains("barrier or a warp-level primitive"), "{message}");
    assert!(message.contains("--> kernels/recursive.rs:4, in `recursive::descend`"), "{message}");
    assert!(
        message.contains("from kernels/recursive.rs:11, in `recursive::recursive`"),
        "{message}"
    );
}

#[test]
fn a_cubin_without_ptxas_says_how_to_get_one() {
    let error = kernelmill_compiler::Error::NoPtxas {
        target: "sm_90a".parse().unwrap(),
        ptx: "compute_90a".into(),
    };
    let message = error.to_string();
    assert!(
        message.contains("cargo kernelmill toolchain install cuda")
            && message.contains("compute_90a"),
        "{message}"
    );
}

#[test]
fn a_target_without_a_way_is_named_with_the_file() {
    let text = "use kernelmill_device::prelude::*;\n#[kernel]\npub fn nothing() {}\n";
    let message = refused("nothing", text, "opencl-c");
    assert_eq!(
        message,
        "kernels/nothing.rs: kernels in Rust cannot be compiled for opencl-c yet; leave the target \
         out"
    );
}

#[test]
fn a_type_that_is_not_what_the_source_seems_to_say_is_an_error_that_names_the_parameter() {
    let text = "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pair {
    a: u32,
    b: u32,
}

#[kernel]
pub fn pairs(pair: Pair, mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = pair.a + pair.b;
    }
}
";
    let mut source = source("pairs", text);
    for (written, read, start) in [
        (
            "b: u32",
            "b: u64",
            "kernels/pairs.rs:12: field `b` of parameter `pair` of kernel `pairs` is read as `b: u64` at \
             byte 8, and rustc compiles `b: u32` at byte 4: ",
        ),
        (
            "repr(C)",
            "repr(C, align(16))",
            "kernels/pairs.rs:12: parameter `pair` of kernel `pairs` has size and alignment (8, 4) in the \
             compiled code, but (16, 16)",
        ),
    ] {
        source.signatures = signature_of(&text.replace(written, read));
        let message = compiler().lower_rust(&source).unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    }
}

fn signature_of(text: &str) -> Vec<kernelmill_artifact::Signature> {
    kernelmill_compiler::frontend::rust::signature::read(text, "kernels/pairs.rs").unwrap()
}

#[test]
fn a_kernel_that_rustc_leaves_out_is_named_with_its_place() {
    let text = "use kernelmill_device::prelude::*;\n#[cfg(target_os = \"none\")]\n#[kernel]\npub fn bare() {}\n";
    let message = refused("bare", text, "compute_75");
    assert!(
        message.starts_with("kernels/bare.rs:4: kernel `bare` is not in the compiled"),
        "{message}"
    );
}

/// Point S0.11: memory at a number. Those of empty slices are none, and neither are those of shared memory.
/// Acceptance: S0.11, S2.9.
#[test]
fn literal_addresses_are_refused_with_their_lines() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn poke(mut y: DisjointSlice<u32>) {
    let register = 0x7f00_1234_0000 as *mut u32;
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = unsafe { register.add(3).read_volatile() };
        let function: extern \"C\" fn() = unsafe { core::mem::transmute(0x5555_0000_usize) };
        if *out == 7 {
            function();
        }
        unsafe { *register.add(*out as usize) = 1 };
    }
}
";
    for target in ["compute_75", "gfx1100", "cpu"] {
        let message = refused("poke", text, target);
        let found = [
            ("uses memory at the literal address 0x7f001234000c", "kernels/poke.rs:8"),
            ("uses memory at the literal address 0x55550000", "kernels/poke.rs:11"),
            ("uses memory at the literal address 0x7f0012340000", "kernels/poke.rs:13"),
        ];
        for (fault, line) in found {
            let after = message.split(fault).nth(1);
            let place = after.and_then(|it| it.split("help").next()).unwrap_or_default();
            assert!(place.contains(line), "{target}: {message}");
        }
    }
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn empty(x: &[u32], mut y: DisjointSlice<u32>) {
    let none: &[u32] = if x.len() > 3 { x } else { &[] };
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = none.iter().sum::<u32>() + none.first().copied().unwrap_or(1);
    }
}
";
    for target in ["compute_75", "gfx1100", "cpu"] {
        compile("empty", text, target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}
