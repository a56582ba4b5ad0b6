//! Kernels in blocks that are narrow along x: vectorised, not vectorised, and on the emulator, for blocks of many shapes.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::Lowering;

const BLOCKS: u32 = 2;

/// The elements for each thread.
const ELEMENTS: u32 = 3;

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("narrow_blocks"));

/// Blocks of one to three threads along x, with columns of whole vectors and not, blocks that are small along both axes, and
/// others.
fn shapes() -> Vec<[u32; 3]> {
    let heights = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40, 64, 100];
    let narrow = [1, 2, 3].into_iter().flat_map(|width| heights.map(|height| [width, height, 1]));
    let deep = [[1, 20, 3], [2, 9, 5], [3, 17, 2], [5, 7, 3], [1, 1, 40], [2, 33, 4]];
    let small = [[4, 4, 1], [8, 8, 1], [4, 3, 2], [8, 5, 3], [2, 2, 1], [4, 1, 1], [8, 1, 1]];
    let between = [[5, 5, 1], [6, 2, 2], [7, 3, 1], [12, 4, 1], [20, 2, 1], [24, 3, 1]];
    let wide = [[4, 64, 1], [7, 40, 1], [9, 8, 1], [15, 17, 1], [16, 5, 1], [33, 3, 1]];
    narrow.chain(deep).chain(small).chain(between).chain(wide).collect()
}

/// Runs a kernel in blocks of all shapes, for each of some arguments.
fn compare(kernel: &str, arguments: &[u32]) {
    for shape in shapes() {
        for &argument in arguments {
            let words = ELEMENTS * BLOCKS * shape.iter().product::<u32>();
            let launch = Launch { grid: [BLOCKS, 1, 1], block: shape, shared: 0 };
            let out = Value::Words(vec![0xabcd; words as usize]);
            let values = [out, Value::Words(numbers(words, 1)), Value::of(argument)];
            let what = format!("{kernel} in blocks of {shape:?} with {argument}");
            // What a shuffle gives from a lane that the block does not have is not defined there.
            let is_emulated =
                kernel != "narrow_warps" || shape.iter().product::<u32>().is_multiple_of(32);
            WAYS.compare((kernel, &what), launch, (&values, 1), is_emulated);
        }
    }
}

/// All are kernels with vectors in both directions and with shorter ones, of each lowering that has vectors.
#[test]
fn vectors_go_along_y_or_are_shorter_in_narrow_blocks() {
    for kernel in &WAYS.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.narrow_along_y, "{}: {strategy}", kernel.name);
        assert!(strategy.to_string().contains(", along y in narrow blocks"), "{strategy}");
        assert_eq!(strategy.narrow_width, 4, "{}: {strategy}", kernel.name);
        assert!(strategy.to_string().contains(", width 4 in narrow blocks"), "{strategy}");
    }
    let lowerings =
        WAYS.vectorized.kernels.iter().map(|it| &it.strategy.as_ref().unwrap().lowering);
    let (mut plain, mut regions, mut collectives, mut exits) = (0, 0, 0, 0);
    for lowering in lowerings {
        match lowering {
            Lowering::ThreadLoop => plain += 1,
            Lowering::BarrierRegions { warp_collectives, early_exits, .. } => {
                regions += 1;
                collectives += u32::from(*warp_collectives > 0);
                exits += u32::from(*early_exits > 0);
            }
            Lowering::Coroutine(_) => panic!("{lowering}"),
        }
    }
    assert_eq!([plain, regions, collectives, exits], [4, 6, 1, 1]);
}

#[test]
fn loops_without_barriers() {
    compare("narrow_rows", &[0, 11, 1000]);
    compare("narrow_columns", &[3]);
    compare("narrow_strides", &[0, 1, ELEMENTS]);
    compare("narrow_row_strides", &[0, 1, ELEMENTS]);
}

#[test]
fn shared_memory_and_barriers() {
    compare("narrow_tile", &[1, 2, 40]);
    compare("narrow_scan", &[5]);
}

#[test]
fn threads_that_exit_before_barriers() {
    compare("narrow_exits", &[0, 1, 7, 1000]);
}

#[test]
fn warp_collectives() {
    compare("narrow_warps", &[0, 9]);
}

#[test]
fn arrays_of_threads_over_barriers() {
    compare("narrow_arrays", &[0, 4]);
}

/// A thread that ends the launch is named by its place, before a barrier and after one.
#[test]
fn threads_that_fail_are_named() {
    for (shape, thread) in [([1, 40, 1], [0, 37, 0]), ([3, 33, 2], [1, 20, 1])] {
        let [width, height, depth] = shape;
        let mut elements = numbers(width * height * depth, 1);
        elements.iter_mut().for_each(|it| *it |= 1);
        elements[((thread[2] * width + thread[0]) * height + thread[1]) as usize] = 0;
        for after in [0, 1] {
            let out = Value::Words(vec![0; elements.len()]);
            let values = [out, Value::Words(elements.clone()), Value::of(after)];
            let launch = Launch { grid: [1, 1, 1], block: shape, shared: 0 };
            let [vectors, _] = WAYS.errors_on_cpu("narrow_traps", launch, &values);
            let panic = match vectors {
                Some(kernelmill::Error::KernelPanic(panic)) => panic,
                other => panic!("{other:?}"),
            };
            assert_eq!(panic.thread, thread, "{shape:?}, {after}");
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
