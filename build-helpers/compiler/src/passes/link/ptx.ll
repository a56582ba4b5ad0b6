; Single instructions of PTX, as functions with the results that the instructions have: `ptx.` and the instruction, and behind
; it the special register that it reads. Approximations are the exact functions, as those of CUDA's headers are.
; `.ftz`, `.rn` of sums and products, and the signs of what is the same for both, are not in the names.

declare float @__kernelmill_f16_to_f32(i16)
declare i16 @__kernelmill_f32_to_f16(float)
declare i16 @__kernelmill_fma_f16(i16, i16, i16)
declare i32 @__kernelmill_lane_id()
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

define i32 @"ptx.add.u32"(i32 %a, i32 %b) alwaysinline {
  %r = add i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.sub.u32"(i32 %a, i32 %b) alwaysinline {
  %r = sub i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.mul.lo.u32"(i32 %a, i32 %b) alwaysinline {
  %r = mul i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.mul.hi.u32"(i32 %a, i32 %b) alwaysinline {
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
  %z = mul i64 %x, %y
  %h = lshr i64 %z, 32
  %r = trunc i64 %h to i32
  ret i32 %r
}

define i32 @"ptx.mad.lo.u32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %x = mul i32 %a, %b
  %r = add i32 %x, %c
  ret i32 %r
}

define i64 @"ptx.mul.wide.u32"(i32 %a, i32 %b) alwaysinline {
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
  %r = mul i64 %x, %y
  ret i64 %r
}

define i64 @"ptx.mad.wide.u32"(i32 %a, i32 %b, i64 %c) alwaysinline {
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
  %z = mul i64 %x, %y
  %r = add i64 %z, %c
  ret i64 %r
}

define i32 @"ptx.shr.u32"(i32 %a, i32 %b) alwaysinline {
  %m = and i32 %b, 31
  %s = lshr i32 %a, %m
  %is = icmp ult i32 %b, 32
  %r = select i1 %is, i32 %s, i32 0
  ret i32 %r
}

define i32 @"ptx.shl.b32"(i32 %a, i32 %b) alwaysinline {
  %m = and i32 %b, 31
  %s = shl i32 %a, %m
  %is = icmp ult i32 %b, 32
  %r = select i1 %is, i32 %s, i32 0
  ret i32 %r
}

define i32 @"ptx.mul.hi.s32"(i32 %a, i32 %b) alwaysinline {
  %x = sext i32 %a to i64
  %y = sext i32 %b to i64
  %z = mul i64 %x, %y
  %h = lshr i64 %z, 32
  %r = trunc i64 %h to i32
  ret i32 %r
}

define i64 @"ptx.mul.wide.s32"(i32 %a, i32 %b) alwaysinline {
  %x = sext i32 %a to i64
  %y = sext i32 %b to i64
  %r = mul i64 %x, %y
  ret i64 %r
}

define i64 @"ptx.mad.wide.s32"(i32 %a, i32 %b, i64 %c) alwaysinline {
  %x = sext i32 %a to i64
  %y = sext i32 %b to i64
  %z = mul i64 %x, %y
  %r = add i64 %z, %c
  ret i64 %r
}

define i32 @"ptx.shr.s32"(i32 %a, i32 %b) alwaysinline {
  %m = call i32 @llvm.umin.i32(i32 %b, i32 31)
  %r = ashr i32 %a, %m
  ret i32 %r
}

define i32 @"ptx.and.b32"(i32 %a, i32 %b) alwaysinline {
  %r = and i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.or.b32"(i32 %a, i32 %b) alwaysinline {
  %r = or i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.xor.b32"(i32 %a, i32 %b) alwaysinline {
  %r = xor i32 %a, %b
  ret i32 %r
}

define i32 @"ptx.not.b32"(i32 %a) alwaysinline {
  %r = xor i32 %a, -1
  ret i32 %r
}

define i32 @"ptx.popc.b32"(i32 %a) alwaysinline {
  %r = call i32 @llvm.ctpop.i32(i32 %a)
  ret i32 %r
}

define i32 @"ptx.clz.b32"(i32 %a) alwaysinline {
  %r = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  ret i32 %r
}

define i32 @"ptx.bfind.u32"(i32 %a) alwaysinline {
  %z = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %r = sub i32 31, %z
  ret i32 %r
}

define i32 @"ptx.brev.b32"(i32 %a) alwaysinline {
  %r = call i32 @llvm.bitreverse.i32(i32 %a)
  ret i32 %r
}

define i64 @"ptx.add.u64"(i64 %a, i64 %b) alwaysinline {
  %r = add i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.sub.u64"(i64 %a, i64 %b) alwaysinline {
  %r = sub i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.mul.lo.u64"(i64 %a, i64 %b) alwaysinline {
  %r = mul i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.mul.hi.u64"(i64 %a, i64 %b) alwaysinline {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %z = mul i128 %x, %y
  %h = lshr i128 %z, 64
  %r = trunc i128 %h to i64
  ret i64 %r
}

define i64 @"ptx.mad.lo.u64"(i64 %a, i64 %b, i64 %c) alwaysinline {
  %x = mul i64 %a, %b
  %r = add i64 %x, %c
  ret i64 %r
}

define i64 @"ptx.shr.u64"(i64 %a, i32 %b) alwaysinline {
  %m = and i32 %b, 63
  %w = zext i32 %m to i64
  %s = lshr i64 %a, %w
  %is = icmp ult i32 %b, 64
  %r = select i1 %is, i64 %s, i64 0
  ret i64 %r
}

define i64 @"ptx.shl.b64"(i64 %a, i32 %b) alwaysinline {
  %m = and i32 %b, 63
  %w = zext i32 %m to i64
  %s = shl i64 %a, %w
  %is = icmp ult i32 %b, 64
  %r = select i1 %is, i64 %s, i64 0
  ret i64 %r
}

define i64 @"ptx.mul.hi.s64"(i64 %a, i64 %b) alwaysinline {
  %x = sext i64 %a to i128
  %y = sext i64 %b to i128
  %z = mul i128 %x, %y
  %h = lshr i128 %z, 64
  %r = trunc i128 %h to i64
  ret i64 %r
}

define i64 @"ptx.shr.s64"(i64 %a, i32 %b) alwaysinline {
  %m = call i32 @llvm.umin.i32(i32 %b, i32 63)
  %w = zext i32 %m to i64
  %r = ashr i64 %a, %w
  ret i64 %r
}

define i64 @"ptx.and.b64"(i64 %a, i64 %b) alwaysinline {
  %r = and i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.or.b64"(i64 %a, i64 %b) alwaysinline {
  %r = or i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.xor.b64"(i64 %a, i64 %b) alwaysinline {
  %r = xor i64 %a, %b
  ret i64 %r
}

define i64 @"ptx.not.b64"(i64 %a) alwaysinline {
  %r = xor i64 %a, -1
  ret i64 %r
}

define i32 @"ptx.popc.b64"(i64 %a) alwaysinline {
  %s = call i64 @llvm.ctpop.i64(i64 %a)
  %r = trunc i64 %s to i32
  ret i32 %r
}

define i32 @"ptx.clz.b64"(i64 %a) alwaysinline {
  %s = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  %r = trunc i64 %s to i32
  ret i32 %r
}

define i64 @"ptx.brev.b64"(i64 %a) alwaysinline {
  %r = call i64 @llvm.bitreverse.i64(i64 %a)
  ret i64 %r
}

define i32 @"ptx.shf.l.wrap.b32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %r = call i32 @llvm.fshl.i32(i32 %b, i32 %a, i32 %c)
  ret i32 %r
}

define i32 @"ptx.shf.r.wrap.b32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %r = call i32 @llvm.fshr.i32(i32 %b, i32 %a, i32 %c)
  ret i32 %r
}

; The table has a bit for each of the eight cases of three bits: 4a + 2b + c.
define i32 @"ptx.lop3.b32"(i32 %a, i32 %b, i32 %c, i32 %t) alwaysinline {
  %s0 = shl i32 %t, 31
  %m0 = ashr i32 %s0, 31
  %s1 = shl i32 %t, 30
  %m1 = ashr i32 %s1, 31
  %s2 = shl i32 %t, 29
  %m2 = ashr i32 %s2, 31
  %s3 = shl i32 %t, 28
  %m3 = ashr i32 %s3, 31
  %s4 = shl i32 %t, 27
  %m4 = ashr i32 %s4, 31
  %s5 = shl i32 %t, 26
  %m5 = ashr i32 %s5, 31
  %s6 = shl i32 %t, 25
  %m6 = ashr i32 %s6, 31
  %s7 = shl i32 %t, 24
  %m7 = ashr i32 %s7, 31
  %n0x = xor i32 %m0, %m1
  %n0y = and i32 %n0x, %c
  %n0 = xor i32 %m0, %n0y
  %n1x = xor i32 %m2, %m3
  %n1y = and i32 %n1x, %c
  %n1 = xor i32 %m2, %n1y
  %n2x = xor i32 %m4, %m5
  %n2y = and i32 %n2x, %c
  %n2 = xor i32 %m4, %n2y
  %n3x = xor i32 %m6, %m7
  %n3y = and i32 %n3x, %c
  %n3 = xor i32 %m6, %n3y
  %o0x = xor i32 %n0, %n1
  %o0y = and i32 %o0x, %b
  %o0 = xor i32 %n0, %o0y
  %o1x = xor i32 %n2, %n3
  %o1y = and i32 %o1x, %b
  %o1 = xor i32 %n2, %o1y
  %rx = xor i32 %o0, %o1
  %ry = and i32 %rx, %a
  %r = xor i32 %o0, %ry
  ret i32 %r
}

define i32 @"ptx.mov.u32.%laneid"() alwaysinline {
  %r = call i32 @__kernelmill_lane_id()
  ret i32 %r
}

define i32 @"ptx.mov.u32.%lanemask_eq"() alwaysinline {
  %lane = call i32 @__kernelmill_lane_id()
  %r = shl i32 1, %lane
  ret i32 %r
}

define i32 @"ptx.mov.u32.%lanemask_lt"() alwaysinline {
  %lane = call i32 @__kernelmill_lane_id()
  %own = shl i32 1, %lane
  %r = sub i32 %own, 1
  ret i32 %r
}

define i32 @"ptx.mov.u32.%lanemask_le"() alwaysinline {
  %lane = call i32 @__kernelmill_lane_id()
  %own = shl i32 2, %lane
  %r = sub i32 %own, 1
  ret i32 %r
}

define i32 @"ptx.mov.u32.%lanemask_ge"() alwaysinline {
  %lane = call i32 @__kernelmill_lane_id()
  %r = shl i32 -1, %lane
  ret i32 %r
}

define i32 @"ptx.mov.u32.%lanemask_gt"() alwaysinline {
  %lane = call i32 @__kernelmill_lane_id()
  %r = shl i32 -2, %lane
  ret i32 %r
}

define void @"ptx.prefetch.global.L1"(i64 %a) alwaysinline {
  ret void
}

define void @"ptx.prefetch.global.L2"(i64 %a) alwaysinline {
  ret void
}

define void @"ptx.griddepcontrol.wait"() alwaysinline {
  ret void
}

define void @"ptx.griddepcontrol.launch_dependents"() alwaysinline {
  ret void
}
