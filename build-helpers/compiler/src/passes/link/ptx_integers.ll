; Single instructions of PTX on integers, special registers, and hints, behind `ptx_floats.ll` in one module.

declare i32 @__kernelmill_lane_id()

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
