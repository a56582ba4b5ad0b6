//! The context arrays of block functions: the run time gives each as much memory as it uses. Vectors of
//! 16 threads are those of AVX-512.
#![cfg(target_arch = "x86_64")]

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::Config;

/// 40 values of each of 512 threads live across barriers. In the function for any block they are one array
/// of 32-bit elements; in the one for blocks of 512 threads the loop is unrolled, and each value has 8 bytes
/// of its own: together more than a function has on its stack.
const KERNEL: &str = "use kernelmill_device::prelude::*;
#[kernel(launch_bounds = 512)]
pub fn kept(mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 512> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    unsafe { TILE[t % 512] = t as u32 };
    let mut values = [0; 40];
    let mut step = 0;
    while step < 40 {
        thread::sync_threads();
        values[step] = unsafe { TILE[(t + step) % 512] };
        step += 1;
    }
    thread::sync_threads();
    let (mut all, mut step) = (0, 0);
    while step < 40 {
        all ^= values[step];
        step += 1;
    }
    if let Some(out) = y.get_mut(i) {
        *out = all;
    }
}
";

#[test]
fn the_function_for_one_block_size_has_its_memory() {
    let (source, lowered) = lower("context_arrays", KERNEL);
    let mut config = Config::new("cpu".parse().unwrap());
    (config.options.optimize, config.options.validate) = (false, false);
    let code = compiler().inspect(&job("context_arrays", &source, &lowered, &config)).unwrap();
    let kernel = code.lines().find(|line| line.contains(" = hidden constant {")).unwrap();
    // The version, the strategy, the bytes of shared memory, then those of each thread.
    let numbers: Vec<u64> =
        kernel.split("i64 ").filter_map(|text| text.split(',').next()?.parse().ok()).collect();
    let bytes = 512 * numbers[1];
    let used = used(&code);
    assert!(used > 128 << 10, "{used}");
    assert!(used <= bytes, "{used} of {bytes} bytes");
}

/// The end of what the function for blocks of 512 threads accesses of its memory, in vectors of 16.
fn used(code: &str) -> u64 {
    let name = "@kernelmill_cpu_context_arrays_kept_run16_specialized(";
    let function = code
        .split("\ndefine ")
        .find(|function| function.lines().next().unwrap().contains(name))
        .unwrap()
        .split("\n}\n")
        .next()
        .unwrap();
    let lines = || function.lines().map(str::trim);
    // The address is at offset 40 of the block.
    let field = lines().find(|line| line.ends_with(", i64 40")).unwrap();
    let load = format!("= load ptr, ptr {},", field.split(' ').next().unwrap());
    let base = lines().find(|line| line.contains(&load)).unwrap().split(' ').next().unwrap();
    let from = format!("getelementptr inbounds nuw i8, ptr {base}, i64 ");
    let offsets =
        lines().filter_map(|line| line.split_once(&from)?.1.split(',').next()?.parse::<u64>().ok());
    offsets.max().unwrap() + 4 * 16
}
