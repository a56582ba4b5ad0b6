//! Launches from inside tasks of rayon's, and the order of blocks on one thread: on both strategies, with
//! shared memory.

use std::{
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use rayon::prelude::*;

use crate::{
    __codegen::{self as cg, abi},
    Device, Launch,
};

/// `fn reverse(out: *mut u32, log: *mut u32, salt: u32)`: every thread puts its number, and a salt,
/// into shared memory, and writes what the thread opposite has put there. `log` is a counter, and
/// then the number of each block in the order in which they begin.
static KERNELS: [cg::CpuKernel; 2] = [
    cg::CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: abi::STRATEGY_LOOP,
        static_shared_bytes: 4,
        frame_bytes: 4,
        frame_align: 1,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [Some(run), None, None],
        start: None,
        resume: None,
    },
    cg::CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: abi::STRATEGY_COROUTINE,
        static_shared_bytes: 4,
        frame_bytes: size_of::<Frame>() as u64,
        frame_align: align_of::<Frame>() as u32,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [None; 3],
        start: Some(start),
        resume: Some(resume),
    },
];

const fn embedded(strategy: usize) -> cg::EmbeddedKernel {
    // SAFETY: a constant of this program, with functions as the type says.
    let cpu = Some(unsafe { cg::CpuEntry::new(&KERNELS[strategy]) });
    cg::EmbeddedKernel {
        signature: strategy,
        entry: "reverse",
        static_shared_bytes: 4,
        panics: false,
        cooperative: false,
        resources: cg::Resources::UNKNOWN,
        variant: None,
        cpu,
    }
}

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "pool",
    signatures: &[
        cg::Signature::borrowed("reverse_by_loop", &[]),
        cg::Signature::borrowed("reverse_by_coroutines", &[]),
    ],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "09",
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "kernels/pool.rs",
        bytes: &[],
        kernels: &[embedded(0), embedded(1)],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }],
};

/// A block of a launch: how many threads it has, its memory, and its part of the result.
#[derive(Clone, Copy)]
struct Part {
    threads: u32,
    tile: *mut u32,
    out: *mut u32,
    salt: u32,
}

impl Part {
    /// Finds the parts of a block, and logs that it has begun where `begins`.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and the block is one of the launch.
    unsafe fn new(arguments: *const *const u8, block: &abi::Block, begins: bool) -> Self {
        // SAFETY: promised; dynamic shared memory is 128 bytes after that of the kernel itself.
        unsafe {
            let out = super::objects::address::<u32>(arguments, 0);
            let log = super::objects::address::<u32>(arguments, 1);
            let salt = super::objects::argument(arguments, 2);
            let geometry = &*block.geometry;
            let ([x, y, z], [width, height, _]) = (block.index, geometry.grid);
            let number = (z * height + y) * width + x;
            if begins {
                let place = AtomicU32::from_ptr(log).fetch_add(1, Ordering::Relaxed);
                log.add(1 + place as usize).write(number);
            }
            let threads = geometry.block[0];
            let out = out.add((number * threads) as usize);
            Self { threads, tile: block.shared.add(128).cast(), out, salt }
        }
    }

    /// # Safety
    ///
    /// `thread` is one of the block.
    unsafe fn put(self, thread: u32) {
        // SAFETY: shared memory has a number for each thread.
        unsafe { self.tile.add(thread as usize).write(thread + self.salt) }
    }

    /// # Safety
    ///
    /// `thread` is one of the block, and all have put their numbers.
    unsafe fn take(self, thread: u32) {
        // SAFETY: promised; the result has a number for each thread.
        unsafe {
            let opposite = self.tile.add((self.threads - 1 - thread) as usize).read();
            self.out.add(thread as usize).write(opposite);
        }
    }
}

unsafe extern "C" fn run(arguments: *const *const u8, block: *mut abi::Block) {
    // SAFETY: the run time passes the kernel's arguments, a valid block, and 4 bytes for each thread.
    unsafe {
        let part = Part::new(arguments, &*block, true);
        let scratch = (*block).scratch.cast::<u32>();
        for thread in 0..part.threads {
            part.put(thread);
            scratch.add(thread as usize).write(thread);
        }
        for thread in 0..part.threads {
            part.take(scratch.add(thread as usize).read());
        }
    }
}

struct Frame {
    part: Part,
    waits: bool,
}

unsafe extern "C" fn start(arguments: *const *const u8, item: *mut abi::Item, frame: *mut u8) {
    // SAFETY: the arguments are those of the kernel, the frame has room, the item is valid.
    unsafe {
        let part = Part::new(arguments, &*(*item).block, (*item).thread[0] == 0);
        frame.cast::<Frame>().write(Frame { part, waits: false });
    }
}

unsafe extern "C" fn resume(frame: *mut u8, item: *mut abi::Item) -> bool {
    // SAFETY: the frame was started, the item is valid.
    unsafe {
        let (frame, item) = (&mut *frame.cast::<Frame>(), &mut *item);
        let thread = item.thread[0];
        if frame.waits {
            frame.part.take(thread);
            return true;
        }
        frame.part.put(thread);
        (frame.waits, item.wait) = (true, abi::WAIT_BARRIER);
        false
    }
}

/// The strategies, as the numbers of their kernels.
const STRATEGIES: [usize; 2] = [0, 1];

/// Launches a kernel, checks what it has computed, and gives the blocks in their order.
fn launch(device: &Device, strategy: usize, grid: [u32; 3], threads: u32, salt: u32) -> Vec<u32> {
    let loaded = cg::Loaded::new(device, &SET).unwrap();
    let blocks: u32 = grid.iter().product();
    let mut out = device.zeros::<u32>((blocks * threads) as usize).unwrap();
    let mut log = device.zeros::<u32>(1 + blocks as usize).unwrap();
    {
        let stream = device.stream();
        let stream = cg::stream(&stream);
        let (out, log) =
            (cg::write(&mut out, stream).unwrap(), cg::write(&mut log, stream).unwrap());
        let arguments =
            [cg::Argument::pointer(&out), cg::Argument::pointer(&log), cg::Argument::value(&salt)];
        let launch = Launch::<3>::grid(grid, [threads, 1, 1]).shared_bytes(4 * threads as usize);
        // SAFETY: these are the arguments of the kernel.
        unsafe { cg::launch(&loaded, strategy, stream, launch, &arguments) }.unwrap();
    }
    let out = out.download().unwrap();
    let expected = (0..threads).rev().map(|thread| thread + salt);
    for block in out.chunks(threads as usize) {
        assert!(
            block.iter().copied().eq(expected.clone()),
            "strategy {strategy}, salt {salt}: {block:?}"
        );
    }
    let log = log.download().unwrap();
    assert_eq!(log[0], blocks, "every block began once");
    log[1..].to_vec()
}

/// As many blocks as take longer than a launch that stays on one thread may, in debug builds too.
const MANY: [u32; 3] = [50, 20, 2];

/// Runs something that could wait for ever.
fn within_a_minute(run: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        run();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("launches wait for each other"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => thread.join().unwrap(),
    }
}

/// Launches on both strategies from inside other tasks, which hold launches themselves.
fn nested(device: &Device, salt: u32) {
    rayon::join(
        || launch(device, 0, MANY, 33 + salt % 7, salt),
        || rayon::join(|| launch(device, 1, MANY, 40, salt), || launch(device, 0, MANY, 65, salt)),
    );
    (0..8).into_par_iter().for_each(|number| {
        launch(device, number as usize % 2, MANY, 17 + number, salt + number);
    });
}

#[test]
fn launches_inside_tasks_neither_wait_for_ever_nor_mix() {
    within_a_minute(|| {
        let device = Device::cpu().unwrap();
        nested(&device, 3);
        (0..6).into_par_iter().for_each(|salt| nested(&device, 100 * salt));
    });
}

#[test]
fn launches_run_in_the_pool_that_they_are_made_in() {
    for threads in [1, 2, 5] {
        within_a_minute(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let device = Device::cpu().unwrap();
            pool.install(|| nested(&device, 7));
            pool.install(|| (0..3).into_par_iter().for_each(|salt| nested(&device, salt)));
            // One pool's task waits for a launch in another.
            let inner = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            pool.install(|| {
                (0..4).into_par_iter().for_each(|salt| inner.install(|| nested(&device, salt)));
            });
        });
    }
}

#[test]
fn on_one_thread_blocks_run_in_order() {
    let device = Device::cpu_sequential().unwrap();
    for strategy in STRATEGIES {
        for grid in [[7, 1, 1], [3, 4, 1], [5, 3, 2], MANY] {
            let order = launch(&device, strategy, grid, 20, 1);
            assert!(order.iter().copied().eq(0..grid.iter().product()), "{order:?}");
        }
    }
    // From inside tasks too, each launch for itself.
    (0..8).into_par_iter().for_each(|salt| {
        let order = launch(&device, STRATEGIES[salt as usize % 2], MANY, 9, salt);
        assert!(order.is_sorted());
    });
}
