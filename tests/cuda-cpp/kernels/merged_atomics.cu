// Atomic operations of a thread on one address, in loops, and of all threads of a vector on one address.

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *x, unsigned n)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x

// Each operation, in a loop that counts: `out` has nine numbers for each thread.
KERNEL(merged_each) {
    INDEX;
    unsigned *own = out + 9 * i;
    for (unsigned k = 0; k < n; k++) atomicAdd(&own[0], k * i);
    for (unsigned k = i; k < i + n; k++) atomicSub(&own[1], k ^ 5);
    for (unsigned k = 0; k < n; k++) atomicAnd(&own[2], ~(1u << (k + i) % 32));
    for (unsigned k = 0; k < n; k++) atomicOr(&own[3], 1u << k % 32);
    for (unsigned k = 0; k < n; k++) atomicXor(&own[4], k * 0x9e3779b9u);
    for (int k = 0; k < (int)n; k++) atomicMin((int *)&own[5], (int)(k * 7919 - i * 100));
    for (int k = n; k > 0; k--) atomicMax((int *)&own[6], (int)(k * 7919 - i * 100));
    for (unsigned k = 0; k != n; k++) atomicMin(&own[7], (k + i) * 0x85ebca6bu);
    for (unsigned k = 0; k < n; k += 1) atomicMax(&own[8], (k + i) * 0x85ebca6bu);
}

// Numbers of 64 bits, of which each thread has three.
KERNEL(merged_wide) {
    INDEX;
    unsigned long long *own = (unsigned long long *)out + 3 * i;
    for (unsigned k = 0; k < n; k++) atomicAdd(&own[0], (unsigned long long)k << 31);
    for (unsigned k = 0; k < n; k++) atomicMin((long long *)&own[1], (long long)k * -0x123456789ll);
    for (unsigned k = 0; k < n; k++) atomicMax(&own[2], (unsigned long long)i * k << 20);
}

// As many iterations as the thread says, two operations in each, and a loop that is unrolled.
KERNEL(merged_divergent) {
    INDEX;
    for (unsigned k = 0; k < i % 5 + n; k++) {
        atomicAdd(&out[i], k);
        if (k & 2) atomicAdd(&out[i], 1000);
    }
    for (unsigned k = 0; k < 8; k++) atomicAdd(&out[i], k * n);
}

// In two loops, of which the inner one is not always there.
KERNEL(merged_nested) {
    INDEX;
    for (unsigned k = 0; k < n; k++)
        for (unsigned j = k; j < i % 7; j++) atomicAdd(&out[i], k * j + 1);
}

// What is read meanwhile is promised to be other memory.
extern "C" __global__ void merged_sums(unsigned *__restrict__ out, const unsigned *__restrict__ x, unsigned n) {
    INDEX;
    for (unsigned k = 0; k < n; k++) atomicAdd(&out[i], x[(i + k) % 64]);
}

// Nothing is at an address at which no operation is done.
KERNEL(merged_nowhere) {
    INDEX;
    unsigned *at = n > 40 ? out + i : 0;
    for (unsigned k = 0; k < n; k++)
        if (k >= 40) atomicAdd(at, k);
}

// Results that are used, memory that others change, and what is read between.
KERNEL(kept_all) {
    INDEX;
    unsigned sum = 0;
    for (unsigned k = 0; k < n; k++) sum = sum * 3 + atomicAdd(&out[2 * i], k);
    for (unsigned k = 0; k < n; k++) {
        atomicAdd(&out[2 * i], k);
        sum = sum * 5 + out[2 * i];
    }
    for (unsigned k = 0; k < n; k++) {
        atomicAdd(&out[2 * i], k);
        atomicXor(&out[2 * i], 0x55);
    }
    for (unsigned k = 0; k < n; k++) {
        atomicMax(&out[2 * i + k % 2], k * i);
        __threadfence();
    }
    out[2 * i + 1] += sum;
}

// All threads on one address: what they add is one number, or each its own.
KERNEL(one_each) {
    INDEX;
    atomicAdd(&out[0], 3u);
    atomicAdd(&out[1], x[i % 64]);
    atomicSub(&out[2], i);
    atomicAnd(&out[3], ~(1u << x[i % 64] % 32));
    atomicOr(&out[4], 1u << i % 13);
    atomicXor(&out[5], n + 1);
    atomicXor(&out[6], x[i % 64]);
    atomicMin((int *)&out[7], (int)(x[i % 64] - 1000000));
    atomicMax((int *)&out[8], (int)(x[i % 64] - 100000000));
    atomicMin(&out[9], x[i % 64] + 5);
    atomicMax(&out[10], n);
    atomicAdd((unsigned long long *)&out[12], (unsigned long long)x[i % 64] << 16);
    atomicSub(&out[14], n);
}

// Of the threads of a vector some do it, or none, for whom there is no memory.
KERNEL(one_of_some) {
    INDEX;
    unsigned *at = n > 0 ? out : 0;
    if (x[i % 64] % 8 < n) atomicAdd(&at[0], x[i % 64]);
    if (x[i % 64] % 5 < n) atomicAdd(&at[1], 1);
    if (x[i % 64] % 7 < n) atomicMin(&at[2], x[i % 64]);
    if (i % 16 < n) atomicXor(&at[3], 0xff);
    if (i < n) atomicMax((int *)&at[4], (int)i - 9);
    if (i + 3 < n) atomicAnd(&at[5], ~i);
    for (unsigned k = 0; k < i % 5 * n; k++) atomicAdd(&at[6], k + i);
    if (i + 7 >= n * 1000) return;
    atomicSub(&at[7], 2);
}

// In the memory of a block, where no other thread of the processor comes.
KERNEL(one_in_block) {
    INDEX;
    __shared__ unsigned sums[4];
    for (unsigned k = threadIdx.x; k < 4; k += blockDim.x) sums[k] = k * 100;
    __syncthreads();
    atomicAdd(&sums[0], x[i % 64]);
    if (x[i % 64] % 3 < n) atomicMax(&sums[1], x[i % 64]);
    for (unsigned k = 0; k < n; k++) atomicXor(&sums[2], k + i);
    atomicAdd(&sums[3], 1u);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < 4; k += blockDim.x) atomicAdd(&out[k], sums[k]);
}

// Who is last learns it, so that each thread has its own operation.
KERNEL(kept_tickets) {
    INDEX;
    unsigned ticket = atomicAdd(&out[0], 1u);
    atomicAdd(&out[1 + ticket % 32], x[i % 64] * 0u + 1u);
}
