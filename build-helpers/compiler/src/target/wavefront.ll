; Warp-level primitives among the threads of a warp that are active, as HIP has them. They are linked where they are used.
define linkonce_odr i32 @__kernelmill_warp_active_lanes() alwaysinline convergent { %r = call i32 @__kernelmill_active_mask() convergent ret i32 %r }
define linkonce_odr i32 @__kernelmill_warp_active_ballot(i32 %p) alwaysinline convergent { %m = call i32 @__kernelmill_active_mask() convergent %r = call i32 @__kernelmill_warp_ballot(i32 %m, i32 %p) convergent ret i32 %r }
define linkonce_odr i32 @__kernelmill_warp_active_shuffle(i32 %v, i32 %l) alwaysinline convergent { %m = call i32 @__kernelmill_active_mask() convergent %r = call i32 @__kernelmill_warp_shuffle(i32 %m, i32 %v, i32 %l) convergent ret i32 %r }
