//! Printing from kernels: [`gpu_println!`](crate::gpu_println).
//!
//! Lines never mix. The lines of one thread keep their order; lines of different threads have none. On the CPU and on NVIDIA's
//! devices a thread formats a line and prints it as a whole. The CPU prints at once, NVIDIA's driver when the host
//! synchronises, from a buffer of limited size. The drivers of AMD's and of OpenCL devices do not print: there threads append
//! entries to a buffer of the launch, and the host formats them, as `kernelmill_artifact::render_lines` does, and prints them
//! when it waits. An entry has the values of a line. Where a value is of a type that is formatted by its own code, AMD's
//! devices format the line and append that; OpenCL devices, which call no functions by address, leave the value out.
//!
//! Formatting on the device links that of `core` into a kernel, which is much code: use it for debugging.

mod buffer;
#[cfg(any(kernelmill, test))]
mod c;
#[cfg(any(kernelmill, test))]
mod decimal;
#[cfg(any(kernelmill, test))]
mod entries;
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

/// Appends the values of a line to the buffer of the launch. The compiler calls it in the place of [`line`] where the host
/// formats lines, whose text has this number.
///
/// # Safety
///
/// There are `count` values; the bits of `texts` say which of them are the address of a text, whose length is the next one.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_print_values(
    number: u32,
    values: *const u64,
    count: usize,
    texts: u64,
) {
    // SAFETY: promised; the buffer of the launch is used only by entries.
    unsafe {
        let buffer = __kernelmill_print_memory_address();
        entries::append_values(buffer, number, values, count, texts);
    };
}

/// Appends a formatted line to the buffer of the launch. The compiler calls it on targets that have no `printf`.
///
/// # Safety
///
/// The text is null-terminated.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_print_to_entry(text: *const u8) {
    let mut length = 0;
    // SAFETY: promised.
    while unsafe { *text.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: the buffer of the launch is used only by entries; the words of the text are reserved.
    unsafe {
        let buffer = __kernelmill_print_memory_address();
        if let Some(mut entry) = entries::Entry::new(buffer, 0, entries::words(length)) {
            entry.put_text(text, length);
            entry.complete();
        }
    }
}

/// C's `printf` into the buffer of the launch, with arguments of a word each. The compiler replaces calls of
/// `printf` by it on targets that have none.
///
/// # Safety
///
/// The format is null-terminated, as is each text that is printed without a precision; there are `count`
/// values.
#[cfg(kernelmill)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_printf_to_entry(
    format: *const u8,
    values: *const u64,
    count: u32,
) -> i32 {
    let mut line = Line::new();
    // SAFETY: promised; the line ends in a zero.
    unsafe {
        format_once(&mut line, format, values, count as usize);
        __kernelmill_print_to_entry(line.bytes.as_ptr());
    }
    line.length as i32
}

/// Formats as C does, out of line: what appends to the buffer is inlined into each kernel.
///
/// # Safety
///
/// As for [`c::format`].
#[cfg(kernelmill)]
#[inline(never)]
unsafe fn format_once(line: &mut Line, format: *const u8, values: *const u64, count: usize) {
    // SAFETY: promised.
    unsafe { c::format(line, format, values, count) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_formats_the_values_that_threads_have_sent() {
        use kernelmill_artifact::render_lines;
        // SAFETY: integers, for which zero is a value.
        let mut memory: Box<Buffer> = unsafe { Box::new_zeroed().assume_init() };
        let name = "a long name, cut nowhere";
        let long = "x".repeat(1000);
        let values = [7, name.as_ptr() as u64, name.len() as u64, u64::from(1.5_f32.to_bits())];
        let texts = [long.as_ptr() as u64, long.len() as u64];
        // SAFETY: one thread; there are as many values, and texts where they say.
        unsafe {
            entries::append_values(&raw mut *memory, 1, values.as_ptr(), 4, 2);
            entries::append_values(&raw mut *memory, 2, core::ptr::null(), 0, 0);
            entries::append_values(&raw mut *memory, 3, texts.as_ptr(), 2, 1);
            let text = "formatted\n";
            let words = entries::words(text.len());
            let mut entry = entries::Entry::new(&raw mut *memory, 0, words).unwrap();
            entry.put_text(text.as_ptr(), text.len());
            entry.complete();
        }
        let words = |memory: &Buffer| -> Vec<u64> {
            memory.text.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
        };
        let messages = ["{u32} of {str}: {f32:.2}", "nothing", "{str}"];
        let line = "x".repeat(LINE_BYTES);
        let expected = format!("7 of {name}: 1.50\nnothing\n{line}\nformatted\n");
        assert_eq!(render_lines(&words(&memory), &messages, &[]), expected);
        // Once there is no room the count stays, and lines that are lost are counted.
        for _ in 0..BUFFER_BYTES {
            // SAFETY: as before.
            unsafe { entries::append_values(&raw mut *memory, 2, core::ptr::null(), 0, 0) };
        }
        let found = render_lines(&words(&memory), &messages, &[]).lines().count();
        assert_eq!(found - 4 + memory.lost as usize, BUFFER_BYTES);
        assert!(memory.asked as usize <= BUFFER_BYTES + 8 && found > 7000, "{found} lines");
    }

    #[test]
    fn the_host_prints_what_threads_have_formatted() {
        use kernelmill_artifact::render_lines;
        // SAFETY: integers, for which zero is a value.
        let mut memory: Box<Buffer> = unsafe { Box::new_zeroed().assume_init() };
        let mut line = Line::new();
        line.format(format_args!("ä {}", 1));
        let mut of_c = Line::new();
        let (format, values) = (c"thread %d: %5.2f\n", [3, 1.5_f64.to_bits()]);
        // SAFETY: one thread; the texts end in zeros, and their words are reserved.
        unsafe {
            c::format(&mut of_c, format.as_ptr().cast(), values.as_ptr(), 2);
            for line in [&line, &of_c] {
                let length = line.bytes.iter().position(|byte| *byte == 0).unwrap();
                let words = entries::words(length);
                let mut entry = entries::Entry::new(&raw mut *memory, 0, words).unwrap();
                entry.put_text(line.bytes.as_ptr(), length);
                entry.complete();
            }
        }
        let words = memory.text.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let words: Vec<u64> = words.collect();
        assert_eq!(render_lines(&words, &[], &[]), "ä 1\nthread 3:  1.50\n");
    }
}
