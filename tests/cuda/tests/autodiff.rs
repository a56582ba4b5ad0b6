//! Derivatives of functions in CUDA C++.

use std::sync::Arc;

use cuda_everywhere::{compiler, lower, written};
use kernelmill_compiler::{Compiler, Config, Job, JobSource};

const KERNEL: &str = "
__device__ float f(float x, float y) { return x * x * x * y; }

// A function, then each argument after its size.
extern \"C\" __device__ float slope(float (*)(float, float), unsigned long, float, unsigned long, float,
    unsigned long, float) __asm__(\"__kernelmill_autodiff.slope.reverse.active_constant_\");

__global__ void slopes(float *x) {
  float v = x[threadIdx.x];
  x[threadIdx.x] = slope(f, sizeof v, v, sizeof v, 12345.0f, sizeof v, 1.0f);
}
";

#[test]
fn a_function_in_cpp_has_a_derivative_on_every_target() {
    let source = lower(&written("slopes", KERNEL)).unwrap_or_else(|error| panic!("{error}"));
    let with_plugin = Compiler::new(compiler().toolchain().clone())
        .and_then(|compiler| compiler.with_plugins(vec![Arc::new(kernelmill_autodiff::plugin())]))
        .unwrap();
    for target in ["compute_75", "gfx90a", "cpu"] {
        let signatures = source.signatures(target);
        assert_eq!(signatures.len(), 1, "{target}: {:?}", source.lowered.obstacles);
        let lowered = &source.lowered.lowered;
        let job_source = JobSource { lowered, signatures: &signatures, unit: "slopes" };
        let config = Config::new(target.parse().unwrap());
        let job = Job { source: job_source, config: &config };
        let code = with_plugin.assembly(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!code.contains("__kernelmill_autodiff"), "{target}: {code}");
        if target == "compute_75" {
            // 12345 as the bits of a float, and no call: 3 x^2 y.
            assert!(code.contains("0f4640E400") && !code.contains("call.uni"), "{code}");
        }
    }
}
