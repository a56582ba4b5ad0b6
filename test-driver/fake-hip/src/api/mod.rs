//! The exported functions, with the signatures of `hip_runtime_api.h`.

mod device;
mod event;
mod graph;
mod launch;
mod memory;
mod module;
mod register;
mod stream;

/// Writes a result to the place that a caller gives.
///
/// # Safety
///
/// The place is null, or can be written.
unsafe fn give<T>(place: *mut T, value: T) -> Result<(), crate::code::Code> {
    if place.is_null() {
        return Err(crate::code::INVALID_VALUE);
    }
    // SAFETY: promised.
    unsafe { place.write(value) };
    Ok(())
}

/// A handle as a caller sees it.
fn handle(number: usize) -> *mut std::ffi::c_void {
    std::ptr::without_provenance_mut(number)
}
