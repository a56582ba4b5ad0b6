; A target without a unit for copies: its threads copy.
define i32 @__kernelmill_bulk_available() alwaysinline { ret i32 0 }
define void @__kernelmill_bulk_init(ptr %word) alwaysinline { unreachable }
define void @__kernelmill_bulk_copy(ptr %to, ptr %from, i32 %bytes, ptr %word) alwaysinline { unreachable }
define i32 @__kernelmill_bulk_try_wait(ptr %word, i32 %phase) alwaysinline { unreachable }
define void @__kernelmill_bulk_fence() alwaysinline { ret void }
