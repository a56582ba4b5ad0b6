; A target without instructions that multiply matrices: kernels multiply and add.
define i32 @__kernelmill_tensor_layout(i32 %element) alwaysinline { ret i32 0 }
define void @__kernelmill_mma_f16(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_bf16(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_tf32(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_i8(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_mma_f64(ptr %c, ptr %a, ptr %b) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x2_trans(ptr %d, ptr %row) alwaysinline { unreachable }
define void @__kernelmill_ldmatrix_x4_trans(ptr %d, ptr %row) alwaysinline { unreachable }
