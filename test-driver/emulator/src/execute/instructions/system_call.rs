//! Functions that the driver supplies: `vprintf`, `__assertfail`, `malloc`, `free`.
//!
//! PTX ISA, "Application Binary Interface: System Calls".

use super::area::Area;
use super::generic::Generic;
use crate::execute::machine::{Machine, STOP};
use crate::launch::{FaultKind, Space};
use crate::memory::AccessKind;
use crate::program::{CallSite, Slice};

/// Longest text that is read from memory.
const LONGEST: u64 = 1 << 16;

/// Most characters of a width or of a precision. C allows more, but what they ask for is mostly blanks.
const WIDEST: usize = 4096;

/// Most bytes that a call prints, and that a block does: a device keeps 1 MiB until the host reads it.
const LONGEST_PRINT: usize = 1 << 20;

/// Calls a function that has no body.
pub(super) fn call_builtin(m: &mut Machine<'_>, name: &str, site: &CallSite, pc: u32) -> u32 {
    let values: Vec<u64> =
        site.arguments.iter().map(|&slice| number(&argument(m, m.thread.base, slice))).collect();
    let result = match (name, values.as_slice()) {
        ("vprintf", &[format, arguments]) => print(m, pc, format, arguments),
        ("__assertfail", &[message, file, line, ..]) => {
            assertion(m, pc, message, file, line as u32)
        }
        ("malloc", &[bytes]) => Some(m.grid.store.allocate_in_heap(bytes).unwrap_or(0)),
        ("free", &[address]) => free(m, address),
        _ => {
            m.fail(FaultKind::Unsupported { what: name.to_string() });
            None
        }
    };
    let Some(result) = result else { return STOP };
    if let Some(&slice) = site.returns.first() {
        put(m, slice, result);
    }
    pc + 1
}

/// Bytes of a slice of the frame that starts at `base`.
fn argument(m: &Machine<'_>, base: u32, slice: Slice) -> Vec<u8> {
    let start = (base + slice.offset) as usize;
    m.thread.local[start..start + slice.bytes as usize].to_vec()
}

fn number(bytes: &[u8]) -> u64 {
    let mut array = [0; 8];
    let length = bytes.len().min(8);
    array[..length].copy_from_slice(&bytes[..length]);
    u64::from_le_bytes(array)
}

fn put(m: &mut Machine<'_>, slice: Slice, value: u64) {
    let start = (m.thread.base + slice.offset) as usize;
    let length = slice.bytes.min(8) as usize;
    m.thread.local[start..start + length].copy_from_slice(&value.to_le_bytes()[..length]);
}

fn free(m: &mut Machine<'_>, address: u64) -> Option<u64> {
    if address != 0 && m.grid.store.free(address).is_err() {
        let kind = m.grid.store.fault(Space::Global, address, 1, true);
        m.fail(kind);
        return None;
    }
    Some(0)
}

/// Text up to its zero byte.
fn text(m: &mut Machine<'_>, pc: u32, address: u64) -> Option<String> {
    let mut bytes = Vec::new();
    for offset in 0..LONGEST {
        match Generic::load::<u8>(m, pc, address.wrapping_add(offset), AccessKind::READ)? {
            0 => break,
            byte => bytes.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn assertion(m: &mut Machine<'_>, pc: u32, message: u64, file: u64, line: u32) -> Option<u64> {
    let expression = text(m, pc, message)?;
    let file = text(m, pc, file)?;
    m.fail(FaultKind::Assertion { expression, file, line });
    None
}

/// `printf` with its arguments in memory, each at its own alignment.
fn print(m: &mut Machine<'_>, pc: u32, format: u64, arguments: u64) -> Option<u64> {
    let format = text(m, pc, format)?;
    let mut out = String::new();
    let mut reader = Arguments { at: arguments, pc, count: 0 };
    let mut rest = format.as_str();
    while let Some(start) = rest.find('%') {
        out.push_str(&rest[..start]);
        let (specification, length) = Specification::parse(&rest[start..]);
        rest = &rest[start + length..];
        if out.len() > LONGEST_PRINT {
            break;
        }
        match specification {
            Some(specification) => specification.print(m, &mut reader, &mut out)?,
            None => out.push('%'),
        }
    }
    out.push_str(rest);
    if m.block.printed.len() + out.len() <= LONGEST_PRINT {
        m.block.printed.push_str(&out);
    }
    Some(reader.count)
}

struct Arguments {
    at: u64,
    pc: u32,
    count: u64,
}

impl Arguments {
    fn next(&mut self, m: &mut Machine<'_>, bytes: u64) -> Option<u64> {
        let at = self.at.wrapping_add(bytes - 1) & !(bytes - 1);
        self.at = at.wrapping_add(bytes);
        self.count += 1;
        match bytes {
            4 => Generic::load::<u32>(m, self.pc, at, AccessKind::READ).map(u64::from),
            _ => Generic::load::<u64>(m, self.pc, at, AccessKind::READ),
        }
    }
}

/// `%-08.3lf`
struct Specification {
    left: bool,
    zero: bool,
    plus: bool,
    alternate: bool,
    width: Size,
    precision: Size,
    long: bool,
    conversion: char,
}

/// A width or precision.
#[derive(Clone, Copy, PartialEq)]
enum Size {
    Default,
    Fixed(usize),
    /// `*`: an argument says.
    Given,
}

impl Size {
    fn get(self, m: &mut Machine<'_>, arguments: &mut Arguments) -> Option<Option<usize>> {
        Some(match self {
            Size::Default => None,
            Size::Fixed(size) => Some(size.min(WIDEST)),
            Size::Given => Some((arguments.next(m, 4)? as usize).min(WIDEST)),
        })
    }
}

fn take_while<'t>(text: &mut &'t str, keep: impl Fn(char) -> bool) -> &'t str {
    let end = text.find(|c| !keep(c)).unwrap_or(text.len());
    let (taken, rest) = text.split_at(end);
    *text = rest;
    taken
}

fn take_size(text: &mut &str) -> Size {
    if let Some(rest) = text.strip_prefix('*') {
        *text = rest;
        return Size::Given;
    }
    let digits = take_while(text, |c| c.is_ascii_digit());
    if digits.is_empty() { Size::Default } else { Size::Fixed(digits.parse().unwrap_or(WIDEST)) }
}

impl Specification {
    /// The specification at the start of `text` and its length; `None` for `%%`.
    fn parse(text: &str) -> (Option<Specification>, usize) {
        let mut rest = &text[1..];
        if rest.starts_with('%') {
            return (None, 2);
        }
        let flags = take_while(&mut rest, |c| "-+ #0".contains(c));
        let width = take_size(&mut rest);
        let mut precision = Size::Default;
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            precision = take_size(&mut rest);
            precision = if precision == Size::Default { Size::Fixed(0) } else { precision };
        }
        let length = take_while(&mut rest, |c| "hlLqjzt".contains(c));
        let Some(conversion) = rest.chars().next() else { return (None, text.len()) };
        let specification = Specification {
            left: flags.contains('-'),
            zero: flags.contains('0'),
            plus: flags.contains('+'),
            alternate: flags.contains('#'),
            width,
            precision,
            long: length.contains(['l', 'L', 'q', 'j', 'z', 't']),
            conversion,
        };
        (Some(specification), text.len() - rest.len() + conversion.len_utf8())
    }

    fn print(
        &self,
        m: &mut Machine<'_>,
        arguments: &mut Arguments,
        out: &mut String,
    ) -> Option<()> {
        let width = self.width.get(m, arguments)?.unwrap_or(0);
        let precision = self.precision.get(m, arguments)?;
        let bytes = if self.long || "fFeEgGaAsp".contains(self.conversion) { 8 } else { 4 };
        let value = arguments.next(m, bytes)?;
        let body = match self.conversion {
            's' => {
                let text = text(m, arguments.pc, value)?;
                text.chars().take(precision.unwrap_or(usize::MAX)).collect()
            }
            _ => self.number(value, precision),
        };
        out.push_str(&self.pad(body, width));
        Some(())
    }

    fn number(&self, value: u64, precision: Option<usize>) -> String {
        let signed = if self.long { value as i64 } else { i64::from(value as i32) };
        let float = f64::from_bits(value);
        let prefix = |prefix: &str, digits: String| {
            if self.alternate { format!("{prefix}{digits}") } else { digits }
        };
        let text = match self.conversion {
            'd' | 'i' => format!(
                "{signed:0width$}",
                width = precision.unwrap_or(1) + usize::from(signed < 0)
            ),
            'u' => format!("{value:0width$}", width = precision.unwrap_or(1)),
            'x' => prefix("0x", format!("{value:0width$x}", width = precision.unwrap_or(1))),
            'X' => prefix("0X", format!("{value:0width$X}", width = precision.unwrap_or(1))),
            'o' => prefix("0", format!("{value:o}")),
            'c' => char::from(value as u8).to_string(),
            'p' => format!("{value:#x}"),
            'e' | 'E' => exponential(float, precision.unwrap_or(6), self.conversion),
            'g' | 'G' => general(float, precision.unwrap_or(6), self.alternate),
            _ => format!("{float:.places$}", places = precision.unwrap_or(6)),
        };
        let sign = self.plus && "dieEfFgG".contains(self.conversion) && !text.starts_with('-');
        if sign { format!("+{text}") } else { text }
    }

    fn pad(&self, body: String, width: usize) -> String {
        let missing = width.saturating_sub(body.chars().count());
        if self.left {
            return format!("{body}{}", " ".repeat(missing));
        }
        if self.zero && self.conversion != 's' {
            let digits = body.trim_start_matches(['-', '+']);
            let sign = &body[..body.len() - digits.len()];
            return format!("{sign}{}{digits}", "0".repeat(missing));
        }
        format!("{}{body}", " ".repeat(missing))
    }
}

/// `%e`: Rust leaves the exponent's sign and zeros out.
fn exponential(value: f64, places: usize, conversion: char) -> String {
    let text = format!("{value:.places$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{conversion}{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of both forms, without trailing zeros.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let digits = precision.max(1);
    let scientific = exponential(value, digits - 1, 'e');
    let exponent = scientific.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok());
    let Some(exponent) = exponent else { return scientific };
    let trim = |text: &str| {
        if keep_zeros || !text.contains('.') {
            text.to_string()
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let places = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.places$}"))
}
