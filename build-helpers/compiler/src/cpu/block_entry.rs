//! The start of a function that runs a block: its parameters, the indices and sizes that it reads, and loops
//! over threads.
//!
//! Every such function is `fn(arguments: *const *const u8, block: *mut Block)`, whatever runs the threads in
//! it: a loop over them, or one over vectors of them.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Place, Type, Value},
};

use super::{
    abi::{block, field, geometry, load_arguments},
    body::Body,
};
use crate::passes::entry::Unit;

/// Declares a function that runs a block, and begins its first block.
pub(super) fn new_function<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    name: &str,
) -> Value<'c> {
    let context = unit.context;
    let pointer = Type::pointer(context, 0);
    let ty = Type::void(context).function(&[pointer, pointer]);
    let function = unit.module.new_function(name, ty);
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    for parameter in [0, 1] {
        function.add_attribute(context, Place::Parameter(parameter), "noalias", 0);
    }
    builder.at_end(Block::append(context, function, "start"));
    function
}

/// What the function of a block reads of its parameters.
pub(super) struct BlockEntry<'c> {
    /// The run time's structure of the block.
    pub(super) block: Value<'c>,
    /// The index of the block in the grid.
    pub(super) index: [Value<'c>; 3],
    /// The threads of a block.
    pub(super) dims: [Value<'c>; 3],
    /// The blocks of the grid.
    pub(super) grid: [Value<'c>; 3],
    /// The kernel's arguments.
    pub(super) arguments: Vec<Value<'c>>,
}

impl<'c> BlockEntry<'c> {
    /// Reads them where the builder is.
    pub(super) fn load(
        context: &'c Context,
        builder: &Builder<'c>,
        function: Value<'c>,
        body: &Body<'c>,
    ) -> Self {
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let parameters = function.parameters();
        let (array, current) = (parameters[0], parameters[1]);
        let shape = field(context, builder, pointer, current, block::GEOMETRY);
        let three = |structure: Value<'c>, offset: u64| {
            [0, 4, 8].map(|axis| field(context, builder, word, structure, offset + axis))
        };
        let (index, dims, grid) = (
            three(current, block::INDEX),
            three(shape, geometry::BLOCK),
            three(shape, geometry::GRID),
        );
        let arguments = load_arguments(context, builder, array, &body.types, &body.by_address);
        Self { block: current, index, dims, grid, arguments }
    }
}

/// Counts from 0 in steps to an end that is above 0 and a multiple of the step, around what `inside` builds.
pub(super) fn count<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    end: Value<'c>,
    step: u32,
    inside: impl FnOnce(Value<'c>),
) {
    let word = Type::int(context, 32);
    let (outside, function) = (builder.block(), builder.block().function());
    let head = Block::append(context, function, "");
    builder.branch(head);
    builder.at_end(head);
    let counter = builder.phi(word);
    counter.add_incoming(word.constant(0), outside);
    inside(counter);
    let next = builder.add_no_wrap(counter, word.constant(u64::from(step)));
    let more = builder.compare(IntPredicate::Ult, next, end);
    counter.add_incoming(next, builder.block());
    let exit = Block::append(context, function, "");
    builder.branch_if(more, head, exit);
    builder.at_end(exit);
}
