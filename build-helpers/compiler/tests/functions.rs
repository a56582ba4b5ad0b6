//! Device functions that are compiled alone, for code of another language: options `kernel` and `entry_abi`.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{compiler, job, lower};
use kernelmill_compiler::{Artifact, Config, Error};
use test_support::{InFolder, temporary_folder, tool, write_file};

const FUNCTIONS: &str = "
use kernelmill_device::prelude::*;

#[inline(never)]
fn inner(x: f32) -> f32 {
    x + 1.0
}

#[unsafe(no_mangle)]
pub extern \"C\" fn scale(x: f32, factors: *const f32, index: u32) -> f32 {
    inner(x) * unsafe { *factors.add(index as usize) }
}

#[unsafe(no_mangle)]
pub extern \"C\" fn third(numbers: *const u8, length: u64, is_last: bool) -> u8 {
    let numbers = unsafe { core::slice::from_raw_parts(numbers, length as usize) };
    if is_last { numbers[numbers.len() - 1] } else { numbers[2] }
}

#[kernel]
pub fn unused(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = inner(*out);
    }
}
";

fn config(target: &str, options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(target.parse().unwrap());
    for (name, value) in [("kernel", "false")].iter().chain(options) {
        config.options.set(name, value).unwrap();
    }
    config
}

fn compile(text: &str, target: &str, options: &[(&str, &str)]) -> Result<Artifact, Error> {
    let (source, lowered) = lower("functions", text);
    compiler().compile(&job("functions", &source, &lowered, &config(target, options)))
}

fn message(text: &str, target: &str, options: &[(&str, &str)]) -> String {
    compile(text, target, options).unwrap_err().to_string()
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// Acceptance: S0.2.
#[test]
fn functions_alone_are_functions_of_ptx() {
    let artifact = compile(FUNCTIONS, "compute_75", &[]).unwrap();
    assert!(artifact.kernels.is_empty());
    let ptx = String::from_utf8(artifact.bytes).unwrap();
    let head = |name: &str| {
        let start = ptx.find(".visible .func").unwrap_or_else(|| panic!("{ptx}"));
        let place = ptx[start..].find(&format!(" {name}(\n")).unwrap_or_else(|| panic!("{ptx}"));
        let parameters: Vec<_> =
            ptx[start + place..].lines().skip(1).take_while(|it| *it != ")").collect();
        parameters.iter().map(|it| it.trim().trim_end_matches(',').to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        head("scale"),
        [".param .b32 scale_param_0", ".param .b64 scale_param_1", ".param .b32 scale_param_2"]
    );
    assert!(ptx.contains(".visible .func  (.param .b32 func_retval0) scale("), "{ptx}");
    assert!(!ptx.contains(".entry") && !ptx.contains("unused"), "{ptx}");
    assert!(ptx.contains("trap;") && !ptx.contains("%gridid"), "a panic has no record: {ptx}");
    let packed = compile(FUNCTIONS, "compute_75", &[("entry_abi", "packed")]).unwrap();
    let packed = String::from_utf8(packed.bytes).unwrap();
    let line =
        ".visible .func scale(\n\t.param .b64 scale_param_0,\n\t.param .b64 scale_param_1\n)";
    assert!(packed.contains(line), "{packed}");
}

/// What calls `scale`, as nvcc's relocatable code does.
const CALLER: &str = "
extern \"C\" __device__ float scale(float x, const float *factors, unsigned index);
extern \"C\" __device__ unsigned char third(const unsigned char *numbers, unsigned long long length, bool is_last);

extern \"C\" __global__ void call(float *out, const float *factors, const unsigned char *numbers) {
    out[0] = scale(2.0f, factors, 1) + third(numbers, 4, true);
}
";

/// Acceptance: S0.2.
#[test]
fn functions_alone_are_linked_with_cuda_cpp() {
    let tools = ["nvcc", "ptxas", "nvlink"].map(tool::nvidia);
    let [Some(nvcc), Some(ptxas), Some(nvlink)] = tools else { return };
    let folder = temporary_folder();
    let at = |name: &str| folder.path().join(name);
    write_file(&folder, "caller.cu", CALLER.as_bytes());
    let home = nvcc.parent().unwrap();
    let mut caller = Command::new(&nvcc);
    caller.args(["-arch=sm_80", "-rdc=true", "--ptx"]).arg(at("caller.cu"));
    succeed(caller.arg("-o").arg(at("caller.ptx")).env("PATH", path_with(home)));
    let assemble = |ptx: &str, cubin: &str| {
        let mut command = Command::new(&ptxas);
        succeed(command.args(["-arch=sm_80", "-c"]).arg(at(ptx)).arg("-o").arg(at(cubin)));
    };
    assemble("caller.ptx", "caller.cubin");
    let link = |cubin: &str| {
        let mut command = Command::new(&nvlink);
        let objects = [at("caller.cubin"), at(cubin)];
        command.arg("-arch=sm_80").args(objects).arg("-o").arg(at("linked.cubin"));
        command.output().unwrap()
    };
    // Both forms: PTX that its user assembles, and a cubin that is relocatable.
    fs::write(at("own.ptx"), compile(FUNCTIONS, "compute_80", &[]).unwrap().bytes).unwrap();
    assemble("own.ptx", "own.cubin");
    fs::write(at("ready.cubin"), compile(FUNCTIONS, "sm_80", &[]).unwrap().bytes).unwrap();
    for cubin in ["own.cubin", "ready.cubin"] {
        let output = link(cubin);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && !said.contains("warning"), "{cubin}: {said}");
    }
    // The linker compares types.
    let other = compile(FUNCTIONS, "sm_80", &[("entry_abi", "packed")]).unwrap();
    fs::write(at("other.cubin"), other.bytes).unwrap();
    let said = link("other.cubin");
    assert!(!said.status.success(), "{said:?}");
}

/// The search path with a folder in front.
fn path_with(folder: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap()
}

const MAIN: &str = r#"
#include <stdio.h>
float scale(float x, const float *factors, unsigned index);
unsigned char third(const unsigned char *numbers, unsigned long long length, _Bool is_last);
int main(int count, char **arguments) {
    (void)arguments;
    const float factors[2] = {3.0f, 5.0f};
    const unsigned char numbers[4] = {7, 8, 9, 10};
    printf("%g %d %d\n", (double)scale(1.5f, factors, 1), third(numbers, 4, 0), third(numbers, 4, 1));
    fflush(stdout);
    return count > 1 ? third(numbers, 1, 0) : 0;
}
"#;

const PACKED_MAIN: &str = r#"
#include <stdio.h>
void scale(const void *const *arguments, void *result);
void third(const void *const *arguments, void *result);
int main(void) {
    const float factors[2] = {3.0f, 5.0f}, *address = factors;
    const unsigned char numbers[4] = {7, 8, 9, 10}, *first = numbers;
    float x = 1.5f, y;
    unsigned index = 1;
    unsigned long long length = 4;
    _Bool is_last = 1;
    unsigned char last;
    const void *of_scale[3] = {&x, &address, &index}, *of_third[3] = {&first, &length, &is_last};
    scale(of_scale, &y);
    third(of_third, &last);
    printf("%g %d\n", (double)y, last);
    return 0;
}
"#;

/// A program in C with the functions.
fn link_c(main: &str, options: &[(&str, &str)]) -> InFolder<PathBuf> {
    let folder = temporary_folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("functions.o"), compile(FUNCTIONS, "cpu", options).unwrap().bytes).unwrap();
    write_file(&folder, "main.c", main.as_bytes());
    let mut command = Command::new("cc");
    command.args([at("main.c"), at("functions.o")]).arg("-o").arg(at("main"));
    succeed(&mut command);
    let program = at("main");
    InFolder::new(folder, program)
}

/// Acceptance: S0.2.
#[test]
fn functions_alone_are_called_by_a_program_in_c() {
    let program = link_c(MAIN, &[]);
    let output = succeed(&mut Command::new(&*program));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12.5 9 10\n");
    let panics = Command::new(&*program).arg("now").output().unwrap();
    assert!(panics.status.code().is_none(), "a panic ends the process: {panics:?}");
    let packed = link_c(PACKED_MAIN, &[("entry_abi", "packed")]);
    assert_eq!(String::from_utf8_lossy(&succeed(&mut Command::new(&*packed)).stdout), "12.5 10\n");
}

/// Acceptance: S0.2.
#[test]
fn only_entries_keep_their_bodies_on_every_target() {
    let (source, lowered) = lower("functions", FUNCTIONS);
    for target in ["cpu", "compute_75"] {
        let defined = |options: &[(&str, &str)]| {
            let config = config(target, options);
            let module = compiler().inspect(&job("functions", &source, &lowered, &config)).unwrap();
            ["@scale(", "inner"].map(|name| {
                module.lines().any(|line| line.starts_with("define ") && line.contains(name))
            })
        };
        assert_eq!(defined(&[]), [true, true], "{target}");
        assert_eq!(defined(&[("only_entry", "true")]), [true, false], "{target}");
    }
}

/// Acceptance: S0.2.
#[test]
fn what_functions_alone_cannot_be_is_an_error() {
    let thread = FUNCTIONS.replace("inner(x) *", "inner(x) * thread::thread_idx().x as f32 *");
    assert!(compile(&thread, "compute_75", &[]).is_ok());
    let said = message(&thread, "cpu", &[]);
    let expected = "uses its thread, its block, its launch or shared memory, which a function that the host calls does not \
         have";
    assert!(said.contains(expected) && said.contains("functions.rs:11"), "{said}");
    let by_value = FUNCTIONS.replace("(x: f32, factors", "(x: f32, _: [u64; 5], factors");
    let by_value = by_value.replace(
        "pub extern \"C\" fn scale",
        "#[allow(improper_ctypes_definitions)]\npub extern \"C\" fn scale",
    );
    for options in [&[][..], &[("entry_abi", "packed")]] {
        let said = message(&by_value, "compute_75", options);
        let expected = "device function `scale` passes a struct, an array or a vector by value";
        assert!(said.contains(expected), "{said}");
    }
    let said = message(FUNCTIONS, "gfx1100", &[]);
    assert!(said.ends_with("the target is gfx1100: nothing links them there"), "{said}");
    let said = message(FUNCTIONS, "compute_75", &[("name", "only")]);
    assert_eq!(
        said,
        "the option `name` (`only`) is for a source with one function, and this one has `scale`, \
                      `third`"
    );
    let none = FUNCTIONS.replace("#[unsafe(no_mangle)]", "");
    let said = message(&none, "cpu", &[]);
    assert!(
        said.contains("no function that other languages can call; write `#[unsafe(no_mangle)]"),
        "{said}"
    );
}
