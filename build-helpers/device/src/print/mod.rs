//! Printing from kernels: [`gpu_println!`](crate::gpu_println).
//!
//! A thread formats a line and prints it as a whole, so lines never mix. The lines of one thread keep
//! their order; lines of different threads have none. The CPU prints at once. NVIDIA's driver prints when
//! the host synchronises, from a buffer of limited size. AMD's driver does not print: there lines are
//! appended to a buffer of the module, the symbol `__kernelmill_print_buffer`, which
//! `kernelmill_artifact::Printed` reads.
//!
//! Printing links the formatting of `core` into a kernel, which is much code: use it for debugging.

mod buffer;
#[cfg(any(kernelmill, test))]
mod c;
#[cfg(any(kernelmill, test))]
mod decimal;
mod line;

pub use buffer::{BUFFER_BYTES, Buffer};
pub use line::LINE_BYTES;

use core::fmt;
use line::Line;

// The compiler supplies them for each target.
#[cfg(kernelmill)]
unsafe extern "C" {
    safe fn __kernelmill_print_memory_address() -> *mut Buffer;
    unsafe fn __kernelmill_print(text: *const u8);
}

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

/// The function that [`gpu_println!`](crate::gpu_println) calls.
#[cfg(not(kernelmill))]
pub fn line(text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    line.format(text);
    print!("{}", String::from_utf8_lossy(line.whole()));
}

/// The function that [`gpu_println!`](crate::gpu_println) calls.
#[cfg(kernelmill)]
pub fn line(text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    line.format(text);
    // SAFETY: the text ends in a zero.
    unsafe { __kernelmill_print(line.bytes.as_ptr()) };
}

/// Appends a line to the module's buffer. The compiler calls it on targets that have no `printf`.
///
/// # Safety
///
/// The text is null-terminated.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_print_to_buffer(text: *const u8) {
    // SAFETY: promised; the module's buffer is used only here.
    unsafe { buffer::append(__kernelmill_print_memory_address(), text) };
}

/// C's `printf` into the module's buffer, with arguments of a word each. The compiler replaces calls of
/// `printf` by it on targets that have none.
///
/// # Safety
///
/// The format is null-terminated, as is each text that is printed without a precision; there are `count`
/// values.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a buffer, as a host copies them from a device.
    fn bytes(memory: &Buffer) -> Vec<u8> {
        let start = [memory.asked, memory.lost].map(u32::to_le_bytes).concat();
        [start.as_slice(), &memory.text].concat()
    }

    #[test]
    fn the_host_reads_what_threads_have_printed() {
        use kernelmill_artifact::Printed;
        // SAFETY: integers, for which zero is a value.
        let mut memory: Box<Buffer> = unsafe { Box::new_zeroed().assume_init() };
        assert_eq!(Printed::read(&bytes(&memory)), Some(Printed { text: String::new(), lost: 0 }));
        let mut line = Line::new();
        line.format(format_args!("ä {}", 1));
        let mut of_c = Line::new();
        let (format, values) = (c"thread %d: %5.2f\n", [3, 1.5_f64.to_bits()]);
        // SAFETY: one thread; the texts end in zeros.
        unsafe {
            c::format(&mut of_c, format.as_ptr().cast(), values.as_ptr(), 2);
            buffer::append(&raw mut *memory, line.bytes.as_ptr());
            buffer::append(&raw mut *memory, of_c.bytes.as_ptr());
        }
        let printed = Printed::read(&bytes(&memory)).unwrap();
        assert_eq!((&*printed.text, printed.lost), ("ä 1\nthread 3:  1.50\n", 0));
        // More than there is room for: the first that fit, and how many do not.
        for _ in 0..BUFFER_BYTES {
            // SAFETY: as before.
            unsafe { buffer::append(&raw mut *memory, c"0123456789\n".as_ptr().cast()) };
        }
        let printed = Printed::read(&bytes(&memory)).unwrap();
        let whole = (BUFFER_BYTES - 23) / 11;
        assert_eq!(printed.text.lines().count(), 2 + whole);
        assert_eq!(printed.lost as usize, BUFFER_BYTES - whole);
        assert_eq!(Printed::read(&bytes(&memory)[1..]), None);
    }
}
