; Products of small matrices, on AMD's processors gfx11xx: 16 by 16, of which columns 8 to 15 repeat the
; others; of the rows that a lane has twice it keeps half.
define i32 @__kernelmill_tensor_layout(i32 %element) alwaysinline { %s = lshr i32 11, %element %b = and i32 %s, 1 %r = mul i32 %b, 3 ret i32 %r }
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half>, <16 x half>, <8 x float>) convergent
define void @__kernelmill_mma_f16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %lane = call i32 @__kernelmill_lane_id()
  %bit = and i32 %lane, 8
  %low = icmp eq i32 %bit, 0
  %own = load <4 x float>, ptr %c, align 4
  %first = select i1 %low, <4 x float> %own, <4 x float> zeroinitializer
  %second = select i1 %low, <4 x float> zeroinitializer, <4 x float> %own
  %c0 = shufflevector <4 x float> %first, <4 x float> %second, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %a0 = load <16 x half>, ptr %a, align 4
  %b0 = load <16 x half>, ptr %b, align 4
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half> %a0, <16 x half> %b0, <8 x float> %c0)
  %x = shufflevector <8 x float> %d, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %y = shufflevector <8 x float> %d, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %r = select i1 %low, <4 x float> %x, <4 x float> %y
  store <4 x float> %r, ptr %c, align 4
  ret void
}
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16(<16 x i16>, <16 x i16>, <8 x float>) convergent
define void @__kernelmill_mma_bf16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %lane = call i32 @__kernelmill_lane_id()
  %bit = and i32 %lane, 8
  %low = icmp eq i32 %bit, 0
  %own = load <4 x float>, ptr %c, align 4
  %first = select i1 %low, <4 x float> %own, <4 x float> zeroinitializer
  %second = select i1 %low, <4 x float> zeroinitializer, <4 x float> %own
  %c0 = shufflevector <4 x float> %first, <4 x float> %second, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %a0 = load <16 x i16>, ptr %a, align 4
  %b0 = load <16 x i16>, ptr %b, align 4
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16(<16 x i16> %a0, <16 x i16> %b0, <8 x float> %c0)
  %x = shufflevector <8 x float> %d, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %y = shufflevector <8 x float> %d, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %r = select i1 %low, <4 x float> %x, <4 x float> %y
  store <4 x float> %r, ptr %c, align 4
  ret void
}
declare <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32(i1, <4 x i32>, i1, <4 x i32>, <8 x i32>, i1) convergent
define void @__kernelmill_mma_i8(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %lane = call i32 @__kernelmill_lane_id()
  %bit = and i32 %lane, 8
  %low = icmp eq i32 %bit, 0
  %own = load <4 x i32>, ptr %c, align 4
  %first = select i1 %low, <4 x i32> %own, <4 x i32> zeroinitializer
  %second = select i1 %low, <4 x i32> zeroinitializer, <4 x i32> %own
  %c0 = shufflevector <4 x i32> %first, <4 x i32> %second, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %a0 = load <4 x i32>, ptr %a, align 4
  %ap = getelementptr i8, ptr %a, i64 16
  %a1 = load <4 x i32>, ptr %ap, align 4
  %b0 = load <4 x i32>, ptr %b, align 4
  %bp = getelementptr i8, ptr %b, i64 16
  %b1 = load <4 x i32>, ptr %bp, align 4
  %m = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32(i1 true, <4 x i32> %a0, i1 true, <4 x i32> %b0, <8 x i32> %c0, i1 false)
  %d = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32(i1 true, <4 x i32> %a1, i1 true, <4 x i32> %b1, <8 x i32> %m, i1 false)
  %x = shufflevector <8 x i32> %d, <8 x i32> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %y = shufflevector <8 x i32> %d, <8 x i32> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %r = select i1 %low, <4 x i32> %x, <4 x i32> %y
  store <4 x i32> %r, ptr %c, align 4
  ret void
}
define void @__kernelmill_mma_tf32(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_f64(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2_trans(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4_trans(ptr %d, ptr %row) alwaysinline { unreachable }
