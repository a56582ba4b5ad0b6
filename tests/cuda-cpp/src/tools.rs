//! The tools of the machine.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use kernelmill_compiler::{
    Compiler, Toolchain,
    frontend::cuda::{Nvcc, clang::Clang},
};

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// clang, which `cargo xtask setup` installs, or the one that `KERNELMILL_TEST_CLANG` names.
///
/// # Panics
///
/// Where there is none.
pub fn clang() -> &'static Clang {
    static CLANG: OnceLock<Clang> = OnceLock::new();
    CLANG.get_or_init(|| {
        let chosen = std::env::var("KERNELMILL_TEST_CLANG").ok();
        let names = ["clang-22", "clang-21", "clang-20", "clang-19", "clang"];
        let names = chosen.as_deref().map_or(names.to_vec(), |name| vec![name]);
        let found = names.into_iter().find_map(|name| Some((name, output(name, &["--version"])?)));
        let (name, version) = found
            .expect("clang is not installed: run `cargo xtask setup`, or apt-get install clang-22");
        Clang { program: name.into(), version }
    })
}

/// A program of NVIDIA's, from `CUDA_HOME`, the folder of `cargo xtask setup` or PATH.
fn nvidia(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/toolchains");
    let home = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = home.into_iter().chain([root.join("nvidia/cu13/bin")]);
    let mut files = folders.chain(std::env::split_paths(&path)).map(|folder| folder.join(name));
    let found = files.find(|path| path.exists());
    let required = std::env::var_os("KERNELMILL_REQUIRE_TOOLS").is_some();
    assert!(found.is_some() || !required, "{name} is not installed: run `cargo xtask setup`");
    found
}

/// NVIDIA's assembler.
#[must_use]
pub fn ptxas() -> Option<PathBuf> {
    nvidia("ptxas")
}

/// NVIDIA's compiler.
#[must_use]
pub fn nvcc() -> Option<Nvcc> {
    Some(Nvcc { program: nvidia("nvcc")?, scratch: scratch() })
}

/// A folder for files of the tests.
#[must_use]
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda-cpp/scratch")
}

/// The compiler.
///
/// # Panics
///
/// Where the Rust toolchain cannot be used.
pub fn compiler() -> &'static Compiler {
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let run = |arguments: &[&str]| output(&rustc, arguments).expect("rustc runs");
        let version = run(&["-vV"]);
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        Compiler::new(Toolchain {
            host: host.to_owned(),
            sysroot: run(&["--print", "sysroot"]).trim().into(),
            rustc: (&rustc).into(),
            llvm: None,
            ptxas: ptxas(),
            ptxas_version: String::new(),
            libdevice: None,
            ocml: None,
            scratch: scratch(),
            rustc_version: version,
        })
        .unwrap()
    })
}
