//! Panics of `core`, `alloc` and `std`: replaced by calls of the device crate's functions.
//!
//! They are defined before `core` itself is linked, so that its formatting code comes along only
//! on the CPU, where a message is formatted, and only for panics that have one.

use kernelmill_artifact::PanicKind;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Place, Type, Value},
};

use crate::{
    base::names::{LOCATION_BASE, PANIC, PANIC_FMT, PANIC_SILENT, PANIC_TEXT},
    ir::{always_inline, path},
};

/// `void(const char*, unsigned long, const location*)`, which does not return, of kernels in CUDA
/// C++: an assertion that does not hold.
pub(super) const ASSERT_FAILED: &str = "__kernelmill_assert_failed";

/// What a panic leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// That there was one.
    Silent,
    /// Its place and numbers.
    Record,
    /// Its place and its text, which is formatted on the device.
    Format,
}

/// How a function of `core` that does not return is replaced.
#[derive(Clone, Copy)]
enum Replacement {
    /// By a record that says nothing more.
    Silent,
    /// By a record of its kind, with the arguments of these indices as the two numbers.
    Record(PanicKind, &'static [usize]),
    /// By a record of a failed allocation, whose parameters are an alignment and a number of bytes. The latter is
    /// undefined where the alignment is 0, or neither is there: more was asked for than an address names.
    Allocation,
    /// By formatting its message.
    Format,
    /// On the CPU by its own body in `core`, which ends in one of the others; elsewhere by a
    /// record.
    Body(PanicKind, &'static [usize]),
}

/// The functions, by their path.
const FUNCTIONS: &[(&str, Replacement)] = {
    use PanicKind::*;
    use Replacement::*;
    &[
        ("core::panicking::panic_bounds_check", Record(IndexOutOfBounds, &[0, 1])),
        ("core::panicking::panic_fmt", Format),
        ("core::panicking::panic_nounwind_fmt", Record(Other, &[])),
        ("core::option::unwrap_failed", Record(NoneUnwrapped, &[])),
        ("core::option::expect_failed", Body(NoneUnwrapped, &[])),
        ("core::result::unwrap_failed", Body(ErrUnwrapped, &[])),
        ("core::slice::index::slice_index_fail", Body(SliceRange, &[0, 1])),
        ("core::panicking::panic_const::panic_const_div_by_zero", Record(DivisionByZero, &[])),
        ("core::panicking::panic_const::panic_const_rem_by_zero", Record(RemainderByZero, &[])),
        ("core::panicking::panic_const::panic_const_div_overflow", Record(DivisionOverflow, &[])),
        ("core::panicking::panic_const::panic_const_rem_overflow", Record(DivisionOverflow, &[])),
        ("alloc::alloc::handle_alloc_error", Allocation),
        ("alloc::raw_vec::handle_error", Allocation),
        ("alloc::raw_vec::capacity_overflow", Allocation),
    ]
};

/// Gives every undefined function of `core`, `alloc` and `std` that does not return a body.
pub(super) fn define<'c>(context: &'c Context, module: &Module<'c>, style: Style) {
    for function in module.functions() {
        let undefined = function.is_declaration() && function.is_used();
        if undefined && function.name() == ASSERT_FAILED {
            assert_failed(context, module, function, style);
            continue;
        }
        if !undefined || !function.has_attribute(Place::Function, "noreturn") {
            continue;
        }
        let path = path(function);
        let ours = ["core::", "alloc::", "std::"].iter().any(|start| path.starts_with(start));
        if ours && let Some(replacement) = replacement(&path, style) {
            write_body(context, module, function, replacement);
        }
    }
}

/// Gives what a failed assertion calls a body: with its text where panics have one.
fn assert_failed<'c>(context: &'c Context, module: &Module<'c>, function: Value<'c>, style: Style) {
    let replacement = match style {
        Style::Silent => Some(Replacement::Silent),
        Style::Record => Some(Replacement::Record(PanicKind::Explicit, &[])),
        Style::Format => None,
    };
    if let Some(replacement) = replacement {
        return write_body(context, module, function, replacement);
    }
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, function, "start"));
    let wide = Type::int(context, 64);
    let parameters = function.parameters();
    let location = builder.pointer_to_int(parameters[2], wide);
    let types = [Type::pointer(context, 0), wide, wide];
    let target = module.declare(PANIC_TEXT, Type::void(context).function(&types));
    target.add_attribute(context, Place::Function, "noreturn", 0);
    builder.call(target, &[parameters[0], parameters[1], location]);
    builder.unreachable();
    always_inline(context, function);
    function.set_linkage(Linkage::Internal);
}

/// Makes declarations of the functions of a library that are replaced, so that its own bodies do
/// not come along.
pub(super) fn withdraw<'c>(context: &'c Context, library: &Module<'c>, style: Style) {
    for function in library.definitions() {
        let name = function.name();
        let of_library = name.contains("core") || name.contains("alloc");
        if !function.has_attribute(Place::Function, "noreturn") || !of_library {
            continue;
        }
        let path = path(function);
        let of_library = path.starts_with("core::") || path.starts_with("alloc::");
        if !of_library || replacement(&path, style).is_none() {
            continue;
        }
        declare_only(context, library, function);
    }
}

/// Makes a declaration of a function of a library, so that its body does not come along.
pub(super) fn declare_only<'c>(context: &'c Context, library: &Module<'c>, function: Value<'c>) {
    const ENDS: &str = "noreturn";
    let name = function.name();
    function.set_name(&format!("{name}.withdrawn"));
    let declaration = library.new_function(&name, function.value_type());
    if function.has_attribute(Place::Function, ENDS) {
        declaration.add_attribute(context, Place::Function, ENDS, 0);
    }
    function.replace_with(declaration);
    function.set_linkage(Linkage::Internal);
}

/// What to do with a function; `None` to leave it to the library.
fn replacement(path: &str, style: Style) -> Option<Replacement> {
    let known = FUNCTIONS.iter().find(|(name, _)| *name == path).map(|(_, how)| *how);
    let kind = if path.starts_with("core::panicking::panic_const::") {
        PanicKind::ArithmeticOverflow
    } else if path.starts_with("core::slice") {
        PanicKind::SliceRange
    } else {
        PanicKind::Explicit
    };
    let formats = style == Style::Format;
    match known.unwrap_or(Replacement::Body(kind, &[])) {
        _ if style == Style::Silent => Some(Replacement::Silent),
        Replacement::Silent => Some(Replacement::Silent),
        Replacement::Record(kind, numbers) => Some(Replacement::Record(kind, numbers)),
        Replacement::Allocation => Some(Replacement::Allocation),
        Replacement::Format if formats => Some(Replacement::Format),
        Replacement::Format => Some(Replacement::Record(PanicKind::Explicit, &[])),
        Replacement::Body(..) if formats => None,
        Replacement::Body(kind, numbers) => Some(Replacement::Record(kind, numbers)),
    }
}

fn write_body<'c>(
    context: &'c Context,
    module: &Module<'c>,
    function: Value<'c>,
    replacement: Replacement,
) {
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, function, "start"));
    match replacement {
        Replacement::Silent => {
            let target = module.declare(PANIC_SILENT, Type::void(context).function(&[]));
            target.add_attribute(context, Place::Function, "noreturn", 0);
            builder.call(target, &[]);
        }
        Replacement::Format => {
            let target = module.declare(PANIC_FMT, function.value_type());
            builder.call(target, &function.parameters());
        }
        Replacement::Record(kind, numbers) | Replacement::Body(kind, numbers) => {
            let wide = Type::int(context, 64);
            let parameters = function.parameters();
            let number = |place: usize| -> Value<'c> {
                let parameter = numbers.get(place).and_then(|index| parameters.get(*index));
                parameter.copied().filter(|value| value.ty() == wide).unwrap_or(wide.constant(0))
            };
            record(context, module, &builder, function, (kind, [number(0), number(1)]));
        }
        Replacement::Allocation => {
            let wide = Type::int(context, 64);
            let (none, most) = (wide.constant(0), wide.constant(u64::MAX));
            let bytes = match function.parameters()[..] {
                [align, bytes, ..] if align.ty() == wide && bytes.ty() == wide => {
                    let is_over = builder.compare(IntPredicate::Eq, align, none);
                    builder.select(is_over, most, bytes)
                }
                _ => most,
            };
            record(context, module, &builder, function, (PanicKind::OutOfMemory, [bytes, none]));
        }
    }
    builder.unreachable();
    always_inline(context, function);
    function.set_linkage(Linkage::Internal);
}

/// Calls the function that writes a record.
fn record<'c>(
    context: &'c Context,
    module: &Module<'c>,
    builder: &Builder<'c>,
    function: Value<'c>,
    (kind, [a, b]): (PanicKind, [Value<'c>; 2]),
) {
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    // The caller's location is the last parameter of those that track it.
    let location = match function.parameters().last() {
        Some(last) if last.ty().is_pointer() => builder.pointer_to_int(*last, wide),
        // The one before the first of the table stands for none.
        _ => {
            let base = module.declare(LOCATION_BASE, wide.function(&[]));
            let base = builder.call(base, &[]);
            builder.add(base, wide.constant(24_u64.wrapping_neg()))
        }
    };
    let ty = Type::void(context).function(&[word, wide, wide, wide]);
    let target = module.declare(PANIC, ty);
    target.add_attribute(context, Place::Function, "noreturn", 0);
    builder.call(target, &[word.constant(kind as u64), a, b, location]);
}
