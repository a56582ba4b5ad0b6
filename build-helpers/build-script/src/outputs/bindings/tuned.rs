//! Tuned launches, each with the kernel that it is of.

use super::{embedded::Embedded, model::Interface};
use crate::tuning::{Choice, FILE};
use kernelmill_artifact::Dimension;

/// A tuned launch that the bindings embed.
#[derive(Debug)]
pub(crate) struct Tuned<'a> {
    /// The kernel's place among those of the interface.
    pub(crate) kernel: usize,
    pub(crate) choice: &'a Choice,
}

/// Those of the kernels that there are, and a warning for each choice that no launch can have any more.
pub(crate) fn resolve<'a>(
    choices: &'a [Choice],
    interface: &Interface,
    embedded: &[Embedded<'_>],
) -> (Vec<Tuned<'a>>, Vec<String>) {
    let (mut tuned, mut warnings) = (Vec::new(), Vec::new());
    for choice in choices {
        let named = |signature: &kernelmill_artifact::Signature| signature.name == *choice.kernel;
        let kernel = interface.kernels.iter().position(|kernel| named(&kernel.signature));
        match stale(choice, kernel, interface, embedded) {
            None => tuned.extend(kernel.map(|kernel| Tuned { kernel, choice })),
            Some(why) => {
                let Choice { line, kernel, .. } = choice;
                warnings.push(format!(
                    "{FILE}:{line}: {why}; it is left out: run `cargo kernelmill tune {kernel}`, or remove it"
                ));
            }
        }
    }
    (tuned, warnings)
}

/// Why no launch can have a choice.
fn stale(
    choice: &Choice,
    kernel: Option<usize>,
    interface: &Interface,
    embedded: &[Embedded<'_>],
) -> Option<String> {
    let Choice { kernel: name, block, max_registers, .. } = choice;
    let Some(kernel) = kernel else {
        return Some(format!("the package has no kernel `{name}`"));
    };
    let signature = &interface.kernels[kernel].signature;
    if matches!(signature.dimension, Dimension::Two | Dimension::Three) {
        return Some(format!("launches of `{name}` have more than one dimension"));
    }
    let builds = embedded.iter().flat_map(|it| it.builds.iter().map(move |build| (it, build)));
    let own = builds.filter(|(it, build)| {
        interface.index_of(it.binary.source, &build.kernel.name) == Some(kernel)
    });
    let limits = own.map(|(_, it)| it.variant.as_ref().map_or(signature.limits, |it| it.limits));
    let mut limits = limits.peekable();
    // A build without binaries has nothing to compare with.
    limits.peek()?;
    let fits = |limits: kernelmill_artifact::LaunchLimits| {
        let most = u32::from(max_registers.unwrap_or(u8::MAX));
        limits.most_threads().is_none_or(|most| *block <= most)
            && (limits.block == [0; 3] || limits.block == [*block, 1, 1])
            && limits.registers().unwrap_or(255) <= most
    };
    if limits.any(fits) {
        return None;
    }
    let registers =
        max_registers.map_or_else(String::new, |it| format!(" and at most {it} registers"));
    Some(format!("`{name}` has no build for blocks of {block} threads{registers}"))
}
