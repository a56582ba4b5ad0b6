//! Copies of functions.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Opcode, Place, Value},
};

/// What is promised of addresses that a function is given.
const PROMISES: [&str; 3] = ["noalias", "nonnull", "readonly"];

/// A copy of a function that only this module calls.
pub(crate) fn copy_function<'c>(
    context: &'c Context,
    module: &Module<'c>,
    from: Value<'c>,
    name: &str,
) -> Value<'c> {
    let copy = module.new_function(name, from.value_type());
    copy.set_linkage(Linkage::Internal);
    copy.add_attribute(context, Place::Function, "nounwind", 0);
    let parameters = copy.parameters();
    for place in (0..parameters.len() as u32).map(Place::Parameter) {
        for promise in PROMISES.into_iter().filter(|it| from.has_attribute(place, it)) {
            copy.add_attribute(context, place, promise, 0);
        }
    }
    let blocks: HashMap<_, _> =
        from.blocks().into_iter().map(|old| (old, Block::append(context, copy, ""))).collect();
    let mut values: HashMap<_, _> = from.parameters().into_iter().zip(parameters).collect();
    let builder = Builder::new(context);
    for old in from.blocks() {
        builder.at_end(blocks[&old]);
        for instruction in old.instructions() {
            let new = if instruction.opcode() == Opcode::Phi {
                builder.phi(instruction.ty())
            } else {
                builder.copy(instruction)
            };
            values.insert(instruction, new);
        }
    }
    for instruction in from.instructions() {
        let new = values[&instruction];
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            let value = values.get(&operand).copied();
            if let Some(came) = instruction.incoming_block(index as u32) {
                new.add_incoming(value.unwrap_or(operand), blocks[&came]);
            } else if let Some(value) = value {
                new.set_operand(index as u32, value);
            }
        }
    }
    // In order: the order of a block's predecessors is that in which they came to be.
    for old in from.blocks() {
        for next in old.successors() {
            blocks[&old].redirect(next, blocks[&next]);
        }
    }
    copy
}
