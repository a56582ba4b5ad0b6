//! The form of an entry: magic, version, digest, content. The digest is that of the content with the entry's
//! kind and key, so that an entry under another name than its own is as bad as a damaged one.

use crate::key::KeyBuilder;
use kernelmill_artifact::Fingerprint;

const MAGIC: &[u8; 8] = b"kmill-st";
/// Entries of other versions lie in other folders.
pub(crate) const VERSION: u32 = 3;
const DIGEST: usize = 32;
const HEADER: usize = MAGIC.len() + 4 + DIGEST;

/// What an entry is called.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) kind: &'a str,
    pub(super) key: &'a Fingerprint,
}

/// Frames content.
pub(super) fn close(name: Name<'_>, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + content.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(digest(name, content));
    bytes.extend(content);
    bytes
}

/// The content of a frame; `None` where anything of it is not as it was written under this name.
pub(super) fn open<'b>(name: Name<'_>, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (header, content) = bytes.split_at_checked(HEADER)?;
    let (magic, header) = header.split_at_checked(MAGIC.len())?;
    let (version, sum) = header.split_at_checked(4)?;
    let is_whole =
        magic == MAGIC && version == VERSION.to_le_bytes() && sum == digest(name, content);
    is_whole.then_some(content)
}

fn digest(name: Name<'_>, content: &[u8]) -> [u8; DIGEST] {
    let key = KeyBuilder::new("store entry").part("kind", name.kind).part("key", name.key.0);
    key.part("content", content).finish().0
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Fingerprint = Fingerprint([3; 32]);
    const NAME: Name<'_> = Name { kind: "artifact", key: &KEY };

    #[test]
    fn every_changed_bit_every_two_and_every_missing_byte_are_noticed() {
        let content: Vec<u8> = (0..40_u8).collect();
        let frame = close(NAME, &content);
        assert_eq!(open(NAME, &frame), Some(&content[..]));
        let bits = frame.len() * 8;
        let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 1 << (bit % 8);
        for first in 0..bits {
            let mut damaged = frame.clone();
            flip(&mut damaged, first);
            assert_eq!(open(NAME, &damaged), None, "bit {first}");
            for second in [first + 1, first + 8, first + 64, bits - 1] {
                if second < bits && second != first {
                    flip(&mut damaged, second);
                    assert_eq!(open(NAME, &damaged), None, "bits {first} and {second}");
                    flip(&mut damaged, second);
                }
            }
        }
        for length in 0..frame.len() {
            assert_eq!(open(NAME, &frame[..length]), None, "the first {length} bytes");
        }
        assert_eq!(open(NAME, &[&frame[..], b"more"].concat()), None);
    }

    #[test]
    fn two_words_of_a_sum_that_make_up_for_each_other_are_noticed() {
        // Sums of words, and sums of those sums, are the same for these two.
        let words = |words: [u64; 3]| words.map(u64::to_le_bytes).concat();
        let mut frame = close(NAME, &words([5, 5, 5]));
        frame[HEADER..].copy_from_slice(&words([6, 3, 6]));
        assert_eq!(open(NAME, &frame), None);
    }

    /// Acceptance: S3.13, C24.
    #[test]
    fn an_entry_is_bound_to_its_key_and_kind() {
        let frame = close(NAME, b"content");
        let other = Fingerprint([4; 32]);
        assert_eq!(open(Name { key: &other, ..NAME }, &frame), None);
        assert_eq!(open(Name { kind: "lowered", ..NAME }, &frame), None);
    }
}
