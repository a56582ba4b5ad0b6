; Copies to shared memory by a unit of its own, on NVIDIA's processors from sm_90 on.
define i32 @__kernelmill_tma_available() alwaysinline { ret i32 1 }
define void @__kernelmill_tma_init(ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], 1; fence.mbarrier_init.release.cluster;", "r,~{memory}"(i32 %w)
  ret void
}
define void @__kernelmill_tma_copy(ptr %to, ptr %from, i32 %bytes, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  %gs = addrspacecast ptr %from to ptr addrspace(1)
  %g = ptrtoint ptr addrspace(1) %gs to i64
  call void asm sideeffect "fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _, [$3], $2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %t, i64 %g, i32 %bytes, i32 %w)
  ret void
}
define i32 @__kernelmill_tma_try_wait(ptr %word, i32 %phase) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %r = call i32 asm sideeffect "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; selp.u32 $0, 1, 0, done; }", "=r,r,r,~{memory}"(i32 %w, i32 %phase)
  ret i32 %r
}
define void @__kernelmill_tma_fence() alwaysinline { call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() ret void }
define void @__kernelmill_tma_expect(i32 %bytes, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  call void asm sideeffect "fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], $0;", "r,r,~{memory}"(i32 %bytes, i32 %w)
  ret void
}
define void @__kernelmill_tma_commit() alwaysinline { call void asm sideeffect "cp.async.bulk.commit_group;", "~{memory}"() ret void }
define void @__kernelmill_tma_wait() alwaysinline { call void asm sideeffect "cp.async.bulk.wait_group 0;", "~{memory}"() ret void }
; Boxes of tensors. The descriptor is in the kernel's parameters, at a generic address.
define void @__kernelmill_tma_tile_load_1(ptr %to, ptr %map, i32 %x, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  call void asm sideeffect "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3}], [$2];", "r,l,r,r,~{memory}"(i32 %t, ptr %map, i32 %w, i32 %x)
  ret void
}
define void @__kernelmill_tma_tile_load_2(ptr %to, ptr %map, i32 %x, i32 %y, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  call void asm sideeffect "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}"(i32 %t, ptr %map, i32 %w, i32 %x, i32 %y)
  ret void
}
define void @__kernelmill_tma_tile_load_3(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  call void asm sideeffect "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5}], [$2];", "r,l,r,r,r,r,~{memory}"(i32 %t, ptr %map, i32 %w, i32 %x, i32 %y, i32 %z)
  ret void
}
define void @__kernelmill_tma_tile_load_4(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, i32 %u, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  call void asm sideeffect "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5, $6}], [$2];", "r,l,r,r,r,r,r,~{memory}"(i32 %t, ptr %map, i32 %w, i32 %x, i32 %y, i32 %z, i32 %u)
  ret void
}
define void @__kernelmill_tma_tile_load_5(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v, ptr %word) alwaysinline {
  %ws = addrspacecast ptr %word to ptr addrspace(3)
  %w = ptrtoint ptr addrspace(3) %ws to i32
  %ts = addrspacecast ptr %to to ptr addrspace(3)
  %t = ptrtoint ptr addrspace(3) %ts to i32
  call void asm sideeffect "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5, $6, $7}], [$2];", "r,l,r,r,r,r,r,r,~{memory}"(i32 %t, ptr %map, i32 %w, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v)
  ret void
}
define void @__kernelmill_tma_tile_store_1(ptr %map, ptr %from, i32 %x) alwaysinline {
  %fs = addrspacecast ptr %from to ptr addrspace(3)
  %f = ptrtoint ptr addrspace(3) %fs to i32
  call void asm sideeffect "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$2}], [$1];", "l,r,r,~{memory}"(ptr %map, i32 %f, i32 %x)
  ret void
}
define void @__kernelmill_tma_tile_store_2(ptr %map, ptr %from, i32 %x, i32 %y) alwaysinline {
  %fs = addrspacecast ptr %from to ptr addrspace(3)
  %f = ptrtoint ptr addrspace(3) %fs to i32
  call void asm sideeffect "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r,~{memory}"(ptr %map, i32 %f, i32 %x, i32 %y)
  ret void
}
define void @__kernelmill_tma_tile_store_3(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z) alwaysinline {
  %fs = addrspacecast ptr %from to ptr addrspace(3)
  %f = ptrtoint ptr addrspace(3) %fs to i32
  call void asm sideeffect "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [$0, {$2, $3, $4}], [$1];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %f, i32 %x, i32 %y, i32 %z)
  ret void
}
define void @__kernelmill_tma_tile_store_4(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z, i32 %u) alwaysinline {
  %fs = addrspacecast ptr %from to ptr addrspace(3)
  %f = ptrtoint ptr addrspace(3) %fs to i32
  call void asm sideeffect "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [$0, {$2, $3, $4, $5}], [$1];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %f, i32 %x, i32 %y, i32 %z, i32 %u)
  ret void
}
define void @__kernelmill_tma_tile_store_5(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v) alwaysinline {
  %fs = addrspacecast ptr %from to ptr addrspace(3)
  %f = ptrtoint ptr addrspace(3) %fs to i32
  call void asm sideeffect "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [$0, {$2, $3, $4, $5, $6}], [$1];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %f, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v)
  ret void
}
