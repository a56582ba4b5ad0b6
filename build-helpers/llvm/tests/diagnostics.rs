//! Errors that LLVM reports to a context: collected, whatever was linked before.

use kernelmill_llvm::{
    Diagnostics, Library, find_in_sysroot,
    inkwell::context::Context,
    ir::{ModuleExt, parse_ir},
    machine::Machine,
};
use test_support::tool;

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

#[test]
fn errors_of_the_back_end_are_collected_after_a_link() {
    Library::open(&find_in_sysroot(&tool::rustc().sysroot).unwrap()).unwrap();
    let context = Context::create();
    let diagnostics = Diagnostics::of(&context);
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let parse = |text: &str| parse_ir(&context, text, machine.data_layout(), TRIPLE).unwrap();
    let module =
        parse("define void @f() { call void asm \"no_such_instruction\", \"\"() ret void }");
    module.link(parse("define void @g() { ret void }")).unwrap();
    assert!(module.function("g").is_some());
    let clash = module.link(parse("define void @g() { ret void }")).unwrap_err().to_string();
    assert!(clash.contains("symbol multiply defined"), "{clash}");
    assert_eq!(diagnostics.take(), [""; 0]);
    // What is generated in spite of an error is of no use.
    _ = machine.object(&module);
    let errors = diagnostics.take();
    assert!(errors.iter().any(|error| error.contains("no_such_instruction")), "{errors:?}");
}
