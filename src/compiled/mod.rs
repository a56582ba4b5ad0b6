//! Compiled kernels, apart from their launches: who a kernel is, which binary of it a device runs, what it takes of the
//! device, and how many of its blocks a multiprocessor holds.
//!
//! The split into a compiled kernel and its launches is that of [nvFuser's `CompiledKernel`].
//!
//! [nvFuser's `CompiledKernel`]: https://github.com/NVIDIA/Fuser/pull/3468

mod tuned;

use std::{fmt, sync::Arc};

use kernelmill_artifact::{
    ArtifactKind, LaunchLimits, Multiprocessor, NvidiaArch, NvidiaSuffix, Resources, Signature,
};

use crate::{
    device::Device,
    embedded::{CpuEntry, TunedLaunch},
    error::Result,
    explanation::Explanation,
    kernel::LoadedKernel,
    launch::Launch,
    properties::Architecture,
    sizes,
    striped::Stripe,
    variants::Variants,
};

/// The examples of the book's page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/guide/compiled-kernels.md")]
pub struct Guide;

/// A kernel as it was compiled for a device, and is loaded on it: what `Kernels::compiled` of the generated bindings
/// gives.
///
/// It is no launch, and no launch changes it. Its module stays loaded while it lives, and after that until the work is
/// done that uses it. There is one value for each call, which cannot be copied:
///
/// ```compile_fail,E0599
/// fn twice(kernel: &kernelmill::CompiledKernel) -> kernelmill::CompiledKernel {
///     kernel.clone()
/// }
/// ```
///
/// ```
/// # /* What the next line brings in is written by the build script:
/// mod kernels { kernelmill::include_kernels!(); }
/// # */
/// # use kernelmill::{CompiledKernel, Device, Result};
/// fn describe(saxpy: &CompiledKernel) -> Result<()> {
///     println!("{} of {} for {}", saxpy.name(), saxpy.source(), saxpy.target());
///     let resources = saxpy.resources()?;
///     if let Some(registers) = resources.registers {
///         println!("{registers} registers, {:?} bytes of spills", resources.spills());
///     }
///     let threads = saxpy.suggested_block_size(0)?;
///     if let Some(occupancy) = saxpy.occupancy(threads, 0)? {
///         println!("blocks of {threads} threads use {:.0}%", 100.0 * occupancy.fraction());
///     }
///     Ok(())
/// }
/// # /*
/// describe(&kernels::Kernels::load(&Device::best()?)?.compiled().saxpy()?)?;
/// # */
/// ```
pub struct CompiledKernel(Arc<Stripe<Compiled>>);

/// What a [`CompiledKernel`] is made of.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) kernel: Arc<LoadedKernel>,
    /// All its builds for the device, this one among them; `None` where it is the only one.
    pub(crate) variants: Option<Arc<Variants>>,
    /// The tuned launches of its package.
    pub(crate) tuned: &'static [TunedLaunch],
}

/// How far blocks of one size use a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// Blocks that are on a multiprocessor at once; 0 where a block does not fit.
    pub blocks: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// The most warps that a multiprocessor takes.
    pub max_warps: u32,
}

impl Occupancy {
    /// The warps as a part of the most that there can be, 0 to 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }
}

/// The block size that is suggested where nothing is known of occupancy.
const BLOCK: u32 = 256;

impl CompiledKernel {
    pub(crate) fn new(compiled: Arc<Stripe<Compiled>>) -> Self {
        Self(compiled)
    }

    /// The name of its launch wrapper.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.kernel.name()
    }

    /// Its name, parameters and limits, with the file and the line that define it.
    #[must_use]
    pub fn signature(&self) -> &'static Signature {
        self.0.kernel.signature()
    }

    /// The source of its binary, relative to its package.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.0.kernel.artifact().source
    }

    /// The target that it was compiled for, as the configuration has it.
    #[must_use]
    pub fn target(&self) -> &'static str {
        self.0.kernel.artifact().target
    }

    /// The digest of all that went into its binary, 64 hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> &'static str {
        self.0.kernel.artifact().fingerprint
    }

    /// The bytes of its binary, or what was compiled at run time; empty where the kernel is a part of the application or of
    /// the process.
    #[must_use]
    pub fn binary(&self) -> &[u8] {
        self.0.kernel.binary()
    }

    /// The form of its binary.
    #[must_use]
    pub fn kind(&self) -> ArtifactKind {
        self.0.kernel.artifact().kind
    }

    /// Its symbol in the binary.
    #[must_use]
    pub fn entry(&self) -> &'static str {
        self.0.kernel.embedded().entry
    }

    /// The name of the variant that it is; `None` for the kernel as its source and the settings have it.
    #[must_use]
    pub fn variant(&self) -> Option<&'static str> {
        self.0.kernel.variant_name()
    }

    /// The macros that its source is compiled with besides those of the kernel, `NAME=value` each.
    #[must_use]
    pub fn defines(&self) -> &'static [&'static str] {
        self.0.kernel.defines()
    }

    /// The limits of the launches that it is made for.
    #[must_use]
    pub fn limits(&self) -> LaunchLimits {
        *self.0.kernel.bounds()
    }

    /// All builds of the kernel that are loaded, in the order in which launches try them; one where it has no variants.
    #[must_use]
    pub fn builds(&self) -> Vec<Self> {
        let variants = self.variants();
        let of = |build| {
            let kernel = Arc::clone(build);
            Self(Stripe::new(Compiled {
                kernel,
                variants: self.0.variants.clone(),
                tuned: self.0.tuned,
            }))
        };
        variants.builds().iter().map(of).collect()
    }

    /// All its builds. A kernel without variants has a list of one, which a look-up need not make.
    fn variants(&self) -> Arc<Variants> {
        let alone = || Arc::new(Variants::new(vec![Arc::clone(&self.0.kernel)], Vec::new()));
        self.0.variants.clone().unwrap_or_else(alone)
    }

    /// Which build a launch gets whose slices and sizes are at most `largest`, and why it does not get each other one.
    ///
    /// ```
    /// use kernelmill::{CompiledKernel, Launch};
    /// fn has_wide_indices(kernel: &CompiledKernel, elements: usize) -> bool {
    ///     let explanation = kernel.explain(&Launch::linear(elements).into(), elements as u64);
    ///     println!("{explanation}");
    ///     explanation.chosen().is_some_and(|build| !build.limits.has_narrow_indices())
    /// }
    /// ```
    #[must_use]
    pub fn explain(&self, launch: &Launch<3>, largest: u64) -> Explanation {
        let of_launch = sizes::first_wide(launch, &[], &[]);
        let of_arguments = (largest > sizes::MOST_NARROW).then_some(("sizes of up to", largest));
        self.variants().explain(launch, &mut |_| of_launch.or(of_arguments))
    }

    /// The device that it is loaded on.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.0.kernel.device()
    }

    /// How the threads of a block are run on the CPU, with the reason, as `cargo kernelmill report` prints it:
    /// `thread loop, vector widths 8, 16`. `None` on other devices.
    #[must_use]
    pub fn lowering_strategy(&self) -> Option<&'static str> {
        self.0.kernel.embedded().cpu.and_then(CpuEntry::strategy)
    }

    /// What it takes of the device: what the build knows and, of PTX, what the driver has made of it.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn resources(&self) -> Result<Resources> {
        let (built, loaded) =
            (self.0.kernel.embedded().resources, self.0.kernel.function().resources()?);
        let most = self.0.kernel.limits().threads_per_block;
        let most = most.min(self.device().limits().threads_per_block);
        let known = match self.kind() {
            ArtifactKind::Ptx => loaded.or(built),
            _ => built.or(loaded),
        };
        Ok(Resources { max_threads: Some(known.max_threads.unwrap_or(most).min(most)), ..known })
    }

    /// How far blocks of `threads` threads, each with `dynamic_shared_bytes` bytes of dynamic shared memory, use a
    /// multiprocessor, or on AMD's GPUs a compute unit, where a warp is 32 threads. The driver is asked; where it does not
    /// answer, and for NVIDIA's GPUs alone, it is computed by the rules of [`Multiprocessor`]. `None` for other devices.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn occupancy(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<Option<Occupancy>> {
        let processor = self.multiprocessor();
        let of_driver = match self.device().architecture() {
            Architecture::Amd { .. } => self.device().context().multiprocessor_threads()?,
            _ => None,
        };
        let warp_size = self.device().limits().warp_size.max(1);
        let most = of_driver.map(|threads| threads / warp_size);
        let Some(max_warps) = processor.map(|it| it.max_warps).or(most) else { return Ok(None) };
        let resources = self.resources()?;
        let shared =
            u64::from(resources.static_shared_bytes.unwrap_or(0)) + u64::from(dynamic_shared_bytes);
        let is_too_large = shared > u64::from(self.device().limits().shared_bytes);
        if threads == 0 || is_too_large || resources.max_threads.is_some_and(|most| threads > most)
        {
            return Ok(Some(Occupancy { blocks: 0, warps: 0, max_warps }));
        }
        let asked = self.0.kernel.function().resident_blocks(threads, dynamic_shared_bytes)?;
        let by_rules =
            |it: Multiprocessor| it.resident_blocks(&resources, threads, dynamic_shared_bytes);
        let blocks = asked.or_else(|| processor.and_then(by_rules));
        let warps = threads.div_ceil(warp_size);
        Ok(blocks.map(|blocks| Occupancy { blocks, warps: blocks * warps, max_warps }))
    }

    /// The rules of the device's multiprocessors, where they are known.
    fn multiprocessor(&self) -> Option<Multiprocessor> {
        let Architecture::Nvidia { major, minor } = *self.device().architecture() else {
            return None;
        };
        let (major, minor) = (u8::try_from(major).ok()?, u8::try_from(minor).ok()?);
        Multiprocessor::of(NvidiaArch { major, minor, suffix: NvidiaSuffix::None })
    }

    /// The most blocks of `block` threads, each with `dynamic_shared_bytes` bytes of dynamic shared memory, that are on the
    /// device at once: a launch of a kernel whose blocks wait for each other has no more. `None` for a kernel whose blocks
    /// do not, and on a device without cooperative launches.
    ///
    /// ```
    /// use kernelmill::{CompiledKernel, Launch, Result};
    /// fn launch_of(kernel: &CompiledKernel, elements: usize) -> Result<Launch<1>> {
    ///     let most = kernel.max_cooperative_blocks([256, 1, 1], 0)?.unwrap_or(1);
    ///     let blocks = elements.div_ceil(256).min(most as usize);
    ///     Ok(Launch::grid([blocks as u32], [256]))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn max_cooperative_blocks(
        &self,
        block: [u32; 3],
        dynamic_shared_bytes: u32,
    ) -> Result<Option<u64>> {
        if !self.is_cooperative() {
            return Ok(None);
        }
        self.0.kernel.function().cooperative_blocks(block, dynamic_shared_bytes)
    }

    /// Whether its blocks wait for each other, so that its launches are cooperative.
    #[must_use]
    pub fn is_cooperative(&self) -> bool {
        self.0.kernel.embedded().cooperative
    }

    /// The number of threads in a block with which most threads are on a multiprocessor at once, each block with
    /// `dynamic_shared_bytes` bytes of dynamic shared memory; of several such numbers the largest. Where its source
    /// states the block, it is that; where nothing is known of occupancy, 256 or the most that there can be, on OpenCL devices
    /// a multiple of what the library prefers, on those of wgpu of a subgroup.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn suggested_block_size(&self, dynamic_shared_bytes: u32) -> Result<u32> {
        let stated: u32 = self.limits().block.iter().product();
        if stated > 0 {
            return Ok(stated);
        }
        let most = self.resources()?.max_threads.unwrap_or(BLOCK);
        let warp = self.device().limits().warp_size.max(1);
        let multiple = self.0.kernel.function().preferred_multiple()?;
        let mut best = (0, multiple_within(most.min(BLOCK), multiple));
        let mut threads = most.next_multiple_of(warp);
        while threads > 0 {
            let size = threads.min(most);
            let Some(occupancy) = self.occupancy(size, dynamic_shared_bytes)? else { break };
            let resident = occupancy.blocks * size;
            if resident > best.0 {
                best = (resident, size);
            }
            threads -= warp;
        }
        Ok(best.1)
    }
}

/// The largest multiple that is no more than `most`, or that where there is none.
fn multiple_within(most: u32, multiple: Option<u32>) -> u32 {
    let multiple = multiple.filter(|multiple| (1..=most).contains(multiple)).unwrap_or(1);
    most - most % multiple
}

impl fmt::Debug for CompiledKernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledKernel")
            .field("name", &self.name())
            .field("source", &self.source())
            .field("target", &self.target())
            .field("variant", &self.variant())
            .field("device", self.device())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::multiple_within;
    use crate::{Device, tests::generated::Kernels};

    #[test]
    fn a_block_is_a_multiple_where_there_is_one() {
        let of = |most, multiple| multiple_within(most, multiple);
        assert_eq!((of(256, Some(64)), of(250, Some(64)), of(256, Some(96))), (256, 192, 192));
        assert_eq!((of(250, None), of(250, Some(0)), of(250, Some(251))), (250, 250, 250));
    }

    /// A look-up is to cost no more than the counter of what keeps the kernel loaded.
    #[test]
    fn a_look_up_of_a_kernel_without_variants_makes_no_list_of_them() {
        let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
        let saxpy = kernels.compiled().saxpy().unwrap();
        assert!(saxpy.0.variants.is_none());
        let builds = saxpy.builds();
        assert_eq!((builds.len(), builds[0].name(), builds[0].variant()), (1, "saxpy", None));
        assert!(saxpy.explain(&crate::Launch::linear(1).into(), 1).chosen().is_some());
    }
}
