//! Prints the processor time, in seconds, that the build script took: what kernelmill takes to compile a file in CUDA C++
//! for the CPU, in a build script as Cargo builds it.
//!
//! ```text
//! cargo xtask bench corpus --only compile-time                                   all files of the corpus, against nvcc
//! KERNELMILL_CACHE=off COMPILE_TIME_FILE=/path/to/file.cu cargo run -p compile-time     one file, and all that it needs
//! ```

fn main() {
    println!("{}", env!("COMPILE_TIME_SECONDS"));
}
