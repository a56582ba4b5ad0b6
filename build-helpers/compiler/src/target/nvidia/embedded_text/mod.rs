//! The PTX that ptxas embeds in a cubin with line tables, a third of its bytes.
//!
//! The sections `.nv_debug_ptx_txt` and, for processors since sm_100, `.nv.merc.nv_debug_ptx_txt` hold the lines of the PTX, each with a
//! zero byte behind it. Nothing that runs reads them: profilers show them beside the code. ptxas has no option that
//! leaves them out and keeps the line tables. So every line becomes a blank one, which leaves all sections, symbols and
//! line numbers what they are, and the file is laid out again as ptxas lays it out for a shorter text. The
//! tests compare the result with what ptxas itself makes of a shorter text.

mod layout;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use layout::Elf;

/// What the names of sections with PTX start with; nvlink adds a number.
const SECTIONS: [&str; 2] = [".nv_debug_ptx_txt", ".nv.merc.nv_debug_ptx_txt"];

/// The cubin with blank lines of PTX. What has no PTX embedded, or is not laid out as a finished cubin of ptxas is, is left as it is.
pub(super) fn without_text(cubin: Vec<u8>) -> Vec<u8> {
    with_text(&cubin, |text| text.iter().copied().filter(|byte| *byte == 0).collect())
        .unwrap_or(cubin)
}

/// The cubin with another text in place of each that it has.
fn with_text(cubin: &[u8], replace: impl Fn(&[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
    let elf = Elf::parse(cubin)?;
    let is_text = |name: &str| SECTIONS.iter().any(|text| name.starts_with(text));
    let mut contents = elf.contents()?;
    // Only what is understood to the last byte is changed.
    if elf.written(&contents)? != cubin {
        return None;
    }
    for (index, content) in contents.iter_mut().enumerate() {
        if is_text(elf.name(index)?) {
            *content = Cow::Owned(replace(content));
        }
    }
    elf.written(&contents)
}
