//! The library of the toolchain that runs the tests: found, opened, and able to compile.

use std::{path::PathBuf, process::Command};

use kernelmill_llvm::{
    Library, find_in_sysroot,
    inkwell::context::Context,
    ir::{ModuleExt, parse_ir},
    machine::Machine,
};

fn sysroot() -> PathBuf {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

#[test]
fn every_target_is_there_and_emits_code() {
    let path = find_in_sysroot(&sysroot()).unwrap();
    let library = Library::open(&path).unwrap();
    assert!(library.version() >= kernelmill_llvm::Version::OLDEST, "{}", library.version());
    assert_eq!(Library::open(&path).unwrap().path(), path);
    assert!(Library::open("/no/other".as_ref()).is_err());

    let context = Context::create();
    for (triple, processor, expected) in [
        ("nvptx64-nvidia-cuda", "sm_75", ".visible .func"),
        ("amdgcn-amd-amdhsa", "gfx1100", "s_setpc"),
        ("x86_64-unknown-linux-gnu", "x86-64", "retq"),
        ("aarch64-unknown-linux-gnu", "generic", "ret"),
    ] {
        let machine = Machine::new(triple, processor, "", true).unwrap();
        let text = "define void @f() { ret void }";
        let module = parse_ir(&context, text, machine.data_layout(), triple).unwrap();
        assert_eq!(module.definitions().len(), 1);
        machine.run(&module, "default<O3>").unwrap();
        let assembly = String::from_utf8(machine.assembly(&module).unwrap()).unwrap();
        assert!(assembly.contains(expected), "{triple}: {assembly}");
    }
    let message = Machine::new("z80-none", "z80", "", false).unwrap_err().to_string();
    let expected = "LLVM: it has no back end for the triple `z80-none`";
    assert!(message.starts_with(expected), "{message}");
}
