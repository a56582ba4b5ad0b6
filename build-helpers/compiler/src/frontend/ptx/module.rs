//! A module of PTX: its head, and its kernels as it declares them.

use kernelmill_artifact::{LaunchLimits, NvidiaArch, Target};

use super::{
    source::fault,
    tokens::{Token, tokens},
};
use crate::Error;

/// The head of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What `.target` says, or the oldest architecture that kernelmill knows where it says an older one.
    pub target: NvidiaArch,
}

/// The oldest architecture that devices of kernelmill have.
const OLDEST: u32 = 75;

impl Header {
    /// Reads the head of a module, of the file that people know as `display`.
    ///
    /// ```
    /// use kernelmill_compiler::frontend::ptx::Header;
    /// let text = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    /// assert_eq!(Header::read(text, "kernels/k.ptx")?.target.to_string(), "90a");
    /// # Ok::<(), kernelmill_compiler::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] where `.version` or `.target` is missing, the target is not known, or addresses have not 64 bits.
    pub fn read(text: &str, display: &str) -> Result<Self, Error> {
        Self::of(&tokens(text))
            .map_err(|(line, why)| Error::Ptx { text: fault(display, line, &why) })
    }

    fn of(tokens: &[Token<'_>]) -> Result<Self, (u32, String)> {
        let after = |directive: &str| {
            let at = tokens.iter().position(|token| token.text == directive)?;
            tokens.get(at + 1)
        };
        let missing = |what: &str, example: &str| {
            (
                0,
                format!(
                    "it has no `{what}`: a module of PTX starts with lines such as `{example}`"
                ),
            )
        };
        after(".version").ok_or_else(|| missing(".version", ".version 8.0"))?;
        let target = after(".target").ok_or_else(|| missing(".target", ".target sm_80"))?;
        let width = after(".address_size");
        let width = width.ok_or_else(|| missing(".address_size", ".address_size 64"))?;
        if width.text != "64" {
            let why = format!("its addresses have {} bits, and those of devices 64", width.text);
            return Err((width.line, why));
        }
        let target = architecture(target.text).ok_or_else(|| {
            let why = format!("`.target {}` is no architecture that kernelmill knows", target.text);
            (target.line, why)
        })?;
        Ok(Self { target })
    }

    /// Whether the module runs on the devices that a cubin of an architecture is for.
    #[must_use]
    pub fn can_be(&self, arch: NvidiaArch) -> bool {
        use kernelmill_artifact::NvidiaSuffix as Suffix;
        let Self { target } = *self;
        let is_later = (arch.major, arch.minor) >= (target.major, target.minor);
        match target.suffix {
            Suffix::None => is_later,
            Suffix::Family => arch.major == target.major && is_later && arch.suffix != Suffix::None,
            Suffix::Exact => arch == target,
        }
    }
}

/// An architecture by its name, `sm_90a`.
fn architecture(name: &str) -> Option<NvidiaArch> {
    if let Ok(Target::Cubin(arch)) = name.parse() {
        return Some(arch);
    }
    let number: u32 = name.strip_prefix("sm_")?.parse().ok()?;
    let oldest = || format!("sm_{OLDEST}").parse();
    match (number < OLDEST).then(oldest) {
        Some(Ok(Target::Cubin(arch))) => Some(arch),
        _ => None,
    }
}

/// A kernel as the module declares it.
#[derive(Debug)]
pub(super) struct Entry<'t> {
    pub(super) name: &'t str,
    pub(super) line: u32,
    pub(super) parameters: Vec<Param<'t>>,
    pub(super) limits: LaunchLimits,
}

/// A `.param` of a kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Param<'t> {
    pub(super) name: &'t str,
    /// The type, `.u32`.
    pub(super) ty: &'t str,
    pub(super) align: Option<u64>,
    /// The length of an array.
    pub(super) length: Option<u64>,
    /// Whether it is a pointer, `.ptr`, and into what memory, `.global`.
    pub(super) pointer: Option<Option<&'t str>>,
}

/// The kernels of a module that have a body.
pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let tokens = tokens(text);
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
fn entry<'t>(tokens: &[Token<'t>]) -> Option<Entry<'t>> {
    let (name, rest) = tokens.split_first()?;
    let close = rest.iter().position(|it| it.text == ")");
    let (parameters, directives) = match close {
        Some(close) if rest[0].text == "(" => (&rest[1..close], &rest[close + 1..]),
        _ => (&[][..], rest),
    };
    let parameters = parameters.split(|it| it.text == ",").filter(|it| !it.is_empty());
    let parameters = parameters.map(param).collect();
    Some(Entry { name: name.text, line: name.line, parameters, limits: limits(directives) })
}

/// `.param .u64 .ptr .global .align 16 x` or `.param .align 4 .b8 p[12]`.
fn param<'t>(tokens: &[Token<'t>]) -> Param<'t> {
    let mut found = Param::default();
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
fn limits(tokens: &[Token<'_>]) -> LaunchLimits {
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

    fn header(target: &str) -> Result<String, String> {
        let text = format!(".version 8.0\n.target {target}\n.address_size 64\n");
        let read = Header::read(&text, "k.ptx");
        read.map(|it| it.target.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn targets_are_architectures_and_older_ones_the_oldest() {
        assert_eq!(header("sm_90a, debug"), Ok("90a".to_owned()));
        assert_eq!(header("sm_52"), Ok("75".to_owned()));
        let error = header("sm_80a").unwrap_err();
        assert_eq!(
            error,
            "k.ptx:2: error: `.target sm_80a` is no architecture that kernelmill knows"
        );
        for missing in [".version", ".target", ".address_size"] {
            let text = ".version 8.0\n.target sm_80\n.address_size 64\n".replace(missing, "//");
            let error = Header::read(&text, "k.ptx").unwrap_err().to_string();
            assert!(error.starts_with(&format!("k.ptx: error: it has no `{missing}`")), "{error}");
        }
        let narrow = ".version 8.0\n.target sm_80\n.address_size 32\n";
        let error = Header::read(narrow, "k.ptx").unwrap_err().to_string();
        assert_eq!(error, "k.ptx:3: error: its addresses have 32 bits, and those of devices 64");
    }

    #[test]
    fn cubins_are_those_that_the_target_allows() {
        let can = |target: &str, arch: &str| {
            let text = format!(".version 8.8\n.target {target}\n.address_size 64\n");
            let header = Header::read(&text, "k.ptx").unwrap();
            header.can_be(architecture(arch).unwrap())
        };
        for (target, arch, expected) in [
            ("sm_80", "sm_80", true),
            ("sm_80", "sm_90a", true),
            ("sm_80", "sm_75", false),
            ("sm_90a", "sm_90a", true),
            ("sm_90a", "sm_90", false),
            ("sm_90a", "sm_100a", false),
            ("sm_100f", "sm_103f", true),
            ("sm_100f", "sm_103a", true),
            ("sm_100f", "sm_103", false),
            ("sm_100f", "sm_120f", false),
        ] {
            assert_eq!(can(target, arch), expected, "{target} as {arch}");
        }
    }

    #[test]
    fn kernels_have_their_parameters_and_limits() {
        let text = ".extern .func f;\n.visible .entry k(\n  .param .u64 .ptr .global .align 16 x,\n  \
                    .param .align 4 .b8 p[12], .param .f32 a\n)\n.maxntid 16, 8, 1\n.minnctapersm 2 .maxnreg 64\n{\n  \
                    { .entry no() { } }\n}\n.entry declared();\n.entry second .reqntid 32\n{ }\n";
        let found = entries(text);
        let names: Vec<_> = found.iter().map(|it| (it.name, it.line)).collect();
        assert_eq!(names, [("k", 2), ("second", 12)]);
        let [first, second] = &found[..] else { panic!("{found:?}") };
        let x = Param {
            name: "x",
            ty: ".u64",
            align: Some(16),
            length: None,
            pointer: Some(Some(".global")),
        };
        let p = Param { name: "p", ty: ".b8", align: Some(4), length: Some(12), pointer: None };
        let a = Param { name: "a", ty: ".f32", ..Param::default() };
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
