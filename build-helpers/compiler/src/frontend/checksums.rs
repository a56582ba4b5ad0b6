//! Digests of source files, which compilers write into debug information.
//!
//! A comment at the end of a file changes its digest and nothing else of the bitcode. With zeros in
//! their place, bitcode changes only where the code does, and a key can be made of it. Debuggers
//! take zeros for no digest.

use std::ops::Range;

use kernelmill_llvm::{
    Error,
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

/// What comes before a digest in LLVM's textual form.
const BEFORE: &str = "checksum: \"";
/// The digits of the shortest digest, MD5.
const SHORTEST: usize = 32;

/// Replaces the digests of source files in a module by zeros, and leaves out the digest of all of it
/// that rustc adds. LLVM must be open.
///
/// # Errors
///
/// [`Error::Llvm`] where the bytes are no bitcode that LLVM reads.
pub(crate) fn clear_checksums(bitcode: &mut Vec<u8>) -> Result<(), Error> {
    let context = Context::create();
    let text = parse_bitcode(&context, bitcode, "checksums")?.to_text();
    let digests: Vec<&str> = digests(&text).collect();
    for run in runs_of_hex(bitcode) {
        for start in run.clone() {
            let is_here = |digest: &&&str| bitcode[start..run.end].starts_with(digest.as_bytes());
            if let Some(digest) = digests.iter().find(is_here) {
                bitcode[start..start + digest.len()].fill(b'0');
            }
        }
    }
    *bitcode = parse_bitcode(&context, bitcode, "checksums")?.to_bitcode();
    Ok(())
}

/// The digests in a module's text.
fn digests(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.contains("!DIFile("));
    // The last, for a file may have any name.
    let digests = lines.filter_map(|line| line.rsplit_once(BEFORE)?.1.split_once('"'));
    digests.map(|(digest, _)| digest).filter(|digest| digest.len() >= SHORTEST)
}

/// The stretches of hexadecimal digits that are long enough for a digest. Build scripts are not
/// optimised, so the bytes are looked at once, whatever the number of digests.
fn runs_of_hex(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut runs, mut start) = (Vec::new(), 0);
    let end = std::iter::once(&b' ');
    for (index, byte) in bytes.iter().chain(end).enumerate() {
        if !byte.is_ascii_hexdigit() {
            if index - start >= SHORTEST {
                runs.push(start..index);
            }
            start = index + 1;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digests_of_files_are_found() {
        let text = "!7 = !DIFile(filename: \"checksum: \", directory: \"\", checksumkind: CSK_MD5, \
                    checksum: \"00112233445566778899aabbccddeeff\")\n\
                    !8 = !DIFile(filename: \"a\", directory: \"\")\n\
                    !9 = !{!\"checksum: \\22none\"}\n";
        let found: Vec<_> = digests(text).collect();
        assert_eq!(found, ["00112233445566778899aabbccddeeff"]);
    }

    #[test]
    fn digits_are_found_between_other_bytes_and_at_the_ends() {
        let digest = "0123456789abcdef0123456789ABCDEF";
        let bytes = format!("{digest}x{}yz{digest}a", &digest[1..]);
        assert_eq!(runs_of_hex(bytes.as_bytes()), [0..32, 66..99]);
    }
}
