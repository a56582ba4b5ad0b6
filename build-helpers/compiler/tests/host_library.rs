//! What kernels call of the standard library: what no device has is refused with its place, and nothing of
//! it ends the compiler.

mod common;

use common::compile;
use kernelmill_compiler::{Artifact, Error};

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
            assert!(message.starts_with("a kernel does what"), "{message}");
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
