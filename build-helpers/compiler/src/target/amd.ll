; The operations of kernelmill_device as instructions of AMD's processors. Their waves have 32 or
; 64 lanes; kernels see warps of 32, so the two halves of a wide wave are two warps.
declare i32 @llvm.amdgcn.workitem.id.x()
define i32 @__kernelmill_thread_idx_x() alwaysinline { %r = call i32 @llvm.amdgcn.workitem.id.x() ret i32 %r }
declare i32 @llvm.amdgcn.workgroup.id.x()
define i32 @__kernelmill_block_idx_x() alwaysinline { %r = call i32 @llvm.amdgcn.workgroup.id.x() ret i32 %r }
declare i32 @llvm.amdgcn.workitem.id.y()
define i32 @__kernelmill_thread_idx_y() alwaysinline { %r = call i32 @llvm.amdgcn.workitem.id.y() ret i32 %r }
declare i32 @llvm.amdgcn.workgroup.id.y()
define i32 @__kernelmill_block_idx_y() alwaysinline { %r = call i32 @llvm.amdgcn.workgroup.id.y() ret i32 %r }
declare i32 @llvm.amdgcn.workitem.id.z()
define i32 @__kernelmill_thread_idx_z() alwaysinline { %r = call i32 @llvm.amdgcn.workitem.id.z() ret i32 %r }
declare i32 @llvm.amdgcn.workgroup.id.z()
define i32 @__kernelmill_block_idx_z() alwaysinline { %r = call i32 @llvm.amdgcn.workgroup.id.z() ret i32 %r }
; Hidden arguments of code object version 5: numbers of blocks at 0, 4, 8, sizes of blocks at 12, 14, 16.
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
define i32 @__kernelmill_block_dim_x() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 12 %s = load i16, ptr addrspace(4) %q, align 2, !invariant.load !0 %r = zext i16 %s to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_x() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 0 %r = load i32, ptr addrspace(4) %q, align 4, !invariant.load !0 ret i32 %r }
define i32 @__kernelmill_block_dim_y() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 14 %s = load i16, ptr addrspace(4) %q, align 2, !invariant.load !0 %r = zext i16 %s to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_y() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 4 %r = load i32, ptr addrspace(4) %q, align 4, !invariant.load !0 ret i32 %r }
define i32 @__kernelmill_block_dim_z() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 16 %s = load i16, ptr addrspace(4) %q, align 2, !invariant.load !0 %r = zext i16 %s to i32 ret i32 %r }
define i32 @__kernelmill_grid_dim_z() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 8 %r = load i32, ptr addrspace(4) %q, align 4, !invariant.load !0 ret i32 %r }
define i32 @__kernelmill_dynamic_shared_bytes() alwaysinline { %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() %q = getelementptr i8, ptr addrspace(4) %p, i64 120 %r = load i32, ptr addrspace(4) %q, align 4, !invariant.load !0 ret i32 %r }
@__kernelmill_dynamic_shared_memory = external addrspace(3) global [0 x i8], align 16
define ptr @__kernelmill_dynamic_shared() alwaysinline { ret ptr addrspacecast (ptr addrspace(3) @__kernelmill_dynamic_shared_memory to ptr) }
declare void @llvm.amdgcn.s.barrier() convergent
declare void @llvm.amdgcn.wave.barrier() convergent
define void @__kernelmill_barrier() alwaysinline convergent { fence syncscope("workgroup") release call void @llvm.amdgcn.s.barrier() fence syncscope("workgroup") acquire ret void }
define void @__kernelmill_warp_barrier(i32 %m) alwaysinline convergent { fence syncscope("wavefront") release call void @llvm.amdgcn.wave.barrier() fence syncscope("wavefront") acquire ret void }
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
define i32 @__kernelmill_wave_lane() alwaysinline { %l = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0) %r = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %l) ret i32 %r }
define i32 @__kernelmill_lane_id() alwaysinline { %w = call i32 @__kernelmill_wave_lane() %r = and i32 %w, 31 ret i32 %r }
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32) convergent
; Lane %l of this thread's warp of 32.
define i32 @__kernelmill_from_lane(i32 %v, i32 %l) alwaysinline convergent { %w = call i32 @__kernelmill_wave_lane() %h = and i32 %w, 32 %i = or i32 %h, %l %b = shl i32 %i, 2 %r = call i32 @llvm.amdgcn.ds.bpermute(i32 %b, i32 %v) ret i32 %r }
define i32 @__kernelmill_warp_shuffle(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %i = and i32 %l, 31 %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_xor(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %x = xor i32 %o, %l %in = icmp ult i32 %x, 32 %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_up(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %x = sub i32 %o, %l %in = icmp ule i32 %l, %o %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
define i32 @__kernelmill_warp_shuffle_down(i32 %m, i32 %v, i32 %l) alwaysinline convergent { %o = call i32 @__kernelmill_lane_id() %s = sub i32 31, %o %x = add i32 %o, %l %in = icmp ule i32 %l, %s %i = select i1 %in, i32 %x, i32 %o %r = call i32 @__kernelmill_from_lane(i32 %v, i32 %i) ret i32 %r }
declare i64 @llvm.amdgcn.ballot.i64(i1) convergent
define i32 @__kernelmill_ballot(i1 %b) alwaysinline convergent { %a = call i64 @llvm.amdgcn.ballot.i64(i1 %b) %w = call i32 @__kernelmill_wave_lane() %h = and i32 %w, 32 %s = zext i32 %h to i64 %t = lshr i64 %a, %s %r = trunc i64 %t to i32 ret i32 %r }
define i32 @__kernelmill_warp_ballot(i32 %m, i32 %p) alwaysinline convergent { %b = icmp ne i32 %p, 0 %a = call i32 @__kernelmill_ballot(i1 %b) %r = and i32 %a, %m ret i32 %r }
define i32 @__kernelmill_active_mask() alwaysinline convergent { %r = call i32 @__kernelmill_ballot(i1 true) ret i32 %r }
define void @__kernelmill_fence_block() alwaysinline { fence syncscope("workgroup") seq_cst ret void }
define void @__kernelmill_fence_device() alwaysinline { fence syncscope("agent") seq_cst ret void }
declare void @llvm.amdgcn.endpgm()
define void @__kernelmill_end_thread() alwaysinline noreturn { call void @llvm.amdgcn.endpgm() unreachable }
define void @__kernelmill_exit() alwaysinline noreturn { call void @__kernelmill_abandon_grid() call void @llvm.amdgcn.endpgm() unreachable }
; An argument of the launch: see `passes/panic_record.rs`.
declare ptr @__kernelmill_panic_record() nounwind willreturn memory(none)
; The place of the dispatch in its queue, which launches of one stream share: the first is 0.
declare i64 @llvm.amdgcn.dispatch.id()
define i64 @__kernelmill_launch_number() alwaysinline { %d = call i64 @llvm.amdgcn.dispatch.id() %r = add i64 %d, 1 ret i64 %r }
; Where launches print to: in the record too, memory of the host.
define ptr @__kernelmill_print_memory_address() alwaysinline { %p = call ptr @__kernelmill_panic_record() %f = getelementptr i8, ptr %p, i64 PRINTED %a = load i64, ptr %f, align 8 %g = inttoptr i64 %a to ptr addrspace(1) %r = addrspacecast ptr addrspace(1) %g to ptr ret ptr %r }
!0 = !{}
