//! The memory that the process has from the allocator, in all languages: wgpu keeps what it has of a module there, and so does
//! lavapipe, which is a driver in the process.

/// The bytes that are allocated now.
pub(crate) fn held() -> usize {
    // SAFETY: the function has no preconditions.
    let counts = unsafe { libc::mallinfo2() };
    counts.uordblks + counts.hblkhd
}
