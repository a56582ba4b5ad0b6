// Work-item functions, barriers and fences: each a function that the compiler supplies for every
// target, the same that kernels in Rust use. A work-group is a block, a sub-group a warp.
#pragma once

uint __kernelmill_thread_idx_x(void), __kernelmill_thread_idx_y(void), __kernelmill_thread_idx_z(void);
uint __kernelmill_block_idx_x(void), __kernelmill_block_idx_y(void), __kernelmill_block_idx_z(void);
uint __kernelmill_block_dim_x(void), __kernelmill_block_dim_y(void), __kernelmill_block_dim_z(void);
uint __kernelmill_grid_dim_x(void), __kernelmill_grid_dim_y(void), __kernelmill_grid_dim_z(void);
void __kernelmill_barrier(void);
void __kernelmill_fence_block(void), __kernelmill_fence_device(void);

#define __KM_INDEX(NAME, OPERATION, OUTSIDE)                                                       \
  __KM_F size_t NAME(uint dimension) {                                                             \
    return dimension == 0   ? __kernelmill_##OPERATION##_x()                                       \
           : dimension == 1 ? __kernelmill_##OPERATION##_y()                                       \
           : dimension == 2 ? __kernelmill_##OPERATION##_z()                                       \
                            : OUTSIDE;                                                             \
  }
__KM_INDEX(get_local_id, thread_idx, 0)
__KM_INDEX(get_group_id, block_idx, 0)
__KM_INDEX(get_local_size, block_dim, 1)
__KM_INDEX(get_num_groups, grid_dim, 1)
#undef __KM_INDEX
__KM_F size_t get_enqueued_local_size(uint dimension) { return get_local_size(dimension); }
__KM_F size_t get_global_offset(uint dimension) { return 0; }
__KM_F size_t get_global_id(uint dimension) {
  return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}
__KM_F size_t get_global_size(uint dimension) {
  return get_num_groups(dimension) * get_local_size(dimension);
}
__KM_F size_t get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
__KM_F size_t get_global_linear_id(void) {
  return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
         get_global_id(0);
}
// A launch does not say its dimension: it is that of the last axis with more than one work-item.
__KM_F uint get_work_dim(void) {
  return get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1;
}

__KM_F void barrier(cl_mem_fence_flags flags) { __kernelmill_barrier(); }
__KM_F void work_group_barrier(cl_mem_fence_flags flags) { __kernelmill_barrier(); }
__KM_F void mem_fence(cl_mem_fence_flags flags) { __kernelmill_fence_block(); }
__KM_F void read_mem_fence(cl_mem_fence_flags flags) { __kernelmill_fence_block(); }
__KM_F void write_mem_fence(cl_mem_fence_flags flags) { __kernelmill_fence_block(); }
