//! Exit flags: a byte for each thread of a block says whether it has exited, as the kernels of ISPC keep a mask of
//! lanes that have returned, or whether it is absent until its way joins that of the others.
//!
//! Needs: threads exit or leave only between two barriers, of which the second is an exit barrier or an absence
//! barrier. Guarantees: what the flags say changes only at such barriers, so that all threads of a region see the
//! same.
//!
//! There are two arrays: threads of a region write to the one that counts from the next such barrier on.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode, Place, Type, Value},
};

use crate::{ir::always_inline, passes::entry::Unit};

/// The threads of a block at most, as the device's limits have it.
pub(super) const THREADS: u64 = 1024;
/// The lanes of a warp: so many entries are before and after those of threads, where addresses of lanes
/// that there are not lie.
pub(super) const LANES: u64 = 32;
/// The flag of a thread that has exited, and of lanes that there are not. That of a present thread is 0, and that of
/// an absent one the number of its absence.
pub(super) const EXITED: u64 = 0xff;
/// The bytes of an array.
const ARRAY_BYTES: u64 = THREADS + 2 * LANES;
/// The bytes of both, at the start of the memory of the block's warp collectives.
pub(super) const BYTES: u64 = 2 * ARRAY_BYTES;

/// The function that changes the flags at a barrier; the compiler's own.
const PASS_BARRIER: &str = "__kernelmill_pass_absence_barrier";

/// The function that finds a warp of which some threads are absent; the compiler's own.
const FIND_SPLIT_WARP: &str = "__kernelmill_find_split_warp";

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

/// Notes that a thread exits, or is absent with this number.
pub(super) fn leave<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    (thread, number): (Value<'c>, u64),
) {
    let byte = Type::int(context, 8);
    let flag = builder.element(byte, next(context, builder, tables), thread);
    builder.store(byte.constant(number), flag);
}

/// Whether a thread is present.
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

/// The bits of neighbouring threads that are present, from `first` on, as a vector.
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

/// The bits of these threads that are present, as a vector.
pub(super) fn staying_of<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: impl ExactSizeIterator<Item = Value<'c>>,
) -> Value<'c> {
    let byte = Type::int(context, 8);
    let (array, count) = (current(context, builder, tables), threads.len() as u32);
    let none = byte.vector(count).poison();
    let flags = (0..).zip(threads).fold(none, |flags, (lane, thread)| {
        let flag = builder.load(byte, builder.element(byte, array, thread));
        builder.set_lane(flags, flag, Type::int(context, 32).constant(lane))
    });
    builder.compare(IntPredicate::Eq, flags, builder.splat(context, byte.constant(0), count))
}

/// Says of all `threads` of a block that they are present.
pub(super) fn clear<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: Value<'c>,
) {
    let bytes = Type::int(context, 64).constant(BYTES);
    builder.fill_bytes(context, tables, EXITED as u8, 1, bytes);
    builder.clear_bytes(context, current(context, builder, tables), 1, threads);
    builder.clear_bytes(context, next(context, builder, tables), 1, threads);
}

/// Which threads of a block are present: numbers of 64 bits.
pub(super) struct Present<'c> {
    /// How many.
    pub(super) count: Value<'c>,
    /// None has a number below this one, or from `end` on. Both are those of the first lanes of warps.
    pub(super) start: Value<'c>,
    pub(super) end: Value<'c>,
}

/// The bits of each of the three numbers, where they are in one.
const PART: u64 = 16;

impl<'c> Present<'c> {
    /// What [`PASS_BARRIER`] gives: `count`, and above it `end` and `start`.
    fn unpack(builder: &Builder<'c>, packed: Value<'c>) -> Self {
        let wide = packed.ty();
        let part = |number: u64| {
            let shifted = builder.binary(Opcode::LShr, packed, wide.constant(number * PART));
            builder.and(shifted, wide.constant((1 << PART) - 1))
        };
        Self { count: part(0), end: part(1), start: part(2) }
    }

    /// Adds `number` present threads of the warp whose first lane is `first`.
    fn add_warp(
        builder: &Builder<'c>,
        packed: Value<'c>,
        (first, number): (Value<'c>, Value<'c>),
    ) -> Value<'c> {
        let wide = packed.ty();
        let all = Self::unpack(builder, packed);
        let none = builder.compare(IntPredicate::Eq, all.count, wide.constant(0));
        let start = builder.select(none, first, all.start);
        let end = builder.add(first, wide.constant(LANES));
        let place =
            |value, number: u64| builder.binary(Opcode::Shl, value, wide.constant(number * PART));
        let parts = builder.add(place(end, 1), place(start, 2));
        let new = builder.add(builder.add(all.count, number), parts);
        let any = builder.compare(IntPredicate::Ne, number, wide.constant(0));
        builder.select(any, new, packed)
    }
}

/// Makes the flags of the `threads` of a block what they are after a barrier, where those with the number
/// `returning` are present again. Which threads are present then.
pub(super) fn pass_barrier<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: Value<'c>,
    returning: u64,
) -> Present<'c> {
    let byte = Type::int(unit.context, 8);
    let function = by_warps(unit, PASS_BARRIER, |builder, warp| {
        let (context, lanes) = (unit.context, LANES as u32);
        let zeros = builder.splat(context, byte.constant(0), lanes);
        let [from, to] = [next, current]
            .map(|array| builder.element(byte, array(context, builder, warp.tables), warp.first));
        let flags = builder.load(byte.vector(lanes), from);
        flags.set_alignment(1);
        let returning = builder.splat(context, warp.argument, lanes);
        let returns = builder.compare(IntPredicate::Eq, flags, returning);
        let flags = builder.select(returns, zeros, flags);
        for array in [from, to] {
            builder.store(flags, array).set_alignment(1);
        }
        let word = Type::int(context, 32);
        let present = builder.compare(IntPredicate::Eq, flags, zeros);
        let present = builder.cast(Opcode::BitCast, present, word);
        let number = builder.call(unit.module.intrinsic("llvm.ctpop", &[word]), &[present]);
        let number = builder.zero_extend(number, Type::int(context, 64));
        Present::add_warp(builder, warp.found, (warp.first, number))
    });
    let packed = builder.call(function, &[tables, threads, byte.constant(returning)]);
    Present::unpack(builder, packed)
}

/// The number, plus 1, of a present thread of a warp of which other threads are absent; 0 where there is none.
pub(super) fn split_warp<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    tables: Value<'c>,
    threads: Value<'c>,
) -> Value<'c> {
    let byte = Type::int(unit.context, 8);
    let function = by_warps(unit, FIND_SPLIT_WARP, |builder, warp| {
        let (context, lanes) = (unit.context, LANES as u32);
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let array = builder.element(byte, current(context, builder, warp.tables), warp.first);
        let flags = builder.load(byte.vector(lanes), array);
        flags.set_alignment(1);
        let those = |predicate, flag: u64| {
            let flag = builder.splat(context, byte.constant(flag), lanes);
            builder.cast(Opcode::BitCast, builder.compare(predicate, flags, flag), word)
        };
        let present = those(IntPredicate::Eq, 0);
        let left = builder.and(those(IntPredicate::Ne, 0), those(IntPredicate::Ne, EXITED));
        let any = |these| builder.compare(IntPredicate::Ne, these, word.constant(0));
        let is_split = builder.and(any(present), any(left));
        let no = Type::int(context, 1).constant(0);
        let lane = builder.call(unit.module.intrinsic("llvm.cttz", &[word]), &[present, no]);
        let thread = builder.add(warp.first, builder.zero_extend(lane, wide));
        let number = builder.add(thread, wide.constant(1));
        builder.select(is_split, number, warp.found)
    });
    builder.call(function, &[tables, threads, byte.constant(0)])
}

/// What a function knows that goes over the warps of a block.
struct Warp<'c> {
    tables: Value<'c>,
    /// The last of the function's arguments.
    argument: Value<'c>,
    /// The number of the warp's first thread.
    first: Value<'c>,
    /// What was found in the warps before.
    found: Value<'c>,
}

/// `fn(tables: *mut u8, threads: u64, argument: u8) -> u64`, which goes over the warps of a block with what `build`
/// builds for each; it gives what was found in the warps so far, 0 before the first.
fn by_warps<'c>(
    unit: &Unit<'_, 'c>,
    name: &str,
    build: impl FnOnce(&Builder<'c>, &Warp<'c>) -> Value<'c>,
) -> Value<'c> {
    if let Some(function) = unit.module.function(name) {
        return function;
    }
    let context = unit.context;
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let ty = wide.function(&[pointer, wide, Type::int(context, 8)]);
    let function = unit.module.new_function(name, ty);
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    always_inline(context, function);
    let parameters = function.parameters();
    let [tables, threads, argument] = parameters[..] else { unreachable!("it has three") };
    let builder = Builder::new(context);
    let [start, warps, done] =
        ["start", "warps", "done"].map(|it| Block::append(context, function, it));
    builder.at_end(start);
    builder.branch(warps);
    builder.at_end(warps);
    let [first, found] = [wide, wide].map(|ty| builder.phi(ty));
    let result = build(&builder, &Warp { tables, argument, first, found });
    let after = builder.add(first, wide.constant(LANES));
    let more = builder.compare(IntPredicate::Ult, after, threads);
    builder.branch_if(more, warps, done);
    for (phi, value) in [(first, after), (found, result)] {
        phi.add_incoming(wide.constant(0), start);
        phi.add_incoming(value, warps);
    }
    builder.at_end(done);
    builder.ret(Some(result));
    function
}
