// Atomic operations. They are relaxed, and seen by every thread of the device.
#pragma once

#define __KM_ATOMIC(NAME, BUILTIN, T)                                                              \
  __KM_D T NAME(T *address, T value) { return BUILTIN(address, value, __ATOMIC_RELAXED); }         \
  __KM_D T NAME##_block(T *address, T value) { return NAME(address, value); }                      \
  __KM_D T NAME##_system(T *address, T value) { return NAME(address, value); }
#define __KM_ATOMIC_INTEGERS(NAME, BUILTIN)                                                        \
  __KM_ATOMIC(NAME, BUILTIN, int)                                                                  \
  __KM_ATOMIC(NAME, BUILTIN, unsigned int)                                                         \
  __KM_ATOMIC(NAME, BUILTIN, unsigned long long)
__KM_ATOMIC_INTEGERS(atomicAdd, __atomic_fetch_add)
__KM_ATOMIC(atomicAdd, __atomic_fetch_add, float)
__KM_ATOMIC(atomicAdd, __atomic_fetch_add, double)
__KM_ATOMIC_INTEGERS(atomicSub, __atomic_fetch_sub)
__KM_ATOMIC_INTEGERS(atomicAnd, __atomic_fetch_and)
__KM_ATOMIC_INTEGERS(atomicOr, __atomic_fetch_or)
__KM_ATOMIC_INTEGERS(atomicXor, __atomic_fetch_xor)
__KM_ATOMIC_INTEGERS(atomicMin, __atomic_fetch_min)
__KM_ATOMIC(atomicMin, __atomic_fetch_min, long long)
__KM_ATOMIC_INTEGERS(atomicMax, __atomic_fetch_max)
__KM_ATOMIC(atomicMax, __atomic_fetch_max, long long)
__KM_ATOMIC_INTEGERS(atomicExch, __atomic_exchange_n)

__KM_D float __km_exchange(float *address, float value, int) {
  unsigned int bits = __builtin_bit_cast(unsigned int, value);
  bits = __atomic_exchange_n((unsigned int *)address, bits, __ATOMIC_RELAXED);
  return __builtin_bit_cast(float, bits);
}
__KM_ATOMIC(atomicExch, __km_exchange, float)

// Stores `value` where `compare` is, and gives what was there.
#define __KM_CAS(T)                                                                                \
  __KM_D T atomicCAS(T *address, T compare, T value) {                                             \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED,                 \
                                __ATOMIC_RELAXED);                                                 \
    return compare;                                                                                \
  }                                                                                                \
  __KM_D T atomicCAS_block(T *a, T compare, T value) { return atomicCAS(a, compare, value); }      \
  __KM_D T atomicCAS_system(T *a, T compare, T value) { return atomicCAS(a, compare, value); }
__KM_CAS(int)
__KM_CAS(unsigned int)
__KM_CAS(unsigned long long)
__KM_CAS(unsigned short)
#undef __KM_CAS

// Replaces a value by what `next` makes of it, by comparing and exchanging its bits.
template <class Bits, class T, class Next>
__KM_D T __km_atomic_update(T *address, Next next) {
  Bits before = __atomic_load_n((Bits *)address, __ATOMIC_RELAXED);
  Bits after;
  do {
    after = __builtin_bit_cast(Bits, next(__builtin_bit_cast(T, before)));
  } while (!__atomic_compare_exchange_n((Bits *)address, &before, after, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return __builtin_bit_cast(T, before);
}
__KM_D unsigned int atomicInc(unsigned int *address, unsigned int limit) {
  return __km_atomic_update<unsigned int>(
      address, [=] __device__(unsigned int old) { return old >= limit ? 0u : old + 1u; });
}
__KM_D unsigned int atomicDec(unsigned int *address, unsigned int limit) {
  return __km_atomic_update<unsigned int>(address, [=] __device__(unsigned int old) {
    return old == 0 || old > limit ? limit : old - 1u;
  });
}
#define __KM_ATOMIC_TURN(NAME)                                                                     \
  __KM_D unsigned int NAME##_block(unsigned int *a, unsigned int limit) { return NAME(a, limit); } \
  __KM_D unsigned int NAME##_system(unsigned int *a, unsigned int limit) { return NAME(a, limit); }
__KM_ATOMIC_TURN(atomicInc)
__KM_ATOMIC_TURN(atomicDec)
#undef __KM_ATOMIC_TURN
#undef __KM_ATOMIC
#undef __KM_ATOMIC_INTEGERS

// The atomic functions whose order and scope are arguments (CUDA 12.8). Each is seen by every thread of the device.
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
template <class T> __KM_D T __nv_atomic_load_n(T *address, int order, int = 4) {
  return __atomic_load_n(address, order);
}
template <class T> __KM_D void __nv_atomic_load(T *address, T *result, int order, int = 4) {
  *result = __atomic_load_n(address, order);
}
template <class T, class U> __KM_D void __nv_atomic_store_n(T *address, U value, int order, int = 4) {
  __atomic_store_n(address, (T)value, order);
}
template <class T> __KM_D void __nv_atomic_store(T *address, T *value, int order, int = 4) {
  __atomic_store_n(address, *value, order);
}
template <class T, class U>
__KM_D T __nv_atomic_exchange_n(T *address, U value, int order, int = 4) {
  return __atomic_exchange_n(address, (T)value, order);
}
template <class T, class U>
__KM_D bool __nv_atomic_compare_exchange_n(T *address, T *expected, U value, bool weak, int success,
                                           int failure, int = 4) {
  return __atomic_compare_exchange_n(address, expected, (T)value, weak, success, failure);
}
#define __KM_NV_ATOMIC(NAME)                                                                       \
  template <class T, class U>                                                                      \
  __KM_D T __nv_atomic_fetch_##NAME(T *address, U value, int order, int = 4) {                     \
    return __atomic_fetch_##NAME(address, (T)value, order);                                        \
  }                                                                                                \
  template <class T, class U>                                                                      \
  __KM_D void __nv_atomic_##NAME(T *address, U value, int order, int = 4) {                        \
    __atomic_fetch_##NAME(address, (T)value, order);                                               \
  }
__KM_NV_ATOMIC(add)
__KM_NV_ATOMIC(sub)
__KM_NV_ATOMIC(and)
__KM_NV_ATOMIC(or)
__KM_NV_ATOMIC(xor)
__KM_NV_ATOMIC(min)
__KM_NV_ATOMIC(max)
#undef __KM_NV_ATOMIC
__KM_D void __nv_atomic_thread_fence(int order, int = 4) { __atomic_thread_fence(order); }
