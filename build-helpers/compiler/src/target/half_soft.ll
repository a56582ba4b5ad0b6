; Half precision, as its bits, without instructions for it. Nothing branches, so that loops over
; threads are still vectorised.
; The 15 bits of the magnitude, moved up, are a number 2^-112 times too small, subnormals among
; them; infinities and NaN get the greatest exponent.
define float @__kernelmill_f16_to_f32(i16 %b) alwaysinline {
  %w = zext i16 %b to i32
  %magnitude = and i32 %w, 32767
  %moved = shl i32 %magnitude, 13
  %small = bitcast i32 %moved to float
  %scaled = fmul float %small, 0x46F0000000000000
  %bits = bitcast float %scaled to i32
  %special = icmp uge i32 %magnitude, 31744
  %greatest = or i32 %moved, 2139095040
  %finite = select i1 %special, i32 %greatest, i32 %bits
  %sign = and i32 %w, 32768
  %top = shl i32 %sign, 16
  %all = or i32 %finite, %top
  %r = bitcast i32 %all to float
  ret float %r
}
; Normal numbers are rounded by adding half of the last place, or a little less where the place is
; even; subnormal ones by adding 0.5, whose last place is theirs.
define i16 @__kernelmill_f32_to_f16(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %shifted = lshr i32 %bits, 16
  %sign = and i32 %shifted, 32768
  %magnitude = and i32 %bits, 2147483647
  %last = lshr i32 %magnitude, 13
  %odd = and i32 %last, 1
  %up = add i32 %magnitude, 4095
  %rounded = add i32 %up, %odd
  %rebased = sub i32 %rounded, 939524096
  %normal = lshr i32 %rebased, 13
  %number = bitcast i32 %magnitude to float
  %aligned = fadd float %number, 5.000000e-01
  %alignedbits = bitcast float %aligned to i32
  %subnormal = sub i32 %alignedbits, 1056964608
  %tiny = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %tiny, i32 %subnormal, i32 %normal
  %huge = icmp uge i32 %magnitude, 1199566848
  %clamped = select i1 %huge, i32 31744, i32 %finite
  %nan = icmp ugt i32 %magnitude, 2139095040
  %payload = lshr i32 %magnitude, 13
  %part = and i32 %payload, 1023
  %quiet = or i32 %part, 32256
  %value = select i1 %nan, i32 %quiet, i32 %clamped
  %signed = or i32 %value, %sign
  %r = trunc i32 %signed to i16
  ret i16 %r
}
; By way of a float that is rounded to odd, so that it is rounded only once.
define i16 @__kernelmill_f64_to_f16(double %x) alwaysinline {
  %f = fptrunc double %x to float
  %back = fpext float %f to double
  %exact = fcmp ueq double %back, %x
  %bits = bitcast float %f to i32
  %a = bitcast double %x to i64
  %b = bitcast double %back to i64
  %am = and i64 %a, 9223372036854775807
  %bm = and i64 %b, 9223372036854775807
  %over = icmp ugt i64 %bm, %am
  %down = sub i32 %bits, 1
  %toward = select i1 %over, i32 %down, i32 %bits
  %sticky = or i32 %toward, 1
  %odd = select i1 %exact, i32 %bits, i32 %sticky
  %o = bitcast i32 %odd to float
  %r = call i16 @__kernelmill_f32_to_f16(float %o)
  ret i16 %r
}
; The product of two is exact in double precision.
define i16 @__kernelmill_fma_f16(i16 %a, i16 %b, i16 %c) alwaysinline {
  %x = call float @__kernelmill_f16_to_f32(i16 %a)
  %y = call float @__kernelmill_f16_to_f32(i16 %b)
  %z = call float @__kernelmill_f16_to_f32(i16 %c)
  %dx = fpext float %x to double
  %dy = fpext float %y to double
  %dz = fpext float %z to double
  %p = fmul double %dx, %dy
  %s = fadd double %p, %dz
  %r = call i16 @__kernelmill_f64_to_f16(double %s)
  ret i16 %r
}

