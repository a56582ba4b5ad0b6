//! Coroutine lowering: a kernel's body that suspends where its thread waits.
//!
//! Needs: a lowered body with marks where threads wait. Guarantees: it is correct for every kernel. The
//! method is
//! [LLVM's switched-resume coroutines](https://llvm.org/docs/Coroutines.html).

use kernelmill_llvm::ir::{Block, Builder, Linkage, ModuleExt, Opcode, Place, Type, Value};

use super::{
    abi::{self, FRAME_ALIGN, Functions, catch_thread_exits, item, load_arguments},
    body::Body,
    context::SUSPEND,
};
use crate::{Error, ir::always_inline, passes::entry::Unit};

/// A global of this name, with the body's appended, is written the size of the frame, so that it
/// can be read off once LLVM has decided it.
const FRAME_SIZE: &str = "__kernelmill_frame_size_";

/// Makes a body a coroutine: it suspends once before its first instruction, at every mark, and
/// for good where it returns. It gives the address of its frame.
pub(super) fn split_at_waits<'c>(unit: &Unit<'_, 'c>, body: &Body<'c>) {
    let (context, function) = (unit.context, body.function);
    let builder = Builder::new(context);
    // LLVM passes over an internal function that nothing refers to.
    function.set_linkage(Linkage::External);
    for name in ["presplitcoroutine", "noinline"] {
        function.add_attribute(context, Place::Function, name, 0);
    }
    let first = function.blocks()[0];
    let start = first.insert_before(context, "coroutine");
    let cleanup = Block::append(context, function, "cleanup");
    let suspend = Block::append(context, function, "suspend");
    let (last, ended) =
        (Block::append(context, function, "last"), Block::append(context, function, "ended"));
    let exits = Exits { suspend, cleanup };

    let (id, handle) = begin(unit, &builder, function, start);
    exits.suspend_in(unit, &builder, false, first);
    for call in function.instructions() {
        if call.called_function().is_some_and(|callee| callee.name() == SUSPEND) {
            let before = call.block().split_before(context, call, "waits");
            let after = call.block();
            call.erase();
            builder.at_end(before);
            exits.suspend_in(unit, &builder, false, after);
        }
    }
    for block in function.blocks() {
        if let Some(end) = block.terminator()
            && end.opcode() == Opcode::Ret
        {
            end.erase();
            builder.at_end(block);
            builder.branch(last);
        }
    }
    builder.at_end(last);
    exits.suspend_in(unit, &builder, true, ended);
    builder.at_end(ended);
    builder.unreachable();
    finish(unit, &builder, &exits, id, handle);
}

/// Where a suspended coroutine goes.
struct Exits<'c> {
    suspend: Block<'c>,
    cleanup: Block<'c>,
}

impl<'c> Exits<'c> {
    /// Suspends where the builder is, and goes on in `next` when resumed.
    fn suspend_in(&self, unit: &Unit<'_, 'c>, builder: &Builder<'c>, last: bool, next: Block<'c>) {
        let context = unit.context;
        let none = Type::token(context).null();
        let last = Type::int(context, 1).constant(u64::from(last));
        let suspend = unit.module.intrinsic("llvm.coro.suspend", &[]);
        let why = builder.call(suspend, &[none, last]);
        let byte = Type::int(context, 8);
        let switch = builder.switch(why, self.suspend, 2);
        switch.add_case(byte.constant(0), next);
        switch.add_case(byte.constant(1), self.cleanup);
    }
}

/// The start of the coroutine: its frame is the memory that the last parameter names. Leaves the
/// builder behind it, and gives the coroutine's token and handle.
fn begin<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    function: Value<'c>,
    start: Block<'c>,
) -> (Value<'c>, Value<'c>) {
    let context = unit.context;
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let none = Type::pointer(context, 0).null();
    builder.at_end(start);
    // A stack slot that LLVM keeps out of the frame, because it is alive between two suspensions
    // only, must come before the coroutine begins: each part gets its own.
    for instruction in function.instructions() {
        if instruction.opcode() == Opcode::Alloca {
            builder.move_here(instruction);
        }
    }
    let id = unit.module.intrinsic("llvm.coro.id", &[]);
    let id = builder.call(id, &[word.constant(FRAME_ALIGN), none, none, none]);
    let size = builder.call(unit.module.intrinsic("llvm.coro.size", &[wide]), &[]);
    let place = unit.module.new_global(&format!("{FRAME_SIZE}{}", function.name()), wide, 0);
    place.set_initializer(wide.constant(0));
    builder.store(size, place);
    let frame = *function.parameters().last().expect("a coroutine has a frame");
    let begin = unit.module.intrinsic("llvm.coro.begin", &[]);
    let handle = builder.call(begin, &[id, frame]);
    (id, handle)
}

/// The ways out: the memory of the frame is the run time's, so nothing is freed.
fn finish<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    exits: &Exits<'c>,
    id: Value<'c>,
    handle: Value<'c>,
) {
    let context = unit.context;
    builder.at_end(exits.cleanup);
    builder.call(unit.module.intrinsic("llvm.coro.free", &[]), &[id, handle]);
    builder.branch(exits.suspend);
    builder.at_end(exits.suspend);
    let no = Type::int(context, 1).constant(0);
    let none = Type::token(context).null();
    builder.call(unit.module.intrinsic("llvm.coro.end", &[]), &[handle, no, none]);
    builder.ret(Some(handle));
}

/// Builds `start` and `resume` of the run time's interface. They are built before the coroutine
/// is split, since they resume it by intrinsics.
pub(super) fn functions<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    exits: bool,
) -> (Value<'c>, Value<'c>) {
    (start(unit, body, symbol), resume(unit, symbol, exits))
}

/// `fn(arguments: *const *const u8, item: *mut Item, frame: *mut u8)`.
fn start<'c>(unit: &Unit<'_, 'c>, body: &Body<'c>, symbol: &str) -> Value<'c> {
    let context = unit.context;
    let pointer = Type::pointer(context, 0);
    let ty = Type::void(context).function(&[pointer, pointer, pointer]);
    let function = unit.module.new_function(&format!("{symbol}_start"), ty);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, function, "start"));
    let parameters = function.parameters();
    let mut values =
        load_arguments(context, &builder, parameters[0], &body.types, &body.by_address);
    values.extend([parameters[1], parameters[2]]);
    builder.call(body.function, &values);
    builder.ret(None);
    function
}

/// `fn(frame: *mut u8, item: *mut Item) -> bool`.
fn resume<'c>(unit: &Unit<'_, 'c>, symbol: &str, exits: bool) -> Value<'c> {
    let context = unit.context;
    let (bit, pointer) = (Type::int(context, 1), Type::pointer(context, 0));
    let ty = bit.function(&[pointer, pointer]);
    let function = unit.module.new_function(&format!("{symbol}_resume"), ty);
    function.add_attribute(context, Place::Result, "zeroext", 0);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, function, "start"));
    let parameters = function.parameters();
    if exits {
        let ended = Block::append(context, function, "ended");
        let block = abi::field(context, &builder, pointer, parameters[1], item::BLOCK);
        catch_thread_exits(unit, &builder, function, block, ended);
        let go = builder.block();
        builder.at_end(ended);
        builder.ret(Some(bit.constant(1)));
        builder.at_end(go);
    }
    builder.call(unit.module.intrinsic("llvm.coro.resume", &[]), &[parameters[0]]);
    let done = builder.call(unit.module.intrinsic("llvm.coro.done", &[]), &[parameters[0]]);
    builder.ret(Some(done));
    function
}

/// The functions of a kernel whose coroutine has been split, with the size of its frame.
pub(super) fn finished<'c>(
    unit: &Unit<'_, 'c>,
    body: Value<'c>,
    (start, resume): (Value<'c>, Value<'c>),
) -> Result<Functions<'c>, Error> {
    let name = format!("{FRAME_SIZE}{}", body.name());
    let internal =
        || Error::Internal(format!("the size of the frame of {} is not known", body.name()));
    let place = unit.module.global(&name).ok_or_else(internal)?;
    let mut frame_bytes = None;
    for user in place.users() {
        frame_bytes = user.operand(0).as_u64();
        user.erase();
    }
    place.delete_global();
    body.remove_attribute(Place::Function, "noinline");
    always_inline(unit.context, body);
    body.set_linkage(Linkage::Internal);
    Ok(Functions::Coroutine { frame_bytes: frame_bytes.ok_or_else(internal)?, start, resume })
}
