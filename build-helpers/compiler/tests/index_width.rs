//! Indices of 32 bits: what becomes of the arithmetic on them, and what stays in 64 bits.

mod common;

use common::ptx;

/// A kernel that divides its index, in one dimension or over rows.
fn kernel(arguments: &str, index: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel{arguments}]
pub fn spread(width: usize, seed: u64, x: &[u32], mut y: DisjointSlice<u32>) {{
    let i = {index};
    if let Some(out) = y.get_mut(i) {{
        let at = i.get();
        *out = x[at / width % x.len()] ^ x[at % width] ^ (seed / 3) as u32;
    }}
}}
"
    )
}

const INDEX: &str = "thread::index_1d()";

/// The instructions with this part in their names.
fn count(ptx: &str, part: &str) -> usize {
    let instructions = ptx.lines().filter(|line| line.starts_with('\t'));
    instructions
        .filter(|line| line.split_whitespace().next().is_some_and(|it| it.contains(part)))
        .count()
}

#[test]
fn divisions_of_positions_lengths_and_sizes_have_32_bits() {
    let wide = ptx("wide_indices", &kernel("", INDEX));
    let narrow = ptx("narrow_indices", &kernel("(index_width = 32)", INDEX));
    // LLVM tests whether operands of 64 bits fit into 32, so there are divisions of both.
    for operation in ["div.u64", "rem.u64"] {
        assert!(count(&wide, operation) > 0, "{wide}");
        assert_eq!(count(&narrow, operation), 0, "{narrow}");
    }
    // The division of the seed, which is no size, is a multiplication of 64 bits in both.
    assert_eq!((count(&wide, "mul.hi.u64"), count(&narrow, "mul.hi.u64")), (1, 1), "{narrow}");
    assert!(count(&narrow, "mad.lo.s32") > 0, "the position of a thread has 32 bits: {narrow}");
    let same = ptx("wide_indices", &kernel("(index_width = 64)", INDEX));
    assert_eq!(same, wide);
}

/// A product of the user's own can be larger than the number of threads, and stays as it is.
#[test]
fn arithmetic_on_other_numbers_stays_in_64_bits() {
    let text = "use kernelmill_device::prelude::*;
#[kernel(index_width = 32)]
pub fn squares(mut y: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = i.get() as u64 * i.get() as u64 + thread::block_idx().x as u64 * thread::grid_dim().x as u64;
    }
}
";
    let ptx = ptx("squares", text);
    let wide = ["mul.wide.u32", "mad.wide.u32", "mul.lo.s64", "mad.lo.s64"];
    assert_eq!(wide.map(|name| count(&ptx, name)).iter().sum::<usize>(), 2, "{ptx}");
    assert!(count(&ptx, "mad.lo.s32") == 1, "the position of a thread has 32 bits: {ptx}");
}

/// One block of 1024 threads fits onto a multiprocessor with 64 registers each, and 255 are as many as there are.
///
/// Acceptance: S3.4.
#[test]
fn ptx_has_the_registers_of_the_block_where_they_are_less_than_255() {
    let said = |arguments: &str| {
        let text = ptx("registers", &kernel(arguments, INDEX));
        let line = text.lines().find(|line| line.contains(".maxnreg")).map(str::trim);
        line.map(str::to_owned)
    };
    assert_eq!(said(""), None);
    assert_eq!(said("(launch_bounds = 256)"), None);
    assert_eq!(said("(max_registers = 255)"), None);
    assert_eq!(said("(launch_bounds = 1024)").as_deref(), Some(".maxnreg 64"));
    assert_eq!(said("(launch_bounds = 1024, max_registers = 255)").as_deref(), Some(".maxnreg 64"));
    assert_eq!(said("(launch_bounds = 1024, max_registers = 40)").as_deref(), Some(".maxnreg 40"));
    assert_eq!(said("(block_size = [32, 16, 1])").as_deref(), Some(".maxnreg 128"));
}
