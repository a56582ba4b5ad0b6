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
//! It does not replace `ptxas`, which refuses some declarations that the emulator takes, nor a device: approximate
//! functions are nearly correctly rounded here, every launch sees memory in one order, and nothing
//! is said about speed.

//!
//! # Layers
//!
//! A module imports only from layers below its own.
//!
//! | layer | what |
//! |---|---|
//! | `device` | devices: properties, memory, loaded modules, launches, exploration of orders |
//! | `module` | a module from its text: parse, decode, analyse |
//! | `analysis` | control-flow graph, registers that may be read before they are written |
//! | `decode` | syntax tree to decoded program and code: names to slots, instructions to handlers |
//! | `execute` | schedulers of grids, blocks and threads; warp collectives; handlers of instructions |
//! | `checks` | the race detector |
//! | `program` | the decoded program: functions, variables, operands of collectives |
//! | `memory` | the generic address space, allocations, words, kinds of accesses, tensor maps |
//! | `launch` | what a launch is given and gives back: options, faults, coverage, report |
//! | `arithmetic` | what instructions compute |
//! | `ptx` | text to syntax tree; mutations of the text |

#![expect(
    clippy::result_large_err,
    reason = "a launch fails once, and its fault is meant to be matched on"
)]

mod analysis;
mod arithmetic;
mod checks;
mod decode;
mod device;
mod execute;
mod launch;
mod memory;
mod module;
mod program;
mod ptx;

pub use device::{Device, Failure, Loaded, Properties, explore, explore_with};
pub use launch::{
    Access, Coverage, Covered, Fault, FaultKind, Launch, Nearest, Options, Order, Report, Space,
};
pub use memory::{MemoryError, TensorMap};
pub use module::Module;
pub use program::{Kernel, Parameter, Unsupported};
pub use ptx::{Mutation, ParseError, ParseErrors};
