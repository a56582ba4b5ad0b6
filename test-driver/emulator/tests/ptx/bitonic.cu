// Sorts 256 values a block.
extern "C" __global__ void bitonic(unsigned* data) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    __syncthreads();
#pragma unroll 1
    for (unsigned k = 2; k <= 256; k <<= 1)
#pragma unroll 1
        for (unsigned j = k >> 1; j; j >>= 1) {
            unsigned o = t ^ j;
            if (o > t && (s[t] > s[o]) == !(t & k)) {
                unsigned x = s[t];
                s[t] = s[o];
                s[o] = x;
            }
            __syncthreads();
        }
    data[blockIdx.x * 256 + t] = s[t];
}
