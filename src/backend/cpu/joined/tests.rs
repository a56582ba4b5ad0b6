//! Which launches are joined, that a joined one has each thread once, and whom its panics name.

use std::{
    cell::UnsafeCell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use kernelmill_artifact::PanicRecord;

use super::{BLOCKS, Joined};
use crate::{
    __codegen as cg,
    backend::cpu::{
        blocks::count,
        guard_pages::Placement,
        launch::{Device, Function},
        options::Options,
        pool,
        strategy::strategy,
    },
    embedded::abi,
    limits::Checked,
};

fn shape(grid: [u32; 3], block: [u32; 3]) -> Checked {
    Checked { grid, block, dynamic_shared_bytes: 0 }
}

#[test]
fn as_many_blocks_are_joined_as_divide_the_grid() {
    let joined = |grid, block, axis| {
        Joined::of(&shape(grid, block), (axis, 1), BLOCKS).map_or(1, |joined| joined.blocks)
    };
    for (grid, block, axis, blocks) in [
        ([4096, 1, 1], [4, 4, 1], 0, 16),
        ([256, 256, 1], [4, 4, 1], 1, 16),
        ([1000, 1, 1], [4, 1, 1], 0, 10),
        ([100_000, 1, 1], [1, 1, 1], 0, 250),
        ([4096, 1, 1], [31, 1, 1], 0, 8),
        ([21, 300, 1], [3, 5, 2], 0, 7),
        // A vector is filled where that takes no more than 1024 threads.
        ([4096, 1, 1], [2, 64, 1], 0, 8),
        ([4096, 1, 1], [8, 32, 1], 0, 2),
        ([4096, 1, 1], [2, 128, 1], 0, 4),
        ([4096, 1, 1], [3, 100, 1], 0, 2),
        ([16, 256, 1], [64, 4, 1], 1, 4),
        ([4096, 4096, 1], [32, 4, 1], 1, 4),
        ([4096, 1, 1], [8, 256, 1], 0, 1),
        // A prime, as many threads as there are in two vectors, a full block, and one that is too large.
        ([1009, 1, 1], [4, 4, 1], 0, 1),
        ([4096, 1, 1], [32, 1, 1], 0, 1),
        ([4096, 1, 1], [16, 16, 1], 0, 1),
        ([4096, 1, 1], [8, u32::MAX, 8], 0, 1),
        // So many are left for the threads of the pool.
        ([128, 1, 1], [1, 1, 1], 0, 2),
        ([127, 1, 1], [1, 1, 1], 0, 1),
        ([2, 64, 1], [1, 1, 1], 0, 2),
        ([2, 63, 1], [1, 1, 1], 0, 1),
        // 2^31 threads and a little fewer.
        ([1 << 29, 1, 1], [4, 1, 1], 0, 1),
        ([(1 << 29) - 64, 1, 1], [4, 1, 1], 0, 64),
        ([1 << 31, 1, 1], [1, 1, 1], 0, 1),
    ] {
        assert_eq!(joined(grid, block, axis), blocks, "{grid:?} blocks of {block:?} along {axis}");
    }
}

#[test]
fn blocks_are_joined_to_as_many_threads_as_a_kernel_asks_for() {
    let joined = |grid, block, wanted| {
        Joined::of(&shape(grid, block), (0, wanted), BLOCKS).map_or(1, |joined| joined.blocks)
    };
    for (grid, block, wanted, blocks) in [
        ([32, 125, 1], [32, 8, 1], 16, 1),
        ([32, 125, 1], [32, 8, 1], 64, 2),
        ([32, 125, 1], [32, 8, 1], 128, 4),
        ([32, 125, 1], [32, 8, 1], 256, 4),
        ([30, 125, 1], [32, 8, 1], 128, 3),
        ([64, 64, 1], [16, 16, 1], 128, 4),
        ([4096, 1, 1], [128, 1, 1], 128, 2),
        // Twice as many as are asked for, and more than are asked for in a block that can have no more.
        ([4096, 1, 1], [256, 1, 1], 128, 1),
        ([4096, 1, 1], [200, 2, 1], 128, 1),
        ([4096, 1, 1], [64, 16, 1], 128, 1),
        ([4096, 1, 1], [4, 4, 1], u32::MAX, 64),
        // So many blocks are left.
        ([8, 16, 1], [32, 8, 1], 128, 2),
    ] {
        assert_eq!(joined(grid, block, wanted), blocks, "{grid:?} of {block:?}, {wanted} wanted");
    }
}

/// What a launch has written down.
struct Seen {
    /// How often each thread of the grid has run, x fastest.
    threads: Vec<AtomicU32>,
    blocks: Mutex<Vec<[u32; 3]>>,
    /// The place of a thread that panics.
    fails: Option<[u32; 3]>,
}

/// Counts the threads of a block.
unsafe extern "C" fn run(arguments: *const *const u8, block: *mut abi::Block) {
    // SAFETY: the argument is the address of what the launch writes down; the block is this function's.
    let (seen, block) = unsafe { (&*(*arguments).cast::<Seen>(), &mut *block) };
    // SAFETY: the geometry outlives the launch.
    let geometry = unsafe { &*block.geometry };
    seen.blocks.lock().unwrap().push(geometry.block);
    let [width, height, depth] = geometry.block;
    for thread in 0..width * height * depth {
        let thread = [thread % width, thread / width % height, thread / (width * height)];
        let place = [0, 1, 2].map(|it| block.index[it] * geometry.block[it] + thread[it]);
        let [columns, rows] = [0, 1].map(|it| geometry.grid[it] * geometry.block[it]);
        let number = (place[2] * rows + place[1]) * columns + place[0];
        seen.threads[number as usize].fetch_add(1, Ordering::Relaxed);
        if seen.fails == Some(place) {
            // SAFETY: one thread panics, and nothing but the state of the record is read before the launch ends.
            unsafe {
                (*block.panic).block = block.index;
                (*block.panic).thread = thread;
                AtomicU32::from_ptr(&raw mut (*block.panic).state).store(2, Ordering::Release);
            }
        }
    }
}

const fn kernel(blocks_along_y: u32, joins_blocks: u32) -> abi::Kernel {
    abi::Kernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: abi::STRATEGY_LOOP,
        static_shared_bytes: 0,
        frame_bytes: 0,
        frame_align: 64,
        blocks_along_y,
        joins_blocks,
        reserved: 0,
        run: [Some(run), None, None],
        start: None,
        resume: None,
    }
}

static EMBEDDED: [cg::EmbeddedKernel; 2] = [embedded(false), embedded(true)];

const fn embedded(cooperative: bool) -> cg::EmbeddedKernel {
    cg::EmbeddedKernel {
        signature: 0,
        entry: "counts",
        static_shared_bytes: 0,
        panics: true,
        cooperative,
        resources: cg::Resources::UNKNOWN,
        variant: None,
        cpu: None,
    }
}

static ARTIFACT: cg::EmbeddedArtifact = cg::EmbeddedArtifact {
    fingerprint: "14",
    target: "cpu",
    kind: cg::ArtifactKind::Object,
    source: "kernels/kernel.rs",
    bytes: &[],
    kernels: &[],
    locations: &[],
    backtraces: &[],
    messages: &[],
    relocations: &[],
    variables: &[],
};

fn function(kernel: &abi::Kernel, cooperative: bool, device: (bool, Options)) -> Function {
    let (sequential, options) = device;
    let device = Device::new("test".to_owned(), sequential, options);
    let embedded = &EMBEDDED[usize::from(cooperative)];
    let strategy = strategy(kernel).unwrap();
    Function::new(strategy, (embedded, kernel, None), &ARTIFACT, Arc::new(device))
}

/// Runs a launch: the shape of each block that has run, and the record. Each thread of the grid has run once.
fn launch(
    function: &Function,
    shape: Checked,
    fails: Option<[u32; 3]>,
) -> (Vec<[u32; 3]>, PanicRecord) {
    let threads = (0..3).map(|it| shape.grid[it] * shape.block[it]).product();
    let threads: Vec<_> = (0..threads).map(|_: u32| AtomicU32::new(0)).collect();
    let seen = Seen { threads, blocks: Mutex::default(), fails };
    let record = UnsafeCell::new(PanicRecord::EMPTY);
    let arguments = [std::ptr::from_ref(&seen).cast::<u8>()];
    // SAFETY: the argument is what the function reads.
    unsafe { function.run(&shape, &arguments, &record) }.unwrap();
    if fails.is_none() {
        let counts = seen.threads.iter().map(|it| it.load(Ordering::Relaxed));
        assert!(counts.into_iter().all(|count| count == 1), "{shape:?}");
    }
    (seen.blocks.into_inner().unwrap(), record.into_inner())
}

/// A grid with so many blocks that the pool of this machine has enough of joined ones.
fn many() -> u32 {
    let threads = pool::threads().unwrap() as u32;
    (64 * threads).next_multiple_of(64)
}

#[test]
fn joined_launches_have_each_thread_once() {
    let blocks = many();
    for (along_y, block, grid, joined) in [
        (0, [4, 4, 1], [blocks, 16, 1], [64, 4, 1]),
        (1, [4, 4, 1], [16, blocks, 1], [4, 64, 1]),
        (0, [3, 2, 2], [21 * blocks, 2, 3], [63, 2, 2]),
        (1, [2, 1, 5], [3, 25 * blocks, 2], [2, 25, 5]),
        (1, [7, 33, 1], [1, blocks, 1], [7, 33, 1]),
    ] {
        for joins in [0, 1] {
            let function = function(&kernel(along_y, joins), false, (false, Options::default()));
            // The second one may run on this thread, since the first one took little time.
            for _ in 0..2 {
                let (shapes, record) = launch(&function, shape(grid, block), None);
                let expected = if joins == 0 { block } else { joined };
                assert!(
                    shapes.iter().all(|it| *it == expected),
                    "{grid:?}, {block:?}: {:?}",
                    shapes[0]
                );
                let each = expected.iter().product::<u32>() / block.iter().product::<u32>();
                assert_eq!(shapes.len(), count(grid) / each as usize);
                assert!(!record.is_set());
            }
        }
    }
}

#[test]
fn launches_too_short_to_be_shared_are_joined_to_a_block_for_each_thread() {
    let threads = pool::threads().unwrap() as u32;
    let function = function(&kernel(0, 64), false, (false, Options::default()));
    let joined = |ns, grid| {
        function.block_ns.store(ns, Ordering::Relaxed);
        function.joined(&shape(grid, [32, 1, 1])).map_or(1, |joined| joined.blocks)
    };
    let grid = [4, threads, 1];
    // Never measured, 1 ns for each of them, and a millisecond.
    assert_eq!([0, 1, 1_000_000].map(|ns| joined(ns, grid)), [1, 4, 1]);
    assert_eq!(joined(1, [threads, 1, 1]), 1, "no thread would be left without");
}

#[test]
fn panics_of_joined_blocks_name_the_block_and_the_thread() {
    let blocks = many();
    for (along_y, block, grid) in [
        (0, [4, 4, 1], [blocks, 16, 1]),
        (1, [3, 5, 2], [16, blocks, 1]),
        (0, [1, 7, 1], [blocks, 2, 2]),
    ] {
        let function = function(&kernel(along_y, 1), false, (false, Options::default()));
        for place in [[0, 0, 0], [13, 11, 1], [31, 29, 0], [15, 8, 0]] {
            let place = [0, 1, 2].map(|it| place[it] % (grid[it] * block[it]));
            let (shapes, record) = launch(&function, shape(grid, block), Some(place));
            assert!(shapes.iter().all(|it| *it != block));
            assert_eq!(record.block, [0, 1, 2].map(|it| place[it] / block[it]), "{place:?}");
            assert_eq!(record.thread, [0, 1, 2].map(|it| place[it] % block[it]), "{place:?}");
        }
    }
}

#[test]
fn launches_whose_blocks_are_told_apart_are_left_alone() {
    let options = Options::default();
    let guarded = Options { guard_pages: Some(Placement::After), ..options };
    let (grid, block) = ([many(), 16, 1], [4, 4, 1]);
    let joins = |cooperative, device, shape: Checked| {
        function(&kernel(0, 1), cooperative, device).joined(&shape).is_some()
    };
    assert!(joins(false, (false, options), shape(grid, block)));
    assert!(!joins(false, (true, options), shape(grid, block)), "in order");
    assert!(!joins(true, (false, options), shape(grid, block)), "cooperative");
    assert!(!joins(false, (false, guarded), shape(grid, block)), "beside guard pages");
    let dynamic = Checked { dynamic_shared_bytes: 4, ..shape(grid, block) };
    assert!(!joins(false, (false, options), dynamic), "with dynamic shared memory");
    assert!(function(&kernel(0, 0), false, (false, options)).joined(&shape(grid, block)).is_none());
}
