; Copies to shared memory by a unit of its own, on NVIDIA's processors from sm_90 on.
define i32 @__kernelmill_bulk_available() alwaysinline { ret i32 1 }
define void @__kernelmill_bulk_init(ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], 1; fence.mbarrier_init.release.cluster;", "r,~{memory}"(i32 %w)
  ret void
}
define void @__kernelmill_bulk_copy(ptr %to, ptr %from, i32 %bytes, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  %gs = addrspacecast ptr %from to ptr addrspace(1)
  %g = ptrtoint ptr addrspace(1) %gs to i64
  call void asm sideeffect "fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _, [$3], $2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %t, i64 %g, i32 %bytes, i32 %w)
  ret void
}
define i32 @__kernelmill_bulk_try_wait(ptr %word, i32 %phase) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %r = call i32 asm sideeffect "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; selp.u32 $0, 1, 0, done; }", "=r,r,r,~{memory}"(i32 %w, i32 %phase)
  ret i32 %r
}
define void @__kernelmill_bulk_fence() alwaysinline { call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() ret void }
