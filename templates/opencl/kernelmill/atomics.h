// Atomic functions: those of OpenCL C 1.x, `atomic_add`, and of its 64-bit extensions, `atom_add`, which
// are relaxed, and those of OpenCL C 2.0, which are C11's. Every work-item of the device sees them.
#pragma once

#define __KM_ATOMIC(SPACE, T, PREFIX)                                                              \
  __KM_F T PREFIX##_add(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_sub(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_sub(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_inc(volatile SPACE T *p) { return PREFIX##_add(p, (T)1); }                     \
  __KM_F T PREFIX##_dec(volatile SPACE T *p) { return PREFIX##_sub(p, (T)1); }                     \
  __KM_F T PREFIX##_and(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_and(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_or(volatile SPACE T *p, T value) {                                             \
    return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);                                          \
  }                                                                                                \
  __KM_F T PREFIX##_xor(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_min(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_min(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_max(volatile SPACE T *p, T value) {                                            \
    return __atomic_fetch_max(p, value, __ATOMIC_RELAXED);                                         \
  }                                                                                                \
  __KM_F T PREFIX##_xchg(volatile SPACE T *p, T value) {                                           \
    return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);                                        \
  }                                                                                                \
  __KM_F T PREFIX##_cmpxchg(volatile SPACE T *p, T compare, T value) {                             \
    __atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);    \
    return compare;                                                                                \
  }
#define __KM_ATOMICS(T, PREFIX)                                                                    \
  __KM_ATOMIC(__global, T, PREFIX) __KM_ATOMIC(__local, T, PREFIX)                                 \
  __KM_GENERIC(__KM_ATOMIC, T, PREFIX)
__KM_ATOMICS(int, atomic) __KM_ATOMICS(uint, atomic)
__KM_ATOMICS(int, atom) __KM_ATOMICS(uint, atom) __KM_ATOMICS(long, atom) __KM_ATOMICS(ulong, atom)
#undef __KM_ATOMIC
#undef __KM_ATOMICS
#define __KM_EXCHANGE(SPACE, _)                                                                    \
  __KM_F float atomic_xchg(volatile SPACE float *p, float value) {                                 \
    return __builtin_astype(atomic_xchg((volatile SPACE int *)p, __builtin_astype(value, int)),    \
                            float);                                                                \
  }
__KM_EXCHANGE(__global, _) __KM_EXCHANGE(__local, _)
#undef __KM_EXCHANGE

#if __OPENCL_C_VERSION__ >= 200
// An order that is not relaxed is the strongest one: a fence on both sides.
__KM_F void __km_order(memory_order order) {
  if (order != memory_order_relaxed) __kernelmill_fence_device();
}
__KM_F void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                   memory_scope scope) {
  __km_order(order);
}
// A function in its three forms: with order and scope, with the order, with neither.
#define __KM_C11(R, NAME, PARAMETERS, ARGUMENTS, BODY)                                             \
  __KM_F R NAME##_explicit(__KM_LIST PARAMETERS, memory_order order, memory_scope scope) {         \
    __km_order(order);                                                                             \
    R result = BODY;                                                                               \
    __km_order(order);                                                                             \
    return result;                                                                                 \
  }                                                                                                \
  __KM_F R NAME##_explicit(__KM_LIST PARAMETERS, memory_order order) {                             \
    return NAME##_explicit(__KM_LIST ARGUMENTS, order, memory_scope_device);                       \
  }                                                                                                \
  __KM_F R NAME(__KM_LIST PARAMETERS) {                                                            \
    return NAME##_explicit(__KM_LIST ARGUMENTS, memory_order_seq_cst);                             \
  }
#define __KM_LIST(...) __VA_ARGS__
#define __KM_CHANGE(SPACE, A, T, NAME)                                                             \
  __KM_C11(T, atomic_fetch_##NAME, (volatile SPACE A *p, T value), (p, value),                     \
           __atomic_fetch_##NAME((volatile SPACE T *)p, value, __ATOMIC_RELAXED))
// Of every type: values cross as the bits of `U`.
#define __KM_PLACE(SPACE, A, T, U)                                                                 \
  __KM_C11(T, atomic_load, (volatile SPACE A *p), (p),                                             \
           __builtin_astype(__atomic_load_n((volatile SPACE U *)p, __ATOMIC_RELAXED), T))          \
  __KM_C11(T, atomic_exchange, (volatile SPACE A *p, T value), (p, value),                         \
           __builtin_astype(__atomic_exchange_n((volatile SPACE U *)p,                             \
                                                __builtin_astype(value, U), __ATOMIC_RELAXED), T)) \
  __KM_F void atomic_store_explicit(volatile SPACE A *p, T value, memory_order order,              \
                                    memory_scope scope) {                                          \
    __km_order(order);                                                                             \
    __atomic_store_n((volatile SPACE U *)p, __builtin_astype(value, U), __ATOMIC_RELAXED);         \
    __km_order(order);                                                                             \
  }                                                                                                \
  __KM_F void atomic_store_explicit(volatile SPACE A *p, T value, memory_order order) {            \
    atomic_store_explicit(p, value, order, memory_scope_device);                                   \
  }                                                                                                \
  __KM_F void atomic_store(volatile SPACE A *p, T value) {                                         \
    atomic_store_explicit(p, value, memory_order_seq_cst);                                         \
  }                                                                                                \
  __KM_F void atomic_init(volatile SPACE A *p, T value) {                                          \
    *(volatile SPACE T *)p = value;                                                                \
  }                                                                                                \
  __KM_COMPARE(SPACE, A, T, U, strong, __private) __KM_COMPARE(SPACE, A, T, U, weak, __private)    \
  __KM_COMPARE(SPACE, A, T, U, strong, __global) __KM_COMPARE(SPACE, A, T, U, weak, __global)      \
  __KM_COMPARE(SPACE, A, T, U, strong, __local) __KM_COMPARE(SPACE, A, T, U, weak, __local)
#define __KM_COMPARE(SPACE, A, T, U, KIND, OTHER)                                                  \
  __KM_F bool atomic_compare_exchange_##KIND##_explicit(volatile SPACE A *p, OTHER T *expected,    \
                                                        T value, memory_order success,             \
                                                        memory_order failure, memory_scope scope) {\
    __km_order(success);                                                                           \
    U there = __builtin_astype(*expected, U);                                                      \
    bool same = __atomic_compare_exchange_n((volatile SPACE U *)p, &there,                         \
                                            __builtin_astype(value, U), false, __ATOMIC_RELAXED,   \
                                            __ATOMIC_RELAXED);                                     \
    if (!same) *expected = __builtin_astype(there, T);                                             \
    __km_order(success);                                                                           \
    return same;                                                                                   \
  }                                                                                                \
  __KM_F bool atomic_compare_exchange_##KIND##_explicit(volatile SPACE A *p, OTHER T *expected,    \
                                                        T value, memory_order success,             \
                                                        memory_order failure) {                    \
    return atomic_compare_exchange_##KIND##_explicit(p, expected, value, success, failure,         \
                                                     memory_scope_device);                         \
  }                                                                                                \
  __KM_F bool atomic_compare_exchange_##KIND(volatile SPACE A *p, OTHER T *expected, T value) {    \
    return atomic_compare_exchange_##KIND##_explicit(p, expected, value, memory_order_seq_cst,     \
                                                     memory_order_seq_cst);                        \
  }
#define __KM_C11_INTEGER(SPACE, A, T)                                                              \
  __KM_PLACE(SPACE, A, T, T) __KM_CHANGE(SPACE, A, T, add) __KM_CHANGE(SPACE, A, T, sub)           \
  __KM_CHANGE(SPACE, A, T, and) __KM_CHANGE(SPACE, A, T, or) __KM_CHANGE(SPACE, A, T, xor)         \
  __KM_CHANGE(SPACE, A, T, min) __KM_CHANGE(SPACE, A, T, max)
#define __KM_C11_REAL(SPACE, A, T, U) __KM_PLACE(SPACE, A, T, U) __KM_CHANGE(SPACE, A, T, add)
#define __KM_SPACES(M, ...)                                                                        \
  M(__global, __VA_ARGS__) M(__local, __VA_ARGS__) __KM_GENERIC(M, __VA_ARGS__)
__KM_SPACES(__KM_C11_INTEGER, atomic_int, int) __KM_SPACES(__KM_C11_INTEGER, atomic_uint, uint)
__KM_SPACES(__KM_C11_REAL, atomic_float, float, uint)
#ifdef cl_khr_int64_base_atomics
__KM_SPACES(__KM_C11_INTEGER, atomic_long, long) __KM_SPACES(__KM_C11_INTEGER, atomic_ulong, ulong)
__KM_SPACES(__KM_C11_REAL, atomic_double, double, ulong)
#endif
#define __KM_FLAG(SPACE, _)                                                                        \
  __KM_C11(bool, atomic_flag_test_and_set, (volatile SPACE atomic_flag *p), (p),                   \
           __atomic_exchange_n((volatile SPACE int *)p, 1, __ATOMIC_RELAXED) != 0)                 \
  __KM_F void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order,        \
                                         memory_scope scope) {                                     \
    __km_order(order);                                                                             \
    __atomic_store_n((volatile SPACE int *)p, 0, __ATOMIC_RELAXED);                                \
    __km_order(order);                                                                             \
  }                                                                                                \
  __KM_F void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order) {      \
    atomic_flag_clear_explicit(p, order, memory_scope_device);                                     \
  }                                                                                                \
  __KM_F void atomic_flag_clear(volatile SPACE atomic_flag *p) {                                   \
    atomic_flag_clear_explicit(p, memory_order_seq_cst);                                           \
  }
__KM_SPACES(__KM_FLAG, _)
#undef __KM_C11
#undef __KM_C11_INTEGER
#undef __KM_C11_REAL
#undef __KM_CHANGE
#undef __KM_COMPARE
#undef __KM_FLAG
#undef __KM_LIST
#undef __KM_PLACE
#undef __KM_SPACES
#endif
