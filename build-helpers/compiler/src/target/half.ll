; Half precision, as its bits, on processors that have it.
declare half @llvm.fma.f16(half, half, half)
define float @__kernelmill_f16_to_f32(i16 %b) alwaysinline { %h = bitcast i16 %b to half %r = fpext half %h to float ret float %r }
define i16 @__kernelmill_f32_to_f16(float %x) alwaysinline { %h = fptrunc float %x to half %r = bitcast half %h to i16 ret i16 %r }
define i16 @__kernelmill_f64_to_f16(double %x) alwaysinline { %h = fptrunc double %x to half %r = bitcast half %h to i16 ret i16 %r }
define i16 @__kernelmill_fma_f16(i16 %a, i16 %b, i16 %c) alwaysinline { %x = bitcast i16 %a to half %y = bitcast i16 %b to half %z = bitcast i16 %c to half %h = call half @llvm.fma.f16(half %x, half %y, half %z) %r = bitcast half %h to i16 ret i16 %r }

