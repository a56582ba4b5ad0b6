//! Digests of source files, which compilers write into debug information.
//!
//! A comment at the end of a file changes its digest and nothing else of the bitcode. With zeros in
//! their place, bitcode changes only where the code does, and a key can be made of it. Debuggers
//! take zeros for no digest.

use kernelmill_llvm::{
    Error,
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

/// What comes before a digest in LLVM's textual form.
const BEFORE: &str = "checksum: \"";

/// Replaces the digests of source files in a module by zeros, and leaves out the digest of all of it
/// that rustc adds. LLVM must be open.
///
/// # Errors
///
/// [`Error::Llvm`] where the bytes are no bitcode that LLVM reads.
pub(crate) fn clear_checksums(bitcode: &mut Vec<u8>) -> Result<(), Error> {
    let context = Context::create();
    let text = parse_bitcode(&context, bitcode, "checksums")?.to_text();
    for digest in digests(&text) {
        let mut start = 0;
        // The characters are bytes of a table of texts. A digest does not stand there by chance.
        while let Some(found) = find(&bitcode[start..], digest.as_bytes()) {
            let end = start + found + digest.len();
            bitcode[start + found..end].fill(b'0');
            start = end;
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
    digests.map(|(digest, _)| digest).filter(|digest| digest.len() >= 32)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
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
}
