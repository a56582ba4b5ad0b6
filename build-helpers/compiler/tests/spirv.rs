//! Kernels in Rust as SPIR-V: what is compiled, and what is refused with its reason.

mod common;

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
    let returns = "#[kernel]
pub fn leaves(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(value) = x.get(i.get()) else { return };
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        *out = *value;
    }
}";
    let found = faults(returns);
    assert_eq!(
        found,
        [
            "comes to a barrier, or to a warp-level primitive, which is one here, that not all threads of a block reach \
          together: they part in line 5, by a return, a panic or a branch"
        ]
    );
    let wide = "#[kernel]
pub fn wide(a: u64, mut y: DisjointSlice<u64>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = ((u128::from(*out) * u128::from(a)) >> 70) as u64;
    }
}";
    assert_eq!(faults(wide), ["computes with integers of 128 bits, which spirv64 does not have"]);
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
    let apart = warps.replace(
        "    let sum",
        "    if y.len() < thread::index_1d().get() { return }\n    let sum",
    );
    let found = faults(&apart);
    let message = "comes to a barrier, or to a warp-level primitive, which is one here, that not all threads of a block \
                   reach together: they part in line 4, by a return, a panic or a branch";
    assert!(!found.is_empty() && found.iter().all(|it| it == message), "{found:?}");
}
