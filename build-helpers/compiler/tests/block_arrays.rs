//! Block arrays: shared memory of safe code costs what shared memory by hand does.

mod common;

use common::{compile, compile_with, ptx};
use kernelmill_compiler::{PanicLevel, Params};

/// The number of the operations and declarations in PTX: a shift may be a multiplication.
fn operations(ptx: &str) -> usize {
    let words = ptx.lines().filter_map(|line| line.split_whitespace().next());
    let left_out = ["//", "$L__tmp", ".loc", ".file", ".section"];
    words.filter(|word| !left_out.iter().any(|it| word.starts_with(it))).count()
}

const SAFE: &str = "
use kernelmill_device::prelude::*;

#[kernel(block_size = [256, 1, 1])]
pub fn reverse(x: &[f32], mut tile: BlockArray<f32, 256>, mut y: DisjointSlice<f32>) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    tile.write(own, if let Some(x) = x.get(i.get()) { *x } else { 0.0 });
    let tile = tile.sync();
    if let Some(y) = y.get_mut(i) {
        *y = tile[255 - own.get()];
    }
}
";

const BY_HAND: &str = "
use kernelmill_device::prelude::*;

#[kernel(block_size = [256, 1, 1])]
#[inline(always)]
pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::block_index().get());
    // SAFETY: each thread writes its own element before the barrier, and all are read after it.
    unsafe {
        TILE[t] = if let Some(x) = x.get(i.get()) { *x } else { 0.0 };
        thread::sync_threads();
        if let Some(y) = y.get_mut(i) {
            *y = TILE[255 - t];
        }
    }
}
";

#[test]
fn a_block_array_costs_nothing_over_shared_memory_by_hand() {
    let [safe, by_hand] = [SAFE, BY_HAND].map(|text| ptx("reverse", text));
    assert_eq!(operations(&safe), operations(&by_hand), "{safe}{by_hand}");
    assert_eq!(safe.matches("st.shared").count(), 1, "{safe}");
    for target in ["cpu", "gfx1100", "compute_90"] {
        let sizes = |text| {
            let artifact = compile("reverse", text, target).unwrap();
            artifact.kernels.iter().map(|it| it.static_shared_bytes).collect::<Vec<_>>()
        };
        assert_eq!(sizes(SAFE), [1024], "{target}");
        assert_eq!(sizes(SAFE), sizes(BY_HAND), "{target}");
    }
}

/// A kernel with two block arrays, whose phases the body changes.
fn kernel(body: &str) -> String {
    format!(
        "use core::sync::atomic::{{AtomicU32, Ordering}};
use kernelmill_device::{{block_array::sync, prelude::*}};

#[kernel(block_size = [64, 1, 1])]
pub fn phases(
    x: &[u32],
    n: u32,
    flag: &[AtomicU32],
    mut a: BlockArray<u32, 64>,
    mut b: BlockArray<u32, 64>,
    mut y: DisjointSlice<u32>,
) {{
    let (i, own) = (thread::index_1d(), thread::block_index());
    let t = own.get();
    {body}
}}
"
    )
}

/// Targets of each kind.
const TARGETS: [&str; 4] = ["cpu", "compute_75", "sm_90", "gfx1100"];

#[track_caller]
fn refused(body: &str, targets: &[&str], line: u32, part: &str) {
    let text = kernel(body);
    for target in targets {
        let error = match compile("phases", &text, target) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{target} takes\n{text}"),
        };
        let place = format!("kernels/phases.rs:{line}, in `phases");
        assert!(error.contains("[KM0112] kernel `phases` has block arrays"), "{target}: {error}");
        assert!(error.contains(&place), "{target}: {place} not in {error}");
        assert!(error.contains(part), "{target}: {error}");
    }
}

#[track_caller]
fn accepted(body: &str, targets: &[&str]) {
    let text = kernel(body);
    for target in targets {
        if let Err(error) = compile("phases", &text, target) {
            panic!("{target}: {error}\n{text}");
        }
    }
}

const WRITE: &str = "if let Some(y) = y.get_mut(i) { *y = v[63 - t]; }";

/// The first line of a body.
const FIRST: u32 = 15;

/// The kernels of this repository that have block arrays.
#[test]
fn kernels_of_the_tests_and_examples_are_accepted() {
    for (name, text) in [
        ("matmul", include_str!("../../../examples/matmul/kernels/matmul.rs")),
        ("shared", include_str!("../../../tests/conformance/kernels/shared.rs")),
    ] {
        for target in ["cpu", "compute_75", "gfx1100"] {
            if let Err(error) = compile(name, text, target) {
                panic!("{target}: {error}");
            }
        }
    }
}

#[test]
fn threads_at_different_barriers_are_refused() {
    let differs = "the condition of the branch at kernels/phases.rs:15 differs between threads";
    // The report: half of the threads read what the other half writes behind another barrier.
    let body = format!(
        "if t < 32 {{\nlet v = a.sync();\n{WRITE}\n}} else {{\nthread::sync_threads();\na.write(own, 1);\n}}"
    );
    refused(&body, &TARGETS, FIRST + 1, differs);
    // One more barrier on the way of some.
    let body = format!(
        "if x[t] > 3 {{\nthread::sync_threads();\n}}\nlet v = a.sync();\n{WRITE}\nlet mut a = v.sync();\na.write(own, 7);"
    );
    refused(&body, &TARGETS, FIRST + 1, differs);
    // Two arrays on two ways: one barrier, were they merged.
    let body = format!(
        "if t % 2 == 0 {{\nlet v = a.sync();\n{WRITE}\n}} else {{\nlet v = b.sync();\na.write(own, 1);\n{WRITE}\n}}"
    );
    refused(&body, &TARGETS, FIRST + 1, differs);
    // The same array on two ways.
    let body = format!(
        "let v = if t % 2 == 0 {{\na.write(own, 1);\na.sync()\n}} else {{\na.sync()\n}};\n{WRITE}"
    );
    refused(&body, &TARGETS, FIRST + 2, differs);
}

#[test]
fn loops_of_different_lengths_are_refused() {
    let body = "for _ in 0..t {\nlet v = a.sync();\nb.write(own, v[0]);\na = v.sync();\na.write(own, 1);\n}\nlet v = a.sync();\nb.write(own, v[1]);";
    refused(body, &TARGETS, FIRST + 1, "differs between threads");
    let atomic = "while flag[0].load(Ordering::Relaxed) == 0 {\nlet v = a.sync();\nb.write(own, v[0]);\na = v.sync();\n}\nlet v = a.sync();\nb.write(own, v[1]);";
    refused(atomic, &TARGETS, FIRST + 1, "differs between threads");
    let data = "let mut k = x[t];\nwhile k > 0 {\nlet v = a.sync();\nb.write(own, v[0]);\na = v.sync();\nk /= 2;\n}\nlet v = a.sync();\nb.write(own, v[1]);";
    refused(data, &TARGETS, FIRST + 2, "differs between threads");
}

#[test]
fn a_barrier_on_the_way_to_a_panic_is_refused() {
    let body =
        format!("if t == 3 {{\nlet v = a.sync();\n{WRITE}\npanic!(\"no\");\n}}\na.write(own, 3);");
    refused(&body, &TARGETS, FIRST + 1, "only threads that panic afterwards");
}

#[test]
fn barriers_in_recursion_are_refused() {
    let body = "#[inline(never)]\nfn rec(n: u32) { thread::sync_threads(); if n > 0 { rec(n - 1) } }\nrec(n);\nlet v = a.sync();\nb.write(own, v[0]);";
    let text = kernel(body);
    for target in ["compute_75", "gfx1100"] {
        let error = compile("phases", &text, target).unwrap_err().to_string();
        assert!(error.contains("[KM0112] kernel `phases` has block arrays"), "{target}: {error}");
        assert!(error.contains("calls itself"), "{target}: {error}");
    }
}

#[test]
fn what_all_threads_of_a_block_agree_on_is_accepted() {
    // Parameters, the block's index, elements of slices at one index, and of a view.
    for condition in ["n > 3", "x[0] > n", "thread::block_idx().x < n", "x.len() > 7"] {
        let body = format!(
            "if {condition} {{\nb.write(own, x[t]);\nlet v = b.sync();\na.write(own, v[63 - t]);\n}}\nlet v = a.sync();\n{WRITE}"
        );
        accepted(&body, &TARGETS);
    }
    let body = format!(
        "a.write(own, n);\nlet mut v = a.sync();\nwhile v[0] > 0 {{\nlet k = v[t] / 2;\na = v.sync();\na.write(own, k);\nv = a.sync();\n}}\n{WRITE}"
    );
    accepted(&body, &TARGETS);
    // Checks that may panic, and threads that leave first.
    let body = format!(
        "if i.get() >= x.len() {{\nreturn;\n}}\na.write(own, x[i.get() * 2]);\nlet v = a.sync();\n{WRITE}"
    );
    accepted(&body, &TARGETS);
    // Barriers in functions, and under an option.
    let body = format!(
        "fn swap<'a>(a: BlockArray<'a, u32, 64>) -> BlockArray<'a, u32, 64> {{ let v = a.sync(); v.sync() }}\nfor _ in 0..n {{\na = swap(a);\n}}\nlet v = a.sync();\n{WRITE}"
    );
    accepted(&body, &TARGETS);
}

/// On AMD's GPUs the threads of a wave that leave a loop may go on behind the loop.
#[test]
fn shared_memory_on_the_way_out_is_refused_where_threads_leave_as_a_group() {
    let body = "a.write(own, x[t]);\nlet mut v = a.sync();\nfor k in 0..n {\nif x[t] == k {\nif let Some(y) = y.get_mut(i) { *y = v[63 - t]; }\nreturn;\n}\na = v.sync();\na.write(own, k);\nv = a.sync();\n}";
    refused(
        body,
        &["gfx1100", "gfx90a"],
        FIRST + 4,
        "threads that exit early use shared memory here",
    );
    accepted(body, &["cpu", "compute_75"]);
}

/// The warnings of a kernel with this body, without its file.
fn warnings(body: &str, target: &str) -> Vec<String> {
    let artifact = compile("phases", &kernel(body), target).unwrap();
    let place = |warning: &String| warning.split(": ").next().unwrap().to_owned();
    for warning in &artifact.warnings {
        let text = "threads of kernel `phases` exit here before they have written to a block array, so the other threads \
                read zeros in place of their elements; write the element before the exit, with a zero where zero is intended";
        assert!(warning.ends_with(text), "{target}: {warning}");
    }
    artifact.warnings.iter().map(place).collect()
}

#[test]
fn threads_that_return_before_they_write_are_warned_of() {
    let rest = format!("a.write(own, x[t]);\nlet v = a.sync();\n{WRITE}");
    let of_line = |line: u32| vec![format!("kernels/phases.rs:{}", FIRST + line)];
    let value = "let Some(&value) = x.get(i.get()) else { return };";
    for (body, line) in [
        (format!("if i.get() >= x.len() {{\nreturn;\n}}\n{rest}"), 0),
        (format!("let k = n + 1;\n{value}\nb.write(own, value + k);\n{rest}"), 1),
        // One that writes to global memory, and one in a loop before the first barrier.
        (
            format!(
                "if t > n as usize {{\nif let Some(y) = y.get_mut(i) {{ *y = 3; }}\nreturn;\n}}\n{rest}"
            ),
            0,
        ),
        (format!("for k in 0..n {{\nif x[i.get() + k as usize] == 7 {{ return; }}\n}}\n{rest}"), 1),
    ] {
        for target in TARGETS {
            assert_eq!(warnings(&body, target), of_line(line), "{target}: {body}");
        }
    }
}

#[test]
fn threads_that_return_after_they_write_are_not_warned_of() {
    let write = "a.write(own, if i.get() < x.len() { x[i.get()] } else { 0 });";
    let leave = "if i.get() >= x.len() {\nreturn;\n}";
    for body in [
        // After the barrier, as the book says; before it, but behind the write; and a write on the way out.
        format!("{write}\nlet v = a.sync();\n{leave}\n{WRITE}"),
        format!("{write}\n{leave}\nlet v = a.sync();\n{WRITE}"),
        format!(
            "if i.get() >= x.len() {{\na.write(own, 0);\nreturn;\n}}\n{write}\nlet v = a.sync();\n{WRITE}"
        ),
        // A zero that is meant.
        format!("a.write(own, 0);\n{leave}\n{write}\nlet v = a.sync();\n{WRITE}"),
        // Whole blocks, and panics.
        format!(
            "if thread::block_idx().x > n {{\nreturn;\n}}\n{write}\nlet v = a.sync();\n{WRITE}"
        ),
        format!("assert!(x[t] < n);\n{write}\nlet v = a.sync();\n{WRITE}"),
        // In a later round.
        format!(
            "{write}\nlet v = a.sync();\na = v.sync();\n{leave}\n{write}\nlet v = a.sync();\n{WRITE}"
        ),
    ] {
        // On AMD's GPUs a write on the way out is refused.
        for target in ["cpu", "compute_75", "sm_90"] {
            assert_eq!(warnings(&body, target), [""; 0], "{target}: {body}");
        }
    }
}

#[test]
fn panics_without_messages_are_not_taken_for_returns() {
    let body = format!("assert!(x[t] < n);\na.write(own, 1);\nlet v = a.sync();\n{WRITE}");
    for panics in [PanicLevel::None, PanicLevel::Message, PanicLevel::Backtrace] {
        for target in TARGETS {
            let params = Params { panics, ..Params::default() };
            let artifact = compile_with("phases", &kernel(&body), target, params).unwrap();
            assert_eq!(artifact.warnings, [""; 0], "{target}, {panics:?}");
        }
    }
}
