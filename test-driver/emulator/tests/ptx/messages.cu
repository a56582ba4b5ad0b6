// printf and assert.
#include <assert.h>
#include <stdio.h>
extern "C" __global__ void messages(int n) {
    if (threadIdx.x < 2)
        printf("%s %d:%6.2f|%-4u|%x %lld %c%%\n", "thread", threadIdx.x, n * 1.5, 7u, 255,
               (long long)n << 33, 'z');
    assert(n == 3);
}
