//! Static assertions: conditions that must be proven while the kernel is optimised.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Value},
};

use crate::diagnostic::Fault;
use crate::passes::call_chains::CallChains;

/// What `static_assert!` calls: `fn(condition: bool, text: *const u8, length: usize)`.
pub(super) const ASSERTION: &str = "__kernelmill_static_assert";

/// LLVM's number for a function that touches no memory that the program sees.
const INACCESSIBLE_MEMORY: u64 = 0b11 << 2;

/// Lets the optimiser work around assertions as if they were not there: they may be dropped where
/// they are never reached, and keep nothing from being moved.
pub(super) fn prepare<'c>(context: &'c Context, module: &Module<'c>) {
    let Some(function) = module.function(ASSERTION) else { return };
    let calls = function.users().into_iter().filter(|user| user.callee() == Some(function));
    for place in calls.chain([function]) {
        place.remove_attribute(Place::Function, "convergent");
        for name in ["nounwind", "willreturn", "nocallback"] {
            place.add_attribute(context, Place::Function, name, 0);
        }
        place.add_attribute(context, Place::Function, "memory", INACCESSIBLE_MEMORY);
    }
}

/// Removes the assertions, and gives a fault for each that is not proven.
pub(super) fn settle<'c>(module: &Module<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
    let Some(function) = module.function(ASSERTION) else { return Vec::new() };
    let mut faults = Vec::new();
    for call in function.users() {
        if call.callee() != Some(function) {
            continue;
        }
        let arguments = call.arguments();
        let text = text(arguments[1], arguments[2]).unwrap_or_else(|| "a condition".to_owned());
        match arguments[0].as_u64() {
            Some(1) => {}
            Some(_) => {
                let message = format!("the static assertion does not hold: {text}");
                faults.push(Fault::new(Code::StaticAssertion, message, call_chains.to(call)));
            }
            None => {
                let message = format!(
                    "the static assertion cannot be decided before the kernel runs: {text}"
                );
                let help = "assert what follows from constants, or use `assert!`, which is checked \
                            while the kernel runs";
                faults.push(
                    Fault::new(Code::StaticAssertion, message, call_chains.to(call)).help(help),
                );
            }
        }
        call.erase();
    }
    faults
}

/// The text at a constant address.
fn text(address: Value<'_>, length: Value<'_>) -> Option<String> {
    let length = usize::try_from(length.as_u64()?).ok()?;
    let mut global = address;
    while global.is_constant_expression() {
        global = global.operand(0);
    }
    let value = global.is_global().then(|| global.initializer())??;
    // rustc wraps the bytes of a static in a structure.
    let bytes = value.as_bytes().or_else(|| value.operands().first()?.as_bytes())?;
    Some(String::from_utf8_lossy(bytes.get(..length)?).into_owned())
}
