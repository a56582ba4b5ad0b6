; Shadow memory of shared arrays. The fields of a cell, from its highest bits: barriers of the block before
; the access plus one (the epoch), thread, barriers of its warp since, atomic flag, source location. The
; shadow of an array has three tables of cells: the last write, the reader with the highest thread index,
; and the reader with the lowest, whose index is stored as its complement.
declare void @__kernelmill_fence_block()

define internal iCELL_BITS @__kernelmill_sanitize_cell(i32 %thread, i32 %epoch, i32 %warp, i1 %atomic, i64 %place) alwaysinline {
  %t0 = zext i32 %thread to i64
  %t = shl i64 %t0, THREAD_AT
  %e0 = zext i32 %epoch to i64
  %e = shl i64 %e0, EPOCH_AT
  %w0 = zext i32 %warp to i64
  %w1 = icmp ult i64 %w0, WARP_MASK
  %w2 = select i1 %w1, i64 %w0, i64 WARP_MASK
  %w = shl i64 %w2, WARP_AT
  %a0 = zext i1 %atomic to i64
  %a = shl i64 %a0, ATOMIC_AT
  %fits = icmp ule i64 %place, PLACE_MASK
  %p = select i1 %fits, i64 %place, i64 0
  %r0 = or i64 %t, %e
  %r1 = or i64 %r0, %w
  %r2 = or i64 %r1, %a
  %r3 = or i64 %r2, %p
  %narrow = call iCELL_BITS @__kernelmill_sanitize_narrow(i64 %r3)
  ret iCELL_BITS %narrow
}

; Whether the access in a cell and an access of another thread are unordered.
define internal i1 @__kernelmill_sanitize_conflict(i64 %cell, i32 %other, i32 %thread, i32 %epoch, i32 %warp) alwaysinline {
  %e0 = lshr i64 %cell, EPOCH_AT
  %e = trunc i64 %e0 to i32
  %same = icmp eq i32 %e, %epoch
  %differs = icmp ne i32 %other, %thread
  %w0 = lshr i64 %cell, WARP_AT
  %w1 = and i64 %w0, WARP_MASK
  %w = trunc i64 %w1 to i32
  %warp_of = lshr i32 %other, 5
  %own = lshr i32 %thread, 5
  %together = icmp eq i32 %warp_of, %own
  %later = icmp ne i32 %w, %warp
  %many = icmp uge i32 %w, WARP_MASK
  %apart = or i1 %later, %many
  %ordered = and i1 %together, %apart
  %unordered = xor i1 %ordered, true
  %c0 = and i1 %same, %differs
  %c = and i1 %c0, %unordered
  ret i1 %c
}

define internal i32 @__kernelmill_sanitize_thread(i64 %cell) alwaysinline {
  %t0 = lshr i64 %cell, THREAD_AT
  %t1 = and i64 %t0, THREAD_MASK
  %t = trunc i64 %t1 to i32
  ret i32 %t
}

; The description of a conflicting access: bit 63 set, bit 62 for a write, thread from bit 32, location.
define internal i64 @__kernelmill_sanitize_told(i64 %cell, i32 %thread, i64 %wrote) alwaysinline {
  %t0 = zext i32 %thread to i64
  %t = shl i64 %t0, 32
  %p = and i64 %cell, PLACE_MASK
  %w = shl i64 %wrote, 62
  %r0 = or i64 %t, %p
  %r1 = or i64 %r0, %w
  %r = or i64 %r1, -9223372036854775808
  ret i64 %r
}

; Records an access of the granules from %first to %last. The result describes an unordered access of
; another thread, or is 0. %kind is 0 for reads, 1 for writes, 2 for atomic accesses.
define i64 @__kernelmill_sanitize_access(ptr %shadow, i64 %cells, i64 %first, i64 %last, i32 %thread, i32 %epoch, i32 %warp, i32 %kind, i64 %place) alwaysinline {
start:
  %in_time = icmp ult i32 %epoch, EPOCH_MASK
  ; What is remembered of dynamic shared memory may be of its first bytes only.
  %has_cell = icmp ult i64 %last, %cells
  %counted = and i1 %in_time, %has_cell
  %atomic = icmp eq i32 %kind, 2
  %complement = sub i32 THREAD_MASK, %thread
  %own = call iCELL_BITS @__kernelmill_sanitize_cell(i32 %thread, i32 %epoch, i32 %warp, i1 %atomic, i64 %place)
  %low = call iCELL_BITS @__kernelmill_sanitize_cell(i32 %complement, i32 %epoch, i32 %warp, i1 %atomic, i64 %place)
  %reads = icmp eq i32 %kind, 0
  br i1 %counted, label %loop, label %nothing
loop:
  %i = phi i64 [ %first, %start ], [ %next, %step ]
  %high_index = add i64 %i, %cells
  %low_index = add i64 %high_index, %cells
  %at = getelementptr iCELL_BITS, ptr %shadow, i64 %i
  %high_at = getelementptr iCELL_BITS, ptr %shadow, i64 %high_index
  %low_at = getelementptr iCELL_BITS, ptr %shadow, i64 %low_index
  br i1 %reads, label %read, label %write
read:
  %h_old = atomicrmw umax ptr %high_at, iCELL_BITS %own monotonic
  %l_old = atomicrmw umax ptr %low_at, iCELL_BITS %low monotonic
  call void @__kernelmill_fence_block()
  %r_cell = load atomic iCELL_BITS, ptr %at monotonic, align CELL_BYTES
  %r_wide = call i64 @__kernelmill_sanitize_wide(iCELL_BITS %r_cell)
  %r_thread = call i32 @__kernelmill_sanitize_thread(i64 %r_wide)
  %r_conflict = call i1 @__kernelmill_sanitize_conflict(i64 %r_wide, i32 %r_thread, i32 %thread, i32 %epoch, i32 %warp)
  br i1 %r_conflict, label %read_wrong, label %step
read_wrong:
  %r_told = call i64 @__kernelmill_sanitize_told(i64 %r_wide, i32 %r_thread, i64 1)
  ret i64 %r_told
write:
  %w_cell = atomicrmw xchg ptr %at, iCELL_BITS %own monotonic
  %w_wide = call i64 @__kernelmill_sanitize_wide(iCELL_BITS %w_cell)
  %w_thread = call i32 @__kernelmill_sanitize_thread(i64 %w_wide)
  %w_found = call i1 @__kernelmill_sanitize_conflict(i64 %w_wide, i32 %w_thread, i32 %thread, i32 %epoch, i32 %warp)
  %w_bit = lshr i64 %w_wide, ATOMIC_AT
  %w_atomic = trunc i64 %w_bit to i1
  %w_both = and i1 %w_atomic, %atomic
  %w_either = xor i1 %w_both, true
  %w_conflict = and i1 %w_found, %w_either
  br i1 %w_conflict, label %write_wrong, label %readers
write_wrong:
  %w_told = call i64 @__kernelmill_sanitize_told(i64 %w_wide, i32 %w_thread, i64 1)
  ret i64 %w_told
readers:
  call void @__kernelmill_fence_block()
  %h_cell = load atomic iCELL_BITS, ptr %high_at monotonic, align CELL_BYTES
  %h_wide = call i64 @__kernelmill_sanitize_wide(iCELL_BITS %h_cell)
  %h_thread = call i32 @__kernelmill_sanitize_thread(i64 %h_wide)
  %h_conflict = call i1 @__kernelmill_sanitize_conflict(i64 %h_wide, i32 %h_thread, i32 %thread, i32 %epoch, i32 %warp)
  br i1 %h_conflict, label %high_wrong, label %lowest
high_wrong:
  %h_told = call i64 @__kernelmill_sanitize_told(i64 %h_wide, i32 %h_thread, i64 0)
  ret i64 %h_told
lowest:
  %l_cell = load atomic iCELL_BITS, ptr %low_at monotonic, align CELL_BYTES
  %l_wide = call i64 @__kernelmill_sanitize_wide(iCELL_BITS %l_cell)
  %l_complement = call i32 @__kernelmill_sanitize_thread(i64 %l_wide)
  %l_thread = sub i32 THREAD_MASK, %l_complement
  %l_conflict = call i1 @__kernelmill_sanitize_conflict(i64 %l_wide, i32 %l_thread, i32 %thread, i32 %epoch, i32 %warp)
  br i1 %l_conflict, label %low_wrong, label %step
low_wrong:
  %l_told = call i64 @__kernelmill_sanitize_told(i64 %l_wide, i32 %l_thread, i64 0)
  ret i64 %l_told
step:
  %next = add i64 %i, 1
  %more = icmp ule i64 %next, %last
  br i1 %more, label %loop, label %nothing
nothing:
  ret i64 0
}

; Clears all cells; each thread clears some.
define void @__kernelmill_sanitize_clear(ptr %shadow, i64 %cells, i32 %thread, i32 %threads) alwaysinline {
start:
  %t = zext i32 %thread to i64
  %n = zext i32 %threads to i64
  br label %loop
loop:
  %i = phi i64 [ %t, %start ], [ %next, %clear ]
  %more = icmp ult i64 %i, %cells
  br i1 %more, label %clear, label %done
clear:
  %at = getelementptr iCELL_BITS, ptr %shadow, i64 %i
  store iCELL_BITS 0, ptr %at, align CELL_BYTES
  %next = add i64 %i, %n
  br label %loop
done:
  ret void
}
