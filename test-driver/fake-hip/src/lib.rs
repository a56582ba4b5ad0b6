//! A fake HIP run time: `libamdhip64.so` for machines without an AMD GPU, on which launches run the CPU's code
//! of the same kernel.
//!
//! There is no emulator of AMD's processors here. A test registers, for each kernel of a code object, the
//! kernel that the same build has compiled for the CPU and linked into the test (`execute`). A launch checks
//! the code object's own description of the kernel, copies the arguments as that says, and runs the CPU's
//! code on them. Whole kernels with barriers, shared memory and panics run so, with results to compare,
//! because both binaries come of one source. What is not seen is a fault in the machine code of the GPU.
//!
//! # What it is like
//!
//! - **Streams are asynchronous**, without threads: each has a queue, whose work is done when something
//!   waits for it. `FAKE_HIP_STREAMS` says how much work is done at other times; `lazy` is none, so that
//!   what a program forgot to order comes too late.
//! - **Arguments are checked**: handles, which are never given out twice, sizes, devices, the limits of
//!   launches, and the layout of arguments against the note `NT_AMDGPU_METADATA`.
//! - **Memory that is freed** is filled with `0xdd` and not given out again. A copy or a launch that uses it
//!   is `hipErrorIllegalAddress` from then on. `hipFree` waits for nothing, unlike the real one.
//! - **Memory of `hipMallocAsync`** is there when its stream comes to that, and until a stream comes to `hipFreeAsync`. Work
//!   that is done before or after is a fault too, and so is work that is queued after `hipFreeAsync` was called. It takes its
//!   bytes of the device all the while: `hipMallocAsync` waits for no other memory to be freed. Unlike in the real one, memory
//!   of `hipMalloc` is freed by `hipFree` alone, and that of `hipMallocAsync` by `hipFreeAsync`.
//! - **Misuse is counted** and printed to stderr, and so is what is not given back.
//!
//! # Environment variables
//!
//! | Variable | Meaning |
//! |---|---|
//! | `FAKE_HIP_DEVICES=2` | how many devices there are; 1 if not set |
//! | `FAKE_HIP_ARCH=gfx1100` | what `gcnArchName` says of each; `gfx1100` if not set |
//! | `FAKE_HIP_MEMORY=1000000` | bytes of memory of each device; 8 GiB if not set |
//! | `FAKE_HIP_COOPERATIVE=0` | devices without cooperative launches |
//! | `FAKE_HIP_POOLS=0` | devices without stream-ordered allocation |
//! | `FAKE_HIP_STREAMS=lazy` | when work is done: `eager`, `lazy` or `random:SEED`; `eager` if not set |
//! | `FAKE_HIP_FAIL=hipMalloc at call 3` | makes calls fail: rules `FUNCTION at call NUMBER [onwards] [with CODE]` with semicolons between them; `any` counts the calls of all functions |
//! | `FAKE_HIP_LEAK_CHECK=1` | at exit, leaks and misuse are printed, and the process exits with code 97 |
//!
//! # Layers
//!
//! A module imports only from layers below its own: `api` (the exported functions), `call` (what every call
//! does first), `leak`, `state` (everything that there is), `queue`, `graph`, `execute`, `printing`, `module`, `metadata`,
//! `memory`, `config`, `failures`, `code`.

mod api;
mod call;
mod code;
mod config;
mod execute;
mod failures;
mod graph;
mod leak;
mod memory;
mod metadata;
mod module;
mod printing;
mod queue;
mod state;
