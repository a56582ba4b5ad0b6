//! CPU launches: the blocks of a grid, on one thread or shared among rayon's pool.
//!
//! Needs a shape that was checked against the limits. Guaranteed: every block has run when a launch
//! returns, save after a panic, and where a block's memory cannot be had, which is an error.

use std::{
    cell::UnsafeCell,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use kernelmill_artifact::PanicRecord;
use rayon::prelude::*;

use super::{
    arena::Lacking,
    blocks::{Blocks, Strategy, count},
    cooperative,
    joined::{self, Joined},
    memory::Memory,
    options::Options,
    pool, sharing, stack, variables,
    watchdog::{self, Job},
};
use crate::{
    embedded::{
        EmbeddedArtifact, EmbeddedKernel, HeldCode,
        abi::{self, BlockOrder, Geometry},
    },
    error::{Error, LaunchTimeout, Result},
    hal::{self, AsyncError, ErrorSlot, OwnedArguments, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// A launch whose blocks are expected to take less than this altogether runs on the calling
/// thread: waking others takes as long.
const WORTH_SHARING: Duration = Duration::from_micros(20);

/// Pieces that the blocks of a launch are dealt in, for each thread of the pool.
const CHUNKS_PER_THREAD: usize = 16;

/// What kernels know of their device.
pub(in crate::backend) struct Device {
    name: String,
    tuning_name: String,
    /// Whether blocks run one after the other.
    pub(super) sequential: bool,
    pub(super) options: Options,
    /// Of all launches.
    pub(super) errors: ErrorSlot,
}

impl Device {
    pub(super) fn new(name: String, sequential: bool, options: Options) -> Self {
        let tuning_name = match super::dispatch::level_name() {
            Some(level) => name.replacen(" CPU", &format!(" CPU with {level}"), 1),
            None => name.clone(),
        };
        Self { name, tuning_name, sequential, options, errors: ErrorSlot::default() }
    }

    /// The name with the level of the processor: which block is fastest depends on the width of its vectors.
    pub(in crate::backend) fn tuning_name(&self) -> &str {
        &self.tuning_name
    }

    /// The name of the device.
    pub(in crate::backend) fn name(&self) -> &str {
        &self.name
    }

    /// `bytes` bytes of memory, more than 0, beside a guard page where the options ask for one.
    pub(in crate::backend) fn memory(&self, bytes: usize, zeroed: bool) -> Result<Memory> {
        Memory::new(&self.name, bytes, zeroed, self.options.guard_pages)
    }
}

/// A kernel, ready to be launched.
pub(in crate::backend) struct Function {
    strategy: Strategy,
    name: &'static str,
    artifact: &'static EmbeddedArtifact,
    device: Arc<Device>,
    static_shared_bytes: u64,
    /// Whether its blocks wait for each other.
    cooperative: bool,
    /// The bytes of stack that a block needs.
    stack_bytes: usize,
    /// Nanoseconds that a block took when it was last measured, at least 1; 0: never measured. Of joined blocks, each.
    pub(super) block_ns: AtomicU64,
    /// What the functions of the strategy are in, if they were compiled at run time.
    code: Option<Arc<dyn HeldCode>>,
}

/// What became of a launch that is watched.
pub(in crate::backend) enum Outcome {
    Done,
    Panicked(Box<PanicRecord>),
    /// Some of its blocks still run.
    StillRunning(LaunchTimeout),
}

impl Function {
    pub(super) fn new(
        strategy: Strategy,
        (embedded, kernel, code): (
            &'static EmbeddedKernel,
            &abi::Kernel,
            Option<Arc<dyn HeldCode>>,
        ),
        artifact: &'static EmbeddedArtifact,
        device: Arc<Device>,
    ) -> Self {
        let static_shared_bytes = kernel.static_shared_bytes;
        let stack_bytes = stack::needed(embedded.resources.stack_bytes);
        let (name, block_ns) = (embedded.entry, AtomicU64::new(0));
        Self {
            strategy,
            name,
            artifact,
            device,
            static_shared_bytes,
            cooperative: embedded.cooperative,
            stack_bytes,
            block_ns,
            code,
        }
    }

    /// Bytes of shared memory in a block: the kernel's own, and the dynamic part. Both are within the limits
    /// of the device, so nothing is cut.
    fn shared_bytes(&self, dynamic: u32) -> usize {
        (self.static_shared_bytes.next_multiple_of(128) + u64::from(dynamic)) as usize
    }

    /// The order that blocks are taken in: on a sequential device x first, whatever the kernel.
    fn order(&self) -> BlockOrder {
        if self.device.sequential { BlockOrder::AlongX } else { self.strategy.order() }
    }

    /// The asynchronous error of a launch that has run on `stream`.
    fn keep(&self, stream: StreamRef<'_>, error: Arc<AsyncError>) -> Arc<AsyncError> {
        stream.keep(&error);
        self.device.errors.keep(&error);
        error
    }

    /// The asynchronous error of a launch that has panicked on `stream`.
    #[cold]
    fn keep_panic(&self, stream: StreamRef<'_>, record: &PanicRecord) -> Arc<AsyncError> {
        self.keep(stream, AsyncError::new(self.artifact.panic(record).into()))
    }

    /// The larger blocks that the blocks of a launch are joined to: none where the order of blocks is kept, where memory is
    /// watched, and where blocks have memory of a size that the launch says. A launch that is too short to be shared
    /// keeps a block for each thread of the pool all the same, in case that it takes longer than the last one.
    pub(super) fn joined(&self, shape: &Checked) -> Option<Joined> {
        let along = self.strategy.joined_axis()?;
        let Device { sequential, options, .. } = &*self.device;
        let is_left_alone = *sequential || self.cooperative || options.guard_pages.is_some();
        if is_left_alone || shape.dynamic_shared_bytes > 0 {
            return None;
        }
        let blocks = count(shape.grid);
        let is_short = self.is_short(blocks);
        if !is_short && blocks <= joined::BLOCKS {
            return None;
        }
        let threads = pool::threads().ok()?;
        let least =
            if is_short { threads } else { joined::BLOCKS.max(threads * CHUNKS_PER_THREAD) };
        Joined::of(shape, along, least)
    }

    /// Whether `blocks` blocks took so little when last measured that sharing them costs more.
    fn is_short(&self, blocks: usize) -> bool {
        let last = self.block_ns.load(Ordering::Relaxed);
        last != 0 && last.saturating_mul(blocks as u64) < WORTH_SHARING.as_nanos() as u64
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        Error::OutOfMemory { device: self.device.name.clone(), bytes }
    }

    /// The blocks of a launch whose record this is.
    fn blocks<'a>(
        &self,
        geometry: &'a Geometry,
        arguments: &[*const u8],
        record: *mut PanicRecord,
    ) -> Blocks<'a> {
        Blocks {
            strategy: self.strategy,
            order: self.order(),
            geometry,
            arguments: arguments.as_ptr(),
            record,
            shared_bytes: self.shared_bytes(geometry.dynamic_shared_bytes),
            guard_pages: self.device.options.guard_pages,
            stack_bytes: self.stack_bytes,
        }
    }

    /// Runs a launch of one block on the calling thread; the record of its panic, if it has panicked.
    ///
    /// # Safety
    ///
    /// As for `run`; the calling thread has the stack that the block needs.
    unsafe fn run_only(
        &self,
        shape: &Checked,
        arguments: &[*const u8],
    ) -> Result<Option<Box<PanicRecord>>> {
        let Checked { grid, block, dynamic_shared_bytes } = *shape;
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        let blocks = self.blocks(&geometry, arguments, std::ptr::null_mut());
        let _reader = variables::Reader::begin(self.artifact);
        // SAFETY: promised.
        unsafe { blocks.run_only() }.map_err(|Lacking(bytes)| self.out_of_memory(bytes))
    }

    /// Runs a launch, and waits for it. A panic is in the record then.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and the shape is within the limits.
    pub(in crate::backend) unsafe fn run(
        &self,
        shape: &Checked,
        arguments: &[*const u8],
        record: &UnsafeCell<PanicRecord>,
    ) -> Result<()> {
        let joined = self.joined(shape);
        let shape = joined.map_or(*shape, |joined| joined.shape(*shape));
        let Checked { grid, block, dynamic_shared_bytes } = shape;
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        let blocks = self.blocks(&geometry, arguments, record.get());
        let joins = joined.map_or(1, |joined| joined.blocks);
        let launch = Launch { function: self, blocks, joins, lacking: AtomicUsize::new(0) };
        let _reader = variables::Reader::begin(self.artifact);
        // SAFETY: the caller promises the arguments; geometry and record live until the end.
        let run = || unsafe { launch.run(count(grid)) };
        if stack::has(stack::RESERVE) {
            run()?;
        } else {
            // rayon takes some of it too.
            let bytes = self.stack_bytes;
            stack::with(bytes, run).unwrap_or_else(|_| Err(self.out_of_memory(bytes)))?;
        }
        let lacking = launch.lacking.into_inner();
        // SAFETY: all blocks have run.
        let record = unsafe { &mut *record.get() };
        if record.is_set() {
            joined.into_iter().for_each(|joined| joined.restore(record));
        }
        match lacking {
            0 => Ok(()),
            bytes => Err(self.out_of_memory(bytes)),
        }
    }

    /// Runs a launch on threads of its own, and waits no longer than `limit`.
    ///
    /// # Safety
    ///
    /// As for `run`; the memory of the arguments stays where the launch still runs.
    pub(in crate::backend) unsafe fn run_within(
        &self,
        limit: Duration,
        shape: &Checked,
        arguments: OwnedArguments,
    ) -> Result<Outcome> {
        let Checked { grid, block, dynamic_shared_bytes } = *shape;
        let job = Job {
            strategy: self.strategy,
            order: self.order(),
            geometry: Geometry { grid, block, dynamic_shared_bytes, reserved: 0 },
            arguments,
            shared_bytes: self.shared_bytes(dynamic_shared_bytes),
            guard_pages: self.device.options.guard_pages,
            stack_bytes: self.stack_bytes,
            blocks: count(grid),
            cooperative: self.cooperative,
            _code: self.code.clone(),
        };
        let is_one = self.device.sequential || self.cooperative;
        let threads = if is_one { 1 } else { pool::threads()? };
        let reader = variables::Reader::begin(self.artifact);
        // SAFETY: the caller promises the arguments.
        let outcome = unsafe { watchdog::run(job, threads, limit)? };
        if let (watchdog::Outcome::StillRunning(_), Some(reader)) = (&outcome, reader) {
            reader.lose();
        }
        Ok(match outcome {
            watchdog::Outcome::Done => Outcome::Done,
            watchdog::Outcome::Lacking(Lacking(bytes)) => return Err(self.out_of_memory(bytes)),
            watchdog::Outcome::Panicked(record) => Outcome::Panicked(record),
            watchdog::Outcome::StillRunning(blocks) => Outcome::StillRunning(LaunchTimeout {
                kernel: self.name.to_owned(),
                source: self.artifact.source,
                limit,
                blocks,
            }),
        })
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        let static_shared_bytes = self.static_shared_bytes;
        KernelLimits { threads_per_block: u32::MAX, static_shared_bytes }
    }

    fn cooperative_blocks(&self, block: [u32; 3], dynamic: u32) -> Result<Option<u64>> {
        Ok(Some(cooperative::most_blocks(self.strategy, block, self.shared_bytes(dynamic))))
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        let arguments = arguments.as_slice();
        if shape.grid == [1; 3] && !self.cooperative && stack::has(self.stack_bytes) {
            // SAFETY: promised.
            let panicked = unsafe { self.run_only(shape, arguments)? };
            return Ok(panicked.map(|record| self.keep_panic(stream, &record)));
        }
        let mut record = UnsafeCell::new(PanicRecord::EMPTY);
        // SAFETY: promised.
        unsafe { self.run(shape, arguments, &record)? };
        let record = record.get_mut();
        Ok(record.is_set().then(|| self.keep_panic(stream, record)))
    }

    fn time_limit(&self) -> Option<Duration> {
        self.device.options.watchdog
    }

    unsafe fn launch_within(
        &self,
        limit: Duration,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: OwnedArguments,
    ) -> Result<Option<Arc<AsyncError>>> {
        // SAFETY: promised.
        let error = match unsafe { self.run_within(limit, shape, arguments)? } {
            Outcome::Done => return Ok(None),
            Outcome::Panicked(record) => AsyncError::new(self.artifact.panic(&record).into()),
            Outcome::StillRunning(timeout) => AsyncError::still_running(timeout),
        };
        Ok(Some(self.keep(stream, error)))
    }
}

/// One launch.
struct Launch<'a> {
    function: &'a Function,
    blocks: Blocks<'a>,
    /// The blocks that each of them is; 1 where none are joined.
    joins: u32,
    /// The bytes that a block needs and cannot have; 0 where there is none.
    lacking: AtomicUsize,
}

impl Launch<'_> {
    /// # Safety
    ///
    /// The arguments are those of the kernel.
    unsafe fn run(&self, blocks: usize) -> Result<()> {
        if self.function.cooperative {
            let is_parallel = blocks > 1 && !self.function.device.sequential;
            if is_parallel {
                pool::check()?;
            }
            // SAFETY: promised.
            let ran = unsafe { self.blocks.run_together(blocks, is_parallel) };
            ran.unwrap_or_else(|Lacking(bytes)| self.lacking.store(bytes, Ordering::Relaxed));
            return Ok(());
        }
        if blocks == 1 || self.function.device.sequential {
            // SAFETY: promised.
            unsafe { self.run_here(0..blocks) };
            return Ok(());
        }
        let done = if self.function.is_short(blocks * self.joins as usize) {
            // SAFETY: promised.
            unsafe { self.run_while_short(blocks) }
        } else {
            0
        };
        // SAFETY: promised.
        unsafe { self.share(done..blocks) }
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
    unsafe fn share(&self, blocks: Range<usize>) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        pool::check()?;
        let chunks = blocks.len().min(rayon::current_num_threads() * CHUNKS_PER_THREAD);
        let start = |chunk: usize| {
            blocks.start + (blocks.len() as u128 * chunk as u128 / chunks as u128) as usize
        };
        // SAFETY: promised; no block is in two chunks.
        let run = |chunk: usize| unsafe { self.run_timed(start(chunk)..start(chunk + 1)) };
        if pool::is_in_pool() {
            // A thread of the pool begins at once here too.
            (0..chunks).into_par_iter().for_each(run);
        } else {
            sharing::share(chunks, rayon::current_num_threads() - 1, &run);
        }
        Ok(())
    }

    /// Runs some of the blocks, and notes how long each took.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_timed(&self, blocks: Range<usize>) {
        let count = blocks.len().max(1) as u64 * u64::from(self.joins);
        let begun = Instant::now();
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
        // SAFETY: promised; no block is run twice.
        if let Err(Lacking(bytes)) = unsafe { self.blocks.run(blocks) } {
            self.lacking.store(bytes, Ordering::Relaxed);
        }
    }
}
