; Single instructions of PTX, as functions with the results that the instructions have: `ptx.` and the instruction, and behind
; it the special register that it reads. Approximations are the exact functions, as those of CUDA's headers are.
; `.ftz`, `.rn` of sums and products, and the signs of what is the same for both, are not in the names.

declare float @__kernelmill_f16_to_f32(i16)
declare i16 @__kernelmill_f32_to_f16(float)
declare i16 @__kernelmill_fma_f16(i16, i16, i16)
declare float @tanhf(float)
declare float @exp2f(float)
declare float @log2f(float)
declare float @sinf(float)
declare float @cosf(float)

define float @"ptx.ex2.approx.f32"(float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}

define float @"ptx.lg2.approx.f32"(float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}

define float @"ptx.sin.approx.f32"(float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}

define float @"ptx.cos.approx.f32"(float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}

define float @"ptx.rcp.approx.f32"(float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}

define float @"ptx.sqrt.approx.f32"(float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}

define float @"ptx.rsqrt.approx.f32"(float %a) alwaysinline {
  %s = call float @llvm.sqrt.f32(float %a)
  %r = fdiv float 1.0, %s
  ret float %r
}

define float @"ptx.tanh.approx.f32"(float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}

define float @"ptx.rcp.rn.f32"(float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}

define float @"ptx.sqrt.rn.f32"(float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}

define float @"ptx.div.rn.f32"(float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}

define float @"ptx.add.f32"(float %a, float %b) alwaysinline {
  %r = fadd float %a, %b
  ret float %r
}

define float @"ptx.sub.f32"(float %a, float %b) alwaysinline {
  %r = fsub float %a, %b
  ret float %r
}

define float @"ptx.mul.f32"(float %a, float %b) alwaysinline {
  %r = fmul float %a, %b
  ret float %r
}

define float @"ptx.fma.rn.f32"(float %a, float %b, float %c) alwaysinline {
  %r = call float @llvm.fma.f32(float %a, float %b, float %c)
  ret float %r
}

define double @"ptx.rcp.rn.f64"(double %a) alwaysinline {
  %r = fdiv double 1.0, %a
  ret double %r
}

define double @"ptx.sqrt.rn.f64"(double %a) alwaysinline {
  %r = call double @llvm.sqrt.f64(double %a)
  ret double %r
}

define double @"ptx.div.rn.f64"(double %a, double %b) alwaysinline {
  %r = fdiv double %a, %b
  ret double %r
}

define double @"ptx.add.f64"(double %a, double %b) alwaysinline {
  %r = fadd double %a, %b
  ret double %r
}

define double @"ptx.sub.f64"(double %a, double %b) alwaysinline {
  %r = fsub double %a, %b
  ret double %r
}

define double @"ptx.mul.f64"(double %a, double %b) alwaysinline {
  %r = fmul double %a, %b
  ret double %r
}

define double @"ptx.fma.rn.f64"(double %a, double %b, double %c) alwaysinline {
  %r = call double @llvm.fma.f64(double %a, double %b, double %c)
  ret double %r
}

define float @"ptx.cvt.f32.f16"(i16 %a) alwaysinline {
  %r = call float @__kernelmill_f16_to_f32(i16 %a)
  ret float %r
}

define i16 @"ptx.cvt.rn.f16.f32"(float %a) alwaysinline {
  %r = call i16 @__kernelmill_f32_to_f16(float %a)
  ret i16 %r
}

define i16 @"ptx.add.f16"(i16 %a, i16 %b) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @__kernelmill_f16_to_f32(i16 %b)
  %z = fadd float %x, %y
  %r = call i16 @__kernelmill_f32_to_f16(float %z)
  ret i16 %r
}

define i16 @"ptx.sub.f16"(i16 %a, i16 %b) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @__kernelmill_f16_to_f32(i16 %b)
  %z = fsub float %x, %y
  %r = call i16 @__kernelmill_f32_to_f16(float %z)
  ret i16 %r
}

define i16 @"ptx.mul.f16"(i16 %a, i16 %b) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @__kernelmill_f16_to_f32(i16 %b)
  %z = fmul float %x, %y
  %r = call i16 @__kernelmill_f32_to_f16(float %z)
  ret i16 %r
}

define i16 @"ptx.fma.rn.f16"(i16 %a, i16 %b, i16 %c) alwaysinline {
  %r = call i16 @__kernelmill_fma_f16(i16 %a, i16 %b, i16 %c)
  ret i16 %r
}

define i32 @"ptx.add.f16x2"(i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %bl = trunc i32 %b to i16
  %bs = lshr i32 %b, 16
  %bh = trunc i32 %bs to i16
  %rl = call i16 @"ptx.add.f16"(i16 %al, i16 %bl)
  %rh = call i16 @"ptx.add.f16"(i16 %ah, i16 %bh)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define i32 @"ptx.sub.f16x2"(i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %bl = trunc i32 %b to i16
  %bs = lshr i32 %b, 16
  %bh = trunc i32 %bs to i16
  %rl = call i16 @"ptx.sub.f16"(i16 %al, i16 %bl)
  %rh = call i16 @"ptx.sub.f16"(i16 %ah, i16 %bh)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define i32 @"ptx.mul.f16x2"(i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %bl = trunc i32 %b to i16
  %bs = lshr i32 %b, 16
  %bh = trunc i32 %bs to i16
  %rl = call i16 @"ptx.mul.f16"(i16 %al, i16 %bl)
  %rh = call i16 @"ptx.mul.f16"(i16 %ah, i16 %bh)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define i32 @"ptx.fma.rn.f16x2"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %bl = trunc i32 %b to i16
  %bs = lshr i32 %b, 16
  %bh = trunc i32 %bs to i16
  %cl = trunc i32 %c to i16
  %cs = lshr i32 %c, 16
  %ch = trunc i32 %cs to i16
  %rl = call i16 @"ptx.fma.rn.f16"(i16 %al, i16 %bl, i16 %cl)
  %rh = call i16 @"ptx.fma.rn.f16"(i16 %ah, i16 %bh, i16 %ch)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

; The first is the upper one.
define i32 @"ptx.cvt.rn.f16x2.f32"(float %a, float %b) alwaysinline {
  %x = call i16 @__kernelmill_f32_to_f16(float %a)
  %y = call i16 @__kernelmill_f32_to_f16(float %b)
  %high = zext i16 %x to i32
  %low = zext i16 %y to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define i16 @"ptx.tanh.approx.f16"(i16 %a) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @tanhf(float %x)
  %r = call i16 @__kernelmill_f32_to_f16(float %y)
  ret i16 %r
}

define i32 @"ptx.tanh.approx.f16x2"(i32 %a) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %rl = call i16 @"ptx.tanh.approx.f16"(i16 %al)
  %rh = call i16 @"ptx.tanh.approx.f16"(i16 %ah)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define i16 @"ptx.ex2.approx.f16"(i16 %a) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @exp2f(float %x)
  %r = call i16 @__kernelmill_f32_to_f16(float %y)
  ret i16 %r
}

define i32 @"ptx.ex2.approx.f16x2"(i32 %a) alwaysinline {
  %al = trunc i32 %a to i16
  %as = lshr i32 %a, 16
  %ah = trunc i32 %as to i16
  %rl = call i16 @"ptx.ex2.approx.f16"(i16 %al)
  %rh = call i16 @"ptx.ex2.approx.f16"(i16 %ah)
  %low = zext i16 %rl to i32
  %high = zext i16 %rh to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}
