; Operations on floating-point numbers that every target has instructions for.
declare float @llvm.sqrt.f32(float)
declare double @llvm.sqrt.f64(double)
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.fma.f64(double, double, double)
declare float @llvm.floor.f32(float)
declare double @llvm.floor.f64(double)
declare float @llvm.ceil.f32(float)
declare double @llvm.ceil.f64(double)
declare float @llvm.trunc.f32(float)
declare double @llvm.trunc.f64(double)
declare float @llvm.rint.f32(float)
declare double @llvm.rint.f64(double)
declare float @llvm.fabs.f32(float)
declare double @llvm.fabs.f64(double)
declare float @llvm.copysign.f32(float, float)
declare double @llvm.copysign.f64(double, double)
declare float @llvm.minnum.f32(float, float)
declare double @llvm.minnum.f64(double, double)
declare float @llvm.maxnum.f32(float, float)
declare double @llvm.maxnum.f64(double, double)
define float @__kernelmill_sqrt_f32(float %x) alwaysinline { %r = call float @llvm.sqrt.f32(float %x) ret float %r }
define double @__kernelmill_sqrt_f64(double %x) alwaysinline { %r = call double @llvm.sqrt.f64(double %x) ret double %r }
define float @__kernelmill_fma_f32(float %a, float %b, float %c) alwaysinline { %r = call float @llvm.fma.f32(float %a, float %b, float %c) ret float %r }
define double @__kernelmill_fma_f64(double %a, double %b, double %c) alwaysinline { %r = call double @llvm.fma.f64(double %a, double %b, double %c) ret double %r }
define float @__kernelmill_floor_f32(float %x) alwaysinline { %r = call float @llvm.floor.f32(float %x) ret float %r }
define double @__kernelmill_floor_f64(double %x) alwaysinline { %r = call double @llvm.floor.f64(double %x) ret double %r }
define float @__kernelmill_ceil_f32(float %x) alwaysinline { %r = call float @llvm.ceil.f32(float %x) ret float %r }
define double @__kernelmill_ceil_f64(double %x) alwaysinline { %r = call double @llvm.ceil.f64(double %x) ret double %r }
define float @__kernelmill_trunc_f32(float %x) alwaysinline { %r = call float @llvm.trunc.f32(float %x) ret float %r }
define double @__kernelmill_trunc_f64(double %x) alwaysinline { %r = call double @llvm.trunc.f64(double %x) ret double %r }
define float @__kernelmill_rint_f32(float %x) alwaysinline { %r = call float @llvm.rint.f32(float %x) ret float %r }
define double @__kernelmill_rint_f64(double %x) alwaysinline { %r = call double @llvm.rint.f64(double %x) ret double %r }
define float @__kernelmill_fabs_f32(float %x) alwaysinline { %r = call float @llvm.fabs.f32(float %x) ret float %r }
define double @__kernelmill_fabs_f64(double %x) alwaysinline { %r = call double @llvm.fabs.f64(double %x) ret double %r }
define float @__kernelmill_copysign_f32(float %x, float %y) alwaysinline { %r = call float @llvm.copysign.f32(float %x, float %y) ret float %r }
define double @__kernelmill_copysign_f64(double %x, double %y) alwaysinline { %r = call double @llvm.copysign.f64(double %x, double %y) ret double %r }
define float @__kernelmill_minnum_f32(float %x, float %y) alwaysinline { %r = call float @llvm.minnum.f32(float %x, float %y) ret float %r }
define double @__kernelmill_minnum_f64(double %x, double %y) alwaysinline { %r = call double @llvm.minnum.f64(double %x, double %y) ret double %r }
define float @__kernelmill_maxnum_f32(float %x, float %y) alwaysinline { %r = call float @llvm.maxnum.f32(float %x, float %y) ret float %r }
define double @__kernelmill_maxnum_f64(double %x, double %y) alwaysinline { %r = call double @llvm.maxnum.f64(double %x, double %y) ret double %r }
; Fused where the target has an instruction for it that is as fast as a multiplication.
declare float @llvm.fmuladd.f32(float, float, float)
declare double @llvm.fmuladd.f64(double, double, double)
define float @__kernelmill_fmuladd_f32(float %a, float %b, float %c) alwaysinline { %r = call float @llvm.fmuladd.f32(float %a, float %b, float %c) ret float %r }
define double @__kernelmill_fmuladd_f64(double %a, double %b, double %c) alwaysinline { %r = call double @llvm.fmuladd.f64(double %a, double %b, double %c) ret double %r }
define double @__kernelmill_rsqrt_f64(double %x) alwaysinline { %s = call double @llvm.sqrt.f64(double %x) %r = fdiv double 1.0, %s ret double %r }

