//! Adjoints of copies of memory.

use kernelmill_llvm::ir::{
    AtomicOperation, AtomicOrdering, Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode,
    Place, Type, TypeKind, Value,
};

use crate::unit::Unit;

/// A function that adds the numbers of one shadow to another and clears the first. Its parameters are
/// the two shadows and a number of bytes. It is written once for each module and type.
pub(super) fn move_adjoints<'c>(unit: &Unit<'_, 'c>, element: Type<'c>, shared: bool) -> Value<'c> {
    let kind = match element.kind() {
        TypeKind::Float => "f32",
        TypeKind::Double => "f64",
        TypeKind::Half => "f16",
        _ => "bf16",
    };
    let name =
        format!("__kernelmill_derivative_move_{kind}{}", if shared { "_shared" } else { "" });
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
    write_loop(unit, function, element, size, each);
    function
}

/// Writes a loop over the elements of two memory ranges into an empty function, whose parameters are
/// both addresses and the number of bytes.
fn write_loop<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    element: Type<'c>,
    size: u64,
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
    let source = builder.element(element, from, index);
    each(&builder, source, builder.element(element, to, index));
    let next = builder.add(index, wide.constant(1));
    index.add_incoming(next, body);
    let last = builder.compare(IntPredicate::Eq, next, count);
    builder.branch_if(last, done, body);
    builder.at_end(done);
    builder.ret(None);
}
