//! The output buffer of devices that have no `printf` of their own.

/// Bytes of text that [`Buffer`] holds.
pub const BUFFER_BYTES: usize = (1 << 16) - 8;

/// Lines that a device keeps for the host, which sets all bytes to zero before a launch.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    /// Bytes that lines have requested; those past [`BUFFER_BYTES`] are lost.
    pub asked: u32,
    /// The number of lost lines.
    pub lost: u32,
    /// The lines, each with its end.
    pub text: [u8; BUFFER_BYTES],
}

/// Appends a text to a buffer.
///
/// # Safety
///
/// The text is null-terminated; other threads access the buffer only by this function.
#[cfg(any(kernelmill, test))]
pub(super) unsafe fn append(buffer: *mut Buffer, text: *const u8) {
    use core::sync::atomic::{AtomicU32, Ordering};
    let mut length = 0;
    // SAFETY: promised.
    while unsafe { *text.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: both counts are only used atomically; what a thread has asked for is its own.
    unsafe {
        let asked = AtomicU32::from_ptr(&raw mut (*buffer).asked);
        let start = asked.fetch_add(length as u32, Ordering::Relaxed) as usize;
        if start > BUFFER_BYTES || length > BUFFER_BYTES - start {
            AtomicU32::from_ptr(&raw mut (*buffer).lost).fetch_add(1, Ordering::Relaxed);
            return;
        }
        let to = (&raw mut (*buffer).text).cast::<u8>().add(start);
        let mut index = 0;
        while index < length {
            to.add(index).write(text.add(index).read());
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_while_there_is_room() {
        // SAFETY: integers, for which zero is a value.
        let mut buffer: Box<Buffer> = unsafe { Box::new_zeroed().assume_init() };
        // SAFETY: one thread; the texts end in zeros.
        unsafe {
            append(&raw mut *buffer, c"one\n".as_ptr().cast());
            append(&raw mut *buffer, c"two\n".as_ptr().cast());
        }
        assert_eq!((&buffer.text[..9], buffer.lost), (b"one\ntwo\n\0".as_slice(), 0));
        buffer.asked = BUFFER_BYTES as u32 - 4;
        // SAFETY: as before.
        unsafe {
            append(&raw mut *buffer, c"fits".as_ptr().cast());
            append(&raw mut *buffer, c"not".as_ptr().cast());
        }
        assert_eq!((&buffer.text[BUFFER_BYTES - 4..], buffer.lost), (b"fits".as_slice(), 1));
    }
}
