//! Scalar thread loops: a function that calls the kernel for every thread of a block.
//!
//! Needs: a lowered body without barriers. Guarantees: one call a thread, along x first.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Place, Type, Value},
};

use super::{
    abi::{Functions, block, catch_jumps, field, geometry, load_arguments},
    body::Body,
};
use crate::{ir::always_inline, passes::entry::Unit};

/// Builds `fn(arguments: *const *const u8, block: *mut Block)` for a kernel's body.
pub(super) fn functions<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    jumps: bool,
) -> Functions<'c> {
    let context = unit.context;
    let pointer = Type::pointer(context, 0);
    let ty = Type::void(context).function(&[pointer, pointer]);
    let run = unit.module.new_function(&format!("{symbol}_run"), ty);
    run.set_linkage(Linkage::Internal);
    run.add_attribute(context, Place::Function, "nounwind", 0);
    for parameter in [0, 1] {
        run.add_attribute(context, Place::Parameter(parameter), "noalias", 0);
    }
    always_inline(context, body.function);
    threads(unit, run, body);
    let run = if jumps { catching(unit, run, symbol) } else { run };
    Functions::Loop { thread_bytes: 0, run: [Some(run), None, None] }
}

/// Wraps `run` so that a thread that jumps out of a function it called ends its block.
pub(super) fn catching<'c>(unit: &Unit<'_, 'c>, run: Value<'c>, symbol: &str) -> Value<'c> {
    let context = unit.context;
    let outer = unit.module.new_function(&format!("{symbol}_catch"), run.value_type());
    outer.set_linkage(Linkage::Internal);
    run.add_attribute(context, Place::Function, "noinline", 0);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, outer, "start"));
    let done = Block::append(context, outer, "done");
    let parameters = outer.parameters();
    catch_jumps(unit, &builder, outer, parameters[1], done);
    builder.call(run, &parameters);
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    outer
}

/// Loops over z, y and x.
fn threads<'c>(unit: &Unit<'_, 'c>, run: Value<'c>, body: &Body<'c>) {
    let context = unit.context;
    let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, run, "start"));
    let parameters = run.parameters();
    let (array, current) = (parameters[0], parameters[1]);
    let shape = field(context, &builder, pointer, current, block::GEOMETRY);
    let three = |structure: Value<'c>, offset: u64| -> [Value<'c>; 3] {
        [0, 4, 8].map(|axis| field(context, &builder, word, structure, offset + axis))
    };
    let index = three(current, block::INDEX);
    let dims = three(shape, geometry::BLOCK);
    let grid = three(shape, geometry::GRID);
    let shared = field(context, &builder, pointer, current, block::SHARED);
    let mut values = load_arguments(context, &builder, array, &body.types, &body.by_address);
    nest(context, &builder, run, dims, |thread| {
        values.extend(thread.into_iter().chain(index).chain(dims).chain(grid));
        // Threads that wait for nobody exchange nothing.
        values.extend([current, pointer.null(), shared]);
        builder.call(body.function, &values);
    });
    builder.ret(None);
}

/// Builds three nested loops from 0 below each size, x innermost, around what `inside` builds.
/// Sizes are at least 1.
fn nest<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    function: Value<'c>,
    sizes: [Value<'c>; 3],
    inside: impl FnOnce([Value<'c>; 3]),
) {
    let word = Type::int(context, 32);
    let mut loops = Vec::new();
    for axis in ["z", "y", "x"] {
        let outside = builder.block();
        let head = Block::append(context, function, axis);
        builder.branch(head);
        builder.at_end(head);
        let counter = builder.phi(word);
        counter.add_incoming(word.constant(0), outside);
        loops.push((head, counter));
    }
    let counters = [loops[2].1, loops[1].1, loops[0].1];
    inside(counters);
    for (axis, (head, counter)) in loops.into_iter().rev().enumerate() {
        let next = builder.add_no_wrap(counter, word.constant(1));
        let more = builder.compare(IntPredicate::Ult, next, sizes[axis]);
        let exit = Block::append(context, function, "exit");
        counter.add_incoming(next, builder.block());
        builder.branch_if(more, head, exit);
        builder.at_end(exit);
    }
}
