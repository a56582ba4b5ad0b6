//! Thread-local variables: a kernel's threads are no threads of the host, on no target.

mod common;

use common::compile;

/// A kernel around some statements, and the items before it.
fn kernel(items: &str, statements: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;
use std::cell::{{Cell, RefCell}};
{items}
#[kernel]
pub fn counts(mut y: DisjointSlice<u32>) {{
    if let Some(out) = y.get_mut(thread::index_1d()) {{
        {statements}
    }}
}}
"
    )
}

#[test]
fn thread_local_variables_are_refused_for_every_target_with_file_line_and_help() {
    let counter = "std::thread_local! { static CALLS: Cell<u32> = const { Cell::new(0) }; }";
    let text = kernel(counter, "CALLS.set(CALLS.get() + 1); *out = CALLS.get();");
    for target in ["cpu", "compute_75", "gfx1100"] {
        let message = compile("local", &text, target).unwrap_err().to_string();
        let what = "uses a thread-local variable of the host";
        assert!(message.contains(what), "{target}: {message}");
        assert!(message.contains("kernels/local.rs:7, in `local::counts`"), "{target}: {message}");
        assert!(
            message.contains("help: use a local variable, or shared memory"),
            "{target}: {message}"
        );
    }
}

/// Behind a function, with a value that is dropped, and one that no kernel reads.
#[test]
fn every_way_to_a_thread_local_variable_is_refused_on_the_cpu() {
    let boxed = "std::thread_local! { static KEPT: RefCell<Option<Box<u32>>> = const { RefCell::new(None) }; }
#[inline(never)] fn keep(x: u32) { KEPT.with(|kept| *kept.borrow_mut() = Some(Box::new(x))) }";
    let lazy =
        "std::thread_local! { static LAZY: Cell<u32> = Cell::new(std::hint::black_box(3)); }";
    for (items, statements) in
        [(boxed, "keep(*out);"), (lazy, "*out = LAZY.get();"), (lazy, "LAZY.set(*out);")]
    {
        let message = compile("local", &kernel(items, statements), "cpu").unwrap_err().to_string();
        let what = "uses a thread-local variable of the host";
        assert!(message.contains(what), "{statements}: {message}");
        assert!(message.contains("kernels/local.rs:"), "{statements}: {message}");
    }
    compile("unused", &kernel(lazy, "*out = 1;"), "cpu").unwrap();
}
