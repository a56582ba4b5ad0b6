//! A layer before the OpenCL library, for tests: the functions that kernelmill's OpenCL back end calls, each of which calls
//! the one of the same name in the real library.
//!
//! What is made and released is counted, so that a leak is seen, and calls fail on demand. SPIR-V is translated for
//! an implementation that reads none. Programs load it in the place of
//! the library by the environment variable `OPENCL_DYLIB_PATH`.
//!
//! # Environment variables
//!
//! | Variable | Meaning |
//! |---|---|
//! | `OPENCL_LAYER_FAIL=clFinish at call 2` | that call fails, with `CL_OUT_OF_RESOURCES`; `any` counts the calls of all functions |
//! | `OPENCL_LAYER_LEAK_CHECK=1` | at exit, what is left is printed, and the process exits with code 97 |
//! | `OPENCL_LAYER_SPIRV=llvm-spirv-15` | devices read SPIR-V: a module becomes bitcode by that program |
//! | `OPENCL_LAYER_PLATFORMS=1` | each device is of a platform of its own, `Platform 1`, `Platform 2`; with `POCL_DEVICES="basic pthread"` there are two |
//! | `OPENCL_LAYER_MULTIPLE=96` | of every kernel the library prefers workgroups of a multiple of so many work-items |
//! | `OPENCL_LAYER_WITHOUT_SVM=1` | devices have no shared virtual memory; with `fine` none that the host can use while kernels run |
//!
//! Tests in the same process call `opencl_layer_fail`, `opencl_layer_failed`, `opencl_layer_next` and `opencl_layer_left`, so that each call of a
//! program can fail without a process for it.
//!
//! # Layers
//!
//! A module imports only from layers below its own: `api` (the exported functions), `platforms` (those that list platforms and
//! devices), `state` (what is counted, and which call is to fail), `spirv` (the translation of modules).

mod api;
mod platforms;
mod spirv;
mod state;
