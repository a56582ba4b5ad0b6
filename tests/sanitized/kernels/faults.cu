// Each kernel does one thing wrong, in few threads.

__global__ void reads_past_the_end(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + 1];
}

__global__ void reads_before_the_start(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i - 1];
}

__global__ void loops_one_too_far(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = 0; i <= n; i++)
    sum += x[i];
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__global__ void writes_past_the_end(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i + 1] = x[i];
}

__device__ float neighbour(const float *x, int i) {
  return x[i + 2];
}

__global__ void reads_in_a_function(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = neighbour(x, i);
}

__global__ void reads_one_of_two(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *from = i % 2 ? x : y;
  if (i < n - 1) y[i] = from[i == 5 ? i + n : i];
}

__global__ void reads_with_a_pointer_that_moves(const float *x, float *y, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x > 0) return;
  const float *end = x + n;
  float sum = 0;
  for (const float *p = x; p <= end; p++)
    sum += *p;
  y[0] = sum;
}

__global__ void reads_four_at_once(const float *x, float *y, int n) {
  int i = threadIdx.x;
  float4 v = *reinterpret_cast<const float4 *>(x + 4 * i);
  if (4 * i < n) y[i] = v.x + v.w;
}

__global__ void reads_past_a_local_array(const float *x, float *y, int n) {
  float few[4] = {1, 2, 3, 4};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  few[i % 3] += x[i];
  y[i] = few[i % 5];
}

__global__ void reads_past_a_shared_array(const float *x, float *y, int n) {
  __shared__ float tile[32];
  int t = threadIdx.x;
  tile[t] = x[t];
  __syncthreads();
  y[t] = tile[t + 1];
}

__global__ void reads_past_dynamic_shared_memory(const float *x, float *y, int n) {
  extern __shared__ float memory[];
  int t = threadIdx.x;
  memory[t] = x[t];
  __syncthreads();
  y[t] = memory[t + 1];
}

__global__ void all_write_one_place(const float *x, float *y, int n) {
  __shared__ float last;
  last = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = last;
}

__global__ void reverses_without_a_barrier(const float *x, float *y, int n) {
  __shared__ float tile[32];
  int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = x[t];
  y[t] = tile[31 - t];
}

__global__ void overwrites_what_is_read(const float *x, float *y, int n) {
  __shared__ float tile[32];
  int t = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < 3; round++) {
    tile[t] = x[t] + round;
    __syncthreads();
    sum += tile[(t + 1) % 32];
    // A barrier is missing here.
  }
  y[t] = sum;
}

__global__ void changes_atomically_what_others_write(const float *x, float *y, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x == 3) count = 0;
  atomicAdd(&count, 1);
  __syncthreads();
  y[threadIdx.x] = count;
}

__global__ void waits_for_its_warp_alone(const float *x, float *y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = x[t % n];
  __syncwarp();
  y[t % n] = tile[63 - t];
}

__global__ void reverses_in_dynamic_shared_memory(const float *x, float *y, int n) {
  extern __shared__ float memory[];
  int t = threadIdx.x;
  memory[t] = 0;
  __syncthreads();
  memory[t] = x[t];
  y[t] = memory[31 - t];
}
