/* Read before a source that becomes SPIR-V: LLVM, up to version 22 at least, writes `OpAny` and `OpAll` of integers for
   these two functions, which take truth values only. */
#pragma clang system_header
#define KM_SIGNS static int __attribute__((overloadable, always_inline))
#define KM_WIDTHS(NAME, OPERATION, T) \
  KM_SIGNS NAME(T x) { return x < 0; } \
  KM_SIGNS NAME(T##2 x) { return NAME((T)(x.lo OPERATION x.hi)); } \
  KM_SIGNS NAME(T##3 x) { return NAME((T)(x.x OPERATION x.y OPERATION x.z)); } \
  KM_SIGNS NAME(T##4 x) { return NAME((T##2)(x.lo OPERATION x.hi)); } \
  KM_SIGNS NAME(T##8 x) { return NAME((T##4)(x.lo OPERATION x.hi)); } \
  KM_SIGNS NAME(T##16 x) { return NAME((T##8)(x.lo OPERATION x.hi)); }
#define KM_TYPES(NAME, OPERATION) \
  KM_WIDTHS(NAME, OPERATION, char) KM_WIDTHS(NAME, OPERATION, short) \
  KM_WIDTHS(NAME, OPERATION, int) KM_WIDTHS(NAME, OPERATION, long)
KM_TYPES(__kernelmill_any, |)
KM_TYPES(__kernelmill_all, &)
#undef KM_TYPES
#undef KM_WIDTHS
#undef KM_SIGNS
#define any(x) __kernelmill_any(x)
#define all(x) __kernelmill_all(x)
