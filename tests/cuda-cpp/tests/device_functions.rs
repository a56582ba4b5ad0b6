//! Device functions passed to kernels in CUDA C++, in C++ and in Rust.

use cuda_cpp::{Launch, Source, Value, compiler, lower, written};
use kernelmill_artifact::{ParameterKind, ValueType};
use kernelmill_compiler::{Child, Error, RustSource, TableFunction, exported};
use test_support::{temporary_folder, write_file};

const KERNELS: &str = "
KERNELMILL_DEVICE_FN(float, square, float x) { return x * x; }

KERNELMILL_DEVICE_FN(float, shifted, float x) { return x + 0.5f * threadIdx.x; }

namespace inner {
KERNELMILL_DEVICE_FN(unsigned long long, choose, bool yes, signed char small, short,
                     unsigned long long large) {
  return yes ? (unsigned long long)small : large;
}
}

KERNELMILL_DEVICE_FN(void, nothing) {}

typedef kernelmill::DeviceFn<float(float)> Function;

struct Pair { Function first; float factor; };

__global__ void apply(Function f, const Function *table, int n, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[i % n](f(out[i]));
}

__global__ void of_struct(Pair pair, float *out) {
  out[threadIdx.x] = pair.factor * pair.first(out[threadIdx.x]);
}

__global__ void wide(kernelmill::DeviceFn<unsigned long long(bool, signed char, short,
                                                             unsigned long long)> f,
                     kernelmill::DeviceFn<void()> g, unsigned *out) {
  g();
  unsigned long long value = f(threadIdx.x % 2, -3, 1, 5000000000ull);
  out[2 * threadIdx.x] = (unsigned)value;
  out[2 * threadIdx.x + 1] = (unsigned)(value >> 32);
}
";

const RUST: &str = "
use kernelmill_device::prelude::*;

#[device_fn]
pub fn halve(x: f32) -> f32 {
    0.5 * x
}
";

fn rust() -> Child {
    let folder = temporary_folder();
    let display = "kernels/halve.rs".to_owned();
    let path = write_file(&folder, &display, RUST);
    let source = RustSource {
        path,
        display: display.clone(),
        package_root: folder.path().to_owned(),
        edition: "2024".to_owned(),
        cfgs: Vec::new(),
        arguments: Vec::new(),
        signatures: Vec::new(),
        functions: Vec::new(),
        instances: Vec::new(),
        mirror: None,
    };
    let lowered = compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
    Child { display, lowered }
}

/// The kernels with their table: a number for each function.
fn source(name: &str) -> Source {
    let mut source = lower(&written(name, KERNELS)).unwrap_or_else(|error| panic!("{error}"));
    source.lowered.lowered.children.push(rust());
    let names = ["choose", "halve", "nothing", "shifted", "square"];
    let functions = names.iter().zip(1_u64 << 40..);
    let functions =
        functions.map(|(name, id)| TableFunction { id, symbol: exported(name) }).collect();
    source.lowered.lowered.functions = functions;
    source
}

fn id(name: &str) -> u64 {
    let names = ["choose", "halve", "nothing", "shifted", "square"];
    (1 << 40) + names.iter().position(|it| *it == name).unwrap() as u64
}

fn words(id: u64) -> [u32; 2] {
    [id as u32, (id >> 32) as u32]
}

#[test]
fn functions_and_the_kernels_that_take_them_are_typed_as_in_rust() {
    let source = source("device_functions_typed");
    let functions: Vec<_> = source.lowered.functions.iter().map(ToString::to_string).collect();
    assert_eq!(
        functions,
        [
            "::square: unsafe fn(f32) -> f32",
            "::shifted: unsafe fn(f32) -> f32",
            "::choose: unsafe fn(bool, i8, i16, u64) -> u64",
            "::nothing: unsafe fn()",
        ]
    );
    let lines: Vec<_> = source.lowered.functions.iter().map(|it| it.line).collect();
    assert_eq!(lines, [2, 4, 7, 13]);
    let signatures = source.signatures("cpu");
    let apply = signatures.iter().find(|kernel| kernel.name == "apply").unwrap();
    let kinds: Vec<_> = apply.parameters().iter().map(|it| it.kind.clone()).collect();
    let ParameterKind::Value(ValueType::Function(ty)) = &kinds[0] else { panic!("{kinds:?}") };
    assert_eq!(ty.to_string(), "unsafe fn(f32) -> f32");
    let ParameterKind::Pointer { element: ValueType::Function(element), .. } = &kinds[1] else {
        panic!("{kinds:?}")
    };
    assert_eq!(element, ty);
}

#[test]
fn a_kernel_calls_the_functions_that_it_is_given() {
    let source = source("device_functions");
    let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let table = ["halve", "shifted", "square"].map(|name| words(id(name))).concat();
    let f = Value::of(id("shifted"));
    let arguments = [f, Value::Words(table), Value::of(3_i32), Value::floats(&x)];
    let after = source.run("apply", Launch::linear(2, 64), &arguments);
    for values in after {
        let shifted = |x: f32, i: usize| x + 0.5 * (i % 64) as f32;
        let expected = (0..128).map(|i| {
            let x = shifted(i as f32, i);
            [0.5 * x, shifted(x, i), x * x][i % 3]
        });
        assert_eq!(values[3].numbers(), expected.collect::<Vec<_>>());
    }
    let pair = Value::Bytes(
        [id("square").to_le_bytes(), (3.0_f32.to_bits() as u64).to_le_bytes()].concat(),
    );
    for values in source.run("of_struct", Launch::linear(1, 128), &[pair, Value::floats(&x)]) {
        assert_eq!(values[1].numbers(), x.iter().map(|x| 3.0 * x * x).collect::<Vec<_>>());
    }
    let arguments = [Value::of(id("choose")), Value::of(id("nothing")), Value::Words(vec![0; 8])];
    for values in source.run("wide", Launch::linear(1, 4), &arguments) {
        let (large, small) = (words(5_000_000_000), words(-3_i64 as u64));
        assert_eq!(values[2].words(), [large, small, large, small].concat());
    }
    for target in ["gfx90a", "gfx1100"] {
        source.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}

#[test]
fn a_number_of_no_function_is_a_panic_at_the_line_of_the_call() {
    let source = source("device_functions_foreign");
    let arguments = [
        Value::of(7_u64),
        Value::Words(words(id("square")).to_vec()),
        Value::of(1_i32),
        Value::floats(&[1.0]),
    ];
    let error = source.run_on_cpu("apply", Launch::linear(1, 1), &arguments).unwrap_err();
    let line = KERNELS.lines().position(|line| line.contains("table[i % n]")).unwrap() + 1;
    let text = error.to_string();
    let place = format!("kernels/device_functions_foreign.cu:{line}:");
    assert!(text.contains(&place), "{text}");
    assert!(text.contains("that is not a device function of these kernels"), "{text}");
}

#[test]
fn what_rust_and_cpp_do_not_pass_alike_is_refused_all_at_once() {
    let text = "
struct Two { float a, b; };
KERNELMILL_DEVICE_FN(float, of_struct, Two two) { return two.a; }
KERNELMILL_DEVICE_FN(float *, of_pointer, int) { return nullptr; }
extern \"C\" __global__ void k() {}
";
    let error = lower(&written("device_functions_refused", text)).unwrap_err();
    assert!(matches!(error, Error::DeviceFunctions(_)), "{error}");
    let alike = "which C++ and Rust do not pass alike; use `bool`, an integer, `float` or `double`";
    let file = "kernels/device_functions_refused.cu";
    assert_eq!(
        error.to_string(),
        format!(
            "{file}:3: the device function `of_struct` takes or returns `Two`, {alike}\n\
             {file}:4: the device function `of_pointer` takes or returns `float *`, {alike}"
        )
    );

    let text = "
struct Two { float a, b; };
extern \"C\" __global__ void k(kernelmill::DeviceFn<float(Two)> f) {}
";
    let source = lower(&written("device_functions_of_structs", text)).unwrap();
    let feature = &source.lowered.kernels[0].unsupported[0];
    assert!(feature.message.contains("takes or returns `Two`"), "{feature}");
}
