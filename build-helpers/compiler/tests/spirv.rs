//! Kernels in Rust as SPIR-V: what is compiled, and what is refused with its reason.

mod common;

use std::{collections::BTreeSet, process::Command};

use common::compile;
use kernelmill_artifact::ArtifactKind;
use kernelmill_compiler::Error;
use test_support::tool;

/// Each thread panics for itself before a barrier: the index may be out of bounds.
const REVERSED: &str = "use kernelmill_device::prelude::*;
#[kernel]
pub fn reversed(x: &[u32], mut tile: BlockArray<u32, 64>, mut y: DisjointSlice<u32>) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    tile.write(own, x[i.get()]);
    let tile = tile.sync();
    if let Some(out) = y.get_mut(i) {
        *out = tile[63 - own.get()];
    }
}
";

fn faults(text: &str) -> Vec<String> {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    match compile("refused", &text, "spirv64") {
        Err(Error::Invalid { faults, .. }) => faults.into_iter().map(|it| it.message).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn a_kernel_that_can_panic_before_a_barrier_is_compiled() {
    if tool::clang().is_none() {
        return;
    }
    let artifact = compile("reversed", REVERSED, "spirv64").unwrap_or_else(|it| panic!("{it}"));
    assert_eq!((artifact.kind, &artifact.bytes[..4]), (ArtifactKind::Spirv, &[3, 2, 0x23, 7][..]));
    let [kernel] = &*artifact.kernels else { panic!("{} kernels", artifact.kernels.len()) };
    assert!(kernel.panics && kernel.entry == "reversed", "{kernel:?}");
}

#[test]
fn what_the_target_lacks_is_named() {
    if tool::clang().is_none() {
        return;
    }
    let wide = "#[kernel]
pub fn wide(a: u64, mut y: DisjointSlice<u64>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = (u128::from(*out) * u128::from(a) / (u128::from(a) << 3 | 5)) as u64;
    }
}";
    assert_eq!(
        faults(wide),
        ["computes with integers of 128 bits, which spirv64 does not support"]
    );
}

/// A kernel with shared memory, of which `body` does something with `x`, `n`, `i` and `t`.
fn in_block(body: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn kernel(n: u32, x: &[u32], mut y: DisjointSlice<u32>) {{
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize % 64);
    let mut sum = 0;
    unsafe {{
{body}
    }}
    if let Some(out) = y.get_mut(i) {{
        *out = sum;
    }}
}}
"
    )
}

/// The instructions of a kernel of `in_block`, by their numbers and operands.
fn instructions(body: &str) -> Vec<(u32, Vec<u32>)> {
    let artifact = compile("kernel", &in_block(body), "spirv64");
    let artifact = artifact.unwrap_or_else(|it| panic!("{body}\n{it}"));
    assert_eq!(artifact.kind, ArtifactKind::Spirv);
    if let Some(validator) = tool::spirv_val() {
        let folder = test_support::temporary_folder();
        let path = test_support::write_file(&folder, "kernel.spv", &artifact.bytes);
        let said =
            Command::new(validator).args(["--target-env", "opencl2.2"]).arg(path).output().unwrap();
        assert!(said.status.success(), "{body}\n{}", String::from_utf8_lossy(&said.stderr));
    }
    let words = artifact.bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let mut rest: Vec<u32> = words.skip(5).collect();
    let mut found = Vec::new();
    while let [first, ..] = *rest {
        let tail = rest.split_off((first >> 16) as usize);
        found.push((first & 0xffff, rest[1..].to_vec()));
        rest = tail;
    }
    found
}

/// How many instructions there are of a number.
fn count(instructions: &[(u32, Vec<u32>)], number: u32) -> usize {
    instructions.iter().filter(|it| it.0 == number).count()
}

const MEMORY_BARRIER: u32 = 225;

/// The edges between blocks.
fn edges(instructions: &[(u32, Vec<u32>)]) -> BTreeSet<(u32, u32)> {
    let (mut edges, mut block) = (BTreeSet::new(), 0);
    for (number, operands) in instructions {
        let to = match (number, &**operands) {
            (248, [label]) => {
                block = *label;
                continue;
            }
            (249, to) => to.to_vec(),
            (250, [_, to @ ..]) => to[..2].to_vec(),
            (251, [_, default, cases @ ..]) => {
                assert!(cases.len() % 2 == 0, "values of one word");
                [*default].into_iter().chain(cases.iter().skip(1).step_by(2).copied()).collect()
            }
            _ => continue,
        };
        edges.extend(to.into_iter().map(|to| (block, to)));
    }
    edges
}

/// Whether every loop is entered in one place: blocks with one predecessor become part of it until one is left.
fn is_reducible(mut edges: BTreeSet<(u32, u32)>) -> bool {
    loop {
        edges.retain(|(from, to)| from != to);
        let nodes: BTreeSet<u32> = edges.iter().map(|it| it.1).collect();
        let single = nodes.into_iter().find_map(|node| {
            let mut from = edges.iter().filter(|it| it.1 == node).map(|it| it.0);
            from.next().filter(|_| from.next().is_none()).map(|from| (node, from))
        });
        let Some((node, into)) = single else { return edges.is_empty() };
        edges.remove(&(into, node));
        edges = edges.iter().map(|it| if it.0 == node { (into, it.1) } else { *it }).collect();
    }
}

/// The statement that all others read behind a barrier.
const READ: &str = "        thread::sync_threads();\n        sum += TILE[63 - t];";

/// Returns before a barrier: from a condition of their own, from within another one, and in a loop of barriers as long as a
/// parameter says.
#[test]
fn threads_that_return_early_come_to_the_barriers_of_the_others() {
    if tool::clang().is_none() {
        return;
    }
    let returns = "        let Some(value) = x.get(i.get()) else { return };\n";
    for body in [
        format!("{returns}        TILE[t] = *value;\n{READ}"),
        format!(
            "        if let Some(value) = x.get(i.get()) {{
            if value % 2 == 1 {{ return }}
            TILE[t] = *value;
        }}
{READ}"
        ),
        format!(
            "{returns}        for round in 0..(n - 1) / 16 + 1 {{
            TILE[t] = *value + round;
    {READ}
            thread::sync_threads();
            if sum > 1000 {{ return }}
        }}"
        ),
    ] {
        assert!(is_reducible(edges(&instructions(&body))), "{body}");
    }
}

/// Threads that have left compute how long a loop of barriers is, also where the others panic.
#[test]
fn threads_that_have_returned_do_not_divide_by_zero() {
    if tool::clang().is_none() {
        return;
    }
    let body = format!(
        "        if i.get() > 9 {{ return }}
        for round in 0..1000 / n {{
            TILE[t] = round;
    {READ}
            thread::sync_threads();
        }}"
    );
    let instructions = instructions(&body);
    // A maximum with 1, or a selection.
    let chosen: BTreeSet<_> =
        instructions.iter().filter(|it| [12, 169].contains(&it.0)).map(|it| it.1[1]).collect();
    let divisors: Vec<_> = instructions.iter().filter(|it| it.0 == 134).map(|it| it.1[3]).collect();
    assert!(divisors.iter().any(|it| chosen.contains(it)), "{divisors:?}, {chosen:?}");
}

/// What threads that have left cannot follow: a loop whose end is their own, and one as long as memory says.
#[test]
fn barriers_that_others_do_not_come_to_together_are_refused() {
    if tool::clang().is_none() {
        return;
    }
    let message = |line: u32| {
        format!(
            "reaches a barrier, or a warp-level primitive, which is a barrier here, that not all threads of a \
             block reach together: they diverge in line {line}, by a return, a panic or a branch"
        )
    };
    let refused = |body: &str| match compile("refused", &in_block(body), "spirv64") {
        Err(Error::Invalid { faults, .. }) => faults[0].message.clone(),
        Err(other) => panic!("{other}"),
        Ok(_) => String::new(),
    };
    let own = "        for _ in 0..t {\n            thread::sync_threads();\n            sum += 1;\n        }";
    assert_eq!(refused(own), message(8));
    let read = "        if i.get() > 9 { return }
        for round in 0..x[0] {
            TILE[t] = round;
            thread::sync_threads();
            sum += TILE[63 - t];
        }";
    assert_eq!(refused(read), message(8));
}

/// pocl does not end on a loop that is entered in two places.
#[test]
fn threads_that_panic_do_not_go_into_a_loop() {
    if tool::clang().is_none() {
        return;
    }
    let body = format!(
        "        let value = x[i.get()];
        let mut round = 0;
        loop {{
            TILE[t] = value ^ round;
    {READ}
            thread::sync_threads();
            round += 1;
            if round >= n {{ break }}
        }}"
    );
    assert!(is_reducible(edges(&instructions(&body))));
    let twice = BTreeSet::from([(1, 2), (1, 3), (2, 3), (3, 2)]);
    assert!(!is_reducible(twice) && is_reducible(BTreeSet::from([(1, 2), (2, 3), (3, 2)])));
}

/// pocl copies what a barrier does not dominate for each edge that leads there from behind it.
#[test]
fn edges_from_behind_a_barrier_to_a_block_of_others_join() {
    if tool::clang().is_none() {
        return;
    }
    let all = format!("        TILE[t] = n;\n{READ}");
    let fences = |body: &str| count(&instructions(body), MEMORY_BARRIER);
    assert_eq!(fences(&all), 0);
    assert_eq!(fences(&format!("        if n == 7 {{ return }}\n{all}")), 1);
}

/// The launch gives it as an argument behind the others, with its size.
#[test]
fn dynamic_shared_memory_is_an_argument() {
    if tool::clang().is_none() {
        return;
    }
    let text = "use kernelmill_device::prelude::*;
#[kernel]
pub fn last(x: &[u32], mut y: DisjointSlice<u32>) {
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    let tile = unsafe { DynamicSharedArray::<u32>::get() };
    unsafe { tile.as_mut_ptr().add(t).write(x.get(i.get()).copied().unwrap_or(0)) };
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        *out = unsafe { tile.as_mut_ptr().add(tile.len() - 1).read() };
    }
}
";
    let artifact = compile("last", text, "spirv64").unwrap_or_else(|it| panic!("{it}"));
    let words = artifact.bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    // `OpFunctionParameter`s: of two slices, the record of a panic, the memory, and the number of its bytes.
    assert_eq!(words.filter(|word| *word == 3 << 16 | 55).count(), 7);
}

/// Warps cross in local memory, so that a kernel without a barrier in its source has those of the block.
#[test]
fn warp_level_primitives_are_barriers_of_the_block() {
    if tool::clang().is_none() {
        return;
    }
    let warps = "#[kernel]
pub fn warps(mut y: DisjointSlice<u32>) {
    let sum = warp::shuffle_xor(thread::thread_idx().x, 1) + warp::ballot(warp::lane_id() > 3);
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = sum;
    }
}";
    assert_eq!(faults(warps), [""; 0]);
    // Whole warps return before, and threads on their own.
    for condition in ["thread::thread_idx().x / 32 > 1", "y.len() < thread::index_1d().get()"] {
        let returns = format!("    if {condition} {{ return }}\n    let sum");
        assert_eq!(faults(&warps.replace("    let sum", &returns)), [""; 0], "{condition}");
    }
}
