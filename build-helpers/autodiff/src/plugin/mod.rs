//! The plugin of kernelmill's compiler: functions that `autodiff!` declares in kernels become
//! derivatives.

mod call;

use std::collections::BTreeMap;

use kernelmill_compiler::plugin::{Plugin, Stage, Task, ir::Value};
use kernelmill_llvm::machine::Machine;

use crate::{Error, Rules, Session};

/// The plugin that differentiates functions in kernels.
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
        // The digest of the sources invalidates artifacts of other states of this crate.
        concat!(env!("CARGO_PKG_VERSION"), " ", env!("KERNELMILL_AUTODIFF_DIGEST"))
    }

    fn marker(&self) -> &str {
        call::MARKER
    }

    fn stages(&self) -> &[Stage] {
        // At this stage functions are those of the source, and math functions have their names.
        &[Stage::FrontEnd]
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let triple = task.module().get_triple();
        let triple = triple.as_str().to_string_lossy();
        let machine = Machine::new(&triple, "", "", true).map_err(|error| error.to_string())?;
        let mut marked: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for call in sorted(task.calls()) {
            match call::read(call) {
                Ok(marker) => marked.entry(marker.rules()).or_default().push((call, marker)),
                Err(message) => task.refuse(place(call), message),
            }
        }
        for (rules, calls) in marked {
            let mut all = Rules::default();
            for (function, partials) in &rules {
                let partials: Vec<_> = partials.iter().map(String::as_str).collect();
                all.custom(function, &partials);
            }
            let session = Session::new(task.context(), task.module(), &machine, &all);
            for (call, marker) in calls {
                if let Err(error) = call::replace(task, &session, call, marker) {
                    report(task, call, error)?;
                }
            }
        }
        Ok(true)
    }
}

/// A use of a derivative in the source: its declaration has the line of a macro.
fn place(call: Value<'_>) -> Value<'_> {
    let users = call.block().function().users();
    users.into_iter().find(|user| user.is_call()).unwrap_or(call)
}

/// Reports an error of a call. An internal error of this crate is returned.
fn report<'c>(
    task: &Task<'_, 'c>,
    call: Value<'c>,
    error: call::ReplaceError,
) -> Result<(), String> {
    let call = place(call);
    match error {
        call::ReplaceError::Source(message) => task.refuse(call, message),
        call::ReplaceError::Derivative(Error::Unsupported { function, features }) => {
            for feature in features {
                task.refuse(call, format!("`{function}` has no derivative: {feature}"));
            }
        }
        call::ReplaceError::Derivative(error @ Error::Request { .. }) => {
            task.refuse(call, error.to_string())
        }
        call::ReplaceError::Derivative(error) => return Err(error.to_string()),
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
