//! From what clang writes for NVIDIA's virtual machine to what the pipeline takes from every front
//! end: one address space, shared memory as tagged statics, arguments of functions by address or
//! by value but not `byval`, and kernels as plain functions under the shims' names.

use std::fmt::Write as _;

use kernelmill_artifact::VariableDeclaration;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Opcode, Place, Type, TypeKind, Value, parse_ir},
    machine::Machine,
};

use crate::{
    Error,
    base::names::{PREFIX, SHIM_PREFIX},
    frontend::cuda::{signature, source::CudaSource},
    ir::{SHARED_TAG, replace_uses, variables},
};

/// The argument that keeps variables and types in debug information, as nvcc has it.
pub const FULL_DEBUG: &str = "-G";

/// LLVM's number of the calling convention of kernels of NVIDIA's.
const PTX_KERNEL: u32 = 71;

/// The address spaces of NVIDIA's virtual machine that globals lie in.
const GLOBAL: u32 = 1;
const SHARED: u32 = 3;
const CONSTANT: u32 = 4;

/// What the headers of OpenCL C name variables that belong in shared memory: outside of kernels the
/// language has none.
const LOCAL_WORDS: &str = "__kernelmill_local";

/// The kernels of a module that clang wrote.
pub(crate) fn kernels<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let definitions = module.definitions().into_iter();
    definitions.filter(|function| function.calling_convention() == PTX_KERNEL).collect()
}

/// Adapts a module, and gives it as bitcode. `variables` are those that the host reads and writes. What a reader of the source ought to know is added to
/// `warnings`.
pub(crate) fn adapt<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
    source: &CudaSource,
    variables: &[VariableDeclaration],
    warnings: &mut String,
) -> Result<Vec<u8>, Error> {
    drop_lists(module);
    super::function::settle(context, machine, module)?;
    let copies = Copies { context, machine };
    for function in module.functions() {
        copies.of_arguments(function);
    }
    for global in module.globals() {
        let space = global.ty().address_space();
        if global.name().starts_with(LOCAL_WORDS) || space == SHARED {
            shared(context, machine, module, global)?;
        } else {
            let is_known = |symbol: &String| variables.iter().any(|it| it.symbol == *symbol);
            let symbol = variable_symbol(global).filter(is_known);
            if symbol.is_none() {
                warn_of_unset_constant(source, global, warnings);
            }
            let moved = flatten(context, module, global);
            if let (Some(symbol), Some(moved)) = (symbol, moved) {
                let constant = moved.is_global_constant() || space == CONSTANT;
                moved.set_name(&symbol);
                moved.set_global_constant(constant);
                variables::mark(moved);
            }
        }
    }
    for kernel in kernels(module) {
        kernel.set_calling_convention(0);
        kernel.set_linkage(Linkage::External);
        kernel.drop_comdat();
        kernel.set_name(&format!("{SHIM_PREFIX}{}", kernel.name()));
    }
    let full = [FULL_DEBUG, "--device-debug"];
    if source.arguments.iter().any(|argument| full.contains(&argument.as_str())) {
        return Ok(module.to_bitcode());
    }
    with_lines_only(machine, module)
}

/// Makes shared variables what the pipeline knows as such.
pub(crate) fn settle_shared<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
) -> Result<(), Error> {
    drop_lists(module);
    let shared = |global: &Value<'c>| global.ty().address_space() == SHARED;
    module
        .globals()
        .into_iter()
        .filter(shared)
        .try_for_each(|global| self::shared(context, machine, module, global))
}

/// The name by which the host finds a variable, as nvcc has it in PTX; `None` for one that is not the host's: one in
/// constant memory with a value, which is a table, one that only a function names, and our own.
///
/// LLVM does not tell a variable without a value from one that the source says is zero.
fn variable_symbol(global: Value<'_>) -> Option<String> {
    let is_zero = global.initializer()?.is_zero();
    // clang says of all that lies in constant memory that it is constant.
    let is_table = global.ty().address_space() == CONSTANT && !is_zero;
    let is_defined_once = match global.linkage() {
        Linkage::External | Linkage::Internal => true,
        Linkage::LinkOnceOdr | Linkage::WeakOdr => {
            signature::is_variable_of_template(&global.name())
        }
        _ => false,
    };
    let is_in_memory = [CONSTANT, GLOBAL].contains(&global.ty().address_space());
    if is_table || !is_defined_once || !is_in_memory {
        return None;
    }
    signature::variable_symbol(&global.name())
}

/// A variable in constant memory without a value that the host cannot set either.
fn warn_of_unset_constant(source: &CudaSource, global: Value<'_>, warnings: &mut String) {
    let is_unset =
        global.ty().address_space() == CONSTANT && global.initializer().is_some_and(Value::is_zero);
    if is_unset {
        let (file, name) = (&source.display, signature::full_name(&global.name()));
        let _ = writeln!(
            warnings,
            "{file}: the __constant__ variable `{name}` stays zero, because the host cannot set it: it is in an \
             unnamed namespace, is `static` in a namespace or a function, is a `static` member of a template, or \
             has a type that cannot be a parameter"
        );
    }
}

/// Keeps of the debug information what panics and faults need, source lines: with more of it, PTX
/// and cubins are larger and LLVM marks them as ones for a debugger.
fn with_lines_only(machine: &Machine, module: &Module<'_>) -> Result<Vec<u8>, Error> {
    let text =
        module.to_text().replace("emissionKind: FullDebug", "emissionKind: DebugDirectivesOnly");
    let context = Context::create();
    let module = parse_ir(&context, &text, machine.data_layout(), machine.triple())?;
    Ok(module.to_bitcode())
}

/// Leaves of the code no more than what says which parameters kernels have, and variables of the host: code is generated for
/// it as it is, and of what kernels do NVIDIA's back end does not take everything unoptimised.
pub(crate) fn leave_parameters<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
) -> Result<(), Error> {
    let builder = Builder::new(context);
    let mut kernels = kernels(module);
    kernels.extend(super::function::exported(module));
    for kernel in &kernels {
        let parameters = kernel.parameters();
        // A function without a line of its own has no parameters in debug information.
        let lines = kernel.instructions().into_iter();
        if let Some(line) = lines.filter(|one| one.debug_line() > 0).last() {
            builder.before(line);
        }
        for instruction in kernel.blocks()[0].instructions() {
            let kept = match instruction.opcode() {
                Opcode::Alloca => instruction.operand(0).is_constant(),
                Opcode::Store => parameters.contains(&instruction.operand(0)),
                _ => false,
            };
            if kept {
                continue;
            }
            if instruction.is_used() {
                instruction.replace_with(instruction.ty().poison());
            }
            instruction.erase();
        }
        builder.at_end(kernel.blocks()[0]);
        let result = kernel.value_type().result();
        let has_none = result.kind() == TypeKind::Void;
        builder.ret((!has_none).then(|| result.null()));
    }
    for function in module.definitions().into_iter().filter(|one| !kernels.contains(one)) {
        function.set_linkage(Linkage::Internal);
        function.drop_comdat();
    }
    for global in module.globals() {
        if variable_symbol(global).is_some() {
            global.set_linkage(Linkage::External);
        }
    }
    drop_lists(module);
    Ok(machine.run(module, "function(simplifycfg),globaldce")?)
}

/// Drops what says that things are to be kept, or run, that nothing refers to.
fn drop_lists(module: &Module<'_>) {
    for name in ["llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global.annotations"]
    {
        if let Some(list) = module.global(name) {
            list.delete_global();
        }
    }
}

/// Arguments that callers pass by address and that are the callee's own.
struct Copies<'a, 'c> {
    context: &'c Context,
    machine: &'a Machine,
}

impl<'c> Copies<'_, 'c> {
    /// Replaces `byval`, whose meaning differs between targets, by a copy at the start of the
    /// function. LLVM takes the copy out again where the function only reads.
    fn of_arguments(&self, function: Value<'c>) {
        let mut types = Vec::new();
        for index in 0..function.value_type().parameters().len() as u32 {
            let place = Place::Parameter(index);
            if let Some(ty) = function.type_attribute(place, "byval") {
                function.remove_attribute(place, "byval");
                types.push((index, ty));
            }
        }
        for call in function.calls() {
            for index in 0..call.arguments().len() as u32 {
                call.remove_attribute(Place::Parameter(index), "byval");
            }
        }
        if function.is_declaration() || types.is_empty() {
            return;
        }
        let builder = Builder::new(self.context);
        let first = function.blocks()[0];
        builder.before(first.instructions()[0]);
        let parameters = function.parameters();
        for (index, ty) in types {
            let parameter = parameters[index as usize];
            let align = function.attribute_number(Place::Parameter(index), "align").unwrap_or(1);
            let align = align as u32;
            let copy = builder.alloca(ty);
            copy.set_alignment(align);
            parameter.replace_with(copy);
            let bytes = Type::int(self.context, 64).constant(self.machine.size_of(ty));
            builder.copy_bytes(copy, parameter, align, bytes);
        }
    }
}

/// Makes a shared variable what the pipeline knows as one: a static of bytes that ends in a tag;
/// one without a size is the memory that the launch asks for.
fn shared<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
    global: Value<'c>,
) -> Result<(), Error> {
    let pointer = Type::pointer(context, 0);
    if global.is_declaration() {
        // It stays, because constants that nothing uses still name it, and is dropped as unused.
        let byte = Type::int(context, 8);
        let placeholder = module.new_global(&format!("{PREFIX}dynamic"), byte, 0);
        placeholder.set_initializer(byte.null());
        placeholder.set_linkage(Linkage::Internal);
        replace(context, global, placeholder);
        let base = module.declare(&format!("{PREFIX}dynamic_shared"), pointer.function(&[]));
        replace_uses(context, placeholder, &|builder| builder.call(base, &[]))?;
        return Ok(());
    }
    let byte = Type::int(context, 8);
    let bytes = byte.array(machine.size_of(global.value_type()));
    let tag: Vec<_> = SHARED_TAG.iter().map(|value| byte.constant(u64::from(*value))).collect();
    let value = Value::constant_structure(context, &[bytes.poison(), byte.constant_array(&tag)]);
    let (name, align) = (global.name(), global.alignment());
    let tagged = module.new_global(&format!("{name}.shared"), value.ty(), 0);
    tagged.set_initializer(value);
    tagged.set_alignment(align);
    tagged.set_linkage(Linkage::Internal);
    replace(context, global, tagged);
    Ok(())
}

/// Moves a global into the one address space that the pipeline starts from, and gives what takes its place; `None` where it
/// is there.
fn flatten<'c>(context: &'c Context, module: &Module<'c>, global: Value<'c>) -> Option<Value<'c>> {
    if global.ty().address_space() == 0 {
        return None;
    }
    let moved = module.new_global("", global.value_type(), 0);
    if let Some(value) = global.initializer() {
        moved.set_initializer(value);
        moved.set_linkage(Linkage::Internal);
        moved.set_global_constant(global.is_global_constant());
    }
    moved.set_alignment(global.alignment());
    let name = global.name();
    replace(context, global, moved);
    moved.set_name(&name);
    Some(moved)
}

/// Makes what uses a global use another in address space 0, and deletes it.
fn replace<'c>(context: &'c Context, global: Value<'c>, by: Value<'c>) {
    let flat = Type::pointer(context, 0);
    for user in global.users() {
        let cast = user.is_constant_expression()
            && user.constant_opcode() == Opcode::AddrSpaceCast
            && user.ty() == flat;
        if cast {
            user.replace_with(by);
        }
    }
    global.replace_with(by.cast_address_space(global.ty()));
    global.delete_global();
}
