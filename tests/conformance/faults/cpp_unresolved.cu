extern "C" __device__ float expm1ff(float x);

__device__ float wave(float x) { return 2.0f * expm1ff(x); }

__global__ void waves(float *x) { x[threadIdx.x] = wave(x[threadIdx.x]); }
