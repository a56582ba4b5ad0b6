//! `autodiff!` in kernels: functions that are declared by it become derivatives.

mod call;

use std::collections::BTreeMap;

use kernelmill_compiler::plugin::{Plugin, Stage, Task, ir::Value};
use kernelmill_llvm::machine::Machine;

use crate::{Error, Rules, Session};

/// The plugin that makes derivatives of functions in kernels.
///
/// ```no_run
/// # struct Build;
/// # impl Build {
/// #     fn new() -> Self { Self }
/// #     fn plugin(self, _: impl kernelmill_compiler::plugin::Plugin) -> Self { self }
/// #     fn compile(self) {}
/// # }
/// // In a build script, with `kernelmill_build::Build`:
/// Build::new().plugin(kernelmill_autodiff::plugin()).compile();
/// ```
#[must_use]
pub fn plugin() -> Autodiff {
    Autodiff(())
}

/// See [`plugin`].
#[derive(Debug)]
pub struct Autodiff(());

impl Plugin for Autodiff {
    fn name(&self) -> &str {
        "autodiff"
    }

    fn version(&self) -> &str {
        // With the digest of the sources, that changes with the code that is made.
        concat!(env!("CARGO_PKG_VERSION"), " ", env!("KERNELMILL_AUTODIFF_DIGEST"))
    }

    fn marker(&self) -> &str {
        call::MARKER
    }

    fn stages(&self) -> &[Stage] {
        // Functions are still those of the source, and mathematics has its names.
        &[Stage::FrontEnd]
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<(), String> {
        let triple = task.module().get_triple();
        let triple = triple.as_str().to_string_lossy();
        let machine = Machine::new(&triple, "", "", true).map_err(|error| error.to_string())?;
        let mut asked: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for call in sorted(task.calls()) {
            match call::read(call) {
                Ok(wish) => asked.entry(wish.rules()).or_default().push((call, wish)),
                Err(message) => task.refuse(place(call), message),
            }
        }
        for (rules, calls) in asked {
            let mut all = Rules::default();
            for (function, partials) in &rules {
                let partials: Vec<_> = partials.iter().map(String::as_str).collect();
                all.custom(function, &partials);
            }
            let session = Session::new(task.context(), task.module(), &machine, &all);
            for (call, wish) in calls {
                if let Err(fault) = call::replace(task, &session, call, wish) {
                    report(task, call, fault)?;
                }
            }
        }
        Ok(())
    }
}

/// Where a derivative is used in the source: what declares it has the line of a macro.
fn place(call: Value<'_>) -> Value<'_> {
    let users = call.block().function().users();
    users.into_iter().find(|user| user.is_call()).unwrap_or(call)
}

/// Reports why a call is not replaced; the error is a fault of this crate.
fn report<'c>(task: &Task<'_, 'c>, call: Value<'c>, fault: call::Fault) -> Result<(), String> {
    let call = place(call);
    match fault {
        call::Fault::Source(message) => task.refuse(call, message),
        call::Fault::Engine(Error::Refused { function, refusals }) => {
            for refusal in refusals {
                task.refuse(call, format!("`{function}` has no derivative: {refusal}"));
            }
        }
        call::Fault::Engine(error @ Error::Request { .. }) => task.refuse(call, error.to_string()),
        call::Fault::Engine(error) => return Err(error.to_string()),
    }
    Ok(())
}

/// Calls in an order that is the same each time: by the marker's name.
fn sorted(mut calls: Vec<Value<'_>>) -> Vec<Value<'_>> {
    calls.sort_by_key(|call| {
        let marker = call.called_function().map(Value::name).unwrap_or_default();
        (marker, call.block().function().name())
    });
    calls
}
