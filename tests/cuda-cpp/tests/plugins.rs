//! A plugin of the compiler that works on kernels in CUDA C++.

#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "../../../build-helpers/compiler/tests/plugins/cycles.rs"]
mod cycles;

use std::sync::Arc;

use cuda_cpp::{compiler, lower, written};
use kernelmill_compiler::{Compiler, Config, Job, JobSource};

const KERNEL: &str = "
extern \"C\" __device__ unsigned long long __kernelmill_cycles();

__global__ void time_it(unsigned long long *out) {
  unsigned long long start = __kernelmill_cycles();
  out[threadIdx.x] = __kernelmill_cycles() - start;
}
";

#[test]
fn a_marker_in_cpp_is_replaced_on_every_target() {
    let source = lower(&written("time_it", KERNEL)).unwrap_or_else(|error| panic!("{error}"));
    let with_plugin = Compiler::new(compiler().toolchain().clone())
        .and_then(|compiler| compiler.with_plugins(vec![Arc::new(cycles::Cycles)]))
        .unwrap();
    for (target, clock) in [("compute_75", "%clock64"), ("gfx90a", "s_memtime"), ("cpu", "rdtsc")] {
        let signatures = source.signatures(target);
        assert_eq!(signatures.len(), 1, "{target}: {:?}", source.lowered.unsupported);
        let lowered = &source.lowered.lowered;
        let job_source = JobSource { lowered, signatures: &signatures, unit: "time_it" };
        let config = Config::new(target.parse().unwrap());
        let job = Job { source: job_source, config: &config };
        let code = with_plugin.assembly(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(code.matches(clock).count() >= 2, "{target}: {code}");
        assert!(compiler().compile(&job).is_err(), "{target}: without the plugin");
    }
}
