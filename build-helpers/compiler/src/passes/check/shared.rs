//! Static shared memory: that it is shared, and how much a block of the target can have.
//!
//! Needs: an optimised module, in which only entries are visible and shared memory has its address space.
//! The assembler finds it too, but takes the whole file down then, and for PTX it runs on the device. It
//! lays arrays out with their alignments, so what is found here is the least that they take.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{
    base::demangle::demangle,
    diagnostic::Fault,
    ir::{SharedMemory, globals_with_shared_parts, reachable, shared_globals, users_in_code},
    target_info::TargetInfo,
};

/// A fault for each place that has a `SharedArray` as a value, or a value with one in it: its initial value is copied
/// there. A static with one in it is none of shared memory either.
pub(super) fn find_values<'c>(context: &'c Context, module: &Module<'c>) -> Vec<Fault> {
    let initial = shared_globals(module).into_iter().map(|memory| memory.global);
    let values = initial.filter(|global| global.is_global_constant());
    let values = values.chain(globals_with_shared_parts(module));
    let users: Vec<_> = values.flat_map(users_in_code).collect();
    if users.is_empty() {
        return Vec::new();
    }
    let call_chains = CallChains::of(context, module);
    let message =
        "has a `SharedArray` that is not a `static mut` of its own, and so is not in shared memory";
    let help = "write `static mut TILE: SharedArray<T, N> = SharedArray::UNINIT;` in the kernel, or take a \
                `BlockArray<T, N>` as a parameter";
    let fault =
        |user: Value<'c>| Fault::new(Code::SharedMemory, message, call_chains.to(user)).help(help);
    users.into_iter().map(fault).collect()
}

/// The alignment of the memory that the run time gives a block on the CPU.
const CPU_ALIGNMENT: u64 = 128;

/// A fault for each use of a shared array with more alignment than a block's memory has on the CPU. On GPUs
/// shared memory starts at an address of any alignment.
pub(super) fn find_alignments<'c>(context: &'c Context, module: &Module<'c>) -> Vec<Fault> {
    let aligned = shared_globals(module).into_iter().filter(|memory| memory.align > CPU_ALIGNMENT);
    let users = |memory: SharedMemory<'c>| {
        users_in_code(memory.global).into_iter().map(move |user| (memory.align, user))
    };
    let users: Vec<_> = aligned.flat_map(users).collect();
    if users.is_empty() {
        return Vec::new();
    }
    let call_chains = CallChains::of(context, module);
    let fault = |(align, user): (u64, Value<'c>)| {
        let message = format!(
            "has a shared array whose elements are aligned to {align} bytes; on the CPU shared memory is aligned \
             to {CPU_ALIGNMENT}"
        );
        let help = "align the elements to 128 bytes or less";
        Fault::new(Code::SharedMemory, message, call_chains.to(user)).help(help)
    };
    users.into_iter().map(fault).collect()
}

/// The bytes of shared memory that the kernels of a source may have on the CPU, where each thread of the host
/// that runs blocks has so much.
const CPU_LIMIT: u64 = 1 << 30;

/// A fault for each use of the largest shared array, where those of a source take more than the CPU's limit.
pub(super) fn find_too_large<'c>(context: &'c Context, module: &Module<'c>) -> Vec<Fault> {
    let arrays = shared_globals(module);
    let bytes = arrays.iter().fold(0_u64, |sum, array| sum.saturating_add(array.bytes));
    let largest = arrays.iter().max_by_key(|array| array.bytes);
    let Some(largest) = largest.filter(|_| bytes > CPU_LIMIT) else { return Vec::new() };
    let call_chains = CallChains::of(context, module);
    let message = format!(
        "the kernels of the source have {bytes} bytes of static shared memory, and on the CPU they can have \
         {CPU_LIMIT} at most: this array has {}",
        largest.bytes
    );
    let fault = |user| {
        Fault::new(Code::SharedMemory, message.clone(), call_chains.to(user))
            .help("make the arrays smaller")
    };
    users_in_code(largest.global).into_iter().map(fault).collect()
}

/// A fault for each kernel with more static shared memory than a block can have.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let Some((limit, spaces)) = backend.shared_limit().zip(backend.address_spaces()) else {
        return Vec::new();
    };
    let machine = backend.machine();
    let is_shared = |value: &Value<'c>| {
        value.is_global() && !value.is_declaration() && value.ty().address_space() == spaces.shared
    };
    let kernels = module.definitions().into_iter().filter(|it| it.linkage() == Linkage::External);
    let over_limit = |kernel: Value<'c>| {
        let arrays = reachable(kernel).into_iter().filter(is_shared);
        let mut arrays: Vec<_> = arrays.map(|it| (machine.size_of(it.value_type()), it)).collect();
        arrays.sort_by_key(|(bytes, array)| (std::cmp::Reverse(*bytes), array.name()));
        let bytes: u64 = arrays.iter().map(|(bytes, _)| bytes).sum();
        (bytes > limit).then(|| fault(kernel, &arrays, (bytes, limit), call_chains))
    };
    kernels.filter_map(over_limit).collect()
}

/// Which parameter of a kernel has the array of this path, from 0: the entry that `#[kernel]` generates names
/// it so.
fn block_array(path: &str) -> Option<usize> {
    let (_, name) = path.rsplit_once("::__kernelmill_p")?;
    name.strip_suffix("_len")?.parse().ok()
}

/// The fault of a kernel, at a use of its largest array, or of another where that has no line.
fn fault<'c>(
    kernel: Value<'c>,
    arrays: &[(u64, Value<'c>)],
    (bytes, limit): (u64, u64),
    call_chains: &CallChains<'c>,
) -> Fault {
    let shown = |(bytes, array): &(u64, Value<'c>)| {
        let name = array.name();
        let path = demangle(name.rsplit_once("_in").map_or(&*name, |(name, _)| name));
        match block_array(&path) {
            Some(index) => format!("the `BlockArray` that is parameter {} has {bytes}", index + 1),
            None => format!("`{path}` has {bytes}"),
        }
    };
    let message = format!(
        "kernel `{}` has {bytes} bytes of static shared memory, and a block of the target has {limit} at \
         most: {}",
        demangle(&kernel.name()),
        arrays.iter().map(shown).collect::<Vec<_>>().join(", "),
    );
    let used = reachable(kernel);
    let users = arrays.iter().flat_map(|(_, array)| users_in_code(*array));
    let users = users.filter(|user| used.contains(&user.block().function()));
    let mut places = users.map(|user| call_chains.to(user)).collect::<Vec<_>>();
    // LLVM merges instructions of several lines into one that has none.
    places.sort_by_key(|frames| frames.iter().all(|frame| frame.line == 0));
    let mut frames = places.into_iter().next().unwrap_or_default();
    if frames.iter().any(|frame| !frame.library) {
        frames.retain(|frame| !frame.library);
    }
    Fault::new(Code::SharedMemory, message, frames).help(
        "make the arrays smaller, or use `DynamicSharedArray`, of which some devices allow more",
    )
}
