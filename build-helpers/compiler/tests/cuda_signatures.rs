//! Signatures of kernels in CUDA C++, read from what compilers make of them.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kernelmill_artifact::{EnumLayout, LaunchLimits, StructLayout, ValueType, VariableDeclaration};
use kernelmill_compiler::frontend::cuda::{
    CudaKernel,
    signature::{self, SignatureError},
};
use test_support::{snapshot, temporary_folder, tool, write_file};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda")
}

fn compile(command: &mut Command) -> String {
    let folder = temporary_folder();
    let out = folder.path().join("out.ptx");
    let output = command.arg("-o").arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(out).unwrap()
}

/// PTX of nvcc with debug information.
fn nvcc(source: &str) -> Option<String> {
    let mut command = Command::new(tool::nvidia("nvcc")?);
    command.args(["-w", "-ptx", "-G", "-arch=sm_80", "-std=c++17"]).arg(data().join(source));
    Some(compile(&mut command))
}

/// PTX of clang with debug information.
fn clang(source: &str) -> Option<String> {
    let mut command = Command::new(tool::clang()?);
    command.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib"]);
    command.args(["--cuda-gpu-arch=sm_80", "--cuda-feature=+ptx70", "-std=c++17", "-w"]);
    command
        .args(["-g", "-Xclang", "-debug-info-kind=standalone", "-O0", "-S"])
        .arg(data().join(source));
    Some(compile(&mut command))
}

/// Kernels as text: each with its parameters, then the types that they name.
fn describe(kernels: &[CudaKernel]) -> String {
    let folder = format!("{}/", data().display());
    let (mut text, mut types) = (String::new(), Vec::new());
    for CudaKernel { signature, full_name, unsupported } in kernels {
        let place = format!("{}:{}", signature.file, signature.line);
        let _ = writeln!(text, "{place}  {full_name}\n    {signature}");
        if signature.limits != LaunchLimits::NONE {
            let _ = writeln!(text, "    {:?}", signature.limits);
        }
        for feature in unsupported {
            let _ = writeln!(text, "    cannot be launched: {feature}");
        }
        for parameter in signature.parameters() {
            collect(parameter.kind.crossing(), &mut types);
        }
    }
    types.sort();
    types.dedup();
    format!("{text}\n{}", types.concat()).replace(&folder, "[folder]/")
}

/// The structs and enumerations of a type, as text.
fn collect(ty: &ValueType, types: &mut Vec<String>) {
    match ty {
        ValueType::Scalar(_) | ValueType::Function(_) => {}
        ValueType::Array(element, _) => collect(element, types),
        ValueType::Struct(layout) => {
            let StructLayout { name, size, align, fields } = &**layout;
            let fields: String = fields
                .iter()
                .map(|field| format!("    {}: {} at {}\n", field.name, field.ty, field.offset))
                .collect();
            types.push(format!("struct {name} of {size} bytes, aligned to {align}\n{fields}"));
            layout.fields.iter().for_each(|field| collect(&field.ty, types));
        }
        ValueType::Enum(layout) => {
            let EnumLayout { name, scalar, variants, .. } = &**layout;
            let variants: String = variants
                .iter()
                .map(|variant| format!("    {} = {}\n", variant.name, variant.value))
                .collect();
            types.push(format!("enum {name} of {}\n{variants}", scalar.name()));
        }
    }
}

/// Compares a text with a file beside the sources.
#[track_caller]
fn check(name: &str, actual: &str) {
    snapshot::check(data().join(name), actual);
}

/// Both compilers are to give the same, so both are compared with one file.
#[test]
fn parameters_of_every_kind_are_read_from_nvcc() {
    if let Some(ptx) = nvcc("signatures.cu") {
        let kernels = signature::read(&ptx, "kernels/signatures.cu").unwrap();
        check("signatures.txt", &describe(&kernels));
    }
}

#[test]
fn parameters_of_every_kind_are_read_from_clang() {
    if let Some(ptx) = clang("signatures.cu") {
        let kernels = signature::read(&ptx, "kernels/signatures.cu").unwrap();
        check("signatures.txt", &describe(&kernels));
    }
}

#[test]
fn classes_with_constructors_cannot_cross_as_far_as_the_compiler_says() {
    if let Some(ptx) = clang("classes.cu") {
        let kernels = signature::read(&ptx, "kernels/classes.cu").unwrap();
        check("classes.txt", &describe(&kernels));
    }
}

/// nvcc does not mention constructors: a second compilation asks for them.
#[test]
fn classes_with_constructors_cannot_cross_with_nvcc_either() {
    for (source, expected) in [("classes.cu", "classes.txt"), ("signatures.cu", "signatures.txt")] {
        let display = format!("kernels/{source}");
        let Some(ptx) = nvcc(source) else { return };
        let kernels = signature::read_with_classes(&ptx, &display, |probe| {
            let text = format!("#include \"{}\"\n{probe}", data().join(source).display());
            let folder = temporary_folder();
            let path = write_file(&folder, format!("probe_{source}"), text);
            let nvcc = tool::nvidia("nvcc").unwrap();
            let mut command = Command::new(nvcc);
            command.args(["-w", "-ptx", "-G", "-arch=sm_80", "-std=c++17"]).arg(path);
            Some(compile(&mut command))
        });
        check(expected, &describe(&kernels.unwrap()));
    }
}

#[test]
fn variables_of_both_compilers_read_alike() {
    for ptx in [nvcc("variables.cu"), clang("variables.cu")].into_iter().flatten() {
        let variables = signature::read_variables(&ptx, "kernels/variables.cu").unwrap();
        let lines = variables.iter().map(|variable| {
            let VariableDeclaration { name, symbol, ty, file, line } = variable;
            format!("{file}:{line}  {name}: {ty}, {symbol}\n")
        });
        check("variables.txt", &lines.collect::<String>());
    }
}

#[test]
fn stored_output_of_both_compilers_reads_alike() {
    for compiler in ["nvcc", "clang"] {
        let ptx = fs::read_to_string(data().join(format!("sample.{compiler}.ptx"))).unwrap();
        let kernels = signature::read(&ptx, "kernels/sample.cu").unwrap();
        check("sample.txt", &describe(&kernels));
    }
}

#[test]
fn code_without_debug_information_is_an_error_only_where_it_has_kernels() {
    let ptx = fs::read_to_string(data().join("sample.nvcc.ptx")).unwrap();
    let (code, _) = ptx.split_once("\t.section").unwrap();
    let error = signature::read(code, "kernels/sample.cu").unwrap_err();
    let text = "kernels/sample.cu: the compiled code has no debug information";
    assert_eq!(error.to_string(), text);
    assert_eq!(signature::read(".version 8.4\n.target sm_80\n", "kernels/none.cu").unwrap(), []);
}

#[test]
fn damaged_debug_information_is_an_error_and_never_a_panic() {
    let ptx = fs::read_to_string(data().join("sample.nvcc.ptx")).unwrap();
    let lines: Vec<&str> = ptx.lines().collect();
    let start = lines.iter().position(|line| line.contains(".section")).unwrap();
    let mut errors = 0;
    for at in start..lines.len() {
        for change in ["", ".b8 255", ".b8 1", ".b32 4294967295"] {
            let mut changed = lines.clone();
            changed[at] = change;
            errors += usize::from(matches!(
                signature::read(&changed.join("\n"), "kernels/sample.cu"),
                Err(SignatureError::Malformed { .. })
            ));
        }
    }
    assert!(errors > 0);
}
