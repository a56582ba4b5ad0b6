//! CPU launches: the blocks of a grid, on one thread or shared among rayon's pool.
//!
//! Needs a shape that was checked against the limits. Guaranteed: every block has run when a launch
//! returns, save after a panic, and where a block's memory cannot be had, which is an error.

use std::{
    cell::UnsafeCell,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use kernelmill_artifact::PanicRecord;
use rayon::prelude::*;

use super::{
    arena::{Arena, Lacking, Lease},
    scheduler::Scheduler,
};
use crate::{
    embedded::{
        EmbeddedArtifact,
        abi::{self, Geometry, ROW, Resume, Run, Start},
    },
    error::{Error, Result},
    hal::{self, AsyncError, ErrorSlot, StreamRef},
    limits::{Checked, KernelLimits},
};

/// A launch whose blocks are expected to take less than this altogether runs on the calling
/// thread: waking others takes as long.
const WORTH_SHARING: Duration = Duration::from_micros(20);

/// Pieces that the blocks of a launch are dealt in, for each thread of the pool.
const CHUNKS_PER_THREAD: usize = 16;

/// The lowering strategy of a kernel, and its functions.
pub(super) enum Strategy {
    Loop { run: Run, thread_bytes: usize },
    Coroutine { start: Start, resume: Resume, stride: usize, align: usize },
}

/// What kernels know of their device.
pub(super) struct Device {
    pub(super) name: String,
    /// Whether blocks run one after the other.
    pub(super) sequential: bool,
    /// Of all launches.
    pub(super) errors: ErrorSlot,
}

/// A kernel, ready to be launched.
pub(super) struct Function {
    strategy: Strategy,
    artifact: &'static EmbeddedArtifact,
    device: Arc<Device>,
    static_shared_bytes: u64,
    /// Nanoseconds that a block took when it was last measured, at least 1; 0: never measured.
    block_ns: AtomicU64,
}

impl Function {
    pub(super) fn new(
        strategy: Strategy,
        kernel: &abi::Kernel,
        artifact: &'static EmbeddedArtifact,
        device: Arc<Device>,
    ) -> Self {
        let static_shared_bytes = kernel.static_shared_bytes;
        let block_ns = AtomicU64::new(0);
        Self { strategy, artifact, device, static_shared_bytes, block_ns }
    }

    /// Whether `blocks` blocks took so little when last measured that sharing them costs more.
    fn is_short(&self, blocks: usize) -> bool {
        let last = self.block_ns.load(Ordering::Relaxed);
        last != 0 && last.saturating_mul(blocks as u64) < WORTH_SHARING.as_nanos() as u64
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        let static_shared_bytes = self.static_shared_bytes;
        KernelLimits { threads_per_block: u32::MAX, static_shared_bytes }
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut [*const u8],
    ) -> Result<Option<Arc<AsyncError>>> {
        let Checked { grid, block, dynamic_shared_bytes } = *shape;
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        let record = UnsafeCell::new(PanicRecord::EMPTY);
        // Both are within the limits of the device, so nothing is cut.
        let shared_bytes =
            self.static_shared_bytes.next_multiple_of(128) + u64::from(dynamic_shared_bytes);
        let launch = Launch {
            function: self,
            geometry: &geometry,
            arguments: arguments.as_ptr(),
            record: record.get(),
            shared_bytes: shared_bytes as usize,
            lacking: AtomicUsize::new(0),
        };
        let blocks = grid.iter().map(|&n| n as usize).product();
        // SAFETY: the caller promises the arguments; geometry and record live until the end.
        unsafe { launch.run(blocks) };
        let lacking = launch.lacking.into_inner();
        let record = record.into_inner();
        if lacking != 0 {
            return Err(Error::OutOfMemory { device: self.device.name.clone(), bytes: lacking });
        }
        if !record.is_set() {
            return Ok(None);
        }
        let error = AsyncError::new(self.artifact.panic(&record).into());
        stream.keep(&error);
        self.device.errors.keep(&error);
        Ok(Some(error))
    }
}

/// One launch.
struct Launch<'a> {
    function: &'a Function,
    geometry: &'a Geometry,
    arguments: *const *const u8,
    record: *mut PanicRecord,
    shared_bytes: usize,
    /// The bytes that a block needs and cannot have; 0 where there is none.
    lacking: AtomicUsize,
}

// SAFETY: arguments are only read; the record is claimed by one thread before it is written.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// # Safety
    ///
    /// The arguments are those of the kernel.
    unsafe fn run(&self, blocks: usize) {
        if blocks == 1 || self.function.device.sequential {
            // SAFETY: promised.
            return unsafe { self.run_here(0..blocks) };
        }
        let done = if self.function.is_short(blocks) {
            // SAFETY: promised.
            unsafe { self.run_while_short(blocks) }
        } else {
            0
        };
        // SAFETY: promised.
        unsafe { self.share(done..blocks) };
    }

    /// Runs blocks on the calling thread, twice as many each time, until they are done or turn
    /// out to take longer than they used to; the number that is done.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_while_short(&self, blocks: usize) -> usize {
        let begun = Instant::now();
        let (mut done, mut batch) = (0, 1);
        while done < blocks && begun.elapsed() < WORTH_SHARING {
            let end = blocks.min(done + batch);
            // SAFETY: promised.
            unsafe { self.run_timed(done..end) };
            (done, batch) = (end, 2 * batch);
        }
        done
    }

    /// Deals blocks to the pool, in pieces that idle threads take.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn share(&self, blocks: Range<usize>) {
        let chunks = blocks.len().min(rayon::current_num_threads() * CHUNKS_PER_THREAD);
        if chunks == 0 {
            return;
        }
        let start = |chunk: usize| {
            blocks.start + (blocks.len() as u128 * chunk as u128 / chunks as u128) as usize
        };
        (0..chunks).into_par_iter().for_each(|chunk| {
            // SAFETY: promised; no block is in two chunks.
            unsafe { self.run_timed(start(chunk)..start(chunk + 1)) }
        });
    }

    /// Runs some of the blocks, and notes how long each took.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_timed(&self, blocks: Range<usize>) {
        let (begun, count) = (Instant::now(), blocks.len().max(1) as u64);
        // SAFETY: promised.
        unsafe { self.run_here(blocks) };
        let each = begun.elapsed().as_nanos() as u64 / count;
        self.function.block_ns.store(each.max(1), Ordering::Relaxed);
    }

    /// Runs some of the blocks in the arena of the calling thread, unless another thread has no memory for
    /// its blocks.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_here(&self, blocks: Range<usize>) {
        if self.lacking.load(Ordering::Relaxed) != 0 {
            return;
        }
        // SAFETY: promised; the arena is this thread's.
        let done = unsafe { self.run_in(Lease::take().arena(), blocks) };
        if let Err(Lacking(bytes)) = done {
            self.lacking.store(bytes, Ordering::Relaxed);
        }
    }

    /// Runs the blocks with these linear indices, x fastest, until one panics; none where their memory cannot
    /// be had.
    ///
    /// # Safety
    ///
    /// As for `run`; nobody else uses the arena.
    unsafe fn run_in(
        &self,
        arena: &mut Arena,
        blocks: Range<usize>,
    ) -> std::result::Result<(), Lacking> {
        let mut scratch = 0;
        let scheduler = match self.function.strategy {
            Strategy::Loop { thread_bytes, .. } => {
                let [width, height, depth] = self.geometry.block.map(|n| n as usize);
                scratch = thread_bytes
                    .saturating_mul(width.next_multiple_of(ROW))
                    .saturating_mul(height.saturating_mul(depth));
                None
            }
            Strategy::Coroutine { start, resume, stride, align } => {
                let shape = self.geometry.block;
                let threads = shape.iter().map(|&n| n as usize).product();
                let (items, frames) = arena.threads(threads, stride, align)?;
                let arguments = self.arguments;
                Some(Scheduler { start, resume, arguments, shape, items, frames, stride })
            }
        };
        let block = arena.block(self.shared_bytes, scratch)?;
        let mut index = self.index(blocks.start);
        // SAFETY: the block is this thread's; the record outlives the launch, and kernels use its
        // state as an atomic too; arguments are promised.
        unsafe {
            (*block).geometry = self.geometry;
            (*block).panic = self.record;
            let panicked = AtomicU32::from_ptr(&raw mut (*self.record).state);
            for _ in blocks {
                if panicked.load(Ordering::Relaxed) != 0 {
                    return Ok(());
                }
                (*block).index = index;
                match (&self.function.strategy, &scheduler) {
                    (Strategy::Loop { run, .. }, _) => run(self.arguments, block),
                    (Strategy::Coroutine { .. }, Some(scheduler)) => scheduler.run(block),
                    (Strategy::Coroutine { .. }, None) => unreachable!("made above"),
                }
                index = self.next(index);
            }
        }
        Ok(())
    }

    /// The index of the block with this linear index.
    fn index(&self, linear: usize) -> [u32; 3] {
        let [width, height, _] = self.geometry.grid.map(|n| n as usize);
        let (row, x) = (linear / width, linear % width);
        [x as u32, (row % height) as u32, (row / height) as u32]
    }

    /// The index of the block after that with this index.
    fn next(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        let [width, height, _] = self.geometry.grid;
        if x + 1 < width {
            [x + 1, y, z]
        } else if y + 1 < height {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        }
    }
}
