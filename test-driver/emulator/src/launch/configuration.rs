//! What to launch and how to check it.

/// The shape of a launch and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks in each dimension; none may be zero.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension; none may be zero.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond the kernel's static ones.
    pub dynamic_shared_bytes: u32,
    /// The bytes of each parameter of the kernel, in order.
    pub arguments: &'a [&'a [u8]],
    /// All blocks run at once, so that they may wait for each other.
    pub cooperative: bool,
}

/// One block of one thread, without arguments.
impl Default for Launch<'_> {
    fn default() -> Self {
        Launch {
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared_bytes: 0,
            arguments: &[],
            cooperative: false,
        }
    }
}

/// The order that blocks and their threads run in. Each thread runs until it waits; in random order it
/// also stops after a random number of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By rising number.
    #[default]
    Forward,
    /// By falling number.
    Reverse,
    /// At random from a seed; the same seed gives the same order.
    Random(u64),
}

/// What a launch checks, and how it runs. Bounds and alignment are always checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Order of blocks and threads.
    pub order: Order,
    /// Most instructions of the whole launch, all threads together; `None` for no limit.
    pub step_budget: Option<u64>,
    /// Reports accesses of global and shared memory that nothing orders. Blocks then run on one core.
    pub detect_races: bool,
    /// Reports reads of registers and shared memory that were never written.
    pub poison: bool,
    /// Cores that run blocks at the same time, 0 for all there are.
    pub threads: usize,
    /// What `%gridid` is; `None` for the number of the launch on its device, from 1 on.
    pub number: Option<u64>,
}

/// Forward on one core, with poison and without races, and at most 2^40 instructions.
impl Default for Options {
    fn default() -> Self {
        Options {
            order: Order::Forward,
            step_budget: Some(1 << 40),
            detect_races: false,
            poison: true,
            threads: 1,
            number: None,
        }
    }
}
