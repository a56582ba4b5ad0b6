; Each launch has a record of its own.
define i64 @__kernelmill_launch_number() alwaysinline { ret i64 0 }
; Operations of the run time, which `wavefront.ll` calls.
declare i32 @__kernelmill_active_mask() convergent nounwind
declare i32 @__kernelmill_warp_ballot(i32, i32) convergent nounwind
declare i32 @__kernelmill_warp_shuffle(i32, i32, i32) convergent nounwind
; Prints with the C library.
@__kernelmill_print_format = internal constant [3 x i8] c"%s\00"
declare i32 @__kernelmill_printf(ptr, ...)
define void @__kernelmill_print(ptr %text) { %n = call i32 (ptr, ...) @__kernelmill_printf(ptr @__kernelmill_print_format, ptr %text) ret void }
