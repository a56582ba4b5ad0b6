; Products of small matrices, on NVIDIA's processors from sm_80 on.
define i32 @__kernelmill_tensor_layout(i32 %element) alwaysinline { %s = lshr i32 31, %element %b = and i32 %s, 1 %r = mul i32 %b, 1 ret i32 %r }
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float) convergent
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
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %b0, <2 x half> %b1, float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  store float %d0, ptr %c
  %d1 = extractvalue { float, float, float, float } %d, 1
  store float %d1, ptr %cp1
  %d2 = extractvalue { float, float, float, float } %d, 2
  store float %d2, ptr %cp2
  %d3 = extractvalue { float, float, float, float } %d, 3
  store float %d3, ptr %cp3
  ret void
}
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float) convergent
define void @__kernelmill_mma_bf16(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
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
  %c0 = load float, ptr %c
  %cp1 = getelementptr i8, ptr %c, i64 4
  %c1 = load float, ptr %cp1
  %cp2 = getelementptr i8, ptr %c, i64 8
  %c2 = load float, ptr %cp2
  %cp3 = getelementptr i8, ptr %c, i64 12
  %c3 = load float, ptr %cp3
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  store float %d0, ptr %c
  %d1 = extractvalue { float, float, float, float } %d, 1
  store float %d1, ptr %cp1
  %d2 = extractvalue { float, float, float, float } %d, 2
  store float %d2, ptr %cp2
  %d3 = extractvalue { float, float, float, float } %d, 3
  store float %d3, ptr %cp3
  ret void
}
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float) convergent
define void @__kernelmill_mma_tf32(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
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
  %c0 = load float, ptr %c
  %cp1 = getelementptr i8, ptr %c, i64 4
  %c1 = load float, ptr %cp1
  %cp2 = getelementptr i8, ptr %c, i64 8
  %c2 = load float, ptr %cp2
  %cp3 = getelementptr i8, ptr %c, i64 12
  %c3 = load float, ptr %cp3
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  store float %d0, ptr %c
  %d1 = extractvalue { float, float, float, float } %d, 1
  store float %d1, ptr %cp1
  %d2 = extractvalue { float, float, float, float } %d, 2
  store float %d2, ptr %cp2
  %d3 = extractvalue { float, float, float, float } %d, 3
  store float %d3, ptr %cp3
  ret void
}
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) convergent
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
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, i32 %c0, i32 %c1, i32 %c2, i32 %c3)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  store i32 %d0, ptr %c
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  store i32 %d1, ptr %cp1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  store i32 %d2, ptr %cp2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  store i32 %d3, ptr %cp3
  ret void
}
declare { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double) convergent
define void @__kernelmill_mma_f64(ptr %c, ptr %a, ptr %b) alwaysinline convergent {
  %a0 = load double, ptr %a
  %b0 = load double, ptr %b
  %c0 = load double, ptr %c
  %cp1 = getelementptr i8, ptr %c, i64 8
  %c1 = load double, ptr %cp1
  %d = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double %a0, double %b0, double %c0, double %c1)
  %d0 = extractvalue { double, double } %d, 0
  store double %d0, ptr %c
  %d1 = extractvalue { double, double } %d, 1
  store double %d1, ptr %cp1
  ret void
}
