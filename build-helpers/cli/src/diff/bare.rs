//! Bare code: texts of PTX, SASS and assembly without what differs between two builds of the same code.

use std::collections::HashMap;

/// Code without source lines, comments, and numbers that an edit elsewhere in the file changes: those of labels, and
/// the hashes in names of Rust.
pub(super) fn bare(text: &str) -> String {
    let mut labels = Labels::default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let is_debug =
        |line: &str| [".loc", "$L__tmp", "$L__func"].iter().any(|it| line.starts_with(it));
    let is_code = |line: &&str| !line.is_empty() && !is_debug(line.trim_start());
    let bare: Vec<_> = lines.filter(is_code).map(|line| labels.renamed(line)).collect();
    bare.join("\n") + "\n"
}

/// Assembly text of the CPU and of AMD's targets, without what [`bare`] leaves out, sections of debug information, and the
/// table of the places where kernels panic, which has their lines.
pub(super) fn bare_assembly(text: &str) -> String {
    let mut labels = Labels::default();
    let (mut is_debug_section, mut is_locations) = (false, false);
    let mut bare = String::with_capacity(text.len() / 2);
    for line in text.lines() {
        let line = without_comment(line).trim_end();
        let words = line.trim_start();
        if let Some(section) = section(words) {
            is_debug_section = SECTIONS_OF_DEBUGGING.iter().any(|it| section.contains(it));
        }
        // An empty line is behind each constant.
        is_locations = !line.is_empty() && (is_locations || words.ends_with(LOCATIONS_LABEL));
        if !(line.is_empty() || is_debug_section || is_locations || says_where(words)) {
            bare += &labels.renamed(line);
            bare.push('\n');
        }
    }
    bare
}

/// A source that is embedded, in OpenCL C or WGSL, without lines that are only comments, marks of lines, and spaces at the
/// ends of lines.
pub(super) fn bare_source(text: &str) -> String {
    let lines = text.lines().map(str::trim_end);
    let is_code = |line: &&str| {
        !(line.is_empty() || line.trim_start().starts_with("//") || is_line_mark(line))
    };
    lines.filter(is_code).collect::<Vec<_>>().join("\n") + "\n"
}

/// Whether a line of what a preprocessor prints says where the next one is from.
fn is_line_mark(line: &str) -> bool {
    let words = line.trim_start();
    words.starts_with("#line ") || words.starts_with("# ")
}

/// LLVM's IR without debug information, comments, and the numbers of metadata, for which other metadata stands where it is
/// used.
pub(super) fn bare_ir(text: &str) -> String {
    let mut labels = Labels::default();
    let nodes: HashMap<_, _> = text.lines().filter_map(|line| line.split_once(" = !{")).collect();
    let is_other =
        |words: &str| ["!", ";", "source_filename", "#dbg_"].iter().any(|it| words.starts_with(it));
    let mut bare = String::with_capacity(text.len() / 2);
    for line in text.lines() {
        // Behind a label are its predecessors; a text may have a semicolon.
        let end = if line.contains('"') { None } else { line.find(" ; ") };
        let line = line[..end.unwrap_or(line.len())].trim_end();
        if !line.is_empty() && !is_other(line.trim_start()) {
            bare += &labels.renamed(&with_metadata(line, &nodes));
            bare.push('\n');
        }
    }
    bare
}

/// A line of LLVM's IR without its place in the source, and with the metadata for its number: of `!dbg !3, !range !4`
/// `!range {i32 0, i32 8}`.
fn with_metadata(line: &str, nodes: &HashMap<&str, &str>) -> String {
    let mut words = Vec::new();
    for word in line.split(' ') {
        let plain = word.trim_end_matches(',');
        match words.last() {
            Some(&"!dbg" | &"!dbg,") => _ = words.pop(),
            _ => words.push(nodes.get(plain).copied().unwrap_or(word)),
        }
    }
    words.join(" ").trim_end_matches([' ', ',']).to_owned()
}

/// The symbol of the table of places, as a label. macOS has an underscore more.
const LOCATIONS_LABEL: &str = "__kernelmill_locations:";

/// Parts of the names of sections that are no code and no constants, in ELF, Mach-O and COFF.
const SECTIONS_OF_DEBUGGING: [&str; 4] = [".debug", "__debug", "__DWARF", ".note"];

/// The section that a line switches to.
fn section(words: &str) -> Option<&str> {
    let is_short = [".text", ".data", ".bss"].contains(&words.split_whitespace().next()?);
    if is_short { Some(words) } else { words.strip_prefix(".section") }
}

/// Whether a line only says where code comes from, or where it ends.
fn says_where(words: &str) -> bool {
    [".file", ".loc", ".cfi_", ".ident", ".size", ".addrsig", ".prefalign", ".Ltmp", ".Lfunc_"]
        .iter()
        .any(|it| words.starts_with(it))
}

/// A line of assembly text without the comment behind it. LLVM writes comments of AMD's targets alone.
fn without_comment(line: &str) -> &str {
    match line.trim_start().starts_with(".asci") {
        true => line,
        false => line.split("; ").next().unwrap_or_default(),
    }
}

/// Names of labels and symbols, numbered in the order in which a kernel has them.
#[derive(Default)]
struct Labels {
    numbers: HashMap<String, usize>,
}

impl Labels {
    /// A line with the names in it replaced.
    fn renamed(&mut self, line: &str) -> String {
        let mut renamed = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(start) = rest.find(|it: char| is_name(it) && !it.is_ascii_digit()) {
            renamed.push_str(&rest[..start]);
            let end =
                rest[start..].find(|it: char| !is_name(it)).map_or(rest.len(), |end| start + end);
            let word = &rest[start..end];
            match prefix(word) {
                Some(prefix) => renamed += &format!("{prefix}{}", self.number(word)),
                None => renamed.push_str(&without_hash(word)),
            }
            rest = &rest[end..];
            if word.ends_with("__kernelmill_locations") {
                // The place in the table is that of another line above.
                rest = rest.trim_start_matches(|it: char| it == '+' || it.is_ascii_digit());
            }
        }
        renamed + rest
    }

    fn number(&mut self, word: &str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(word.to_owned()).or_insert(next)
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '.' | '%')
}

/// What a label begins with, in PTX (`$L__BB3_7`), in SASS (`.L_x_12`), and in assembly text, of blocks, constants and tables
/// (`.LBB0_4`; `LBB0_4` on macOS).
fn prefix(word: &str) -> Option<&'static str> {
    let all = ["$L__BB", ".L_x_", ".LBB", "LBB", ".LCPI", "LCPI", ".LJTI", "LJTI"];
    all.into_iter().find(|prefix| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|it| it.chars().all(|it| it.is_ascii_digit() || it == '_'))
    })
}

/// A name of Rust without the hash of its crate's version, which an edit of a dependency changes: `17h0123456789abcdefE`
/// at the end of a legacy name, `Cs` with base 62 and `_` in one of version 0.
fn without_hash(word: &str) -> String {
    if let Some((before, hash)) = word.split_once("17h")
        && word.starts_with("_ZN")
        && hash.len() >= 17
        && hash.as_bytes()[..16].iter().all(u8::is_ascii_hexdigit)
    {
        return format!("{before}17h{}", &hash[16..]);
    }
    let mut pieces = word.split("Cs");
    let first = pieces.next().unwrap_or_default();
    if !word.starts_with("_R") {
        return word.to_owned();
    }
    pieces.fold(first.to_owned(), |name, piece| match piece.split_once('_') {
        Some((hash, rest)) if hash.chars().all(|it| it.is_ascii_alphanumeric()) => {
            name + "C" + rest
        }
        _ => name + "Cs" + piece,
    })
}

#[cfg(test)]
mod tests {
    use super::{bare, bare_assembly, bare_ir, bare_source};

    #[test]
    fn source_lines_and_comments_do_not_count() {
        let text = "{\n\t.loc 1 2 3\n\tadd.f32 %f1, %f2, %f3; // here\n\n// there\n}";
        assert_eq!(bare(text), "{\n\tadd.f32 %f1, %f2, %f3;\n}\n");
    }

    #[test]
    fn ir_is_code_with_its_metadata() {
        let ir = |place: u32, range: u32, most: u32| {
            format!(
                "; ModuleID = 'kernelmill'\nsource_filename = \"a_{place}\"\ndefine spir_kernel void @k(i32 %0) #0 !dbg !{place} \
                 !reqd_work_group_size !{range} {{\nstart:\n  %1 = call i32 @f(), !dbg !{place}, !range !{range}\n  \
                 ret void, !dbg !{place}\n\nnext: ; preds = %start\n}}\nattributes #0 = {{ convergent }}\n!{place} = \
                 distinct !DISubprogram(name: \"k\", line: {place})\n!{range} = !{{i32 0, i32 {most}}}\n"
            )
        };
        let expected = "define spir_kernel void @k(i32 %0) #0 !reqd_work_group_size i32 0, i32 8} {\nstart:\n  \
                        %1 = call i32 @f(), !range i32 0, i32 8}\n  ret void\nnext:\n}\nattributes #0 = { convergent }\n";
        assert_eq!(bare_ir(&ir(3, 4, 8)), expected);
        assert_eq!(bare_ir(&ir(9, 7, 8)), expected);
        assert_ne!(bare_ir(&ir(3, 4, 9)), expected);
    }

    #[test]
    fn sources_are_compared_without_comments() {
        let text = "// One.\n#line 1 \"a.cl\"\n# 3 \"a.h\"\n#define A 1\n\nkernel void k() {\n  // f\n  f(\"//\"); \n}\n";
        assert_eq!(bare_source(text), "#define A 1\nkernel void k() {\n  f(\"//\");\n}\n");
    }

    #[test]
    fn labels_are_numbered_by_kernel() {
        let ptx = |function: u32| {
            format!("$L__BB{function}_2:\n\tbra $L__BB{function}_4;\n\tbra $L__BB{function}_2;\n")
        };
        assert_eq!(bare(&ptx(0)), bare(&ptx(7)));
        assert_eq!(bare(&ptx(0)), "$L__BB0:\n\tbra $L__BB1;\n\tbra $L__BB0;\n");
        let sass = |first: u32| format!(".L_x_{first}:\n BRA `(.L_x_{});\n", first + 1);
        assert_eq!(bare(&sass(3)), bare(&sass(12)));
        let other = "$L__BB0_2:\n\tbra $L__BB0_2;\n\tbra $L__BB0_2;\n";
        assert_ne!(bare(other), bare(&ptx(0)));
    }

    #[test]
    fn hashes_of_names_do_not_count() {
        let call = |hash: &str| format!("\tcall.uni _ZN4core9panicking5panic17h{hash}E;\n");
        assert_eq!(bare(&call("0123456789abcdef")), bare(&call("fedcba9876543210")));
        let call = |hash: &str| format!("\tcall _RNvNtCs{hash}_4core9panicking5panic;\n");
        assert_eq!(bare(&call("aZ0")), bare(&call("1b2C")));
        assert_eq!(bare(&call("aZ0")), "\tcall _RNvNtC4core9panicking5panic;\n");
        assert_ne!(bare("\tadd.u32 %r17h1, %r2;\n"), bare("\tadd.u32 %r17h2, %r2;\n"));
    }

    /// Acceptance: S3.14.
    #[test]
    fn assembly_text_is_code_and_constants() {
        let asm = |block: u32, line: u32, at: u32| {
            format!(
                "\t.file\t\"a\"\n\t.text\nscale:\n.Lfunc_begin0:\n\t.loc\t1 {line} 0\n\tmovss\t.LCPI{block}_0(%rip), %xmm0\n\
                 .LBB{block}_1:\n\tleaq\t__kernelmill_locations+{at}(%rip), %rax\n\tjne\t.LBB{block}_1\n\
                 \t.size\tscale, .Lfunc_end0-scale\n\n\t.section\t.rodata.cst4\n.LCPI{block}_0:\n\t.long\t7\n\n\
                 __kernelmill_locations:\n\t.quad\t{line}\n\t.size\t__kernelmill_locations, 24\n\n\
                 \t.section\t.debug_info\n\t.long\t{line}\n\t.section\t.rodata\nnames:\n\t.asciz\t\"a; b\"\n"
            )
        };
        let expected = "\t.text\nscale:\n\tmovss\t.LCPI0(%rip), %xmm0\n.LBB1:\n\
                        \tleaq\t__kernelmill_locations(%rip), %rax\n\tjne\t.LBB1\n\
                        \t.section\t.rodata.cst4\n.LCPI0:\n\t.long\t7\n\t.section\t.rodata\nnames:\n\
                        \t.asciz\t\"a; b\"\n";
        assert_eq!(bare_assembly(&asm(0, 3, 0)), expected);
        assert_eq!(bare_assembly(&asm(5, 8, 24)), expected);
        assert_ne!(bare_assembly(&asm(0, 3, 0).replace("long\t7", "long\t8")), expected);
        assert_ne!(bare_assembly(&asm(0, 3, 0).replace("jne", "je")), expected);
        let amd = "\ts_endpgm                  ; encoding\n; %bb.1:\n";
        assert_eq!(bare_assembly(amd), "\ts_endpgm\n");
    }
}
