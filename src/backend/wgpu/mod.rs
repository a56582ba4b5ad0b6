//! The wgpu back end: devices of [Vulkan](https://registry.khronos.org/vulkan/),
//! [Metal](https://developer.apple.com/metal/) and [Direct3D 12](https://microsoft.github.io/DirectX-Specs/), through the
//! crate [wgpu](https://docs.rs/wgpu), for kernels in WGSL.
//!
//! The Vulkan loader is opened when the program runs. What is the same for every driver is in [`gpu`](super::gpu). A
//! binary is SPIR-V that naga wrote in the build; it goes to drivers of Vulkan 1.2 and later as it is ([`module`]), is
//! translated for others ([`translation`]), and says itself which groups and bindings its kernels use ([`interface`]).
//!
//! Buffers of wgpu have no addresses. Each is given a range of numbers that nothing else has ([`buffers`]), with which the
//! host computes as with the addresses of other back ends, and a launch finds the buffer and the offset again. A device has
//! one queue: streams are views of it, and what is put on one comes after all that any was given before.

mod bound;
mod buffers;
mod calls;
mod compiled;
pub(crate) mod context;
mod devices;
mod driver;
mod driver_context;
mod event;
mod fences;
mod fused;
mod groups;
mod interface;
mod launch;
mod memory;
mod module;
mod once;
mod records;
mod shader;
mod staging;
pub(super) mod support;
mod translation;
mod variables;
