; Single instructions of PTX on parts of words, and the smaller and the greater of two, behind `ptx_integers.ll` in one module.

define i32 @"ptx.mov.b32.pack"(i16 %a, i16 %b) alwaysinline {
  %low = zext i16 %a to i32
  %high = zext i16 %b to i32
  %shifted = shl i32 %high, 16
  %r = or i32 %low, %shifted
  ret i32 %r
}

define { i16, i16 } @"ptx.mov.b32.unpack"(i32 %a) alwaysinline {
  %low = trunc i32 %a to i16
  %shifted = lshr i32 %a, 16
  %high = trunc i32 %shifted to i16
  %first = insertvalue { i16, i16 } poison, i16 %low, 0
  %r = insertvalue { i16, i16 } %first, i16 %high, 1
  ret { i16, i16 } %r
}

define i64 @"ptx.mov.b64.pack"(i32 %a, i32 %b) alwaysinline {
  %low = zext i32 %a to i64
  %high = zext i32 %b to i64
  %shifted = shl i64 %high, 32
  %r = or i64 %low, %shifted
  ret i64 %r
}

define { i32, i32 } @"ptx.mov.b64.unpack"(i64 %a) alwaysinline {
  %low = trunc i64 %a to i32
  %shifted = lshr i64 %a, 32
  %high = trunc i64 %shifted to i32
  %first = insertvalue { i32, i32 } poison, i32 %low, 0
  %r = insertvalue { i32, i32 } %first, i32 %high, 1
  ret { i32, i32 } %r
}

define i32 @"ptx.min.u32"(i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.umin.i32(i32 %a, i32 %b)
  ret i32 %r
}

define i64 @"ptx.min.u64"(i64 %a, i64 %b) alwaysinline {
  %r = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  ret i64 %r
}

define i32 @"ptx.min.s32"(i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.smin.i32(i32 %a, i32 %b)
  ret i32 %r
}

define i64 @"ptx.min.s64"(i64 %a, i64 %b) alwaysinline {
  %r = call i64 @llvm.smin.i64(i64 %a, i64 %b)
  ret i64 %r
}

define i32 @"ptx.max.u32"(i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.umax.i32(i32 %a, i32 %b)
  ret i32 %r
}

define i64 @"ptx.max.u64"(i64 %a, i64 %b) alwaysinline {
  %r = call i64 @llvm.umax.i64(i64 %a, i64 %b)
  ret i64 %r
}

define i32 @"ptx.max.s32"(i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.smax.i32(i32 %a, i32 %b)
  ret i32 %r
}

define i64 @"ptx.max.s64"(i64 %a, i64 %b) alwaysinline {
  %r = call i64 @llvm.smax.i64(i64 %a, i64 %b)
  ret i64 %r
}

; A field of the length %c at the position %b; both count up to 255, and there is nothing above a word.
define i32 @"ptx.bfe.u32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %position = and i32 %b, 255
  %shift = call i32 @llvm.umin.i32(i32 %position, i32 32)
  %length = and i32 %c, 255
  %bits = call i32 @llvm.umin.i32(i32 %length, i32 32)
  %w = zext i32 %a to i64
  %s = zext i32 %shift to i64
  %n = zext i32 %bits to i64
  %field = lshr i64 %w, %s
  %end = shl i64 1, %n
  %mask = sub i64 %end, 1
  %x = and i64 %field, %mask
  %r = trunc i64 %x to i32
  ret i32 %r
}

; With the sign of its last bit, or of the word's where it ends above it.
define i32 @"ptx.bfe.s32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %position = and i32 %b, 255
  %shift = call i32 @llvm.umin.i32(i32 %position, i32 32)
  %length = and i32 %c, 255
  %bits = call i32 @llvm.umin.i32(i32 %length, i32 32)
  %w = sext i32 %a to i64
  %s = zext i32 %shift to i64
  %n = zext i32 %bits to i64
  %field = ashr i64 %w, %s
  %above = sub i64 64, %n
  %rest = and i64 %above, 63
  %up = shl i64 %field, %rest
  %down = ashr i64 %up, %rest
  %x = trunc i64 %down to i32
  %is = icmp eq i32 %bits, 0
  %r = select i1 %is, i32 0, i32 %x
  ret i32 %r
}

define i32 @"ptx.bfi.b32"(i32 %a, i32 %b, i32 %c, i32 %d) alwaysinline {
  %position = and i32 %c, 255
  %shift = call i32 @llvm.umin.i32(i32 %position, i32 32)
  %length = and i32 %d, 255
  %bits = call i32 @llvm.umin.i32(i32 %length, i32 32)
  %s = zext i32 %shift to i64
  %n = zext i32 %bits to i64
  %end = shl i64 1, %n
  %ones = sub i64 %end, 1
  %placed = shl i64 %ones, %s
  %mask = trunc i64 %placed to i32
  %w = zext i32 %a to i64
  %moved = shl i64 %w, %s
  %field = trunc i64 %moved to i32
  %x = xor i32 %field, %b
  %y = and i32 %x, %mask
  %r = xor i32 %y, %b
  ret i32 %r
}

; The byte of eight that three bits name, or, with the fourth, its sign in all bits.
define i32 @"ptx.prmt.byte"(i64 %bytes, i32 %selector) alwaysinline {
  %index = and i32 %selector, 7
  %shift = shl i32 %index, 3
  %s = zext i32 %shift to i64
  %moved = lshr i64 %bytes, %s
  %byte = trunc i64 %moved to i8
  %sign = ashr i8 %byte, 7
  %flag = and i32 %selector, 8
  %is = icmp ne i32 %flag, 0
  %x = select i1 %is, i8 %sign, i8 %byte
  %r = zext i8 %x to i32
  ret i32 %r
}

define i32 @"ptx.prmt.b32"(i32 %a, i32 %b, i32 %c) alwaysinline {
  %low = zext i32 %a to i64
  %high = zext i32 %b to i64
  %up = shl i64 %high, 32
  %bytes = or i64 %low, %up
  %c1 = lshr i32 %c, 4
  %c2 = lshr i32 %c, 8
  %c3 = lshr i32 %c, 12
  %b0 = call i32 @"ptx.prmt.byte"(i64 %bytes, i32 %c)
  %b1 = call i32 @"ptx.prmt.byte"(i64 %bytes, i32 %c1)
  %b2 = call i32 @"ptx.prmt.byte"(i64 %bytes, i32 %c2)
  %b3 = call i32 @"ptx.prmt.byte"(i64 %bytes, i32 %c3)
  %s1 = shl i32 %b1, 8
  %s2 = shl i32 %b2, 16
  %s3 = shl i32 %b3, 24
  %x = or i32 %b0, %s1
  %y = or i32 %s2, %s3
  %r = or i32 %x, %y
  ret i32 %r
}
