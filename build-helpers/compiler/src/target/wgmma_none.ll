; A target that does not multiply matrices in shared memory: its threads do.
define i32 @__kernelmill_wgmma_available() alwaysinline { ret i32 0 }
define i32 @__kernelmill_shared_address(ptr %p) alwaysinline { unreachable }
define void @__kernelmill_wgmma_f16(ptr %sums, i64 %a, i64 %b) alwaysinline { unreachable }
define void @__kernelmill_wgmma_bf16(ptr %sums, i64 %a, i64 %b) alwaysinline { unreachable }
define void @__kernelmill_wgmma_wait(ptr %sums) alwaysinline { unreachable }
