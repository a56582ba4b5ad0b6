//! Print buffers: memory that kernels append lines to and the host takes them from, on devices whose driver does not print.
//!
//! The buffer of a stream and an image is beside its panic record, which has its address, in memory that both sides share. A
//! kernel reserves words by the count in the header, and completes an entry by its first word
//! (`device/src/print/entries.rs`). The host takes the complete ones, whenever it waits for the stream, and sets their words to zero. Once it
//! has taken all that was asked for, the count starts from zero again.

use std::{
    io::Write as _,
    ptr::NonNull,
    sync::atomic::{AtomicU32, Ordering},
};

use kernelmill_artifact::{PRINT_BUFFER_BYTES, render_lines};

use crate::embedded::EmbeddedArtifact;

/// Words of entries, behind the header.
const WORDS: usize = PRINT_BUFFER_BYTES / 8 - 1;

/// A buffer of [`PRINT_BUFFER_BYTES`], which were zero at first.
pub(super) struct PrintBuffer {
    memory: NonNull<u64>,
    /// The words that were taken since the count was zero.
    taken: usize,
}

impl PrintBuffer {
    /// # Safety
    ///
    /// The memory is there as long as this, and kernels and this alone use it.
    pub(super) unsafe fn new(memory: NonNull<u64>) -> Self {
        Self { memory, taken: 0 }
    }

    /// Prints the lines that are complete.
    pub(super) fn print(&mut self, artifact: &EmbeddedArtifact) {
        let (words, lost) = self.take();
        if words.is_empty() && lost == 0 {
            return;
        }
        let text = render_lines(&words, artifact.messages, artifact.locations);
        // Nobody is there who could be told that the output is closed.
        let mut output = std::io::stdout().lock();
        let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
        if lost > 0 {
            let _ = writeln!(
                std::io::stderr(),
                "kernelmill: {lost} lines printed by kernels of {} are lost: they did not fit into the print buffer \
                 of {PRINT_BUFFER_BYTES} bytes",
                artifact.source
            );
        }
    }

    /// The words of complete entries, and the number of lines that did not fit.
    fn take(&mut self) -> (Vec<u64>, u32) {
        let header = self.memory.as_ptr().cast::<u32>();
        // SAFETY: within the memory; both counts are only used atomically.
        let (asked, lost) =
            unsafe { (AtomicU32::from_ptr(header), AtomicU32::from_ptr(header.add(1))) };
        let count = asked.load(Ordering::Acquire);
        let (end, is_full) = ((count as usize / 8).min(WORDS), count as usize > 8 * WORDS);
        let mut words = Vec::new();
        while self.taken < end {
            // SAFETY: within the memory. The low half of an entry's first word is only used atomically until it is
            // complete; then no kernel uses its words any more.
            unsafe {
                let entry = self.memory.as_ptr().add(1 + self.taken);
                let length = AtomicU32::from_ptr(entry.cast()).load(Ordering::Acquire) as usize;
                if length == 0 || length > end - self.taken {
                    break;
                }
                words.extend((0..length).map(|index| entry.add(index).read()));
                entry.write_bytes(0, length);
                self.taken += length;
            }
        }
        if is_full {
            // What did not fit is written nowhere.
            asked.store(0, Ordering::Release);
            self.taken = 0;
        } else if self.taken == end
            && asked.compare_exchange(count, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            self.taken = 0;
        }
        (words, lost.swap(0, Ordering::AcqRel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kernel does for an entry of these words behind the first; `None` where they do not fit.
    fn reserve(memory: &mut [u64], words: u32) -> Option<usize> {
        let bytes = 8 * (words + 1);
        let (asked, lost) = (memory[0] as u32, (memory[0] >> 32) as u32);
        let fits = (asked + bytes) as usize <= 8 * WORDS;
        memory[0] = u64::from(asked + bytes) | u64::from(lost + u32::from(!fits)) << 32;
        fits.then_some(1 + asked as usize / 8)
    }

    #[test]
    fn complete_entries_are_taken_in_their_order_and_once() {
        let mut memory = vec![0_u64; PRINT_BUFFER_BYTES / 8];
        let place = NonNull::new(memory.as_mut_ptr()).unwrap();
        // SAFETY: the memory is there as long as the test, which stands for the kernels.
        let mut buffer = unsafe { PrintBuffer::new(place) };
        assert_eq!(buffer.take(), (vec![], 0));
        let first = reserve(&mut memory, 1).unwrap();
        let second = reserve(&mut memory, 0).unwrap();
        (memory[second], memory[first + 1]) = (1 | 7 << 32, 4711);
        assert_eq!(buffer.take(), (vec![], 0), "the first is not complete");
        memory[first] = 2;
        assert_eq!(buffer.take(), (vec![2, 4711, 1 | 7 << 32], 0));
        assert!(memory.iter().all(|word| *word == 0));
        // Not all that was asked for is there, so the count goes on.
        let _ = (reserve(&mut memory, 0), reserve(&mut memory, 0));
        memory[1] = 1;
        assert_eq!(buffer.take(), (vec![1], 0));
        assert_eq!(memory[0], 16);
        memory[2] = 1;
        assert_eq!((buffer.take(), memory[0]), ((vec![1], 0), 0));
    }

    #[test]
    fn what_does_not_fit_is_counted_and_the_buffer_is_used_again() {
        let mut memory = vec![0_u64; PRINT_BUFFER_BYTES / 8];
        let place = NonNull::new(memory.as_mut_ptr()).unwrap();
        // SAFETY: as above.
        let mut buffer = unsafe { PrintBuffer::new(place) };
        let mut fitted = 0;
        for _ in 0..WORDS {
            if let Some(at) = reserve(&mut memory, 1) {
                memory[at] = 2;
                fitted += 1;
            }
        }
        let (words, lost) = buffer.take();
        assert_eq!((words.len(), fitted), (2 * fitted, WORDS / 2));
        assert_eq!(lost as usize, WORDS - fitted);
        let at = reserve(&mut memory, 0).unwrap();
        memory[at] = 1;
        assert_eq!((at, buffer.take()), (1, (vec![1], 0)));
    }
}
