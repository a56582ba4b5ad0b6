//! Writing of panic records.
//!
//! A record can serve one launch after the other, and the host may read it while launches run. Its state
//! counts: a thread claims the record by making the state odd, and completes the panic by making it even
//! again, as a [sequence lock](https://www.kernel.org/doc/html/latest/locking/seqlock.html) does. The host
//! writes the state that it has read to `acknowledged`, and nothing else; until then the panic stays.

use super::{MESSAGE_BYTES, PanicRecord};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The size of `core::panic::Location` as it lies in a table of them.
const LOCATION_BYTES: isize = 24;

/// The contents of a record besides its message.
pub(super) struct Panic {
    pub(super) kind: u32,
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) location: u32,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
}

/// Claims `record` for a panic of the launch with this number; `false` when another thread of the launch
/// was first, or the host has not read the panic of a launch before.
///
/// # Safety
///
/// `record` points to a record that other threads use only through this module.
#[inline(always)]
pub(super) unsafe fn claim(record: *mut PanicRecord, launch: u64) -> bool {
    // SAFETY: these fields are only used atomically.
    let (state, acknowledged, last) = unsafe {
        (
            AtomicU32::from_ptr(&raw mut (*record).state),
            AtomicU32::from_ptr(&raw mut (*record).acknowledged),
            AtomicU64::from_ptr(&raw mut (*record).launch),
        )
    };
    // Acquire: what the host has read, and what the last claimant wrote, lies before this.
    let before = state.load(Ordering::Acquire);
    if before != acknowledged.load(Ordering::Acquire) {
        return false;
    }
    if before != 0 && last.load(Ordering::Relaxed) == launch {
        return false;
    }
    let claimed = state
        .compare_exchange(before, before.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed)
        .is_ok();
    if claimed {
        last.store(launch, Ordering::Relaxed);
    }
    claimed
}

/// Fills in a claimed record, without a message: the one of a panic before may be there yet.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread.
#[inline(always)]
pub(super) unsafe fn fill(record: *mut PanicRecord, panic: &Panic) {
    // SAFETY: whoever changes the state from 0 to 1 has the other fields.
    unsafe {
        (*record).message_len = 0;
        (*record).kind = panic.kind;
        (*record).location = panic.location;
        (*record).a = panic.a;
        (*record).b = panic.b;
        (*record).block = panic.block;
        (*record).thread = panic.thread;
    }
}

/// Writes a text to a claimed record, cut at its size.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread.
pub(super) unsafe fn fill_text(record: *mut PanicRecord, text: &[u8]) {
    // SAFETY: whoever changes the state from 0 to 1 has the other fields.
    let record = unsafe { &mut *record };
    for (to, from) in record.message.iter_mut().zip(text) {
        *to = *from;
        record.message_len += 1;
    }
}

/// Writes values in place of a claimed record's message, as many as fit.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread; there are `count` values.
pub(super) unsafe fn fill_values(record: *mut PanicRecord, values: *const u64, count: usize) {
    let count = if count < MESSAGE_BYTES / 8 { count } else { MESSAGE_BYTES / 8 };
    let mut index = 0;
    while index < count {
        // SAFETY: promised; the message is at a multiple of 8 bytes.
        unsafe {
            let message = (&raw mut (*record).message).cast::<u64>();
            message.add(index).write(values.add(index).read());
        }
        index += 1;
    }
    // SAFETY: whoever changes the state from 0 to 1 has the other fields.
    unsafe { (*record).message_len = 8 * count as u32 };
}

/// Words of values that a record holds: its two numbers, and the message.
const WORDS: usize = 2 + MESSAGE_BYTES / 8;

/// Writes values and texts to a claimed record, as many as fit: first the numbers, then the message. A
/// text is written as its length and its bytes. At `values` it is an address and a length, and `texts`
/// has a bit for the index of the address.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread; there are `count` values, and the texts.
pub(super) unsafe fn fill_parts(
    record: *mut PanicRecord,
    values: *const u64,
    count: usize,
    texts: u64,
) {
    let mut words = Words { record, written: 0 };
    let mut index = 0;
    while index < count {
        // SAFETY: by the condition of this function.
        let value = unsafe { values.add(index).read() };
        let is_text = texts.wrapping_shr(index as u32) & 1 == 1;
        index += 1;
        if !is_text {
            words.put(value);
            continue;
        }
        // SAFETY: by the condition of this function; a length comes after each address.
        let length = unsafe { values.add(index).read() } as usize;
        index += 1;
        let text = core::ptr::with_exposed_provenance::<u8>(value as usize);
        let (mut goes_on, mut at) = (words.put(length as u64), 0);
        while goes_on && at < length {
            let (mut word, mut byte) = (0, 0);
            while byte < 8 && at + byte < length {
                // SAFETY: within the text.
                word |= u64::from(unsafe { text.add(at + byte).read() }) << (8 * byte);
                byte += 1;
            }
            goes_on = words.put(word);
            at += 8;
        }
    }
}

/// The words of a record that this thread has claimed.
struct Words {
    record: *mut PanicRecord,
    written: usize,
}

impl Words {
    /// Writes the next word; `false` if the record is full.
    #[inline(always)]
    fn put(&mut self, word: u64) -> bool {
        let record = self.record;
        // SAFETY: whoever changes the state from 0 to 1 has the other fields; the message is at a
        // multiple of 8 bytes, and the word within it.
        unsafe {
            match self.written {
                0 => (*record).a = word,
                1 => (*record).b = word,
                WORDS.. => return false,
                _ => {
                    let message = (&raw mut (*record).message).cast::<u64>();
                    message.add(self.written - 2).write(word);
                    (*record).message_len = 8 * (self.written as u32 - 1);
                }
            }
        }
        self.written += 1;
        true
    }
}

/// Marks a claimed record as complete.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread.
pub(super) unsafe fn complete(record: *mut PanicRecord) {
    // SAFETY: the state is only used atomically.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
    // Nobody else changes an odd state. Release: whoever reads the new one sees the whole panic.
    let claimed = state.load(Ordering::Relaxed);
    state.store(claimed.wrapping_add(1), Ordering::Release);
}

/// The index of the location at `address` in the table at `base`; [`u32::MAX`] for the address of
/// the one before the first, which stands for no location.
#[inline(always)]
pub(super) fn location_index(address: usize, base: usize) -> u32 {
    (address.wrapping_sub(base).cast_signed() / LOCATION_BYTES) as u32
}

/// Text written to a record, cut between characters.
pub(super) struct Message(pub(super) *mut PanicRecord);

impl core::fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            let encoded = character.encode_utf8(&mut bytes).as_bytes();
            // SAFETY: the thread that made `self` has claimed the record.
            let record = unsafe { &mut *self.0 };
            let start = record.message_len as usize;
            let Some(room) = record.message.get_mut(start..start + encoded.len()) else {
                return Err(core::fmt::Error);
            };
            room.copy_from_slice(encoded);
            record.message_len += encoded.len() as u32;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> PanicRecord {
        // SAFETY: integers, for which zero is a value.
        unsafe { core::mem::zeroed() }
    }

    const PANIC: Panic =
        Panic { kind: 2, a: 7, b: 4, location: 3, block: [1, 2, 3], thread: [5, 6, 7] };

    /// # Safety
    ///
    /// As for [`claim`].
    unsafe fn write(record: *mut PanicRecord, panic: &Panic) -> bool {
        // SAFETY: promised.
        unsafe {
            let claimed = claim(record, 1);
            if claimed {
                fill(record, panic);
            }
            claimed
        }
    }

    #[test]
    fn the_first_panic_wins() {
        let mut record = PanicRecord { message_len: 9, ..record() };
        // SAFETY: one thread, one record.
        unsafe {
            assert!(write(&mut record, &PANIC));
            assert!(!write(&mut record, &Panic { kind: 3, ..PANIC }));
            complete(&mut record);
            assert!(!write(&mut record, &PANIC));
        }
        assert_eq!((record.state, record.kind, record.a, record.b), (2, 2, 7, 4));
        assert_eq!(record.message_len, 0, "the text of the last launch's panic");
        assert_eq!((record.location, record.block, record.thread), (3, [1, 2, 3], [5, 6, 7]));
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let mut record = record();
        let text = "ä".repeat(99);
        let result = core::fmt::write(&mut Message(&mut record), format_args!("x{text}{}", "€uro"));
        assert!(result.is_err());
        let length = record.message_len as usize;
        assert_eq!(core::str::from_utf8(&record.message[..length]), Ok(&*format!("x{text}")));
    }

    #[test]
    fn a_text_is_copied_as_far_as_there_is_room() {
        let mut record = record();
        // SAFETY: one thread, one record.
        unsafe { fill_text(&mut record, b"x < n") };
        assert_eq!((record.message_len, &record.message[..5]), (5, b"x < n".as_slice()));
        record.message_len = 0;
        // SAFETY: as before.
        unsafe { fill_text(&mut record, &[b'y'; 300]) };
        assert_eq!((record.message_len, record.message[199]), (200, b'y'));
    }

    #[test]
    fn values_lie_in_the_place_of_the_message() {
        let mut record = record();
        let values: Vec<u64> = (0..40).map(|i| i << 40).collect();
        // SAFETY: one thread, one record.
        unsafe { fill_values(&mut record, values.as_ptr(), 2) };
        assert_eq!((record.message_len, record.message[13]), (16, 1));
        // SAFETY: as before.
        unsafe { fill_values(&mut record, values.as_ptr(), 40) };
        assert_eq!(
            (record.message_len, &record.message[192..]),
            (200, &(24_u64 << 40).to_le_bytes()[..])
        );
    }

    #[test]
    fn texts_lie_among_values_and_are_cut_where_there_is_no_room() {
        let mut record = record();
        let text =
            |text: &'static str| [text.as_ptr().expose_provenance() as u64, text.len() as u64];
        let ([a, a_length], [b, b_length]) = (text("nine byte"), text(""));
        let values = [7, a, a_length, b, b_length, 8];
        // SAFETY: one thread, one record, and the texts are there.
        unsafe { fill_parts(&mut record, values.as_ptr(), values.len(), 0b1010) };
        assert_eq!((record.a, record.b, record.message_len), (7, 9, 32));
        let words = record.message.as_chunks::<8>().0;
        assert_eq!((&words[0], &words[1]), (b"nine byt", b"e\0\0\0\0\0\0\0"));
        assert_eq!((words[2], words[3]), ([0; 8], 8_u64.to_le_bytes()));
        let long = "x".repeat(999).leak();
        let [c, c_length] = text(long);
        // SAFETY: as before.
        unsafe { fill_parts(&mut record, [c, c_length, 5].as_ptr(), 3, 1) };
        assert_eq!((record.a, record.b), (999, u64::from_le_bytes([b'x'; 8])));
        assert_eq!((record.message_len, record.message), (200, [b'x'; 200]));
    }

    #[test]
    fn locations_are_counted_from_the_table() {
        assert_eq!(location_index(96 - 24, 96), u32::MAX);
        assert_eq!(location_index(96, 96), 0);
        assert_eq!(location_index(96 + 48, 96), 2);
    }
}
