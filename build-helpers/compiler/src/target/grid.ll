; The barrier of the grid, on GPUs whose blocks are all resident: see `passes/link/grid.rs`.
; An argument of the launch: see `passes/panic_record.rs`.
declare ptr addrspace(1) @__kernelmill_grid_workspace() nounwind willreturn memory(none)
define void @__kernelmill_grid_barrier() alwaysinline convergent {
  %arrived = call ptr addrspace(1) @__kernelmill_grid_workspace()
  %abandoned = getelementptr i8, ptr addrspace(1) %arrived, i64 4
  call void @__kernelmill_barrier()
  %tx = call i32 @__kernelmill_thread_idx_x()
  %ty = call i32 @__kernelmill_thread_idx_y()
  %tz = call i32 @__kernelmill_thread_idx_z()
  %txy = or i32 %tx, %ty
  %t = or i32 %txy, %tz
  %leads = icmp eq i32 %t, 0
  br i1 %leads, label %arrive, label %meet
arrive:
  %gx = call i32 @__kernelmill_grid_dim_x()
  %gy = call i32 @__kernelmill_grid_dim_y()
  %gz = call i32 @__kernelmill_grid_dim_z()
  %gxy = mul i32 %gx, %gy
  %blocks = mul i32 %gxy, %gz
  %bx = call i32 @__kernelmill_block_idx_x()
  %by = call i32 @__kernelmill_block_idx_y()
  %bz = call i32 @__kernelmill_block_idx_z()
  %bxy = or i32 %bx, %by
  %b = or i32 %bxy, %bz
  %first = icmp eq i32 %b, 0
  %rest = sub i32 -2147483647, %blocks
  %step = select i1 %first, i32 %rest, i32 1
  call void @__kernelmill_fence_device()
  %before = atomicrmw add ptr addrspace(1) %arrived, i32 %step syncscope("SCOPE") monotonic, align 4
  br label %wait
wait:
  %now = load atomic i32, ptr addrspace(1) %arrived syncscope("SCOPE") monotonic, align 4
  %turned = xor i32 %now, %before
  %opens = icmp slt i32 %turned, 0
  br i1 %opens, label %opened, label %look
look:
  %left = load atomic i32, ptr addrspace(1) %abandoned syncscope("SCOPE") monotonic, align 4
  %waits = icmp eq i32 %left, 0
  br i1 %waits, label %wait, label %opened
opened:
  call void @__kernelmill_fence_device()
  br label %meet
meet:
  call void @__kernelmill_barrier()
  %all = load atomic i32, ptr addrspace(1) %abandoned syncscope("SCOPE") monotonic, align 4
  %goes = icmp eq i32 %all, 0
  br i1 %goes, label %go, label %end
end:
  call void @__kernelmill_end_thread()
  unreachable
go:
  ret void
}
; A thread has panicked: nobody is to wait for it. The address is the field `workspace` of the record.
define void @__kernelmill_abandon_grid() alwaysinline {
  %record = call ptr @__kernelmill_panic_record()
  %field = getelementptr i8, ptr %record, i64 272
  %address = load i64, ptr %field, align 8
  %alone = icmp eq i64 %address, 0
  br i1 %alone, label %done, label %tell
tell:
  %workspace = inttoptr i64 %address to ptr addrspace(1)
  %abandoned = getelementptr i8, ptr addrspace(1) %workspace, i64 4
  store atomic i32 1, ptr addrspace(1) %abandoned syncscope("SCOPE") monotonic, align 4
  br label %done
done:
  ret void
}
