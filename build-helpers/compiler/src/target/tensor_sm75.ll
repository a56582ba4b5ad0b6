; Products of small matrices, on sm_75 and its like: of shapes that are parts of the interface's.
define i32 @__kernelmill_tensor_layout(i32 %element) alwaysinline { %s = lshr i32 9, %element %b = and i32 %s, 1 %r = mul i32 %b, 1 ret i32 %r }
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, float, float, float, float) convergent
define void @__kernelmill_mma_f16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %a0 = load <2 x half>, ptr %a
  %ap1 = getelementptr i8, ptr %a, i64 4
  %a1 = load <2 x half>, ptr %ap1
  %ap2 = getelementptr i8, ptr %a, i64 8
  %a2 = load <2 x half>, ptr %ap2
  %ap3 = getelementptr i8, ptr %a, i64 12
  %a3 = load <2 x half>, ptr %ap3
  %b0 = load <2 x half>, ptr %b
  %bp1 = getelementptr i8, ptr %b, i64 4
  %b1 = load <2 x half>, ptr %bp1
  %c0 = load float, ptr %c
  %cp1 = getelementptr i8, ptr %c, i64 4
  %c1 = load float, ptr %cp1
  %cp2 = getelementptr i8, ptr %c, i64 8
  %c2 = load float, ptr %cp2
  %cp3 = getelementptr i8, ptr %c, i64 12
  %c3 = load float, ptr %cp3
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %a0, <2 x half> %a1, <2 x half> %b0, float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %e = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %a2, <2 x half> %a3, <2 x half> %b1, float %d0, float %d1, float %d2, float %d3)
  %e0 = extractvalue { float, float, float, float } %e, 0
  store float %e0, ptr %c
  %e1 = extractvalue { float, float, float, float } %e, 1
  store float %e1, ptr %cp1
  %e2 = extractvalue { float, float, float, float } %e, 2
  store float %e2, ptr %cp2
  %e3 = extractvalue { float, float, float, float } %e, 3
  store float %e3, ptr %cp3
  ret void
}
declare { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32, i32, i32, i32) convergent
define void @__kernelmill_mma_i8(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %a0 = load i32, ptr %a
  %ap1 = getelementptr i8, ptr %a, i64 4
  %a1 = load i32, ptr %ap1
  %ap2 = getelementptr i8, ptr %a, i64 8
  %a2 = load i32, ptr %ap2
  %ap3 = getelementptr i8, ptr %a, i64 12
  %a3 = load i32, ptr %ap3
  %b0 = load i32, ptr %b
  %bp1 = getelementptr i8, ptr %b, i64 4
  %b1 = load i32, ptr %bp1
  %c0 = load i32, ptr %c
  %cp1 = getelementptr i8, ptr %c, i64 4
  %c1 = load i32, ptr %cp1
  %cp2 = getelementptr i8, ptr %c, i64 8
  %c2 = load i32, ptr %cp2
  %cp3 = getelementptr i8, ptr %c, i64 12
  %c3 = load i32, ptr %cp3
  %d00 = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %a0, i32 %b0, i32 %c0, i32 %c1)
  %d00x = extractvalue { i32, i32 } %d00, 0
  %d00y = extractvalue { i32, i32 } %d00, 1
  %d01 = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %a2, i32 %b1, i32 %d00x, i32 %d00y)
  %d01x = extractvalue { i32, i32 } %d01, 0
  %d01y = extractvalue { i32, i32 } %d01, 1
  store i32 %d01x, ptr %c
  store i32 %d01y, ptr %cp1
  %d10 = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %a1, i32 %b0, i32 %c2, i32 %c3)
  %d10x = extractvalue { i32, i32 } %d10, 0
  %d10y = extractvalue { i32, i32 } %d10, 1
  %d11 = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %a3, i32 %b1, i32 %d10x, i32 %d10y)
  %d11x = extractvalue { i32, i32 } %d11, 0
  %d11y = extractvalue { i32, i32 } %d11, 1
  store i32 %d11x, ptr %cp2
  store i32 %d11y, ptr %cp3
  ret void
}
define void @__kernelmill_mma_bf16(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_tf32(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_f64(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
