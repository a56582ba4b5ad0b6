//! The binary interface between this crate and compiled CPU kernels.
//!
//! kernelmill's compiler has the same structures; `FORMAT_VERSION` covers both. Everything is
//! little-endian, 64-bit, C layout.

use kernelmill_artifact::PanicRecord;

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Geometry {
    /// Blocks in the grid, x, y, z.
    pub grid: [u32; 3],
    /// Threads in a block, x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory in a block.
    pub dynamic_shared_bytes: u32,
    /// Zero.
    pub reserved: u32,
}

impl Geometry {
    /// The index of the block with this linear index.
    pub(crate) fn index_of(&self, linear: usize, order: BlockOrder) -> [u32; 3] {
        let [width, height, _] = self.grid.map(|n| n as usize);
        let (plane, place) = (linear / (width * height), linear % (width * height));
        let (x, y) = match order {
            BlockOrder::AlongX => (place % width, place / width),
            BlockOrder::AlongY => (place / height, place % height),
        };
        [x as u32, y as u32, plane as u32]
    }

    /// The index of the block after that with this index.
    pub(crate) fn after(&self, [x, y, z]: [u32; 3], order: BlockOrder) -> [u32; 3] {
        let [width, height, _] = self.grid;
        match order {
            BlockOrder::AlongX if x + 1 < width => [x + 1, y, z],
            BlockOrder::AlongX if y + 1 < height => [0, y + 1, z],
            BlockOrder::AlongY if y + 1 < height => [x, y + 1, z],
            BlockOrder::AlongY if x + 1 < width => [x + 1, 0, z],
            _ => [0, 0, z + 1],
        }
    }
}

/// The order of a grid's blocks: which index of a block changes fastest. z changes slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOrder {
    /// x, then y.
    AlongX,
    /// y, then x.
    AlongY,
}

/// A block that runs.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Block {
    /// Its index in the grid, x, y, z.
    pub index: [u32; 3],
    /// Zero.
    pub reserved: u32,
    /// The shape of the launch.
    pub geometry: *const Geometry,
    /// Shared memory, aligned to 128 bytes: the kernel's own, then, at the next multiple of 128
    /// bytes, the dynamic part. Its contents at the start of a block are not defined.
    pub shared: *mut u8,
    /// The record of the launch, which the first thread that panics claims.
    pub panic: *mut PanicRecord,
    /// For kernels of [`STRATEGY_LOOP`]: what they keep for the threads of the block between barriers,
    /// aligned to 64 bytes. There are [`Kernel::frame_bytes`] bytes for each thread, where a row
    /// of threads along x counts as a multiple of [`ROW`].
    pub scratch: *mut u8,
    /// For compiled code: where a thread that ends early jumps to, a `jmp_buf`. The largest is that of
    /// Windows on aarch64, and that on x86-64 has to be aligned to 16 bytes.
    pub jump: [u64; 64],
    /// For compiled code: the lowest address of the stack of the thread of the host; 0: unknown.
    pub stack_limit: u64,
    /// For compiled code: reports that a recursion has used up the stack.
    pub stack_overflow: Option<StackOverflow>,
}

/// Writes down a panic of a thread whose recursion has used up the stack: its block, its index in the block, and a
/// text with its length.
pub type StackOverflow =
    unsafe extern "C" fn(block: *mut Block, x: u32, y: u32, z: u32, text: *const u8, length: u64);

/// A thread of a block, for kernels of [`STRATEGY_COROUTINE`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Item {
    /// The block.
    pub block: *mut Block,
    /// Its index in the block, x, y, z.
    pub thread: [u32; 3],
    /// Its place in its warp: the linear index in the block, x fastest, modulo 32.
    pub lane: u32,
    /// What it waits for: [`WAIT_NONE`], [`WAIT_BARRIER`], [`WAIT_WARP`] or [`WAIT_GRID`]. The kernel sets it
    /// before `resume` returns false, the run time clears it before the next `resume`.
    pub wait: u32,
    /// At a warp operation: the lanes that take part.
    pub mask: u32,
    /// At a warp operation: which, one of [`operation`].
    pub operation: u32,
    /// At a shuffle: lane, mask or distance. At [`operation::ACTIVE_MASK`]: the place in the
    /// kernel, so that only threads at the same place count as one group; 0 for all. At a barrier of
    /// the block or the grid: which of the kernel's barriers it is, so that different ones are told apart; with
    /// [`OF_WARPS`] where warps may wait at different ones.
    pub argument: u32,
    /// At a shuffle the value, at a ballot the predicate: anything but 0 is true.
    pub value: u32,
    /// The result of the warp operation, there when the thread is resumed.
    pub result: u32,
}

/// In [`Item::argument`] at a barrier of the block: it opens with others of its kernel, at each of which whole warps wait. That
/// is `bar.sync` in PTX.
pub const OF_WARPS: u32 = 1 << 31;

/// It can run.
pub const WAIT_NONE: u32 = 0;
/// At a barrier of the block.
pub const WAIT_BARRIER: u32 = 1;
/// At a warp operation.
pub const WAIT_WARP: u32 = 2;
/// At a barrier of the grid.
pub const WAIT_GRID: u32 = 3;
/// It has ended. Only the run time writes this.
pub(crate) const WAIT_ENDED: u32 = u32::MAX;

/// The values of [`Item::operation`].
pub mod operation {
    /// Waits for the lanes.
    pub const BARRIER: u32 = 0;
    /// The value of lane `argument`.
    pub const SHUFFLE: u32 = 1;
    /// The value of lane `lane ^ argument`.
    pub const SHUFFLE_XOR: u32 = 2;
    /// The value of lane `lane - argument`.
    pub const SHUFFLE_UP: u32 = 3;
    /// The value of lane `lane + argument`.
    pub const SHUFFLE_DOWN: u32 = 4;
    /// One bit for each lane whose value is not 0.
    pub const BALLOT: u32 = 5;
    /// One bit for each lane that has arrived at the same place.
    pub const ACTIVE_MASK: u32 = 6;
}

/// The lowering strategies of [`Kernel::strategy`]: a function runs a whole block, as a thread loop or as
/// barrier regions.
pub const STRATEGY_LOOP: u32 = 0;
/// Each thread of a block is a coroutine.
pub const STRATEGY_COROUTINE: u32 = 1;

/// The threads along x that memory is laid out for are a multiple of this.
pub const ROW: usize = 16;

/// Runs one block of a kernel of [`STRATEGY_LOOP`].
pub type Run = unsafe extern "C" fn(arguments: *const *const u8, block: *mut Block);

/// Makes the coroutine of a thread in `frame`, and does not run it yet.
pub type Start = unsafe extern "C" fn(arguments: *const *const u8, item: *mut Item, frame: *mut u8);

/// Runs a coroutine until it waits (`item.wait` says for what) or ends: true.
pub type Resume = unsafe extern "C" fn(frame: *mut u8, item: *mut Item) -> bool;

/// A compiled kernel: a constant that its object exports.
///
/// `arguments` has a pointer for each device-level argument: to the value; for a slice one to its
/// address and one to its length. They stay valid for the whole launch.
#[derive(Debug)]
#[repr(C)]
pub struct Kernel {
    /// The interface version it was compiled for.
    pub version: u32,
    /// How it was lowered: [`STRATEGY_LOOP`] or [`STRATEGY_COROUTINE`].
    pub strategy: u32,
    /// Bytes of shared memory that it declares.
    pub static_shared_bytes: u64,
    /// Bytes of a coroutine; for [`STRATEGY_LOOP`] bytes that a block keeps for each thread.
    pub frame_bytes: u64,
    /// The alignment of a coroutine, a power of two.
    pub frame_align: u32,
    /// Whether blocks that are neighbours along y should run one after the other, since the threads along y access
    /// memory in rows; otherwise 0, and those along x do.
    pub blocks_along_y: u32,
    /// Whether blocks that are neighbours, along y where [`Self::blocks_along_y`] says so and along x otherwise, may be
    /// run as one larger block: the kernel sees nothing of the indices and sizes along that axis but
    /// `block_index * block_dim + thread_index` and `block_dim * grid_dim`, as long as both are below 2^31; otherwise 0. Not 0
    /// is how many threads a joined block should have along that axis, for which the kernel has vectors; 1 stands for 16.
    pub joins_blocks: u32,
    /// Zero.
    pub reserved: u32,
    /// For [`STRATEGY_LOOP`]: one for every processor of the architecture, and for x86-64 one for those
    /// with AVX2 and FMA (`x86-64-v3`) and one for those with AVX-512 (`x86-64-v4`).
    pub run: [Option<Run>; 3],
    /// For [`STRATEGY_COROUTINE`].
    pub start: Option<Start>,
    /// For [`STRATEGY_COROUTINE`].
    pub resume: Option<Resume>,
}

const _: () = {
    assert!(size_of::<Geometry>() == 32);
    assert!(size_of::<Block>() == 48 + 64 * 8 + 16);
    assert!(std::mem::offset_of!(Block, stack_limit) == 560);
    assert!(std::mem::offset_of!(Block, stack_overflow) == 568);
    assert!(std::mem::offset_of!(Block, jump) % 16 == 0);
    assert!(size_of::<Item>() == 48);
    assert!(size_of::<Kernel>() == 80);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_every_block_once() {
        let grid = [3, 4, 2];
        let geometry = Geometry { grid, block: [1; 3], dynamic_shared_bytes: 0, reserved: 0 };
        for (order, second) in [(BlockOrder::AlongX, [1, 0, 0]), (BlockOrder::AlongY, [0, 1, 0])] {
            let mut expected = [0; 3];
            let mut seen = std::collections::BTreeSet::new();
            for linear in 0..24 {
                let index = geometry.index_of(linear, order);
                assert_eq!(index, expected, "{order:?}");
                assert!(index.iter().zip(grid).all(|(index, size)| *index < size), "{index:?}");
                assert!(seen.insert(index), "{index:?}");
                expected = geometry.after(index, order);
            }
            assert_eq!(expected, [0, 0, 2]);
            assert_eq!(geometry.index_of(1, order), second);
        }
    }
}
