//! A fake NVIDIA driver: `libcuda.so.1` for machines without a GPU, on which kernels run
//! in the [PTX emulator](ptx_emulator).
//!
//! Programs that open the driver when they run, as those with cudarc do, need not be changed. They
//! find this library if the folder with it comes first in `LD_LIBRARY_PATH`. It has to be there
//! under two names, `libcuda.so.1` and `libcuda.so`, because programs try both:
//!
//! ```sh
//! cargo build --package fake-cuda
//! mkdir driver
//! ln -s "$PWD/target/debug/libfake_cuda.so" driver/libcuda.so
//! ln -s "$PWD/target/debug/libfake_cuda.so" driver/libcuda.so.1
//! LD_LIBRARY_PATH=driver FAKE_CUDA_LEAK_CHECK=1 cargo test
//! ```
//!
//! # What it is like
//!
//! - **Streams are asynchronous.** Each has a thread. A launch returns before the kernel has run; the
//!   legacy default stream waits for blocking streams and they for it; events order the others.
//!   Copies of pageable memory are done with it when they return, those of pinned memory are not.
//! - **Kernels are checked.** An access outside an allocation, or to one that was freed, a misaligned
//!   one, a deadlock, a read of what was never written: the context has the error that CUDA has for
//!   it from then on. The next call that waits reports it, and all calls after that; what happened,
//!   with the lines of PTX and source, the block and the thread, is printed to stderr once. Where the source is there,
//!   its line is drawn too.
//! - **Launches are refused** as the real driver does: for too many threads, too much shared memory,
//!   sizes of 0.
//! - **Handles are numbers** that are never given out twice, so that one that is stale, or of another
//!   kind, is `CUDA_ERROR_INVALID_HANDLE` and not undefined behaviour.
//! - **A process that is forked** cannot use the driver: every call is `CUDA_ERROR_NOT_INITIALIZED`.
//! - **Managed and pinned memory** is the host's own, and every device reaches it. A device does not
//!   reach the memory of another; copies between them work.
//!
//! # What it is not
//!
//! Machine code (cubins) is refused with `CUDA_ERROR_NO_BINARY_FOR_GPU`: only PTX can be run. There
//! are no textures, surfaces, arrays, clusters, virtual memory management, linker (`cuLink*`),
//! libraries (`cuLibrary*`), graphics interoperability, memory or events that are shared between
//! processes, and no peer access. Time is that of the emulator, and occupancy is estimated from the
//! registers that PTX declares.
//!
//! # Environment variables
//!
//! A value that cannot be understood is said to stderr, and `cuInit` fails.
//!
//! | Variable | Meaning |
//! |---|---|
//! | `FAKE_CUDA_DEVICES=2` | How many devices there are, 0 to 32; 1 if not set. With 0, `cuInit` fails as it does without a GPU. |
//! | `FAKE_CUDA_ARCH=90a` | What the devices are: `75`, `80`, `86`, `89`, `90`, `90a`, `100`, `100a`, `103`; `80` if not set. Several with commas are one a device, and the last one is that of all further devices. Only those with an `a` take PTX for `sm_90a` and the like. |
//! | `FAKE_CUDA_MEMORY=1000000` | Bytes of memory of each device; 8 GiB if not set. |
//! | `FAKE_CUDA_ORDER=random:7` | The order of blocks and threads: `forward`, `reverse` or `random:SEED`; `forward` if not set. |
//! | `FAKE_CUDA_STREAMS=lazy` | When streams do their work: `eager`, as soon as they can, or `lazy`, when something waits for it, and then no more of it than that: what a program forgot to order then comes too late, and a module that is unloaded before its launches have run is an error. `eager` if not set. |
//! | `FAKE_CUDA_VERSION=11020` | The version that `cuDriverGetVersion` gives, here CUDA 11.2; every function is there all the same. 13.5 if not set. |
//! | `FAKE_CUDA_THREADS=4` | Cores that run the blocks of a launch, 0 for all; 1 if not set, so that each run is like the one before. |
//! | `FAKE_CUDA_RACES=1` | Data races of kernels are asynchronous errors. |
//! | `FAKE_CUDA_UNWRITTEN=1` | Reads of registers and shared memory that were never written are none. |
//! | `FAKE_CUDA_STEPS=1000000` | Instructions that a launch may run, all threads together; then it ends with `CUDA_ERROR_LAUNCH_TIMEOUT`. |
//! | `FAKE_CUDA_FAIL=cuMemAlloc at call 3` | Makes calls fail; see below. |
//! | `FAKE_CUDA_LEAK_CHECK=1` | At exit, what the program has not given back is printed, and it exits with code 97. |
//! | `FAKE_CUDA_COVERAGE=file` | At exit, a line for each instruction of each kernel that was launched is appended to the file: kernel, line of the PTX, file and line of the source or `-`, mnemonic, and how often threads have run it, with tabs between them. |
//! | `FAKE_CUDA_MUTATE=barrier at line 120 of reduce` | Makes a kernel wrong, to see whether tests notice: in a line of the PTX of the module with the kernel, a `barrier` is deleted, the `address` of an access shifted, or a `comparison` flipped. |
//!
//! `FAKE_CUDA_FAIL` is a list of rules with semicolons between them, each of the form
//! `FUNCTION at call NUMBER [onwards] [with ERROR]`. The function is named without `_v2` and the like;
//! calls are counted from 1. `any` stands for all functions, whose calls are counted together, and
//! the one that fails is printed. With `onwards`, all later calls fail too. The error is a name of
//! `cuda.h`, with or without `CUDA_ERROR_`, or a number; if there is none, allocations run out of
//! memory, launches out of resources, and modules are not PTX. For example
//! `cuMemAllocAsync at call 3; cuStreamSynchronize at call 1 onwards with LAUNCH_FAILED`.
//!
//! # Leaks
//!
//! What is counted: contexts (primary ones with how often they are retained), modules, streams,
//! events, graphs, pools, and memory of every kind. What was freed only because its context was
//! destroyed leaks as well, unless an asynchronous error had made the context useless.
//!
//! # Layers
//!
//! A module imports only from layers below its own.
//!
//! | layer | what |
//! |---|---|
//! | `api` | the exported functions, and the table of `cuGetProcAddress` |
//! | `lifetime` | `cuInit`, forks, the end of contexts, the leak check |
//! | `event` | events |
//! | `context` | contexts, the current and the primary ones, submission of work in order |
//! | `stream` | streams and their queues |
//! | `graph` | graphs and stream capture |
//! | `work` | what streams and graphs do |
//! | `module` | modules, functions, launches, occupancy |
//! | `memory` | allocations, pools, device and host memory, copies |
//! | `driver` | the devices |
//! | `device`, `emulator` | profiles and attributes of devices; the emulator of each |
//! | `coverage`, `config` | coverage of kernels; the environment variables |
//! | `base` | errors, handles, the boundary to C |

mod api;
mod base;
mod config;
mod context;
mod coverage;
mod device;
mod driver;
mod emulator;
mod event;
mod graph;
mod lifetime;
mod memory;
mod module;
mod stream;
mod work;
