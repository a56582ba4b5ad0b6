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
//! ```

#[cfg(feature = "kernels")]
mod hecbench;
#[cfg(feature = "kernels")]
mod kernels;
#[cfg(feature = "kernels")]
mod numbers;
#[cfg(feature = "kernels")]
mod plain;
#[cfg(feature = "kernels")]
mod polybench;
#[cfg(feature = "kernels")]
mod rodinia;
#[cfg(feature = "kernels")]
mod row;

#[cfg(not(feature = "kernels"))]
fn main() {
    println!("run `cargo xtask bench corpus`, which fetches the kernels");
}

#[cfg(feature = "kernels")]
fn main() -> row::Outcome {
    let part = std::env::args().nth(1).unwrap_or_default();
    let verify_only = part == "--verify";
    let mut table = row::Table::new(if verify_only { String::new() } else { part }, verify_only)?;
    polybench::rows(&mut table)?;
    rodinia::rows(&mut table)?;
    hecbench::rows(&mut table)?;
    table.finish()
}
