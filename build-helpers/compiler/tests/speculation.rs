//! Conditions and checks that unmasked bodies speculate on: what is left of them in the code.

mod common;

use common::code;

/// So many times a text is in another.
fn count(code: &str, text: &str) -> usize {
    code.matches(text).count()
}

/// Accesses under a mask, and calls that write down a panic.
fn masks_and_panics(code: &str) -> (usize, usize) {
    let calls = |text: &str| {
        code.lines().filter(|line| line.contains("call ") && line.contains(text)).count()
    };
    (calls("@llvm.masked."), calls("@__kernelmill_panic"))
}

/// A kernel around some statements, of elements `out` at `i`.
fn kernel(statements: &str) -> String {
    format!(
        "#[kernel]\npub fn some(n: u32, x: &[u32], mut y: DisjointSlice<u32>) {{\n    \
         let i = thread::index_1d();\n    let t = thread::thread_idx().x;\n    \
         if let Some(out) = y.get_mut(i) {{\n    let i = i.get();\n    {statements}\n    }}\n}}\n"
    )
}

#[test]
fn full_groups_of_a_stencil_have_no_masks_and_no_panics() {
    let text = include_str!("../../../benches/cpu-bench/kernels/stencil.rs");
    let text = text.replace("use kernelmill_device::prelude::*;", "");
    let [full, any] = code("speculated_stencil", &text);
    assert_eq!(masks_and_panics(&full), (0, 0), "{full}");
    let (masks, panics) = masks_and_panics(&any);
    assert!(masks > 0 && panics > 0, "{any}");
}

/// Each comparison is one of the number in the first lane, with a limit that loops over groups need
/// compute once.
#[test]
fn checks_of_one_number_but_for_constants_are_one() {
    let sums = |text: &str| code("speculated_row", &kernel(&format!("*out = {text};")))[0].clone();
    let limits = |code: &str| count(code, "call i64 @llvm.usub.sat.i64(");
    let once = limits(&sums("x[i]"));
    assert!(once > 0);
    assert_eq!(limits(&sums("x[i] + x[i + 2] + x[i + 1] + x[i.wrapping_sub(3)]")), once);
    assert_eq!(
        limits(&sums("x[i] + x[i + 2] + x[i + n as usize]")),
        limits(&sums("x[i] + x[i + n as usize]"))
    );
    assert!(limits(&sums("x[i] + x[i + n as usize]")) > once);
}

/// What has changed memory cannot be started again.
#[test]
fn checks_after_a_change_of_memory_panic_themselves() {
    let atomic = "unsafe { core::sync::atomic::AtomicU32::from_ptr(out) }\
                  .fetch_add(1, core::sync::atomic::Ordering::Relaxed);";
    let [full, _] =
        code("speculated_before", &kernel(&format!("let own = x[i];\n{atomic}\n *out = own;")));
    assert_eq!(masks_and_panics(&full), (0, 0), "{full}");
    let [full, _] = code("speculated_after", &kernel(&format!("{atomic}\n *out += x[i];")));
    assert_eq!(
        masks_and_panics(&full).1,
        if cfg!(target_arch = "x86_64") { 2 } else { 1 },
        "{full}"
    );
    // Nor in a loop that does so.
    let [full, _] = code(
        "speculated_loop",
        &kernel(&format!(
            "for k in 0..n as usize {{ let own = x[i + k];\n{atomic}\n *out = own; }}"
        )),
    );
    assert!(masks_and_panics(&full).1 > 0, "{full}");
}

/// In each block some vector has threads on both sides of a condition on the thread alone, and in every
/// iteration some vector of one on a loop's counter.
#[test]
fn only_conditions_on_the_place_in_the_launch_are_speculated_on() {
    let masks = |name: &str, text: &str| masks_and_panics(&code(name, &kernel(text))[0]).0;
    let read = |condition: &str| format!("if {condition} {{ *out = x[i] }}");
    assert_eq!(masks("speculated_place", &read("i as u32 > n")), 0);
    assert_eq!(masks("speculated_both", &read("i > 5 && i as u32 != n")), 0);
    assert!(masks("speculated_thread", &read("t > n")) > 0);
    assert!(masks("speculated_data", &read("x[i] > n")) > 0);
    let iteration = format!("for k in 0..n {{ {} }}", read("k < i as u32"));
    assert!(masks("speculated_iterations", &iteration) > 0);
}

#[test]
fn narrow_places_are_gathered_as_they_are() {
    let gather = |ty: &str| {
        let text = format!(
            "#[kernel]
            pub fn gather(places: &[{ty}], x: &[f32], mut y: DisjointSlice<f32>) {{
                let i = thread::index_1d();
                if let Some(out) = y.get_mut(i) {{ *out = x[places[i.get()] as usize] }}
            }}"
        );
        code(&format!("speculated_gather_{ty}"), &text)
    };
    let [full, any] = gather("u32");
    assert!(full.contains("sext <") && !any.contains("sext <"), "{full}");
    assert_eq!(masks_and_panics(&full).1, 0, "{full}");
    let [full, _] = gather("u64");
    assert!(!full.contains("sext <"), "{full}");
}

/// Numbers that differ by constants wrap in the same groups, or nearly so.
#[test]
fn extensions_of_numbers_that_differ_by_constants_are_asked_for_once() {
    let asks = |name: &str, sum: &str| {
        let text = format!(
            "#[kernel]
            pub fn wraps(n: u32, m: u32, x: &[f32], mut y: DisjointSlice<f32>) {{
                let i = thread::index_1d();
                let Some(out) = y.get_mut(i) else {{ return }};
                let t = thread::thread_idx().x + thread::block_idx().x * thread::block_dim().x;
                let (j, at) = (t + n, |j: u32| unsafe {{ *x.get_unchecked(j as usize) }});
                *out = {sum};
            }}"
        );
        let [full, _] = code(name, &text);
        assert_eq!(masks_and_panics(&full), (0, 0), "{full}");
        count(&full, "icmp ule i32 ")
    };
    let once = asks("wraps_once", "at(j)");
    assert!(once > 0);
    assert_eq!(asks("wraps_near", "at(j - 1) + at(j + 1) + at(j)"), once);
    assert_eq!(asks("wraps_apart", "at(j) + at(j + m)"), 2 * once);
}

/// An index of which the computation is too long to do it at the start as well.
#[test]
fn extensions_that_the_start_does_not_ask_for_are_asked_for_where_they_are() {
    let read = "let j = i as u32 + n;\n *out = unsafe { *x.get_unchecked(j as usize) };";
    let [full, any] = code("wraps_late", &kernel(read));
    assert_eq!(masks_and_panics(&full), (0, 0), "{full}");
    assert!(any.contains("@llvm.masked.gather."), "{any}");
}
