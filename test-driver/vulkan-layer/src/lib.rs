//! A layer before the Vulkan loader, for tests: the functions of devices that wgpu calls, each of which calls the one of the
//! same name in the real library.
//!
//! What is made and destroyed is counted, so that a leak is seen, and calls fail on demand. Programs find it as their
//! `libvulkan.so.1` by `LD_LIBRARY_PATH`. It exports `vkGetInstanceProcAddr`, by which
//! [they find everything else](https://docs.vulkan.org/spec/latest/chapters/initialization.html#initialization-functionpointers).
//!
//! # Environment variables
//!
//! | Variable | Meaning |
//! |---|---|
//! | `VULKAN_LAYER_LIBRARY=/usr/lib/x86_64-linux-gnu/libvulkan.so.1` | the real library, by its whole path |
//! | `VULKAN_LAYER_FAIL=vkQueueSubmit at call 2 with -4` | that call fails with that `VkResult`; `any` counts the calls of all functions |
//! | `VULKAN_LAYER_LEAK_CHECK=1` | at exit, what is left is printed, and the process exits with code 97 |
//!
//! A program can ask how many objects of a kind there are, with `vulkan_layer_count`.
//!
//! # Layers
//!
//! A module imports only from layers below its own: `api` (the functions), `state` (what is counted, and which call is to
//! fail).

mod api;
mod state;
