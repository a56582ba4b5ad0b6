//! Modules of kernels in a file of the crate, one of them with files of its own.

use std::collections::BTreeMap;

/// What only the host has.
pub type Counts = BTreeMap<u8, u32>;

/// Kernels in a module that is not in the root.
pub mod bytes {
    /// Counts of bytes: its table and one of its functions are in files of their own.
    #[kernelmill::kernels]
    pub mod counting {
        pub mod classes;

        use classes::{CLASSES, class};
        use kernelmill_device::prelude::*;

        const TABLE: [u8; 4] = *include_bytes!("classes.bin");
        const WEIGHT: u32 = include!("weight.in");

        /// The class of each byte, by a path from the root of the crate.
        #[kernel]
        pub fn byte_classes(x: &[u8], mut y: DisjointSlice<u32>) {
            let i = thread::index_1d();
            if let Some(y) = y.get_mut(i) {
                let class = crate::gpu::bytes::counting::classes::class(x[i.get()]);
                *y = WEIGHT * u32::from(TABLE[class]);
            }
        }

        /// The host's `half` is the crate, a kernel's is the device library.
        #[kernel]
        pub fn shares(x: &[u8], mut y: DisjointSlice<half::f16>) {
            let i = thread::index_1d();
            if let Some(y) = y.get_mut(i) {
                *y = share(x[i.get()]);
            }
        }

        /// A byte's part of 256, rounded twice.
        #[must_use]
        pub fn share(byte: u8) -> half::f16 {
            half::f16::from_f32(1.0 / 3.0) * half::f16::from_f32(f32::from(byte) / 256.0)
        }

        /// The number of classes.
        #[must_use]
        pub fn count() -> usize {
            CLASSES + class(0)
        }
    }
}
