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
                let Choice { line, kernel, group, .. } = choice;
                let name = group.as_ref().unwrap_or(kernel);
                warnings.push(format!(
                    "{FILE}:{line}: {why}; this choice is not used: run `cargo kernelmill tune {name}`, or remove the choice"
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
    let Choice { group, kernel: name, block, max_registers, .. } = choice;
    let Some(kernel) = kernel else {
        return Some(format!("the package has no kernel `{name}`"));
    };
    if group.is_some() {
        return None;
    }
    let signature = &interface.kernels[kernel].signature;
    let (axes, threads) = (block.len(), block.iter().product::<u32>());
    let own_axes = match signature.dimension {
        Dimension::Any => axes,
        Dimension::One => 1,
        Dimension::Two => 2,
        Dimension::Three => 3,
    };
    if axes != own_axes {
        return Some(format!(
            "launches of `{name}` have {own_axes} dimensions, and `block` has {axes}"
        ));
    }
    let shape = std::array::from_fn(|axis| block.get(axis).copied().unwrap_or(1));
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
        limits.most_threads().is_none_or(|most| threads <= most)
            && (limits.block == [0; 3] || limits.block == shape)
            && limits.registers().unwrap_or(255) <= most
    };
    if limits.any(fits) {
        return None;
    }
    let registers =
        max_registers.map_or_else(String::new, |it| format!(" and at most {it} registers"));
    let block = block.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    Some(format!("`{name}` has no build for blocks of {block} threads{registers}"))
}
