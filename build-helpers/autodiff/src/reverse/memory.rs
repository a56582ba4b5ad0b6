//! Adjoints of copies of memory.

use kernelmill_llvm::ir::{
    AtomicOperation, AtomicOrdering, Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode,
    Place, Type, TypeKind, Value,
};

use crate::unit::Unit;

/// How adjoints are moved.
#[derive(Clone, Copy)]
pub(super) struct Adjoints<'c> {
    /// The type of the numbers.
    pub(super) element: Type<'c>,
    /// Whether several threads add to them.
    pub(super) shared: bool,
    /// Whether the ranges may overlap.
    pub(super) overlap: bool,
}

/// A function that adds the numbers of one shadow to another and clears the first. Its parameters are
/// the two shadows and a number of bytes. It is written once for each module and type.
pub(super) fn move_adjoints<'c>(unit: &Unit<'_, 'c>, adjoints: Adjoints<'c>) -> Value<'c> {
    let Adjoints { element, shared, overlap } = adjoints;
    let kind = match element.kind() {
        TypeKind::Float => "f32",
        TypeKind::Double => "f64",
        TypeKind::Half => "f16",
        _ => "bf16",
    };
    let shared_suffix = if shared { "_shared" } else { "" };
    let overlap_suffix = if overlap { "_overlap" } else { "" };
    let name = format!("__kernelmill_derivative_move_{kind}{shared_suffix}{overlap_suffix}");
    if let Some(known) = unit.module.function(&name) {
        return known;
    }
    let context = unit.context;
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let ty = Type::void(context).function(&[pointer, pointer, wide]);
    let function = unit.module.new_function(&name, ty);
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "alwaysinline", 0);
    let size = unit.machine.size_of(element);
    let each = |builder: &Builder<'c>, source, target| {
        let change = builder.load(element, source);
        builder.store(element.null(), source);
        if shared {
            let add = AtomicOperation::FAdd;
            builder.atomic(add, target, change, AtomicOrdering::Monotonic);
        } else {
            let before = builder.load(element, target);
            let sum = builder.binary(Opcode::FAdd, before, change);
            builder.store(sum, target);
        }
    };
    write_loop(unit, function, Elements { element, size, overlap }, each);
    function
}

/// The elements of a loop.
struct Elements<'c> {
    element: Type<'c>,
    size: u64,
    /// Whether the ranges may overlap. Then the loop goes downwards where the second begins behind the first,
    /// so that what is added to an element is not taken from it again.
    overlap: bool,
}

/// Writes a loop over the elements of two memory ranges into an empty function, whose parameters are
/// both addresses and the number of bytes.
fn write_loop<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    Elements { element, size, overlap }: Elements<'c>,
    each: impl Fn(&Builder<'c>, Value<'c>, Value<'c>),
) {
    let [from, to, bytes] = function.parameters()[..] else {
        unreachable!("the function has just been given three parameters")
    };
    let wide = Type::int(unit.context, 64);
    let start = Block::append(unit.context, function, "start");
    let body = Block::append(unit.context, function, "body");
    let done = Block::append(unit.context, function, "done");
    let builder = Builder::new(unit.context);
    builder.at_end(start);
    let count = builder.binary(Opcode::UDiv, bytes, wide.constant(size));
    let none = builder.compare(IntPredicate::Eq, count, wide.constant(0));
    builder.branch_if(none, done, body);
    builder.at_end(body);
    let index = builder.phi(wide);
    index.add_incoming(wide.constant(0), start);
    let next = builder.add(index, wide.constant(1));
    let mut position = index;
    if overlap {
        let is_behind = builder.compare(IntPredicate::Ult, from, to);
        let from_end = builder.binary(Opcode::Sub, count, next);
        position = builder.select(is_behind, from_end, index);
    }
    let source = builder.element(element, from, position);
    each(&builder, source, builder.element(element, to, position));
    index.add_incoming(next, body);
    let last = builder.compare(IntPredicate::Eq, next, count);
    builder.branch_if(last, done, body);
    builder.at_end(done);
    builder.ret(None);
}
