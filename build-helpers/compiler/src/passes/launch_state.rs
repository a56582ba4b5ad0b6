//! Launch state as arguments: what plugins ask each launch for becomes a parameter of the kernels that reach it.
//!
//! A plugin has a *getter*, a function without a body. The signatures of the kernels that reach it, or the plugin's marker,
//! have a parameter for its state, behind their own. [`add`] gives their shims that parameter; plugins may call the
//! getter, or what stands for it, until their stage `Finalize` is over. Then [`pass`] gives each function on the way from a
//! shim to a getter the state as its last parameter, and replaces the calls of the getter by that. Other functions stay
//! as they are. GPUCompiler.jl's [kernel state] does the same with a first parameter; a last one leaves the places of all
//! other parameters and their attributes.
//!
//! Needs: signatures with the state, and that nothing unwinds. Guarantees: no getter is left.
//!
//! [kernel state]: https://github.com/JuliaGPU/GPUCompiler.jl/blob/main/src/irgen.jl

use std::collections::HashMap;

use kernelmill_artifact::{Parameter, ParameterKind, Scalar, Signature, ValueType};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Type, TypeKind, Value},
    machine::Machine,
};

use crate::{
    Error,
    base::{
        demangle::demangle,
        names::{SHIM_PREFIX, STATE},
    },
    diagnostic::PluginFault,
    ir::place_of,
    job::State,
    passes::parameters,
};

/// The state that a plugin asks for, with the plugin's name.
pub(crate) type Asked = (String, State);

/// Gives the shims of kernels a parameter for each state that their signatures have.
pub(crate) fn add<'c>(
    context: &'c Context,
    module: &Module<'c>,
    signatures: &[Signature],
    convergent: bool,
) {
    for signature in signatures {
        let states = signature.parameters().iter().filter(|it| it.state_name().is_some());
        let states: Vec<_> = states.map(|it| ty(context, &it.kind)).collect();
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let is_there = |shim: &Value<'c>| !states.is_empty() && !shim.is_declaration();
        let Some(shim) = shim.filter(is_there) else { continue };
        let mut types: Vec<_> = shim.parameters().into_iter().map(Value::ty).collect();
        let own = types.len();
        types.extend(states);
        let arguments = |parameters: &[Value<'c>]| parameters[..own].to_vec();
        parameters::wrap(context, module, shim, &types, &arguments, convergent);
    }
}

/// What stands for state in a module, for plugins: a function that returns the parameter of the shim.
pub(crate) fn placeholder<'c>(
    context: &'c Context,
    module: &Module<'c>,
    state: &State,
) -> Value<'c> {
    let function = ty(context, &state.kind).function(&[]);
    module.declare(&format!("{STATE}{}", state.name), function)
}

/// The parameter of a shim: a scalar, or the address of memory, which that of a struct is too.
fn ty<'c>(context: &'c Context, kind: &ParameterKind) -> Type<'c> {
    match kind {
        ParameterKind::Value(ValueType::Scalar(scalar)) => match scalar {
            Scalar::Bool => Type::int(context, 1),
            Scalar::F32 => Type::float(context),
            Scalar::F64 => Type::double(context),
            _ => Type::int(context, scalar.size() as u32 * 8),
        },
        _ => Type::pointer(context, 0),
    }
}

/// Passes each state to the functions that reach its getter.
///
/// # Errors
///
/// [`Error::Plugin`] with every getter that does not return the state, every function with state whose address is taken, and
/// every kernel whose signature lacks what it reaches.
pub(crate) fn pass<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    signatures: &[Signature],
    asked: &[Asked],
) -> Result<(), Error> {
    let mut faults = Vec::new();
    for (plugin, state) in asked {
        let pass = Pass { context, module, machine, signatures, plugin, state };
        if let Some(getter) = module.function(&state.getter) {
            faults.extend(pass.replace_getter(getter));
        }
        let placeholder = module.function(&format!("{STATE}{}", state.name));
        let Some(placeholder) = placeholder.filter(|_| faults.is_empty()) else { continue };
        match pass.reaching(placeholder) {
            Ok(reaching) => pass.thread(placeholder, &reaching),
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

/// The work for one state.
struct Pass<'a, 'c> {
    context: &'c Context,
    module: &'a Module<'c>,
    machine: &'a Machine,
    signatures: &'a [Signature],
    plugin: &'a str,
    state: &'a State,
}

impl<'c> Pass<'_, 'c> {
    /// Replaces the calls of a getter by what stands for the state.
    fn replace_getter(&self, getter: Value<'c>) -> Vec<PluginFault> {
        if !getter.is_used() {
            getter.delete_function();
            return Vec::new();
        }
        if !getter.is_declaration() {
            let message = format!("the getter `{}` has a body; declare it only", self.state.getter);
            return vec![self.fault(None, demangle(&self.state.getter), message)];
        }
        let mut faults = Vec::new();
        for user in getter.users() {
            if is_call_of(user, getter) {
                faults.extend(self.replace_call(user));
            } else {
                faults.push(self.taken(getter, user));
            }
        }
        if faults.is_empty() {
            getter.delete_function();
        }
        faults
    }

    /// Replaces one call of a getter. A struct comes back in registers or in memory, as C has it on the host.
    fn replace_call(&self, call: Value<'c>) -> Option<PluginFault> {
        let Self { context, module, machine, state, .. } = *self;
        let (result, arguments) = (call.ty(), call.arguments());
        let builder = Builder::new(context);
        builder.before(call);
        let value = builder.call(placeholder(context, module, state), &[]);
        let bytes = match &state.kind {
            ParameterKind::Value(ty @ (ValueType::Struct(_) | ValueType::Array(..))) => {
                Some(ty.size())
            }
            _ => None,
        };
        let is_void = result.kind() == TypeKind::Void;
        match (bytes, &arguments[..]) {
            (None, []) if result == value.ty() => call.replace_with(value),
            (Some(bytes), [to]) if is_void && to.ty().is_pointer() => {
                let size = Type::int(context, 64).constant(bytes);
                builder.copy_bytes(*to, value, 1, size);
            }
            (Some(bytes), []) if !is_void && machine.size_of(result) <= bytes => {
                call.replace_with(builder.load(result, value));
            }
            (Some(_), []) if !is_void => {
                let message = format!(
                    "`{}` returns a struct that is larger in registers than in memory; give it a size that is a \
                     multiple of 8 bytes",
                    state.getter
                );
                return Some(self.fault_at(call, message));
            }
            _ => {
                let message = format!(
                    "`{}` is declared with another type than its plugin gives it; declare it without parameters \
                     and with the result `{}`",
                    state.getter, state.kind
                );
                return Some(self.fault_at(call, message));
            }
        }
        call.erase();
        None
    }

    /// The functions that reach what stands for the state: shims with the parameter that is it, and `None` for functions
    /// that get one.
    fn reaching(
        &self,
        placeholder: Value<'c>,
    ) -> Result<Vec<(Value<'c>, Option<Value<'c>>)>, Vec<PluginFault>> {
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        let mut work = vec![placeholder];
        while let Some(callee) = work.pop() {
            for user in callee.users() {
                if !is_call_of(user, callee) {
                    faults.push(self.taken(callee, user));
                    continue;
                }
                let function = user.block().function();
                if found.iter().any(|(known, _)| *known == function) {
                    continue;
                }
                let kernel = self.signatures.iter().find(|it| is_shim_of(function, it));
                let parameter = kernel.map(|kernel| self.parameter(kernel, function));
                match parameter {
                    Some(None) => faults.push(self.without_state(user, function)),
                    None if function.linkage() != Linkage::Internal => {
                        let message = format!(
                            "the function uses the launch state `{}`, which a function that is compiled without a \
                             kernel does not have; pass the value as a parameter",
                            self.state.name
                        );
                        faults.push(self.fault_at(user, message));
                    }
                    None => work.push(function),
                    Some(Some(_)) => {}
                }
                found.push((function, parameter.flatten()));
            }
        }
        if faults.is_empty() { Ok(found) } else { Err(faults) }
    }

    /// The parameter of a kernel's shim that is the state.
    fn parameter(&self, kernel: &Signature, shim: Value<'c>) -> Option<Value<'c>> {
        let parameters = kernel.parameters();
        let is_it = |it: &Parameter| it.state_name() == Some(&*self.state.name);
        let place = parameters.iter().position(is_it)?;
        let index = parameters[..place].iter().map(|it| it.kind.arguments()).sum::<usize>();
        shim.parameters().get(index).copied()
    }

    /// Gives the functions the state, and replaces what stands for it.
    fn thread(&self, placeholder: Value<'c>, reaching: &[(Value<'c>, Option<Value<'c>>)]) {
        let mut states = HashMap::new();
        let mut replaced = Vec::new();
        for (function, parameter) in reaching {
            let (function, state) = match parameter {
                Some(parameter) => (*function, *parameter),
                None => {
                    let new = self.with_parameter(*function);
                    replaced.push((*function, new));
                    (new, new.parameters()[function.parameters().len()])
                }
            };
            states.insert(function, state);
        }
        let builder = Builder::new(self.context);
        for call in placeholder.users() {
            call.replace_with(states[&call.block().function()]);
            call.erase();
        }
        for (old, new) in replaced {
            for call in old.users() {
                let mut arguments = call.arguments();
                arguments.push(states[&call.block().function()]);
                builder.before(call);
                let with_state = builder.call(new, &arguments);
                with_state.copy_attributes(call);
                with_state.set_calling_convention(call.calling_convention());
                if call.is_used() {
                    call.replace_with(with_state);
                }
                call.erase();
            }
            old.delete_function();
        }
        placeholder.delete_function();
    }

    /// A function with the body of another, and one more parameter.
    fn with_parameter(&self, old: Value<'c>) -> Value<'c> {
        let mut types = old.value_type().parameters();
        types.push(ty(self.context, &self.state.kind));
        let name = old.name();
        old.set_name(&format!("{name}.without_state"));
        let new = self.module.new_function(&name, old.value_type().result().function(&types));
        new.set_linkage(old.linkage());
        new.set_calling_convention(old.calling_convention());
        new.copy_attributes(old);
        new.take_source_lines(old);
        for block in old.blocks() {
            block.move_to(new);
        }
        for (old, new) in old.parameters().into_iter().zip(new.parameters()) {
            old.replace_with(new);
        }
        new
    }

    /// The fault of a function whose address is taken.
    fn taken(&self, function: Value<'c>, user: Value<'c>) -> PluginFault {
        let name = match function.name().starts_with(STATE) {
            true => self.state.getter.clone(),
            false => demangle(&function.name()),
        };
        let message = format!(
            "`{name}` uses the launch state `{}`, and its address is taken here; a call through a pointer does \
             not pass the state: call `{name}` directly, or read the state before and pass the value",
            self.state.name
        );
        match user.is_instruction() {
            true => self.fault_at(user, message),
            false => self.fault(None, "a table of functions".to_owned(), message),
        }
    }

    /// The fault of a kernel whose signature has no parameter for the state.
    fn without_state(&self, call: Value<'c>, shim: Value<'c>) -> PluginFault {
        let kernel = shim.name();
        let message = format!(
            "kernel `{}` has no launch state `{}`: only kernels whose source calls `{}` or the plugin's marker \
             have it, and here another plugin has added the call",
            kernel.strip_prefix(SHIM_PREFIX).unwrap_or(&kernel),
            self.state.name,
            self.state.getter
        );
        self.fault_at(call, message)
    }

    fn fault_at(&self, at: Value<'c>, message: String) -> PluginFault {
        self.fault(place_of(at), demangle(&at.block().function().name()), message)
    }

    fn fault(
        &self,
        place: Option<(String, u32)>,
        function: String,
        message: String,
    ) -> PluginFault {
        PluginFault { plugin: self.plugin.to_owned(), function, place, message }
    }
}

/// Whether a user of a function calls it, and does nothing else with it.
fn is_call_of<'c>(user: Value<'c>, function: Value<'c>) -> bool {
    user.is_call() && user.callee() == Some(function) && !user.arguments().contains(&function)
}

fn is_shim_of(function: Value<'_>, kernel: &Signature) -> bool {
    function.name().strip_prefix(SHIM_PREFIX) == Some(&*kernel.symbol)
}
