//! Which road kernels take on the CPU, and what their code is made of.

mod common;

use common::compile;

/// The roads of the kernels in a text, by name.
fn roads(name: &str, text: &str) -> Vec<(String, String)> {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    let artifact = compile(name, &text, "cpu").unwrap_or_else(|error| panic!("{error}"));
    artifact.kernels.into_iter().map(|kernel| (kernel.name, kernel.road.unwrap())).collect()
}

fn road(name: &str, text: &str) -> String {
    roads(name, text).remove(0).1
}

/// A kernel around some statements; `t` is the thread, `n` a parameter, `TILE` shared memory.
fn kernel(name: &str, statements: &str) -> String {
    format!(
        "#[kernel]\npub fn {name}(n: u32, mut y: DisjointSlice<u32>) {{\n    \
         static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;\n    \
         let i = thread::index_1d();\n    let t = thread::thread_idx().x;\n    \
         unsafe {{ TILE[t as usize] = t; }}\n    {statements}\n    \
         if let Some(out) = y.get_mut(i) {{ *out += unsafe {{ TILE[63 - t as usize] }}; }}\n}}\n"
    )
}

const GROUPS: &str = if cfg!(target_arch = "x86_64") {
    "threads in groups of 8, 16"
} else {
    "threads in groups of 4"
};

#[test]
fn a_kernel_without_barriers_is_a_loop_over_groups() {
    let found = road("road_loop", &kernel("plain", ""));
    assert_eq!(found, format!("loop: no thread waits for another, {GROUPS}"));
}

#[test]
fn uniform_barriers_cut_a_kernel_into_regions() {
    let once = kernel("once", "thread::sync_threads();");
    assert_eq!(road("road_once", &once), format!("regions: 1 barrier, uniform, {GROUPS}"));
    let looped = kernel(
        "looped",
        "for round in 0..n {\n thread::sync_threads();\n if t > round { unsafe { TILE[t as usize] += 1 } }\n\
         thread::sync_threads();\n }",
    );
    assert_eq!(road("road_looped", &looped), format!("regions: 2 barriers, all uniform, {GROUPS}"));
    let rows = kernel("rows", "if n > 7 { thread::sync_threads(); }");
    assert_eq!(road("road_rows", &rows), format!("regions: 1 barrier, uniform, {GROUPS}"));
}

#[test]
fn barriers_that_depend_on_the_thread_make_coroutines() {
    for (name, statements) in [
        ("road_branch", "if t < n { thread::sync_threads(); }"),
        ("road_exit", "if t >= n { return; }\n thread::sync_threads();"),
        ("road_trips", "for _ in 0..t { thread::sync_threads(); }"),
        ("road_data", "if unsafe { TILE[(t as usize + 1) % 64] } > n { thread::sync_threads(); }"),
    ] {
        let found = road(name, &kernel("apart", statements));
        assert_eq!(
            found,
            "coroutine: the barrier is under a branch, or after an exit, that depends on the thread",
            "{statements}"
        );
    }
    let some = kernel("some", "thread::sync_threads();\n if t < n { thread::sync_threads(); }");
    let expected = "coroutine: 1 of 2 barriers are under a branch, or after an exit, that depends \
                    on the thread";
    assert_eq!(road("road_some", &some), expected);
}

/// A panic that formats its message calls functions that can panic themselves.
#[test]
fn panics_with_messages_leave_barriers_uniform() {
    let text = include_str!("../../../benches/cpu/kernels/softmax.rs");
    let artifact = compile("road_softmax", text, "cpu").unwrap_or_else(|error| panic!("{error}"));
    let found = artifact.kernels[0].road.as_deref();
    assert_eq!(found, Some(&*format!("regions: 5 barriers, all uniform, {GROUPS}")));
}

#[test]
fn operations_of_warps_make_coroutines() {
    let found = road("road_warp", &kernel("shuffled", "let t = warp::shuffle_down(t, 1);"));
    assert_eq!(found, "coroutine: operations of warps");
}

/// A thread that waits for another of its group would wait for ever while both go in step.
#[test]
fn a_loop_that_waits_for_memory_is_run_one_thread_after_the_other() {
    let text = "
use core::sync::atomic::{AtomicU32, Ordering};
#[kernel]
pub fn turns(mut gate: DisjointSlice<u32>) {
    let gate = unsafe { AtomicU32::from_ptr(gate.get_unchecked_mut(0)) };
    while gate.load(Ordering::Acquire) < thread::thread_idx().x {}
    gate.fetch_add(1, Ordering::Release);
}
";
    let found = road("road_spin", text);
    assert_eq!(
        found,
        "loop: no thread waits for another, one thread after the other: a loop that threads leave \
         in different rounds has atomic operations"
    );
}
