//! Functions compiled as kernels are, differentiated, and run on this machine.
#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod native;
pub(crate) mod random;

use std::sync::Once;

use kernelmill_llvm::{
    Library, find_in_sysroot,
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, parse_bitcode, parse_ir},
    machine::Machine,
};
use test_support::{temporary_folder, tool, write_file};

/// The machine that runs the tests, with LLVM open.
pub(crate) fn machine() -> Machine {
    static OPENED: Once = Once::new();
    let rustc = tool::rustc();
    OPENED.call_once(|| drop(Library::open(&find_in_sysroot(&rustc.sysroot).unwrap()).unwrap()));
    Machine::new(&rustc.host, "", "", true).unwrap()
}

/// Compiles a file in Rust to bitcode, by the options of kernelmill's front end.
pub(crate) fn bitcode(file: &str, text: &str) -> Vec<u8> {
    let folder = temporary_folder();
    let source = write_file(&folder, file, text);
    let output = source.with_extension("bc");
    let mut arguments = vec!["--edition", "2024", "--crate-type=rlib", "--emit=llvm-bc"];
    for option in [
        "panic=abort",
        "codegen-units=1",
        "overflow-checks=off",
        "debug-assertions=off",
        "opt-level=0",
        "no-prepopulate-passes",
        "debuginfo=line-directives-only",
    ] {
        arguments.extend(["-C", option]);
    }
    let remap = format!("--remap-path-prefix={}=kernels", folder.path().display());
    let (source, output) = (source.to_str().unwrap(), output.to_str().unwrap());
    arguments.extend([remap.as_str(), "-o", output, source]);
    drop(tool::output(&tool::rustc().program, &arguments));
    std::fs::read(output).unwrap()
}

/// The module of a file in Rust, made one for a machine.
pub(crate) fn module_of<'c>(
    context: &'c Context,
    machine: &Machine,
    file: &str,
    text: &str,
) -> Module<'c> {
    let module = parse_bitcode(context, &bitcode(file, text), file).unwrap();
    machine.adopt(&module);
    for function in module.functions() {
        for key in ["target-cpu", "target-features", "tune-cpu", "probe-stack"] {
            function.remove_text_attribute(key);
        }
        function.drop_personality();
    }
    machine.run(&module, "function(lower-invoke,simplifycfg),globaldce").unwrap();
    module
}

/// A module in LLVM's textual form.
pub(crate) fn module_of_text<'c>(
    context: &'c Context,
    machine: &Machine,
    text: &str,
) -> Module<'c> {
    parse_ir(context, text, machine.data_layout(), machine.triple()).unwrap()
}

/// Gives mathematical functions the names of C's library, and everything else that is not there a
/// body that ends the program.
pub(crate) fn complete<'c>(context: &'c Context, module: &Module<'c>) {
    const RENAMED: &[(&str, &str)] =
        &[("exp_m1", "expm1"), ("ln", "log"), ("ln_1p", "log1p"), ("powf", "pow")];
    for function in module.functions() {
        let name = function.name();
        if !function.is_declaration() || function.is_intrinsic() || !function.is_used() {
            continue;
        }
        if let Some((math, ty)) =
            name.strip_prefix("__kernelmill_math_").and_then(|math| math.rsplit_once('_'))
        {
            let renamed = RENAMED.iter().find(|(ours, _)| *ours == math);
            let math = renamed.map_or(math, |(_, theirs)| theirs);
            let symbol = if ty == "f32" { format!("{math}f") } else { math.to_owned() };
            match module.function(&symbol).filter(|known| *known != function) {
                Some(known) => function.replace_with(known),
                None => function.set_name(&symbol),
            }
        } else if name.starts_with("_ZN") || name.starts_with("_R") {
            let builder = Builder::new(context);
            builder.at_end(Block::append(context, function, "start"));
            builder.call(module.intrinsic("llvm.trap", &[]), &[]);
            builder.unreachable();
        }
    }
}
