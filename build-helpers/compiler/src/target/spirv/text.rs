//! The text of a module for clang: LLVM's textual IR with the address spaces of OpenCL, without what other versions of
//! LLVM may not read, and with functions in the place of some intrinsics.
//!
//! | memory | here | in OpenCL |
//! | --- | --- | --- |
//! | any | 0 | 4 |
//! | global | 1 | 1 |
//! | local | 3 | 3 |
//! | of the thread | 5 | 0 |

use std::{collections::BTreeSet, fmt::Write as _};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Value},
};

use super::expansions;

/// What clang is told of the target. The layout is LLVM's own.
const HEAD: &str = "target triple = \"spirv64-unknown-unknown\"\n";

/// That operations may be contracted.
const CONTRACT: &str = "!opencl.enable.FP_CONTRACT = !{}\n";

/// Attributes of functions that stay.
const ATTRIBUTES: [&str; 2] = ["convergent", "nounwind"];

/// Attributes of parameters with arguments that are left out: not every version of LLVM knows them.
const PROMISES: [&str; 5] = ["captures", "initializes", "nofpclass", "range", "dead_on_return"];

/// The orderings of atomic operations.
const ORDERINGS: [&str; 6] = ["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"];

/// Whether a multiplication of the module may be contracted with an addition.
pub(super) fn contracts(module: &Module<'_>) -> bool {
    let is_contracted = |it: &Value<'_>| {
        matches!(it.opcode(), Opcode::FMul | Opcode::FAdd | Opcode::FSub) && it.allows_contraction()
    };
    module.definitions().into_iter().flat_map(Value::instructions).any(|it| is_contracted(&it))
}

/// The text for clang of the text of a module.
pub(super) fn for_clang(text: &str, contracts: bool) -> String {
    let mut output = HEAD.to_owned();
    let (mut replaced, mut declared_once) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        let is_head = ["target ", "source_filename", "!llvm.", ";"];
        if is_head.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        if let Some((name, _)) =
            line.split_once(" = {").filter(|_| line.starts_with("attributes #"))
        {
            let kept: Vec<_> = ATTRIBUTES
                .into_iter()
                .filter(|it| line.split(' ').any(|word| word == *it))
                .collect();
            let _ = writeln!(output, "{name} = {{ {} }}", kept.join(" "));
            continue;
        }
        let declares = line.strip_prefix("declare ").and_then(|rest| rest.split_once('@'));
        let declared = declares.and_then(|(_, rest)| rest.split_once('(')).map(|(name, _)| name);
        if declared.is_some_and(expansions::has) {
            continue;
        }
        let mut written = String::new();
        Line {
            rest: line,
            output: &mut written,
            replaced: &mut replaced,
            is_scoped: scoped(line),
            is_double: false,
        }
        .write();
        // Two intrinsics may have become one.
        if written.starts_with("declare ") && !declared_once.insert(declaration(&written)) {
            continue;
        }
        output.push_str(&written);
        output.push('\n');
    }
    let has_products = replaced.iter().any(|name| name.starts_with("llvm.smul"));
    if has_products {
        output.push_str(expansions::DECLARATIONS);
    }
    output.extend(replaced.iter().map(|name| expansions::definition(name)));
    if contracts {
        output.push_str(CONTRACT);
    }
    output
}

/// The name of a function that is declared.
fn declaration(line: &str) -> String {
    let name = line.split('@').nth(1).and_then(|rest| rest.split('(').next());
    name.unwrap_or_default().to_owned()
}

/// Whether an atomic operation needs no scope: it is none, or has one.
fn scoped(line: &str) -> bool {
    let is_atomic = ["atomicrmw ", "cmpxchg ", "load atomic ", "store atomic "];
    !is_atomic.iter().any(|it| line.contains(it)) || line.contains("syncscope(")
}

/// A line that is written word by word.
struct Line<'a> {
    rest: &'a str,
    output: &'a mut String,
    replaced: &'a mut BTreeSet<String>,
    /// Whether no scope is to be written before an ordering.
    is_scoped: bool,
    /// Whether the last floating-point type was `double`.
    is_double: bool,
}

impl Line<'_> {
    fn write(mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                ';' => return,
                '"' => {
                    let end = self.rest[1..].find('"').map_or(self.rest.len(), |end| end + 2);
                    self.copy(end);
                }
                '%' | '@' | '$' | '#' | '!' => self.name(first),
                _ if is_word(first) => self.word(),
                _ => self.copy(first.len_utf8()),
            }
        }
    }

    fn copy(&mut self, bytes: usize) {
        let (head, tail) = self.rest.split_at(bytes);
        self.output.push_str(head);
        self.rest = tail;
    }

    fn take_word(&mut self) -> String {
        let end = self.rest.find(|it| !is_word(it)).unwrap_or(self.rest.len());
        let (head, tail) = self.rest.split_at(end);
        self.rest = tail;
        head.to_owned()
    }

    /// The name of a value. Those of intrinsics have the spaces of their pointers.
    fn name(&mut self, sigil: char) {
        self.copy(1);
        if self.rest.starts_with('"') {
            return;
        }
        let name = self.take_word();
        if sigil != '@' || !name.starts_with("llvm.") {
            self.output.push_str(&name);
        } else if let Some(function) = expansions::name(&name) {
            self.replaced.insert(name);
            self.output.push_str(&function);
        } else {
            let parts = name.split('.').map(|part| match part {
                "p0" => "p4",
                "p5" => "p0",
                // They differ in what they give of a zero of each sign, which Rust leaves open.
                // One rounding is what the target has; OpenCL's `mad` may be less exact than two.
                "fmuladd" => "fma",
                "maximumnum" => "maxnum",
                "minimumnum" => "minnum",
                other => other,
            });
            self.output.push_str(&parts.collect::<Vec<_>>().join("."));
        }
    }

    fn word(&mut self) {
        let word = self.take_word();
        match &*word {
            "ptr" => {
                let rest = self.rest;
                match rest.strip_prefix(" addrspace(").and_then(|it| it.split_once(')')) {
                    None => self.output.push_str("ptr addrspace(4)"),
                    Some(("5", tail)) => {
                        self.output.push_str("ptr");
                        self.rest = tail;
                    }
                    Some((space, tail)) => {
                        let _ = write!(self.output, "ptr addrspace({space})");
                        self.rest = tail;
                    }
                }
            }
            // Of a stack slot.
            "addrspace" if self.rest.starts_with("(5)") => {
                self.rest = &self.rest[3..];
                let kept = self.output.trim_end_matches([' ', ',']).len();
                self.output.truncate(kept);
            }
            _ if PROMISES.contains(&&*word) && self.rest.starts_with('(') => self.skip_argument(),
            "float" | "double" => {
                self.is_double = word == "double";
                self.output.push_str(&word);
            }
            _ if float(&word, self.is_double).is_some() => {
                self.output.extend(float(&word, self.is_double));
            }
            // LLVM takes no scope for one that SPIR-V has for several devices at once.
            _ if ORDERINGS.contains(&&*word) && !self.is_scoped => {
                self.is_scoped = true;
                let _ = write!(self.output, "syncscope(\"device\") {word}");
            }
            _ => self.output.push_str(&word),
        }
    }

    /// Leaves out what is in parentheses, and the space behind it.
    fn skip_argument(&mut self) {
        let mut depth = 0_usize;
        for (index, it) in self.rest.char_indices() {
            match it {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = self.rest[index + 1..].trim_start_matches(' ');
                return;
            }
        }
    }
}

fn is_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-' | '+')
}

/// A number as LLVM before version 23 reads it: by the bits of a `double` of its value, where LLVM 23 has its own bits, or
/// a word. LLVM 23 writes a decimal number that is the nearest of its type, and those before read exact ones alone.
fn float(word: &str, is_double: bool) -> Option<String> {
    let bits = match word {
        "+inf" => f64::INFINITY.to_bits(),
        "-inf" => f64::NEG_INFINITY.to_bits(),
        "+qnan" => QUIET,
        "-qnan" => QUIET | SIGN,
        _ if is_decimal(word) && is_double => word.parse::<f64>().ok()?.to_bits(),
        _ if is_decimal(word) => wide(word.parse::<f32>().ok()?.to_bits()),
        _ => {
            let digits = word.strip_prefix("f0x")?;
            let bits = u64::from_str_radix(digits, 16).ok()?;
            match digits.len() {
                16 => bits,
                8 => wide(bits as u32),
                _ => return None,
            }
        }
    };
    Some(format!("0x{bits:016X}"))
}

fn is_decimal(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    digits.starts_with(|it: char| it.is_ascii_digit()) && word.contains('.') && word.contains('e')
}

const SIGN: u64 = 1 << 63;
const QUIET: u64 = 0x7ff8 << 48;

/// The bits of a `double` with the value of a `float`; a NaN keeps its own.
fn wide(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if !value.is_nan() {
        return f64::from(value).to_bits();
    }
    let (sign, mantissa) = (u64::from(bits >> 31), u64::from(bits & 0x7f_ffff));
    sign << 63 | 0x7ff << 52 | mantissa << 29
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let all = for_clang(text, false);
        all.strip_prefix(HEAD).unwrap().lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn address_spaces_are_those_of_opencl() {
        assert_eq!(
            line("  %p.ptr = addrspacecast ptr addrspace(1) %ptr to ptr ; a ptr"),
            "  %p.ptr = addrspacecast ptr addrspace(1) %ptr to ptr addrspace(4) "
        );
        assert_eq!(line("  %a = alloca i32, align 4, addrspace(5)"), "  %a = alloca i32, align 4");
        assert_eq!(line("  store i32 0, ptr addrspace(5) %a"), "  store i32 0, ptr %a");
        assert_eq!(
            line(
                "  call void @llvm.memcpy.p0.p5.i64(ptr %p, ptr addrspace(5) %q, i64 8, i1 false)"
            ),
            "  call void @llvm.memcpy.p4.p0.i64(ptr addrspace(4) %p, ptr %q, i64 8, i1 false)"
        );
        let string = "@s = internal addrspace(1) constant [5 x i8] c\"ptr %p\", align 1";
        assert_eq!(line(string), string);
        assert_eq!(line("  br label %\"a ptr\""), "  br label %\"a ptr\"");
    }

    #[test]
    fn what_other_versions_do_not_read_is_left_out() {
        assert_eq!(
            line("define void @f(ptr addrspace(1) captures(none) range(i8 0, 2) %p) #0 {"),
            "define void @f(ptr addrspace(1) %p) #0 {"
        );
        assert_eq!(
            line("attributes #3 = { convergent memory(none) nounwind \"no-builtins\" }"),
            "attributes #3 = { convergent nounwind }"
        );
        assert_eq!(line("!llvm.ident = !{!0}"), "");
    }

    #[test]
    fn numbers_are_those_of_older_versions() {
        let number = |text: &str| line(&format!("  %r = fadd float {text}, 1.0"));
        let expected = |text: &str| format!("  %r = fadd float {text}, 1.0");
        for (ours, theirs) in [
            ("f0x40490FDB", "0x400921FB60000000"),
            ("f0x3F61BF380A96073F", "0x3F61BF380A96073F"),
            ("f0x7FC00001", "0x7FF8000020000000"),
            ("+inf", "0x7FF0000000000000"),
            ("-qnan", "0xFFF8000000000000"),
            ("-1.500000e+00", "0xBFF8000000000000"),
            ("4.000000e-01", "0x3FD99999A0000000"),
        ] {
            assert_eq!(number(ours), expected(theirs));
        }
        assert_eq!(
            line("  store double 4.000000e-01, ptr %p"),
            "  store double 0x3FD999999999999A, ptr addrspace(4) %p"
        );
    }

    #[test]
    fn atomic_operations_are_those_of_the_device() {
        assert_eq!(
            line("  %r = cmpxchg ptr addrspace(1) %p, i32 0, i32 1 monotonic monotonic, align 4"),
            "  %r = cmpxchg ptr addrspace(1) %p, i32 0, i32 1 syncscope(\"device\") monotonic monotonic, align 4"
        );
        let own = "  %r = atomicrmw add ptr addrspace(3) %p, i32 1 syncscope(\"workgroup\") monotonic, align 4";
        assert_eq!(line(own), own);
    }

    #[test]
    fn intrinsics_become_functions_with_a_definition() {
        let text = for_clang(
            "declare i32 @llvm.fshl.i32(i32, i32, i32) #1\n  %r = call i32 @llvm.fshl.i32(i32 %a, i32 %a, i32 7)\n",
            false,
        );
        assert!(!text.contains("declare"), "{text}");
        assert!(text.contains("call i32 @__kernelmill_llvm.fshl.i32(i32 %a"), "{text}");
        assert!(text.contains("define internal i32 @__kernelmill_llvm.fshl.i32("), "{text}");
        let twice = "declare float @llvm.fma.f32(float)\ndeclare float @llvm.fmuladd.f32(float)\n";
        assert_eq!(for_clang(twice, false).matches("@llvm.fma.f32").count(), 1);
    }
}
