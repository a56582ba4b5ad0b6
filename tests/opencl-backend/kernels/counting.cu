// Variables that the host reads and writes.
__device__ int counts[3] = {1, 2, 3};
__constant__ int step;

extern "C" __global__ void counted() { counts[threadIdx.x] += 10 + step; }
