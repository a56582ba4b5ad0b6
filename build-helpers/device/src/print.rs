//! Printing from kernels: [`gpu_println!`](crate::gpu_println).
//!
//! A line is put together by its thread and handed over whole, so that no two lines mix. Those of a
//! thread come in their order; between threads there is none. The CPU prints at once, NVIDIA's
//! driver when the host waits for the device, from a buffer of limited size. AMD's processors have
//! no such driver: there lines lie in a buffer of the module, the symbol `__kernelmill_print_buffer`,
//! which `kernelmill_artifact::Printed` reads.
//!
//! A kernel that prints has the formatting of `core` in it, which is much code: it is for finding
//! faults.

use core::fmt::{self, Write};

#[cfg(any(kernelmill, test))]
mod c;
#[cfg(any(kernelmill, test))]
mod decimal;

/// Bytes of a line, without its end; what is longer is cut.
pub const LINE_BYTES: usize = 254;

/// Prints a line to the host's standard output. It takes what `println!` takes.
///
/// A line is cut after [`print::LINE_BYTES`](crate::print::LINE_BYTES) bytes. On the host itself it is
/// `println!`.
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn look(x: &[f32]) {
///     let i = thread::index_1d();
///     if i.get() < 3 {
///         gpu_println!("element {} is {:>8.3}", i.get(), x[i.get()]);
///     }
/// }
/// ```
#[macro_export]
macro_rules! gpu_println {
    () => {
        $crate::print::line(::core::format_args!(""))
    };
    ($($argument:tt)*) => {
        $crate::print::line(::core::format_args!($($argument)*))
    };
}

/// What [`gpu_println!`](crate::gpu_println) calls.
#[cfg(not(kernelmill))]
pub fn line(text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    line.format(text);
    print!("{}", String::from_utf8_lossy(line.whole()));
}

/// What [`gpu_println!`](crate::gpu_println) calls.
#[cfg(kernelmill)]
pub fn line(text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    line.format(text);
    // SAFETY: the text ends in a zero.
    unsafe { crate::intrinsics::runtime::__kernelmill_print(line.bytes.as_ptr()) };
}

/// A line that is being put together: text, the end of the line, and a zero.
struct Line {
    bytes: [u8; LINE_BYTES + 2],
    length: usize,
}

impl Line {
    fn new() -> Self {
        Self { bytes: [0; LINE_BYTES + 2], length: 0 }
    }

    /// Fills it in, and ends it.
    fn format(&mut self, text: fmt::Arguments<'_>) {
        // A text that is cut is an error here, and all that fits.
        let _ = fmt::write(self, text);
        if let Some(end) = self.bytes.get_mut(self.length) {
            *end = b'\n';
        }
    }

    /// The text so far.
    #[cfg(any(kernelmill, test))]
    fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The text with its end.
    #[cfg(not(kernelmill))]
    fn whole(&self) -> &[u8] {
        &self.bytes[..=self.length]
    }

    /// Adds a byte of a text of C's, which need not be UTF-8.
    #[cfg(any(kernelmill, test))]
    fn write_byte(&mut self, byte: u8) -> fmt::Result {
        let room = self.bytes.get_mut(..LINE_BYTES).and_then(|room| room.get_mut(self.length));
        // A zero would end the text.
        *room.ok_or(fmt::Error)? = if byte == 0 { b'?' } else { byte };
        self.length += 1;
        Ok(())
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            // A zero would end the text.
            let character = if character == '\0' { '\u{fffd}' } else { character };
            let encoded = character.encode_utf8(&mut bytes).as_bytes();
            let end = self.length + encoded.len();
            if end > LINE_BYTES {
                return Err(fmt::Error);
            }
            let Some(room) = self.bytes.get_mut(self.length..end) else { return Err(fmt::Error) };
            room.copy_from_slice(encoded);
            self.length = end;
        }
        Ok(())
    }
}

/// Bytes of text that [`Buffer`] holds.
pub const BUFFER_BYTES: usize = (1 << 16) - 8;

/// Lines that a device without printing of its own keeps for the host, which clears it (all bytes
/// zero) before a launch.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    /// Bytes that lines have asked for; those past [`BUFFER_BYTES`] are lost.
    pub asked: u32,
    /// Lines that are lost.
    pub lost: u32,
    /// The lines, each with its end.
    pub text: [u8; BUFFER_BYTES],
}

/// Puts a line into the module's buffer. The compiler calls it where the target prints nothing
/// itself.
///
/// # Safety
///
/// The text ends in a zero.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_print_to_buffer(text: *const u8) {
    // SAFETY: promised; the module's buffer is used only here.
    unsafe { append(crate::intrinsics::runtime::__kernelmill_print_memory_address(), text) };
}

/// C's `printf` into the module's buffer, of arguments that are a word each. The compiler puts it in the
/// place of calls of the other where the target prints nothing itself.
///
/// # Safety
///
/// The format ends in a zero, and so does each text that it prints whole; there are as many values.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_printf_to_buffer(
    format: *const u8,
    values: *const u64,
    count: u32,
) -> i32 {
    let mut line = Line::new();
    // SAFETY: promised; the line ends in a zero.
    unsafe {
        c::format(&mut line, format, values, count as usize);
        __kernelmill_print_to_buffer(line.bytes.as_ptr());
    }
    line.length as i32
}

/// Appends a text to a buffer.
///
/// # Safety
///
/// The text ends in a zero; others use the buffer at the same time only by this function.
#[cfg(any(kernelmill, test))]
unsafe fn append(buffer: *mut Buffer, text: *const u8) {
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

    fn text(arguments: fmt::Arguments<'_>) -> String {
        let mut line = Line::new();
        line.format(arguments);
        String::from_utf8(line.whole().to_vec()).unwrap()
    }

    #[test]
    fn a_line_ends_and_is_cut_between_characters() {
        assert_eq!(text(format_args!("{:>4}|", 7)), "   7|\n");
        assert_eq!(text(format_args!("a\0b")), "a\u{fffd}b\n");
        let long = text(format_args!("x{}", "ä".repeat(200)));
        assert_eq!(long, format!("x{}\n", "ä".repeat(126)));
        assert_eq!(text(format_args!("{}", "y".repeat(300))).len(), LINE_BYTES + 1);
    }

    /// The bytes of a buffer, as a host copies them from a device.
    fn bytes(buffer: &Buffer) -> Vec<u8> {
        let start = [buffer.asked, buffer.lost].map(u32::to_le_bytes).concat();
        [start.as_slice(), &buffer.text].concat()
    }

    #[test]
    fn the_host_reads_what_threads_have_printed() {
        use kernelmill_artifact::Printed;
        // SAFETY: integers, for which zero is a value.
        let mut buffer: Box<Buffer> = unsafe { Box::new_zeroed().assume_init() };
        assert_eq!(Printed::read(&bytes(&buffer)), Some(Printed { text: String::new(), lost: 0 }));
        let mut line = Line::new();
        line.format(format_args!("ä {}", 1));
        let mut of_c = Line::new();
        let (format, values) = (c"thread %d: %5.2f\n", [3, 1.5_f64.to_bits()]);
        // SAFETY: one thread; the texts end in zeros.
        unsafe {
            c::format(&mut of_c, format.as_ptr().cast(), values.as_ptr(), 2);
            append(&raw mut *buffer, line.bytes.as_ptr());
            append(&raw mut *buffer, of_c.bytes.as_ptr());
        }
        let printed = Printed::read(&bytes(&buffer)).unwrap();
        assert_eq!((&*printed.text, printed.lost), ("ä 1\nthread 3:  1.50\n", 0));
        // More than there is room for: the first that fit, and how many do not.
        for _ in 0..BUFFER_BYTES {
            // SAFETY: as before.
            unsafe { append(&raw mut *buffer, c"0123456789\n".as_ptr().cast()) };
        }
        let printed = Printed::read(&bytes(&buffer)).unwrap();
        let whole = (BUFFER_BYTES - 23) / 11;
        assert_eq!(printed.text.lines().count(), 2 + whole);
        assert_eq!(printed.lost as usize, BUFFER_BYTES - whole);
        assert_eq!(Printed::read(&bytes(&buffer)[1..]), None);
    }

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
