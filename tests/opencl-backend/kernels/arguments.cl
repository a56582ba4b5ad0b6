// What the tests of arguments and of macros launch.

kernel void axes(global uint4 *out) {
  size_t at = get_global_linear_id();
  out[2 * at] = (uint4)(get_global_id(0), get_global_id(1), get_global_id(2), get_work_dim());
  out[2 * at + 1] = (uint4)(get_local_size(0), get_local_size(1), get_local_size(2), get_num_groups(2));
}

kernel void is_null(global const uint *maybe, global uint *out) { out[0] = maybe == 0; }

kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void takes_local(local uint *first, global uint *out, local ulong *second) {
  uint lane = get_local_id(0);
  first[lane] = lane;
  second[lane] = 100 * lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = first[31 - lane] + (uint)second[(lane + 1) & 31];
}

// Only the device's compiler knows its version.
#ifdef __OPENCL_VERSION__
#define SAID_BY_THE_DEVICE __OPENCL_VERSION__
#else
#define SAID_BY_THE_DEVICE 0
#endif
kernel void versions(global uint *out) {
  out[0] = SAID_BY_THE_DEVICE;
  out[1] = __OPENCL_C_VERSION__;
}
