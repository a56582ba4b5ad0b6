//! Architectures, libraries and bitcode that programs are refused for.

use std::path::Path;

use kernelmill_artifact::Bitcode;
use kernelmill_llvm::Version;

use super::{library::find, *};
use crate::properties::Architecture;

fn bitcode() -> Bitcode {
    Bitcode { llvm: [22, 1, 0], ptx: 63, constants: Vec::new(), module: Vec::new() }
}

fn source(arch: &str, bitcode: Bitcode) -> Source {
    let artifact = Box::leak(Box::new(EmbeddedArtifact {
        fingerprint: "",
        target: "bitcode_75",
        kind: ArtifactKind::Bitcode,
        source: "kernels/a.rs",
        bytes: &[],
        kernels: &[],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }));
    let Ok(Target::Bitcode(arch)) = arch.parse() else { panic!("{arch}") };
    Source { artifact, form: Form::Nvidia(arch), bitcode }
}

fn device(major: u32, minor: u32) -> Architecture {
    Architecture::Nvidia { major, minor }
}

#[test]
fn a_library_older_than_the_one_of_the_bitcode_is_told() {
    let version = |major| Version { major, minor: 1, patch: 8 };
    assert_eq!(check_version(&bitcode(), version(22)), Ok(()));
    assert_eq!(check_version(&bitcode(), version(23)), Ok(()));
    let error = check_version(&bitcode(), version(21)).unwrap_err();
    let expected =
        "the library has version 21.1.8, but LLVM 22.1.0 wrote the bitcode: set KERNELMILL_LLVM";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_machine_without_the_library_is_told_what_to_install() {
    let nowhere = Path::new("/nonexistent");
    let error = find(None, || Some(nowhere.to_owned()), nowhere).unwrap_err();
    for part in ["no shared library of LLVM was found", "libllvm", "rustup", "KERNELMILL_LLVM"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let named = find(Some(nowhere.to_owned()), || None, nowhere);
    assert_eq!(named.as_deref(), Ok(nowhere));
}

#[test]
fn the_architecture_is_the_newest_that_the_device_runs_and_llvm_knows() {
    open().unwrap();
    for (device, base, expected) in [
        (device(10, 3), "bitcode_75", "compute_103"),
        (device(8, 6), "bitcode_75", "compute_86"),
        (device(7, 5), "bitcode_75", "compute_75"),
        (device(9, 0), "bitcode_90a", "compute_90a"),
        // None is known between these.
        (device(12, 9), "bitcode_80", "compute_121"),
    ] {
        let found = processor(&device, &source(base, bitcode())).map(|it| it.target.to_string());
        assert_eq!(found.as_deref(), Ok(expected), "{base}");
    }
    let newer = Bitcode { ptx: 999, ..bitcode() };
    let error = processor(&device(8, 6), &source("bitcode_75", newer)).err().unwrap();
    assert!(error.contains("supports no architecture from sm_75 to sm_86"), "{error}");
}

#[test]
fn damaged_bitcode_is_what_llvm_says_of_it() {
    open().unwrap();
    let damaged = Bitcode { module: b"BC\xc0\xde\x01\x02".to_vec(), ..bitcode() };
    let source = source("bitcode_75", damaged);
    let processor = processor(&device(8, 6), &source).unwrap();
    let error =
        RustCompiler::new().code((&source, None), &processor, &BTreeMap::new()).unwrap_err();
    assert!(error.starts_with("LLVM: "), "{error}");
}

#[test]
fn a_package_without_bitcode_for_the_device_is_told_the_target_to_add() {
    static NONE: KernelSet = KernelSet {
        format_version: kernelmill_artifact::FORMAT_VERSION,
        package: "demo",
        signatures: &[],
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts: &[],
    };
    let error = sources(&Device::cpu().unwrap(), &NONE).err().unwrap().to_string();
    assert!(error.contains("`demo` has no bitcode") && error.contains("`bitcode_cpu`"), "{error}");
}
