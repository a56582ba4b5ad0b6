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
; The index of a thread in its block, and their number.
define i32 @__kernelmill_block_index() alwaysinline { %x = call i32 @__kernelmill_thread_idx_x() %y = call i32 @__kernelmill_thread_idx_y() %z = call i32 @__kernelmill_thread_idx_z() %dx = call i32 @__kernelmill_block_dim_x() %dy = call i32 @__kernelmill_block_dim_y() %a = mul i32 %z, %dy %b = add i32 %a, %y %c = mul i32 %b, %dx %r = add i32 %c, %x ret i32 %r }
define i32 @__kernelmill_block_threads() alwaysinline { %x = call i32 @__kernelmill_block_dim_x() %y = call i32 @__kernelmill_block_dim_y() %z = call i32 @__kernelmill_block_dim_z() %a = mul i32 %z, %y %r = mul i32 %a, %x ret i32 %r }
; Of local and of global memory: CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE.
declare void @_Z7barrierj(i32) convergent nounwind
define void @__kernelmill_barrier() alwaysinline convergent { call void @_Z7barrierj(i32 3) convergent ret void }
; Warps are 32 consecutive threads, whatever the device's sub-groups are: values cross in local memory, between barriers of
; the block, which all of its threads have to come to. Launches have at most 1024 threads a block: see
; `src/backend/opencl/launch.rs`. Which lanes are together is not known: the thread's own is.
@__kernelmill_warp_words = internal addrspace(3) global [1024 x i32] poison, align 4
define i32 @__kernelmill_lane_id() alwaysinline { %t = call i32 @__kernelmill_block_index() %r = and i32 %t, 31 ret i32 %r }
define i32 @__kernelmill_active_mask() alwaysinline { %l = call i32 @__kernelmill_lane_id() %r = shl i32 1, %l ret i32 %r }
define void @__kernelmill_warp_barrier(i32 %m) alwaysinline convergent { call void @_Z7barrierj(i32 3) convergent ret void }
define void @__kernelmill_to_lanes(i32 %v) alwaysinline convergent { %t = call i32 @__kernelmill_block_index() %i = zext i32 %t to i64 %p = getelementptr [1024 x i32], ptr addrspace(3) @__kernelmill_warp_words, i64 0, i64 %i store i32 %v, ptr addrspace(3) %p, align 4 call void @_Z7barrierj(i32 1) convergent ret void }
; The word of a lane below 32, `none` where there is no such thread.
define i32 @__kernelmill_of_lane(i32 %l, i32 %none) alwaysinline { %t = call i32 @__kernelmill_block_index() %n = call i32 @__kernelmill_block_threads() %b = and i32 %t, -32 %s = or i32 %b, %l %in = icmp ult i32 %s, %n %a = select i1 %in, i32 %s, i32 %t %i = zext i32 %a to i64 %p = getelementptr [1024 x i32], ptr addrspace(3) @__kernelmill_warp_words, i64 0, i64 %i %w = load i32, ptr addrspace(3) %p, align 4 %r = select i1 %in, i32 %w, i32 %none ret i32 %r }
define i32 @__kernelmill_from_lane(i32 %v, i32 %l) alwaysinline convergent { call void @__kernelmill_to_lanes(i32 %v) convergent %r = call i32 @__kernelmill_of_lane(i32 %l, i32 %v) call void @_Z7barrierj(i32 1) convergent ret i32 %r }
define i32 @__kernelmill_warp_shuffle(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %i = and i32 %l, 31 %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_xor(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %x = xor i32 %o, %l %in = icmp ult i32 %x, 32 %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_up(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %x = sub i32 %o, %l %in = icmp ule i32 %l, %o %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_down(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %s = sub i32 31, %o %x = add i32 %o, %l %in = icmp ule i32 %l, %s %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_ballot(i32 %m, i32 %p) alwaysinline convergent {
start:
  %b = icmp ne i32 %p, 0
  %v = zext i1 %b to i32
  call void @__kernelmill_to_lanes(i32 %v) convergent
  br label %lane
lane:
  %l = phi i32 [ 0, %start ], [ %next, %lane ]
  %before = phi i32 [ 0, %start ], [ %votes, %lane ]
  %w = call i32 @__kernelmill_of_lane(i32 %l, i32 0)
  %vote = shl i32 %w, %l
  %votes = or i32 %before, %vote
  %next = add i32 %l, 1
  %more = icmp ult i32 %next, 32
  br i1 %more, label %lane, label %end
end:
  call void @_Z7barrierj(i32 1) convergent
  %r = and i32 %votes, %m
  ret i32 %r
}
; All threads come to a primitive together but those that have returned, which vote 0: the others are active.
define i32 @__kernelmill_warp_active_lanes() alwaysinline convergent { %r = call i32 @__kernelmill_warp_ballot(i32 -1, i32 1) convergent ret i32 %r }
define i32 @__kernelmill_warp_active_ballot(i32 %p) alwaysinline convergent { %r = call i32 @__kernelmill_warp_ballot(i32 -1, i32 %p) convergent ret i32 %r }
define i32 @__kernelmill_warp_active_shuffle(i32 %v, i32 %l) alwaysinline convergent { %r = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %v, i32 %l) convergent ret i32 %r }
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
; Where launches print to: in the record too.
define ptr @__kernelmill_print_memory_address() alwaysinline { %p = call ptr @__kernelmill_panic_record() %f = getelementptr i8, ptr %p, i64 PRINTED %a = load i64, ptr %f, align 8 %g = inttoptr i64 %a to ptr addrspace(1) %r = addrspacecast ptr addrspace(1) %g to ptr ret ptr %r }
; A record is read once its launches are over: every number but that of the last panic is one of a launch after it.
define i64 @__kernelmill_launch_number() alwaysinline { %p = call ptr @__kernelmill_panic_record() %f = getelementptr i8, ptr %p, i64 LAUNCH %l = load i64, ptr %f, align 8 %r = add i64 %l, 1 ret i64 %r }
