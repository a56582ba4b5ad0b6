//! Libraries that do not fit, in a process in which none that fits has been opened.

use std::{path::PathBuf, process::Command};

use kernelmill_llvm::Library;
use test_support::{TempDir, temporary_folder, write_file};

/// A library that says it is LLVM of this version, and has no other function.
fn impostor(folder: &TempDir, major: u32) -> PathBuf {
    let library = folder.path().join(format!("libLLVM-{major}.so"));
    let text = format!(
        "void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) {{ *a = {major}; *b = 1; *c = 0; }}"
    );
    let source = write_file(folder, format!("llvm{major}.c"), text);
    let built = Command::new("cc").arg("-shared").arg("-o").arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    library
}

#[test]
fn a_library_without_the_functions_or_too_old_is_an_error_that_names_it() {
    let folder = temporary_folder();
    let library = impostor(&folder, 22);
    let message = Library::open(&library).unwrap_err().to_string();
    for part in ["libLLVM-22.so", "version 22.1.0", "LLVMBuildCall2", "KERNELMILL_LLVM"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let message = Library::open(&impostor(&folder, 19)).unwrap_err().to_string();
    assert!(message.contains("is version 19.1.0; kernelmill needs LLVM 20"), "{message}");
}
