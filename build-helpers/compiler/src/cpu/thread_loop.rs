//! Scalar thread loops: a function that calls the kernel for every thread of a block.
//!
//! Needs: a lowered body without barriers. Guarantees: one call a thread, along x first; a function for every processor,
//! and others for the levels asked for.

use kernelmill_llvm::ir::{Block, Builder, Linkage, ModuleExt, Place, Type, Value};

use super::{
    abi::{Functions, VARIANTS, block, catch_thread_exits, field},
    block_entry::{self, BlockEntry, count},
    body::Body,
    processor_levels::Level,
};
use crate::{ir::always_inline, passes::entry::Unit};

/// Builds the functions of a block for a kernel's body, for `levels` as well as for every processor; `exits` says whether
/// threads can end in functions that the body calls.
pub(super) fn functions<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    exits: bool,
    levels: [Option<&Level>; VARIANTS],
) -> Functions<'c> {
    always_inline(unit.context, body.function);
    let build = |level: Option<&Level>| {
        let run = threads(unit, body, symbol);
        level.into_iter().for_each(|level| level.apply(unit.context, run));
        if exits { catching_exits(unit, run, symbol) } else { run }
    };
    let [_, middle, high] = levels;
    let run = [Some(build(None)), middle.map(|it| build(Some(it))), high.map(|it| build(Some(it)))];
    Functions::Loop { thread_bytes: 0, run, along_y: false }
}

/// Wraps `run` so that a thread that exits in a function it called ends its block.
pub(super) fn catching_exits<'c>(unit: &Unit<'_, 'c>, run: Value<'c>, symbol: &str) -> Value<'c> {
    let context = unit.context;
    let outer = unit.module.new_function(&format!("{symbol}_catch"), run.value_type());
    outer.set_linkage(Linkage::Internal);
    run.add_attribute(context, Place::Function, "noinline", 0);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, outer, "start"));
    let done = Block::append(context, outer, "done");
    let parameters = outer.parameters();
    catch_thread_exits(unit, &builder, outer, parameters[1], done);
    builder.call(run, &parameters);
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    outer
}

/// Loops over z, y and x.
fn threads<'c>(unit: &Unit<'_, 'c>, body: &Body<'c>, symbol: &str) -> Value<'c> {
    let context = unit.context;
    let builder = Builder::new(context);
    let run = block_entry::new_function(unit, &builder, &format!("{symbol}_run"));
    let entry = BlockEntry::load(context, &builder, run, body);
    let pointer = Type::pointer(context, 0);
    let shared = field(context, &builder, pointer, entry.block, block::SHARED);
    let [width, height, depth] = entry.dims;
    count(context, &builder, depth, 1, |z| {
        count(context, &builder, height, 1, |y| {
            count(context, &builder, width, 1, |x| {
                let mut values = entry.arguments;
                values.extend([x, y, z].into_iter().chain(entry.index).chain(entry.dims));
                values.extend(entry.grid);
                // Threads that wait for nobody exchange nothing.
                values.extend([entry.block, pointer.null(), shared]);
                builder.call(body.function, &values);
            });
        });
    });
    builder.ret(None);
    run
}
