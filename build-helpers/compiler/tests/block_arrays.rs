//! Block arrays: shared memory of safe code costs what shared memory by hand does.

mod common;

use common::{compile, ptx};

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
