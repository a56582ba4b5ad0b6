//! PTX as text: its kernels, and the debug information that follows them.

use super::debug::Sections;
use kernelmill_artifact::LaunchLimits;
use std::collections::{BTreeMap, HashMap};

/// What PTX says of its kernels.
#[derive(Debug, Default)]
pub(super) struct Ptx {
    /// In the order of the text.
    pub(super) entries: Vec<Entry>,
    /// In the order of the text.
    pub(super) variables: Vec<Variable>,
    /// The source files, by the numbers that debug information has for them.
    pub(super) files: BTreeMap<u64, String>,
    pub(super) sections: Sections,
}

/// A function that can be launched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) symbol: String,
    pub(super) parameters: Vec<Slot>,
    pub(super) limits: LaunchLimits,
}

/// A variable in global or constant memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) symbol: String,
    pub(super) slot: Slot,
    pub(super) is_constant: bool,
    pub(super) has_value: bool,
}

/// The bytes of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) size: u64,
    pub(super) align: u64,
}

/// A number in a section that a name stands for.
struct Fixup {
    section: String,
    offset: usize,
    width: usize,
    expression: String,
}

/// Where a name stands in the debug information.
type Labels = HashMap<String, (String, u64)>;

/// The sections that are read; others, which are as long, are passed over.
const WANTED: [&str; 6] = [
    ".debug_abbrev",
    ".debug_info",
    ".debug_line_str",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_types",
];

/// Reads the text. What it does not know it passes over: the assembler is there to complain.
///
/// Texts of ten megabytes are common, and build scripts are compiled without optimisation. So
/// what is not wanted is skipped by searching for the next word that is.
pub(super) fn parse(text: &str) -> Result<Ptx, String> {
    let mut ptx = Ptx::default();
    let (mut labels, mut fixups) = (Labels::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = directive(rest, ".section") {
        code(&rest[..at], &mut ptx);
        let section = &rest[at + ".section".len()..];
        let (head, body) = section.split_once('{').unwrap_or((section, ""));
        let (body, after) = body.split_once('}').unwrap_or((body, ""));
        let name = head.split_whitespace().next().unwrap_or_default();
        if WANTED.contains(&name) {
            let bytes = ptx.sections.take(name);
            let mut reader = SectionReader {
                name: name.to_owned(),
                bytes,
                labels: &mut labels,
                fixups: &mut fixups,
            };
            body.split('\n').try_for_each(|line| reader.line(line))?;
            let SectionReader { name, bytes, .. } = reader;
            ptx.sections.put(name, bytes);
        }
        rest = after;
    }
    code(rest, &mut ptx);
    fixups.into_iter().try_for_each(|fixup| ptx.sections.fix(&fixup, &labels))?;
    Ok(ptx)
}

/// The place of a directive, outside of comments.
fn directive(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default();
        let after = text[at + name.len()..].starts_with([' ', '\t']);
        after && !line.contains("//")
    })
}

/// Reads the kernels and files that code names.
fn code(text: &str, ptx: &mut Ptx) {
    let mut rest = text;
    while let Some(at) = directive(rest, ".entry") {
        rest = &rest[at + ".entry".len()..];
        let end = rest.find(['{', ';']).unwrap_or(rest.len());
        // What ends with a semicolon only declares it.
        if rest[end..].starts_with('{') {
            let lines = rest[..end].lines().map(|line| line.split("//").next().unwrap_or_default());
            ptx.entries.push(entry(&lines.collect::<Vec<_>>().join(" ")));
        }
        rest = &rest[end..];
    }
    for (start, is_constant) in VARIABLES {
        let found = text.match_indices(start).map(|(at, _)| &text[at + start.len()..]);
        ptx.variables.extend(found.filter_map(|rest| variable(rest, is_constant)));
    }
    let mut rest = text;
    while let Some(at) = directive(rest, ".file") {
        rest = &rest[at + ".file".len()..];
        ptx.files.extend(file(rest.lines().next().unwrap_or_default()));
    }
}

/// How the lines of variables begin, and whether they are in constant memory. None stands in the code of a function.
const VARIABLES: [(&str, bool); 6] = [
    ("\n.const ", true),
    ("\n.visible .const ", true),
    ("\n.weak .const ", true),
    ("\n.global ", false),
    ("\n.visible .global ", false),
    ("\n.weak .global ", false),
];

/// Whether a text may have variables.
pub(super) fn has_variables(text: &str) -> bool {
    VARIABLES.iter().any(|(start, _)| text.contains(start))
}

/// `.align 4 .b8 name[32] = {1, 2}`.
fn variable(text: &str, is_constant: bool) -> Option<Variable> {
    let (text, _) = text.split_once(';')?;
    let (text, value) = text.split_once('=').map_or((text, None), |(text, it)| (text, Some(it)));
    let name = text.split_whitespace().next_back()?;
    let symbol = name.split('[').next().unwrap_or_default().to_owned();
    Some(Variable { symbol, slot: slot(text)?, is_constant, has_value: value.is_some() })
}

/// `2 "path"`, and what may follow.
fn file(text: &str) -> Option<(u64, String)> {
    let (number, rest) = text.trim().split_once('"')?;
    Some((number.trim().parse().ok()?, unescaped(rest)))
}

/// A string of the assembler up to its closing quote. What is not ASCII, backslashes and the like are escaped as in C:
/// `a\303\251b` is `aéb`.
fn unescaped(text: &str) -> String {
    let (mut found, mut letters) = (Vec::new(), text.bytes().peekable());
    while let Some(letter) = letters.next().filter(|letter| *letter != b'"') {
        if letter != b'\\' {
            found.push(letter);
            continue;
        }
        let mut code = None;
        for _ in 0..3 {
            let Some(digit) = letters.next_if(|letter| matches!(letter, b'0'..=b'7')) else {
                break;
            };
            code = Some(code.unwrap_or(0) << 3 | u32::from(digit - b'0'));
        }
        found.extend(code.map(|code| code as u8).or_else(|| {
            letters.next().map(|letter| match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'b' => 8,
                b'f' => 12,
                other => other,
            })
        }));
    }
    String::from_utf8_lossy(&found).into_owned()
}

/// `name( .param ..., .param ... ) .maxntid 128, 1, 1`.
fn entry(header: &str) -> Entry {
    let (name, rest) = header.split_once('(').unwrap_or((header, ""));
    let (parameters, directives) = rest.split_once(')').unwrap_or((rest, name));
    let sizes = |directive: &str| {
        let (_, rest) = directives.split_once(directive)?;
        let words = rest.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let numbers: Vec<u32> = words.map_while(|word| word.parse().ok()).take(3).collect();
        Some([0, 1, 2].map(|axis| numbers.get(axis).copied().unwrap_or(1)))
    };
    let number = |directive| sizes(directive).map_or(0, |[number, ..]| number);
    let product = |sizes: [u32; 3]| sizes.into_iter().fold(1, u32::saturating_mul);
    Entry {
        symbol: name.split_whitespace().next().unwrap_or_default().to_owned(),
        parameters: parameters.split(',').filter_map(slot).collect(),
        limits: LaunchLimits {
            max_block_threads: sizes(".maxntid").map_or(0, product),
            block: sizes(".reqntid").unwrap_or_default(),
            min_blocks: number(".minnctapersm"),
            max_registers: number(".maxnreg"),
            cluster: sizes(".reqnctapercluster").unwrap_or_default(),
            ..LaunchLimits::NONE
        },
    }
}

/// `.param .align 16 .b8 name[32]`, `.param .u64 .ptr .global .align 4 name`.
fn slot(text: &str) -> Option<Slot> {
    let mut words = text.split_whitespace().peekable();
    let mut align = None;
    let mut unit = None;
    let mut count = 1;
    while let Some(word) = words.next() {
        match word {
            ".param" | ".const" | ".global" | ".shared" | ".local" => {}
            // What follows is said of the memory that the pointer points to.
            ".ptr" => {
                while words.next_if(|word| word.starts_with('.')).is_some() {
                    words.next_if(|word| word.parse::<u64>().is_ok());
                }
            }
            ".align" => align = words.next().and_then(|word| word.parse().ok()),
            _ if word.starts_with('.') => {
                let bits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
                unit = bits.parse::<u64>().ok().map(|bits| bits / 8).or(unit);
            }
            _ => {
                if let Some((_, length)) = word.split_once('[') {
                    count = length.trim_end_matches(']').parse().ok()?;
                }
            }
        }
    }
    let unit = unit?;
    Some(Slot { size: unit * count, align: align.unwrap_or(unit) })
}

/// Collects the bytes of one section.
struct SectionReader<'a> {
    name: String,
    bytes: Vec<u8>,
    labels: &'a mut Labels,
    fixups: &'a mut Vec<Fixup>,
}

impl SectionReader<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.split("//").next().unwrap_or_default().trim();
        let widths = [(".b8 ", 1), (".b16 ", 2), (".b32 ", 4), (".b64 ", 8)];
        let data = widths.iter().find_map(|(word, width)| Some((line.strip_prefix(word)?, *width)));
        if let Some((values, width)) = data {
            if width > 1 || !self.plain_bytes(values) {
                values.split(',').for_each(|value| self.value(value.trim(), width));
            }
        } else if let Some(label) = line.strip_suffix(':') {
            let place = (self.name.clone(), self.bytes.len() as u64);
            self.labels.insert(label.to_owned(), place);
        } else if !line.is_empty() {
            return Err(format!("`{line}` in the section {}", self.name));
        }
        Ok(())
    }

    /// Adds `1,2,3`; false: there is more than digits, and nothing was added.
    fn plain_bytes(&mut self, values: &str) -> bool {
        let start = self.bytes.len();
        let mut value = 0_u32;
        for byte in values.bytes() {
            match byte {
                b'0'..=b'9' => value = value * 10 + u32::from(byte - b'0'),
                b',' => {
                    self.bytes.push(value as u8);
                    value = 0;
                }
                _ => value = u32::MAX,
            }
            if value > 0xff {
                self.bytes.truncate(start);
                return false;
            }
        }
        self.bytes.push(value as u8);
        true
    }

    fn value(&mut self, text: &str, width: usize) {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text
                .parse()
                .ok()
                .or_else(|| text.parse::<i64>().ok().map(|value| value.cast_unsigned())),
        };
        if number.is_none() {
            self.fixups.push(Fixup {
                section: self.name.clone(),
                offset: self.bytes.len(),
                width,
                expression: text.to_owned(),
            });
        }
        self.bytes.extend(&number.unwrap_or(0).to_le_bytes()[..width]);
    }
}

impl Sections {
    /// Puts in the value of `name`, `name+4` or `name-name`. Names in code are 0, of which only
    /// differences would matter, and nobody here asks for those.
    fn fix(&mut self, fixup: &Fixup, labels: &Labels) -> Result<(), String> {
        let mut value = 0_u64;
        let mut rest = fixup.expression.as_str();
        let mut is_minus = false;
        loop {
            let end = rest.find(['+', '-']).unwrap_or(rest.len());
            let term = rest[..end].trim();
            let term = match term.parse::<u64>() {
                Ok(number) => number,
                Err(_) if term.is_empty() => {
                    return Err(format!("`{}` in {}", fixup.expression, fixup.section));
                }
                Err(_) => labels.get(term).map_or(0, |(_, offset)| *offset),
            };
            value = if is_minus { value.wrapping_sub(term) } else { value.wrapping_add(term) };
            let Some(operator) = rest[end..].chars().next() else { break };
            is_minus = operator == '-';
            rest = &rest[end + 1..];
        }
        let bytes = &value.to_le_bytes()[..fixup.width];
        self.patch(&fixup.section, fixup.offset, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
.version 8.4
.visible .entry scale(
\t.param .f32 scale_param_0,
\t.param .u64 .ptr .align 1 scale_param_1, // why
\t.param .align 16 .b8 scale_param_2[32]
)                                       // @scale
.maxntid 128, 2
.minnctapersm 2
{
\tret;
}
.visible .entry declared(.param .u8 x);
.entry nothing()
.reqntid 64
.maxnreg 40
.reqnctapercluster 2 { ret; }
\t.file\t1 \"/a/x.cu\"
\t.file\t2 \"/a/b c.cuh\", 12, 13
\t.file\t3 \"/a\\303\\251/\\t\\\"\\\\7.cu\"
\t.section\t.debug_abbrev
\t{
.b8 17                                  // DW_TAG_compile_unit
.b8 1,2, -1

}
\t.section\t.debug_info {
.b32 .debug_abbrev
$L__info:
.b32 $L__info
.b16 $L__end-$L__info
.b64 $L__code+3
$L__end:
}
\t.section\t.debug_macinfo\t{\t}
";

    #[test]
    fn entries_have_parameters_and_limits() {
        let ptx = parse(TEXT).unwrap();
        let slot = |size, align| Slot { size, align };
        let scale = Entry {
            symbol: "scale".into(),
            parameters: vec![slot(4, 4), slot(8, 8), slot(32, 16)],
            limits: LaunchLimits { max_block_threads: 256, min_blocks: 2, ..LaunchLimits::NONE },
        };
        let nothing = Entry {
            symbol: "nothing".into(),
            parameters: vec![],
            limits: LaunchLimits {
                block: [64, 1, 1],
                max_registers: 40,
                cluster: [2, 1, 1],
                ..LaunchLimits::NONE
            },
        };
        assert_eq!(ptx.entries, [scale, nothing]);
        assert_eq!(ptx.files[&1], "/a/x.cu");
        assert_eq!(ptx.files[&2], "/a/b c.cuh");
        // The compile unit has the path as it is, and a kernel of another file is none of the source's.
        assert_eq!(ptx.files[&3], "/aé/\t\"\\7.cu");
    }

    #[test]
    fn sections_are_bytes_with_names_replaced() {
        let sections = parse(TEXT).unwrap().sections;
        assert_eq!(sections.get(".debug_abbrev"), [17, 1, 2, 255]);
        let expected = [0, 0, 0, 0, 4, 0, 0, 0, 14, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(sections.get(".debug_info"), expected);
        assert_eq!(sections.get(".debug_str"), [0_u8; 0]);
        assert!(parse(".section .debug_info {\n.bad 7\n}").is_err());
    }
}
