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
    let text = text_without_data(&context, bitcode)?;
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

/// A module's text, but for the values of its globals: the text of data is several times as long as the data, and has no
/// digest.
fn text_without_data(context: &Context, bitcode: &[u8]) -> Result<String, Error> {
    let module = parse_bitcode(context, bitcode, "checksums")?;
    for global in module.globals().into_iter().filter(|it| it.initializer().is_some()) {
        global.set_initializer(global.value_type().poison());
    }
    Ok(module.to_text())
}

/// The digests in a module's text.
fn digests(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.starts_with('!') && line.contains("!DIFile("));
    // The last, for a file may have any name.
    let digests = lines.filter_map(|line| line.rsplit_once(BEFORE)?.1.split_once('"'));
    digests.map(|(digest, _)| digest).filter(|digest| digest.len() >= SHORTEST)
}

/// The stretches of hexadecimal digits that are long enough for a digest. Build scripts are not optimised, so the bytes are
/// looked at once, whatever the number of digests, and of data one in as many as a digest has.
fn runs_of_hex(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_digit = |index: &usize| bytes[*index].is_ascii_hexdigit();
    let (mut runs, mut at) = (Vec::new(), SHORTEST - 1);
    while at < bytes.len() {
        if !is_digit(&at) {
            at += SHORTEST;
            continue;
        }
        let start = (0..at).rev().find(|index| !is_digit(index)).map_or(0, |index| index + 1);
        let end = (at..bytes.len()).find(|index| !is_digit(index)).unwrap_or(bytes.len());
        if end - start >= SHORTEST {
            runs.push(start..end);
        }
        at = end + SHORTEST;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::loaded::open_llvm;
    use kernelmill_llvm::ir::parse_ir;

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
    fn data_is_neither_searched_nor_changed() {
        open_llvm();
        let context = Context::create();
        let digest = "00112233445566778899aabbccddeeff";
        let data = "k7".repeat(10_000);
        let text = format!(
            "@table = constant [20000 x i8] c\"{data}\"\n!llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2}}\n\
             !0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1)\n\
             !1 = !DIFile(filename: \"a.c\", directory: \"\", checksumkind: CSK_MD5, checksum: \"{digest}\")\n\
             !2 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n"
        );
        let mut bitcode = parse_ir(&context, &text, "", "").unwrap().to_bitcode();
        let text = text_without_data(&context, &bitcode).unwrap();
        assert!(text.contains(digest) && text.len() < 2000, "{text}");
        clear_checksums(&mut bitcode).unwrap();
        let cleared = parse_bitcode(&context, &bitcode, "cleared").unwrap();
        let table = cleared.global("table").unwrap().initializer().unwrap();
        assert_eq!(table.as_bytes(), Some(data.as_bytes()));
        assert!(!cleared.to_text().contains(digest));
    }

    #[test]
    fn digits_are_found_between_other_bytes_and_at_the_ends() {
        let digest = "0123456789abcdef0123456789ABCDEF";
        let bytes = format!("{digest}x{}yz{digest}a", &digest[1..]);
        assert_eq!(runs_of_hex(bytes.as_bytes()), [0..32, 66..99]);
        // Wherever a run begins, and whatever run is before it.
        for (gap, before) in (0..70).flat_map(|gap| [(gap, 0), (gap, 31), (gap, 40)]) {
            let text = format!("{}{}x{digest}", "a".repeat(before), "x".repeat(gap));
            let mut expected = Vec::new();
            if before >= SHORTEST {
                expected.push(0..before);
            }
            expected.push(before + gap + 1..before + gap + 33);
            assert_eq!(runs_of_hex(text.as_bytes()), expected, "{text}");
        }
    }
}
