//! Runs NVIDIA PTX kernels on the CPU and says what is wrong with them.
//!
//! [`Module::parse`] reads PTX as LLVM and nvcc write it. A [`Device`] has memory, takes modules and
//! launches kernels; a launch ends with a [`Report`], or with the [`Fault`] of a thread: an access out
//! of bounds, a deadlock, a read of what was never written, a race, each with its PTX line, and with
//! its source line where the PTX has one. [`explore()`] tries many orders of the threads, and a
//! [`Mutation`] makes a kernel wrong, to see whether its tests notice.
//!
//! ```
//! use ptx_emulator::{Device, Launch, Module, Options, Properties};
//! let module = Module::parse("
//! .version 6.3
//! .target sm_75
//! .address_size 64
//! .visible .entry answer(.param .u64 out)
//! {
//!     .reg .b64 %rd<2>;
//!     ld.param.u64 %rd1, [out];
//!     st.global.u32 [%rd1], 42;
//!     ret;
//! }").unwrap();
//! let device = Device::new(Properties::default());
//! let out = device.allocate(4, 4).unwrap();
//! let loaded = device.load(&module).unwrap();
//! let launch = Launch { arguments: &[&out.to_le_bytes()], ..Launch::default() };
//! device.launch(&loaded, "answer", &launch, &Options::default()).unwrap();
//! let mut bytes = [0; 4];
//! device.read(out, &mut bytes).unwrap();
//! assert_eq!(u32::from_le_bytes(bytes), 42);
//! ```
//!
//! # What it is not
//! It does not replace `ptxas`, which refuses what the emulator takes, nor a device: approximate
//! functions are nearly correctly rounded here, every launch sees memory in one order, and nothing
//! is said about speed.

#![expect(
    clippy::result_large_err,
    reason = "a launch fails once, and its fault is meant to be matched on"
)]

mod arithmetic;
mod coverage;
mod decode;
mod device;
mod execute;
mod explore;
mod fault;
mod launch;
mod loaded;
mod memory;
mod module;
mod mutation;
mod program;
mod properties;
mod races;
mod syntax;
mod tensor_map;

pub use coverage::{Coverage, Covered};
pub use device::Device;
pub use explore::{Failure, explore, explore_with};
pub use fault::{Access, Fault, FaultKind, Nearest, Space};
pub use launch::{Launch, Options, Order, Report};
pub use loaded::Loaded;
pub use memory::MemoryError;
pub use module::{Kernel, Module, Parameter, Unsupported};
pub use mutation::Mutation;
pub use properties::Properties;
pub use syntax::{ParseError, ParseErrors};
pub use tensor_map::TensorMap;
