//! The slice of a kernel that decides which barriers its threads come to: the backward [program slice][weiser] of the
//! branches before barriers, by data and by control.
//!
//! Values of several blocks are in stack slots here (`reg2mem`). A branch is *relevant* if a barrier, or a store that a
//! relevant branch needs, lies between it and where its ways meet again. What it is computed from has to be free of effects, and
//! may read no memory but slots and the kernel's parameters: threads compute it that have left.
//!
//! [weiser]: https://doi.org/10.1109/TSE.1984.5010248

use std::collections::HashSet;

use kernelmill_llvm::ir::{AtomicOrdering, Block, Opcode, Place, Value};

use super::uniformity::numbers;
use crate::cpu::{Graph, is_pure_intrinsic};

pub(super) struct Slice<'c> {
    /// The blocks that a relevant branch ends.
    pub(super) relevant: Vec<bool>,
    /// The instructions that relevant branches are computed from.
    pub(super) needed: HashSet<Value<'c>>,
    /// The slots among what they read, in the order in which they are found.
    pub(super) slots: Vec<Value<'c>>,
}

/// The control flow that a slice is of.
pub(super) struct Ways<'a, 'c> {
    pub(super) blocks: &'a [Block<'c>],
    pub(super) graph: &'a Graph,
    /// Where the ways from each block meet.
    pub(super) meets: &'a [Option<usize>],
    /// The blocks that threads come to which have not left.
    pub(super) live: &'a [bool],
    /// The blocks with a barrier.
    pub(super) barriers: &'a [bool],
}

impl<'c> Slice<'c> {
    /// The slice of a kernel; `None` where a branch before a barrier needs what threads that have left cannot compute.
    pub(super) fn of(kernel: Value<'c>, ways: &Ways<'_, 'c>) -> Option<Self> {
        let numbers = numbers(ways.blocks);
        let is_live = |node: &usize| ways.live[*node];
        let branches: Vec<usize> = (0..ways.blocks.len())
            .filter(|node| is_live(node) && ways.graph.successors[*node].len() > 1)
            .collect();
        let mut this = Self {
            relevant: vec![false; ways.blocks.len()],
            needed: HashSet::new(),
            slots: Vec::new(),
        };
        let mut wanted: Vec<bool> =
            ways.barriers.iter().zip(ways.live).map(|(has, live)| *has && *live).collect();
        loop {
            let decides = |node: usize| {
                let between = ways.graph.reachable(&ways.graph.successors[node], ways.meets[node]);
                between.iter().zip(&wanted).any(|(between, wanted)| *between && *wanted)
            };
            let found = { branches.iter() }.find(|&&it| !this.relevant[it] && decides(it));
            let Some(&node) = found else { return Some(this) };
            this.relevant[node] = true;
            let end = ways.blocks[node].terminator()?;
            let mut work = vec![end.branch_condition().or_else(|| end.selector())?];
            while let Some(value) = work.pop() {
                if !value.is_instruction() || this.needed.contains(&value) {
                    continue;
                }
                this.needed.insert(value);
                if value.opcode() != Opcode::Load {
                    work.extend(value.operands().into_iter().filter(|it| !it.is_function()));
                    match is_pure(value) {
                        true => continue,
                        false => return None,
                    }
                }
                let from = value.operand(0);
                if !is_slot(from) {
                    work.push(from);
                    match is_parameter(kernel, value) {
                        true => continue,
                        false => return None,
                    }
                }
                if this.slots.contains(&from) {
                    continue;
                }
                this.slots.push(from);
                let stores = from.users().into_iter().filter(|it| it.opcode() == Opcode::Store);
                for store in stores {
                    let node = numbers[&store.block()];
                    if is_live(&node) {
                        wanted[node] = true;
                        this.needed.insert(store);
                        work.push(store.operand(0));
                    }
                }
            }
        }
    }
}

/// Whether a value is a stack slot that is read and written as a whole.
pub(super) fn is_slot(value: Value<'_>) -> bool {
    if !value.is_instruction() || value.opcode() != Opcode::Alloca {
        return false;
    }
    let ty = value.allocated_type();
    value.users().into_iter().all(|user| match user.opcode() {
        Opcode::Load => user.ty() == ty && user.ordering() == AtomicOrdering::NotAtomic,
        Opcode::Store => {
            user.operand(0) != value
                && user.operand(0).ty() == ty
                && user.ordering() == AtomicOrdering::NotAtomic
        }
        _ => false,
    })
}

/// Whether a load is from bytes that are passed as a parameter.
fn is_parameter(kernel: Value<'_>, load: Value<'_>) -> bool {
    let mut base = load.operand(0);
    while base.is_instruction()
        && matches!(base.opcode(), Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast)
    {
        base = base.operand(0);
    }
    let index = kernel.parameters().iter().position(|it| *it == base);
    index.is_some_and(|index| {
        let place = Place::Parameter(index as u32);
        ["byval", "readonly"].iter().all(|name| kernel.has_attribute(place, name))
            && load.ordering() == AtomicOrdering::NotAtomic
    })
}

/// Functions whose calls depend on nothing but their arguments and the thread.
const PLACES: [&str; 4] =
    ["_Z12get_local_idj", "_Z12get_group_idj", "_Z14get_local_sizej", "_Z14get_num_groupsj"];

/// Whether an instruction does nothing but compute its result.
fn is_pure(instruction: Value<'_>) -> bool {
    use Opcode as Is;
    match instruction.opcode() {
        Is::Call => {
            let name = instruction.called_function().map(Value::name).unwrap_or_default();
            PLACES.contains(&&*name) || is_pure_intrinsic(instruction).is_some()
        }
        // What is divided is guarded (`divisions.rs`), which vectors are not.
        Is::UDiv | Is::SDiv | Is::URem | Is::SRem => {
            instruction.ty().int_width().is_some_and(|bits| bits <= 64)
        }
        Is::FNeg | Is::Add | Is::FAdd | Is::Sub | Is::FSub | Is::Mul | Is::FMul => true,
        Is::FDiv | Is::FRem | Is::Shl | Is::LShr => true,
        Is::AShr | Is::And | Is::Or | Is::Xor | Is::GetElementPtr | Is::Trunc | Is::ZExt => true,
        Is::SExt | Is::FPToUI | Is::FPToSI | Is::UIToFP | Is::SIToFP | Is::FPTrunc => true,
        Is::FPExt | Is::PtrToInt | Is::PtrToAddr | Is::IntToPtr | Is::BitCast => true,
        Is::AddrSpaceCast | Is::ICmp | Is::FCmp | Is::Select | Is::ExtractElement => true,
        Is::InsertElement | Is::ShuffleVector | Is::ExtractValue | Is::InsertValue => true,
        Is::Freeze => true,
        _ => false,
    }
}
