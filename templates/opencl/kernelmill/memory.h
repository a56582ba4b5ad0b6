// Vectors in memory that is aligned as their components are, numbers of half precision, and copies by a
// whole work-group.
#pragma once

#define __KM_LOAD(SPACE, N, T)                                                                     \
  __KM_F T##N vload##N(size_t i, const SPACE T *from) {                                            \
    return *(const SPACE __km_packed_##T##N *)(from + i * N);                                      \
  }
#define __KM_STORE(SPACE, N, T)                                                                    \
  __KM_F void vstore##N(T##N value, size_t i, SPACE T *to) {                                       \
    *(SPACE __km_packed_##T##N *)(to + i * N) = value;                                             \
  }
#define __KM_LOADS(SPACE, T)                                                                       \
  __KM_LOAD(SPACE, 2, T) __KM_LOAD(SPACE, 4, T) __KM_LOAD(SPACE, 8, T) __KM_LOAD(SPACE, 16, T)     \
  __KM_F T##3 vload3(size_t i, const SPACE T *from) {                                              \
    return (T##3)(from[i * 3], from[i * 3 + 1], from[i * 3 + 2]);                                  \
  }
#define __KM_STORES(SPACE, T)                                                                      \
  __KM_STORE(SPACE, 2, T) __KM_STORE(SPACE, 4, T) __KM_STORE(SPACE, 8, T) __KM_STORE(SPACE, 16, T) \
  __KM_F void vstore3(T##3 value, size_t i, SPACE T *to) {                                         \
    to[i * 3] = value.s0, to[i * 3 + 1] = value.s1, to[i * 3 + 2] = value.s2;                      \
  }
#define __KM_PACKED(N, T)                                                                          \
  typedef T##N __km_packed_##T##N __attribute__((aligned(sizeof(T))));
#define __KM_OF_TYPE(T)                                                                            \
  __KM_VECTORS(__KM_PACKED, T)                                                                     \
  __KM_MEMORY(__KM_LOADS, T) __KM_LOADS(__constant, T) __KM_MEMORY(__KM_STORES, T)
__KM_OF_TYPE(char) __KM_OF_TYPE(uchar) __KM_OF_TYPE(short) __KM_OF_TYPE(ushort) __KM_OF_TYPE(int)
__KM_OF_TYPE(uint) __KM_OF_TYPE(long) __KM_OF_TYPE(ulong) __KM_OF_TYPE(float) __KM_OF_TYPE(double)
#undef __KM_OF_TYPE
#undef __KM_LOAD
#undef __KM_LOADS
#undef __KM_PACKED
#undef __KM_STORE
#undef __KM_STORES

float __kernelmill_f16_to_f32(ushort);
ushort __kernelmill_f32_to_f16(float);
ushort __kernelmill_f64_to_f16(double);
#define __KM_LOAD_HALF(SPACE, _)                                                                   \
  __KM_F float vload_half(size_t i, const SPACE half *from) {                                      \
    return __kernelmill_f16_to_f32(((const SPACE ushort *)from)[i]);                               \
  }                                                                                                \
  __KM_LOAD_HALVES(SPACE, 2, 2) __KM_LOAD_HALVES(SPACE, 3, 3) __KM_LOAD_HALVES(SPACE, 4, 4)        \
  __KM_LOAD_HALVES(SPACE, 8, 8) __KM_LOAD_HALVES(SPACE, 16, 16)
#define __KM_LOAD_HALVES(SPACE, N, STRIDE)                                                         \
  __KM_F float##N vload_half##N(size_t i, const SPACE half *from) {                                \
    float##N value;                                                                                \
    for (int k = 0; k < N; k++) value[k] = vload_half(i * N + k, from);                            \
    return value;                                                                                  \
  }                                                                                                \
  __KM_F float##N vloada_half##N(size_t i, const SPACE half *from) {                               \
    float##N value;                                                                                \
    for (int k = 0; k < N; k++) value[k] = vload_half(i * (N == 3 ? 4 : N) + k, from);             \
    return value;                                                                                  \
  }
__KM_MEMORY(__KM_LOAD_HALF, _) __KM_LOAD_HALF(__constant, _)
#undef __KM_LOAD_HALF
#undef __KM_LOAD_HALVES
#define __KM_STORE_HALF(SPACE, _)                                                                  \
  __KM_F void vstore_half(float value, size_t i, SPACE half *to) {                                 \
    ((SPACE ushort *)to)[i] = __kernelmill_f32_to_f16(value);                                      \
  }                                                                                                \
  __KM_F void vstore_half(double value, size_t i, SPACE half *to) {                                \
    ((SPACE ushort *)to)[i] = __kernelmill_f64_to_f16(value);                                      \
  }                                                                                                \
  __KM_STORE_HALVES(SPACE, 2, float) __KM_STORE_HALVES(SPACE, 3, float)                            \
  __KM_STORE_HALVES(SPACE, 4, float) __KM_STORE_HALVES(SPACE, 8, float)                            \
  __KM_STORE_HALVES(SPACE, 16, float)
#define __KM_STORE_HALVES(SPACE, N, T)                                                             \
  __KM_F void vstore_half##N(T##N value, size_t i, SPACE half *to) {                               \
    for (int k = 0; k < N; k++) vstore_half(value[k], i * N + k, to);                              \
  }                                                                                                \
  __KM_F void vstorea_half##N(T##N value, size_t i, SPACE half *to) {                              \
    for (int k = 0; k < N; k++) vstore_half(value[k], i * (N == 3 ? 4 : N) + k, to);               \
  }
__KM_MEMORY(__KM_STORE_HALF, _)
#undef __KM_STORE_HALF
#undef __KM_STORE_HALVES

// The work-items of a group share a copy. It is done when they have waited for it.
#define __KM_COPY(TO, FROM, T)                                                                     \
  __KM_F event_t async_work_group_copy(TO T *to, const FROM T *from, size_t count, event_t event) {\
    size_t stride = get_local_size(0) * get_local_size(1) * get_local_size(2);                     \
    for (size_t i = get_local_linear_id(); i < count; i += stride) to[i] = from[i];                \
    return event;                                                                                  \
  }
#define __KM_STRIDED(N, T)                                                                         \
  __KM_COPY(__local, __global, T##N) __KM_COPY(__global, __local, T##N)                            \
  __KM_F event_t async_work_group_strided_copy(__local T##N *to, const __global T##N *from,        \
                                               size_t count, size_t step, event_t event) {         \
    size_t stride = get_local_size(0) * get_local_size(1) * get_local_size(2);                     \
    for (size_t i = get_local_linear_id(); i < count; i += stride) to[i] = from[i * step];         \
    return event;                                                                                  \
  }                                                                                                \
  __KM_F event_t async_work_group_strided_copy(__global T##N *to, const __local T##N *from,        \
                                               size_t count, size_t step, event_t event) {         \
    size_t stride = get_local_size(0) * get_local_size(1) * get_local_size(2);                     \
    for (size_t i = get_local_linear_id(); i < count; i += stride) to[i * step] = from[i];         \
    return event;                                                                                  \
  }                                                                                                \
  __KM_F void prefetch(const __global T##N *from, size_t count) {}
#define __KM_COPIES(T)                                                                             \
  __KM_STRIDED(, T) __KM_STRIDED(2, T) __KM_STRIDED(4, T) __KM_STRIDED(8, T) __KM_STRIDED(16, T)
__KM_COPIES(char) __KM_COPIES(uchar) __KM_COPIES(short) __KM_COPIES(ushort) __KM_COPIES(int)
__KM_COPIES(uint) __KM_COPIES(long) __KM_COPIES(ulong) __KM_COPIES(float) __KM_COPIES(double)
#undef __KM_COPY
#undef __KM_COPIES
#undef __KM_STRIDED
__KM_F void wait_group_events(int count, event_t *events) { __kernelmill_barrier(); }
