// Blocks exchange values across a barrier of the whole grid.
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(unsigned* data) {
    auto grid = cooperative_groups::this_grid();
    unsigned i = grid.thread_rank();
    data[i] = i;
    grid.sync();
    unsigned v = data[(i + blockDim.x) % grid.size()];
    grid.sync();
    data[i] = v;
}
