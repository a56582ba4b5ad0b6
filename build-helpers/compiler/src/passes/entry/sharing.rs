//! `noalias` on parameters: what LLVM may assume of memory that the threads of a launch share.
//!
//! [`noalias`](https://llvm.org/docs/LangRef.html#parameter-attributes) says that memory which is
//! modified *by any means* while the function runs is modified through the parameter alone. LLVM concludes
//! that no barrier, fence or atomic of other memory changes it, so that a load after a barrier gives what
//! one before it gave. Where a function only reads such memory, LLVM concludes that it is `readonly`, and
//! NVIDIA's back end reads it by `ld.global.nc`, which need not see what other threads write. But the other
//! threads of a launch run the same kernel with the same addresses. So [`Sharing::promises`] decides, and
//! nothing else does:
//!
//! - Memory that a kernel only reads is `noalias`: the host lends it for the whole launch. Elements with
//!   interior mutability, those of `&[AtomicU32]` for one, count as written ([`Access::Write`]).
//! - Memory that a kernel writes is `noalias` where no thread can learn of the writes of another: to read
//!   them would be a data race, which is undefined.

use std::collections::HashMap;

use kernelmill_artifact::Access;
use kernelmill_llvm::ir::{Opcode, Value};

use crate::{
    base::names::{PREFIX, is_panic},
    ir::reachable_through,
    target_info::TargetInfo,
};

/// Where the threads of a launch learn of each other's writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sharing {
    /// Nowhere.
    Never,
    /// At barriers of the block.
    AtBarriers,
    /// Anywhere: by atomics, fences, volatile accesses or assembly.
    #[default]
    Anywhere,
}

/// What a kernel does with memory that its threads share.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelSharing {
    /// Where its threads learn of each other's writes.
    pub(crate) sharing: Sharing,
    /// The parameters of its shim of which `noalias` holds between two barriers, although it does not
    /// hold of the kernel as a whole.
    pub(crate) between_barriers: Vec<u32>,
}

/// The kernels of a module, by their symbols.
pub(crate) type KernelsSharing = HashMap<String, KernelSharing>;

/// The operation that is a barrier of a block.
const BARRIER: &str = "barrier";

/// How other operations start whose names say what they do.
const OPERATIONS: [&str; 7] =
    ["warp_", "fence_", "tma_", "copy_async_", "wgmma_", "print", "active_mask"];

/// Those of them that order memory.
const ORDERING: [&str; 6] =
    ["warp_barrier", "fence_", "tma_", "copy_async_", "wgmma_", "grid_barrier"];

impl Sharing {
    /// What a function does, with everything that it calls.
    pub(super) fn of(function: Value<'_>, backend: &dyn TargetInfo) -> Self {
        let all = reachable_through(function, &|value| operation(&value.name()).is_none());
        let functions = all.into_iter().filter(|it| it.is_function());
        functions.map(|it| Self::of_one(it, backend)).max().unwrap_or(Self::Never)
    }

    /// What one function does itself.
    fn of_one(function: Value<'_>, backend: &dyn TargetInfo) -> Self {
        let name = function.name();
        if let Some(sharing) = operation(&name) {
            return sharing;
        }
        let is_foreign = function.is_declaration() && !function.is_intrinsic();
        let is_unknown = is_foreign && !backend.provides(&name) && !name.starts_with(PREFIX);
        match is_unknown || function.instructions().into_iter().any(orders_memory) {
            true => Self::Anywhere,
            false => Self::Never,
        }
    }

    /// Whether the memory of a parameter is `noalias`.
    pub(crate) fn promises(self, access: Access) -> bool {
        access == Access::Read || self == Self::Never
    }
}

/// What an operation of the device crate does. A panic ends its thread, so nothing is read after it.
fn operation(function: &str) -> Option<Sharing> {
    if is_panic(function) {
        return Some(Sharing::Never);
    }
    let name = function.strip_prefix(PREFIX)?;
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    match name {
        BARRIER => Some(Sharing::AtBarriers),
        _ if starts(&ORDERING) => Some(Sharing::Anywhere),
        _ => starts(&OPERATIONS).then_some(Sharing::Never),
    }
}

/// Whether an instruction orders accesses to memory, or sees what other threads write.
fn orders_memory(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Fence => true,
        Opcode::Load | Opcode::Store => instruction.is_exact_access(),
        Opcode::Call => instruction.has_assembly_with_effects(),
        _ => false,
    }
}
