//! C's `printf` for targets without variadic functions: into a buffer of the launch that the host
//! reads, or by a function that takes the address of the arguments.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Type, Value},
};

use crate::{base::names::PRINT, target_info::Printf};

/// What prints a text that ends in a zero, and C's `printf` with its arguments in memory, in the device
/// crate.
const TEXT_TO_ENTRY: &str = "__kernelmill_print_to_entry";
const PRINTF_TO_ENTRY: &str = "__kernelmill_printf_to_entry";

/// Prints a text that ends in a zero, as the device crate calls it.
const TEXT: &str = "__kernelmill_print";

/// Makes calls of [`PRINT`] calls of the target's function, where it has one.
pub(crate) fn printing<'c>(context: &'c Context, module: &Module<'c>, target: Option<Printf>) {
    match (module.function(PRINT), target) {
        (Some(print), Some(Printf::Variadic(name))) => print.set_name(name),
        (Some(_), Some(Printf::Packed(name))) => to_packed(context, module, name),
        _ => {}
    }
}

/// Sends what prints to the buffer of the launch.
pub(super) fn to_entry<'c>(context: &'c Context, module: &Module<'c>) {
    if let Some(print) = module.function(TEXT) {
        print.set_name(TEXT_TO_ENTRY);
    }
    let Some(print) = module.function(PRINT) else { return };
    replace_calls(print, |call| printf(context, module, call));
}

/// Replaces calls of a function by what stands for their results.
fn replace_calls<'c>(print: Value<'c>, by: impl Fn(Value<'c>) -> Value<'c>) {
    for call in print.users().into_iter().filter(|user| user.is_call()) {
        call.replace_with(by(call));
        call.erase();
    }
}

/// Calls the target's function `name`, with the arguments packed in memory of the thread.
///
/// Workaround: LLVM does the same with variadic functions when it emits PTX, but version 23 passes the
/// address in local memory ([llvm-project#201661]) where the driver's `vprintf` takes a generic one.
///
/// [llvm-project#201661]: https://github.com/llvm/llvm-project/pull/201661
fn to_packed<'c>(context: &'c Context, module: &Module<'c>, name: &str) {
    let Some(print) = module.function(PRINT) else { return };
    let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
    let target = module.declare(name, word.function(&[pointer, pointer]));
    replace_calls(print, |call| packed(context, call, target));
}

fn packed<'c>(context: &'c Context, call: Value<'c>, target: Value<'c>) -> Value<'c> {
    let arguments = call.arguments();
    let (format, values) = (arguments[0], &arguments[1..]);
    let builder = Builder::new(context);
    if values.is_empty() {
        builder.before(call);
        return builder.call(target, &[format, Type::pointer(context, 0).null()]);
    }
    let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
    let size = |ty: &Type<'c>| if ty.is_int(32) { 4 } else { 8 };
    builder.before(call.block().function().blocks()[0].instructions()[0]);
    let place = builder.alloca(Type::structure(context, &types));
    place.set_alignment(8);
    builder.before(call);
    let mut at = 0_u64;
    for (value, size) in values.iter().zip(types.iter().map(size)) {
        at = at.next_multiple_of(size);
        builder.store(*value, builder.offset(context, place, at)).set_alignment(size as u32);
        at += size;
    }
    builder.call(target, &[format, place])
}

/// Calls the device crate's, with a word in memory for each argument after the format.
fn printf<'c>(context: &'c Context, module: &Module<'c>, call: Value<'c>) -> Value<'c> {
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let pointer = Type::pointer(context, 0);
    let arguments = call.arguments();
    let (format, values) = (arguments[0], &arguments[1..]);
    let builder = Builder::new(context);
    let entry = call.block().function().blocks()[0];
    builder.before(entry.instructions()[0]);
    let slots = builder.alloca(wide.array(values.len().max(1) as u64));
    slots.set_alignment(8);
    builder.before(call);
    for (index, value) in values.iter().enumerate() {
        let slot = builder.offset(context, slots, 8 * index as u64);
        // Arguments of functions with any number of them are words of 32 bits at least; which of them
        // are signed the format says.
        let narrow = value.ty().is_int(32);
        let value = if narrow { builder.zero_extend(*value, wide) } else { *value };
        builder.store(value, slot).set_alignment(8);
    }
    let ty = word.function(&[pointer, pointer, word]);
    let target = module.declare(PRINTF_TO_ENTRY, ty);
    builder.call(target, &[format, slots, word.constant(values.len() as u64)])
}
