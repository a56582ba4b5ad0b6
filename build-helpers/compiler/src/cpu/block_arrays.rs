//! Phases of block arrays: the proof that the threads of a block change them together, for every target.
//!
//! A `BlockArray` is written in one phase and read in the other, and a barrier is between them. That is free of
//! races only where all threads of a block come to the same barriers in the same order. The rule is that of
//! [WGSL](https://www.w3.org/TR/WGSL/#uniformity) for `workgroupBarrier`: barriers are in uniform control flow, and
//! the compiler proves it by the [uniformity analysis](super::uniformity). No target checks it at run time.
//!
//! Needs: a linked module of its own, in which the operations are declarations, for the passes here change it.
//! Guarantees: where there is no fault, each barrier of a kernel with block arrays is reached together by all
//! threads of a block that have not exited, and each change of a phase is one of the same array in all of them.

use crate::diagnostic::{Code, Frame};
use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    ir::{Block, ModuleExt, Opcode, Place, Value},
    machine::Machine,
};

use super::{
    context,
    early_exits::{Exit, path, without_exits},
    inlining,
    instructions::writes_panic,
    lowering::{Proof, unusual},
    operation::Operation,
    reports::Reports,
    simplification,
};
use crate::{
    Error, Fault,
    base::{demangle::demangle, names::PHASE},
    ir::{calls_of, reachable},
    passes::{
        call_chains::CallChains,
        entry::{self, Unit},
    },
};

/// What a branch may depend on.
const HELP: &str = "let conditions around barriers depend only on values that are the same for all threads of the \
                    block: parameters, the block's index, or an element of a `BlockView` at such an index. Where \
                    threads must take different branches, use a `SharedArray` in `unsafe` code";

/// A fault for each barrier of a kernel with block arrays of which it is not proven that all threads of a block
/// come to it together. `ends_group` says whether a thread that exits goes on with its group on the target.
///
/// # Errors
///
/// What LLVM reports of its passes.
pub(crate) fn find_divergent_phases(
    unit: &Unit<'_, '_>,
    machine: &Machine,
    ends_group: bool,
) -> Result<Vec<Fault>, Error> {
    prepare(unit, machine)?;
    let mut faults = Vec::new();
    for signature in unit.signatures {
        let kernel = entry::shim(unit, signature)?;
        let search = Search { unit, machine, signature, kernel };
        faults.extend(search.faults(ends_group));
    }
    Ok(faults)
}

/// Brings kernels into the form that the analysis needs: as on the way to the CPU.
fn prepare(unit: &Unit<'_, '_>, machine: &Machine) -> Result<(), Error> {
    let reports = Reports::of_module(unit.passes);
    inlining::context_users(unit);
    context::mark_waits(unit);
    // Two changes of a phase on two ways must not become one before them.
    for function in unit.module.functions() {
        let is_barrier = Operation::from_name(&function.name()).is_some_and(is_of_block);
        if is_barrier || function.name() == PHASE {
            for attribute in ["convergent", "noduplicate", "nomerge"] {
                function.add_attribute(unit.context, Place::Function, attribute, 0);
                for call in calls_of(function) {
                    call.add_attribute(unit.context, Place::Function, attribute, 0);
                }
            }
        }
    }
    simplification::simplify(unit, machine, reports)?;
    context::let_panics_return(unit);
    simplification::canonicalize(unit, machine, reports)
}

/// Whether all threads of a block wait at an operation: those of a grid do so too.
fn is_of_block(operation: Operation) -> bool {
    matches!(operation, Operation::Barrier | Operation::GridBarrier)
}

/// Whether a call changes the phase of a block array.
fn is_phase(call: Value<'_>) -> bool {
    call.called_function().is_some_and(|callee| callee.name() == PHASE)
}

/// The barriers in a function, and where it changes phases, in order.
fn barriers<'c>(function: Value<'c>) -> Vec<Value<'c>> {
    let calls = function.calls().into_iter();
    calls
        .filter(|call| is_phase(*call) || Operation::of_call(*call).is_some_and(is_of_block))
        .collect()
}

/// The search in one kernel.
struct Search<'a, 'c> {
    unit: &'a Unit<'a, 'c>,
    machine: &'a Machine,
    signature: &'a Signature,
    kernel: Value<'c>,
}

impl<'c> Search<'_, 'c> {
    fn faults(&self, ends_group: bool) -> Vec<Fault> {
        let used = reachable(self.kernel);
        let functions: Vec<_> = used.into_iter().filter(|value| value.is_function()).collect();
        if !functions.iter().any(|function| function.name() == PHASE) {
            return Vec::new();
        }
        let call_chains = CallChains::from(self.unit.context, [self.kernel]);
        let others = functions.into_iter().filter(|function| *function != self.kernel);
        let mut outlined: Vec<_> = others.filter(|it| !barriers(*it).is_empty()).collect();
        outlined.sort_by_key(|function| function.name());
        if let Some(function) = outlined.first() {
            let name = demangle(&function.name());
            let why = format!(
                "this barrier is in `{name}`, which calls itself or is called through a pointer: the compiler \
                 cannot prove that all threads of a block reach it together"
            );
            return vec![self.fault(&call_chains, barriers(*function)[0], &why)];
        }
        if unusual(self.kernel).is_some() {
            let why = "its control flow is unstructured or it has stack memory of variable size: the compiler \
                       cannot prove that all threads of a block reach this barrier together";
            return vec![self.fault(&call_chains, barriers(self.kernel)[0], why)];
        }
        let (proof, exits) = without_exits(self.kernel, &|ty| self.machine.size_of(ty));
        let apart = self.barriers_apart(&proof, &call_chains);
        if apart.is_empty() {
            self.warn_of_unwritten(&proof, &exits, &call_chains);
        }
        if apart.is_empty() && ends_group {
            return self.reads_after_exits(&proof, &exits, &call_chains);
        }
        apart
    }

    /// A fault for the first barrier that not all threads come to together. Those behind it are apart for the
    /// same reason mostly.
    fn barriers_apart(&self, proof: &Proof<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
        let Proof { flow, uniformity } = proof;
        let is_reached = flow.graph.reachable(&[0], None);
        let line = |call: &Value<'c>| {
            let frames = call_chains.to(*call);
            frames.iter().find(|frame| !frame.library).map(|frame| frame.line)
        };
        let mut barriers = barriers(self.kernel);
        barriers.sort_by_key(line);
        for call in barriers {
            let block = flow.number(call.block());
            let array = call.arguments().first().copied().filter(|_| is_phase(call));
            let why = if !uniformity.is_reached_together(block) {
                let branch = self.branch_before(proof, block, call_chains);
                format!(
                    "not all threads of a block reach this barrier together: the condition of {branch} differs \
                     between threads"
                )
            } else if !is_reached[block] {
                "only threads that panic afterwards reach this barrier".to_owned()
            } else if array.is_some_and(|array| !uniformity.shape(array).is_uniform()) {
                "at this barrier the threads of a block change the phases of different arrays"
                    .to_owned()
            } else {
                continue;
            };
            return vec![self.fault(call_chains, call, &why)];
        }
        Vec::new()
    }

    /// The branch on whose ways a block is, in words.
    fn branch_before(
        &self,
        proof: &Proof<'c>,
        block: usize,
        call_chains: &CallChains<'c>,
    ) -> String {
        let Proof { flow, uniformity } = proof;
        let mut divergent: Vec<_> = uniformity.divergent.iter().copied().collect();
        divergent.sort_unstable();
        let leads_there = |node: &usize| {
            let stop = uniformity.post_dominator(*node);
            flow.graph.reachable(&flow.graph.successors[*node], stop)[block]
        };
        let line = |node: usize| {
            let frames = call_chains.to(flow.blocks[node].terminator()?);
            let own = frames.into_iter().find(|frame| !frame.library && frame.line > 0)?;
            Some(format!("the branch at {}:{}", own.file, own.line))
        };
        let branches = divergent.into_iter().filter(leads_there);
        branches.filter_map(line).next().unwrap_or_else(|| "a branch".to_owned())
    }

    /// Warns of threads that return before they have written to an array: the others read zeros there, which is right
    /// where zero is neutral and wrong for a stencil.
    fn warn_of_unwritten(&self, proof: &Proof<'c>, exits: &[Exit], call_chains: &CallChains<'c>) {
        let is_first = first_phase(proof);
        let is_unwritten = |exit: &&Exit| {
            is_first[exit.block] && has_no_write(proof, exit, &is_first, call_chains)
        };
        for exit in exits.iter().filter(is_unwritten) {
            let Some(end) = proof.flow.blocks[exit.block].terminator() else { continue };
            let mut frames = call_chains.to(end).into_iter();
            let own = frames.find(|frame| !frame.library && frame.line > 0);
            let Some(Frame { file, line, .. }) = own else { continue };
            let text = format!(
                "{file}:{line}: threads of kernel `{}` exit here before they have written to a block array, so \
                 the other threads read zeros in place of their elements; write the element before the exit, with \
                 a zero where zero is intended",
                self.signature.name
            );
            let mut warnings = self.unit.warnings.borrow_mut();
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }

    /// A fault for a read of shared memory by threads that exit, on a target where they go on beside the others:
    /// these may be behind a later barrier by then.
    fn reads_after_exits(
        &self,
        proof: &Proof<'c>,
        exits: &[Exit],
        call_chains: &CallChains<'c>,
    ) -> Vec<Fault> {
        let ways = exits.iter().flat_map(|exit| path(proof.flow.blocks[exit.to]));
        let read = ways.flat_map(|block| block.instructions()).find(|it| may_use_shared(*it));
        let why = "threads that exit early use shared memory here: on this target the other threads of the block \
                   may already be past a later barrier";
        read.map(|read| self.fault(call_chains, read, why)).into_iter().collect()
    }

    fn fault(&self, call_chains: &CallChains<'c>, place: Value<'c>, why: &str) -> Fault {
        let message = format!("kernel `{}` has block arrays, and {why}", self.signature.name);
        Fault::new(Code::BlockArray, message, call_chains.to(place)).help(HELP)
    }
}

/// Which blocks control comes to before a change of a phase, by number.
fn first_phase(Proof { flow, .. }: &Proof<'_>) -> Vec<bool> {
    // The last node is the end of the kernel, which is no block.
    let is_free = |node: usize| {
        let block = flow.blocks.get(node);
        block.is_some_and(|block| !block.instructions().into_iter().any(is_phase))
    };
    let (mut is_first, mut work) = (vec![false; flow.graph.len()], vec![0]);
    while let Some(node) = work.pop() {
        if is_free(node) && !std::mem::replace(&mut is_first[node], true) {
            work.extend(&flow.graph.successors[node]);
        }
    }
    is_first
}

/// Whether threads that take an exit return, and have not written to shared memory before it nor on the way out. What
/// panics is no return.
fn has_no_write<'c>(
    Proof { flow, .. }: &Proof<'c>,
    exit: &Exit,
    is_first: &[bool],
    call_chains: &CallChains<'c>,
) -> bool {
    let way_out = path(flow.blocks[exit.to]);
    let is_return = |block: &Block<'c>| block.successors().is_empty() && !writes_panic(*block);
    let is_zero_of_start =
        |store: Value<'c>| store.operand(0).is_zero() && is_start(&call_chains.to(store));
    let has_write = |block: &Block<'c>| {
        block.instructions().into_iter().any(|it| writes_shared(it) && !is_zero_of_start(it))
    };
    let before = flow.graph.reaching_within(exit.block, is_first);
    let before = flow.blocks.iter().zip(before).filter(|(_, is_before)| *is_before);
    way_out.iter().any(is_return)
        && !way_out.iter().any(has_write)
        && !before.map(|(block, _)| block).any(has_write)
}

/// Whether a store of zeros is one that an array starts with: no code of the kernel's own source leads to it.
fn is_start(frames: &[Frame]) -> bool {
    frames.iter().all(|frame| frame.library)
}

/// Whether an instruction writes to memory that may be shared.
fn writes_shared(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => may_use_shared(instruction),
        // A copy of an element of several numbers.
        _ => instruction.called_function().is_some_and(|callee| {
            let name = callee.name();
            name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove")
        }),
    }
}

/// Whether an instruction accesses memory that may be shared: not the thread's own, nor what a parameter or
/// another load names.
fn may_use_shared(instruction: Value<'_>) -> bool {
    let mut pointer = match instruction.opcode() {
        Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => instruction.operand(0),
        Opcode::Store => instruction.operand(1),
        _ => return false,
    };
    let is_part =
        |it: Value<'_>| matches!(it.opcode(), Opcode::GetElementPtr | Opcode::AddrSpaceCast);
    while pointer.is_instruction() && is_part(pointer) {
        pointer = pointer.operand(0);
    }
    match pointer.is_instruction() {
        true => !matches!(pointer.opcode(), Opcode::Alloca | Opcode::Load),
        false => pointer.is_constant(),
    }
}
