//! Variables of the program: `__constant__` and `__device__` ones of CUDA C++ and HIP, which the host reads and writes, and
//! statics that kernels write. They are in memory whose address is an argument of the launch ([`ProgramMemory`]).
//!
//! OpenCL gives a program no way to the memory of a variable, and few devices have variables. So [`place`] gives each a
//! place in one block of memory, makes its uses offsets from the argument, and writes a kernel that stores the initial
//! values, which `src/backend/opencl/program.rs` launches once for each loaded module. Functions that use a variable are
//! inlined into the kernels before ([`inline_users`]), as these alone have the argument.

use std::collections::HashSet;

use kernelmill_artifact::{ProgramMemory, ProgramVariable};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, Value, calling_convention},
    machine::Machine,
};

use super::spaces::GLOBAL;
use crate::{
    Error,
    base::names::{PRINT_MEMORY, PRINTS, PROGRAM_MEMORY_PARAMETER},
    ir::{
        always_inline, reachable, replace_uses,
        variables::{is_in_memory, is_variable},
    },
};

/// The attribute of the kernel with the initial values that has the memory as text.
const MEMORY: &str = "kernelmill-program-variables";

/// Has functions that use variables, or print, inlined.
pub(super) fn inline_users<'c>(context: &'c Context, module: &Module<'c>) {
    if variables(module).is_empty() && ModuleExt::function(module, PRINT_MEMORY).is_none() {
        return;
    }
    for function in module.definitions() {
        let used = reachable(function);
        if used.iter().any(|it| is_in_memory(it, GLOBAL) || it.name() == PRINT_MEMORY) {
            always_inline(context, function);
        }
    }
}

/// Gives each variable a place in memory. One whose address is part of a static, or that a function uses which stays out of line,
/// stays as it is.
pub(super) fn place<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let mut variables: Vec<_> =
        variables(module).into_iter().filter(|it| obstacle(*it).is_none()).collect();
    if variables.is_empty() && !module.definitions().into_iter().any(is_given_memory) {
        return Ok(());
    }
    variables.sort_by_cached_key(|it| it.name());
    let start = start(context, module);
    let builder = Builder::new(context);
    builder.at_end(start.blocks()[0]);
    let mut memory = ProgramMemory::default();
    for variable in variables {
        let ty = variable.value_type();
        let align = u64::from(variable.alignment()).max(machine.align_of(ty));
        let (offset, bytes) = (memory.bytes.next_multiple_of(align), machine.size_of(ty));
        memory.bytes = offset + bytes;
        let symbol = variable.name();
        replace_uses(context, variable, &|builder| {
            let kernel = builder.block().function();
            let address = parameter(kernel).expect("only kernels with it use the variable");
            builder.offset(context, address, offset)
        })?;
        let value = variable.initializer().filter(|it| !it.is_zero() && !it.is_undefined());
        if let Some(value) = value {
            let table = module.new_global(&format!("{symbol}.initial"), ty, GLOBAL);
            table.set_alignment(align as u32);
            table.set_linkage(Linkage::Internal);
            table.set_initializer(value);
            table.set_global_constant(true);
            let to = builder.offset(context, start.parameters()[0], offset);
            let count = Type::int(context, 64).constant(bytes);
            builder.copy_bytes(to, table, align as u32, count);
        }
        if is_variable(&variable) {
            memory.variables.push(ProgramVariable { symbol, offset, bytes });
        }
        // Constants that nothing uses may name it.
        variable.replace_with(variable.ty().poison());
        variable.delete_global();
    }
    builder.ret(None);
    start.add_text_attribute(context, MEMORY, &memory.to_string());
    Ok(())
}

/// What a module says of its memory; `None` where it has no variables and prints nothing.
pub(in crate::target) fn memory(module: &Module<'_>) -> Option<ProgramMemory> {
    let start = ModuleExt::function(module, ProgramMemory::START);
    let written = start.and_then(|it| ProgramMemory::parse(&it.text_attribute(MEMORY)?));
    let prints = module.definitions().iter().any(|it| it.text_attribute(PRINTS).is_some());
    if written.is_none() && !prints {
        return None;
    }
    let kernels = module.definitions().into_iter().filter(|it| is_given_memory(*it));
    let kernels = kernels.map(Value::name).collect();
    Some(ProgramMemory { kernels, prints, ..written.unwrap_or_default() })
}

/// The variables of the host that have no place and are used: what they are, and the first instruction of every function
/// that uses them.
pub(super) fn used<'c>(module: &Module<'c>) -> Vec<(String, Value<'c>)> {
    let mut found = Vec::new();
    for variable in module.globals().into_iter().filter(is_variable) {
        let users = users(variable);
        let why = obstacle(variable).unwrap_or("without a place in memory");
        for function in module.definitions() {
            let first = function.instructions().into_iter().find(|it| users.contains(it));
            found.extend(first.map(|it| (format!("`{}`, a variable {why}", variable.name()), it)));
        }
    }
    found
}

/// Removes the variables without a place of kernels that the target is left out for.
pub(super) fn drop_unused(module: &Module<'_>) {
    for variable in module.globals().into_iter().filter(is_variable) {
        if users(variable).is_empty() {
            // Constants that nothing uses may name it.
            variable.replace_with(variable.ty().poison());
            variable.delete_global();
        }
    }
}

fn variables<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    module.globals().into_iter().filter(|it| is_in_memory(it, GLOBAL)).collect()
}

/// The address of the memory, where a function is given it.
fn parameter(function: Value<'_>) -> Option<Value<'_>> {
    let index = function.text_attribute(PROGRAM_MEMORY_PARAMETER)?.parse::<usize>().ok()?;
    function.parameters().get(index).copied()
}

fn is_given_memory(function: Value<'_>) -> bool {
    parameter(function).is_some()
}

/// Why a variable has no place in memory; `None` where it has one: only kernels that are given the memory use it, and its
/// initial value is known without an address.
fn obstacle(variable: Value<'_>) -> Option<&'static str> {
    if u64::from(variable.alignment()) > ProgramMemory::MOST_ALIGNMENT {
        return Some("that is aligned to more than 128 bytes");
    }
    if variable.initializer().is_some_and(names_address) {
        return Some("with an address as its initial value");
    }
    let (mut seen, mut work) = (HashSet::new(), vec![variable]);
    while let Some(value) = work.pop() {
        for user in value.users() {
            if user.is_global() {
                return Some("whose address is the initial value of another variable");
            }
            if user.is_instruction() && !is_given_memory(user.block().function()) {
                return Some("that is used in a function which is not inlined into a kernel");
            }
            if !user.is_instruction() && seen.insert(user) {
                work.push(user);
            }
        }
    }
    None
}

/// Whether a constant has the address of something in it.
fn names_address(constant: Value<'_>) -> bool {
    let has_parts = constant.is_constant_aggregate() || constant.is_constant_expression();
    constant.is_global()
        || constant.is_function()
        || has_parts && constant.operands().into_iter().any(names_address)
}

/// A kernel that is given the memory, without instructions.
fn start<'c>(context: &'c Context, module: &Module<'c>) -> Value<'c> {
    let ty = Type::void(context).function(&[Type::pointer(context, GLOBAL)]);
    let start = module.new_function(ProgramMemory::START, ty);
    start.set_calling_convention(calling_convention::SPIR_KERNEL);
    start.add_attribute(context, Place::Function, "nounwind", 0);
    let _ = Block::append(context, start, "start");
    start
}

/// The instructions that use a variable, on its own, inside a constant, or by a static that has its address.
fn users(variable: Value<'_>) -> HashSet<Value<'_>> {
    let (mut found, mut seen, mut work) = (HashSet::new(), HashSet::new(), vec![variable]);
    while let Some(value) = work.pop() {
        for user in value.users() {
            match user.is_instruction() {
                true => drop(found.insert(user)),
                false if seen.insert(user) => work.push(user),
                false => {}
            }
        }
    }
    found
}
