//! Facts about emitted code, stated in comments above the kernels they are about.
//!
//! ```text
//! // CHECK-PTX: ld.global.nc          stands in the PTX of the kernel, for each of NVIDIA's targets
//! // CHECK-PTX: st.global             stands after what the line before found
//! // CHECK-AMD-NOT: flat_load         stands nowhere in the assembly, for each of AMD's targets
//! // CHECK-PTX-COUNT-1: bar.sync      stands in that many lines
//! // CHECK-gfx942: s_waitcnt          for one target, which the file is compiled for then
//! ```

use kernelmill_compiler::frontend::generic::GenericKernel;
use std::fmt;

/// One line of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    /// Its line in the kernel's file.
    pub(crate) line: usize,
    scope: String,
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Next,
    Not,
    Count(usize),
}

/// A kernel, and what is stated about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    pub(crate) kernel: String,
    pub(crate) directives: Vec<Directive>,
}

/// Reads the directives of a file; those above a kernel are about it, or about each of the instances in its attribute.
///
/// # Errors
///
/// A line that looks like a directive and is none.
pub(crate) fn read(text: &str) -> Result<Vec<Stated>, String> {
    let (mut found, mut waiting) = (Vec::new(), Vec::new());
    let mut is_kernel = false;
    let mut instances: Vec<String> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("// CHECK") {
            let directive = directive(rest, index + 1);
            waiting.push(directive.ok_or_else(|| format!("line {}: `{line}`", index + 1))?);
        }
        if line.starts_with("#[kernel") && line.contains("instances = [") {
            instances = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        }
        is_kernel |= line.starts_with("#[kernel") || line.contains("__global__");
        let name = is_kernel.then(|| function(line)).flatten();
        if let Some(kernel) = name {
            is_kernel = false;
            let directives = std::mem::take(&mut waiting);
            let instances = std::mem::take(&mut instances);
            let names = instances.iter().map(|it| GenericKernel::kernel_name(&kernel, it));
            let mut names: Vec<_> = names.collect();
            if names.is_empty() {
                names.push(kernel);
            }
            let stated = |kernel| Stated { kernel, directives: directives.clone() };
            found.extend(names.into_iter().map(stated));
        }
    }
    match waiting.first() {
        Some(directive) => Err(format!("line {}: no kernel follows", directive.line)),
        None => Ok(found),
    }
}

/// `-PTX-NOT: text`.
fn directive(rest: &str, line: usize) -> Option<Directive> {
    let (head, text) = rest.strip_prefix('-')?.split_once(':')?;
    let mut parts = head.split('-');
    let scope = parts.next()?.to_owned();
    let known =
        ["PTX", "AMD"].contains(&&*scope) || scope.parse::<kernelmill_artifact::Target>().is_ok();
    let kind = match (parts.next(), parts.next()) {
        (None, None) => Kind::Next,
        (Some("NOT"), None) => Kind::Not,
        (Some("COUNT"), Some(number)) => Kind::Count(number.parse().ok()?),
        _ => return None,
    };
    let text = text.trim().to_owned();
    (known && !text.is_empty()).then_some(Directive { line, scope, kind, text })
}

/// The name of the function that a line starts.
fn function(line: &str) -> Option<String> {
    let before = match line.split_once("fn ") {
        Some((_, rest)) => rest.split(['(', '<']).next()?,
        None if line.contains("__global__") => after_qualifiers(line.split("__global__").nth(1)?)?,
        None => return None,
    };
    Some(before.trim().to_owned())
}

/// `void __launch_bounds__(128) name(..)` from its name on, up to its parameters.
fn after_qualifiers(text: &str) -> Option<&str> {
    let mut rest = text.trim().strip_prefix("void")?.trim();
    while rest.starts_with("__") {
        rest = rest.split_once(')')?.1.trim();
    }
    rest.split('(').next()
}

impl Directive {
    /// The one target that it is about.
    pub(crate) fn target(&self) -> Option<&str> {
        (!["PTX", "AMD"].contains(&&*self.scope)).then_some(&*self.scope)
    }

    /// Whether it is about a target.
    pub(crate) fn concerns(&self, target: &str) -> bool {
        let family = if target.starts_with("gfx") { "AMD" } else { "PTX" };
        target != "cpu" && (self.scope == family || self.scope == target)
    }
}

impl Stated {
    /// What is not so in a kernel's code for a target.
    pub(crate) fn check(&self, code: &str, target: &str) -> Vec<String> {
        let (mut faults, mut at) = (Vec::new(), 0);
        for directive in self.directives.iter().filter(|it| it.concerns(target)) {
            let lines = || code.lines().filter(|line| line.contains(&directive.text)).count();
            let fault = match directive.kind {
                Kind::Next => match code[at..].find(&directive.text) {
                    Some(found) => {
                        at += found + directive.text.len();
                        None
                    }
                    None if lines() > 0 => Some("stands only before the fact above".to_owned()),
                    None => Some("is not there".to_owned()),
                },
                Kind::Not => (lines() > 0).then(|| "is there".to_owned()),
                Kind::Count(count) => {
                    (lines() != count).then(|| format!("is in {} lines, not {count}", lines()))
                }
            };
            faults.extend(fault.map(|fault| format!("{directive} {fault}")));
        }
        faults
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: `{}`", self.line, self.text)
    }
}

/// The code of one kernel in assembly: its body and what is said of it.
pub(crate) fn code_of<'a>(assembly: &'a str, kernel: &str, target: &str) -> Option<&'a str> {
    if target.starts_with("gfx") {
        let start = assembly.find(&format!("\n{kernel}:"))?;
        let rest = &assembly[start..];
        return Some(rest.split_once(".end_amdhsa_kernel").map_or(rest, |(body, _)| body));
    }
    let start = assembly.find(&format!(".entry {kernel}("))?;
    let rest = &assembly[start..];
    Some(rest.split_once("\n}").map_or(rest, |(body, _)| body))
}
