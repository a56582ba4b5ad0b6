// A 16 by 16 product through fragments, scaled.
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void fragments(const __half* a, const __half* b, float* c) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 1.f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2.f;
    store_matrix_sync(c, fc, 16, mem_row_major);
}
