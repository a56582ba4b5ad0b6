//! Derivatives of functions in CUDA C++: on every target, against finite differences on the CPU and on
//! the emulator in several orders of the threads, and what nvcc says of them.

use std::sync::Arc;

use cuda_cpp::{Launch, OnCpu, OnEmulator, Source, Value, compiler, lower, nvcc, written};
use kernelmill_artifact::{NvidiaArch, NvidiaSuffix};
use kernelmill_compiler::{Artifact, Compiler, Config, Error, Job, JobSource};
use ptx_emulator::{Options, Order};

const KERNELS: &str = "
// Declared without the macro: a function, then each argument after its size.
__device__ float cube(float x, float y) { return x * x * x * y; }
extern \"C\" __device__ float slope(float (*)(float, float), unsigned long, float, unsigned long, float,
    unsigned long, float) __asm__(\"__kernelmill_autodiff.slope.reverse.active_constant_\");

__global__ void slopes(float *x) {
  float v = x[threadIdx.x];
  x[threadIdx.x] = slope(cube, sizeof v, v, sizeof v, 12345.0f, sizeof v, 1.0f);
}

__device__ float wave(float x, float y) { return sinf(x) * expf(y * 0.3f) + x / (1 + y * y); }
__kernelmill_autodiff(float2, of_wave, wave, reverse, (active, active), float, float, float)
__kernelmill_autodiff(float, along_wave, wave, forward, (active, active), float, float, float, float)

__device__ float horner(const float *c, float x) {
  float sum = 0;
  for (int i = 5; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}
__kernelmill_autodiff(float, of_horner, horner, reverse, (constant, active), const float *, float, float)
__kernelmill_autodiff(float, along_horner, horner, forward, (constant, active), const float *, float,
    float)

__device__ float bend(float x) { return x > 0.5f ? sqrtf(x) : x < -0.5f ? tanhf(x) : x * x * x; }
__kernelmill_autodiff(float, of_bend, bend, reverse, (active), float, float)

// Gradients of all: those of reverse mode first, then of forward mode.
__global__ void gradients(const float *x, const float *y, const float *c, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 g = of_wave(x[i], y[i], 1.0f);
  float *o = out + 8 * i;
  o[0] = g.x;
  o[1] = g.y;
  o[2] = along_wave(x[i], 1.0f, y[i], 0.0f);
  o[3] = along_wave(x[i], 0.0f, y[i], 1.0f);
  o[4] = of_horner(c, x[i], 1.0f);
  o[5] = along_horner(c, x[i], 1.0f);
  o[6] = of_bend(x[i], 1.0f);
  o[7] = 0;
}

// All threads add to one gradient: what they share.
__device__ float error(const float *w, float x, float y) {
  float d = w[0] + w[1] * x - y;
  return d * d;
}
__kernelmill_autodiff(void, of_error, error, reverse, (shared, constant, constant), const float *,
    float *, float, float, float)
__global__ void fit(const float *w, float *g, const float *x, const float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  of_error(w, g, x[i], y[i], 1.0f);
}
";

fn source() -> Source {
    lower(&written("slopes", KERNELS)).unwrap_or_else(|error| panic!("{error}"))
}

fn with_plugin() -> Compiler {
    Compiler::new(compiler().toolchain().clone())
        .and_then(|compiler| compiler.with_plugins(vec![Arc::new(kernelmill_autodiff::plugin())]))
        .unwrap()
}

fn compile(source: &Source, target: &str) -> Artifact {
    let signatures = source.signatures(target);
    assert_eq!(signatures.len(), 3, "{target}: {:?}", source.lowered.unsupported);
    let job_source =
        JobSource { lowered: &source.lowered.lowered, signatures: &signatures, unit: "slopes" };
    let config = Config::new(target.parse().unwrap());
    let job = Job { source: job_source, config: &config };
    with_plugin().compile(&job).unwrap_or_else(|error| panic!("{target}: {error}"))
}

#[test]
fn functions_in_cpp_have_derivatives_on_every_target() {
    let source = source();
    for target in ["compute_75", "sm_90", "gfx90a", "cpu"] {
        let artifact = compile(&source, target);
        if target == "compute_75" {
            let ptx = String::from_utf8(artifact.bytes).unwrap();
            assert!(!ptx.contains("__kernelmill_autodiff"), "{ptx}");
            // 12345 as the bits of a float, and no call: 3 x^2 y.
            assert!(ptx.contains("0f4640E400") && !ptx.contains("call.uni"), "{ptx}");
        }
    }
}

fn wave(x: f64, y: f64) -> f64 {
    x.sin() * (y * 0.3).exp() + x / (1.0 + y * y)
}

fn horner(c: &[f32], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * x + f64::from(*c))
}

fn bend(x: f64) -> f64 {
    if x > 0.5 {
        x.sqrt()
    } else if x < -0.5 {
        x.tanh()
    } else {
        x * x * x
    }
}

/// By five points.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-4;
    (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)
}

const COUNT: usize = 256;

/// Numbers in an order that looks random, away from where `bend` breaks.
fn numbers(step: usize) -> Vec<f32> {
    let at = |i: usize| (i * step % COUNT) as f32 / COUNT as f32 * 3.8 - 1.9;
    let away = |x: f32| if (x.abs() - 0.5).abs() < 1e-3 { x + 0.01 } else { x };
    (0..COUNT).map(|i| away(at(i))).collect()
}

fn check_gradients(after: &[Value], x: &[f32], y: &[f32], c: &[f32], on: &str) {
    let found = after[3].numbers();
    for i in 0..COUNT {
        let (x, y) = (f64::from(x[i]), f64::from(y[i]));
        let by_x = difference(|x| wave(x, y), x);
        let by_y = difference(|y| wave(x, y), y);
        let of_horner = difference(|x| horner(c, x), x);
        let expected = [by_x, by_y, by_x, by_y, of_horner, of_horner, difference(bend, x)];
        for (part, expected) in expected.into_iter().enumerate() {
            let found = f64::from(found[8 * i + part]);
            let error = (found - expected).abs() / expected.abs().max(0.05);
            assert!(error < 1e-3, "{on}, x {x}, y {y}, part {part}: {found} and {expected}");
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences_in_every_order_of_the_threads() {
    let source = source();
    let (x, y) = (numbers(37), numbers(101));
    let c = [0.5_f32, -1.0, 0.25, 2.0, -0.75, 0.125];
    let zeros = vec![0.0; 8 * COUNT];
    let of_points = [&x, &y, &c[..].to_vec(), &zeros].map(|it| Value::floats(it));
    let w = [0.3_f32, -0.7];
    let of_fit = [&w[..], &[0.0; 2], &x, &y].map(Value::floats);
    let launch = Launch::linear(4, 64);
    let by_hand = x.iter().zip(&y).fold([0.0_f64; 2], |[a, b], (x, y)| {
        let (x, y) = (f64::from(*x), f64::from(*y));
        let d = f64::from(w[0]) + f64::from(w[1]) * x - y;
        [a + 2.0 * d, b + 2.0 * d * x]
    });
    let check_fit = |after: &[Value], on: &str| {
        for (found, expected) in after[1].numbers().iter().zip(by_hand) {
            let error = (f64::from(*found) - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-3, "{on}: {found} and {expected}");
        }
    };
    let symbol = |name: &str| {
        let signatures = source.signatures("cpu");
        let found = signatures.iter().find(|it| it.name == name).expect("a kernel");
        found.symbol.to_string()
    };
    let on_cpu = OnCpu::new(&compile(&source, "cpu"), &source.signatures("cpu"), "slopes").unwrap();
    let after = on_cpu.run(&symbol("gradients"), launch, &of_points).unwrap();
    check_gradients(&after, &x, &y, &c, "the CPU");
    check_fit(&on_cpu.run(&symbol("fit"), launch, &of_fit).unwrap(), "the CPU");
    let emulator = OnEmulator::new(&compile(&source, "compute_75"));
    for order in [Order::Forward, Order::Reverse, Order::Random(1), Order::Random(2)] {
        let on = format!("{order:?}");
        let options = Options { order, detect_races: true, ..Options::default() };
        let run = |kernel: &str, arguments: &[Value]| {
            let after = emulator.run(&symbol(kernel), launch, arguments, &options);
            after.unwrap_or_else(|fault| panic!("{on}: {fault}"))
        };
        check_gradients(&run("gradients", &of_points), &x, &y, &c, &on);
        check_fit(&run("fit", &of_fit), &on);
    }
}

#[test]
fn nvcc_is_told_whose_the_macro_is() {
    let Some(nvcc) = nvcc() else { return };
    let source = written("by_nvcc", KERNELS);
    let arch = NvidiaArch { major: 7, minor: 5, suffix: NvidiaSuffix::None };
    let error = nvcc.read(&source, arch).map(drop).unwrap_err();
    assert!(matches!(error, Error::Cpp { tool: "nvcc", .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("write `cuda-compiler = \"clang\"`"), "{message}");
    assert!(message.contains("kernels/by_nvcc.cu:13"), "{message}");
}
