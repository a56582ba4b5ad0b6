//! The stack that a kernel needs. On the CPU its functions run on the stack of a thread of the host, which
//! nobody asks how large it is.
//!
//! What is added up is the stack memory of the functions on the longest way of calls, each function once:
//! how deep a recursion goes is not known before it runs.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{
    diagnostic::{Fault, Frame},
    ir::{Frames, alloca_bytes, allocas, callees},
    target_info::TargetInfo,
};

/// The bytes that a kernel may take: half of what Rust's threads have by default.
const LIMIT: u64 = 1 << 20;

/// A fault for each function that needs more, and calls none that does.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let (limit, message, help) = match backend.is_gpu() {
        true => (GPU_LIMIT, GPU_MESSAGE, GPU_HELP),
        false => (LIMIT, MESSAGE, HELP),
    };
    let machine = backend.machine();
    let mut frames = Frames::new(machine);
    let mut faults = Vec::new();
    for function in module.definitions() {
        let is_over = frames.deepest(function) > limit;
        if is_over && callees(function).into_iter().all(|it| frames.deepest(it) <= limit) {
            let largest = allocas(function).into_iter().max_by_key(|it| alloca_bytes(*it, machine));
            let place = largest.and_then(|alloca| place(alloca, call_chains));
            let frames = place.unwrap_or_else(|| call_chains.to_start_of(function));
            faults.push(Fault::new(Code::Stack, message, frames).help(help));
        }
    }
    faults
}

/// The bytes that a kernel may take on a GPU, where each has a limit of its own: LLVM's back ends count them in 32
/// bits, and write nothing beyond.
const GPU_LIMIT: u64 = 1 << 30;

const GPU_MESSAGE: &str =
    "the local variables of a kernel, or of what it calls, take more than 1 GiB of local memory";

const GPU_HELP: &str = "put large arrays into a slice that the host passes: the local memory of a thread has less than 1 MiB";

const MESSAGE: &str =
    "the local variables of a kernel, or of what it calls, take more than 1 MiB of stack";

const HELP: &str = "put large arrays into a slice that the host passes, or into a shared array; on the CPU a kernel runs on the \
     stack of a thread of the host";

/// Where stack memory is first used on a line that is known.
fn place<'c>(alloca: Value<'c>, call_chains: &CallChains<'c>) -> Option<Vec<Frame>> {
    let uses = alloca.users().into_iter().filter(|user| user.is_instruction());
    let places = uses.map(|user| call_chains.to(user));
    places.into_iter().find(|frames| frames.iter().any(|frame| frame.line > 0))
}
