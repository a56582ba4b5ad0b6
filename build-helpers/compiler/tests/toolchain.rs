//! Toolchains that do not fit each other.

mod common;

use kernelmill_compiler::{Compiler, Toolchain};

#[test]
fn a_rustc_with_a_later_llvm_than_the_library_is_named() {
    let mut toolchain = common::toolchain();
    toolchain.rustc_version = "host: x\nrelease: 2.0.0\nLLVM version: 99.1.0\n".to_owned();
    let message = Compiler::new(toolchain).unwrap_err().to_string();
    for part in ["rustc", "bitcode of LLVM 99.1.0", "libLLVM", "too old", "KERNELMILL_LLVM"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn a_compiler_of_the_same_toolchain_has_nothing_to_warn_of() {
    assert_eq!(common::compiler().warnings(), [""; 0]);
}

/// Paths with commas are no lists.
#[test]
fn a_comma_in_the_path_of_a_checkout_ends_no_path() {
    let folder = test_support::temporary_folder();
    let scratch = folder.path().join("a,b/link=c.ll,d");
    let compiler = Compiler::new(Toolchain { scratch, ..common::toolchain() }).unwrap();
    let text = "use kernelmill_device::prelude::*;\n#[kernel]\npub fn k(x: u32) { let _ = x; }\n";
    let lowered = compiler.lower_rust(&common::source("x,y", text));
    assert_eq!(lowered.unwrap_or_else(|error| panic!("{error}")).modules.len(), 1);
}

/// A program in rustc's place that writes a file of another kind, as rustc with Cranelift does.
#[cfg(unix)]
#[test]
fn a_rustc_that_writes_no_bitcode_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = test_support::temporary_folder();
    let real = common::toolchain().rustc;
    let script = format!(
        "#!/bin/sh\n{} \"$@\" || exit 1\nfor argument in \"$@\"; do\n  \
         file=\"$argument/no_bitcode.bc\"; [ ! -f \"$file\" ] || printf ELF > \"$file\"\ndone\n",
        real.display()
    );
    let program = test_support::write_file(&folder, "no-bitcode/rustc", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let toolchain =
        Toolchain { rustc: program, scratch: folder.path().join("scratch"), ..common::toolchain() };
    let compiler = Compiler::new(toolchain).unwrap();
    let text = "use kernelmill_device::prelude::*;\n#[kernel]\npub fn k(x: u32) { let _ = x; }\n";
    let message = compiler.lower_rust(&common::source("no_bitcode", text)).unwrap_err().to_string();
    assert!(
        message.contains("no-bitcode/rustc wrote no LLVM bitcode for kernels/no_bitcode.rs"),
        "{message}"
    );
}
