//! Random kernels in CUDA C++: as text for compilers, and as what they compute by plain Rust.
//!
//! ```
//! let program = random_cuda::generate(1, 0);
//! let text = random_cuda::source(&[&program]);
//! assert!(text.contains("__global__") && text.contains("random_0"));
//! let memory = random_cuda::interpret(&program, 2, 1000).expect("a short program");
//! assert_eq!(memory.out.len(), 2 * program.threads());
//! ```

mod generate;
mod interpret;
mod operators;
mod print;
mod program;
mod shrink;

pub use generate::generate;
pub use interpret::{BLOCKS, COUNT, Memory, inputs, interpret};
pub use print::source;
pub use program::{INPUTS, Program};
pub use shrink::shrink;
