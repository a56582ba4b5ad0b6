//! Variants of a loaded kernel: its builds for a device, and the one that a launch gets.
//!
//! A launch that names a variant gets that. Another gets the first build without macros of its own that fits, in this order: binaries before PTX; the smallest blocks that a build was made
//! for, of as many threads one block size before any other; indices of 32 bits before those of 64; no number of
//! blocks on a multiprocessor before one; more registers before fewer; and as the settings list them. All builds are
//! loaded with the kernel, so that a launch loads nothing.

use std::{cmp::Reverse, sync::Arc};

use kernelmill_artifact::{ArtifactKind, LaunchLimits};

use crate::{
    argument::Argument,
    error::{Error, NoBinary, Result},
    explanation::{Considered, Explanation, Outcome},
    kernel::LoadedKernel,
    launch::Launch,
    sizes,
};

/// The builds of a kernel that were loaded, in the order in which launches try them, and those that no binary of runs on
/// the device.
#[derive(Debug)]
pub(crate) struct Variants {
    builds: Vec<Arc<LoadedKernel>>,
    absent: Vec<(&'static str, LaunchLimits, NoBinary)>,
}

/// The most registers of a thread.
const MOST_REGISTERS: u32 = 255;

impl Variants {
    /// Those of a kernel: the kernel itself first, then its variants as the settings list them.
    pub(crate) fn new(
        mut builds: Vec<Arc<LoadedKernel>>,
        absent: Vec<(&'static str, LaunchLimits, NoBinary)>,
    ) -> Self {
        // A stable sort: of equals the first stays the first.
        builds.sort_by_key(|build| rank(build.artifact().kind, build.bounds()));
        Self { builds, absent }
    }

    /// The builds, in the order in which launches try them.
    pub(crate) fn builds(&self) -> &[Arc<LoadedKernel>] {
        &self.builds
    }

    /// The build that a launch with these arguments gets.
    ///
    /// # Errors
    ///
    /// [`Error::NoVariant`] where none fits.
    pub(crate) fn choose(
        &self,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<&Arc<LoadedKernel>> {
        let mut known = None;
        let mut wide = |build: &LoadedKernel| {
            let parameters = build.signature().parameters();
            *known.get_or_insert_with(|| sizes::first_wide(launch, parameters, arguments))
        };
        let fits = |build: &&Arc<LoadedKernel>| misfit(build, launch, &mut wide).is_none();
        if let Some(build) = self.builds.iter().find(fits) {
            return Ok(build);
        }
        Err(Error::NoVariant(Box::new(self.explain(launch, &mut wide))))
    }

    /// Whether a launch whose sizes are all below 2^31 gets a build.
    pub(crate) fn has_build_for(&self, launch: &Launch<3>) -> bool {
        self.builds.iter().any(|build| misfit(build, launch, |_| None).is_none())
    }

    /// What becomes of each build for a launch, whose first size of more than 31 bits `wide` gives.
    pub(crate) fn explain(
        &self,
        launch: &Launch<3>,
        wide: &mut dyn FnMut(&LoadedKernel) -> Option<(&'static str, u64)>,
    ) -> Explanation {
        let mut is_chosen = false;
        let mut considered = Vec::new();
        for build in &self.builds {
            let outcome = match misfit(build, launch, &mut *wide) {
                Some(outcome) => outcome,
                None if is_chosen => Outcome::Outranked,
                None => {
                    is_chosen = true;
                    Outcome::Chosen
                }
            };
            let (variant, target) = (build.variant_name(), build.artifact().target);
            considered.push(Considered { variant, target, limits: *build.bounds(), outcome });
        }
        considered.extend(self.absent.iter().map(|(name, limits, error)| {
            let reasons = error.rejected.iter().map(|it| format!("{} {}", it.target, it.reason));
            let reason = reasons.collect::<Vec<_>>().join("; ");
            let outcome = Outcome::OtherDevice { reason };
            Considered { variant: Some(name), target: "", limits: *limits, outcome }
        }));
        let kernel = self.builds.first().map_or("", |build| build.name());
        Explanation { kernel, builds: considered }
    }
}

/// The place of a build among those that fit a launch: less comes first.
fn rank(kind: ArtifactKind, bounds: &LaunchLimits) -> impl Ord + use<> {
    let most = bounds.most_threads().unwrap_or(u32::MAX);
    let is_any_shape = bounds.block == [0; 3];
    let registers = bounds.registers().unwrap_or(MOST_REGISTERS);
    // How many registers ptxas derives from a number of blocks is not known.
    let is_derived = bounds.min_blocks > 0;
    let is_text = kind == ArtifactKind::Ptx;
    (is_text, most, is_any_shape, !bounds.has_narrow_indices(), is_derived, Reverse(registers))
}

/// Why a launch cannot have a build; `None` where it can.
fn misfit(
    build: &LoadedKernel,
    launch: &Launch<3>,
    mut wide: impl FnMut(&LoadedKernel) -> Option<(&'static str, u64)>,
) -> Option<Outcome> {
    match launch.variant_name() {
        Some(asked) if build.variant_name() != Some(asked) => {
            return Some(Outcome::OtherVariant { asked });
        }
        None if !build.defines().is_empty() => {
            return Some(Outcome::NotAsked { defines: build.defines() });
        }
        _ => {}
    }
    let bounds = build.bounds();
    let block = launch.block_size();
    let threads = block.iter().fold(1, |threads: u64, size| threads.saturating_mul(*size));
    let by_driver = build.limits().threads_per_block;
    let limit = bounds.most_threads().map_or(by_driver, |most| most.min(by_driver)).into();
    if bounds.block != [0; 3] && bounds.block.map(u64::from) != block {
        return Some(Outcome::OtherBlock { block: bounds.block });
    }
    if threads > limit {
        return Some(Outcome::LargerBlock { threads, limit });
    }
    if let Some(limit) = launch.registers()
        && bounds.registers().unwrap_or(MOST_REGISTERS) > limit
    {
        return Some(Outcome::MoreRegisters { limit });
    }
    if bounds.has_narrow_indices() {
        return wide(build).map(|(what, size)| Outcome::LargerSize { what, size });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_tried_in_the_documented_order() {
        let none = LaunchLimits::NONE;
        let most = |max_block_threads| LaunchLimits { max_block_threads, ..none };
        let cubin = [
            most(32),
            LaunchLimits { block: [16, 4, 1], index_width: 32, ..none },
            LaunchLimits { block: [64, 1, 1], ..none },
            LaunchLimits { index_width: 32, ..most(64) },
            most(64),
            LaunchLimits { max_registers: 32, ..most(64) },
            LaunchLimits { min_blocks: 2, ..most(64) },
            most(1024),
            LaunchLimits { min_blocks: 2, ..most(1024) },
            none,
        ];
        let all = [ArtifactKind::Cubin, ArtifactKind::Ptx];
        let ranks: Vec<_> =
            all.iter().flat_map(|kind| cubin.iter().map(|bounds| rank(*kind, bounds))).collect();
        for (place, pair) in ranks.windows(2).enumerate() {
            assert!(pair[0] < pair[1], "{place}");
        }
    }
}
