; What other producers call, by the operations that kernels in Rust use: work-item functions of OpenCL C under their
; mangled names, and what AMD's compilers read from memory that the run time fills.

declare void @__kernelmill_barrier()
declare void @__kernelmill_fence_block()
declare i32 @__kernelmill_thread_idx_x()
declare i32 @__kernelmill_thread_idx_y()
declare i32 @__kernelmill_thread_idx_z()
declare i32 @__kernelmill_block_idx_x()
declare i32 @__kernelmill_block_idx_y()
declare i32 @__kernelmill_block_idx_z()
declare i32 @__kernelmill_block_dim_x()
declare i32 @__kernelmill_block_dim_y()
declare i32 @__kernelmill_block_dim_z()
declare i32 @__kernelmill_grid_dim_x()
declare i32 @__kernelmill_grid_dim_y()
declare i32 @__kernelmill_grid_dim_z()

define i64 @_Z12get_local_idj(i32 %axis) alwaysinline {
  switch i32 %axis, label %outside [ i32 0, label %x  i32 1, label %y  i32 2, label %z ]
x:
  %vx = call i32 @__kernelmill_thread_idx_x()
  %wx = zext i32 %vx to i64
  ret i64 %wx
y:
  %vy = call i32 @__kernelmill_thread_idx_y()
  %wy = zext i32 %vy to i64
  ret i64 %wy
z:
  %vz = call i32 @__kernelmill_thread_idx_z()
  %wz = zext i32 %vz to i64
  ret i64 %wz
outside:
  ret i64 0
}

define i64 @_Z12get_group_idj(i32 %axis) alwaysinline {
  switch i32 %axis, label %outside [ i32 0, label %x  i32 1, label %y  i32 2, label %z ]
x:
  %vx = call i32 @__kernelmill_block_idx_x()
  %wx = zext i32 %vx to i64
  ret i64 %wx
y:
  %vy = call i32 @__kernelmill_block_idx_y()
  %wy = zext i32 %vy to i64
  ret i64 %wy
z:
  %vz = call i32 @__kernelmill_block_idx_z()
  %wz = zext i32 %vz to i64
  ret i64 %wz
outside:
  ret i64 0
}

define i64 @_Z14get_local_sizej(i32 %axis) alwaysinline {
  switch i32 %axis, label %outside [ i32 0, label %x  i32 1, label %y  i32 2, label %z ]
x:
  %vx = call i32 @__kernelmill_block_dim_x()
  %wx = zext i32 %vx to i64
  ret i64 %wx
y:
  %vy = call i32 @__kernelmill_block_dim_y()
  %wy = zext i32 %vy to i64
  ret i64 %wy
z:
  %vz = call i32 @__kernelmill_block_dim_z()
  %wz = zext i32 %vz to i64
  ret i64 %wz
outside:
  ret i64 1
}

define i64 @_Z14get_num_groupsj(i32 %axis) alwaysinline {
  switch i32 %axis, label %outside [ i32 0, label %x  i32 1, label %y  i32 2, label %z ]
x:
  %vx = call i32 @__kernelmill_grid_dim_x()
  %wx = zext i32 %vx to i64
  ret i64 %wx
y:
  %vy = call i32 @__kernelmill_grid_dim_y()
  %wy = zext i32 %vy to i64
  ret i64 %wy
z:
  %vz = call i32 @__kernelmill_grid_dim_z()
  %wz = zext i32 %vz to i64
  ret i64 %wz
outside:
  ret i64 1
}

define i64 @_Z13get_global_idj(i32 %axis) alwaysinline {
  %group = call i64 @_Z12get_group_idj(i32 %axis)
  %size = call i64 @_Z14get_local_sizej(i32 %axis)
  %local = call i64 @_Z12get_local_idj(i32 %axis)
  %first = mul nuw i64 %group, %size
  %id = add nuw i64 %first, %local
  ret i64 %id
}

define i64 @_Z15get_global_sizej(i32 %axis) alwaysinline {
  %groups = call i64 @_Z14get_num_groupsj(i32 %axis)
  %size = call i64 @_Z14get_local_sizej(i32 %axis)
  %all = mul nuw i64 %groups, %size
  ret i64 %all
}

define i64 @_Z17get_global_offsetj(i32 %axis) alwaysinline { ret i64 0 }

define void @_Z7barrierj(i32 %fences) alwaysinline { call void @__kernelmill_barrier() ret void }
define void @_Z18work_group_barrierj(i32 %fences) alwaysinline { call void @__kernelmill_barrier() ret void }
define void @_Z9mem_fencej(i32 %fences) alwaysinline { call void @__kernelmill_fence_block() ret void }

; The implicit arguments of a kernel, https://llvm.org/docs/AMDGPUUsage.html: groups, the size of a group, and of the
; rest, which is none; the global offset is 0.
define void @kernelmill.implicit(ptr %to) alwaysinline {
  call void @llvm.memset.p0.i64(ptr align 8 %to, i8 0, i64 256, i1 false)
  %gx = call i32 @__kernelmill_grid_dim_x()
  %pgx = getelementptr i8, ptr %to, i64 0
  store i32 %gx, ptr %pgx, align 4
  %gy = call i32 @__kernelmill_grid_dim_y()
  %pgy = getelementptr i8, ptr %to, i64 4
  store i32 %gy, ptr %pgy, align 4
  %gz = call i32 @__kernelmill_grid_dim_z()
  %pgz = getelementptr i8, ptr %to, i64 8
  store i32 %gz, ptr %pgz, align 4
  %sx = call i32 @__kernelmill_block_dim_x()
  %tsx = trunc i32 %sx to i16
  %psx = getelementptr i8, ptr %to, i64 12
  store i16 %tsx, ptr %psx, align 2
  %sy = call i32 @__kernelmill_block_dim_y()
  %tsy = trunc i32 %sy to i16
  %psy = getelementptr i8, ptr %to, i64 14
  store i16 %tsy, ptr %psy, align 2
  %sz = call i32 @__kernelmill_block_dim_z()
  %tsz = trunc i32 %sz to i16
  %psz = getelementptr i8, ptr %to, i64 16
  store i16 %tsz, ptr %psz, align 2
  %pd = getelementptr i8, ptr %to, i64 64
  store i16 3, ptr %pd, align 2
  ret void
}

; The packet of a dispatch, as older code reads it: the size of a group, and the number of work-items.
define void @kernelmill.dispatch(ptr %to) alwaysinline {
  call void @llvm.memset.p0.i64(ptr align 8 %to, i8 0, i64 256, i1 false)
  %sx = call i32 @__kernelmill_block_dim_x()
  %tsx = trunc i32 %sx to i16
  %psx = getelementptr i8, ptr %to, i64 4
  store i16 %tsx, ptr %psx, align 2
  %sy = call i32 @__kernelmill_block_dim_y()
  %tsy = trunc i32 %sy to i16
  %psy = getelementptr i8, ptr %to, i64 6
  store i16 %tsy, ptr %psy, align 2
  %sz = call i32 @__kernelmill_block_dim_z()
  %tsz = trunc i32 %sz to i16
  %psz = getelementptr i8, ptr %to, i64 8
  store i16 %tsz, ptr %psz, align 2
  %gx = call i32 @__kernelmill_grid_dim_x()
  %mgx = mul i32 %gx, %sx
  %pgx = getelementptr i8, ptr %to, i64 12
  store i32 %mgx, ptr %pgx, align 4
  %gy = call i32 @__kernelmill_grid_dim_y()
  %mgy = mul i32 %gy, %sy
  %pgy = getelementptr i8, ptr %to, i64 16
  store i32 %mgy, ptr %pgy, align 4
  %gz = call i32 @__kernelmill_grid_dim_z()
  %mgz = mul i32 %gz, %sz
  %pgz = getelementptr i8, ptr %to, i64 20
  store i32 %mgz, ptr %pgz, align 4
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
