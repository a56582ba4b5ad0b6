//! The size of variables with an initial value. Their bytes go through assembly text, object files and
//! `include_bytes!`; LLVM's back ends count them in 32 bits and crash beyond.
//!
//! Needs: an optimised module. Variables whose value is zero take no bytes in a file, and are not limited.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{
    base::demangle::demangle, diagnostic::Fault, ir::users_in_code, target_info::TargetInfo,
};

/// The bytes that a variable may have.
const LIMIT: u64 = 1 << 30;

/// A fault for each variable that has more, where it is used.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let bytes = |global: &Value<'c>| backend.machine().size_of(global.value_type());
    let has_value = |global: &Value<'c>| {
        let value = global.initializer();
        value.is_some_and(|value| !value.is_zero() && !value.is_undefined())
    };
    let globals = module.globals().into_iter();
    let globals = globals.filter(|global| bytes(global) > LIMIT && has_value(global));
    globals.flat_map(|global| faults(global, bytes(&global), call_chains)).collect()
}

fn faults<'c>(global: Value<'c>, bytes: u64, call_chains: &CallChains<'c>) -> Vec<Fault> {
    let name = global.name();
    let message = format!(
        "uses `{}`, whose initial value has {bytes} bytes: the most that a variable may have is {LIMIT}",
        demangle(&name)
    );
    let fault = |user| {
        let help = "pass it as a buffer, which the host fills";
        Fault::new(Code::LargeData, message.clone(), call_chains.to(user)).help(help)
    };
    users_in_code(global).into_iter().map(fault).collect()
}
