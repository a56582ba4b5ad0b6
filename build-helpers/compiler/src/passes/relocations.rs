//! Relocations on GPUs: symbols of the program whose values a binary is given when it is loaded.
//!
//! A plugin reads such a symbol by a placeholder, a function that is declared only. [`place`] makes each of them a variable
//! in the device's memory, visible to the host under a reserved name, and its calls loads. The run time copies the values
//! there before the first launch, so that what is stored has names and no values.
//!
//! Guarantees: no placeholder is left, and no pass knows what the variables hold.

use kernelmill_artifact::Relocation;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Type, Value, Visibility},
    machine::Machine,
};

use crate::ir::calls_of;

/// What the name of a placeholder has after that of its variable.
const PLACEHOLDER: &str = ".value";

/// What stands for the value of a symbol.
pub(crate) fn placeholder<'c>(module: &Module<'c>, symbol: &str, ty: Type<'c>) -> Value<'c> {
    module.declare(&format!("{}{symbol}{PLACEHOLDER}", Relocation::PREFIX), ty.function(&[]))
}

/// Puts a variable in the place of each placeholder.
pub(crate) fn place<'c>(context: &'c Context, module: &Module<'c>, machine: &Machine, space: u32) {
    let builder = Builder::new(context);
    for function in module.functions() {
        let name = function.name();
        let Some(variable) = name.strip_suffix(PLACEHOLDER).filter(|it| is_relocation(it)) else {
            continue;
        };
        let ty = function.value_type().result();
        let global = module.new_global(variable, ty, space);
        global.set_initializer(ty.null());
        global.set_alignment(machine.align_of(ty) as u32);
        global.set_linkage(Linkage::External);
        global.set_visibility(Visibility::Protected);
        for call in calls_of(function) {
            builder.before(call);
            call.replace_with(builder.load(ty, global));
            call.erase();
        }
        function.delete_function();
    }
}

/// Whether a name is that of such a variable, which the host has to find.
pub(crate) fn is_relocation(name: &str) -> bool {
    name.starts_with(Relocation::PREFIX)
}

/// The symbols that a module is given, each with the size of its value, in the order of their names.
pub(crate) fn of(module: &Module<'_>, machine: &Machine) -> Vec<(String, u64)> {
    let of_global = |global: Value<'_>| {
        let name = global.name();
        let symbol = name.strip_prefix(Relocation::PREFIX)?.to_owned();
        Some((symbol, machine.size_of(global.value_type())))
    };
    let mut found: Vec<_> = module.globals().into_iter().filter_map(of_global).collect();
    found.sort();
    found
}
