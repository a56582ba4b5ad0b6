//! Kernels of a module of PTX, as it declares them ([PTX ISA, "Kernel and Function Directives"][isa]).
//!
//! [isa]: https://docs.nvidia.com/cuda/parallel-thread-execution/#kernel-and-function-directives

use super::tokens::{PtxToken, ptx_tokens};
use crate::LaunchLimits;

/// A kernel as the module declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxEntry<'t> {
    /// Its symbol.
    pub name: &'t str,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its parameters in order.
    pub parameters: Vec<PtxParameter<'t>>,
    /// What its performance-tuning directives say of launches.
    pub limits: LaunchLimits,
}

/// A `.param` of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PtxParameter<'t> {
    /// Its name.
    pub name: &'t str,
    /// The type, `.u32`.
    pub ty: &'t str,
    /// What `.align` says, in bytes.
    pub align: Option<u64>,
    /// The length of an array.
    pub length: Option<u64>,
    /// Whether it is a pointer, `.ptr`, and into what memory, `.global`.
    pub pointer: Option<Option<&'t str>>,
}

impl PtxParameter<'_> {
    /// Its size in bytes; `None` for a type that has none, or a length that is no number.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let bits: u64 = self.ty.get(2..)?.parse().ok()?;
        let element = if matches!(bits, 8 | 16 | 32 | 64 | 128) { bits / 8 } else { return None };
        match self.length {
            None => Some(element),
            Some(0) => None,
            Some(length) => element.checked_mul(length),
        }
    }
}

/// The kernels of a module of PTX that have a body.
///
/// ```
/// let text = ".visible .entry k(.param .u64 x, .param .align 4 .b8 p[12]) { ret; }";
/// let kernels = kernelmill_artifact::ptx_entries(text);
/// assert_eq!((kernels[0].name, kernels[0].parameters.len()), ("k", 2));
/// assert_eq!(kernels[0].parameters[1].bytes(), Some(12));
/// ```
#[must_use]
pub fn ptx_entries(text: &str) -> Vec<PtxEntry<'_>> {
    let tokens = ptx_tokens(text);
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            ".entry" if depth == 0 => {
                let end = tokens[at..].iter().position(|it| matches!(it.text, "{" | ";"));
                let end = end.map_or(tokens.len(), |end| at + end);
                if tokens.get(end).is_some_and(|it| it.text == "{") {
                    found.extend(entry(&tokens[at..end]));
                }
                at = end;
            }
            _ => {}
        }
    }
    found
}

/// A kernel from its name to its body.
fn entry<'t>(tokens: &[PtxToken<'t>]) -> Option<PtxEntry<'t>> {
    let (name, rest) = tokens.split_first()?;
    let close = rest.iter().position(|it| it.text == ")");
    let (parameters, directives) = match close {
        Some(close) if rest[0].text == "(" => (&rest[1..close], &rest[close + 1..]),
        _ => (&[][..], rest),
    };
    let parameters = parameters.split(|it| it.text == ",").filter(|it| !it.is_empty());
    let parameters = parameters.map(param).collect();
    Some(PtxEntry { name: name.text, line: name.line, parameters, limits: limits(directives) })
}

/// `.param .u64 .ptr .global .align 16 x` or `.param .align 4 .b8 p[12]`.
fn param<'t>(tokens: &[PtxToken<'t>]) -> PtxParameter<'t> {
    let mut found = PtxParameter::default();
    let mut rest = tokens.iter().map(|it| it.text);
    while let Some(word) = rest.next() {
        match word {
            ".param" => {}
            ".align" => found.align = rest.next().and_then(|it| it.parse().ok()),
            ".ptr" => found.pointer = Some(None),
            ".global" | ".shared" | ".local" | ".const" => found.pointer = Some(Some(word)),
            "[" => found.length = Some(rest.next().and_then(|it| it.parse().ok()).unwrap_or(0)),
            "]" => {}
            _ if word.starts_with('.') => found.ty = word,
            _ => found.name = word,
        }
    }
    found
}

/// What the performance-tuning directives say of launches.
fn limits(tokens: &[PtxToken<'_>]) -> LaunchLimits {
    let numbers = |directive: &str| {
        let at = tokens.iter().position(|it| it.text == directive)?;
        let words = tokens[at + 1..].iter().take_while(|it| !it.text.starts_with('.'));
        let numbers = words.filter_map(|it| it.text.parse::<u32>().ok());
        Some(numbers.collect::<Vec<_>>())
    };
    let size = |directive| {
        let all = numbers(directive)?;
        let axis = |axis: usize| all.get(axis).copied().unwrap_or(1);
        Some([axis(0), axis(1), axis(2)])
    };
    let one = |directive| numbers(directive)?.first().copied();
    let most =
        size(".maxntid").map(|size| size.iter().fold(1, |all: u32, it| all.saturating_mul(*it)));
    LaunchLimits {
        max_block_threads: most.unwrap_or(0),
        block: size(".reqntid").unwrap_or_default(),
        min_blocks: one(".minnctapersm").unwrap_or(0),
        max_registers: one(".maxnreg").unwrap_or(0),
        cluster: size(".reqnctapercluster").unwrap_or_default(),
        ..LaunchLimits::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_their_parameters_and_limits() {
        let text = ".extern .func f;\n.visible .entry k(\n  .param .u64 .ptr .global .align 16 x,\n  \
                    .param .align 4 .b8 p[12], .param .f32 a\n)\n.maxntid 16, 8, 1\n.minnctapersm 2 .maxnreg 64\n{\n  \
                    { .entry no() { } }\n}\n.entry declared();\n.entry second .reqntid 32\n{ }\n";
        let found = ptx_entries(text);
        let names: Vec<_> = found.iter().map(|it| (it.name, it.line)).collect();
        assert_eq!(names, [("k", 2), ("second", 12)]);
        let [first, second] = &found[..] else { panic!("{found:?}") };
        let x = PtxParameter {
            name: "x",
            ty: ".u64",
            align: Some(16),
            length: None,
            pointer: Some(Some(".global")),
        };
        let p =
            PtxParameter { name: "p", ty: ".b8", align: Some(4), length: Some(12), pointer: None };
        let a = PtxParameter { name: "a", ty: ".f32", ..PtxParameter::default() };
        assert_eq!(first.parameters, [x, p, a]);
        let limits = LaunchLimits {
            max_block_threads: 128,
            min_blocks: 2,
            max_registers: 64,
            ..LaunchLimits::NONE
        };
        assert_eq!(first.limits, limits);
        assert_eq!(second.limits.block, [32, 1, 1]);
        assert!(second.parameters.is_empty());
    }
}
