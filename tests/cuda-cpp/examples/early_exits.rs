//! What an early return before barriers costs on the CPU: vectorised regions, as they are chosen, and coroutines.
//!
//! ```text
//! cargo run --release -p cuda-cpp --example early_exits
//! ```
//!
//! For each kernel one line: milliseconds of a launch, the median of samples taken in turn. What the two
//! compute is compared, and for the reduction with plain Rust.

use std::time::Instant;

use cuda_cpp::{Launch, OnCpu, Value, lower, written};
use kernelmill_compiler::Params;

/// A block reduction with and without a return, a stencil with a border that leaves, and sums by shuffles.
const TEXT: &str = r#"
#define FULL 0xffffffffu
extern "C" __global__ void reduce(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    if (i >= n) return;
    tile[t] = x[i % 65536];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
extern "C" __global__ void reduce_if(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    if (i < n) tile[t] = x[i % 65536];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
extern "C" __global__ void stencil(unsigned *out, const unsigned *x, unsigned w) {
    __shared__ float tile[18][18];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
    if (column >= w || row >= w) return;
    float value = x[(row * w + column) % 65536] % 1000;
    tile[ty + 1][tx + 1] = value;
    __syncthreads();
    for (int step = 1; step < 8; step++) {
        bool inside = tx >= step && tx < 16 - step && ty >= step && ty < 16 - step && column + step < w && row + step < w;
        float next = value;
        if (inside)
            next = value + 0.2f * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] - 4 * value);
        __syncthreads();
        value = next;
        tile[ty + 1][tx + 1] = value;
        __syncthreads();
    }
    if (tx == 8 && ty == 8) out[blockIdx.y * gridDim.x + blockIdx.x] = __float_as_uint(value);
}
extern "C" __global__ void shuffles(unsigned *out, const unsigned *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned sum = x[i % 65536];
    for (int by = 16; by > 0; by >>= 1) sum += __shfl_xor_sync(FULL, sum, by);
    if (i % 32 == 0) out[i / 32] = sum;
}
"#;

const SAMPLES: usize = 15;
const BLOCKS: u32 = 4096;
const THREADS: u32 = 256;

fn main() {
    let file = written("early_exits_bench", TEXT);
    let source = lower(&file).unwrap_or_else(|error| panic!("{error}"));
    let signatures = source.signatures("cpu");
    let runs = [true, false].map(|vectorize| {
        let params = Params { vectorize, contract: false, ..Params::default() };
        let artifact = source.compile_with("cpu", params).unwrap_or_else(|error| panic!("{error}"));
        if vectorize {
            for kernel in &artifact.kernels {
                let strategy = kernel.strategy.as_ref().map(ToString::to_string);
                println!("{}: {}", kernel.name, strategy.unwrap_or_default());
            }
        }
        OnCpu::new(&artifact, &signatures, &source.name).unwrap_or_else(|error| panic!("{error}"))
    });
    println!("| kernel | vectorised, ms | coroutines, ms | times |\n|{}", " --- |".repeat(4));
    // Not whole warps, and not whole blocks.
    let n = BLOCKS * THREADS - 1000;
    let x: Vec<u32> = (0..65536_u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 12).collect();
    let square = Launch { grid: [64, 64, 1], block: [16, 16, 1], shared: 0 };
    let line = Launch::linear(BLOCKS, THREADS);
    for (kernel, launch, written, size) in [
        ("reduce", line, BLOCKS, n),
        ("reduce_if", line, BLOCKS, n),
        ("stencil", square, BLOCKS, 1020),
        ("shuffles", line, BLOCKS * THREADS / 32, n / 32 * 32),
    ] {
        let values =
            [Value::Words(vec![0; written as usize]), Value::Words(x.clone()), Value::of(size)];
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..SAMPLES {
            let mut results = Vec::new();
            for (run, times) in runs.iter().zip(&mut times) {
                let start = Instant::now();
                let after = run.run(kernel, launch, &values).unwrap();
                times.push(start.elapsed().as_secs_f64() * 1e3);
                results.push(after[0].words().to_vec());
            }
            assert_eq!(results[0], results[1], "{kernel}");
            if kernel.starts_with("reduce") {
                let element = |i: u32| if i < n { x[i as usize % 65536] } else { 0 };
                let sum = |block: u32| {
                    (0..THREADS)
                        .fold(0_u32, |sum, t| sum.wrapping_add(element(block * THREADS + t)))
                };
                // A block all of whose threads have returned writes nothing.
                let has_any = |block: u32| kernel == "reduce_if" || block * THREADS < n;
                let expected = (0..BLOCKS).map(|block| if has_any(block) { sum(block) } else { 0 });
                assert_eq!(results[0], expected.collect::<Vec<_>>(), "{kernel}");
            }
        }
        let median = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[SAMPLES / 2]
        });
        println!(
            "| {kernel} | {:.2} | {:.1} | {:.1} |",
            median[0],
            median[1],
            median[1] / median[0]
        );
    }
}
