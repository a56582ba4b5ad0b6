//! Denormal mode: that operations on `f32` flush denormal numbers to zero of the same sign, as nvcc's `-ftz=true` has
//! it.
//!
//! LLVM has it as an attribute of functions, the [environment of floating point]. On NVIDIA's processors each
//! instruction says it (`add.ftz.f32`), on AMD's it is a mode that a kernel starts with. Processors of hosts have it as
//! a mode of the thread, which the run time leaves as it is.
//!
//! Needs: all functions, with the entries. A function with another mode than its caller would not be inlined.
//!
//! [environment of floating point]: https://llvm.org/docs/LangRef.html#floating-point-environment

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, parse_ir},
    machine::Machine,
};

/// The attribute of LLVM up to 22, for `f32`.
const TEXT: (&str, &str) = ("denormal-fp-math-f32", "preserve-sign,preserve-sign");

/// The attribute of later ones.
const NUMBER: &str = "denormal_fpenv";

/// A function that has it, in the form of LLVM up to 22: later ones read it as theirs.
const MODEL: &str = "define void @flushes() #0 { ret void }
attributes #0 = { \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" }
";

/// The same in the form of later ones.
const LATER_MODEL: &str = "define void @flushes() #0 { ret void }
attributes #0 = { denormal_fpenv(float: preservesign) }
";

/// Lets every function of a module flush denormal numbers of `f32`.
pub(crate) fn flush<'c>(context: &'c Context, module: &Module<'c>, machine: &Machine) {
    let number = [LATER_MODEL, MODEL].into_iter().find_map(|text| {
        let model = parse_ir(context, text, machine.data_layout(), machine.triple()).ok()?;
        let function = model.function("flushes")?;
        function.attribute_number(Place::Function, NUMBER)
    });
    for function in module.definitions() {
        match number {
            Some(number) => function.add_attribute(context, Place::Function, NUMBER, number),
            None => function.add_text_attribute(context, TEXT.0, TEXT.1),
        }
    }
}
