; Copies to shared memory that go on by themselves, on NVIDIA's processors from sm_80 on.
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
define void @__kernelmill_copy_async_4(ptr %to, ptr %from) alwaysinline { %s = addrspacecast ptr %to to ptr addrspace(3) %g = addrspacecast ptr %from to ptr addrspace(1) call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s, ptr addrspace(1) %g) ret void }
declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), ptr addrspace(1))
define void @__kernelmill_copy_async_8(ptr %to, ptr %from) alwaysinline { %s = addrspacecast ptr %to to ptr addrspace(3) %g = addrspacecast ptr %from to ptr addrspace(1) call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %s, ptr addrspace(1) %g) ret void }
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
define void @__kernelmill_copy_async_16(ptr %to, ptr %from) alwaysinline { %s = addrspacecast ptr %to to ptr addrspace(3) %g = addrspacecast ptr %from to ptr addrspace(1) call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %s, ptr addrspace(1) %g) ret void }
declare void @llvm.nvvm.cp.async.commit.group()
define void @__kernelmill_copy_async_commit() alwaysinline { call void @llvm.nvvm.cp.async.commit.group() ret void }
declare void @llvm.nvvm.cp.async.wait.group(i32)
define void @__kernelmill_copy_async_wait_0() alwaysinline { call void @llvm.nvvm.cp.async.wait.group(i32 0) ret void }
define void @__kernelmill_copy_async_wait_1() alwaysinline { call void @llvm.nvvm.cp.async.wait.group(i32 1) ret void }
define void @__kernelmill_copy_async_wait_2() alwaysinline { call void @llvm.nvvm.cp.async.wait.group(i32 2) ret void }
define void @__kernelmill_copy_async_wait_3() alwaysinline { call void @llvm.nvvm.cp.async.wait.group(i32 3) ret void }
