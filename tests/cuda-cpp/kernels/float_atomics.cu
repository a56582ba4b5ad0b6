// Atomic additions to floating-point numbers: with results that are used and not, in each scope, and in each memory. The numbers
// that are added are integers, so that sums are the same in any order.

// Sums of all threads.
extern "C" __global__ void float_sums(float *sums, double *wide, const float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[0], x[i]);
  atomicAdd_system(&sums[1], -x[i]);
  atomicAdd_block(&sums[2 + blockIdx.x], x[i]);
  __nv_atomic_sub(&sums[10], x[i], __NV_ATOMIC_ACQ_REL);
  atomicAdd(&wide[0], (double)x[i] * 0.25);
}

// One number for each thread, whose old value it has.
extern "C" __global__ void old_floats(float *sums, float *old, const float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) old[i] = atomicAdd(&sums[i], x[i]);
}

// Shared memory.
extern "C" __global__ void float_block_sums(float *sums, const float *x, unsigned n) {
  __shared__ float own;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  if (i < n) atomicAdd(&own, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = own;
}

// Memory that is known only when the kernel runs.
extern "C" __global__ void float_sums_either(float *sums, const float *x, unsigned n) {
  __shared__ float own;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  float *at = i % 3 ? &own : &sums[8];
  if (i < n) atomicAdd(at, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = own;
}
