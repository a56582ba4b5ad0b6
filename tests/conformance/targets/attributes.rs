//! What is said of launches, as it stands in the code.

use kernelmill_device::prelude::*;

// CHECK-PTX: .maxntid 256
// CHECK-PTX: .minnctapersm 2
// CHECK-PTX: .maxnreg 64
// CHECK-sm_75-NOT: nctapercluster
// CHECK-sm_90: .reqnctapercluster 2, 1, 1
// CHECK-sm_100: .reqnctapercluster 2, 1, 1
// CHECK-PTX-NOT: .reqntid
#[kernel(launch_bounds = 256, min_blocks = 2, max_registers = 64, cluster = [2, 1, 1])]
pub fn bounded(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += x[i.get()];
    }
}

// CHECK-PTX: .reqntid 16, 8, 1
// CHECK-PTX-NOT: .maxntid
#[kernel(dim = 2, block_size = [16, 8, 1])]
pub fn exact(mut y: DisjointSlice<f32, Index2D>) {
    if let Some(out) = y.get_mut(thread::index_2d()) {
        *out += 1.0;
    }
}

// CHECK-PTX-NOT: .maxntid
// CHECK-PTX-NOT: .minnctapersm
// CHECK-PTX-NOT: .maxnreg
// CHECK-PTX-NOT: .reqntid
#[kernel]
pub fn plain(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out += 1.0;
    }
}
