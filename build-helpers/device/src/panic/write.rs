//! Filling in a record.

use super::PanicRecord;
use core::sync::atomic::{AtomicU32, Ordering};

/// The size of `core::panic::Location` as it lies in a table of them.
const LOCATION_BYTES: usize = 24;

/// What a panic writes besides its message.
pub(super) struct Panic {
    pub(super) kind: u32,
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) location: u32,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
}

/// Claims `record` for `panic`; `false` when another thread was first.
///
/// # Safety
///
/// `record` points to a record that other threads use only through this module.
pub(super) unsafe fn claim(record: *mut PanicRecord, panic: &Panic) -> bool {
    // SAFETY: the state is only used atomically.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
    if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return false;
    }
    // SAFETY: whoever changes the state from 0 to 1 has the other fields.
    unsafe {
        (*record).kind = panic.kind;
        (*record).a = panic.a;
        (*record).b = panic.b;
        (*record).location = panic.location;
        (*record).block = panic.block;
        (*record).thread = panic.thread;
    }
    true
}

/// Says that a claimed record is complete.
///
/// # Safety
///
/// As for [`claim`], which returned `true` in this thread.
pub(super) unsafe fn complete(record: *mut PanicRecord) {
    // SAFETY: the state is only used atomically.
    unsafe { AtomicU32::from_ptr(&raw mut (*record).state) }.store(2, Ordering::Release);
}

/// The index of the location at `address` in the table at `base`.
pub(super) fn location_index(address: usize, base: usize) -> u32 {
    if address == 0 { u32::MAX } else { (address.wrapping_sub(base) / LOCATION_BYTES) as u32 }
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
        Panic { kind: 2, a: 7, b: 4, location: 3, block: [1, 0, 0], thread: [5, 0, 0] };

    #[test]
    fn the_first_panic_wins() {
        let mut record = record();
        // SAFETY: one thread, one record.
        unsafe {
            assert!(claim(&mut record, &PANIC));
            assert!(!claim(&mut record, &Panic { kind: 3, ..PANIC }));
            complete(&mut record);
            assert!(!claim(&mut record, &PANIC));
        }
        assert_eq!((record.state, record.kind, record.a, record.b), (2, 2, 7, 4));
        assert_eq!((record.location, record.block, record.thread), (3, [1, 0, 0], [5, 0, 0]));
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
    fn locations_are_counted_from_the_table() {
        assert_eq!(location_index(0, 96), u32::MAX);
        assert_eq!(location_index(96 + 48, 96), 2);
    }
}
