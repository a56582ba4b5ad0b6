// Kernels with the code of the host that launches them: it calls the run time, profiles, captures graphs and describes
// textures, and nothing of it is compiled for a target.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>

namespace cg = cooperative_groups;

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
#ifdef __NVCC__
#define BOTH_BY_NVCC __host__ __device__
#else
#define BOTH_BY_NVCC
#endif

BOTH_BY_NVCC int sum(int x, int y) { return x + y; }
BOTH int twice(int x) { return sum(x, x); }

// Headers that many programs share declare their checks of calls where the run time's headers have been read, by the guards of
// these.
#ifdef __DRIVER_TYPES_H__
#define CHECK(call) check((call), #call, __LINE__)
static void check(cudaError_t error, const char *call, int line) {
  if (error != cudaSuccess) printf("%s, line %d: %s\n", call, line, cudaGetErrorString(error));
}
#endif
#ifdef __CUDA_RUNTIME_H__
static int multiprocessors(int device) {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}
#endif
#if !defined __CUDA_RUNTIME_API_H__ || !defined __VECTOR_TYPES_H__ || !defined __VECTOR_FUNCTIONS_H__ ||                          \
    !defined __LIBRARY_TYPES_H__ || !defined __DEVICE_LAUNCH_PARAMETERS_H__ || !defined __HOST_DEFINES_H__ ||                     \
    !defined __CUDA_FP16_H__ || !defined __CUDA_BF16_H__ || !defined _COOPERATIVE_GROUPS_H_
#error "a header that was read has no guard"
#endif

// nvcc warns of a conversion in braces that may lose bits, and goes on.
BOTH uchar2 lower_bytes(unsigned short x, int y) { return uchar2{x, y}; }

__managed__ int offset_of_all = 3;
__constant__ float factors[4];

// The positive numbers, in any order, and the sum of each group that adds together.
__global__ void positives(int *found, const int *numbers, int *count, int *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && numbers[i] > 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, (int)group.size());
    first = group.shfl(first, 0);
    found[first + group.thread_rank()] = twice(numbers[i]) + offset_of_all;
    int all = cg::reduce(group, numbers[i], cg::plus<int>());
    bool is_whole = group.all(1) && !group.any(0) && __popc(group.ballot(1)) == group.num_threads();
    if (group.thread_rank() == 0 && is_whole) atomicAdd(sum, all);
  }
}

// A shuffle by ranks among the odd lanes alone: each gets the value of the next one, the last its own.
__global__ void odd_lanes(int *out) {
  out[threadIdx.x] = -1;
  if (threadIdx.x % 2 == 1) {
    auto group = cg::coalesced_threads();
    int next = group.shfl_down((int)threadIdx.x, 1), previous = group.shfl_up((int)threadIdx.x, 1);
    int rank = group.thread_rank(), size = group.size();
    bool is_right = next == (int)threadIdx.x + (rank + 1 < size ? 2 : 0) &&
                    previous == (int)threadIdx.x - (rank > 0 ? 2 : 0);
    out[threadIdx.x] = size == 1 || is_right;
  }
}

// The sum of what the threads of a group have, whatever group it is; `room` has a place for each of them.
__device__ int sum_of(cg::thread_group group, int *room, int value) {
  unsigned int rank = group.thread_rank();
  room[rank] = value;
  group.sync();
  for (unsigned int half = group.size() / 2; half > 0; half /= 2) {
    if (rank < half) room[rank] += room[rank + half];
    group.sync();
  }
  int sum = room[0];
  group.sync();
  return sum;
}

// Of each thread: the sums of its tile of 16 and of its block, its rank in a part of its tile, and which part that is.
__global__ void any_groups(int *out) {
  __shared__ int room[64];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_group tile = cg::tiled_partition(block, 16), part = cg::tiled_partition(tile, 4);
  int *own = out + 6 * (blockIdx.x * blockDim.x + threadIdx.x);
  own[0] = sum_of(tile, room + threadIdx.x / 16 * 16, threadIdx.x);
  cg::sync(block);
  own[1] = sum_of(block, room, threadIdx.x);
  own[2] = part.thread_rank() + 10 * part.size() + 100 * (part.is_valid() && tile.size() == 16);
  cg::thread_block_tile<32, cg::thread_block> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> eighth = cg::tiled_partition<8>(warp);
  own[3] = warp.meta_group_rank() + 10 * warp.meta_group_size();
  own[4] = eighth.meta_group_rank() + 10 * eighth.meta_group_size();
  own[5] = cg::reduce(warp, (int)threadIdx.x, cg::plus<int>()) + sum_of(eighth, room + threadIdx.x / 8 * 8, 1);
}

// Values of more bytes than a word through the threads of a warp, and the groups of those who have the same.
struct Three {
  unsigned char a;
  unsigned int b, c;
};
__global__ void exchanged(unsigned int *out, unsigned int *turns) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  unsigned int lane = warp.thread_rank(), *own = out + 8 * threadIdx.x;
  uint4 four = warp.shfl_xor(make_uint4(lane, 100 + lane, 200 + lane, 300 + lane), 1);
  Three three = warp.shfl_up(Three{(unsigned char)lane, 7 * lane, ~lane}, 2);
  own[0] = four.x + four.y + four.z + four.w;
  own[1] = three.a + three.b;
  own[2] = three.c;
  own[3] = warp.shfl(make_double2(lane, 2.0 * lane), 5).y + warp.shfl_down(make_int3(1, 2, lane), 4).z;
  auto odd = cg::binary_partition(warp, lane % 2 == 1);
  own[4] = odd.size() * 100 + odd.thread_rank();
  auto label = cg::labeled_partition(warp, lane / 5);
  own[5] = label.size() * 100 + label.thread_rank();
  own[6] = label.shfl(make_uint4(0, 0, lane, 0), 0).z;
  own[7] = cg::binary_partition(odd, lane < 9).size();
  atomicInc_system(&turns[0], 9u);
  atomicDec_block(&turns[1], 9u);
}

__global__ void ordered(unsigned int *cells, unsigned int *seen) {
  __nv_atomic_fetch_add(&cells[0], 2u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_max(&cells[1], threadIdx.x, __NV_ATOMIC_ACQ_REL);
  __nv_atomic_fetch_or(&cells[2], 1u << (threadIdx.x % 8), __NV_ATOMIC_SEQ_CST);
  __nv_atomic_store_n(&cells[3], 7u, __NV_ATOMIC_RELEASE);
  seen[threadIdx.x] = __nv_atomic_load_n(&cells[3], __NV_ATOMIC_ACQUIRE) +
                      static_cast<char>(__float2half(3.0f)) + static_cast<char>(__float2bfloat16(4.0f));
}

template <class T> __global__ void fill(T *p, T value) { p[threadIdx.x] = value; }

// A function that the run time calls.
void CUDART_CB when_done(cudaStream_t, cudaError_t error, void *) { CHECK(error); }

int main() {
  cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  if (properties.clockRate == 0 || !properties.pageableMemoryAccess) printf("%d\n", INT_MAX);
  int attribute = 0, blocks = 0, least = 0;
  cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxBlockDimX, 0);
  cudaOccupancyMaxPotentialBlockSize(&least, &blocks, fill<float>, 0, 0);

  float *values, host[4] = {1, 2, 3, 4};
  if (multiprocessors(0) > 0) CHECK(cudaMalloc(&values, sizeof host));
  cudaMallocPitch((void **)&values, 0, 16, 16);
  cudaHostAlloc(&values, sizeof host, cudaHostAllocDefault);
  cudaMemcpyToSymbol(factors, host, sizeof host);
  cudaMemcpyFromSymbol(host, factors, sizeof host, 0, cudaMemcpyDeviceToHost);
  cudaMemcpy2D(values, 16, host, 16, 16, 1, cudaMemcpyHostToDevice);
  register float root = rsqrtf(2.0f) + (float)normcdf(0.5);
  host[0] = root;

  cudaStream_t stream;
  cudaEvent_t start;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
  cudaStreamWaitEvent(stream, start, 0);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<1, 4, 0, stream>>>(values, 1.0f);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, NULL, NULL, 0);
  cudaGraphLaunch(executable, stream);

  cudaLaunchConfig_t configuration = {};
  cudaLaunchAttribute attributes[1];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 2;
  configuration.attrs = attributes;
  configuration.numAttrs = 1;
  cudaLaunchKernelEx(&configuration, fill<float>, values, 2.0f);
  void *arguments[] = {&values, host};
  cudaLaunchCooperativeKernel((void *)fill<float>, dim3(1), dim3(4), arguments, 0, stream);
  cudaLaunchKernel((void *)fill<float>, 1, 4, arguments, 0, stream);

  cudaTextureObject_t texture = 0;
  cudaResourceDesc resource = {};
  cudaTextureDesc description = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  description.addressMode[0] = cudaAddressModeClamp;
  cudaCreateTextureObject(&texture, &resource, &description, NULL);

  cudaError_t (*release)(void *) = cudaFree;
  cudaProfilerStart();
  if (cudaGetLastError() == cudaErrorAssert) printf("%s\n", cudaGetErrorName(cudaErrorAssert));
  cudaProfilerStop();
  return release(values) == cudaSuccess && cudaDeviceReset() == cudaSuccess ? 0 : 1;
}
