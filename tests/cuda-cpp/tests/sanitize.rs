//! What the plugin `kernelmill-sanitize` makes of kernels in CUDA C++, on targets that run nowhere here.

use std::sync::Arc;

use cuda_cpp::{compiler, lower, written};
use kernelmill_compiler::{Compiler, Config, Job, JobSource};

const KERNELS: &str = "
__global__ void gather(const float *x, const int *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];
}

__global__ void reverse(float *x) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = x[t];
  __syncthreads();
  x[t] = tile[63 - t];
}
";

#[test]
fn kernels_get_the_sizes_of_their_buffers_and_the_checks() {
    let source = lower(&written("gathers", KERNELS)).unwrap_or_else(|error| panic!("{error}"));
    let with_plugin = Compiler::new(compiler().toolchain().clone())
        .and_then(|compiler| compiler.with_plugins(vec![Arc::new(kernelmill_sanitize::plugin())]))
        .unwrap();
    for target in ["gfx90a", "gfx1100", "compute_75", "sm_90", "cpu"] {
        let signatures = source.signatures(target);
        let lowered = &source.lowered.lowered;
        let job_source = JobSource { lowered, signatures: &signatures, unit: "gathers" };
        let config = Config::new(target.parse().unwrap());
        let job = Job { source: job_source, config: &config };
        let artifact =
            with_plugin.compile(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        let has = |text: &str| artifact.messages.iter().any(|message| message.contains(text));
        for name in ["x", "at", "y"] {
            let expected = format!("`{name}` has {{u64}} elements, and element {{i64}} is");
            assert!(has(&expected), "{target}: {:?}", artifact.messages);
        }
        assert!(has("data race: the shared array `tile`"), "{target}: {:?}", artifact.messages);
        let notes: Vec<_> = artifact.kernels.iter().map(|kernel| kernel.notes.join("; ")).collect();
        let expected = ["sanitize: 3 accesses checked", "sanitize: 4 accesses checked"];
        assert_eq!(notes, expected, "{target}");
        if target.starts_with("gfx") {
            // Of the arguments that AMD's code objects list, those that are no memory.
            let values = |compiler: &Compiler| {
                let text = compiler.assembly(&job).unwrap();
                text.lines().filter(|line| line.trim_end().ends_with(" by_value")).count()
            };
            // `n`, then the sizes of the four buffers, and the panic record of each of the two kernels.
            assert_eq!((values(compiler()), values(&with_plugin)), (1, 7), "{target}");
        }
    }
}
