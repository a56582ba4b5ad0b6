; Copies to shared memory that are done when they are begun.
define void @__kernelmill_copy_async_4(ptr %to, ptr %from) alwaysinline { %v = load i32, ptr %from, align 4 store i32 %v, ptr %to, align 4 ret void }
define void @__kernelmill_copy_async_8(ptr %to, ptr %from) alwaysinline { %v = load i64, ptr %from, align 8 store i64 %v, ptr %to, align 8 ret void }
define void @__kernelmill_copy_async_16(ptr %to, ptr %from) alwaysinline { %v = load <4 x i32>, ptr %from, align 16 store <4 x i32> %v, ptr %to, align 16 ret void }
define void @__kernelmill_copy_async_commit() alwaysinline { ret void }
define void @__kernelmill_copy_async_wait_0() alwaysinline { ret void }
define void @__kernelmill_copy_async_wait_1() alwaysinline { ret void }
define void @__kernelmill_copy_async_wait_2() alwaysinline { ret void }
define void @__kernelmill_copy_async_wait_3() alwaysinline { ret void }
