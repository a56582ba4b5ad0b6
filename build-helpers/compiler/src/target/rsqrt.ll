; One divided by the square root, rounded twice.
define float @__kernelmill_rsqrt_f32(float %x) alwaysinline { %s = call float @llvm.sqrt.f32(float %x) %r = fdiv float 1.0, %s ret float %r }

