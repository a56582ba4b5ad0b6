//! Targets: one back end each, with the same file names, behind one trait and one [`lookup()`].

mod amd;
mod backend;
mod bitcode;
mod cpu;
mod lookup;
mod nvidia;
mod spirv;
mod vulkan;

pub(crate) use backend::{Backend, Emitted};
pub(crate) use cpu::Cpu;
pub(crate) use lookup::lookup;
pub(crate) use nvidia::{ptx_version_needed, replace_entry, with_name};
