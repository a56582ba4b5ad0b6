// Atomic operations on integers of 32 and 64 bits. They are relaxed, and seen by every work-item of the
// device.
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
#define __KM_ATOMICS(T, PREFIX) __KM_ATOMIC(__global, T, PREFIX) __KM_ATOMIC(__local, T, PREFIX)
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
