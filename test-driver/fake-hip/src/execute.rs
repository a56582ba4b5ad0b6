//! Execution: launches by the CPU's code of the same kernel.
//!
//! The simplest way that works for whole kernels: a test calls [`fake_hip_register`](crate::api) for each kernel
//! of each code object with the address of the kernel that is linked into the test, and the code object's
//! bytes tell the two apart from those of other builds.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    ptr,
};

use kernelmill::{
    __codegen::{CpuKernel, abi::Geometry},
    __fake_driver::{run_block, run_together},
    artifact::{GridWorkspace, PanicRecord},
};

use crate::{
    memory::{Found, Kind, Memory, When},
    metadata, printing,
};

/// The kernels that tests have registered.
#[derive(Default)]
pub(crate) struct Registered {
    kernels: HashMap<(u64, String), CpuCode>,
    /// The address and the bytes of each variable.
    variables: HashMap<(u64, String), (usize, usize)>,
}

/// A kernel of the CPU.
#[derive(Clone)]
pub(crate) struct CpuCode {
    pub(crate) kernel: &'static CpuKernel,
    /// Bytes of each device-level argument.
    pub(crate) sizes: Vec<u64>,
    /// The number in the code object of each place and each message of panics; `u32::MAX`: it has none.
    pub(crate) locations: Vec<u32>,
    pub(crate) messages: Vec<u32>,
}

/// A launch that is queued.
pub(crate) struct Launch {
    pub(crate) name: String,
    pub(crate) module: usize,
    pub(crate) code: CpuCode,
    pub(crate) geometry: Geometry,
    pub(crate) arguments: Vec<Copied>,
    /// Addresses among the arguments, of memory that has to be there when it runs.
    pub(crate) buffers: Vec<usize>,
    /// By which a record knows whose panic it has.
    pub(crate) number: u64,
    /// Whether all blocks are alive at once.
    pub(crate) cooperative: bool,
    /// Whether its module says that kernels of it print.
    pub(crate) prints: bool,
}

/// In which order blocks run.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Forward,
    Reverse,
    Random(u64),
}

/// Bytes of an argument, aligned as any value is.
#[derive(Clone)]
pub(crate) struct Copied(Vec<Chunk>);

#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Chunk([u8; 256]);

// SAFETY: its constant and the arguments are only read, and addresses are of memory that every thread can use.
unsafe impl Send for Launch {}
// SAFETY: as above.
unsafe impl Sync for Launch {}

impl Registered {
    /// Registers a variable of a code object.
    pub(crate) fn add_variable(&mut self, image: &[u8], name: String, memory: (usize, usize)) {
        self.variables.insert((digest(image), name), memory);
    }

    /// The address and the bytes of a variable of the code object with this digest.
    pub(crate) fn variable(&self, digest: u64, name: &str) -> Option<(usize, usize)> {
        self.variables.get(&(digest, name.to_owned())).copied()
    }

    pub(crate) fn add(&mut self, image: &[u8], entry: String, code: CpuCode) {
        self.kernels.insert((digest(image), entry), code);
    }

    pub(crate) fn find(&self, image: u64, entry: &str) -> Option<&CpuCode> {
        self.kernels.get(&(image, entry.to_owned()))
    }
}

/// The digest of a code object.
pub(crate) fn digest(image: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    image.hash(&mut hasher);
    hasher.finish()
}

impl CpuCode {
    /// What is wrong with the arguments that a code object says the kernel has: those of the CPU, and one more
    /// where it has a panic record.
    pub(crate) fn check(&self, arguments: &[metadata::Argument]) -> Result<(), String> {
        let is_address = |it: &metadata::Argument| it.size == 8 && it.offset.is_multiple_of(8);
        if let Some(wrong) = arguments.iter().find(|it| it.is_buffer && !is_address(it)) {
            return Err(format!("an address of {} bytes is at {}", wrong.size, wrong.offset));
        }
        let found: Vec<u64> = arguments.iter().map(|argument| argument.size).collect();
        let with_record = [&self.sizes[..], &[8]].concat();
        if found == self.sizes || found == with_record {
            return Ok(());
        }
        Err(format!("its arguments have sizes {found:?}, those of the CPU {:?}", self.sizes))
    }
}

impl CpuCode {
    /// A panic with the numbers that its place and its message have in the code object.
    fn renumbered(&self, mut panic: PanicRecord) -> PanicRecord {
        let of = |numbers: &[u32], number: u32| numbers.get(number as usize).copied();
        panic.location = of(&self.locations, panic.location).unwrap_or(u32::MAX);
        let (kind, message) = (panic.kind & 0xff, panic.kind >> 8);
        let message = message.checked_sub(1).and_then(|message| of(&self.messages, message));
        // The field has the number plus 1, and 0 for none, which `u32::MAX` plus 1 is.
        panic.kind = kind | message.unwrap_or(u32::MAX).wrapping_add(1) << 8;
        panic
    }
}

impl Copied {
    /// # Safety
    ///
    /// `bytes` bytes can be read.
    pub(crate) unsafe fn new(value: *const u8, bytes: usize) -> Self {
        let mut chunks = vec![Chunk([0; 256]); bytes.div_ceil(256).max(1)];
        // SAFETY: promised; there are as many bytes in the chunks.
        unsafe { ptr::copy_nonoverlapping(value, chunks.as_mut_ptr().cast(), bytes) };
        Self(chunks)
    }

    fn pointer(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    pub(crate) fn word(&self) -> u64 {
        u64::from_le_bytes(self.0[0].0[..8].try_into().expect("8 bytes"))
    }
}

impl Launch {
    /// Runs all blocks.
    pub(crate) fn run(&self, memory: &Memory, order: Order) -> Result<(), String> {
        let is_faulty = |address: &usize| memory.find(*address, 1, When::Done) == Found::Faulty;
        if self.buffers.iter().any(is_faulty) {
            return Err(format!("`{}` uses memory that is not allocated", self.name));
        }
        let own = self.code.sizes.len();
        let pointers: Vec<_> = self.arguments[..own].iter().map(Copied::pointer).collect();
        let blocks = || match self.cooperative {
            true => self.run_together(&pointers),
            false => self.run_apart(&pointers, order),
        };
        let (panic, text) = match self.prints {
            true => printing::printed(blocks)?,
            false => (blocks(), Vec::new()),
        };
        let panic = panic?;
        if panic.is_none() && text.is_empty() {
            return Ok(());
        }
        let Some(record) = self.arguments.get(own) else {
            return Err(format!("`{}` panics or prints, but has no record", self.name));
        };
        let address = match self.cooperative {
            true => record_of(memory, record.word() as usize)?,
            false => record.word() as usize,
        };
        if !text.is_empty() {
            printing::hand_over(memory, &text, address)?;
        }
        let panic = panic.map(|panic| self.code.renumbered(panic));
        panic.map_or(Ok(()), |panic| hand_over(memory, &panic, self.number, address))
    }
}

impl Launch {
    /// Runs the blocks one after the other; the first panic.
    fn run_apart(
        &self,
        pointers: &[*const u8],
        order: Order,
    ) -> Result<Option<PanicRecord>, String> {
        let blocks: usize = self.geometry.grid.iter().map(|&n| n as usize).product();
        let mut panic = None;
        for index in indices(blocks, order) {
            let mut record = PanicRecord::EMPTY;
            // SAFETY: the arguments have the sizes that the kernel asks for; what it does with them is as on a
            // GPU.
            unsafe {
                run_block(self.code.kernel, &self.geometry, pointers, &mut record, index)
                    .map_err(|error| error.to_string())?;
            }
            if record.is_set() && panic.is_none() {
                panic = Some(record);
            }
        }
        Ok(panic)
    }

    /// Runs all blocks at once; the first panic.
    fn run_together(&self, pointers: &[*const u8]) -> Result<Option<PanicRecord>, String> {
        let mut record = PanicRecord::EMPTY;
        // SAFETY: as for `run_apart`.
        unsafe {
            run_together(self.code.kernel, &self.geometry, pointers, &mut record)
                .map_err(|error| error.to_string())?;
        }
        Ok(Some(record).filter(PanicRecord::is_set))
    }
}

/// The address of the panic record of a cooperative launch, by that of its workspace, which a launch before must not have
/// left as it was when it was used.
fn record_of(memory: &Memory, address: usize) -> Result<usize, String> {
    let found = memory.find(address, size_of::<GridWorkspace>(), When::Done);
    let Found::Live(Kind::Device(_)) = found else {
        return Err(format!("a workspace of the grid at {address:#x}, which is not device memory"));
    };
    // SAFETY: the memory is there.
    let workspace =
        unsafe { ptr::with_exposed_provenance::<GridWorkspace>(address).read_unaligned() };
    if workspace.arrived != 0 || workspace.abandoned != 0 {
        return Err(format!("a workspace of the grid that is not zero: {workspace:?}"));
    }
    Ok(workspace.record as usize)
}

/// The indices of blocks, in an order.
fn indices(count: usize, order: Order) -> Vec<usize> {
    let mut indices: Vec<_> = (0..count).collect();
    match order {
        Order::Forward => {}
        Order::Reverse => indices.reverse(),
        Order::Random(mut seed) => {
            for last in (1..count).rev() {
                indices.swap(last, (next_random(&mut seed) % (last as u64 + 1)) as usize);
            }
        }
    }
    indices
}

/// A number that the last one gives ([splitmix64](https://prng.di.unimi.it/splitmix64.c)).
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Writes a panic to the record of its launch, as a kernel does: unless there is one that nobody has read, or the last one
/// was of a launch with the same number.
fn hand_over(
    memory: &Memory,
    panic: &PanicRecord,
    number: u64,
    address: usize,
) -> Result<(), String> {
    let is_mapped = Found::Live(Kind::Pinned { mapped: true });
    if memory.find(address, size_of::<PanicRecord>(), When::Done) != is_mapped {
        return Err(format!("a panic record at {address:#x}, which is not mapped memory"));
    }
    let record = ptr::with_exposed_provenance_mut::<PanicRecord>(address);
    // SAFETY: the record is there, and the host reads it by the same protocol.
    unsafe {
        let state = std::sync::atomic::AtomicU32::from_ptr(&raw mut (*record).state);
        let acknowledged = std::sync::atomic::AtomicU32::from_ptr(&raw mut (*record).acknowledged);
        use std::sync::atomic::Ordering::{Acquire, Release};
        let before = state.load(Acquire);
        let seen = acknowledged.load(Acquire);
        if before != seen || (before != 0 && (*record).launch == number) {
            return Ok(());
        }
        state.store(before + 1, Release);
        (*record).launch = number;
        (*record).message_len = panic.message_len;
        (*record).kind = panic.kind;
        (*record).location = panic.location;
        ((*record).a, (*record).b) = (panic.a, panic.b);
        ((*record).block, (*record).thread) = (panic.block, panic.thread);
        (*record).message = panic.message;
        state.store(before + 2, Release);
    }
    Ok(())
}
