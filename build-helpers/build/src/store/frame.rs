//! The form of an entry: magic, version, length, SHA-256 of the content, content.

use crate::key::digest;

const MAGIC: &[u8; 8] = b"kmill-st";
/// Entries of other versions lie in other folders.
pub(super) const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 8 + 32;

/// Frames content.
pub(super) fn close(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + content.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(digest(content).0);
    bytes.extend(content);
    bytes
}

/// The content of a frame; `None` where anything of it is not as it was written.
pub(super) fn open(bytes: &[u8]) -> Option<&[u8]> {
    let (header, content) = bytes.split_at_checked(HEADER)?;
    let (magic, header) = header.split_at_checked(8)?;
    let (version, header) = header.split_at_checked(4)?;
    let (length, sum) = header.split_at_checked(8)?;
    let is_whole = magic == MAGIC
        && version == VERSION.to_le_bytes()
        && length == (content.len() as u64).to_le_bytes()
        && sum == digest(content).0;
    is_whole.then_some(content)
}
