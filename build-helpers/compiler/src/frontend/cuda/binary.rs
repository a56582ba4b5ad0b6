//! The kernels that a binary holds.

use kernelmill_artifact::ArtifactKind;
use object::{LittleEndian, elf::FileHeader64, read::elf::FileHeader as _};

/// The symbols of the kernels in PTX or a cubin, in its order.
pub(super) fn entries(kind: ArtifactKind, bytes: &[u8]) -> Vec<String> {
    match kind {
        ArtifactKind::Cubin => cubin_entries(bytes).unwrap_or_default(),
        _ => ptx_entries(&String::from_utf8_lossy(bytes)),
    }
}

fn ptx_entries(text: &str) -> Vec<String> {
    let after = text.lines().filter_map(|line| line.split_once(".entry ").map(|(_, rest)| rest));
    after
        .filter_map(|rest| rest.trim_start().split(['(', ' ', '\t']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A kernel of a cubin has a section `.nv.constant0.NAME` for its parameters, and its code in
/// `.text.NAME`; device functions have only the latter.
fn cubin_entries(bytes: &[u8]) -> object::Result<Vec<String>> {
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let mut entries = Vec::new();
    for section in sections.iter() {
        let name = sections.section_name(endian, section)?;
        if let Some(kernel) = name.strip_prefix(b".nv.constant0.") {
            entries.push(String::from_utf8_lossy(kernel).into_owned());
        }
    }
    Ok(entries)
}

/// Whether two symbols name the same kernel. nvcc puts a digest of the source's path into the
/// symbols of what is in a namespace without a name, where clang puts nothing; clang marks what is
/// `static`.
#[must_use]
pub fn is_same_symbol(left: &str, right: &str) -> bool {
    left == right || without_mark(&without_digest(left)) == without_mark(&without_digest(right))
}

/// A symbol without the `L` before the length of a name that is `static`.
fn without_mark(symbol: &str) -> String {
    let next = symbol.chars().skip(1).chain([' ']);
    let is_mark = |letter: char, next: char| letter == 'L' && next.is_ascii_digit();
    let kept = symbol.chars().zip(next).filter(|(letter, next)| !is_mark(*letter, *next));
    kept.map(|(letter, _)| letter).collect()
}

/// The start of what a namespace without a name is called.
const INTERNAL: &str = "_GLOBAL__N_";

/// A symbol in which every namespace without a name is called as clang calls it.
fn without_digest(symbol: &str) -> String {
    let (mut text, mut rest) = (String::new(), symbol);
    while let Some((before, name)) = rest.split_once(INTERNAL) {
        // The length stands before the name, perhaps after a name that ends in digits.
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let length = (1..=digits).rev().find_map(|count| {
            let (head, length) = before.split_at(before.len() - count);
            let length = length.parse::<usize>().ok()?.checked_sub(INTERNAL.len())?;
            name.get(length..).map(|rest| (head, rest))
        });
        let Some((head, after)) = length else { break };
        text.push_str(head);
        text.push_str("12_GLOBAL__N_1");
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_ptx() {
        let ptx = ".version 8.0\n.visible .entry one(\n.weak .entry _Z3twov()\n.func three(\n";
        assert_eq!(entries(ArtifactKind::Ptx, ptx.as_bytes()), ["one", "_Z3twov"]);
    }

    #[test]
    fn entries_of_a_cubin_are_its_sections_of_parameters() {
        let cubin =
            elf(&["", ".shstrtab", ".text.one", ".nv.constant0.one", ".nv.constant0._Z1kv"]);
        assert_eq!(entries(ArtifactKind::Cubin, &cubin), ["one", "_Z1kv"]);
        let names = cubin.len() - 1;
        assert!(entries(ArtifactKind::Cubin, &cubin[..names]).is_empty());
    }

    /// A 64-bit ELF file of empty sections with these names, the names of sections at its end.
    fn elf(names: &[&str]) -> Vec<u8> {
        const HEADER: u16 = 64;
        let table: Vec<u8> =
            names.iter().flat_map(|name| [name.as_bytes(), &[0]].concat()).collect();
        let table_at = 64 + 64 * names.len() as u64;
        let mut file = b"\x7fELF\x02\x01\x01\x33\x08\0\0\0\0\0\0\0".to_vec();
        file.extend([2_u16, 190].map(u16::to_le_bytes).concat());
        file.extend(1_u32.to_le_bytes());
        file.extend([0, 0, u64::from(HEADER)].map(u64::to_le_bytes).concat());
        file.extend(0_u32.to_le_bytes());
        let count = u16::try_from(names.len()).unwrap();
        file.extend([HEADER, 56, 0, HEADER, count, 1].map(u16::to_le_bytes).concat());
        let mut name_at = 0_u32;
        for (index, name) in names.iter().enumerate() {
            let kind: u32 = [0, 3, 1].get(index).copied().unwrap_or(1);
            let size = if index == 1 { table.len() as u64 } else { 0 };
            file.extend([name_at, kind].map(u32::to_le_bytes).concat());
            file.extend([0, 0, table_at, size].map(u64::to_le_bytes).concat());
            file.extend([0_u8; 24]);
            name_at += u32::try_from(name.len()).unwrap() + 1;
        }
        [file, table].concat()
    }

    #[test]
    fn what_is_no_elf_file_has_no_entries() {
        assert!(entries(ArtifactKind::Cubin, b"\x7fELF\x02\x01").is_empty());
        assert!(entries(ArtifactKind::Cubin, &[0xff; 4096]).is_empty());
    }

    #[test]
    fn internal_kernels_are_the_same_in_every_checkout() {
        let one = "_ZN35_GLOBAL__N__51df4d67_4_s_cu__Z2goPf6hiddenEPf";
        let other = "_ZN35_GLOBAL__N__58f0d64a_4_s_cu__Z2goPf6hiddenEPf";
        assert!(is_same_symbol(one, other));
        assert!(!is_same_symbol(one, &other.replace("hidden", "public")));
        let by_clang = "_ZN12_GLOBAL__N_16hiddenEPf";
        assert!(is_same_symbol(one, by_clang) && is_same_symbol(by_clang, other));
        assert!(!is_same_symbol(by_clang, "_ZN12_GLOBAL__N_16publicEPf"));
        let inner = "_ZN2b735_GLOBAL__N__51df4d67_4_s_cu__Z2goPf1kEPNS_1SE";
        assert!(is_same_symbol(inner, "_ZN2b712_GLOBAL__N_11kEPNS_1SE"));
        assert!(!is_same_symbol(inner, "_ZN12_GLOBAL__N_11kEPNS_1SE"));
        assert!(!is_same_symbol("_Z3onev", "_Z3twov"));
        assert!(is_same_symbol("_Z5stillPf", "_ZL5stillPf"));
        assert!(is_same_symbol("_ZN2b75stillEPf", "_ZN2b7L5stillEPf"));
        assert!(!is_same_symbol("_Z2k1v", "_Z3kL1v"));
    }
}
