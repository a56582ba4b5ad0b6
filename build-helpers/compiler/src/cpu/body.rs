//! The body of a kernel: the shim's code in a function that takes the context as well.

use std::collections::{HashMap, HashSet};

use kernelmill_artifact::{ParameterKind, Signature};
use kernelmill_llvm::ir::{Linkage, ModuleExt, Place, Type, Value};

use super::{
    context::{Lowering, Source, reports_panic},
    operation::{Operation, operations},
    outlined::Outlined,
    region_formation, warp_collectives,
};
use crate::{
    Error,
    passes::entry::{self, Argument, KernelSharing, Sharing, Unit},
};

/// A kernel's body. Its parameters are the shim's, and then:
///
/// - of a thread loop: thread, block index, block size and grid size, three numbers each, the
///   addresses of the run time's `Block`, of the tables of [`warp_collectives`], and of shared memory;
/// - of a coroutine: the addresses of the run time's `Item` and of the frame.
pub(super) struct Body<'c> {
    pub(super) function: Value<'c>,
    pub(super) source: Source<'c>,
    /// The types of the shim's parameters.
    pub(super) types: Vec<Type<'c>>,
    /// Which of them are addresses of values.
    pub(super) by_address: Vec<bool>,
    shared_bytes: u64,
    /// The parameters of which `noalias` holds between two barriers.
    between_barriers: Vec<u32>,
}

impl<'c> Body<'c> {
    /// Moves the code of a shim into a new body, and deletes the shim.
    pub(super) fn new(
        unit: &Unit<'_, 'c>,
        signature: &Signature,
        shim: Value<'c>,
        waits: bool,
        shared_bytes: u64,
    ) -> Result<Self, Error> {
        let context = unit.context;
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let arguments = entry::arguments(signature, shim)?;
        let types = shim.value_type().parameters();
        let mut parameters = types.clone();
        let result = if waits {
            parameters.extend([pointer, pointer]);
            pointer
        } else {
            parameters.extend([word; 12]);
            parameters.extend([pointer; 3]);
            Type::void(context)
        };
        let name = format!("{}.body", signature.symbol);
        let function = unit.module.new_function(&name, result.function(&parameters));
        function.set_linkage(Linkage::Internal);
        function.add_attribute(context, Place::Function, "nounwind", 0);
        for block in shim.blocks() {
            block.move_to(function);
        }
        let values = function.parameters();
        for (old, new) in shim.parameters().into_iter().zip(&values) {
            old.replace_with(*new);
        }
        let KernelSharing { sharing, mut between_barriers } = unit.sharing(signature);
        if !waits {
            for (index, argument) in (0..).zip(&arguments) {
                let Argument::Address(kind) = argument else { continue };
                let place = Place::Parameter(index);
                entry::address_attributes(context, function, place, kind, sharing);
                let is_slice = matches!(kind, ParameterKind::Slice { .. });
                if is_slice && sharing == Sharing::AtBarriers {
                    between_barriers.push(index);
                }
            }
        }
        for index in 0..types.len() as u32 {
            let place = Place::Parameter(index);
            if !waits && shim.has_attribute(place, "noalias") {
                function.add_attribute(context, place, "noalias", 0);
            }
        }
        shim.delete_function();
        let by_address = arguments.iter().map(|argument| argument.is_bytes()).collect();
        let source = source(&values[types.len()..], waits);
        Ok(Self { function, source, types, by_address, shared_bytes, between_barriers })
    }

    /// The same for another function of the same type.
    pub(super) fn with_function(&self, function: Value<'c>) -> Self {
        let values = function.parameters();
        let waits = matches!(self.source, Source::Item(_));
        Self {
            function,
            source: source(&values[self.types.len()..], waits),
            types: self.types.clone(),
            by_address: self.by_address.clone(),
            shared_bytes: self.shared_bytes,
            between_barriers: self.between_barriers.clone(),
        }
    }

    /// Splits the body into regions, in none of which there is a barrier; the number of barriers.
    pub(super) fn split_into_regions(&self, unit: &Unit<'_, 'c>) -> u64 {
        let barriers = region_formation::split(unit, self.function);
        for place in self.between_barriers.iter().copied().map(Place::Parameter) {
            self.function.add_attribute(unit.context, place, "noalias", 0);
        }
        barriers
    }

    /// Replaces the operations on the context.
    pub(super) fn lower(&self, unit: &Unit<'_, 'c>, outlined: &Outlined<'c>) -> u64 {
        let can_exit = operations(self.function)
            .iter()
            .any(|(_, what)| matches!(what, Operation::EarlyExit | Operation::Leave));
        let lowering =
            Lowering { unit, source: self.source, shared_bytes: self.shared_bytes, can_exit };
        for call in self.function.calls() {
            let reports = reports_panic(call);
            if outlined.needs_context(call) {
                lowering.save(call);
            }
            if reports {
                lowering.end_after(call);
            }
        }
        let turns = match self.source {
            Source::Parameters { .. } => warp_collectives::turns(self.function),
            Source::Item(_) => HashMap::new(),
        };
        let all = operations(self.function);
        let count = all.len() as u64;
        let marks = all.iter().filter(|(_, what)| *what == Operation::AllLanes);
        let checked: HashSet<_> = marks.filter_map(|(mark, _)| mark.next_instruction()).collect();
        for (site, (call, operation)) in all.into_iter().enumerate() {
            let place = (turns.get(&call).copied(), checked.contains(&call));
            lowering.lower(call, operation, site as u64, place);
        }
        debug_assert!(operations(self.function).iter().all(|(_, left)| *left == Operation::Fence));
        count
    }
}

/// Where a body finds the context, from its last parameters.
fn source<'c>(values: &[Value<'c>], waits: bool) -> Source<'c> {
    if waits {
        return Source::Item(values[0]);
    }
    let three = |from: usize| [values[from], values[from + 1], values[from + 2]];
    Source::Parameters {
        thread: three(0),
        index: three(3),
        dims: three(6),
        grid: three(9),
        block: values[12],
        tables: values[13],
        shared: values[14],
    }
}
