; A target without a unit for copies: its threads copy.
define i32 @__kernelmill_tma_available() alwaysinline { ret i32 0 }
define void @__kernelmill_tma_init(ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_copy(ptr %to, ptr %from, i32 %bytes, ptr %word) alwaysinline { unreachable }
define i32 @__kernelmill_tma_try_wait(ptr %word, i32 %phase) alwaysinline { unreachable }
define void @__kernelmill_tma_fence() alwaysinline { ret void }
define void @__kernelmill_tma_expect(i32 %bytes, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_commit() alwaysinline { unreachable }
define void @__kernelmill_tma_wait() alwaysinline { unreachable }
define void @__kernelmill_tma_tile_load_1(ptr %to, ptr %map, i32 %x, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_load_2(ptr %to, ptr %map, i32 %x, i32 %y, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_load_3(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_load_4(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, i32 %u, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_load_5(ptr %to, ptr %map, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v, ptr %word) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_store_1(ptr %map, ptr %from, i32 %x) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_store_2(ptr %map, ptr %from, i32 %x, i32 %y) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_store_3(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_store_4(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z, i32 %u) alwaysinline { unreachable }
define void @__kernelmill_tma_tile_store_5(ptr %map, ptr %from, i32 %x, i32 %y, i32 %z, i32 %u, i32 %v) alwaysinline { unreachable }
