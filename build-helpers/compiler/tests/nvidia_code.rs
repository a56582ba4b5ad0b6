//! What PTX is made of things that nvcc makes better PTX of than LLVM alone would.

mod common;

use common::ptx;

/// The instructions of PTX whose names start like this.
fn count(ptx: &str, name: &str) -> usize {
    ptx.lines().filter(|line| line.trim_start().starts_with(name)).count()
}

/// A kernel that adds up the parts of all elements of a tile, each a struct of so many numbers, from a first on.
fn of_tile(parts: usize, first: &str) -> String {
    let names = &["a", "b", "c", "d"][..parts];
    let fields: String = names.iter().map(|name| format!("{name}: f32, ")).collect();
    let values: String = names.iter().map(|name| format!("{name}: 1.0, ")).collect();
    let sum: Vec<String> = names.iter().map(|name| format!("other.{name}")).collect();
    let sum = sum.join(" * ");
    format!(
        "use kernelmill_device::prelude::*;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {{ {fields} }}
#[kernel]
pub fn of_tile(mut y: DisjointSlice<f32>) {{
    static mut TILE: SharedArray<Part, 64> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize % 64;
    // SAFETY: the tile is written before the barrier, and read after it.
    let tile = unsafe {{ &raw mut TILE[0] }};
    unsafe {{ *tile.add(t) = Part {{ {values} }} }};
    thread::sync_threads();
    let mut sum = 0.0;
    let mut at = {first};
    while at < 64 {{
        // SAFETY: as above.
        let other = unsafe {{ *tile.add(at) }};
        sum += {sum};
        at += 1;
    }}
    if let Some(out) = y.get_mut(thread::index_1d()) {{
        *out = sum;
    }}
}}
"
    )
}

#[test]
fn four_numbers_side_by_side_in_shared_memory_are_read_at_once() {
    let text = ptx("of_tile", &of_tile(4, "0"));
    assert!(count(&text, "ld.shared.v4.b32") > 0, "{text}");
    assert_eq!(count(&text, "ld.shared.b32"), 0, "{text}");
}

/// Every other element of three numbers lies between multiples of 8 bytes.
#[test]
fn what_is_not_aligned_is_read_one_by_one() {
    let text = ptx("of_tile", &of_tile(3, "t"));
    assert_eq!(count(&text, "ld.shared.v"), 0, "{text}");
    assert!(count(&text, "ld.shared.b32") >= 3, "{text}");
}

/// A kernel with a loop over an iterator, whose first iteration is another one.
const ITERATES: &str = "use kernelmill_device::prelude::*;
#[kernel]
pub fn of_range(count: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let mut sum = 0.0;
        for (distance, value) in x.iter().take(17).enumerate() {
            sum += value * distance as f32;
            if distance > 0 {
                sum *= *value;
            }
        }
        *out = sum + count as f32;
    }
}
";

/// Without the value on the edge each iteration selects the next number.
#[test]
fn a_loop_over_an_iterator_counts_and_its_first_iteration_is_peeled() {
    let text = ptx("of_range", ITERATES);
    assert_eq!(one_or_none(&text), 0, "{text}");
}

/// The numbers 1 and 0 that a condition is made into.
fn one_or_none(ptx: &str) -> usize {
    ptx.lines().filter(|line| line.contains("selp.b") && line.contains(", 1, 0, ")).count()
}

/// A kernel that converts numbers.
fn conversion(from: &str, to: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn conversion(x: &[{from}], mut y: DisjointSlice<{to}>) {{
    let i = thread::index_1d();
    if let (Some(out), Some(value)) = (y.get_mut(i), x.get(i.get())) {{
        *out = *value as {to};
    }}
}}
"
    )
}

#[test]
fn a_conversion_from_single_precision_to_32_bits_is_one_instruction() {
    for to in ["u32", "i32"] {
        let text = ptx("conversion", &conversion("f32", to));
        assert_eq!(count(&text, "cvt.rzi."), 1, "{text}");
        assert_eq!(count(&text, "selp."), 0, "{text}");
    }
}

/// Their instruction gives the highest bit for what is no number.
#[test]
fn other_conversions_are_tested_for_what_is_no_number() {
    for (from, to) in [("f64", "i32"), ("f32", "i64"), ("f64", "u64")] {
        let text = ptx("conversion", &conversion(from, to));
        assert!(count(&text, "selp.") > 0, "{text}");
    }
}

/// A kernel that changes a number that all threads share.
fn shared_number(float: &str, change: &str) -> String {
    format!(
        "use kernelmill_device::{{atomic::{{AtomicF32, AtomicF64, Ordering::*}}, prelude::*}};
#[kernel]
pub fn shared_number(x: {float}, sum: &[Atomic{0}], mut y: DisjointSlice<{float}>) {{
    let i = thread::index_1d();
    if let (Some(out), Some(sum)) = (y.get_mut(i), sum.first()) {{
        {change}
    }}
}}
",
        float.to_uppercase()
    )
}

/// The atomic instructions of PTX without their registers.
fn atomics(ptx: &str) -> Vec<&str> {
    let lines = ptx.lines().map(str::trim_start);
    let atomics = lines.filter(|line| line.starts_with("atom.") || line.starts_with("red."));
    atomics.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn an_atomic_addition_is_one_instruction_in_every_order() {
    for (float, call) in [
        ("f32", "sum.fetch_add(x, ORDER)"),
        ("f32", "sum.fetch_sub(x, ORDER)"),
        ("f64", "sum.fetch_add(x, ORDER)"),
        ("f64", "sum.fetch_sub(x, ORDER)"),
    ] {
        for order in ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"] {
            let call = call.replace("ORDER", order);
            for change in [format!("*out = {call};"), format!("{call}; *out = x;")] {
                let text = ptx("shared_number", &shared_number(float, &change));
                let found = atomics(&text);
                let end = format!(".global.add.{float}");
                assert!(found.len() == 1 && found[0].ends_with(&end), "{change} {found:?}\n{text}");
                let fences = text.matches("fence.").count() + text.matches("membar.").count();
                let is_ordered = fences > 0 || !found[0].contains(".relaxed.");
                assert!(is_ordered || order == "Relaxed", "{change}\n{text}");
                assert!(order != "Relaxed" || fences == 0, "{change}\n{text}");
            }
        }
    }
}

/// PTX has no instruction for them.
#[test]
fn other_atomic_changes_of_floating_point_numbers_compare_and_exchange() {
    for float in ["f32", "f64"] {
        for call in ["sum.fetch_max(x, Relaxed)", "sum.fetch_min(x, Relaxed)"] {
            let text = ptx("shared_number", &shared_number(float, &format!("*out = {call};")));
            assert!(atomics(&text).iter().any(|it| it.contains(".cas.b")), "{text}");
        }
    }
}

/// A kernel whose threads have an array that a loop fills, and another reads at an index.
fn of_array(index: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn of_array(x: &[f32], from: u32, mut y: DisjointSlice<f32>) {{
    let Some(out) = y.get_mut(thread::index_1d()) else {{ return }};
    let mut states = [0.0_f32; 5];
    for value in x {{
        let mut j = 0;
        while j < 5 {{
            let other = states[{index}];
            states[j] = (value * other).exp() + (states[j] - value).tanh().ln().sin();
            j += 1;
        }}
    }}
    *out = states[0] + states[1] + states[2] + states[3] + states[4] + from as f32;
}}
"
    )
}

#[test]
fn a_private_array_that_loops_index_is_in_registers() {
    let text = ptx("of_array", &of_array("4 - j"));
    assert!(!text.contains(".local"), "{text}");
}

#[test]
fn a_private_array_that_is_indexed_by_what_a_launch_is_given_is_in_memory() {
    let text = ptx("of_array", &of_array("from as usize % 5"));
    assert!(text.contains(".local"), "{text}");
}

/// A kernel that adds up parts of words as numbers.
fn parts(mask: u32) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn parts(x: &[u32], mut y: DisjointSlice<f32>) {{
    let i = thread::index_1d();
    if let (Some(out), Some(word)) = (y.get_mut(i), x.get(i.get())) {{
        let part = |shift: u32| (word >> shift & {mask}) as f32;
        *out = part(0) * 0.3 + part(8) * 0.5 + part(16) * 0.7;
    }}
}}
"
    )
}

#[test]
fn bytes_of_a_word_become_numbers_without_bfe() {
    let text = ptx("parts", &parts(255));
    assert_eq!((count(&text, "prmt.b32"), count(&text, "bfe.")), (2, 0), "{text}");
}

#[test]
fn parts_of_a_word_that_are_no_bytes_are_not_permuted() {
    let text = ptx("parts", &parts(127));
    assert_eq!(count(&text, "prmt.b32"), 0, "{text}");
}

/// A kernel that copies structures of so many bytes in shared memory.
fn copies(align: u32) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[repr(C, align({align}))]
#[derive(Clone, Copy)]
pub struct Words {{ words: [u32; 4] }}
#[kernel]
pub fn copies(mut y: DisjointSlice<u32>) {{
    static mut TILE: SharedArray<Words, 64> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize % 32;
    // SAFETY: each thread has its own two places.
    let tile = unsafe {{ &raw mut TILE[0] }};
    unsafe {{ (*tile.add(t + 32)).words[t % 4] = 1 }};
    unsafe {{ *tile.add(t) = *tile.add(t + 32) }};
    if let Some(out) = y.get_mut(thread::index_1d()) {{
        *out = unsafe {{ (*tile.add(t)).words[t / 8] }};
    }}
}}
"
    )
}

#[test]
fn sixteen_aligned_bytes_are_copied_at_once() {
    let text = ptx("copies", &copies(16));
    assert_eq!(count(&text, "ld.shared.v4.b32"), 1, "{text}");
    assert_eq!(count(&text, "st.shared.v4.b32"), 1, "{text}");
}

#[test]
fn sixteen_bytes_that_are_less_aligned_are_not() {
    let text = ptx("copies", &copies(8));
    assert_eq!(count(&text, "ld.shared.v4"), 0, "{text}");
}
