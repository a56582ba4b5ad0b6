//! Kernels in CUDA C++ that name functions in Rust, and functions in Rust that name some in C++.

use cuda_cpp::{Launch, Source, Value, compiler, lower, written};
use kernelmill_compiler::{Child, Config, Job, JobSource, Lowered, RustSource};
use test_support::{temporary_folder, write_file};

const KERNEL: &str = "
KERNELMILL_FUNCTION(float, shade, float, unsigned);

extern \"C\" __device__ float tint(float x) {
  return x + 0.5f * threadIdx.x;
}

__global__ void shade_all(float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float (*function)(float, unsigned) = KERNELMILL_DEFERRED(shade);
  if (i < n) out[i] = function(out[i], i);
}
";

const FUNCTION: &str = "
use kernelmill_device::prelude::*;

static FACTORS: [f32; 3] = [2.0, 3.0, 5.0];

#[unsafe(no_mangle)]
pub extern \"C\" fn shade(x: f32, i: u32) -> f32 {
    let tint = deferred!(tint: fn(f32) -> f32);
    unsafe { tint(x * FACTORS[i as usize % 3]) }
}
";

fn rust(name: &str, text: &str) -> (RustSource, Lowered) {
    let folder = temporary_folder();
    let display = format!("kernels/{name}.rs");
    let path = write_file(&folder, &display, text);
    let signatures = kernelmill_compiler::frontend::rust::signature::read(text, &display).unwrap();
    let (cfgs, arguments) = (Vec::new(), Vec::new());
    let (functions, instances) = (Vec::new(), Vec::new());
    let edition = "2024".to_owned();
    let package_root = folder.path().to_owned();
    let source = RustSource {
        path,
        display,
        package_root,
        edition,
        cfgs,
        arguments,
        signatures,
        functions,
        instances,
        mirror: None,
    };
    let lowered = compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
    (source, lowered)
}

fn in_cpp(name: &str) -> Source {
    lower(&written(name, KERNEL)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_kernel_in_cpp_calls_a_function_in_rust_that_calls_one_in_cpp() {
    let mut source = in_cpp("cpp_names_rust");
    let (RustSource { display, .. }, lowered) = rust("shade", FUNCTION);
    source.lowered.lowered.children.push(Child { display, lowered });
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let arguments = [Value::floats(&x), Value::of(100_u32)];
    for after in source.run("shade_all", Launch::linear(2, 64), &arguments) {
        let factors = [2.0_f32, 3.0, 5.0];
        let expected: Vec<f32> =
            (0..100).map(|i| x[i] * factors[i % 3] + 0.5 * (i % 64) as f32).collect();
        assert_eq!(after[0].numbers(), expected);
    }
    for target in ["gfx90a", "gfx1100"] {
        source.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}

#[test]
fn a_kernel_in_rust_calls_a_function_in_cpp() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn tint_all(mut out: DisjointSlice<f32>) {
    let tint = deferred!(tint: fn(f32) -> f32);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = unsafe { tint(*out) };
    }
}
";
    let (source, mut lowered) = rust("rust_names_cpp", text);
    let cpp = in_cpp("cpp_is_named");
    let child = Child { display: "kernels/cpp_is_named.cu".into(), lowered: cpp.lowered.lowered };
    lowered.children.push(child);
    for target in ["compute_75", "gfx1100", "cpu"] {
        let config = Config::new(target.parse().unwrap());
        let unit = "rust_names_cpp";
        let source = JobSource { lowered: &lowered, signatures: &source.signatures, unit };
        let module = compiler().inspect(&Job { source, config: &config });
        let module = module.unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_deferred"), "{target}: {module}");
    }
}
