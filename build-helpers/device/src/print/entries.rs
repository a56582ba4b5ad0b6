//! Lines for devices whose lines the host formats: the values that stand in them, appended to the output buffer.
//!
//! An entry is words of 8 bytes. The first one has their number in its low half, which is written last, and above it the index
//! of the text in the artifact's table plus 1, or 0 for a line that is formatted. Of a formatted line the other words
//! are its bytes. Otherwise they are the values, as panics have them: a text is its length, then its bytes.

use super::buffer::{BUFFER_BYTES, Buffer};
use core::sync::atomic::{AtomicU32, Ordering};

/// The most bytes that are sent of a text in a line.
pub(super) const TEXT_BYTES: usize = 256;

/// The words of an entry that this thread writes.
pub(super) struct Entry {
    place: *mut u64,
    number: u32,
    words: u32,
    written: usize,
}

impl Entry {
    /// Reserves so many words behind the first one; `None` where they do not fit any more.
    ///
    /// # Safety
    ///
    /// The buffer is there, at a multiple of 8 bytes, and other threads access it in this way alone.
    #[inline(always)]
    pub(super) unsafe fn new(buffer: *mut Buffer, number: u32, words: usize) -> Option<Self> {
        let bytes = 8 * (words + 1);
        // SAFETY: both counts are only used atomically.
        let (asked, lost) = unsafe {
            let asked = AtomicU32::from_ptr(&raw mut (*buffer).asked);
            (asked, AtomicU32::from_ptr(&raw mut (*buffer).lost))
        };
        // Once it is full the count stays as it is, which would start from 0 again.
        let is_full = asked.load(Ordering::Relaxed) as usize > BUFFER_BYTES;
        let start = match is_full {
            true => BUFFER_BYTES,
            false => asked.fetch_add(bytes as u32, Ordering::Relaxed) as usize,
        };
        if start > BUFFER_BYTES || bytes > BUFFER_BYTES - start {
            lost.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        // SAFETY: what a thread has asked for is its own, and a multiple of 8 bytes from the start of the text, as all are.
        let place = unsafe { (&raw mut (*buffer).text).cast::<u8>().add(start).cast::<u64>() };
        Some(Self { place, number, words: words as u32 + 1, written: 0 })
    }

    /// Writes the next word, which is one of those that are reserved.
    #[inline(always)]
    pub(super) fn put(&mut self, word: u64) {
        self.written += 1;
        // SAFETY: it is reserved.
        unsafe { self.place.add(self.written).write(word) };
    }

    /// Writes the bytes of a text.
    ///
    /// # Safety
    ///
    /// They are there, and their words are reserved.
    #[inline(always)]
    pub(super) unsafe fn put_text(&mut self, text: *const u8, length: usize) {
        let mut at = 0;
        while at < length {
            let (mut word, mut byte) = (0, 0);
            while byte < 8 && at + byte < length {
                // SAFETY: within the text.
                word |= u64::from(unsafe { text.add(at + byte).read() }) << (8 * byte);
                byte += 1;
            }
            self.put(word);
            at += 8;
        }
    }

    /// Tells the host that the entry is whole.
    #[inline(always)]
    pub(super) fn complete(self) {
        let head = self.place.cast::<u32>();
        // SAFETY: the word is reserved; its low half is only used atomically.
        unsafe {
            head.add(1).write(self.number);
            AtomicU32::from_ptr(head).store(self.words, Ordering::Release);
        }
    }
}

/// The words of a text of so many bytes.
#[inline(always)]
pub(super) fn words(length: usize) -> usize {
    length.div_ceil(8)
}

/// Appends a line of values. The bits of `texts` say which of them are the address of a text, whose length is the next value.
///
/// # Safety
///
/// There are `count` values; and as for [`Entry::new`].
#[inline(always)]
pub(super) unsafe fn append_values(
    buffer: *mut Buffer,
    number: u32,
    values: *const u64,
    count: usize,
    texts: u64,
) {
    // SAFETY: promised.
    let value = |index: usize| unsafe { values.add(index).read() };
    let length = |index: usize| match value(index + 1) as usize {
        length if length > TEXT_BYTES => TEXT_BYTES,
        length => length,
    };
    let is_text = |index: usize| texts >> (index & 63) & 1 == 1;
    let (mut index, mut total) = (0, 0);
    while index < count {
        total += 1;
        if is_text(index) {
            total += words(length(index));
            index += 1;
        }
        index += 1;
    }
    // SAFETY: promised.
    let Some(mut entry) = (unsafe { Entry::new(buffer, number, total) }) else { return };
    index = 0;
    while index < count {
        if is_text(index) {
            entry.put(length(index) as u64);
            // SAFETY: the text is there, and its words were counted.
            unsafe { entry.put_text(value(index) as *const u8, length(index)) };
            index += 1;
        } else {
            entry.put(value(index));
        }
        index += 1;
    }
    entry.complete();
}
