; The operations of kernelmill_device as instructions of NVIDIA's processors.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i32 @__kernelmill_thread_idx_x() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
define i32 @__kernelmill_thread_idx_y() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.y() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
define i32 @__kernelmill_thread_idx_z() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.z() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define i32 @__kernelmill_block_idx_x() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
define i32 @__kernelmill_block_idx_y() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
define i32 @__kernelmill_block_idx_z() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define i32 @__kernelmill_block_dim_x() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
define i32 @__kernelmill_block_dim_y() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
define i32 @__kernelmill_block_dim_z() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define i32 @__kernelmill_grid_dim_x() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
define i32 @__kernelmill_grid_dim_y() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y() ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
define i32 @__kernelmill_grid_dim_z() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() ret i32 %r }
; LLVM 20 knows no other name, and later versions read it as `llvm.nvvm.barrier.cta.sync.aligned.all`.
declare void @llvm.nvvm.barrier0() convergent
define void @__kernelmill_barrier() alwaysinline convergent { call void @llvm.nvvm.barrier0() ret void }
declare void @llvm.nvvm.bar.warp.sync(i32) convergent
define void @__kernelmill_warp_barrier(i32 %m) alwaysinline convergent { call void @llvm.nvvm.bar.warp.sync(i32 %m) ret void }
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) convergent
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) convergent
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) convergent
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) convergent
; The last operand: 31, or 0 for up, clamps to the 32 lanes of the warp.
define i32 @__kernelmill_warp_shuffle(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %m, i32 %v, i32 %l, i32 31) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_xor(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %m, i32 %v, i32 %l, i32 31) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_up(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %r = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 %m, i32 %v, i32 %l, i32 0) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_down(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %m, i32 %v, i32 %l, i32 31) ret i32 %r }
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1) convergent
define i32 @__kernelmill_warp_ballot(i32 %m, i32 %p) alwaysinline convergent { %b = icmp ne i32 %p, 0 %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 %m, i1 %b) ret i32 %r }
define i32 @__kernelmill_active_mask() alwaysinline convergent { %r = call i32 asm sideeffect "activemask.b32 $0;", "=r"() convergent ret i32 %r }
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
define i32 @__kernelmill_lane_id() alwaysinline { %r = call i32 @llvm.nvvm.read.ptx.sreg.laneid() ret i32 %r }
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
define void @__kernelmill_fence_block() alwaysinline { call void @llvm.nvvm.membar.cta() ret void }
define void @__kernelmill_fence_device() alwaysinline { call void @llvm.nvvm.membar.gl() ret void }
@__kernelmill_dynamic_shared_memory = external addrspace(3) global [0 x i8], align 16
define ptr @__kernelmill_dynamic_shared() alwaysinline { ret ptr addrspacecast (ptr addrspace(3) @__kernelmill_dynamic_shared_memory to ptr) }
define i32 @__kernelmill_dynamic_shared_bytes() alwaysinline { %r = call i32 asm "mov.u32 $0, %dynamic_smem_size;", "=r"() ret i32 %r }
declare void @llvm.nvvm.exit()
define void @__kernelmill_end_thread() alwaysinline noreturn { call void @llvm.nvvm.exit() unreachable }
define void @__kernelmill_exit() alwaysinline noreturn { call void @__kernelmill_abandon_grid() call void @llvm.nvvm.exit() unreachable }
; An argument of the launch: see `passes/panic_record.rs`.
declare ptr @__kernelmill_panic_record() nounwind willreturn memory(none)
define i64 @__kernelmill_launch_number() alwaysinline { %r = call i64 asm "mov.u64 $0, %gridid;", "=l"() ret i64 %r }
; Within 2 ulp.
declare float @llvm.nvvm.rsqrt.approx.f(float)
define float @__kernelmill_rsqrt_f32(float %x) alwaysinline { %r = call float @llvm.nvvm.rsqrt.approx.f(float %x) ret float %r }
; Prints with the driver, which copies the text.
@__kernelmill_print_format = internal addrspace(1) constant [3 x i8] c"%s\00"
declare i32 @__kernelmill_printf(ptr, ...)
define void @__kernelmill_print(ptr %text) { %n = call i32 (ptr, ...) @__kernelmill_printf(ptr addrspacecast (ptr addrspace(1) @__kernelmill_print_format to ptr), ptr %text) ret void }
