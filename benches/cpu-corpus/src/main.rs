//! Kernels in CUDA C++ of public suites (PolyBench/GPU, Rodinia, HeCBench), as they are, through kernelmill's CPU target,
//! against plain loops in C with OpenMP on the same threads: every output compared, times taken in turns.
//!
//! ```text
//! cargo xtask bench corpus        fetches the suites, runs, writes benches/results/cpu-corpus.md
//!
//! export CORPUS_POLYBENCH=$PWD/target/corpus/polybench CORPUS_RODINIA=$PWD/target/corpus/rodinia
//! export CORPUS_HECBENCH=$PWD/target/corpus/hecbench
//! cargo run --release -p cpu-corpus --features kernels -- gemm        rows with that in their names
//! cargo run --release -p cpu-corpus --features kernels -- --verify    compares outputs, and measures nothing
//!
//! cargo run --release -p cpu-corpus --features cuda -- --cuda [--verify] [--limit SECONDS] [NAME]
//! ```
//!
//! `--cuda` runs the rows on the first NVIDIA GPU, compares their outputs with those of the plain loops, and times the kernels
//! alone. The program needs no files then: it can be carried to a machine with a GPU. `KERNELMILL_CUDA_COMPILER=clang` has
//! the kernels compiled by clang and kernelmill, `nvcc` by that. `--limit` is how long a row may take, 120 s where it is not given.

#[cfg(feature = "kernels")]
mod arguments;
#[cfg(feature = "kernels")]
mod hecbench;
#[cfg(feature = "kernels")]
mod kernels;
#[cfg(feature = "kernels")]
mod numbers;
#[cfg(feature = "kernels")]
mod on_cpu;
#[cfg(feature = "cuda")]
mod on_cuda;
#[cfg(feature = "kernels")]
mod plain;
#[cfg(feature = "kernels")]
mod polybench;
#[cfg(feature = "kernels")]
mod rodinia;
#[cfg(feature = "kernels")]
mod row;
#[cfg(feature = "kernels")]
mod suites;
#[cfg(feature = "cuda")]
mod supervise;
#[cfg(feature = "cuda")]
#[path = "../../common/cuda_times.rs"]
mod times;

#[cfg(not(feature = "kernels"))]
fn main() {
    println!("run `cargo xtask bench corpus`, which fetches the kernels");
}

#[cfg(feature = "kernels")]
fn main() -> row::Outcome {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let asked = arguments::Arguments::read(&arguments)?;
    #[cfg(feature = "cuda")]
    if asked.is_on_cuda {
        return supervise::run(&asked);
    }
    #[cfg(feature = "cuda")]
    if let Some(skipped) = asked.rows_after {
        let ran = on_cuda::run(&asked, skipped);
        return ran.inspect_err(|error| on_cuda::say(&["error", &error.to_string()]));
    }
    on_cpu::run(&asked)
}
