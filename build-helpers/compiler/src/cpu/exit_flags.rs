//! Exit flags: a byte for each thread of a block says whether it has exited, as the kernels of ISPC keep a mask of
//! lanes that have returned.
//!
//! Needs: threads exit only between two barriers, of which the second is an exit barrier. Guarantees: what the
//! flags say changes only at exit barriers, so that all threads of a region see the same.
//!
//! There are two arrays: threads of a region write to the one that counts from the next exit barrier on.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, IntPredicate, Type, Value},
};

/// The threads of a block at most, as the device's limits have it.
pub(super) const THREADS: u64 = 1024;
/// The lanes of a warp: so many entries are before and after those of threads, where addresses of lanes
/// that there are not lie.
pub(super) const LANES: u64 = 32;
/// The bytes of an array.
const ARRAY_BYTES: u64 = THREADS + 2 * LANES;
/// The bytes of both, at the start of the memory of the block's warp collectives.
pub(super) const BYTES: u64 = 2 * ARRAY_BYTES;

/// The flags as they are, of which the first is that of thread 0.
pub(super) fn current<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
) -> Value<'c> {
    builder.offset(context, tables, LANES)
}

/// The flags as they will be after the next exit barrier.
fn next<'c>(context: &'c Context, builder: &Builder<'c>, tables: Value<'c>) -> Value<'c> {
    builder.offset(context, tables, ARRAY_BYTES + LANES)
}

/// Notes that a thread exits.
pub(super) fn exit<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    thread: Value<'c>,
) {
    let byte = Type::int(context, 8);
    let flag = builder.element(byte, next(context, builder, tables), thread);
    builder.store(byte.constant(1), flag);
}

/// Whether a thread has not exited.
pub(super) fn stays<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    thread: Value<'c>,
) -> Value<'c> {
    let byte = Type::int(context, 8);
    let flag = builder.element(byte, current(context, builder, tables), thread);
    builder.compare(IntPredicate::Eq, builder.load(byte, flag), byte.constant(0))
}

/// The bits of neighbouring threads that have not exited, from `first` on, as a vector.
pub(super) fn staying<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    first: Value<'c>,
    count: u32,
) -> Value<'c> {
    let byte = Type::int(context, 8);
    let flags = builder.element(byte, current(context, builder, tables), first);
    let flags = builder.load(byte.vector(count), flags);
    flags.set_alignment(1);
    builder.compare(IntPredicate::Eq, flags, builder.splat(context, byte.constant(0), count))
}

/// Says of all `threads` of a block that they have not exited.
pub(super) fn clear<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: Value<'c>,
) {
    builder.clear_bytes(context, current(context, builder, tables), 1, threads);
    builder.clear_bytes(context, next(context, builder, tables), 1, threads);
}

/// Makes the flags of the `threads` of a block what they are after an exit barrier.
pub(super) fn pass_barrier<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: Value<'c>,
) {
    let (from, to) = (next(context, builder, tables), current(context, builder, tables));
    builder.copy_bytes(to, from, 1, threads);
}
