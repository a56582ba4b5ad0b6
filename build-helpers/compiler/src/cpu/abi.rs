//! The run time's structures, as offsets; `src/embedded/abi.rs` of `kernelmill` has them in
//! Rust, and `FORMAT_VERSION` covers both.

use kernelmill_artifact::FORMAT_VERSION;
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, ModuleExt, Type, Value, Visibility},
};

use crate::passes::entry::Unit;

/// `struct Block`.
pub(super) mod block {
    pub(crate) const INDEX: u64 = 0;
    pub(crate) const GEOMETRY: u64 = 16;
    pub(crate) const SHARED: u64 = 24;
    pub(crate) const PANIC: u64 = 32;
    pub(crate) const SCRATCH: u64 = 40;
    pub(crate) const JUMP: u64 = 48;
    pub(crate) const STACK_LIMIT: u64 = 560;
    pub(crate) const STACK_OVERFLOW: u64 = 568;
}

/// `struct Item`.
pub(super) mod item {
    pub(crate) const BLOCK: u64 = 0;
    pub(crate) const THREAD: u64 = 8;
    pub(crate) const LANE: u64 = 20;
    pub(crate) const WAIT: u64 = 24;
    pub(crate) const MASK: u64 = 28;
    pub(crate) const OPERATION: u64 = 32;
    pub(crate) const ARGUMENT: u64 = 36;
    /// In it: a barrier that opens with others, at each of which whole warps wait.
    pub(crate) const OF_WARPS: u64 = 1 << 31;
    pub(crate) const VALUE: u64 = 40;
    pub(crate) const RESULT: u64 = 44;
}

/// `struct Geometry`.
pub(super) mod geometry {
    pub(crate) const GRID: u64 = 0;
    pub(crate) const BLOCK: u64 = 12;
    pub(crate) const DYNAMIC_SHARED_BYTES: u64 = 24;
}

/// Where the dynamic part of shared memory starts, after `bytes` of the kernel's own.
pub(super) const fn dynamic_shared_offset(bytes: u64) -> u64 {
    bytes.next_multiple_of(128)
}

/// The functions of a kernel.
pub(super) enum Functions<'c> {
    /// It runs a block at once, with so many bytes for each thread: for any processor, and faster
    /// ones for those that have more. Where `along_y`, threads that are neighbours along y access memory in rows.
    Loop { thread_bytes: u64, run: [Option<Value<'c>>; VARIANTS], along_y: bool },
    /// It is a coroutine for each thread.
    Coroutine { frame_bytes: u64, start: Value<'c>, resume: Value<'c> },
}

/// The processors that a block's function is built for.
pub(super) const VARIANTS: usize = 3;

/// The alignment of coroutines.
pub(super) const FRAME_ALIGN: u64 = 64;

/// Exports the constant that describes a kernel.
pub(super) fn export<'c>(
    unit: &Unit<'_, 'c>,
    symbol: &str,
    shared_bytes: u64,
    functions: &Functions<'c>,
    joins_blocks: u32,
) {
    let context = unit.context;
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let none = Type::pointer(context, 0).null();
    let (strategy, frame_bytes, run, start, resume, along_y) = match functions {
        Functions::Loop { thread_bytes, run, along_y } => {
            (0, *thread_bytes, run.map(|run| run.unwrap_or(none)), none, none, *along_y)
        }
        Functions::Coroutine { frame_bytes, start, resume } => {
            (1, *frame_bytes, [none; VARIANTS], *start, *resume, false)
        }
    };
    let value = Value::constant_structure(
        context,
        &[
            word.constant(u64::from(FORMAT_VERSION)),
            word.constant(strategy),
            wide.constant(shared_bytes),
            wide.constant(frame_bytes),
            word.constant(FRAME_ALIGN),
            word.constant(u64::from(along_y)),
            word.constant(u64::from(joins_blocks)),
            word.constant(0),
            run[0],
            run[1],
            run[2],
            start,
            resume,
        ],
    );
    let global = unit.module.new_global(symbol, value.ty(), 0);
    global.set_initializer(value);
    global.set_global_constant(true);
    global.set_alignment(8);
    global.set_visibility(Visibility::Hidden);
}

/// Reads a field of a structure.
pub(super) fn field<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    ty: Type<'c>,
    structure: Value<'c>,
    offset: u64,
) -> Value<'c> {
    let address = builder.offset(context, structure, offset);
    builder.load(ty, address)
}

/// Writes a field of a structure.
pub(super) fn set_field<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    structure: Value<'c>,
    offset: u64,
    value: Value<'c>,
) {
    let address = builder.offset(context, structure, offset);
    builder.store(value, address);
}

/// Loads the kernel's arguments, of these types, through the run time's array of pointers.
pub(super) fn load_arguments<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    array: Value<'c>,
    types: &[Type<'c>],
    by_address: &[bool],
) -> Vec<Value<'c>> {
    let pointer = Type::pointer(context, 0);
    let load = |(index, (ty, by_address)): (usize, (&Type<'c>, &bool))| {
        let slot = builder.offset(context, array, 8 * index as u64);
        let address = builder.load(pointer, slot);
        if *by_address {
            address
        } else if ty.is_int(1) {
            let byte = builder.load(Type::int(context, 8), address);
            builder.truncate(byte, *ty)
        } else {
            builder.load(*ty, address)
        }
    };
    types.iter().zip(by_address).enumerate().map(load).collect()
}

/// Ends the kernel's thread early where a function it called does: calls `_setjmp`, goes to
/// `again` on the way back, and goes on in the block the builder is in then.
///
/// On Windows it has a second parameter, the frame that `longjmp` unwinds to ([`__intrinsic_setjmp`][ms]). With
/// none it only sets the registers back, as elsewhere: there is nothing to unwind in a kernel.
///
/// [ms]: https://learn.microsoft.com/en-us/cpp/c-runtime-library/reference/setjmp
pub(super) fn catch_thread_exits<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    function: Value<'c>,
    block: Value<'c>,
    again: Block<'c>,
) {
    use kernelmill_llvm::ir::{IntPredicate, Place};
    let context = unit.context;
    let word = Type::int(context, 32);
    let pointer = Type::pointer(context, 0);
    let mut arguments = vec![builder.offset(context, block, block::JUMP)];
    if unit.module.get_triple().as_str().to_string_lossy().contains("windows") {
        arguments.push(pointer.null());
    }
    let ty = word.function(&vec![pointer; arguments.len()]);
    let setjmp = unit.module.declare("_setjmp", ty);
    setjmp.add_attribute(context, Place::Function, "returns_twice", 0);
    let came_back = builder.call(setjmp, &arguments);
    came_back.add_attribute(context, Place::Function, "returns_twice", 0);
    let first = builder.compare(IntPredicate::Eq, came_back, word.constant(0));
    let go = Block::append(context, function, "first");
    builder.branch_if(first, go, again);
    builder.at_end(go);
}
