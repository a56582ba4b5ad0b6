//! Bounds checks, as those of AddressSanitizer (Serebryany et al., USENIX ATC 2012), but against the size
//! of the object that a pointer is derived from instead of red zones.

use kernelmill_artifact::PanicKind;
use kernelmill_compiler::plugin::{
    Failure, Task,
    ir::{Block, IntPredicate, Opcode, Type, Value},
};

use crate::{access::Access, memory::Memory};

/// Adds the check before an access; `name` is that of the memory, and `element` the size of its
/// elements.
pub(crate) fn check<'c>(
    task: &Task<'_, 'c>,
    access: &Access<'c>,
    memory: Memory<'c>,
    name: &str,
    element: u64,
) {
    let word = Type::int(task.context(), 64);
    let builder = task.before(access.at);
    let start = builder.pointer_to_int(memory.base, word);
    let address = builder.pointer_to_int(access.pointer, word);
    let offset = builder.binary(Opcode::Sub, address, start);
    let room = builder.binary(Opcode::Sub, memory.bytes, access.bytes);
    let less = |a, b| builder.compare(IntPredicate::Ult, a, b);
    let is_out = builder.binary(Opcode::Or, less(memory.bytes, access.bytes), less(room, offset));
    // A copy of nothing may have any address.
    let is_something = builder.compare(IntPredicate::Ne, access.bytes, word.constant(0));
    let is_out = builder.and(is_out, is_something);
    let verb = access.kind.verb();
    let message = task.message(format!(
        "out of bounds: {name} has {{u64}} elements, and element {{i64}} is {verb}"
    ));
    let place = task.place(access.at);
    fail_if(task, access.at, is_out, |builder| {
        let size = word.constant(element.max(1));
        // The first byte out of bounds: that of the access, or else its last.
        let last = builder.add(offset, builder.add(access.bytes, word.constant(u64::MAX)));
        let starts_in = builder.compare(IntPredicate::Ult, offset, memory.bytes);
        let byte = builder.select(starts_in, last, offset);
        let count = builder.binary(Opcode::UDiv, memory.bytes, size);
        let index = builder.binary(Opcode::SDiv, byte, size);
        Failure { kind: PanicKind::IndexOutOfBounds, message, values: [count, index], place }
    });
}

/// Ends the thread before an instruction if a condition holds, which is computed before it.
pub(crate) fn fail_if<'c>(
    task: &Task<'_, 'c>,
    at: Value<'c>,
    condition: Value<'c>,
    failure: impl FnOnce(&kernelmill_compiler::plugin::ir::Builder<'c>) -> Failure<'c>,
) {
    let tail = at.block();
    let builder = task.before(at);
    let head = tail.split_before(task.context(), at, "checked");
    let wrong = Block::append(task.context(), tail.function(), "wrong");
    builder.at_end(head);
    builder.branch_if(condition, wrong, tail);
    builder.at_end(wrong);
    let failure = failure(&builder);
    task.fail(&builder, &failure);
}
