//! The report of a deadlock from compiled code: lanes of a warp collective that never come.
//!
//! It writes the same record as the run time's scheduler for coroutines (`src/backend/cpu/scheduler` of
//! `kernelmill`), unless a thread of the launch has panicked before.

use std::mem::offset_of;

use kernelmill_artifact::{PANIC_MESSAGE_BYTES, PanicKind, PanicRecord};
use kernelmill_llvm::ir::{
    AtomicOperation, AtomicOrdering, Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode,
    Place, Type, Value,
};

use super::abi::{block, field, set_field};
use crate::passes::entry::Unit;

/// The function that reports it; the compiler's own.
const REPORT: &str = "__kernelmill_report_deadlock";

/// What the host is told.
const MESSAGE: &str = "deadlock in a block: lanes of this thread's warp wait at a warp-level primitive whose mask names \
                       lanes that do not reach it";

const _: () = assert!(MESSAGE.len() <= PANIC_MESSAGE_BYTES);

/// Reports that a thread waits at a warp-level primitive that other lanes do not reach. `dims` is the size of its block, whose address is `of_block`, and `linear`
/// its number there.
pub(super) fn report<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    of_block: Value<'c>,
    dims: [Value<'c>; 3],
    linear: Value<'c>,
) {
    let word = Type::int(unit.context, 32);
    let linear = builder.truncate(linear, word);
    let binary = |opcode, left, right| builder.binary(opcode, left, right);
    let row = binary(Opcode::UDiv, linear, dims[0]);
    let x = binary(Opcode::URem, linear, dims[0]);
    let (y, z) = (binary(Opcode::URem, row, dims[1]), binary(Opcode::UDiv, row, dims[1]));
    builder.call(function(unit), &[of_block, x, y, z]);
}

/// `fn(block: *mut Block, x: u32, y: u32, z: u32)`.
fn function<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    if let Some(function) = unit.module.function(REPORT) {
        return function;
    }
    let context = unit.context;
    let (pointer, word) = (Type::pointer(context, 0), Type::int(context, 32));
    let ty = Type::void(context).function(&[pointer, word, word, word]);
    let function = unit.module.new_function(REPORT, ty);
    function.set_linkage(Linkage::Internal);
    for attribute in ["nounwind", "noinline", "cold"] {
        function.add_attribute(context, Place::Function, attribute, 0);
    }
    let parameters = function.parameters();
    let [of_block, thread @ ..] = &parameters[..] else { unreachable!("it has four") };
    let builder = Builder::new(context);
    let [start, claimed, done] =
        ["start", "claimed", "done"].map(|it| Block::append(context, function, it));
    builder.at_end(start);
    let record = field(context, &builder, pointer, *of_block, block::PANIC);
    let state = builder.offset(context, record, offset_of!(PanicRecord, state) as u64);
    // A record that is claimed has 1 already, or more.
    let claim = (AtomicOperation::UMax, AtomicOrdering::Acquire);
    let was = builder.atomic(claim.0, state, word.constant(1), claim.1);
    let is_first = builder.compare(IntPredicate::Eq, was, word.constant(0));
    builder.branch_if(is_first, claimed, done);
    builder.at_end(claimed);
    let set = |offset: usize, value: Value<'c>| {
        set_field(context, &builder, record, offset as u64, value);
    };
    set(offset_of!(PanicRecord, kind), word.constant(u64::from(PanicKind::Deadlock as u32)));
    set(offset_of!(PanicRecord, location), word.constant(u64::from(u32::MAX)));
    for (axis, index) in thread.iter().enumerate() {
        let number = field(context, &builder, word, *of_block, block::INDEX + 4 * axis as u64);
        set(offset_of!(PanicRecord, block) + 4 * axis, number);
        set(offset_of!(PanicRecord, thread) + 4 * axis, *index);
    }
    let message = builder.offset(context, record, offset_of!(PanicRecord, message) as u64);
    let length = Type::int(context, 64).constant(MESSAGE.len() as u64);
    builder.copy_bytes(message, text(unit), 1, length);
    set(offset_of!(PanicRecord, message_len), word.constant(MESSAGE.len() as u64));
    builder.atomic(AtomicOperation::UMax, state, word.constant(2), AtomicOrdering::Release);
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    function
}

/// A constant with the message.
fn text<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    let byte = Type::int(unit.context, 8);
    let bytes: Vec<_> = MESSAGE.bytes().map(|it| byte.constant(u64::from(it))).collect();
    let value = byte.constant_array(&bytes);
    let global = unit.module.new_global("__kernelmill_deadlock", value.ty(), 0);
    global.set_initializer(value);
    global.set_global_constant(true);
    global.set_linkage(Linkage::Internal);
    global
}
