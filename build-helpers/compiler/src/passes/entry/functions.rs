//! Device functions as entries: functions that code of another language calls, compiled without a kernel.
//!
//! A function keeps its symbol and has the C calling convention of its target. In PTX that is a `.visible .func`, which
//! nvcc's relocatable code declares as `extern "C" __device__`. A panic ends the process or the launch by a trap, for
//! nobody reads a record of it.

use crate::diagnostic::Code;
use kernelmill_artifact::Target;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, TypeKind, Value},
    machine::Machine,
};

use super::unit::Entry;
use crate::{
    Error,
    base::names::{PREFIX, SHIM_PREFIX, is_panic},
    diagnostic::Fault,
    ir::always_inline,
    job::{EntryAbi, Job, OptionError},
    passes::call_chains::CallChains,
};

/// The functions of a module that other languages can call: those that are visible, under names that rustc did not
/// make.
pub(crate) fn exported(module: &Module<'_>) -> Vec<String> {
    let is_visible = |it: &Value<'_>| {
        [Linkage::External, Linkage::WeakAny, Linkage::WeakOdr].contains(&it.linkage())
    };
    let names = module.definitions().into_iter().filter(is_visible).map(Value::name);
    let is_ours = |name: &String| name.starts_with(PREFIX) || name.starts_with(SHIM_PREFIX);
    let is_rusts = |name: &String| rustc_demangle::try_demangle(name).is_ok();
    names.filter(|name| !is_ours(name) && !is_rusts(name)).collect()
}

/// Makes the functions of these names entries, and everything else internal.
///
/// # Errors
///
/// [`Error::Options`](Error) where there is none, and [`Error::Invalid`] where one cannot be called so.
pub(crate) fn functions<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    job: &Job<'_>,
    names: &[String],
) -> Result<Vec<Entry>, Error> {
    let found: Vec<_> = names.iter().filter_map(|name| module.function(name)).collect();
    if found.is_empty() {
        let message = "the option `kernel` is `false`, and the source has no function that other languages can \
                       call; write `#[unsafe(no_mangle)] pub extern \"C\" fn name(..)`";
        return Err(OptionError::Together(message.to_owned()).into());
    }
    let abi = job.config.options.entry_abi;
    if abi == EntryAbi::Packed || !job.config.target.is_cpu() {
        check_types(context, &found, &job.config.target)?;
    }
    trap_at_panics(context, module);
    for function in &found {
        if abi == EntryAbi::Packed {
            pack(context, module, *function);
        }
    }
    for function in module.definitions() {
        let is_entry = names.contains(&function.name());
        function.set_linkage(if is_entry { Linkage::External } else { Linkage::Internal });
    }
    machine.run(module, "globaldce")?;
    let entry = |name: &String| Entry {
        symbol: name.clone(),
        static_shared_bytes: 0,
        cooperative: false,
        cpu_symbol: None,
        strategy: None,
    };
    Ok(names.iter().map(entry).collect())
}

/// Refuses functions with values that compilers pass in different ways.
fn check_types<'c>(
    context: &'c Context,
    functions: &[Value<'c>],
    target: &Target,
) -> Result<(), Error> {
    let call_chains = CallChains::from(context, functions.iter().copied());
    let fault = |function: &Value<'c>| {
        let message = format!(
            "device function `{}` passes a struct, an array or a vector by value, which compilers do in different \
             ways",
            function.name()
        );
        let frames = call_chains.to_start_of(*function);
        Fault::new(Code::DeviceFunction, message, frames)
            .help("take and return scalars and pointers")
    };
    let wrong = functions.iter().filter(|function| !passes_scalars(**function));
    let faults: Vec<_> = wrong.map(fault).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Error::Invalid { targets: vec![target.clone()], faults }),
    }
}

/// Whether a function takes and returns scalars and pointers alone.
fn passes_scalars(function: Value<'_>) -> bool {
    use TypeKind::{BFloat, Double, Float, Half, Integer, Pointer, Void};
    let is_scalar =
        |ty: Type<'_>| [BFloat, Double, Float, Half, Integer, Pointer].contains(&ty.kind());
    let is_own = |index: usize| {
        let place = Place::Parameter(index as u32);
        !["byval", "sret"].iter().any(|name| function.has_attribute(place, name))
    };
    let ty = function.value_type();
    let parameters = ty.parameters();
    (is_scalar(ty.result()) || ty.result().kind() == Void)
        && parameters.iter().enumerate().all(|(index, it)| is_scalar(*it) && is_own(index))
}

/// Lets panics trap.
fn trap_at_panics<'c>(context: &'c Context, module: &Module<'c>) {
    let panics: Vec<_> =
        module.functions().into_iter().filter(|function| is_panic(&function.name())).collect();
    for function in panics {
        let name = function.name();
        function.set_name(&format!("{name}.unused"));
        let trap = module.new_function(&format!("{name}.trap"), function.value_type());
        let builder = Builder::new(context);
        builder.at_end(Block::append(context, trap, "start"));
        builder.call(module.intrinsic("llvm.trap", &[]), &[]);
        builder.unreachable();
        trap.set_linkage(Linkage::Internal);
        for attribute in ["noreturn", "nounwind"] {
            trap.add_attribute(context, Place::Function, attribute, 0);
        }
        always_inline(context, trap);
        function.replace_with(trap);
        if function.is_declaration() {
            function.delete_function();
        }
    }
}

/// Puts a function in the place of another that takes the addresses of its arguments, and the address of the result.
fn pack<'c>(context: &'c Context, module: &Module<'c>, function: Value<'c>) {
    let name = function.name();
    function.set_name(&format!("{name}.unpacked"));
    let pointer = Type::pointer(context, 0);
    let packed = module.new_function(&name, Type::void(context).function(&[pointer, pointer]));
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, packed, "start"));
    let (byte, bit) = (Type::int(context, 8), |ty: Type<'c>| ty.is_int(1));
    let [arguments, result] = [packed.parameters()[0], packed.parameters()[1]];
    let argument = |(index, ty): (usize, Type<'c>)| {
        let slot = builder.offset(context, arguments, 8 * index as u64);
        let address = builder.load(pointer, slot);
        match bit(ty) {
            true => builder.truncate(builder.load(byte, address), ty),
            false => builder.load(ty, address),
        }
    };
    let types = function.value_type().parameters().into_iter().enumerate();
    let values: Vec<_> = types.map(argument).collect();
    let value = builder.call(function, &values);
    let ty = function.value_type().result();
    if ty.kind() != TypeKind::Void {
        let value = if bit(ty) { builder.zero_extend(value, byte) } else { value };
        builder.store(value, result);
    }
    builder.ret(None);
    packed.add_attribute(context, Place::Function, "nounwind", 0);
    packed.take_source_lines(function);
    always_inline(context, function);
}
