//! What warp collectives under divergent branches and in loops of different lengths cost on the CPU: vectorised
//! regions, as they are chosen, coroutines, and plain loops in Rust.
//!
//! ```text
//! cargo run --release -p cuda-cpp --example warp_branches
//! ```
//!
//! For each kernel one line: milliseconds of a launch, the median of samples taken in turn, on as many threads as
//! the run time has. What the two compilations compute is compared bit by bit, and with the loops to the last but four
//! digits. Each time has the copies of the arrays in it.

use std::{thread, time::Instant};

use cuda_cpp::{Launch, OnCpu, Value, lower, written};
use kernelmill_compiler::Params;

/// A stencil whose first row of threads adds up the block's change, rows that a warp normalises each, after a return
/// under a condition, sums of sparse rows in a loop, and a dot product in two steps.
const TEXT: &str = r#"
#define FULL 0xffffffffu
static __device__ float warp_sum(float value) {
    for (int by = 16; by > 0; by >>= 1) value += __shfl_xor_sync(FULL, value, by);
    return value;
}
extern "C" __global__ void relax(float *next, float *change, const float *x, unsigned w, unsigned h) {
    __shared__ float tile[8][32];
    unsigned column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float moved = 0;
    if (column > 0 && column < w - 1 && row > 0 && row < h - 1) {
        unsigned i = row * w + column;
        float value = 0.25f * (x[i - 1] + x[i + 1] + x[i - w] + x[i + w]);
        next[i] = value;
        moved = (value - x[i]) * (value - x[i]);
    }
    tile[threadIdx.y][threadIdx.x] = moved;
    __syncthreads();
    if (threadIdx.y == 0) {
        float sum = 0;
        for (int k = 0; k < 8; k++) sum += tile[k][threadIdx.x];
        sum = warp_sum(sum);
        if (threadIdx.x == 0) change[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}
extern "C" __global__ void normalize(float *out, float *means, const float *x, unsigned rows, unsigned width) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (unsigned row = blockIdx.x * 8 + warp; row < rows; row += gridDim.x * 8) {
        const float *from = x + row * width;
        float sum = 0, squares = 0;
        for (unsigned k = lane; k < width; k += 32) {
            sum += from[k];
            squares += from[k] * from[k];
        }
        float mean = warp_sum(sum) / width;
        float scale = rsqrtf(warp_sum(squares) / width - mean * mean + 1e-5f);
        for (unsigned k = lane; k < width; k += 32) out[row * width + k] = (from[k] - mean) * scale;
        if (lane == 0) means[row] = mean;
    }
}
extern "C" __global__ void sparse(float *out, float *unused, const float *x, unsigned rows, unsigned longest) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (unsigned row = blockIdx.x * 8 + warp; row < rows; row += gridDim.x * 8) {
        unsigned length = row * 2654435761u % longest;
        if (length < 4) {
            if (lane == 0) out[row] = 0;
            continue;
        }
        float sum = 0;
        for (unsigned k = lane; k < length; k += 32) sum += x[(row * 64 + k) % 1048576];
        sum = warp_sum(sum);
        if (lane == 0) out[row] = sum;
    }
}
extern "C" __global__ void dot(float *out, float *unused, const float *x, unsigned n, unsigned shift) {
    __shared__ float sums[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = i < n ? x[i] * x[(i + shift) % n] : 0;
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}
"#;

const SAMPLES: usize = 11;
/// Elements of the array that is read.
const ELEMENTS: usize = 1 << 20;

/// What a kernel is launched with.
struct Case {
    kernel: &'static str,
    launch: Launch,
    written: [usize; 2],
    sizes: [u32; 2],
    /// The same by plain loops: the results from `first` on, of so many blocks or rows in all.
    rows: usize,
    plain: Plain,
}

/// Plain loops over some rows: what is read, sizes, and what is written.
type Plain = fn(std::ops::Range<usize>, &[f32], [u32; 2], &mut [f32], &mut [f32]);

const CASES: [Case; 4] = [
    Case {
        kernel: "relax",
        launch: Launch { grid: [32, 128, 1], block: [32, 8, 1], shared: 0 },
        written: [ELEMENTS, 32 * 128],
        sizes: [1024, 1024],
        rows: 128,
        plain: relax,
    },
    Case {
        kernel: "normalize",
        launch: Launch { grid: [96, 1, 1], block: [256, 1, 1], shared: 0 },
        written: [ELEMENTS, 2048],
        sizes: [2048, 512],
        rows: 2048,
        plain: normalize,
    },
    Case {
        kernel: "sparse",
        launch: Launch { grid: [100, 1, 1], block: [256, 1, 1], shared: 0 },
        written: [16384, 16384],
        sizes: [16384, 200],
        rows: 16384,
        plain: sparse,
    },
    Case {
        kernel: "dot",
        launch: Launch { grid: [4096, 1, 1], block: [256, 1, 1], shared: 0 },
        written: [4096, 4096],
        sizes: [ELEMENTS as u32 - 1000, 17],
        rows: 4096,
        plain: dot,
    },
];

/// Rows of blocks, each of 8 rows of elements.
fn relax(
    rows: std::ops::Range<usize>,
    x: &[f32],
    [w, h]: [u32; 2],
    out: &mut [f32],
    more: &mut [f32],
) {
    let (w, h, first) = (w as usize, h as usize, rows.start);
    for block in rows {
        for row in block * 8..(block + 1) * 8 {
            for column in 0..w {
                if column == 0 || column == w - 1 || row == 0 || row == h - 1 {
                    continue;
                }
                let i = row * w + column;
                let value = 0.25 * (x[i - 1] + x[i + 1] + x[i - w] + x[i + w]);
                out[i - first * 8 * w] = value;
                let moved = (value - x[i]) * (value - x[i]);
                more[(block - first) * (w / 32) + column / 32] += moved;
            }
        }
    }
}

fn normalize(
    rows: std::ops::Range<usize>,
    x: &[f32],
    [_, width]: [u32; 2],
    out: &mut [f32],
    more: &mut [f32],
) {
    let (width, first) = (width as usize, rows.start);
    for row in rows {
        let from = &x[row * width..][..width];
        // In as many parts as a vector has lanes, so that it is one.
        let (mut sums, mut squares) = ([0.0; 16], [0.0; 16]);
        for part in from.as_chunks::<16>().0 {
            for (k, value) in part.iter().enumerate() {
                sums[k] += value;
                squares[k] += value * value;
            }
        }
        let mean = sums.iter().sum::<f32>() / width as f32;
        let variance = squares.iter().sum::<f32>() / width as f32 - mean * mean;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        let to = &mut out[(row - first) * width..][..width];
        to.iter_mut().zip(from).for_each(|(to, from)| *to = (from - mean) * scale);
        more[row - first] = mean;
    }
}

fn sparse(
    rows: std::ops::Range<usize>,
    x: &[f32],
    [_, longest]: [u32; 2],
    out: &mut [f32],
    _: &mut [f32],
) {
    let first = rows.start;
    for row in rows {
        let length = ((row as u32).wrapping_mul(2_654_435_761) % longest) as usize;
        if length < 4 {
            out[row - first] = 0.0;
            continue;
        }
        let start = row * 64 % ELEMENTS;
        let mut sums = [0.0; 16];
        if start + length <= ELEMENTS {
            let (parts, rest) = x[start..][..length].as_chunks::<16>();
            for part in parts {
                part.iter().enumerate().for_each(|(k, value)| sums[k] += value);
            }
            rest.iter().enumerate().for_each(|(k, value)| sums[k] += value);
        } else {
            (0..length).for_each(|k| sums[k % 16] += x[(start + k) % ELEMENTS]);
        }
        out[row - first] = sums.iter().sum();
    }
}

fn dot(
    rows: std::ops::Range<usize>,
    x: &[f32],
    [n, shift]: [u32; 2],
    out: &mut [f32],
    _: &mut [f32],
) {
    let (n, shift, first) = (n as usize, shift as usize, rows.start);
    for block in rows {
        let mut sums = [0.0; 16];
        for i in block * 256..((block + 1) * 256).min(n) {
            let other = if i + shift < n { i + shift } else { i + shift - n };
            sums[i % 16] += x[i] * x[other];
        }
        out[block - first] = sums.iter().sum();
    }
}

/// Runs the plain loops on two threads.
fn plain(case: &Case, x: &[f32]) -> [Vec<f32>; 2] {
    let mut written = case.written.map(|count| vec![0.0_f32; count]);
    let half = case.rows / 2;
    let [out, more] = &mut written;
    let middle = [out.len() / 2, more.len() / 2];
    let ([out, others], [more, others_more]) =
        (<[_; 2]>::from(out.split_at_mut(middle[0])), <[_; 2]>::from(more.split_at_mut(middle[1])));
    thread::scope(|scope| {
        scope.spawn(|| (case.plain)(half..case.rows, x, case.sizes, others, others_more));
        (case.plain)(0..half, x, case.sizes, out, more);
    });
    written
}

fn main() {
    let file = written("warp_branches_bench", TEXT);
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
    let mix = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 12) as f32 / 1_048_576.0 + 0.5;
    let x: Vec<f32> = (0..ELEMENTS as u32).map(mix).collect();
    let bits = |values: &[f32]| Value::Words(values.iter().map(|it| it.to_bits()).collect());
    println!(
        "| kernel | vectorised, ms | coroutines, ms | plain loops, ms | coroutines / vectorised | vectorised / plain |"
    );
    println!("|{}", " --- |".repeat(6));
    for case in &CASES {
        let [out, more] = case.written.map(|count| Value::Words(vec![0; count]));
        let [first, second] = case.sizes.map(Value::of);
        let values = [out, more, bits(&x), first, second];
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..SAMPLES {
            let mut results = Vec::new();
            for (run, times) in runs.iter().zip(&mut times) {
                let start = Instant::now();
                let after = run.run(case.kernel, case.launch, &values).unwrap();
                times.push(start.elapsed().as_secs_f64() * 1e3);
                results.push([0, 1].map(|it: usize| after[it].words().to_vec()));
            }
            assert_eq!(results[0], results[1], "{}", case.kernel);
            let start = Instant::now();
            let copy = x.clone();
            let expected = plain(case, &copy);
            times[2].push(start.elapsed().as_secs_f64() * 1e3);
            for (found, expected) in results[0].iter().zip(&expected) {
                for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
                    let found = f32::from_bits(*found);
                    let near = (found - expected).abs() <= 1e-4 * expected.abs().max(0.1);
                    assert!(near, "{}, element {place}: {found}, not {expected}", case.kernel);
                }
            }
        }
        let [vectorized, coroutines, loops] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[SAMPLES / 2]
        });
        println!(
            "| {} | {vectorized:.2} | {coroutines:.1} | {loops:.2} | {:.1} | {:.2} |",
            case.kernel,
            coroutines / vectorized,
            vectorized / loops
        );
    }
}
