//! Validation of a module before any code is generated from it. All faults are collected.

mod addresses;
mod assertion;
mod data;
mod host;
mod recursion;
mod shared;
mod stack;
#[cfg(test)]
mod tests;
mod unresolved;

use crate::diagnostic::Code;
use std::collections::BTreeSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Value, parse_bitcode},
};

use crate::{
    Error, base::demangle::demangle, diagnostic::Fault, job::Config,
    passes::call_chains::CallChains, passes::link, target_info::TargetInfo, toolchain::Toolchain,
};
use unresolved::Unresolved;

/// A module that has been checked: the only thing that code is generated from.
#[derive(Debug)]
pub(crate) struct ValidModule<'a, 'c> {
    module: &'a Module<'c>,
    name: &'a str,
}

impl<'a, 'c> ValidModule<'a, 'c> {
    pub(crate) fn module(&self) -> &'a Module<'c> {
        self.module
    }

    /// The source, for messages.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }
}

/// The checks of one source for one target, and what they have found so far.
pub(crate) struct Checks<'a> {
    toolchain: &'a Toolchain,
    config: &'a Config,
    backend: &'a dyn TargetInfo,
    /// The names that a reader could have meant.
    known: BTreeSet<String>,
    /// The markers of plugins, each with its plugin.
    markers: Vec<(String, String)>,
    faults: Vec<Fault>,
    /// The linked module, where the target's entries are other functions than those of the source.
    linked: Option<Vec<u8>>,
}

impl<'a> Checks<'a> {
    /// Checks what can only be seen before the kernels are entered and optimised.
    pub(crate) fn before<'c>(
        context: &'c Context,
        module: &Module<'c>,
        toolchain: &'a Toolchain,
        config: &'a Config,
        backend: &'a dyn TargetInfo,
        markers: Vec<(String, String)>,
    ) -> Self {
        assertion::prepare(context, module);
        let call_chains = CallChains::of(context, module);
        let faults = recursion::find(module, &call_chains);
        host::mark_thread_locals(context, module);
        let defined = module.definitions().into_iter().map(|function| last_name(function));
        let of_plugins = markers.iter().map(|(marker, _)| marker.clone());
        let known = defined.chain(link::known()).chain(of_plugins).collect();
        let linked = (!backend.is_gpu()).then(|| module.to_bitcode());
        Self { toolchain, config, backend, known, markers, faults, linked }
    }

    /// Decides the static assertions of an optimised module, and removes them.
    pub(crate) fn settle<'c>(&mut self, context: &'c Context, module: &Module<'c>) {
        let call_chains = CallChains::of(context, module);
        self.faults.extend(assertion::settle(module, &call_chains));
    }

    /// Checks a module that is ready for its target.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with every fault, and an internal error where the module breaks LLVM's
    /// rules.
    pub(crate) fn output<'m, 'c>(
        mut self,
        context: &'c Context,
        module: &'m Module<'c>,
        name: &'m str,
    ) -> Result<ValidModule<'m, 'c>, Error> {
        let found = self.find(context, module, name)?;
        self.faults.extend(found);
        if !self.faults.is_empty() {
            self.find_lines(name)?;
            let (targets, faults) = (vec![self.config.target.clone()], each_once(self.faults));
            return Err(Error::Invalid { targets, faults });
        }
        module
            .verify()
            .map_err(|message| Error::Internal(format!("LLVM refuses {name}: {message}")))?;
        Ok(ValidModule { module, name })
    }

    /// Gives faults that name a function alone the place where it is called.
    pub(crate) fn with_lines(&self, error: Error) -> Error {
        let Error::Invalid { targets, mut faults } = error else { return error };
        let Some(bitcode) = &self.linked else { return Error::Invalid { targets, faults } };
        let context = Context::create();
        let Ok(module) = parse_bitcode(&context, bitcode, "check") else {
            return Error::Invalid { targets, faults };
        };
        let call_chains = CallChains::of(&context, &module);
        for fault in faults.iter_mut().filter(|fault| is_lost(fault)) {
            let named = |function: &Value<'_>| {
                fault.frames.first().is_some_and(|it| it.function == demangle(&function.name()))
            };
            if let Some(function) = module.definitions().into_iter().find(named) {
                fault.frames = call_chains.to_start_of(function);
            }
        }
        faults.extend(self.faults.iter().cloned());
        Error::Invalid { targets, faults: each_once(faults) }
    }

    /// What an optimised module does that its target cannot.
    fn find<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        name: &str,
    ) -> Result<Vec<Fault>, Error> {
        let call_chains = &CallChains::of(context, module);
        let unresolved = Unresolved {
            toolchain: self.toolchain,
            context,
            module,
            name,
            config: self.config,
            backend: self.backend,
            call_chains,
            known: &self.known,
            markers: &self.markers,
        };
        let mut faults = unresolved.find()?;
        faults.extend(addresses::find(module, self.backend, call_chains));
        faults.extend(data::find(module, self.backend, call_chains));
        faults.extend(host::find(module, self.backend, call_chains));
        faults.extend(shared::find(module, self.backend, call_chains));
        faults.extend(stack::find(module, self.backend, call_chains));
        faults.extend(self.backend.faults(module, call_chains));
        Ok(faults)
    }

    /// Replaces faults of the target's functions, several of which may be of one kernel, by the same
    /// ones in the module as it was linked, optimised as for a target that leaves functions as they are.
    fn find_lines(&mut self, name: &str) -> Result<(), Error> {
        let Some(bitcode) = self.linked.take() else { return Ok(()) };
        let context = Context::create();
        let module = parse_bitcode(&context, &bitcode, "check")?;
        let machine = self.backend.machine();
        machine.adopt(&module);
        for value in module.definitions() {
            if value.linkage() != Linkage::External {
                value.set_linkage(Linkage::Internal);
            }
        }
        machine.run_with(&module, &self.backend.passes(2), false)?;
        let mut found = assertion::settle(&module, &CallChains::of(&context, &module));
        found.extend(self.find(&context, &module, name)?);
        found.retain(|fault| self.faults.iter().any(|known| known.message == fault.message));
        self.faults.retain(|known| !found.iter().any(|fault| fault.message == known.message));
        self.faults.extend(found);
        Ok(())
    }
}

/// Whether a fault has no place in a source.
fn is_lost(fault: &Fault) -> bool {
    fault.frames.iter().all(|frame| frame.line == 0)
}

/// The faults in the order of the source, each once.
fn each_once(faults: Vec<Fault>) -> Vec<Fault> {
    let mut kept: Vec<Fault> = Vec::new();
    for fault in faults {
        if !kept.iter().any(|known| known.is_same(&fault)) {
            kept.push(fault);
        }
    }
    let place = |fault: &Fault| {
        let own = fault.frames.iter().find(|frame| !frame.library);
        own.map(|frame| (frame.file.clone(), frame.line))
    };
    kept.sort_by_key(|fault| (place(fault), fault.clone()));
    kept
}

/// Checks that shared arrays are shared, and aligned as they ask for, in a module that nothing has optimised: a local one is soon part of
/// the code that reads it.
///
/// # Errors
///
/// [`Error::Invalid`] with every fault.
pub(crate) fn shared_arrays<'c>(
    context: &'c Context,
    module: &Module<'c>,
    config: &Config,
    backend: &dyn TargetInfo,
) -> Result<(), Error> {
    let mut faults = shared::find_values(context, module);
    if !backend.is_gpu() {
        faults.extend(shared::find_alignments(context, module));
        faults.extend(shared::find_too_large(context, module));
    }
    let faults = each_once(faults);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Error::Invalid { targets: vec![config.target.clone()], faults }),
    }
}

/// Checks that every question of `__nvvm_reflect` was answered, of which these are left.
///
/// # Errors
///
/// [`Error::Invalid`] with every fault.
pub(crate) fn constant_questions<'c>(
    context: &'c Context,
    module: &Module<'c>,
    config: &Config,
    unanswered: &[Value<'c>],
) -> Result<(), Error> {
    if unanswered.is_empty() {
        return Ok(());
    }
    let call_chains = CallChains::of(context, module);
    let fault = |call: &Value<'c>| {
        let message = "calls `__nvvm_reflect` with an argument that is not a constant string";
        Fault::new(Code::OtherMachine, message, call_chains.to(*call))
            .help("write a string literal in the call")
    };
    let faults = each_once(unanswered.iter().map(fault).collect());
    Err(Error::Invalid { targets: vec![config.target.clone()], faults })
}

/// The last part of a function's path.
fn last_name(function: Value<'_>) -> String {
    let path = demangle(&function.name());
    path.rsplit("::").next().unwrap_or(&path).to_owned()
}
