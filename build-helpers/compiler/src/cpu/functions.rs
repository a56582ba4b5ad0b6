//! Device functions that the host calls: what asks for the context of a thread is a fault, for there is no launch.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value},
};

use super::operation::operations;
use crate::{
    diagnostic::Fault,
    ir::{shared_globals, users_in_code},
    passes::call_chains::CallChains,
};

/// A fault for each place that asks for a thread, a block or a launch.
pub(crate) fn find_context_uses<'c>(context: &'c Context, module: &Module<'c>) -> Vec<Fault> {
    let asking = module.definitions().into_iter().flat_map(operations).map(|(call, _)| call);
    let shared = shared_globals(module).into_iter();
    let sharing = shared.flat_map(|memory| users_in_code(memory.global));
    let uses: Vec<Value<'c>> = asking.chain(sharing).collect();
    if uses.is_empty() {
        return Vec::new();
    }
    let call_chains = CallChains::of(context, module);
    let message = "uses its thread, its block, its launch or shared memory, which a function that the host calls does not \
         have";
    let fault = |user: Value<'c>| {
        Fault::new(Code::DeviceFunction, message, call_chains.to(user))
            .help("pass the values that the function needs as parameters")
    };
    uses.into_iter().map(fault).collect()
}
