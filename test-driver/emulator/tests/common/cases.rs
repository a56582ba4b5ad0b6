//! Real kernels with inputs, and what the host says their results are.

#![allow(dead_code, reason = "each test program uses a part of this")]

use super::common::{Argument, Bench, Random};
use ptx_emulator::Options;

/// A kernel that can be run and checked.
pub(crate) struct Case {
    /// File in `tests/ptx`, without its extension.
    pub(crate) name: &'static str,
    /// Text of the file.
    pub(crate) text: &'static str,
    /// Runs the kernel in a text of the file, perhaps with changes; an error says how it failed.
    pub(crate) check: fn(&str, &Options) -> Result<(), String>,
}

macro_rules! cases {
    ($($name:ident)*) => {
        /// All cases.
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            text: include_str!(concat!("../ptx/", stringify!($name), ".ptx")),
            check: $name,
        }),*];
    };
}

cases! {
    block_sum warp_sum histogram scan transpose matmul stencil bitonic last_block functions warps
    handoff tensor fragments staged rust_reduce rust_shared rust_nbody
}

use Argument::{Buffer, F32, U32, U64};

fn compare<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) -> Result<(), String> {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(at) => Err(format!("[{at}] is {:?}, not {:?}", found[at], expected[at])),
        None if found.len() == expected.len() => Ok(()),
        None => Err("other lengths".to_string()),
    }
}

fn close(found: &[f32], expected: &[f32]) -> Result<(), String> {
    let far = |(found, expected): (&f32, &f32)| {
        let tolerance = 1e-4 * expected.abs().max(1.0);
        found.is_nan() || (found - expected).abs() > tolerance
    };
    match found.iter().zip(expected).position(far) {
        Some(at) => Err(format!("[{at}] is {}, not {}", found[at], expected[at])),
        None => Ok(()),
    }
}

fn run(
    bench: &Bench,
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    arguments: &[Argument],
    options: &Options,
) -> Result<(), String> {
    let result = bench.launch_shaped(kernel, grid, block, 0, arguments, options);
    result.map(|_| ()).map_err(|fault| fault.to_string())
}

fn floats(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.unit() * 16.0).floor() - 8.0).collect()
}

fn block_sum(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input = floats(1, 1000);
    let out = bench.buffer(&[0f32; 4]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out), U32(1000)];
    run(&bench, "block_sum", [4, 1, 1], [256, 1, 1], &arguments, options)?;
    let expected: Vec<f32> = input.chunks(256).map(|chunk| chunk.iter().sum()).collect();
    compare(&bench.values(out, 4), &expected)
}

fn warp_sum(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<i32> = (0..500).map(|i| i * 7 - 900).collect();
    let out = bench.buffer(&[0i32]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out), U32(500)];
    run(&bench, "warp_sum", [4, 1, 1], [128, 1, 1], &arguments, options)?;
    compare(&bench.values(out, 1), &[input.iter().sum::<i32>()])
}

fn histogram(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let mut random = Random::new(3);
    let input: Vec<u8> = (0..3000).map(|_| (random.next() % 40) as u8).collect();
    let bins = bench.buffer(&[0u32; 256]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(bins), U32(3000)];
    run(&bench, "histogram", [3, 1, 1], [256, 1, 1], &arguments, options)?;
    let mut expected = vec![0u32; 256];
    input.iter().for_each(|&byte| expected[byte as usize] += 1);
    compare(&bench.values(bins, 256), &expected)
}

fn scan(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<u32> = (0..512).map(|i| i % 13 + 1).collect();
    let out = bench.buffer(&[0u32; 512]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out)];
    run(&bench, "scan", [2, 1, 1], [256, 1, 1], &arguments, options)?;
    let sums = |chunk: &[u32]| -> Vec<u32> {
        chunk
            .iter()
            .scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
            .collect()
    };
    let expected: Vec<u32> = input.chunks(256).flat_map(sums).collect();
    compare(&bench.values(out, 512), &expected)
}

fn transpose(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<f32> = (0..32 * 32).map(|i| i as f32).collect();
    let out = bench.buffer(&vec![0f32; 32 * 32]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out), U32(32)];
    run(&bench, "transpose", [2, 2, 1], [16, 16, 1], &arguments, options)?;
    let expected: Vec<f32> = (0..32 * 32).map(|i| input[i % 32 * 32 + i / 32]).collect();
    compare(&bench.values(out, 32 * 32), &expected)
}

fn matmul(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let (a, b) = (floats(4, 1024), floats(5, 1024));
    let c = bench.buffer(&vec![0f32; 1024]);
    let arguments = [Buffer(bench.buffer(&a)), Buffer(bench.buffer(&b)), Buffer(c), U32(32)];
    run(&bench, "matmul", [2, 2, 1], [16, 16, 1], &arguments, options)?;
    let element = |i: usize| (0..32).map(|k| a[i / 32 * 32 + k] * b[k * 32 + i % 32]).sum();
    let expected: Vec<f32> = (0..1024).map(element).collect();
    compare(&bench.values(c, 1024), &expected)
}

fn stencil(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input = floats(6, 384);
    let out = bench.buffer(&vec![0f32; 384]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out), U32(384)];
    run(&bench, "stencil", [3, 1, 1], [128, 1, 1], &arguments, options)?;
    let at = |i: usize| input.get(i).copied().unwrap_or(0.0);
    let element = |i: usize| 0.25 * at(i.wrapping_sub(1)) + 0.5 * at(i) + 0.25 * at(i + 1);
    let expected: Vec<f32> = (0..384).map(element).collect();
    compare(&bench.values(out, 384), &expected)
}

fn bitonic(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let mut random = Random::new(7);
    let mut values: Vec<u32> = (0..512).map(|_| random.next() as u32 % 10_000).collect();
    let data = bench.buffer(&values);
    run(&bench, "bitonic", [2, 1, 1], [256, 1, 1], &[Buffer(data)], options)?;
    values.chunks_mut(256).for_each(<[u32]>::sort_unstable);
    compare(&bench.values(data, 512), &values)
}

fn last_block(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<u32> = (0..640).map(|i| i * i % 101).collect();
    let (partial, counter, out) =
        (bench.buffer(&[0u32; 5]), bench.buffer(&[0u32]), bench.buffer(&[0u32]));
    let arguments = [Buffer(bench.buffer(&input)), Buffer(partial), Buffer(counter), Buffer(out)];
    run(&bench, "last_block", [5, 1, 1], [128, 1, 1], &arguments, options)?;
    compare(&bench.values(out, 1), &[input.iter().sum::<u32>()])
}

fn functions(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let out = bench.buffer(&[0i32; 8]);
    run(&bench, "recursive", [1, 1, 1], [8, 1, 1], &[Buffer(out)], options)?;
    compare(&bench.values(out, 8), &[3, 5, 7, 9, 11, 13, 15, 17])?;
    let (input, out) = (floats(8, 32), bench.buffer(&[0f32; 32]));
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out)];
    run(&bench, "indirect", [1, 1, 1], [32, 1, 1], &arguments, options)?;
    let apply = |(i, &x): (usize, &f32)| [x + 1.0, x * x, -x][i % 3];
    let expected: Vec<f32> = input.iter().enumerate().map(apply).collect();
    compare(&bench.values(out, 32), &expected)
}

fn warps(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<i32> = (0..32).map(|i| i % 9).collect();
    let out = bench.buffer(&[0u32; 192]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out)];
    run(&bench, "warps", [1, 1, 1], [32, 1, 1], &arguments, options)?;
    let mask = |keep: &dyn Fn(i32) -> bool| -> u32 {
        input.iter().enumerate().map(|(lane, &value)| u32::from(keep(value)) << lane).sum()
    };
    let expected: Vec<u32> = input
        .iter()
        .flat_map(|&own| {
            let same = mask(&|value| value & 3 == own & 3);
            let sum = input.iter().sum::<i32>() as u32;
            [mask(&|value| value > 3), same, 0, sum, 1 + 2, u32::MAX]
        })
        .collect();
    compare(&bench.values(out, 192), &expected)?;
    let input: Vec<i32> = (0..96).map(|i| i % 9).collect();
    let out = bench.buffer(&[0i32; 96]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out)];
    run(&bench, "counts", [1, 1, 1], [96, 1, 1], &arguments, options)?;
    let expected = input.iter().filter(|&&value| value > 3).count() as i32 + 1000;
    compare(&bench.values(out, 96), &[expected; 96])
}

fn handoff(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let out = bench.buffer(&[0i32; 32]);
    run(&bench, "handoff", [1, 1, 1], [64, 1, 1], &[Buffer(out)], options)?;
    let expected: Vec<i32> = (0..32).map(|i| (31 - i) * (31 - i)).collect();
    compare(&bench.values(out, 32), &expected)
}

/// The bits of a small integer as `f16`.
fn half(value: i32) -> u16 {
    let magnitude = value.unsigned_abs() as u16;
    let Some(exponent) = magnitude.checked_ilog2() else { return 0 };
    let mantissa = (magnitude << (10 - exponent)) & 0x3ff;
    u16::from(value < 0) << 15 | (exponent as u16 + 15) << 10 | mantissa
}

fn tensor(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let (a, b): (Vec<i32>, Vec<i32>) =
        ((0..256).map(|i| i % 11 - 5).collect(), (0..128).map(|i| i % 7 - 3).collect());
    let bits = |values: &[i32]| -> Vec<u8> {
        values.iter().flat_map(|&value| half(value).to_le_bytes()).collect()
    };
    let c = bench.buffer(&[0f32; 128]);
    let arguments = [Buffer(bench.buffer(&bits(&a))), Buffer(bench.buffer(&bits(&b))), Buffer(c)];
    run(&bench, "tensor", [1, 1, 1], [32, 1, 1], &arguments, options)?;
    let element = |i: usize| (0..16).map(|k| a[i / 8 * 16 + k] * b[k * 8 + i % 8]).sum::<i32>();
    let expected: Vec<f32> = (0..128).map(|i| element(i) as f32).collect();
    compare(&bench.values(c, 128), &expected)
}

fn fragments(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let (a, b): (Vec<i32>, Vec<i32>) =
        ((0..256).map(|i| i % 11 - 5).collect(), (0..256).map(|i| i % 7 - 3).collect());
    let bits = |values: &[i32]| -> Vec<u8> {
        values.iter().flat_map(|&value| half(value).to_le_bytes()).collect()
    };
    let c = bench.buffer(&[0f32; 256]);
    let arguments = [Buffer(bench.buffer(&bits(&a))), Buffer(bench.buffer(&bits(&b))), Buffer(c)];
    run(&bench, "fragments", [1, 1, 1], [32, 1, 1], &arguments, options)?;
    let element = |i: usize| (0..16).map(|k| a[i / 16 * 16 + k] * b[i % 16 * 16 + k]).sum::<i32>();
    let expected: Vec<f32> = (0..256).map(|i| (element(i) + 1) as f32 * 2.0).collect();
    compare(&bench.values(c, 256), &expected)
}

fn staged(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input = floats(9, 256);
    let out = bench.buffer(&[0f32; 256]);
    let arguments = [Buffer(bench.buffer(&input)), Buffer(out)];
    bench
        .launch_shaped("staged", [1; 3], [64, 1, 1], 1024, &arguments, options)
        .map_err(|fault| fault.to_string())?;
    let expected: Vec<f32> = input.chunks(4).rev().flatten().copied().collect();
    compare(&bench.values(out, 256), &expected)
}

fn rust_reduce(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input = floats(10, 2000);
    let out = bench.buffer(&[0f32; 2]);
    let arguments = [Buffer(bench.buffer(&input)), U64(2000), Buffer(out), U64(2)];
    run(&bench, "reduce", [2, 1, 1], [256, 1, 1], &arguments, options)?;
    let sum = |block: usize| {
        input.iter().enumerate().filter(|(i, _)| i / 256 % 2 == block).map(|(_, x)| x).sum::<f32>()
    };
    compare(&bench.values(out, 2), &[sum(0), sum(1)])
}

fn rust_shared(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let input: Vec<u32> = (0..128).map(|i| i * 3 + 1).collect();
    let out = bench.buffer(&[0u32; 128]);
    let arguments = || [Buffer(bench.buffer(&input)), U64(128), Buffer(out), U64(128)];
    run(&bench, "reverse_blocks", [2, 1, 1], [64, 1, 1], &arguments(), options)?;
    let expected: Vec<u32> =
        input.chunks(64).flat_map(|chunk| chunk.iter().rev()).copied().collect();
    compare(&bench.values(out, 128), &expected)?;
    run(&bench, "early_exit", [2, 1, 1], [64, 1, 1], &arguments(), options)?;
    let left = |i: usize| if i.is_multiple_of(64) { 0 } else { input[i - 1] };
    let expected: Vec<u32> = (0..128).map(|i| input[i] + left(i)).collect();
    compare(&bench.values(out, 128), &expected)
}

fn rust_nbody(text: &str, options: &Options) -> Result<(), String> {
    let bench = Bench::new(text);
    let count = 300;
    let bodies: Vec<f32> = floats(11, count * 4).iter().map(|value| value.abs() + 0.5).collect();
    let velocities = bench.buffer(&vec![0f32; count * 3]);
    let arguments = [
        F32(0.01),
        F32(0.5),
        Buffer(bench.buffer(&bodies)),
        U64(count as u64),
        Buffer(velocities),
        U64(count as u64),
    ];
    run(&bench, "accelerate", [2, 1, 1], [256, 1, 1], &arguments, options)?;
    let pull = |i: usize, axis: usize| -> f32 {
        let own = &bodies[i * 4..i * 4 + 4];
        let sum: f32 = bodies
            .chunks(4)
            .map(|other| {
                let d = |axis: usize| other[axis] - own[axis];
                let square = d(0) * d(0) + d(1) * d(1) + d(2) * d(2) + 0.5;
                d(axis) * other[3] / (square * square.sqrt())
            })
            .sum();
        0.01 * sum
    };
    let expected: Vec<f32> = (0..count * 3).map(|i| pull(i / 3, i % 3)).collect();
    close(&bench.values(velocities, count * 3), &expected)
}
