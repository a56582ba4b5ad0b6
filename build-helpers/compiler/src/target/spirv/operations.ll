; The operations of kernelmill_device as built-in functions of OpenCL C, by their mangled names, which LLVM's back end
; for SPIR-V knows.
declare i64 @_Z12get_local_idj(i32) nounwind willreturn memory(none)
declare i64 @_Z12get_group_idj(i32) nounwind willreturn memory(none)
declare i64 @_Z14get_local_sizej(i32) nounwind willreturn memory(none)
declare i64 @_Z14get_num_groupsj(i32) nounwind willreturn memory(none)
define i32 @__kernelmill_thread_idx_x() alwaysinline { %w = call i64 @_Z12get_local_idj(i32 0) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_thread_idx_y() alwaysinline { %w = call i64 @_Z12get_local_idj(i32 1) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_thread_idx_z() alwaysinline { %w = call i64 @_Z12get_local_idj(i32 2) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_idx_x() alwaysinline { %w = call i64 @_Z12get_group_idj(i32 0) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_idx_y() alwaysinline { %w = call i64 @_Z12get_group_idj(i32 1) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_idx_z() alwaysinline { %w = call i64 @_Z12get_group_idj(i32 2) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_dim_x() alwaysinline { %w = call i64 @_Z14get_local_sizej(i32 0) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_dim_y() alwaysinline { %w = call i64 @_Z14get_local_sizej(i32 1) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_block_dim_z() alwaysinline { %w = call i64 @_Z14get_local_sizej(i32 2) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_x() alwaysinline { %w = call i64 @_Z14get_num_groupsj(i32 0) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_y() alwaysinline { %w = call i64 @_Z14get_num_groupsj(i32 1) %r = trunc i64 %w to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_z() alwaysinline { %w = call i64 @_Z14get_num_groupsj(i32 2) %r = trunc i64 %w to i32 ret i32 %r }
; Of local and of global memory: CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE.
declare void @_Z7barrierj(i32) convergent nounwind
define void @__kernelmill_barrier() alwaysinline convergent { call void @_Z7barrierj(i32 3) convergent ret void }
; Sequentially consistent (5), in a work-group (1) and on the device (2).
declare void @_Z22atomic_work_item_fencej12memory_order12memory_scope(i32, i32, i32) nounwind
define void @__kernelmill_fence_block() alwaysinline { call void @_Z22atomic_work_item_fencej12memory_order12memory_scope(i32 3, i32 5, i32 1) ret void }
define void @__kernelmill_fence_device() alwaysinline { call void @_Z22atomic_work_item_fencej12memory_order12memory_scope(i32 3, i32 5, i32 2) ret void }
; What ends a thread is replaced by a return of its kernel: see `passes/link/ending.rs`.
declare void @llvm.trap()
define void @__kernelmill_end_thread() alwaysinline noreturn { call void @llvm.trap() unreachable }
define void @__kernelmill_exit() alwaysinline noreturn { call void @llvm.trap() unreachable }
; An argument of the launch: see `passes/panic_record.rs`.
declare ptr @__kernelmill_panic_record() nounwind willreturn memory(none)
; A record is read once its launches are over: every number but that of the last panic is one of a launch after it.
define i64 @__kernelmill_launch_number() alwaysinline { %p = call ptr @__kernelmill_panic_record() %f = getelementptr i8, ptr %p, i64 LAUNCH %l = load i64, ptr %f, align 8 %r = add i64 %l, 1 ret i64 %r }
