//! Verification of the lowered kernels by LLVM's verifier.
//!
//! LLVM's passes crash on code that breaks its rules, and name nothing. What the vectoriser built is told
//! apart from everything else, so that the driver can compile the source without it.

use kernelmill_llvm::ir::{ModuleExt, Value};

use crate::{Error, passes::entry::Unit};

/// The functions that the vectoriser built for a kernel.
pub(super) struct Built<'k, 'c> {
    /// The kernel, as it is called in the source.
    pub(super) kernel: &'k str,
    pub(super) functions: Vec<Value<'c>>,
}

/// Verifies the module.
///
/// # Errors
///
/// [`Error::Vectorization`] where functions of a kernel that the vectoriser built are refused, and
/// [`Error::Internal`] where others are. The module is not used any more then.
pub(super) fn kernels<'c>(unit: &Unit<'_, 'c>, vectorized: &[Built<'_, 'c>]) -> Result<(), Error> {
    let Err(message) = unit.module.verify() else { return Ok(()) };
    for built in vectorized {
        built.functions.iter().for_each(|function| drop_body(unit, *function));
        if unit.module.verify().is_ok() {
            let kernel = built.kernel.to_owned();
            return Err(Error::Vectorization { kernel, message: message.to_string() });
        }
    }
    Err(Error::Internal(format!("LLVM refuses the kernels of {}: {message}", unit.name)))
}

/// Makes a declaration of a function.
fn drop_body<'c>(unit: &Unit<'_, 'c>, function: Value<'c>) {
    let name = function.name();
    function.set_name(&format!("{name}.dropped"));
    function.replace_with(unit.module.new_function(&name, function.value_type()));
    function.delete_function();
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use kernelmill_llvm::{
        inkwell::context::Context,
        ir::{Builder, parse_ir},
        machine::Machine,
    };

    use super::*;
    use crate::{
        base::loaded::open_llvm,
        passes::{entry::KernelsSharing, locations::Backtraces},
    };

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    const FUNCTIONS: &str = "
        define i32 @first(i32 %x) {
          %a = add i32 %x, 1
          %b = add i32 %a, 2
          ret i32 %b
        }
        define i32 @second(i32 %x) {
          %a = add i32 %x, 1
          %b = add i32 %a, 2
          ret i32 %b
        }";

    /// What is said where functions use a number before it is there, of which the vectoriser built
    /// `vectorized`, each of a kernel of its own.
    fn said(broken: &str, vectorized: &[&str]) -> Result<(), Error> {
        open_llvm();
        let context = Context::create();
        let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
        let module = parse_ir(&context, FUNCTIONS, machine.data_layout(), TRIPLE).unwrap();
        if let Some(function) = module.function(broken) {
            let [first, second, _] = function.instructions()[..] else { unreachable!() };
            let builder = Builder::new(&context);
            builder.before(first);
            builder.move_here(second);
        }
        let backtraces = Backtraces::new(false);
        let (warnings, passes) = (RefCell::default(), RefCell::default());
        let unit = Unit {
            context: &context,
            module: &module,
            signatures: &[],
            name: "unit",
            vectorize: true,
            sharing: &KernelsSharing::new(),
            backtraces: &backtraces,
            warnings: &warnings,
            passes: &passes,
        };
        let built = |kernel: &&'static str| Built {
            kernel,
            functions: vec![module.function(kernel).unwrap()],
        };
        let built: Vec<_> = ["first", "second"]
            .iter()
            .filter(|kernel| vectorized.contains(kernel))
            .map(built)
            .collect();
        kernels(&unit, &built)
    }

    #[test]
    fn the_kernel_whose_vector_code_is_refused_is_named() {
        said("", &["first", "second"]).unwrap();
        let error = said("second", &["first", "second"]).unwrap_err();
        let Error::Vectorization { kernel, message } = error else { panic!("{error}") };
        assert_eq!(kernel, "second");
        assert!(message.contains("does not dominate all uses"), "{message}");
    }

    #[test]
    fn other_code_that_is_refused_is_no_failure_of_the_vectoriser() {
        let error = said("second", &["first"]).unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{error}");
    }
}
