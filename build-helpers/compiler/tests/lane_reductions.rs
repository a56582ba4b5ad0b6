//! Atomic operations of all threads of a vector on one address: one operation for the vector, or one for each thread.

mod common;

use common::code;

/// The atomic operations and the reductions of lanes in the vector code of a kernel around some statements, of which there are
/// `out` at the thread's own index, `one` at a place that all threads share, and an atomic number at each.
fn counts(name: &str, statements: &str) -> [[usize; 2]; 2] {
    let text = format!(
        "use core::sync::atomic::{{AtomicU32, Ordering::*}};\n\
         #[kernel]\npub fn some(n: u32, x: &[u32], one: &[AtomicU32], mut y: DisjointSlice<u32>) {{\n    \
         let i = thread::index_1d();\n    let own = i.get();\n    \
         if let Some(out) = y.get_mut(i) {{\n    let value = unsafe {{ *x.get_unchecked(own) }};\n    \
         let at = |j: usize| unsafe {{ one.get_unchecked(j) }};\n    {statements}\n    *out = value;\n    }}\n}}\n"
    );
    code(name, &text).map(|code| {
        let lines = |part: &str| code.lines().filter(|line| line.contains(part)).count();
        let widths = if cfg!(target_arch = "x86_64") { 2 } else { 1 };
        let of_calls =
            code.lines().filter(|it| it.contains("call ") && it.contains("llvm.vector.reduce"));
        let reductions = of_calls.count();
        assert_eq!([lines("atomicrmw") % widths, reductions % widths], [0; 2], "{code}");
        [lines("atomicrmw") / widths, reductions / widths]
    })
}

#[test]
fn one_address_has_one_operation() {
    let found = counts("lanes_one", "at(3).fetch_add(value, Relaxed);");
    assert_eq!(found, [[1, 1]; 2]);
    let found = counts("lanes_place", "at(n as usize).fetch_max(value, Relaxed);");
    assert_eq!(found, [[1, 1]; 2]);
    let found = counts("lanes_some", "if value & 1 == 0 { at(3).fetch_xor(value, Relaxed); }");
    assert_eq!(found, [[1, 1]; 2]);
    // How many threads there are is enough.
    let found = counts("lanes_count", "at(3).fetch_add(1, Relaxed);");
    assert_eq!(found, [[1, 0]; 2]);
}

/// The operation for each thread is in a loop over the lanes, and once for each of them where all are there.
#[test]
fn other_operations_are_done_for_each_thread() {
    for (name, statements) in [
        ("lanes_own", "at(own).fetch_add(value, Relaxed);"),
        ("lanes_places", "at(value as usize % 7).fetch_add(value, Relaxed);"),
        ("lanes_used", "let value = at(3).fetch_add(value, Relaxed);"),
        ("lanes_order", "at(3).fetch_add(value, AcqRel);"),
        ("lanes_swap", "at(3).swap(value, Relaxed);"),
    ] {
        let [_, [_, reductions]] = counts(name, statements);
        assert_eq!(reductions, 0, "{statements}");
    }
}
