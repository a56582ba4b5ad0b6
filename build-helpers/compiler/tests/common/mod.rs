//! A compiler over the toolchain that runs the tests.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::OnceLock;

use kernelmill_artifact::{DeviceFunction, Signature};
use kernelmill_compiler::{
    Artifact, Compiler, Config, Error, Job, JobSource, Lowered, Params, RustSource, ToolLimits,
    Toolchain,
    frontend::rust::signature::{self, Cfgs, Reading, SourceText},
};
use test_support::{InFolder, shared_folder, temporary_folder, tool, write_file};

/// A target of each generation of GPUs, of both vendors.
pub(crate) const GPUS: [&str; 4] = ["compute_75", "compute_90", "gfx90a", "gfx1100"];

/// The number of lines with a part.
pub(crate) fn count(text: &str, part: &str) -> usize {
    text.lines().filter(|line| line.contains(part)).count()
}

pub(crate) fn compiler() -> &'static Compiler {
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    COMPILER.get_or_init(|| Compiler::new(toolchain()).unwrap())
}

/// The tools, for the machine that the tests run on.
pub(crate) fn toolchain() -> Toolchain {
    let rustc = tool::rustc();
    let ptxas = tool::nvidia("ptxas");
    Toolchain {
        host: rustc.host.clone(),
        sysroot: rustc.sysroot.clone(),
        rustc: rustc.program.clone(),
        rustc_version: rustc.version.clone(),
        llvm: None,
        libdevice: ptxas.as_ref().map(|it| it.with_file_name("../nvvm/libdevice/libdevice.10.bc")),
        ptxas,
        ptxas_version: String::new(),
        ocml: tool::ocml(),
        spirv: tool::clang(),
        spirv_version: String::new(),
        limits: ToolLimits::of_machine(),
        scratch: shared_folder("compiler"),
    }
}

/// A source whose text is written to a folder of its own.
pub(crate) fn source(name: &str, text: &str) -> InFolder<RustSource> {
    source_with(name, text, &[])
}

/// As [`source`], with other files beside it.
pub(crate) fn source_with(name: &str, text: &str, others: &[(&str, &str)]) -> InFolder<RustSource> {
    let folder = temporary_folder();
    for (file, text) in others {
        write_file(&folder, format!("kernels/{file}"), text);
    }
    let display = format!("kernels/{name}.rs");
    let path = write_file(&folder, &display, text);
    let (signatures, functions) = read(text, &display);
    let source = RustSource {
        path,
        display,
        package_root: folder.path().to_owned(),
        edition: "2024".into(),
        cfgs: Vec::new(),
        arguments: Vec::new(),
        signatures,
        functions,
        instances: Vec::new(),
        mirror: None,
    };
    InFolder::new(folder, source)
}

/// The kernels of a file, and the functions that the host can give to them.
fn read(text: &str, display: &str) -> (Vec<Signature>, Vec<DeviceFunction>) {
    let files = [SourceText { module: &[], text, display, has_kernels: true }];
    match signature::read_crate(&files, &Cfgs::default()) {
        Reading::Kernels(signatures, functions, ..) => (signatures, functions),
        wrong => panic!("{wrong:#?}"),
    }
}

pub(crate) fn lower(name: &str, text: &str) -> (InFolder<RustSource>, Lowered) {
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

/// The vector code of a kernel in a text along x, before LLVM's passes: the unmasked and the masked bodies.
pub(crate) fn code(name: &str, text: &str) -> [String; 2] {
    let [full, any] = bodies(name, text, false);
    assert!(!full.is_empty() && !any.is_empty(), "{text}");
    [full, any]
}

/// The same code along y; both are empty where there is none.
pub(crate) fn code_along_y(name: &str, text: &str) -> [String; 2] {
    bodies(name, text, true)
}

/// The unmasked and the masked bodies of a kernel for vectors along y, or for those along x.
fn bodies(name: &str, text: &str, along_y: bool) -> [String; 2] {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    let (source, lowered) = lower(name, &text);
    let mut config = Config::new("cpu".parse().unwrap());
    (config.options.optimize, config.options.validate) = (false, false);
    let found = compiler().inspect(&job(name, &source, &lowered, &config)).unwrap();
    // Attributes of functions are written apart, so they are told by the masks they take.
    let of_bodies = |line: &str| {
        line.starts_with("define")
            && line.contains(".body.region")
            && !line.contains("x1(")
            && line.contains(".columns") == along_y
    };
    let (mut full, mut any) = (String::new(), String::new());
    for function in found.split_inclusive("\n}\n") {
        let Some(start) = function.lines().position(of_bodies) else { continue };
        let head = function.lines().nth(start).unwrap();
        let body = if head.contains(" x i1>") { &mut any } else { &mut full };
        body.extend(function.lines().skip(start).map(|line| format!("{line}\n")));
    }
    [full, any]
}
