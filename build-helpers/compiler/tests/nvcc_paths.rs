//! Paths in what nvcc makes: none of a checkout.

use std::path::PathBuf;

use kernelmill_artifact::Target;
use kernelmill_compiler::{
    Config, ToolLimits,
    frontend::cuda::{CudaSource, Nvcc},
};
use test_support::{shared_folder, temporary_folder, tool, write_file};

const HEADER: &str = "#pragma once
#define WHERE(p) do { const char *file = __FILE__; p[0] = file[p[1]]; } while (0)
__device__ inline void where(int *p) { WHERE(p); }
";

const KERNEL: &str = "#include <where.cuh>
extern \"C\" __global__ void kernel(int *p) { where(p); const char *own = __FILE__; p[2] = own[p[3]]; }
";

/// PTX of a kernel whose header, found by an absolute folder, names its file, in a folder of its own.
fn compiled(nvcc: PathBuf) -> String {
    let folder = temporary_folder();
    write_file(&folder, "include/where.cuh", HEADER);
    let path = write_file(&folder, "kernels/kernel.cu", KERNEL);
    let source = CudaSource {
        path,
        display: "kernels/kernel.cu".into(),
        package_root: folder.path().to_owned(),
        includes: vec![folder.path().join("include")],
        defines: Vec::new(),
        arguments: Vec::new(),
        instances: Vec::new(),
    };
    let scratch = shared_folder("nvcc-paths");
    let nvcc = Nvcc { program: nvcc, scratch, limits: ToolLimits::of_machine() };
    let target: Target = "compute_80".parse().unwrap();
    let compiled = nvcc.compile(&source, &Config::new(target), &[]);
    let (artifact, _) = compiled.unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(artifact.bytes).unwrap()
}

/// Text as PTX has it: a list of bytes.
fn listed(text: &str) -> String {
    text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_second_checkout_has_the_same_code_where_headers_name_their_files() {
    let Some(nvcc) = tool::nvidia("nvcc") else { return };
    let [first, second] = [compiled(nvcc.clone()), compiled(nvcc)];
    assert!(first.contains(&listed("include/where.cuh")), "{first}");
    assert!(first.contains(&listed("kernels/kernel.cu")), "{first}");
    assert_eq!(first, second);
}
