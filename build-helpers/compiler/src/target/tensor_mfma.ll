; Products of small matrices, on AMD's processors from gfx90a on: blocks of 4 by 4, 8 of the 16 for each
; warp of 32.
define i32 @__kernelmill_tensor_layout(i32 %element) alwaysinline { %s = lshr i32 15, %element %b = and i32 %s, 1 %r = mul i32 %b, 2 ret i32 %r }
declare <4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32) convergent
define void @__kernelmill_mma_f16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %d0 = load <4 x float>, ptr %c, align 4
  %a0 = load <4 x half>, ptr %a, align 4
  %b0 = load <4 x half>, ptr %b, align 4
  %d1 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16(<4 x half> %a0, <4 x half> %b0, <4 x float> %d0, i32 0, i32 0, i32 0)
  %ap1 = getelementptr i8, ptr %a, i64 8
  %a1 = load <4 x half>, ptr %ap1, align 4
  %bp1 = getelementptr i8, ptr %b, i64 8
  %b1 = load <4 x half>, ptr %bp1, align 4
  %d2 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16(<4 x half> %a1, <4 x half> %b1, <4 x float> %d1, i32 0, i32 0, i32 0)
  %ap2 = getelementptr i8, ptr %a, i64 16
  %a2 = load <4 x half>, ptr %ap2, align 4
  %bp2 = getelementptr i8, ptr %b, i64 16
  %b2 = load <4 x half>, ptr %bp2, align 4
  %d3 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16(<4 x half> %a2, <4 x half> %b2, <4 x float> %d2, i32 0, i32 0, i32 0)
  %ap3 = getelementptr i8, ptr %a, i64 24
  %a3 = load <4 x half>, ptr %ap3, align 4
  %bp3 = getelementptr i8, ptr %b, i64 24
  %b3 = load <4 x half>, ptr %bp3, align 4
  %d4 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16(<4 x half> %a3, <4 x half> %b3, <4 x float> %d3, i32 0, i32 0, i32 0)
  store <4 x float> %d4, ptr %c, align 4
  ret void
}
declare <4 x float> @llvm.amdgcn.mfma.f32.4x4x4bf16.1k(<4 x i16>, <4 x i16>, <4 x float>, i32, i32, i32) convergent
define void @__kernelmill_mma_bf16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %d0 = load <4 x float>, ptr %c, align 4
  %a0 = load <4 x i16>, ptr %a, align 4
  %b0 = load <4 x i16>, ptr %b, align 4
  %d1 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4bf16.1k(<4 x i16> %a0, <4 x i16> %b0, <4 x float> %d0, i32 0, i32 0, i32 0)
  %ap1 = getelementptr i8, ptr %a, i64 8
  %a1 = load <4 x i16>, ptr %ap1, align 4
  %bp1 = getelementptr i8, ptr %b, i64 8
  %b1 = load <4 x i16>, ptr %bp1, align 4
  %d2 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4bf16.1k(<4 x i16> %a1, <4 x i16> %b1, <4 x float> %d1, i32 0, i32 0, i32 0)
  %ap2 = getelementptr i8, ptr %a, i64 16
  %a2 = load <4 x i16>, ptr %ap2, align 4
  %bp2 = getelementptr i8, ptr %b, i64 16
  %b2 = load <4 x i16>, ptr %bp2, align 4
  %d3 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4bf16.1k(<4 x i16> %a2, <4 x i16> %b2, <4 x float> %d2, i32 0, i32 0, i32 0)
  %ap3 = getelementptr i8, ptr %a, i64 24
  %a3 = load <4 x i16>, ptr %ap3, align 4
  %bp3 = getelementptr i8, ptr %b, i64 24
  %b3 = load <4 x i16>, ptr %bp3, align 4
  %d4 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x4bf16.1k(<4 x i16> %a3, <4 x i16> %b3, <4 x float> %d3, i32 0, i32 0, i32 0)
  store <4 x float> %d4, ptr %c, align 4
  ret void
}
declare <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float, float, <4 x float>, i32, i32, i32) convergent
define void @__kernelmill_mma_tf32(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %d0 = load <4 x float>, ptr %c, align 4
  %a0 = load float, ptr %a, align 4
  %b0 = load float, ptr %b, align 4
  %d1 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a0, float %b0, <4 x float> %d0, i32 0, i32 0, i32 0)
  %ap1 = getelementptr i8, ptr %a, i64 4
  %a1 = load float, ptr %ap1, align 4
  %bp1 = getelementptr i8, ptr %b, i64 4
  %b1 = load float, ptr %bp1, align 4
  %d2 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a1, float %b1, <4 x float> %d1, i32 0, i32 0, i32 0)
  %ap2 = getelementptr i8, ptr %a, i64 8
  %a2 = load float, ptr %ap2, align 4
  %bp2 = getelementptr i8, ptr %b, i64 8
  %b2 = load float, ptr %bp2, align 4
  %d3 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a2, float %b2, <4 x float> %d2, i32 0, i32 0, i32 0)
  %ap3 = getelementptr i8, ptr %a, i64 12
  %a3 = load float, ptr %ap3, align 4
  %bp3 = getelementptr i8, ptr %b, i64 12
  %b3 = load float, ptr %bp3, align 4
  %d4 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a3, float %b3, <4 x float> %d3, i32 0, i32 0, i32 0)
  %ap4 = getelementptr i8, ptr %a, i64 16
  %a4 = load float, ptr %ap4, align 4
  %bp4 = getelementptr i8, ptr %b, i64 16
  %b4 = load float, ptr %bp4, align 4
  %d5 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a4, float %b4, <4 x float> %d4, i32 0, i32 0, i32 0)
  %ap5 = getelementptr i8, ptr %a, i64 20
  %a5 = load float, ptr %ap5, align 4
  %bp5 = getelementptr i8, ptr %b, i64 20
  %b5 = load float, ptr %bp5, align 4
  %d6 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a5, float %b5, <4 x float> %d5, i32 0, i32 0, i32 0)
  %ap6 = getelementptr i8, ptr %a, i64 24
  %a6 = load float, ptr %ap6, align 4
  %bp6 = getelementptr i8, ptr %b, i64 24
  %b6 = load float, ptr %bp6, align 4
  %d7 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a6, float %b6, <4 x float> %d6, i32 0, i32 0, i32 0)
  %ap7 = getelementptr i8, ptr %a, i64 28
  %a7 = load float, ptr %ap7, align 4
  %bp7 = getelementptr i8, ptr %b, i64 28
  %b7 = load float, ptr %bp7, align 4
  %d8 = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float %a7, float %b7, <4 x float> %d7, i32 0, i32 0, i32 0)
  store <4 x float> %d8, ptr %c, align 4
  ret void
}
declare <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32, i32, <4 x i32>, i32, i32, i32) convergent
define void @__kernelmill_mma_i8(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %d0 = load <4 x i32>, ptr %c, align 4
  %a0 = load i32, ptr %a, align 4
  %b0 = load i32, ptr %b, align 4
  %d1 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a0, i32 %b0, <4 x i32> %d0, i32 0, i32 0, i32 0)
  %ap1 = getelementptr i8, ptr %a, i64 4
  %a1 = load i32, ptr %ap1, align 4
  %bp1 = getelementptr i8, ptr %b, i64 4
  %b1 = load i32, ptr %bp1, align 4
  %d2 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a1, i32 %b1, <4 x i32> %d1, i32 0, i32 0, i32 0)
  %ap2 = getelementptr i8, ptr %a, i64 8
  %a2 = load i32, ptr %ap2, align 4
  %bp2 = getelementptr i8, ptr %b, i64 8
  %b2 = load i32, ptr %bp2, align 4
  %d3 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a2, i32 %b2, <4 x i32> %d2, i32 0, i32 0, i32 0)
  %ap3 = getelementptr i8, ptr %a, i64 12
  %a3 = load i32, ptr %ap3, align 4
  %bp3 = getelementptr i8, ptr %b, i64 12
  %b3 = load i32, ptr %bp3, align 4
  %d4 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a3, i32 %b3, <4 x i32> %d3, i32 0, i32 0, i32 0)
  %ap4 = getelementptr i8, ptr %a, i64 16
  %a4 = load i32, ptr %ap4, align 4
  %bp4 = getelementptr i8, ptr %b, i64 16
  %b4 = load i32, ptr %bp4, align 4
  %d5 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a4, i32 %b4, <4 x i32> %d4, i32 0, i32 0, i32 0)
  %ap5 = getelementptr i8, ptr %a, i64 20
  %a5 = load i32, ptr %ap5, align 4
  %bp5 = getelementptr i8, ptr %b, i64 20
  %b5 = load i32, ptr %bp5, align 4
  %d6 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a5, i32 %b5, <4 x i32> %d5, i32 0, i32 0, i32 0)
  %ap6 = getelementptr i8, ptr %a, i64 24
  %a6 = load i32, ptr %ap6, align 4
  %bp6 = getelementptr i8, ptr %b, i64 24
  %b6 = load i32, ptr %bp6, align 4
  %d7 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a6, i32 %b6, <4 x i32> %d6, i32 0, i32 0, i32 0)
  %ap7 = getelementptr i8, ptr %a, i64 28
  %a7 = load i32, ptr %ap7, align 4
  %bp7 = getelementptr i8, ptr %b, i64 28
  %b7 = load i32, ptr %bp7, align 4
  %d8 = call <4 x i32> @llvm.amdgcn.mfma.i32.4x4x4i8(i32 %a7, i32 %b7, <4 x i32> %d7, i32 0, i32 0, i32 0)
  store <4 x i32> %d8, ptr %c, align 4
  ret void
}
define void @__kernelmill_mma_f64(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2_trans(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4_trans(ptr %d, ptr %row) alwaysinline { unreachable }
