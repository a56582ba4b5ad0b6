//! What kernels call of the standard library: what no device has is refused with its place, and nothing of
//! it ends the compiler.

mod common;

use common::{compile, compiler, job, lower};
use kernelmill_compiler::{Artifact, Config, Error};

/// A kernel with this body, in the fifth line of its file.
fn calls(body: &str, target: &str) -> Result<Artifact, Error> {
    let text = format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn calls(n: u32, mut y: DisjointSlice<u32>) {{
    if let Some(out) = y.get_mut(thread::index_1d()) {{
        {body}
    }}
}}
"
    );
    compile("calls", &text, target)
}

/// What a user reads of a kernel with this body.
fn refused(body: &str, target: &str) -> String {
    match calls(body, target) {
        Ok(_) => panic!("compiled for {target}: {body}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_needs_an_operating_system_is_refused_at_its_place() {
    let bodies = [
        ("*out = std::thread::spawn(move || n).join().unwrap_or(0);", "std::thread"),
        (
            "let (s, r) = std::sync::mpsc::channel(); _ = s.send(n); *out = r.recv().unwrap();",
            "std::sync",
        ),
        ("*out = std::env::args().count() as u32;", "std::env::args"),
    ];
    for (body, called) in bodies {
        for target in ["compute_75", "gfx1100"] {
            let message = refused(body, target);
            let place = "kernels/calls.rs:5, in `calls::calls`";
            assert!(message.starts_with("a kernel cannot be compiled for"), "{message}");
            assert!(message.contains(called) && message.contains(place), "{message}");
            assert!(message.contains("needs an operating system"), "{message}");
            let is_heap = message.contains("allocates on the heap");
            assert!(!is_heap || target == "gfx1100", "{message}");
        }
    }
}

#[test]
fn formatting_into_a_string_is_compiled_where_there_is_a_heap() {
    let body = "*out = format!(\"{}\", n).len() as u32;";
    for target in ["compute_75", "cpu"] {
        calls(body, target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    let message = refused(body, "gfx1100");
    assert!(message.contains("allocates on the heap"), "{message}");
}

/// LLVM makes `calloc` of `malloc` and `memset`, and `strlen` and `memchr` of loops, where C's library has them.
#[test]
fn what_llvm_makes_calls_of_the_c_library_is_compiled_for_every_target() {
    let zeroed = "let v = vec![0_u8; n as usize]; *out = u32::from(v[n as usize / 2]);";
    for target in ["cpu", "compute_75"] {
        calls(zeroed, target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    let text = "use kernelmill_device::prelude::*;
#[kernel]
pub fn lengths(x: &[u8], mut y: DisjointSlice<u64>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        let start = x.as_ptr();
        let mut end = start;
        // SAFETY: there is a zero.
        unsafe {
            while *end != 0 {
                end = end.add(1);
            }
            *out = end.offset_from(start) as u64;
        }
    }
}
";
    for target in ["cpu", "compute_75", "gfx1100"] {
        compile("lengths", text, target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}

/// Without `cleanup` nothing else removes landing pads, and passes that replace calls would leave blocks
/// without an end.
#[test]
fn no_stage_sees_code_that_unwinds() {
    let text = "use kernelmill_device::prelude::*;
#[kernel]
pub fn drops(x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        let kept = Box::new(x[0]);
        assert!(x[1] < 7, \"{} is too large\", x[1]);
        *out = *kept + x[2];
    }
}
";
    let (source, lowered) = lower("drops", text);
    for off in [&["cleanup"][..], &["optimize", "cleanup"], &["optimize", "cleanup", "libraries"]] {
        let mut config = Config::new("compute_75".parse().unwrap());
        off.iter().chain(&["validate"]).for_each(|name| config.options.set(name, "false").unwrap());
        let text = compiler().inspect(&job("drops", &source, &lowered, &config)).unwrap();
        assert!(!text.contains(" invoke ") && !text.contains("landingpad"), "{off:?}: {text}");
    }
}
