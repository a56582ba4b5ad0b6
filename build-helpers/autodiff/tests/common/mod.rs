//! Functions compiled as kernels are, differentiated, and run on this machine.
#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod native;
pub(crate) mod random;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use kernelmill_llvm::{
    Library, find_in_sysroot,
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, parse_bitcode, parse_ir},
    machine::Machine,
};

pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn rustc() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())
}

/// A folder for what a test program makes.
pub(crate) fn scratch() -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("autodiff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn host() -> String {
    let version = run(&rustc(), &["-vV"]);
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// The machine that runs the tests, with LLVM open.
pub(crate) fn machine() -> Machine {
    static HOST: OnceLock<String> = OnceLock::new();
    let host = HOST.get_or_init(|| {
        let sysroot = run(&rustc(), &["--print", "sysroot"]);
        Library::open(&find_in_sysroot(sysroot.as_ref()).unwrap()).unwrap();
        host()
    });
    Machine::new(host, "", "", true).unwrap()
}

/// Compiles a file in Rust to bitcode, by the options of kernelmill's front end.
pub(crate) fn bitcode(file: &str, text: &str) -> Vec<u8> {
    let folder = scratch();
    let source = folder.join(file);
    std::fs::write(&source, text).unwrap();
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
    let remap = format!("--remap-path-prefix={}=kernels", folder.display());
    let (source, output) = (source.to_str().unwrap(), output.to_str().unwrap());
    arguments.extend([remap.as_str(), "-o", output, source]);
    run(&rustc(), &arguments);
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
