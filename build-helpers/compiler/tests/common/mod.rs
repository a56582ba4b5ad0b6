//! A compiler over the toolchain that runs the tests.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use kernelmill_compiler::{
    Artifact, Compiler, Config, Error, Job, JobSource, Lowered, Params, RustSource, Toolchain,
    frontend::rust::signature,
};

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The assembler that `cargo xtask setup` installs, or one on PATH.
pub(crate) fn ptxas() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/toolchains");
    let installed = ["nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas"];
    let mut candidates: Vec<PathBuf> = installed.iter().map(|path| root.join(path)).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    candidates.extend(std::env::split_paths(&path).map(|folder| folder.join("ptxas")));
    let found = candidates.into_iter().find(|path| path.exists());
    let required = std::env::var_os("KERNELMILL_REQUIRE_TOOLS").is_some();
    assert!(found.is_some() || !required, "ptxas is not installed: run `cargo xtask setup`");
    found
}

/// AMD's mathematical functions, which `cargo xtask setup` installs.
pub(crate) fn ocml() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc");
    let required = std::env::var_os("KERNELMILL_REQUIRE_TOOLS").is_some();
    assert!(path.is_file() || !required, "ocml is not installed: run `cargo xtask setup`");
    Some(path).filter(|path| path.is_file())
}

pub(crate) fn compiler() -> &'static Compiler {
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    COMPILER.get_or_init(|| Compiler::new(toolchain()).unwrap())
}

/// The tools, for the machine that the tests run on.
pub(crate) fn toolchain() -> Toolchain {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = run(&rustc, &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    Toolchain {
        host: host.to_owned(),
        sysroot: run(&rustc, &["--print", "sysroot"]).into(),
        rustc: rustc.into(),
        rustc_version: version,
        llvm: None,
        ptxas: ptxas(),
        ptxas_version: String::new(),
        libdevice: ptxas().map(|ptxas| ptxas.with_file_name("../nvvm/libdevice/libdevice.10.bc")),
        ocml: ocml(),
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")).join("scratch"),
    }
}

/// A source whose text is written to a folder of its own.
pub(crate) fn source(name: &str, text: &str) -> RustSource {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sources").join(name);
    let path = root.join(format!("kernels/{name}.rs"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let display = format!("kernels/{name}.rs");
    let signatures = signature::read(text, &display).unwrap_or_else(|errors| panic!("{errors:#?}"));
    RustSource {
        path,
        display,
        package_root: root,
        edition: "2024".into(),
        cfgs: Vec::new(),
        arguments: Vec::new(),
        signatures,
    }
}

pub(crate) fn lower(name: &str, text: &str) -> (RustSource, Lowered) {
    let source = source(name, text);
    let lowered = compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
    (source, lowered)
}

pub(crate) fn compile(name: &str, text: &str, target: &str) -> Result<Artifact, Error> {
    compile_with(name, text, target, Params::default())
}

/// As [`compile`], with parameters.
pub(crate) fn compile_with(
    name: &str,
    text: &str,
    target: &str,
    params: Params,
) -> Result<Artifact, Error> {
    let (source, lowered) = lower(name, text);
    let config = Config { params, ..Config::new(target.parse().unwrap()) };
    compiler().compile(&job(name, &source, &lowered, &config))
}

/// The PTX of kernels for compute_75.
pub(crate) fn ptx(name: &str, text: &str) -> String {
    let artifact = compile(name, text, "compute_75").unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(artifact.bytes).unwrap()
}

/// The job of a source that was lowered.
pub(crate) fn job<'a>(
    name: &'a str,
    source: &'a RustSource,
    lowered: &'a Lowered,
    config: &'a Config,
) -> Job<'a> {
    let source = JobSource { lowered, signatures: &source.signatures, unit: name };
    Job { source, config }
}

/// The vector code of a kernel in a text, before LLVM's passes: the unmasked and the masked bodies.
pub(crate) fn code(name: &str, text: &str) -> [String; 2] {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    let (source, lowered) = lower(name, &text);
    let mut config = Config::new("cpu".parse().unwrap());
    (config.options.optimize, config.options.validate) = (false, false);
    let found = compiler().inspect(&job(name, &source, &lowered, &config)).unwrap();
    // Attributes of functions are written apart, so they are told by the masks they take.
    let of_bodies = |line: &str| {
        line.starts_with("define") && line.contains(".body.region") && !line.contains("x1(")
    };
    let (mut full, mut any) = (String::new(), String::new());
    for function in found.split_inclusive("\n}\n") {
        let Some(start) = function.lines().position(of_bodies) else { continue };
        let head = function.lines().nth(start).unwrap();
        let body = if head.contains(" x i1>") { &mut any } else { &mut full };
        body.extend(function.lines().skip(start).map(|line| format!("{line}\n")));
    }
    assert!(!full.is_empty() && !any.is_empty(), "{found}");
    [full, any]
}
