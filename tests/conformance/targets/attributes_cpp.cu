// What is said of launches in CUDA C++, as it stands in the code.
#include <cuda_runtime.h>

// CHECK-PTX: .maxntid 128
// CHECK-PTX: .minnctapersm 4
// CHECK-PTX-NOT: .maxnreg
extern "C" __global__ void __launch_bounds__(128, 4) bounded_cpp(float *x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}

// CHECK-PTX: .maxnreg 40
// CHECK-PTX-NOT: .maxntid
extern "C" __global__ void __maxnreg__(40) registers_cpp(float *x) { x[threadIdx.x] *= 2.0f; }

// CHECK-sm_75-NOT: nctapercluster
// CHECK-sm_90: .reqnctapercluster 2, 2, 1
// CHECK-sm_100: .reqnctapercluster 2, 2, 1
extern "C" __global__ void __cluster_dims__(2, 2) cluster_cpp(float *x) { x[threadIdx.x] *= 2.0f; }
