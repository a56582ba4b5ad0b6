// Loads and stores that say how memory is to be cached, and the C library's memory functions.
#pragma once

#define __KM_LOAD(NAME)                                                                            \
  template <class T> __KM_D T NAME(const T *p) { return *p; }
__KM_LOAD(__ldg) __KM_LOAD(__ldcg) __KM_LOAD(__ldca) __KM_LOAD(__ldcs) __KM_LOAD(__ldlu)
__KM_LOAD(__ldcv)
#undef __KM_LOAD
#define __KM_STORE(NAME)                                                                           \
  template <class T> __KM_D void NAME(T *p, T value) { *p = value; }
__KM_STORE(__stwb) __KM_STORE(__stcg) __KM_STORE(__stcs) __KM_STORE(__stwt)
#undef __KM_STORE

__KM_D void *memcpy(void *to, const void *from, __km_size bytes) {
  return __builtin_memcpy(to, from, bytes);
}
__KM_D void *memmove(void *to, const void *from, __km_size bytes) {
  return __builtin_memmove(to, from, bytes);
}
__KM_D void *memset(void *to, int value, __km_size bytes) {
  return __builtin_memset(to, value, bytes);
}
__KM_D int memcmp(const void *left, const void *right, __km_size bytes) {
  return __builtin_memcmp(left, right, bytes);
}
extern "C" {
__device__ void *malloc(__km_size) __attribute__((nothrow));
__device__ void free(void *) __attribute__((nothrow));
}

// Addresses of one kind of memory, as numbers: what inline PTX wants of shared memory.
__KM_D __km_size __cvta_generic_to_shared(const void *p) {
  return (__km_size)(const __attribute__((address_space(3))) void *)p;
}
__KM_D void *__cvta_shared_to_generic(__km_size p) {
  return (void *)(__attribute__((address_space(3))) void *)p;
}
__KM_D __km_size __cvta_generic_to_global(const void *p) { return (__km_size)p; }
__KM_D void *__cvta_global_to_generic(__km_size p) { return (void *)p; }
