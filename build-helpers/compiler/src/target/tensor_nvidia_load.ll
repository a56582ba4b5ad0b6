; Fragments from shared memory, on NVIDIA's processors from sm_75 on.
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3)) convergent
define void @__kernelmill_ldmatrix_x2(ptr %d, ptr %row) alwaysinline convergent {
  %s = addrspacecast ptr %row to ptr addrspace(3)
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %s)
  %r0 = extractvalue { i32, i32 } %r, 0
  store i32 %r0, ptr %d
  %r1 = extractvalue { i32, i32 } %r, 1
  %d1 = getelementptr i8, ptr %d, i64 4
  store i32 %r1, ptr %d1
  ret void
}
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3)) convergent
define void @__kernelmill_ldmatrix_x4(ptr %d, ptr %row) alwaysinline convergent {
  %s = addrspacecast ptr %row to ptr addrspace(3)
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %s)
  %r0 = extractvalue { i32, i32, i32, i32 } %r, 0
  store i32 %r0, ptr %d
  %r1 = extractvalue { i32, i32, i32, i32 } %r, 1
  %d1 = getelementptr i8, ptr %d, i64 4
  store i32 %r1, ptr %d1
  %r2 = extractvalue { i32, i32, i32, i32 } %r, 2
  %d2 = getelementptr i8, ptr %d, i64 8
  store i32 %r2, ptr %d2
  %r3 = extractvalue { i32, i32, i32, i32 } %r, 3
  %d3 = getelementptr i8, ptr %d, i64 12
  store i32 %r3, ptr %d3
  ret void
}
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3)) convergent
define void @__kernelmill_ldmatrix_x2_trans(ptr %d, ptr %row) alwaysinline convergent {
  %s = addrspacecast ptr %row to ptr addrspace(3)
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %s)
  %r0 = extractvalue { i32, i32 } %r, 0
  store i32 %r0, ptr %d
  %r1 = extractvalue { i32, i32 } %r, 1
  %d1 = getelementptr i8, ptr %d, i64 4
  store i32 %r1, ptr %d1
  ret void
}
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3)) convergent
define void @__kernelmill_ldmatrix_x4_trans(ptr %d, ptr %row) alwaysinline convergent {
  %s = addrspacecast ptr %row to ptr addrspace(3)
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %s)
  %r0 = extractvalue { i32, i32, i32, i32 } %r, 0
  store i32 %r0, ptr %d
  %r1 = extractvalue { i32, i32, i32, i32 } %r, 1
  %d1 = getelementptr i8, ptr %d, i64 4
  store i32 %r1, ptr %d1
  %r2 = extractvalue { i32, i32, i32, i32 } %r, 2
  %d2 = getelementptr i8, ptr %d, i64 8
  store i32 %r2, ptr %d2
  %r3 = extractvalue { i32, i32, i32, i32 } %r, 3
  %d3 = getelementptr i8, ptr %d, i64 12
  store i32 %r3, ptr %d3
  ret void
}
