//! The operations of `kernelmill_device` that depend on which thread asks.

use kernelmill_llvm::ir::Value;

/// The address of the block's shared memory; the compiler's own, no kernel calls it by name.
pub(super) const SHARED_BASE: &str = "__kernelmill_shared_base";

/// Marks the thread as one that exits at the next exit barrier; the compiler's own.
pub(super) const EARLY_EXIT: &str = "__kernelmill_early_exit";

/// The barrier after early exits; the compiler's own.
pub(super) const EXIT_BARRIER: &str = "__kernelmill_exit_barrier";

/// Marks the thread as absent from the next barrier of its kind on, with a number; the compiler's own.
pub(super) const LEAVE: &str = "__kernelmill_leave";

/// The barrier at which threads become absent, or are present again; the compiler's own.
pub(super) const ABSENCE_BARRIER: &str = "__kernelmill_absence_barrier";

/// Whether any thread is present; the compiler's own.
pub(super) const ANY_PRESENT: &str = "__kernelmill_any_present";

/// Marks that the warp collective after it names lanes that may be absent; the compiler's own.
pub(super) const ALL_LANES: &str = "__kernelmill_all_lanes";

/// Marks where a function tests what is left of the stack; the compiler's own.
pub(super) const STACK_CHECK: &str = "__kernelmill_stack_check";

/// An operation that needs the context of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Axis of the thread's index in its block.
    ThreadIndex(u64),
    /// Axis of the block's index.
    BlockIndex(u64),
    /// Axis of the block's size.
    BlockDim(u64),
    /// Axis of the grid's size.
    GridDim(u64),
    /// The thread's place in its warp.
    Lane,
    /// The block's shared memory.
    SharedBase,
    /// The dynamic part of it.
    DynamicShared,
    /// The size of the dynamic part.
    DynamicSharedBytes,
    /// The record of panics.
    PanicRecord,
    /// A fence.
    Fence,
    /// The end of the thread.
    Exit,
    /// A barrier of the block.
    Barrier,
    /// A barrier of the grid.
    GridBarrier,
    /// The thread exits at the next exit barrier; the compiler's own.
    EarlyExit,
    /// The barrier after early exits; the compiler's own. Its operands are those of an absence barrier.
    ExitBarrier,
    /// The thread is absent from the next absence barrier on; the compiler's own. Its operand is the number of the
    /// absence.
    Leave,
    /// The barrier at which threads become absent or are present again; the compiler's own. Its operands are the
    /// number of the absence that ends, and that of the one at whose end the block goes on where no thread is
    /// present; 0 for none, and for the end of the kernel.
    AbsenceBarrier,
    /// Whether any thread is present, which holds for all that ask; the compiler's own.
    AnyPresent,
    /// The warp collective after it names lanes that may be absent; the compiler's own.
    AllLanes,
    /// The test of what is left of the stack; the compiler's own.
    StackCheck,
    /// A warp collective, by the run time's number.
    Warp(u64),
}

/// The run time's numbers of warp collectives.
pub(super) mod number {
    pub(in crate::cpu) const BARRIER: u64 = 0;
    pub(in crate::cpu) const SHUFFLE: u64 = 1;
    pub(in crate::cpu) const SHUFFLE_XOR: u64 = 2;
    pub(in crate::cpu) const SHUFFLE_UP: u64 = 3;
    pub(in crate::cpu) const BALLOT: u64 = 5;
    pub(in crate::cpu) const ACTIVE_MASK: u64 = 6;
}

/// Operations of warps, by the run time's number.
const WARP: [&str; 7] = [
    "warp_barrier",
    "warp_shuffle",
    "warp_shuffle_xor",
    "warp_shuffle_up",
    "warp_shuffle_down",
    "warp_ballot",
    "active_mask",
];

impl Operation {
    /// The operation that a function of this name is.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix(crate::base::names::PREFIX)?;
        if let Some(number) = WARP.iter().position(|operation| *operation == name) {
            return Some(Self::Warp(number as u64));
        }
        if let Some((stem, axis)) = name.rsplit_once('_')
            && let Some(axis) = ["x", "y", "z"].iter().position(|letter| *letter == axis)
        {
            let axis = axis as u64;
            return match stem {
                "thread_idx" => Some(Self::ThreadIndex(axis)),
                "block_idx" => Some(Self::BlockIndex(axis)),
                "block_dim" => Some(Self::BlockDim(axis)),
                "grid_dim" => Some(Self::GridDim(axis)),
                _ => None,
            };
        }
        match name {
            "lane_id" => Some(Self::Lane),
            "shared_base" => Some(Self::SharedBase),
            "dynamic_shared" => Some(Self::DynamicShared),
            "dynamic_shared_bytes" => Some(Self::DynamicSharedBytes),
            "panic_record" => Some(Self::PanicRecord),
            "fence_block" | "fence_device" => Some(Self::Fence),
            "exit" => Some(Self::Exit),
            "barrier" => Some(Self::Barrier),
            "grid_barrier" => Some(Self::GridBarrier),
            "early_exit" => Some(Self::EarlyExit),
            "exit_barrier" => Some(Self::ExitBarrier),
            "leave" => Some(Self::Leave),
            "absence_barrier" => Some(Self::AbsenceBarrier),
            "any_present" => Some(Self::AnyPresent),
            "all_lanes" => Some(Self::AllLanes),
            "stack_check" => Some(Self::StackCheck),
            _ => None,
        }
    }

    /// The operation that a call does.
    pub(super) fn of_call(call: Value<'_>) -> Option<Self> {
        Self::from_name(&call.called_function()?.name())
    }

    /// Whether a thread waits for others.
    pub(super) fn waits(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::GridBarrier
                | Self::ExitBarrier
                | Self::AbsenceBarrier
                | Self::Warp(_)
        )
    }

    /// Whether it only says where a thread is.
    pub(super) fn is_place(self) -> bool {
        matches!(
            self,
            Self::ThreadIndex(_)
                | Self::BlockIndex(_)
                | Self::BlockDim(_)
                | Self::GridDim(_)
                | Self::Lane
        )
    }

    /// Whether it names shared memory.
    pub(super) fn names_shared(self) -> bool {
        matches!(self, Self::SharedBase | Self::DynamicShared)
    }
}

/// The calls of a function that do an operation of the context.
pub(super) fn operations<'c>(function: Value<'c>) -> Vec<(Value<'c>, Operation)> {
    let calls = function.calls().into_iter();
    calls.filter_map(|call| Some((call, Operation::of_call(call)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_operations() {
        use Operation::*;
        for (name, operation) in [
            ("thread_idx_x", Some(ThreadIndex(0))),
            ("grid_dim_z", Some(GridDim(2))),
            ("warp_shuffle", Some(Warp(1))),
            ("warp_shuffle_down", Some(Warp(4))),
            ("active_mask", Some(Warp(6))),
            ("barrier", Some(Barrier)),
            ("grid_barrier", Some(GridBarrier)),
            ("math_sin_f32", None),
            ("panic", None),
        ] {
            assert_eq!(Operation::from_name(&format!("__kernelmill_{name}")), operation, "{name}");
        }
        assert_eq!(Operation::from_name("barrier"), None);
    }
}
