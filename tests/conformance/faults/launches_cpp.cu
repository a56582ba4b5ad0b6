__global__ void __launch_bounds__(2048, 40) large(float *x) { x[threadIdx.x] = 0; }

__global__ void __maxnreg__(300) __cluster_dims__(4, 4) crowded(float *x) { x[threadIdx.x] = 0; }
