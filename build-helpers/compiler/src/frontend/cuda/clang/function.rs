//! Device functions passed to kernels: `kernelmill::DeviceFn` and `KERNELMILL_DEVICE_FN` of our
//! headers.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Type, Value},
    machine::Machine,
};

use crate::{
    Error,
    base::names::{EXPORTED, FUNCTION},
    ir::calls_of,
};

/// The functions that the host can give.
pub(super) fn exported<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let definitions = module.definitions().into_iter();
    definitions.filter(|function| function.name().starts_with(EXPORTED)).collect()
}

/// Makes calls of device functions passed to kernels what they are in kernels in Rust: what the lookup
/// gives is called where it is, and panics name the line of the call.
pub(super) fn settle<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
) -> Result<(), Error> {
    let Some(lookup) = ModuleExt::function(module, FUNCTION) else { return Ok(()) };
    for call in calls_of(lookup) {
        let operator = call.block().function();
        machine.run_on_function(operator, "sroa")?;
        for call in calls_of(operator) {
            let place = operator.parameters().len() as u32 - 1;
            call.set_operand(place, location(context, module, call));
        }
    }
    Ok(())
}

/// The place of a call, as a constant: `struct __kernelmill_location`.
fn location<'c>(context: &'c Context, module: &Module<'c>, call: Value<'c>) -> Value<'c> {
    let file = call.debug_file().unwrap_or_default();
    let byte = Type::int(context, 8);
    let array = |bytes: &[u8]| {
        let bytes = bytes.iter().map(|it| byte.constant((*it).into()));
        byte.constant_array(&bytes.collect::<Vec<_>>())
    };
    // The length of the file's name, the line, and a column, which is not known.
    let [line, column] = [call.debug_line(), 1].map(u32::to_le_bytes);
    let numbers = [&(file.len() as u64).to_le_bytes()[..], &line, &column].concat();
    let text = constant(module, "__km_file", array(file.as_bytes()));
    let fields = [text, array(&numbers)];
    let place = constant(module, "__km_place", Value::constant_structure(context, &fields));
    place.set_alignment(8);
    place
}

fn constant<'c>(module: &Module<'c>, name: &str, value: Value<'c>) -> Value<'c> {
    let global = module.new_global(name, value.ty(), 0);
    global.set_initializer(value);
    global.set_global_constant(true);
    global.set_linkage(Linkage::Private);
    global
}
